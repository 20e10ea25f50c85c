"""Stores under contention, crashes, damage and mistakes; the same at full size in `make stress`."""

import os
import resource
import shutil
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from faults import abandoned_asks, contention, kill_casters, kill_writers, new_study, truncated_wal
from postgres import Cluster
from sqlalchemy import inspect, text

import gobetween as gb
from gobetween.study.find_study import migrate_study
from gobetween.study.journal.record import PATIENCE
from gobetween.study.store import schema
from gobetween.study.store.checksums import event_seal
from gobetween.study.store.database import Database
from gobetween.study.store.tables import SCHEMA
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
        with suppress(ProcessLookupError):  # the server restarts itself after the first, and ends the others
            os.kill(pid, 9)
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
    with pytest.raises(gb.StudyError, match=r"has no study 'third': choose one of 'other', 'study'"):
        Study.open(where, "third")


def columns_of(store: Database) -> dict[str, list[tuple[str, bool]]]:
    """Table → its columns, and whether they may be empty."""
    found = inspect(store._engine)
    return {name: [(one["name"], one["nullable"]) for one in found.get_columns(name)] for name in found.get_table_names()}


#: A migration from the present schema to a later one: the present one is then the older.
LATER = """
import sqlalchemy as sa
from alembic import op

revision = "{after}"
down_revision = "{before}"


def upgrade() -> None:
    op.add_column("studies", sa.Column("colour", sa.Text, nullable=False, server_default="blue"))
    op.create_table("moods", sa.Column("mood", sa.Text, primary_key=True))
    if {stumbles}:
        raise KeyboardInterrupt
"""


def test_a_store_of_an_older_schema_is_migrated(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = new_study(where)
    study.ask()
    before, folder = columns_of(study.store), tmp_path / "migrations"  # type: ignore[arg-type]
    shutil.copytree(schema.MIGRATIONS, folder)
    monkeypatch.setattr(schema, "MIGRATIONS", folder)
    monkeypatch.setattr(schema, "SCHEMA", SCHEMA + 1)
    words = rf"has schema {SCHEMA}, this version uses {SCHEMA + 1}; migrate_study brings it up to date"
    for act in (study.ask, lambda: Study.open(where)):
        with pytest.raises(gb.StoreError, match=words):
            act()
    later = folder / "versions" / "later.py"
    for stumbles in (True, False):
        text = LATER.format(before=f"{SCHEMA:04}", after=f"{SCHEMA + 1:04}", stumbles=stumbles)
        later.write_text(text)
        if stumbles:
            with pytest.raises(KeyboardInterrupt):
                migrate_study(where)
            assert columns_of(study.store) == before  # type: ignore[arg-type]
    migrate_study(where)
    migrate_study(where)  # nothing to do
    after = columns_of(study.store)  # type: ignore[arg-type]
    assert after.pop("moods") == [("mood", False)]
    assert after["studies"].pop() == ("colour", False)
    assert after == before
    with Study.open(where) as again:
        again.ask()
        assert len(again.pending()) == 2
        assert again.doctor() == []


def test_an_interrupted_creation_leaves_nothing(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "SCHEMA", None)  # tables are made before their number is written
    with pytest.raises(TypeError):
        Database.open(where, create=True)
    monkeypatch.undo()
    with pytest.raises(gb.StoreError, match="holds no studies of gobetween"):
        Study.open(where)
    new_study(where).ask()


def test_tables_of_others_are_left_alone(where: str) -> None:
    with closing(Database.open(where, create=True)) as store, store._engine.begin() as connection:
        connection.execute(text("DROP TABLE gobetween_schema"))
    with pytest.raises(gb.StoreError, match="already exists"):
        Database.open(where, create=True)


def test_a_store_of_each_schema_can_be_used(tmp_path: Path) -> None:
    """`python tests/fixtures/make_store.py` made the one of the present schema."""
    fresh = Database.open(str(tmp_path / "fresh.sqlite"), create=True)
    assert [path.stem for path in sorted(FIXTURES.glob("store-*.sqlite"))] == [f"store-{n + 1}" for n in range(SCHEMA)]
    for path in FIXTURES.glob("store-*.sqlite"):
        shutil.copy(path, tmp_path)
        migrate_study(tmp_path / path.name)
        with Study.open(tmp_path / path.name) as study:
            assert columns_of(study.store) == columns_of(fresh)  # type: ignore[arg-type]
            assert study.doctor() == []
            assert len(list(study.events())) == study.status().events == 6
            study.tell(study.ask()[0], silent=True)
            assert study.doctor() == []


def test_seals_are_as_they_have_always_been() -> None:
    row = {"seq": 7, "at": 1000.5, "actor": "me", "kind": "note", "query": None, "key": "k", "part": 0, "payload": "{}"}
    assert event_seal("", row) == "764e7403e771b7e5e89104ba7005ffc0"
    assert event_seal("764e7403e771b7e5e89104ba7005ffc0", row) == "470c9bfda250cc89fec8f91fc02b60ab"


def test_a_newer_schema_is_refused(where: str) -> None:
    store = Database.open(where, create=True)
    with store._engine.begin() as connection:
        connection.execute(text("UPDATE gobetween_schema SET version_num = '0099'"))
    with pytest.raises(gb.StoreError, match="has schema 99, this version uses 1: use a newer gobetween"):
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
