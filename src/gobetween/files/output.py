"""Files that are written: whole or not at all, and never in the place of what was read, of a store or of a study file."""

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from gobetween.errors import ResultsError
from gobetween.files.paths import path_of

SQLITE = b"SQLite format 3\x00"
BESIDE = ("-wal", "-shm", "-journal", ".serving")  # what a store has next to it


def check_output(given: str | PathLike[str], inputs: Iterable[str | PathLike[str]] = (), option: str = "") -> Path:
    """Refuse to write in the place of an input, a store or a TOML file, under whatever name; a new file is fine."""
    path, named = path_of(given), f"{option} {os.fspath(given)}".lstrip()
    if _is_store(path) or any(path.name.endswith(end) and _is_store(path.with_name(path.name[: -len(end)])) for end in BESIDE):
        raise ResultsError(f"{named}: is a store or a part of one, and would be lost: name another file")
    if path.suffix == ".toml" and path.is_file():
        raise ResultsError(f"{named}: is there already, and is no such output: name another file")
    if path.is_file() and any(_same(path, Path(one)) for one in inputs):
        raise ResultsError(f"{named}: is read by this command, and would be lost: name another file")
    return path


def _is_store(path: Path) -> bool:
    """A file of SQLite, whether a store or results; as long as one is open, all of it may be beside it.

    One that may be open is not looked into: to close it here would end the locks that SQLite has on it.
    """
    if not path.is_file():
        return False
    if any(path.with_name(f"{path.name}{end}").exists() for end in BESIDE):
        return True
    with suppress(OSError), path.open("rb") as stream:
        return stream.read(len(SQLITE)) == SQLITE
    return False


def _same(path: Path, other: Path) -> bool:
    with suppress(OSError, ValueError):
        return path.samefile(other)
    return False


@contextmanager
def replacing(given: str | PathLike[str], mode: int | None = None) -> Iterator[Path]:
    """A file to fill, which takes its place once it is whole; `mode` of it, or that of the file before, or the usual one.

    A device or a pipe is filled itself.
    """
    path = check_output(given).resolve()
    found = path.stat() if path.exists() else None
    if found is not None and not stat.S_ISREG(found.st_mode):
        yield path
        return
    number, name = tempfile.mkstemp(prefix=".gobetween-", dir=path.parent)
    os.close(number)
    part = Path(name)
    try:
        yield part
        part.chmod(mode if mode is not None else stat.S_IMODE(found.st_mode) if found else 0o666 & ~_umask())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
