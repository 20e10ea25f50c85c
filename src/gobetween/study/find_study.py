"""Finding a study: by its study.toml, its SQLite file or the URL of its store; making one; bringing a store up to date."""

import time
from collections.abc import Mapping
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from gobetween import __version__
from gobetween.errors import Fix, GoBetweenError, StoreError, StudyError
from gobetween.export import some
from gobetween.files.paths import path_of
from gobetween.files.toml import read_toml
from gobetween.study.journal.events import Event
from gobetween.study.journal.record import Store, StudyRecord, present_spec
from gobetween.study.spec.changes import NAMES
from gobetween.study.spec.checks import check_some_text
from gobetween.study.spec.older_file import brought_up
from gobetween.study.spec.spec import StudySpec, begun_with, differences, fitting, unfitted
from gobetween.study.study import Study

if TYPE_CHECKING:
    from gobetween.study.store.database import Database


def is_url(where: str) -> bool:
    """A URL of a database rather than a path."""
    return "://" in where


def open_store(where: str | PathLike[str], *, create: bool = False, pooled: bool = False) -> Store:
    """A store by the path of its SQLite file or its URL. Without `create` it must exist; pooled: see `Database.open`."""
    try:
        from gobetween.study.store.database import Database
    except ImportError:
        raise StoreError("studies need SQLAlchemy and Alembic: pip install 'gobetween[study]'") from None
    return Database.open(str(where) if is_url(str(where)) else str(path_of(where)), create=create, pooled=pooled)


def store_of(path: Path) -> tuple[str, StudySpec]:
    """Where the study of a study.toml is kept, and its spec."""
    kept, spec = _read(path)
    return kept, fitting(spec, str(path))


def _read(path: Path) -> tuple[str, StudySpec]:
    data = read_toml(path)
    spec, kept = unfitted(data, str(path)), data.get("store")
    if kept is None:
        return str(path.with_suffix(".sqlite")), spec
    if not isinstance(kept, str) or not kept:
        raise StudyError(f"{path}: store = {kept!r}: must be the path of a SQLite file or the URL of a database")
    return kept if is_url(kept) else str(path.parent / kept), spec


def open_study(where: str | PathLike[str], name: str | None, actor: str | None, take_over: bool = True) -> Study:
    """Open an existing study; a changed study.toml is taken over, or refused when the study has begun."""
    path = Path(where)
    if not str(where).endswith(".toml"):
        return _opened(open_store(where), name, actor, None)[0]
    kept, spec = _read(path)
    study, spec = _opened(open_store(kept), name or path.stem, actor, spec)
    if study.unsaved:
        fitting(spec, str(path))  # what is the same as in the store was checked when it came there
    return _taken_over(study, spec) if take_over else study


S = TypeVar("S", StudySpec, StudySpec | None)


def _opened(store: Store, name: str | None, actor: str | None, spec: S) -> tuple[Study, S]:
    """One read: is the study there, and in what does a spec, which may be older than commands were, differ from its own?"""
    if name is None:
        names = store.names()
        if not names:
            raise StudyError(f"{store.place} holds no study", fix=Fix("create"))
        if len(names) > 1:
            raise StudyError(f"{store.place} holds {len(names)} studies: name one of {some(names)}")
        name = names[0]
        if spec is None:
            return Study(store, name, actor), spec
    study = Study(store, name, actor)
    with store.reading(name) as record:
        if spec is not None:
            stored = present_spec(record)
            if record.seq:
                spec, study.behind = _brought_up(begun_with(stored, spec), stored, record)
            study.unsaved = tuple(differences(stored, spec))
    return study, spec


def _brought_up(spec: StudySpec, stored: Mapping[str, Any], record: StudyRecord) -> tuple[StudySpec, tuple[str, ...]]:
    """With what commands have changed since it was written; the log is read only where that is not enough."""
    found: list[str] = []
    for events in (list[Event], record.events):
        if not differences(stored, spec).keys() & {*NAMES.values(), "policies"}:
            break
        spec, more = brought_up(spec, StudySpec.from_dict(stored), StudySpec.from_dict(record.spec), events())
        found += more
    return spec, tuple(found)


def _taken_over(study: Study, spec: StudySpec | None) -> Study:
    if spec is not None and study.unsaved:
        study.edit(spec)
        study.unsaved = ()
    return study


def create_study(where: str | PathLike[str], spec: StudySpec | None, name: str | None, actor: str | None) -> Study:
    """Make a study in a store, which is made as well if there is none."""
    path = Path(where)
    if str(where).endswith(".toml"):
        kept, spec = store_of(path)
        name = name or path.stem
    else:
        kept, name = str(where), name or "study"
    if spec is None:
        raise StudyError("a new study needs a spec: give the path of a study.toml, or spec=…")
    store = open_store(kept, create=True)
    add_study(store, name, spec)
    return Study(store, name, actor)


def add_study(store: Store, name: str, spec: StudySpec) -> None:
    """A new study in a store that is there."""
    check_some_text("name", name, "name: a study needs a short name")
    store.create(name, spec.to_dict(), {"version": __version__, "created": time.time()})


def open_or_create_study(where: str | PathLike[str], spec: StudySpec | None, name: str | None, actor: str | None) -> Study:
    """Open a study, or make it if there is none."""
    toml = str(where).endswith(".toml")

    def found() -> Study:
        return open_study(where, name, actor) if toml else _taken_over(*_opened(open_store(where), name, actor, spec))

    try:
        return found()
    except GoBetweenError as error:
        if not error.missing or (spec is None and not toml):
            raise
    try:
        return create_study(where, spec, name, actor)
    except StudyError as error:
        if error.fix != Fix("status"):
            raise
    return found()  # another process was faster


def backup_study(where: str | PathLike[str], file: Path) -> dict[str, int]:
    """Copy the store of a study, with all studies in it, into a new file while others write; returns the events of each."""
    with closing(open_store(kept_at(where))) as store:
        from gobetween.study.store.copies import back_up

        return back_up(cast("Database", store), file)


def restore_study(file: Path, where: str | PathLike[str]) -> dict[str, int]:
    """Bring the studies in a backup to a store, which is made if there is none; nothing is overwritten."""
    with closing(open_store(file)) as source:
        from gobetween.study.store.copies import copy_studies, read_back

        counts = read_back(cast("Database", open_store(file)), str(file))
        with closing(open_store(kept_at(where), create=True)) as target:
            copy_studies(cast("Database", source), cast("Database", target))
    return counts


def kept_at(where: str | PathLike[str]) -> str:
    """Where the store is that a study.toml, a path or a URL means."""
    return _read(Path(where))[0] if str(where).endswith(".toml") else str(where)


def migrate_study(where: str | PathLike[str]) -> None:
    """Bring the tables of an existing store up to date."""
    kept = kept_at(where)
    if not is_url(kept) and not Path(kept).is_file():
        raise StoreError(f"{kept}: there is no such store", fix=Fix("create"))
    open_store(kept, create=True).close()
