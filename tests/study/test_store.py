"""Stores under contention, crashes, damage and mistakes; the same at full size in `make stress`."""

import os
import resource
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from faults import abandoned_asks, contention, kill_casters, kill_writers, new_study, truncated_wal
from postgres import Cluster
from sqlalchemy import inspect

import gobetween as gb
from gobetween.study.record import PATIENCE
from gobetween.study.store.database import Database
from gobetween.study.study import Study

FIXTURES = Path(__file__).parent.parent / "fixtures"


def test_many_processes_lose_and_double_nothing(where: str) -> None:
    contention(where, processes=6, rounds=10)


def test_killed_writers_lose_nothing_that_was_acknowledged(where: str) -> None:
    assert kill_writers(where, kills=8) > 0


def test_a_cast_that_changes_loses_nothing_that_was_acknowledged(where: str) -> None:
    assert kill_casters(where, kills=4) > 0


def test_abandoned_asks_are_issued_anew(where: str) -> None:
    abandoned_asks(where, times=25)


def test_a_truncated_wal_loses_only_what_was_not_acknowledged(tmp_path: Path) -> None:
    cuts, size = truncated_wal(tmp_path, every=173)
    assert cuts > size / 173


def test_the_server_may_restart_and_backends_may_die(postgres: Cluster) -> None:
    study = new_study(postgres.database())
    (query,) = study.ask()
    for pid in postgres.backends():
        os.kill(pid, 9)  # the server then restarts itself
    start = time.monotonic()
    assert study.tell(query, arm="a", reward=1).recorded
    assert time.monotonic() - start < PATIENCE
    postgres.stop("immediate")
    postgres.start()
    start = time.monotonic()
    (query,) = study.ask()
    assert time.monotonic() - start < PATIENCE
    study.tell(query, arm="b", reward=0)
    assert [event["kind"] for event in study.events()] == ["asked", "told", "asked", "told"]
    assert study.doctor() == []


def test_without_a_server_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gobetween.study.store.database.PATIENCE", 0.3)
    with pytest.raises(gb.StoreError, match=r"^postgresql://gobetween@127.0.0.1:1/none: cannot be used \(.*refused") as caught:
        Study.open("postgresql://gobetween@127.0.0.1:1/none")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://me:secret@localhost/x", "holds a password: leave it out and set PGPASSWORD"),
        ("mysql://me@localhost/x", "mysql: only postgresql:// URLs and paths of SQLite files are understood"),
        ("postgresql://me@localhost:port/x", "the URL of the store cannot be read"),
        ("/nowhere/at/all.sqlite", "its folder does not exist"),
        ("/tmp", "is a folder, not a store"),
        ("mistyped.sqlite", "mistyped.sqlite: there is no such store; Study.create makes one"),
    ],
)
def test_mistyped_places_make_nothing(url: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(gb.StoreError, match=message) as caught:
        Study.open(url)
    assert "secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_database_is_not_a_study(where: str) -> None:
    if not where.startswith("postgresql"):
        Path(where).touch()
    with pytest.raises(gb.StoreError, match=r"holds no studies of gobetween; Study.create makes one"):
        Study.open(where)


def test_other_files_are_not_stores(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite").write_text("a text that is long enough to be taken for a database header" * 20)
    before = (tmp_path / "x.sqlite").read_bytes()
    with pytest.raises(gb.StoreError, match="is not a store of gobetween"):
        Study.open(tmp_path / "x.sqlite")
    assert (tmp_path / "x.sqlite").read_bytes() == before


def test_two_studies_need_a_name(where: str) -> None:
    study = new_study(where)
    study.store.create("other", study.spec.to_dict(), {})
    with pytest.raises(gb.StudyError, match="holds 2 studies: name one of 'other' and 'study'"):
        Study.open(where)
    assert Study.open(where, "other").name == "other"
    with pytest.raises(gb.StudyError, match=r"has no study 'third' \(it has: 'other', 'study'\)"):
        Study.open(where, "third")


def test_migrations_from_nothing_match_the_tables(where: str) -> None:
    from gobetween.study.store.tables import metadata

    store = Database.open(where, create=True)
    found = inspect(store._engine)
    for table in metadata.tables.values():
        assert {column["name"] for column in found.get_columns(table.name)} == {column.name for column in table.columns}
        assert found.get_pk_constraint(table.name)["constrained_columns"] == [column.name for column in table.primary_key]
    Database.open(where, create=True)  # again: nothing to do


def test_an_interrupted_migration_can_be_run_again(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from alembic import op

    real = op.create_index

    def stumble(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(op, "create_index", stumble)
    with pytest.raises(KeyboardInterrupt):
        Database.open(where, create=True)
    monkeypatch.setattr(op, "create_index", real)
    with pytest.raises(gb.StoreError, match="holds no studies of gobetween"):
        Study.open(where)  # nothing of it was kept
    new_study(where).ask()


def test_the_store_of_each_release_can_be_used(tmp_path: Path) -> None:
    releases = sorted(FIXTURES.glob("store-*.sqlite"))
    assert [path.stem for path in releases] == ["store-0.1.0"]
    for path in releases:
        copy = tmp_path / path.name
        copy.write_bytes(path.read_bytes())
        Database.open(str(copy), create=True).close()  # migrates
        study = Study.open(copy)
        assert study.doctor() == []
        assert study.spec.wait_for == "lease"  # as it was begun
        (query,) = study.ask()
        study.tell(query, silent=True)
        assert study.doctor() == []


def test_a_newer_schema_is_refused(where: str) -> None:
    from sqlalchemy import text

    store = Database.open(where, create=True)
    with store._engine.begin() as connection:
        connection.execute(text("UPDATE gobetween_schema SET version = 99"))
    with pytest.raises(gb.StoreError, match="has schema 99, this version uses 4: use a newer gobetween"):
        Study.open(where)


TELL = "import sys; from gobetween.study.study import Study; print(Study.open(sys.argv[1]).tell(0, arm='a', reward=1).recorded)"


def test_a_full_disk_is_never_an_acknowledgement(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    study = new_study(str(path))
    study.ask()

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    command = [sys.executable, "-c", TELL, str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=no_room, env=os.environ | {"GOBETWEEN_JIT": "off"}
    )
    assert "True" not in done.stdout
    assert "nothing was recorded; make room and try again" in done.stderr
    assert [event["kind"] for event in study.events()] == ["asked"]
    assert study.tell(0, arm="a", reward=1).recorded
    assert study.doctor() == []


def test_a_read_only_folder_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    path = folder / "s.sqlite"
    study = new_study(str(path))
    study.ask()
    study.store.close()
    path.chmod(0o444)
    folder.chmod(0o555)
    bound = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] if os.geteuid() == 0 else []
    command = [*bound, sys.executable, "-c", TELL, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"GOBETWEEN_JIT": "off"})
    folder.chmod(0o755)
    path.chmod(0o644)
    assert "True" not in done.stdout
    assert "cannot be" in done.stderr
    assert [event["kind"] for event in study.events()] == ["asked"]


def test_what_sqlite_has_acknowledged_is_on_the_disk(tmp_path: Path) -> None:
    """A writer waits for the disk at every commit (synchronous FULL = 2), and readers do not stop writers (WAL)."""
    with closing(Database.open(str(tmp_path / "s.sqlite"), create=True)) as store, store._engine.begin() as connection:
        asked = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("synchronous", "journal_mode")}
        assert asked == {"synchronous": 2, "journal_mode": "wal"}
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
