"""Nobody waits for ever: for a lock, for a server that has stopped, for one that starts; and forked children connect anew."""

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest
from faults import check_acknowledged, new_study
from postgres import Cluster
from sqlalchemy import text

import gobetween as gb
from gobetween.study.store import database, engines
from gobetween.study.study import Study

pytestmark = pytest.mark.alone  # processes that wait briefly would be late beside others


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """All waits are short."""
    from gobetween.study.store import postgres as bounded

    monkeypatch.setattr(engines, "BUSY", 0.5)
    for name, seconds in (("TURN", 0.5), ("SILENCE", 2.0), ("ASLEEP", 0.5)):
        monkeypatch.setattr(bounded, name, seconds)
    monkeypatch.setattr(database, "_locked_study", database._locked_study.__wrapped__)  # which keeps ASLEEP
    monkeypatch.setattr(database, "PATIENCE", 1.0)
    monkeypatch.setattr("gobetween.study.commands.command_queue.PATIENCE", 1.0)


def took(act: Callable[[], object]) -> float:
    start = time.monotonic()
    act()
    return time.monotonic() - start


def refused(act: Callable[[], object], words: str) -> None:
    with pytest.raises(gb.StoreError, match=words) as caught:
        act()
    assert "\n" not in str(caught.value)


def test_a_lock_that_is_held_for_ever_is_one_sentence(where: str, hasty: None) -> None:
    study, other = new_study(where), Study.open(where)
    with study.store._engine.connect() as connection, connection.begin():  # type: ignore[attr-defined]
        connection.execute(text("UPDATE studies SET seq = seq"))
        words = (
            r"someone else is writing and does not come to an end \(.*\): nothing was recorded; try again, or end that process"
        )
        assert took(lambda: refused(other.ask, words)) < 10.0
        assert other.status().told == 0
    assert len(other.ask()) == 1
    assert study.doctor() == []


def test_who_falls_asleep_while_writing_loses_its_turn(postgres: Cluster, hasty: None) -> None:
    where = postgres.database()
    study, other = new_study(where), Study.open(where)
    asleep, wake = threading.Event(), threading.Event()

    def sleeper() -> None:
        with study.store.writing("study") as record:
            asleep.set()
            wake.wait(30.0)
            record.respecify({})

    failures: list[BaseException] = []

    def run() -> None:
        try:
            sleeper()
        except gb.StoreError as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    asleep.wait(10.0)
    time.sleep(1.0)
    assert other.note("awake").recorded
    wake.set()
    thread.join(30.0)
    assert len(failures) == 1
    assert study.doctor() == []
    assert study.note("again").recorded


def test_a_server_that_stops_answering_is_one_sentence(postgres: Cluster, hasty: None) -> None:
    study = new_study(postgres.database())
    study.ask()
    server = int((postgres.folder / "data" / "postmaster.pid").read_text().split()[0])
    stopped = [server, *postgres.backends()]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert took(lambda: refused(study.ask, "cannot be used")) < 20.0
        assert took(lambda: refused(study.status, "cannot be used")) < 20.0
    finally:
        for pid in reversed(stopped):
            os.kill(pid, signal.SIGCONT)
    assert len(study.ask()) == 1
    assert study.doctor() == []


def test_a_backend_that_stops_answering_is_replaced(postgres: Cluster, hasty: None) -> None:
    study = new_study(postgres.database())
    study.ask()
    stopped = postgres.backends()
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert took(study.ask) < 10.0
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    assert study.doctor() == []


def test_a_server_that_starts_is_waited_for_from_the_first_connection_on(postgres: Cluster) -> None:
    where = postgres.database()
    new_study(where).close()
    postgres.stop("fast")
    starter = threading.Timer(1.0, postgres.start)
    starter.start()
    try:
        with Study.open(where) as study:
            assert study.status().told == 0
    finally:
        starter.join()


def test_a_server_without_a_free_connection_is_waited_for(postgres: Cluster) -> None:
    where = postgres.database()
    with new_study(where) as study, study.store._engine.begin() as connection:  # type: ignore[attr-defined]
        connection.execute(text("CREATE ROLE crowded LOGIN PASSWORD 'between' CONNECTION LIMIT 1 SUPERUSER"))
        connection.execute(text("ALTER ROLE crowded NOSUPERUSER"))
        connection.execute(text("GRANT SELECT, UPDATE, INSERT ON ALL TABLES IN SCHEMA public TO crowded"))
    crowded = where.replace("gobetween@", "crowded@")
    first = Study.open(crowded)
    threading.Timer(1.0, first.close).start()
    with Study.open(crowded) as second:
        assert second.ask()[0].id == 0


def test_forked_children_connect_anew(where: str) -> None:
    study = new_study(where)
    study.ask()
    children, deadline = [], time.monotonic() + 60.0
    for child in range(6):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                for i in range(4):
                    study.tell(mediator="x", arm="a", reward=1, key=f"{child}-{i}")
                del study  # what ends here must not end the parent's connections
                status = 0
            finally:
                os._exit(status)
        children.append(pid)
    for i in range(4):
        study.tell(mediator="x", arm="b", reward=0, key=f"parent-{i}")
    while children and time.monotonic() < deadline:
        children = [pid for pid in children if os.waitpid(pid, os.WNOHANG) == (0, 0)]
        time.sleep(0.05)
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    assert children == []
    held = [event for event in study.events() if event["kind"] == "told"]
    assert {event["key"] for event in held} == {f"{who}-{i}" for who in [*range(6), "parent"] for i in range(4)}
    check_acknowledged(study, [])
