"""Where the files of a log are: paths, globs, folders and standard input, with what their names and folders say."""

import glob
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from gobetween.errors import Fix, LogError
from gobetween.files.paths import LOGS, PACKED, WORKBOOKS, check_file, encoding_of, is_given_pipe, path_of
from gobetween.logs.reading.columns import FILE, FOLDER
from gobetween.logs.reading.names import natural

KNOWN = ".csv, .tsv, .jsonl, .json, .parquet or .feather, those of text also with .gz, .zst or .bz2 behind"
MAGIC = {
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"\x1f\x8b": ".gz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"BZh": ".bz2",
    b"PK\3\4": ".xlsx",
}
START = 4096  # bytes that tell what is in a file
MOST_SPOOLED = 4 * 10**9  # bytes of a pipe
_SPOOLED: list[Any] = []  # what came from standard input, kept as files until the process ends


@dataclass(frozen=True)
class LogFile:
    """A file."""

    path: Path
    shown: str  # as messages call it
    kind: str
    packing: str | None = None
    encoding: str | None = None  # of its text, where that is not UTF-8
    given: Mapping[str, str] = field(default_factory=dict)
    """Columns with one value: its name, that of its folder, and keys of folders such as day=1."""


def log_files(text: str | PathLike[str]) -> list[LogFile]:
    """The files that a path, a pattern or a folder names; what there is not is refused."""
    path = path_of(text)
    if str(text) == "-" or is_given_pipe(path):
        return [_from_pipe(None if str(text) == "-" else path)]
    if path.is_dir():
        return [_file(one, one) for one in _in_folder(path)]
    if glob.has_magic(str(path)) and not path.exists():
        found = sorted(glob.glob(str(path), recursive=True), key=natural)
        if not found:
            raise LogError(f"{path}: no file matches this pattern")
        return [one for name in found for one in log_files(name)]
    check_file(path, LogError)
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
    kind = LOGS.get((path.with_suffix("") if packing else path).suffix.lower())
    return (None, None) if packing and kind in ("parquet", "arrow") else (kind, packing)


def _file(path: Path, named: Path, shown: str = "") -> LogFile:
    kind, packing = _kind(named)
    if named.suffix.lower() == ".zip":
        raise LogError(f"{path}: a .zip may hold several files: unpack it, or pack the one with gzip")
    if named.suffix.lower() in WORKBOOKS:
        raise LogError(f"{path}: is a workbook: save the sheet with the log as CSV")
    if kind is None:
        raise LogError(f"{path}: is not known as a log by its name: {KNOWN}")
    stem = named.name.removesuffix(named.suffix) if not packing else named.with_suffix("").stem
    folder = {} if shown else {FOLDER: path.parent.as_posix() if path.parent.name else path.absolute().parent.name}
    return LogFile(path, shown or str(path), kind, packing, given={FILE: stem, **folder, **dict(_keys(path))})


def _keys(path: Path) -> Iterator[tuple[str, str]]:
    """The keys of folders, as in day=1/part.parquet."""
    for part in path.parts[:-1]:
        key, sign, value = part.partition("=")
        if key and sign:
            yield unquote(key), unquote(value)


def _from_pipe(path: Path | None) -> LogFile:
    """What comes from standard input, or from a pipe that a shell has opened, as a file."""
    spool = tempfile.NamedTemporaryFile(prefix="gobetween-")  # noqa: SIM115 - it is needed until the end
    shown = "standard input" if path is None else str(path)
    with nullcontext(sys.stdin.buffer) if path is None else path.open("rb") as stream:
        while part := stream.read(1 << 20):
            spool.write(part)
            if spool.tell() > MOST_SPOOLED:
                raise LogError(f"{shown}: is longer than {MOST_SPOOLED // 10**9} GB: write it into a file, and name that")
    spool.flush()
    _SPOOLED.append(spool)
    place = Path(spool.name)
    outer = suffix_within(place) or ".csv"
    inner = suffix_within(place, PACKED[outer]) or ".csv" if outer in PACKED else ""
    return _file(place, Path(f"stdin{inner}{outer}"), shown)


def suffix_within(path: Path, packing: str | None = None) -> str:
    """What a file would be called, by how it begins; empty where that cannot be told."""
    start = first_bytes(LogFile(path, "standard input", "csv", packing))
    known = next((suffix for magic, suffix in MAGIC.items() if start.startswith(magic)), None)
    text = start.decode(encoding_of(start) or "latin-1", "ignore").lstrip()
    return known or {"{": ".jsonl", "[": ".json"}.get(text[:1], "" if "\0" in text else ".csv")


def first_bytes(file: LogFile) -> bytes:
    """How a file begins, unpacked."""
    from gobetween.logs.reading.arrow import opened

    with opened(file) as stream:
        return bytes(stream.read(START))


def decoded(file: LogFile, encoding: str | None) -> LogFile:
    """The same file with the encoding of its text: as is said, or as a byte order mark says."""
    if file.kind in ("parquet", "arrow"):
        return file
    start = first_bytes(file)
    marked = encoding_of(start)
    if encoding is None and marked is None and 0 in start:
        if known := next((suffix for magic, suffix in MAGIC.items() if start.startswith(magic)), None):
            raise LogError(f"{file.shown}: is no text; it looks like {known}: call it so")
        guess = "utf-16-be" if start.find(b"\0") % 2 == 0 else "utf-16-le"
        raise LogError(f"{file.shown}: holds NUL, as text in UTF-16 does", fix=Fix("encoding", guess))
    return replace(file, encoding=encoding or (None if marked == "utf-8-sig" else marked))
