"""Backups are of one moment, whoever writes meanwhile, and come back on either kind of store."""

import shutil
import sqlite3
import time
from pathlib import Path

import pytest
from faults import acknowledged, check_acknowledged, killed, new_study, writers
from sqlalchemy import text

import gobetween as gb
from gobetween.study.find_study import backup_study, restore_study
from gobetween.study.study import Study


def test_a_backup_while_others_write_has_all_that_was_acknowledged_before(where: str, tmp_path: Path) -> None:
    study = new_study(where)

    def back_up() -> float:
        for i in range(4):
            time.sleep(0.1)
            before = [(event["query"], event["key"]) for event in study.events() if event["kind"] == "told"]
            counts = backup_study(where, tmp_path / f"b{i}.sqlite")
            with Study.open(tmp_path / f"b{i}.sqlite") as copy:
                check_acknowledged(copy, before)
                assert counts == {"study": copy.look()[2]}
        return 0.0

    with writers(where, 10**6, ["w0", "w1"]) as running:
        check_acknowledged(study, [pair for lines in killed(running, back_up) for pair in acknowledged(lines)])
    assert sorted(path.name for path in tmp_path.glob("b*")) == [f"b{i}.sqlite" for i in range(4)]


def test_what_was_to_be_told_when_a_backup_was_made_is_not_told_again_from_it(where: str, tmp_path: Path) -> None:
    with new_study(where) as first:
        told = first.spec.to_dict() | {"notify": {"command": ["true"], "events": ["waiting"]}}
        first.store.create("told", told, {})
        study = Study(first.store, "told", "tester")
        study.ask()
        with study.store.reading("told") as record:
            assert record.undelivered().waiting == 1
    backup_study(where, tmp_path / "b.sqlite")
    with Study.open(tmp_path / "b.sqlite", "told") as copy:
        assert len(copy.pending()) == 1
        with copy.store.reading("told") as record:
            assert record.undelivered().waiting == 0


def test_a_backup_comes_back(where: str, tmp_path: Path) -> None:
    with new_study(where) as study:
        study.tell(study.ask()[0], arm="a", reward=1, key="k")
        study.store.create("other", study.spec.to_dict(), {})
        events, rows = list(study.events()), list(study.export())
    assert backup_study(where, tmp_path / "b.sqlite") == {"other": 0, "study": 2}
    with pytest.raises(gb.StoreError, match=r"b.sqlite: is there already; name another file"):
        backup_study(where, tmp_path / "b.sqlite")
    with pytest.raises(gb.StudyError, match="already has a study 'study', and nothing is overwritten: move that store away"):
        restore_study(tmp_path / "b.sqlite", where)
    if "://" in where:
        with Study.open(where, "study") as study, study.store._engine.begin() as connection:  # type: ignore[attr-defined]
            for table in ("events", "queries", "studies"):
                connection.execute(text(f"DELETE FROM {table}"))
    else:
        Path(where).unlink()
    assert restore_study(tmp_path / "b.sqlite", where) == {"other": 0, "study": 2}
    with Study.open(where, "study") as study:
        assert list(study.events()) == events
        assert list(study.export()) == rows
        assert study.doctor() == []
        assert not study.tell(0, arm="a", reward=1, key="k").recorded
        study.ask()
        assert study.doctor() == []


def test_a_plain_copy_misses_what_a_backup_has(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    study = new_study(str(path))
    holder = sqlite3.connect(path)  # somebody else has it open, so that its -wal is not folded in
    holder.execute("SELECT count(*) FROM events").fetchall()
    study.ask(5)
    shutil.copy(path, tmp_path / "plain.sqlite")
    backup_study(path, tmp_path / "b.sqlite")
    holder.close()
    assert Study.open(tmp_path / "plain.sqlite").look()[2] == 0
    assert Study.open(tmp_path / "b.sqlite").look()[2] == 5


def test_damage_is_not_backed_up_or_restored(where: str, tmp_path: Path) -> None:
    with new_study(where) as study:
        study.ask(3)
        backup_study(where, tmp_path / "good.sqlite")
        with study.store._engine.begin() as connection:  # type: ignore[attr-defined]
            connection.execute(text("UPDATE events SET actor = 'nobody' WHERE seq = 2"))
    with pytest.raises(gb.StoreError, match=r"is damaged \(event 2 of study 'study' is not as it was written\)"):
        backup_study(where, tmp_path / "b.sqlite")
    with sqlite3.connect(tmp_path / "good.sqlite") as file:
        file.execute("UPDATE queries SET mediator = 1 - mediator WHERE query = 2")
    file.close()
    with pytest.raises(gb.StoreError, match=r"good.sqlite: is damaged \(query 2 of study 'study' is not as it was written\)"):
        restore_study(tmp_path / "good.sqlite", tmp_path / "new.sqlite")
    assert sorted(path.name for path in tmp_path.glob("*.sqlite*") if path.name[0] != "s") == ["good.sqlite"]


def test_places_that_cannot_be_written_are_said(tmp_path: Path) -> None:
    with new_study(str(tmp_path / "s.sqlite")) as study:
        study.ask()
    with pytest.raises(gb.StoreError, match=r"nowhere.b.sqlite: its folder does not exist"):
        backup_study(tmp_path / "s.sqlite", tmp_path / "nowhere" / "b.sqlite")
    with pytest.raises(gb.StoreError, match=r"there is no such store"):
        restore_study(tmp_path / "none.sqlite", tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()


def test_a_store_whose_log_is_missing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    study = new_study(str(path))
    holder = sqlite3.connect(path)
    holder.execute("SELECT count(*) FROM events").fetchall()
    study.ask(5)
    (tmp_path / "copy").mkdir()
    for name in ("s.sqlite", "s.sqlite-shm"):
        shutil.copy(tmp_path / name, tmp_path / "copy" / name)
    holder.close()
    with pytest.warns(UserWarning, match=r"s.sqlite-wal is missing, though s.sqlite-shm is there: what was recorded last"):
        Study.open(tmp_path / "copy" / "s.sqlite")
    Study.open(path)  # no warning here
