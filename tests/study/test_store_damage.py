"""Whatever is not as it was written is found; nobody writes into what a later version has kept."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from faults import changed_bytes, new_study
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

import gobetween as gb
from gobetween.study.find_study import migrate_study, open_study
from gobetween.study.store.database import Database
from gobetween.study.study import Study


def begun(where: str) -> Study:
    study = new_study(where)
    for i, query in enumerate(study.ask(4)[:3]):
        study.tell(query, arm="ab"[i % 2], reward=i % 2, key=f"key {i}")
    return study


def test_changed_bytes_are_found(tmp_path: Path) -> None:
    altered, spoken, refused = changed_bytes(tmp_path, changes=60)
    assert spoken >= altered > 20
    assert refused > 5


CHANGES: dict[str, tuple[str, Callable[[Study], object]]] = {
    "UPDATE events SET payload = replace(payload, '0.0', '1.0') WHERE seq = 5": (
        "event 5 of study 'study' is not as it was written",
        lambda study: list(study.events()),
    ),
    "UPDATE events SET at = at + 1 WHERE seq = 2": ("event 2 of study", lambda study: list(study.events(1))),
    "UPDATE events SET actor = 'nobody' WHERE seq = 6": (
        "event 6 of study",
        lambda study: study.tell(1, arm="b", reward=1, key="key 1"),
    ),
    "DELETE FROM events WHERE seq = 3": ("event 4 of study", lambda study: list(study.events())),
    "UPDATE queries SET reward = 1.0 WHERE query = 0": ("query 0 of study", lambda study: study.tell(0, arm="a", reward=1)),
    "UPDATE queries SET status = 'opem' WHERE query = 3": ("query 3 of study", lambda study: study.tell(3, silent=True)),
    "UPDATE studies SET snapshot = replace(snapshot, '0', '1')": ("study 'study' is not", lambda study: study.status()),
    "UPDATE studies SET spec = replace(spec, '\"a\"', '\"c\"')": ("study 'study' is not", lambda study: study.ask()),
    "UPDATE studies SET spec = '{'": ("study 'study' is not", lambda study: study.ask()),
    "UPDATE studies SET about = '{\"x\": 1}'": ("study 'study' is not", lambda study: study.pending()),
    "UPDATE studies SET seq = 6": ("study 'study' is not", lambda study: study.ask()),
    "UPDATE gobetween_schema SET version_num = '0x02'": ("its schema is '0x02'", lambda study: study.ask()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_column_is_sealed(where: str, change: str) -> None:
    study = begun(where)
    with study.store._engine.begin() as connection:  # type: ignore[attr-defined]
        connection.execute(text(change))
    words, act = CHANGES[change]
    with pytest.raises(gb.StoreError, match=rf"is damaged \({words}.*\); keep a copy of it") as caught:
        act(study)
    assert "\n" not in str(caught.value)
    assert any(words in line for line in study.doctor())


def test_the_last_event_cannot_be_taken_away(where: str) -> None:
    study = begun(where)
    with study.store._engine.begin() as connection:  # type: ignore[attr-defined]
        connection.execute(text("DELETE FROM events WHERE seq = 7"))
    assert "the study counts 7 events, the log has 6" in study.doctor()


def test_events_without_a_seal_are_refused(where: str) -> None:
    study = begun(where)
    columns = "study, seq, at, actor, kind, key, part, payload"
    with pytest.raises(IntegrityError), study.store._engine.begin() as connection:  # type: ignore[attr-defined]
        connection.execute(text(f"INSERT INTO events ({columns}) VALUES (1, 8, 0, 'me', 'note', 'k', 0, '{{}}')"))


def test_nothing_is_written_into_a_later_store(where: str, tmp_path: Path) -> None:
    study = begun(where)
    with study.store._engine.begin() as connection:  # type: ignore[attr-defined]
        connection.execute(text("UPDATE gobetween_schema SET version_num = '0002'"))
    words = "has schema 2, this version uses 1: use a newer gobetween"
    for act in (
        study.ask,  # this one was open when the store changed
        lambda: study.store.create("other", {}, {}),
        lambda: Study.open(where),
        lambda: new_study(where),
        lambda: migrate_study(where),
        lambda: Database.open(where, create=True),
    ):
        with pytest.raises(gb.StoreError, match=words):
            act()


def test_a_later_snapshot_is_refused_whoever_opens_it(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('family = "bernoulli"\narms = [{ name = "a" }, { name = "b" }]\nmediators = [{ name = "x" }]\n')
    with Study.create(file) as study:
        study.ask()
        with study.store.writing("study") as record:
            event = {"seq": 2, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
            record.write([event], [], {"format": 9, "everything": "is elsewhere"})
    for take_over in (True, False):
        with pytest.raises(gb.StudyError, match=r"snapshot format 9.*use a newer gobetween"):
            open_study(file, None, None, take_over)


def test_a_snapshot_that_says_nothing_is_one_sentence(tmp_path: Path) -> None:
    with begun(str(tmp_path / "s.sqlite")) as study:
        with study.store.writing("study") as record:
            snapshot = json.loads(json.dumps(record.snapshot))
            del snapshot["learner"]["queries"]
            event = {"seq": 8, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
            record.write([event], [], snapshot)
        with pytest.raises(
            gb.StoreError, match=r"^the study cannot be read \(ProblemError: data lacks 'queries': .*; keep a copy of it"
        ):
            study.ask()
