"""Where the files of a log are: paths, globs, folders and standard input, with what their names and folders say."""

import glob
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from gobetween.errors import LogError
from gobetween.files.paths import path_of
from gobetween.logs.columns import FILE, FOLDER
from gobetween.logs.names import natural

KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
}
PACKED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
KNOWN = ".csv, .tsv, .jsonl, .json, .parquet or .feather, those of text also with .gz, .zst or .bz2 behind"
MAGIC = {b"PAR1": ".parquet", b"ARROW1": ".feather", b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"BZh": ".bz2"}
_SPOOLED: list[Any] = []  # what came from standard input, kept as files until the process ends


@dataclass(frozen=True)
class Located:
    """A file."""

    path: Path
    shown: str
    """As messages call it."""
    kind: str
    packing: str | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    """Columns with one value: its name, that of its folder, and keys of folders such as day=1."""


def located(text: str | PathLike[str]) -> list[Located]:
    """The files that a path, a pattern or a folder names; what there is not is refused."""
    if str(text) == "-":
        return [_from_stdin()]
    path = path_of(text)
    if path.is_dir():
        return [_file(one, one) for one in _in_folder(path)]
    if glob.has_magic(str(path)) and not path.exists():
        found = sorted(glob.glob(str(path), recursive=True), key=natural)
        if not found:
            raise LogError(f"{path}: no file matches this pattern")
        return [one for name in found for one in located(name)]
    if not path.is_file():
        raise LogError(f"{path}: no such file")
    return [_file(path, path)]


def _in_folder(folder: Path) -> list[Path]:
    """The files of a folder and those below it that are known as logs; hidden ones, and those that begin with _, are not."""
    inside = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and _kind(path)[0] is not None)
    found = [folder / path for path in inside if not any(part[0] in "._" for part in path.parts)]
    if not found:
        raise LogError(f"{folder}: holds no file that is known as a log by its name: {KNOWN}")
    return sorted(found, key=lambda path: natural(str(path)))


def _kind(path: Path) -> tuple[str | None, str | None]:
    """What is in a file, and how it is packed, by its name."""
    packing = PACKED.get(path.suffix.lower())
    kind = KINDS.get((path.with_suffix("") if packing else path).suffix.lower())
    return (None, None) if packing and kind in ("parquet", "arrow") else (kind, packing)


def _file(path: Path, named: Path, shown: str = "") -> Located:
    kind, packing = _kind(named)
    if named.suffix.lower() == ".zip":
        raise LogError(f"{path}: a .zip may hold several files: unpack it, or pack the one with gzip")
    if kind is None:
        raise LogError(f"{path}: is not known as a log by its name: {KNOWN}")
    stem = named.name.removesuffix(named.suffix) if not packing else named.with_suffix("").stem
    folder = {} if shown else {FOLDER: path.parent.as_posix() if path.parent.name else path.absolute().parent.name}
    return Located(path, shown or str(path), kind, packing, {FILE: stem, **folder, **dict(_keys(path))})


def _keys(path: Path) -> Iterator[tuple[str, str]]:
    """The keys of folders, as in day=1/part.parquet."""
    for part in path.parts[:-1]:
        key, sign, value = part.partition("=")
        if key and sign:
            yield unquote(key), unquote(value)


def _from_stdin() -> Located:
    spool = tempfile.NamedTemporaryFile(prefix="gobetween-")  # noqa: SIM115 - it is needed until the end
    shutil.copyfileobj(sys.stdin.buffer, spool)
    spool.flush()
    _SPOOLED.append(spool)
    path, shown = Path(spool.name), "standard input"
    outer = _suffix(path, None)
    inner = _suffix(path, PACKED[outer]) if outer in PACKED else ""
    return _file(path, Path(f"stdin{inner}{outer}"), shown)


def _suffix(path: Path, packing: str | None) -> str:
    """What a file would be called, by how it begins."""
    from gobetween.logs.arrow import opened

    with opened(Located(path, "standard input", "csv", packing)) as stream:
        start = bytes(stream.read(1024))
    known = next((suffix for magic, suffix in MAGIC.items() if start.startswith(magic)), None)
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return known or {b"{": ".jsonl", b"[": ".json"}.get(text[:1], ".csv")
