"""Whole stores, copied while others write: a backup is a SQLite file that was read back, whatever the store is."""

import os
import re
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, select

from gobetween.errors import Fix, StoreError, StudyError
from gobetween.study.store.checksums import study_seal
from gobetween.study.store.database import Database
from gobetween.study.store.database_record import PAGE
from gobetween.study.store.engines import make_private
from gobetween.study.store.failures import damaged
from gobetween.study.store.tables import events, queries, studies

EventCounts = dict[str, int]


def back_up(store: Database, file: Path) -> EventCounts:
    """Copy all studies into a new file, as they are at one moment, and read them back; returns the events of each."""
    store.names()  # one of another version says so

    def fill(part: Path) -> None:
        if store.path is None:
            with closing(Database.open(str(part), create=True)) as target:
                copy_studies(store, target)
        else:
            make_private(part)
            store.outside("VACUUM INTO ?", str(part))  # reads as all others do, so that no one waits

    return _written(file, fill, store.place)


def back_up_study(source: Connection, study: int, name: str, place: str, now: float) -> Path:
    """Copy one study, as a transaction sees it, into a new file beside its store, or in the current folder."""
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%S")
    folder, stem = (Path(), "study") if "://" in place else (Path(place).parent, Path(place).stem)
    file = folder / f"{stem}-{re.sub(r'[^A-Za-z0-9_-]+', '-', name)[:80]}-{moment}.sqlite"

    def fill(part: Path) -> None:
        with closing(Database.open(str(part), create=True)) as target, target.locking() as new:
            row = dict(source.execute(select(studies).where(studies.c.id == study)).mappings().one())
            _copy_study(source, new, row)

    _written(file, fill, place)
    return file


def _written(file: Path, fill: Callable[[Path], None], place: str) -> EventCounts:
    """Under another name until it is whole, without what must not come back, and read back."""
    if file.exists():
        raise StoreError(f"{file}: is there already", fix=Fix("other-file"))
    if not file.absolute().parent.is_dir():
        raise StoreError(f"{file}: its folder does not exist: make it, or name another file")
    part = file.with_name(f"{file.name}.part-{os.getpid()}")
    try:
        fill(part)
        copy = Database.open(str(part))
        copy.outside("DELETE FROM tokens")  # one that is revoked later must not come back with a backup
        copy.outside("DELETE FROM outbox")  # what was to be told then is told by the store itself
        copy.outside("PRAGMA journal_mode=DELETE")  # one file, without a -wal
        counts = read_back(copy, place)
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        part.replace(file)
    except OSError as error:
        raise StoreError(f"{file}: cannot be written ({error.strerror})") from None
    finally:
        for rest in (part, part.with_name(f"{part.name}-wal"), part.with_name(f"{part.name}-shm")):
            rest.unlink(missing_ok=True)
    return counts


def read_back(store: Database, place: str) -> EventCounts:
    """Check every seal of every study; returns how many events each study has."""
    store.place = place
    with closing(store):
        counts = {}
        for name in store.names():
            with store.reading(name) as record:
                counts[name] = sum(1 for _ in record.events())
                deque(record.rows(), maxlen=0)
                if counts[name] != record.seq:
                    raise damaged(place, f"study {name!r} counts {record.seq} events, its log has {counts[name]}")
        return counts


def copy_studies(source: Database, target: Database) -> None:
    """All studies of one store into another, in one transaction of each; names that are taken there are refused."""
    with source.viewing() as old, target.locking() as new:
        taken = set(new.execute(select(studies.c.name)).scalars())
        for row in old.execute(select(studies).order_by(studies.c.id)).mappings().all():
            if row["name"] in taken:
                words = f"{target.place} already has a study {row['name']!r}, and nothing is overwritten"
                raise StudyError(f"{words}: move that store away, or restore to another place")
            if row["seal"] != study_seal(dict(row)):
                raise damaged(source.place, f"study {row['name']!r} is not as it was written")
            _copy_study(old, new, row)


def _copy_study(old: Connection, new: Connection, row: Mapping[Any, Any]) -> None:
    values = {key: value for key, value in row.items() if key != "id"}
    number = new.execute(studies.insert().returning(studies.c.id), values).scalar_one()
    for table, order in ((events, events.c.seq), (queries, queries.c.query)):
        _copy_rows(old, new, table, order, row["id"], number)


def _copy_rows(old: Connection, new: Connection, table: Table, order: Any, study: int, new_study: int) -> None:
    last = -1
    while True:
        wanted = select(table).where(table.c.study == study, order > last).order_by(order).limit(PAGE)
        page = [dict(row) | {"study": new_study} for row in old.execute(wanted).mappings()]
        if not page:
            return
        new.execute(table.insert(), page)
        last = page[-1][order.name]
