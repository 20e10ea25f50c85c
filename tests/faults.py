"""What can go wrong with a store, as functions of how often: small in every day's tests, large in `make stress`."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from subprocess import PIPE
from typing import Any

from children import child, line_of

from gobetween.errors import GoBetweenError
from gobetween.study.find_study import open_store
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study

SPEC: dict[str, Any] = {
    "family": "bernoulli",
    "delta": 1e-9,
    "arms": [{"name": "a"}, {"name": "b"}],
    "mediators": [{"name": "x", "policy": [0.5, 0.5]}, {"name": "y", "policy": [0.4, 0.6]}],
}

#: Asks and tells in a loop; a line on standard output is an acknowledgement.
WRITER = """
import random, sys
from gobetween.study.study import Study
where, rounds, me = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rng = random.Random(me)
study = Study.open(where)
for i in range(rounds):
    (query,) = study.ask()
    study.tell(query.id, arm="ab"[rng.randrange(2)], reward=rng.randrange(2), key=f"{me}-{i}")
    print(query.id, f"{me}-{i}", flush=True)
"""

#: Takes in mediators and retires every other one, beside a query each; a line is an acknowledgement.
CASTER = """
import sys
from gobetween.study.study import Study
where, rounds, me = sys.argv[1], int(sys.argv[2]), sys.argv[3]
study = Study.open(where)
for i in range(rounds):
    study.add_mediator(f"{me}-{i}", policy=[0.5, 0.5], key=f"add-{me}-{i}")
    print("joined", f"{me}-{i}", flush=True)
    (query,) = study.ask()
    study.tell(query.id, arm="a", reward=1, key=f"tell-{me}-{i}")
    if i % 2:
        study.retire(f"{me}-{i}", key=f"retire-{me}-{i}")
        print("retired", f"{me}-{i}", flush=True)
