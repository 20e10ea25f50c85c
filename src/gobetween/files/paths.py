"""Texts and paths that can be written down and opened, before anything is done with them."""

import os
from os import PathLike
from pathlib import Path

from gobetween.errors import SpecError

LONGEST = 255  # bytes of a name in a folder


def path_of(given: str | PathLike[str], what: str = "") -> Path:
    """A path that a file system can have: without NUL, and no half of a character in it."""
    text = os.fspath(given)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise SpecError(f"{what}{text!a}: is no path, it holds half of a character: name another file") from None
    if any(len(os.fsencode(part)) > LONGEST for part in Path(text).parts):
        raise SpecError(f"{what}{text[:60]!a}…: is no path, it is too long: name another file")
    if "\x00" in text:
        raise SpecError(f"{what}{text!a}: is no path, it holds NUL: name another file")
    return Path(text)


def is_writable_text(text: str) -> bool:
    """Can it be kept in a file or a store? Not with NUL or half of a character in it."""
    try:
        return "\x00" not in text and text.encode() is not None
    except UnicodeEncodeError:
        return False
