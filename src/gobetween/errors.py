"""What can go wrong, said in one sentence that names the offending item and the fix.

An error carries its parts as data: `where` (such as ("means", 2)), `what` is wrong, and the `fix`. Library sentences speak of
Python; a shell says the same with words of its own by `sentence(spell=…, fixes=…)`: a file knows `arms[2].mean`, the command
line `gobetween resume`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gobetween.words.fixes import PYTHON

Where = tuple[str | int, ...]


@dataclass(frozen=True)
class Fix:
    """What can be done about it: a name that every shell has words for, and what it is about."""

    name: str
    about: str = ""


def spelled(where: Where) -> str:
    """("policies", 0, 2) as policies[0][2]."""
    return "".join(f"[{part}]" if isinstance(part, int) else f"{'.' if i else ''}{part}" for i, part in enumerate(where))


def without_passwords(text: str) -> str:
    """The same with *** in place of passwords: in URLs, however mistyped, and in parameters of a connection."""
    return _PARAMETER.sub(r"\1=***", _URL.sub(r"\1:***@", text))


_LONG = re.compile(r"(\S{200})\S{300,}+")  # what no one reads, and what would take long to search
_URL = re.compile(r"(\w+:/+[^\s:/@]*):[^\s@]*(?:@[^\s@/]*)*@")
_PARAMETER = re.compile(r"(?i)\b((?:ssl)?password|passwd|pwd)=(?!\*\*\*)[^&\s'\"]+")


class GoBetweenError(ValueError):
    """A mistake in what was given; the message is one sentence for the person who gave it."""

    status = 2
    """With which a command ends."""

    def __init__(self, what: str, *, where: Where = (), fix: Fix | None = None) -> None:
        what = without_passwords(_LONG.sub(r"\1…", what))
        super().__init__(what)
        self.what, self.where, self.fix = what, where, fix

    @property
    def missing(self) -> bool:
        """Is something not there, which could be made?"""
        return self.fix is not None and self.fix.name in ("create", "other-study")

    def __str__(self) -> str:
        return self.sentence()

    def sentence(
        self, spell: Callable[[Where], str] = spelled, fixes: Mapping[str, str] = PYTHON, quote: Callable[[str], str] = str
    ) -> str:
        """The whole in the words of a reader: how it spells places, calls each fix, and quotes what that is about."""
        place = spell(self.where)
        told = f"{place} {self.what}" if place else self.what
        return told if self.fix is None else f"{told}; {self._done(fixes[self.fix.name], quote)}"

    def _done(self, words: str, quote: Callable[[str], str]) -> str:
        about = "" if self.fix is None else self.fix.about
        return words.replace("{!r}", repr(about)).replace("{}", quote(about))


class ProblemError(GoBetweenError):
    """A problem, family, rule or argument that makes no sense."""


class SpecError(GoBetweenError):
    """A file that does not say what it should; the message names the file and the key."""


class StudyError(GoBetweenError):
    """Something that a study refuses; nothing has changed."""


class ConflictError(StudyError):
    """What was said before differs from what is said now."""


class AlarmError(StudyError):
    """Refused, and an alarm breaks the guarantee of the study's verdict, or that is under review."""

    status = 3


class LogError(GoBetweenError):
    """A log that cannot be used."""


class StoreError(GoBetweenError):
    """A store that cannot be opened, read or written."""

    passing = False
    """May the same work a moment later?"""


class ResultsError(GoBetweenError):
    """A results file that cannot be used or written; what it holds is untouched."""
