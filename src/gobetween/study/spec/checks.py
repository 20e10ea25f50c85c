"""What people hand to commands, checked before anything happens."""

import getpass
import math
from collections.abc import Iterable
from typing import Any

from gobetween.errors import StudyError
from gobetween.export import is_number, is_whole, meant_number
from gobetween.files.cells import NumberFormat
from gobetween.names import LONGEST as LONGEST_NAME
from gobetween.names import code_point, folded, hidden_in, skeleton

LONGEST, LONGEST_KEY = 10_000, 500  # characters of a note or reason, and of a key


def as_float(reward: Any) -> Any:
    """Numbers as floats, so that 1 and 1.0 are the same answer, and 0 and -0; the family refuses what is not a number."""
    if not (is_number(reward) or type(reward).__name__ in ("bool", "bool_")):  # of Python or NumPy
        return reward
    try:
        number = float(reward)
    except OverflowError:  # a whole number of hundreds of digits
        number = math.inf if reward > 0 else -math.inf
    return math.copysign(math.inf, number) if abs(number) >= 1e300 else number + 0.0


def reward_of(text: str | None) -> float | None:
    """A reward as people write it: a number, or a word such as yes; that no one gave is None."""
    if text is None:
        return None
    found = NumberFormat().number(text)
    if found != found and text.strip().lower().lstrip("+-") != "nan":
        raise StudyError(f"reward {text!r} is not a number{meant_number(text) or ': write one, or a word such as yes or no'}")
    return found


def check_number(what: str, value: Any) -> None:
    """Refuse what is not a number of events."""
    if not is_whole(value) or not 0 <= value < 2**62:
        raise StudyError(f"{what} = {value!r}: must be a whole number, 0 or more, less than 2^62")


def check_text(what: str, value: Any, longest: int = LONGEST) -> None:
    """Refuse what is no text, too long, or cannot be written down."""
    if value is None:
        return
    try:
        good = isinstance(value, str) and len(value) <= longest and "\x00" not in value and value.encode() is not None
    except UnicodeEncodeError:
        good = False
    if not good:
        raise StudyError(f"{what}: must be a text of at most {longest} characters, without NUL or broken characters")


def check_some_text(what: str, value: Any, otherwise: str) -> None:
    """Refuse also what is empty, with a sentence of its own."""
    check_text(what, value)
    if not value or not value.strip():
        raise StudyError(otherwise)


def check_new_name(name: str, names: Iterable[str], place: str) -> None:
    """Refuse the name of a study that cannot be read, or that people would take for another's, as of arms and mediators."""
    if len(name) > LONGEST_NAME:
        raise StudyError(f"name = {name[:40]!a}… has {len(name):,} characters: a study's name has at most {LONGEST_NAME}")
    if c := hidden_in(name):
        raise StudyError(f"name = {name!a} holds {code_point(c)}, which cannot be seen: leave it out")
    for one in names:
        if one != name and folded(skeleton(one)) == folded(skeleton(name)):
            raise StudyError(f"{place} already has a study {one!r}, and {name!r} looks like it: choose another name")


def user_name() -> str:
    """Who runs this."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
