"""Finding a study: by its study.toml, its SQLite file or the URL of its store; making one; bringing a store up to date."""

import time
from os import PathLike
from pathlib import Path

from gobetween.errors import StoreError, StudyError
from gobetween.files.toml import read_toml
from gobetween.study.record import Store
from gobetween.study.spec import StudySpec, differences, parse_study
from gobetween.study.study import Study, about_now


def is_url(where: str) -> bool:
    """A URL of a database rather than a path."""
    return "://" in where


def open_store(where: str | PathLike[str], *, create: bool = False) -> Store:
    """A store by the path of its SQLite file or its URL. Without `create` it must exist."""
    try:
        from gobetween.study.store.database import Database
    except ImportError:
        raise StoreError("studies need SQLAlchemy and Alembic: pip install 'gobetween[study]'") from None
    return Database.open(str(where), create=create)


def store_of(path: Path) -> tuple[str, StudySpec]:
    """Where the study of a study.toml is kept, and its spec."""
    data = read_toml(path)
    spec = parse_study(data, str(path))
    kept = data.get("store")
    if kept is None:
        return str(path.with_suffix(".sqlite")), spec
    if not isinstance(kept, str) or not kept:
        raise StudyError(f"{path}: store = {kept!r}: must be the path of a SQLite file or the URL of a database")
    return kept if is_url(kept) else str(path.parent / kept), spec


def open_study(where: str | PathLike[str], name: str | None, actor: str | None, take_over: bool = True) -> Study:
    """Open an existing study; a changed study.toml is taken over, or refused when the study has begun."""
    path = Path(where)
    if str(where).endswith(".toml"):
        kept, spec = store_of(path)
        study = _named(open_store(kept), name or path.stem, kept, actor)
        changed = differences(study.spec, spec)
        study.unsaved = () if take_over else tuple(changed)
        if take_over and changed:
            study.edit(spec)
        return study
    store = open_store(where)
    names = store.names()
    if name is None and len(names) != 1:
        raise StudyError(f"{_shown(where)} holds {len(names)} studies: name one of {', '.join(map(repr, names))}")
    return _named(store, name or names[0], str(where), actor)


def migrate_study(where: str | PathLike[str]) -> None:
    """Bring the tables of an existing store up to date."""
    kept = store_of(Path(where))[0] if str(where).endswith(".toml") else str(where)
    if not is_url(kept) and not Path(kept).is_file():
        raise StoreError(f"{kept}: there is no such store; gobetween init makes one")
    open_store(kept, create=True).close()


def _named(store: Store, name: str, where: str, actor: str | None) -> Study:
    if name not in store.names():
        known = ", ".join(map(repr, store.names())) or "none"
        raise StudyError(f"{_shown(where)} has no study {name!r} (it has: {known}); gobetween init makes one")
    return Study(store, name, actor)


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
    if name in store.names():
        raise StudyError(f"{_shown(kept)} already has a study {name!r}: gobetween status shows it")
    store.create(name, spec.to_dict(), about_now(time.time()))
    return Study(store, name, actor)


def _shown(where: str | PathLike[str]) -> str:
    """A place without a password."""
    text = str(where)
    if not is_url(text):
        return text
    from sqlalchemy.engine import make_url

    try:
        return make_url(text).render_as_string(hide_password=True)
    except Exception:
        raise StoreError("the URL of the store cannot be read: write postgresql://user@host/database") from None
