"""Opening a study: one read, for a command one write, one learner built; and looking never waits for a writer."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event, text
from study_parts import SPEC

import gobetween as gb
from gobetween.study.find_study import open_study
from gobetween.study.learner.state import LearnerState
from gobetween.study.spec.spec import parse_study

TOML = """
family = "bernoulli"
lease = "1h"
{store}
arms = [{{ name = "a" }}, {{ name = "b" }}]
mediators = [{{ name = "x", policy = [0.5, 0.5] }}, {{ name = "y" }}]
"""


@pytest.fixture(params=["sqlite", "postgres"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A study.toml whose study has begun."""
    kept = "" if request.param == "sqlite" else f'store = "{request.getfixturevalue("postgres").database()}"'
    path = tmp_path / "study.toml"
    path.write_text(TOML.format(store=kept))
    with gb.Study.create(path) as study:
        study.tell(study.ask()[0], arm="a", reward=1)
    return path


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Transactions, statements inside them, and learners that are built meanwhile."""
    found: Counter[str] = Counter()

    def begin(connection: Any) -> None:
        found["transactions"] += 1

    def statement(connection: Any, cursor: Any, text: str, *_: Any) -> None:
        found["statements"] += not text.startswith(("BEGIN", "PRAGMA"))
        found["writes"] += text.startswith(("INSERT", "UPDATE", "DELETE"))

    real = LearnerState.__init__  # of every learner that is made anew or taken up again

    def build(self: LearnerState, *arguments: Any, **options: Any) -> None:
        found["learners"] += 1
        real(self, *arguments, **options)

    monkeypatch.setattr(LearnerState, "__init__", build)
    event.listen(Engine, "begin", begin)
    event.listen(Engine, "before_cursor_execute", statement)
    try:
        yield found
    finally:
        event.remove(Engine, "begin", begin)
        event.remove(Engine, "before_cursor_execute", statement)


def ask(study: gb.Study) -> Any:
    return study.ask()


def tell(study: gb.Study) -> Any:
    return study.tell(1, arm="a", reward=1, accept_surprise=True)


def status(study: gb.Study) -> Any:
    return study.status()


@pytest.mark.parametrize(
    ("command", "statements", "writes"),
    [(ask, 9, 3), (tell, 10, 3), (status, 6, 0)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_one_read_one_write_one_learner(
    file: Path, command: Callable[[gb.Study], Any], statements: int, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with gb.Study.open(file) as study:
        study.ask()
    with counted(monkeypatch) as found, open_study(file, None, None, take_over=command is not status) as study:
        command(study)
    assert found["transactions"] == 2
    assert found["learners"] == 1
    assert found["writes"] == writes
    assert found["statements"] <= statements


@contextmanager
def writing(place: str) -> Iterator[None]:
    """Somebody else holds the lock that every command takes."""
    lite = "://" not in place
    url = f"sqlite:///{place}" if lite else place.replace("postgresql:", "postgresql+psycopg:")
    if not lite:
        import os

        url = url.replace("gobetween@", f"gobetween:{os.environ['PGPASSWORD']}@")
    engine = create_engine(url)
    with engine.connect() as connection:
        if lite:
            connection.connection.dbapi_connection.isolation_level = None  # type: ignore[union-attr]
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.execute(text("SELECT * FROM studies FOR UPDATE"))
        connection.exec_driver_sql("UPDATE studies SET seq = seq")
        yield
        connection.rollback()
    engine.dispose()


def test_looking_never_waits_for_a_writer(file: Path, tmp_path: Path) -> None:
    with gb.Study.open(file) as study:
        study.ask()
        place = study.store.place
    with writing(place):
        start = time.monotonic()
        for where in (file, place):
            with open_study(where, None, None, take_over=False) as study:
                assert study.status().told == 1
                assert [query.id for query in study.pending()] == [1]
                assert len(list(study.events())) == 3
                assert [row["status"] for row in study.export()] == ["told", "open"]
                assert len(study.to_frame()) == 2
                assert study.report(tmp_path / "r").is_file()
                assert study.doctor() == []
                assert "1" in study._repr_html_()
        assert time.monotonic() - start < 10.0
        waiting = threading.Thread(target=lambda: gb.Study.open(file).note("after the other"))
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()  # a command waits for its turn
    waiting.join(30.0)
    with gb.Study.open(file) as study:
        assert [event["kind"] for event in study.events()][-1] == "note"


def test_a_report_is_of_one_moment(file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with gb.Study.open(file) as study, counted(monkeypatch) as found:
        study.report(tmp_path)
        assert found["transactions"] == 1
        view = study.view(last=1)
        assert [event["seq"] for event in view.events] == [view.status.events] == [2]
        assert view.state.learner.counted == view.status.counted


def test_a_changed_file_is_taken_over_or_shown(file: Path) -> None:
    file.write_text(file.read_text().replace('"1h"', '"2h"'))
    with open_study(file, None, None, take_over=False) as study:
        assert study.unsaved == ("lease",)
        assert study.spec.lease == 3600.0
    with gb.Study.open(file) as study:
        assert study.unsaved == ()
        assert study.spec.lease == 7200.0
    file.write_text(file.read_text().replace("[0.5, 0.5]", "[0.5, 0.4]"))
    for look in (False, True):
        with pytest.raises(gb.SpecError, match=r"mediators\[0\]\.policy \(mediator 'x'\) sums to 0.9"):
            open_study(file, None, None, take_over=look)


def test_open_or_create(tmp_path: Path) -> None:
    path, spec = tmp_path / "s.sqlite", parse_study(SPEC, "test")
    with pytest.raises(gb.StoreError, match=r"there is no such store; Study.create makes one"):
        gb.Study.open_or_create(path)
    with gb.Study.open_or_create(path, spec) as study:
        study.ask()
    with gb.Study.open_or_create(path, spec) as study:
        assert len(study.pending()) == 1
        assert repr(study) == f"<Study 'study' in {path}>"
    with gb.Study.open_or_create(path) as study:
        assert len(study.pending()) == 1
    with gb.Study.open_or_create(path, parse_study(SPEC | {"title": "new"}, "test")) as study:
        assert study.spec.title == "new"
    with pytest.raises(gb.StudyError, match="delta cannot change, the study has begun"):
        gb.Study.open_or_create(path, parse_study(SPEC | {"delta": 0.3}, "test"))
    with gb.Study.open_or_create(path, spec, "other") as study:
        assert study.store.names() == ["other", "study"]
    file = tmp_path / "third.toml"
    file.write_text(TOML.format(store=""))
    for _ in range(2):
        with gb.Study.open_or_create(file) as study:
            assert study.name == "third"
    with pytest.raises(gb.StudyError, match=r"already has a study 'third'; status\(\) shows it"):
        gb.Study.create(file)


def test_an_inbox_asks_in_the_words_of_the_file(file: Path) -> None:
    file.write_text(f'inbox = {{ question = "For your next patient", option = " Which reminder? " }}\n{file.read_text()}')
    with gb.Study.open(file) as study:
        assert study.spec.inbox == {"question": "For your next patient", "option": "Which reminder?"}
    for words, told in (
        ('inbox = { ask = "x" }', "inbox.ask is not a known key"),
        ("inbox = { option = 3 }", "inbox.option = 3: must be a string"),
        (f'inbox = {{ option = "{"x" * 301}" }}', "at most 300"),
    ):
        file.write_text(words + "\n" + file.read_text().partition("\n")[2])
        with pytest.raises(gb.SpecError, match=told.replace(".", r"\.")):
            gb.Study.open(file)