"""


def new_study(where: str, **changes: Any) -> Study:
    return Study.create(where, parse_study(SPEC | changes, "test"))


@contextmanager
def writers(where: str, rounds: int, names: Sequence[str], program: str = WRITER) -> "Iterator[list[subprocess.Popen[str]]]":
    """Processes that write to a store, until they are done or the block ends."""
    environment = os.environ | {"GOBETWEEN_JIT": "off"}
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                child([sys.executable, "-c", program, where, str(rounds), me], env=environment, stdout=PIPE, stderr=PIPE)
            )
            for me in names
        ]


def killed(running: "list[subprocess.Popen[str]]", wait: Callable[[], float]) -> list[str]:
    """All that processes acknowledged until they were killed, a while after all were at work."""
    begun = [line_of(process) for process in running]
    time.sleep(wait())
    for process in running:
        process.kill()
    return [first + process.communicate()[0] for first, process in zip(begun, running, strict=True)]


def acknowledged(lines: str) -> list[tuple[int, str]]:
    whole = lines[: lines.rfind("\n") + 1].splitlines()
    return [(int(line.split()[0]), line.split()[1]) for line in whole]


def check_acknowledged(study: Study, told: list[tuple[int, str]]) -> None:
    """Every acknowledged tell is there exactly once, log and snapshot agree."""
    held = [(event["query"], event["key"]) for event in study.events() if event["kind"] == "told"]
    assert len(set(held)) == len(held)
    assert set(told) <= set(held)
    assert study.doctor() == []
    assert study.look()[0].learner.progress.told == len(held)


def contention(where: str, processes: int, rounds: int) -> float:
    """Many processes ask and tell at once; returns how many transactions were done in a second."""
    study, start = new_study(where), time.perf_counter()
    told = []
    with writers(where, rounds, [f"w{i}" for i in range(processes)]) as running:
        for process in running:
            lines, errors = process.communicate(timeout=1200)
            assert process.returncode == 0, errors
            assert errors == ""
            told += acknowledged(lines)
    taken = time.perf_counter() - start
    assert len(told) == len(set(told)) == processes * rounds
    check_acknowledged(study, told)
    assert study.look()[2] == 2 * processes * rounds
    return 2 * processes * rounds / taken


def kill_writers(where: str, kills: int, at_a_time: int = 2) -> int:
    """kill -9 of writing processes at random moments; returns how many tells were acknowledged before."""
    study, moments, told = new_study(where), random.Random(9), []
    for round_ in range(-(-kills // at_a_time)):
        with writers(where, 10**6, [f"k{round_}-{i}" for i in range(at_a_time)]) as running:
            for lines in killed(running, lambda: moments.uniform(0.0, 0.3)):
                told += acknowledged(lines)
    check_acknowledged(study, told)
    return len(told)


def kill_casters(where: str, kills: int) -> int:
    """kill -9 of processes that change the cast; returns how many changes were acknowledged. Each is there once, all is sound."""
    study, moments, said = new_study(where), random.Random(5), list[str]()
    for round_ in range(-(-kills // 2)):
        with writers(where, 10**6, [f"c{round_}{i}" for i in range(2)], CASTER) as running:
            for lines in killed(running, lambda: moments.uniform(0.0, 0.3)):
                said += lines[: lines.rfind("\n") + 1].splitlines()
    held = [(event["kind"], event["key"]) for event in study.events() if event["key"]]
    assert len(set(held)) == len(held)
    cast = study.status().mediators
    names = [mediator["mediator"] for mediator in cast]
    gone = {mediator["mediator"] for mediator in cast if mediator["retired"]}
    assert len(set(names)) == len(names)
    assert {line.split()[1] for line in said} <= set(names)
    assert {line.split()[1] for line in said if line.startswith("retired")} <= gone
    assert study.doctor() == []
    return len(said)


def abandoned_asks(where: str, times: int) -> None:
    """A worker asks and dies before it tells, again and again: every ask is issued anew after its lease, none is stuck."""
    study = new_study(where, lease=0.02, wait_for="lease")
    for _ in range(times):
        pid = os.fork()
        if pid == 0:
            try:
                Study.open(where).ask()
            finally:  # whatever is raised, the tests do not go on in the child
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(pid, 0)
        time.sleep(0.025)
    last = study.ask()[0]
    asked = [event for event in study.events() if event["kind"] == "asked"]
    assert len(asked) == times + 1
    for before, event in pairwise(asked):
        assert event["reissue_of"] == before["query"]
    assert {query.id for query in study.pending()} <= {last.id}  # whose lease may have ended by now
    assert last.id in {query.id for query in (*study.pending(), *study.overdue())}
    assert sum(event["kind"] == "expired" for event in study.events()) == times
    assert study.doctor() == []


def truncated_wal(folder: Path, every: int) -> tuple[int, int]:
    """Cut the WAL at bytes of the last transaction: what was acknowledged before is there. Returns cuts and bytes."""
    path = folder / "s.sqlite"
    study = new_study(str(path))
    holder = sqlite3.connect(path)  # keeps the WAL from being folded in
    holder.execute("SELECT count(*) FROM events").fetchall()
    queries = study.ask(3)
    study.tell(queries[0], arm="a", reward=1)
    wal = path.with_name("s.sqlite-wal")
    before = wal.stat().st_size
    study.tell(queries[1], arm="b", reward=0)
    whole, main = wal.read_bytes(), path.read_bytes()
    holder.close()
    cuts = 0
    for size in [*range(before, len(whole), every), len(whole)]:
        copy = folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        (copy / "s.sqlite").write_bytes(main)
        (copy / "s.sqlite-wal").write_bytes(whole[:size])
        with sqlite3.connect(copy / "s.sqlite") as database:
            kinds = [kind for (kind,) in database.execute("SELECT kind FROM events ORDER BY seq")]
            (status,) = database.execute("SELECT status FROM queries WHERE query = 1").fetchone()
        database.close()
        assert kinds[:4] == ["asked"] * 3 + ["told"]
        assert (len(kinds), status) == ((5, "told") if size == len(whole) else (4, "open"))
        if cuts % 50 == 0 or size == len(whole):
            again = Study(open_store(copy / "s.sqlite"), "study")
            assert again.doctor() == []
            again.store.close()
        cuts += 1
    study.store.close()
    return cuts, len(whole) - before


def read_back(path: Path) -> Any:
    """All that is stored, as SQLite gives it; None if it does not."""
    database = sqlite3.connect(path)
    try:
        columns = {"studies": "id, name, spec, about, snapshot, seq", "gobetween_schema": "version_num"}
        columns |= {"events": "study, seq, at, actor, kind, query, key, part, payload"}
        columns |= {"queries": "study, query, mediator, status, slot, arm, reward, worker"}
        wanted = (f"SELECT {names} FROM {table} ORDER BY 1, 2" for table, names in columns.items())
        return [repr(database.execute(one.replace("1, 2", "1") if "version" in one else one).fetchall()) for one in wanted]
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    finally:
        database.close()


def changed_bytes(folder: Path, changes: int, seed: int = 11) -> tuple[int, int, int]:
    """Single bytes of a store are changed, of those that are not 0.

    Returns how often something else was read back, the doctor spoke, and a command refused.
    """
    path, rng = folder / "s.sqlite", random.Random(seed)
    with new_study(str(path), lease="1h") as study:
        for i, query in enumerate(study.ask(12)[:8]):
            study.tell(query, arm="ab"[i % 2], reward=i // 2 % 2, key=f"key {i}")
        study.correct(0, arm="b", reward=1, reason="mistyped")
        study.ask(worker="w")
    whole, before = path.read_bytes(), read_back(path)
    used = [place for place, byte in enumerate(whole) if byte]
    altered = spoken = refused = 0
    for _ in range(changes):
        place, copy = rng.choice(used), folder / "copy.sqlite"
        for old in folder.glob("copy.sqlite*"):
            old.unlink()
        copy.write_bytes(whole[:place] + bytes([whole[place] ^ rng.randrange(1, 256)]) + whole[place + 1 :])
        differs, complaints = read_back(copy) != before, said_by_doctor(copy)
        assert complaints or not differs, f"byte {place}: not found"
        assert all("\n" not in line for line in complaints), f"byte {place}: {complaints}"
        altered, spoken = altered + differs, spoken + bool(complaints)
        refused += not commands_work(copy)
    return altered, spoken, refused


def said_by_doctor(path: Path) -> list[str]:
    try:
        with Study.open(path) as study:
            return study.doctor()
    except GoBetweenError as error:
        return [str(error)]


def commands_work(path: Path) -> bool:
    """Status, ask and tell, or a refusal in one sentence; anything else is raised."""
    try:
        with Study.open(path) as study:
            study.status()
            study.tell(study.ask()[0], arm="a", reward=1, key="key 100")
        return True
    except GoBetweenError as error:
        assert "\n" not in str(error), str(error)
        return False
