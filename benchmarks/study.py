"""`gobetween ask` and `tell` as commands: wall time at 100 and at 1,000,000 events, interleaved in one run."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gobetween as gb
from gobetween.study.store.checksums import STUDY, seal_of, study_seal

TOML = """
delta = 1e-6
family = "bernoulli"
arms = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
mediators = [
  { name = "w", policy = [0.1, 0.8, 0.1, 0.0] }, { name = "x", policy = [0.0, 0.1, 0.8, 0.1] },
  { name = "y", policy = [0.0, 0.1, 0.1, 0.8] }, { name = "z", policy = [0.2, 0.0, 0.4, 0.4] },
]
"""


def run(folder: Path, *arguments: str) -> tuple[float, str]:
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "gobetween", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - start, done.stdout


def computing(folder: Path, *arguments: str) -> float:
    """User and system time of a command, which a busy machine changes less."""
    before = os.times()
    run(folder, *arguments)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def grow(folder: Path, events: int) -> None:
    """Lengthen the log of a study by copies of its last events, as if they had been told long ago."""
    with sqlite3.connect(folder / "study.sqlite") as database:
        (seq,) = database.execute("SELECT seq FROM studies").fetchone()
        row = dict(zip(STUDY, database.execute(f"SELECT {', '.join(STUDY)} FROM studies").fetchone(), strict=True))
        head, rows = row["head"], []
        for i in range(seq + 1, events + 1):
            said = json.dumps({"mediator": "w", "arm": "a", "reward": 1.0, "slot": i})
            values = (i, 0.0, "me", "told", i, f"old-{i}", 0, said)
            head = seal_of(head, *values)
            rows.append((1, *values, head))
        database.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        told = ((10**9 + i, 0, "told", i, 0, 1.0, None) for i in range(events // 2))
        sealed = ((1, *values, seal_of(*values)) for values in told)
        database.executemany("INSERT INTO queries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", sealed)
        row |= {"seq": max(seq, events), "head": head}
        row["snapshot"] = json.dumps(json.loads(row["snapshot"]) | {"seq": row["seq"]})
        change = "UPDATE studies SET seq = ?, head = ?, snapshot = ?, seal = ?"
        database.execute(change, (row["seq"], head, row["snapshot"], study_seal(row)))


def open_queries(folder: Path, sizes: tuple[int, ...] = (10, 10_000)) -> None:
    """A tell with few and with many open queries, in one process."""
    times: dict[int, list[float]] = {size: [] for size in sizes}
    studies = {size: gb.Study.create(folder / f"open-{size}.sqlite", gb.StudySpec(["a", "b"], ["x"])) for size in sizes}
    for size, study in studies.items():
        study.ask(size)
    for i in range(9):
        for size, study in studies.items():
            start = time.perf_counter()
            study.tell(size - 1 - i, arm="a", reward=1.0)
            times[size].append(time.perf_counter() - start)
    few, many = (sorted(times[size])[4] for size in sizes)
    print(f"tell with {sizes[0]:,} open queries: {1000 * few:.0f} ms, with {sizes[1]:,}: {1000 * many:.0f} ms (medians of 9)")


def large(folder: Path, size: int = 1000) -> None:
    """Ask and tell as commands with many arms and mediators."""
    folder.mkdir()
    names = {"arms": "a", "mediators": "m"}
    lists = [
        f"{what} = " + str([{"name": f"{a}{i}"} for i in range(size)]).replace("'name':", "name =") for what, a in names.items()
    ]
    (folder / "study.toml").write_text('family = "bernoulli"\n' + "\n".join(lists))
    run(folder, "init")
    taken = []
    for i in range(5):
        ask = computing(folder, "ask")
        taken.append((ask, computing(folder, "tell", str(i), "--arm", "a5", "--reward", "1")))
    ask, tell = (sorted(column)[2] for column in zip(*taken, strict=True))
    print(f"{size:,} arms × {size:,} mediators: gobetween ask {ask:.2f} s, tell {tell:.2f} s of processor time (medians of 5)")


def main() -> None:
    with tempfile.TemporaryDirectory() as top:
        folders = {size: Path(top) / str(size) for size in (100, 1_000_000)}
        for size, folder in folders.items():
            folder.mkdir()
            (folder / "study.toml").write_text(TOML)
            run(folder, "init")
            for _ in range(10):
                number = json.loads(run(folder, "ask", "--json")[1])["queries"][0]["id"]
                run(folder, "tell", str(number), "--arm", "b", "--reward", "1", "--accept-surprise")
            grow(folder, size)
        times: dict[tuple[str, int], list[float]] = {(verb, size): [] for verb in ("ask", "tell") for size in folders}
        for _ in range(15):
            for size, folder in folders.items():
                taken, shown = run(folder, "ask", "--json")
                times["ask", size].append(taken)
                number = json.loads(shown)["queries"][0]["id"]
                times["tell", size].append(
                    run(folder, "tell", str(number), "--arm", "b", "--reward", "0", "--accept-surprise")[0]
                )
        for verb in ("ask", "tell"):
            few, many = (sorted(times[verb, size])[7] for size in folders)
            print(
                f"gobetween {verb}: {few:.3f} s at 100 events, {many:.3f} s at 1,000,000 (medians of 15): {many / few - 1:+.0%}"
            )
        for kind in ("csv", "jsonl"):
            taken = run(folders[1_000_000], "export", f"--{kind}", "out")[0]
            print(f"gobetween export --{kind} at 1,000,000 events: {taken:.1f} s")
        open_queries(Path(top))
        large(Path(top) / "large")


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    main()
