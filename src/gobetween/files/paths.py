"""Texts, paths and files that people name: what cannot be kept, opened or held in memory is refused before any work."""

import os
import stat
from os import PathLike
from pathlib import Path

from gobetween.errors import GoBetweenError, SpecError

LONGEST = 255  # bytes of a name in a folder
GIVEN = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # pipes that a shell has opened already, as in <(command)
#: Byte order marks; that of UTF-32 begins as one of UTF-16.
_WIDE = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32"}
BOMS = {**_WIDE, b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
#: What logs are called; and how text may be packed.
LOGS = {
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
WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
#: How files begin that are no text, however they are called.
_NO_TEXT = {
    b"SQLite format 3\0": "a SQLite file, such as a store",
    b"PAR1": "Parquet",
    b"ARROW1": "Feather",
    b"\x1f\x8b": "packed by gzip",
    b"\x28\xb5\x2f\xfd": "packed by zstd",
    b"BZh": "packed by bzip2",
    b"PK\3\4": "a workbook or a ZIP archive",
    b"%PDF": "a PDF",
}
_KINDS = {
    stat.S_IFDIR: "a folder: name a file in it",
    stat.S_IFIFO: "a pipe, which may never end: write what comes from it into a file",
    stat.S_IFSOCK: "a socket: name a file",
}


def path_of(given: str | PathLike[str]) -> Path:
    """A path that a file system can have: without NUL, and no half of a character in it."""
    text = os.fspath(given)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise SpecError(f"{text!a}: is not a path, it holds half of a character: name another file") from None
    if any(len(os.fsencode(part)) > LONGEST for part in Path(text).parts):
        raise SpecError(f"{text[:60]!a}…: is not a path, it is too long: name another file")
    if "\x00" in text:
        raise SpecError(f"{text!a}: is not a path, it holds NUL: name another file")
    return Path(text)


def is_given_pipe(path: Path) -> bool:
    """Is it a pipe that someone writes to already, such as <(command) in a shell?"""
    return str(path).startswith(GIVEN) and path.exists() and stat.S_ISFIFO(path.stat().st_mode)


def check_file(path: Path, kind: type[GoBetweenError] = SpecError) -> os.stat_result:
    """Refuse what is not there, and what could wait for ever or never end: pipes, devices, sockets; also folders."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise kind(f"{path}: no such file") from None
    except OSError as error:
        raise kind(f"{path}: cannot be read ({error.strerror})") from None
    if not stat.S_ISREG(found.st_mode):
        raise kind(f"{path}: is {_KINDS.get(stat.S_IFMT(found.st_mode), 'a device: name a file')}")
    return found


def content_of(given: str | PathLike[str], largest: int, why: str, kind: type[GoBetweenError] = SpecError) -> bytes:
    """All of a file, or of a pipe that a shell has opened; `why` says what to do about one of more than `largest` bytes."""
    path = path_of(given)
    size = 0 if is_given_pipe(path) else check_file(path, kind).st_size
    try:
        with path.open("rb") as stream:
            content = stream.read(largest + 1) if size <= largest else b""
    except OSError as error:
        raise kind(f"{path}: cannot be read ({error.strerror})") from None
    if max(size, len(content)) > largest:
        raise kind(f"{path}: is larger than {largest // 1_000_000} MB: {why}")
    return content


def text_of(given: str | PathLike[str], largest: int, why: str, kind: type[GoBetweenError] = SpecError) -> str:
    """The same as text: in UTF-8, or in UTF-16 if it begins with a mark that says so."""
    return text_in(content_of(given, largest, why, kind), os.fspath(given), kind)


def text_in(content: bytes, source: str, kind: type[GoBetweenError] = SpecError) -> str:
    """Bytes as text."""
    if known := next((what for magic, what in _NO_TEXT.items() if content.startswith(magic)), None):
        raise kind(f"{source}: is {known}, and no text: name a text file, or save what it holds as one")
    try:
        return content.decode(encoding_of(content) or "utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise kind(f"{source}: is not UTF-8 (line {line}): save it as text in UTF-8") from None


def encoding_of(start: bytes) -> str | None:
    """What a byte order mark says of the text behind it."""
    return next((encoding for mark, encoding in BOMS.items() if start.startswith(mark)), None)


def is_writable_text(text: str) -> bool:
    """Can it be kept in a file or a store? Not with NUL or half of a character in it."""
    try:
        return "\x00" not in text and text.encode() is not None
    except UnicodeEncodeError:
        return False
