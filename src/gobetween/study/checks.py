"""What people hand to commands, checked before anything happens."""

import getpass
import math
from typing import Any

import numpy as np

from gobetween.core.family import is_number
from gobetween.errors import StudyError

LONGEST, LONGEST_KEY = 10_000, 500  # characters of a note or reason, and of a key


def as_float(reward: Any) -> Any:
    """Numbers as floats, so that 1 and 1.0 are the same answer; the family refuses what is no number."""
    if not (is_number(reward) or isinstance(reward, (bool, np.bool_))):
        return reward
    if abs(reward) >= 1e300:
        return math.inf if reward > 0 else -math.inf
    return float(reward)


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


def short(value: Any) -> str:
    """A value for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def user_name() -> str:
    """Who runs this."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
