"""Verbs about a study as a whole: what is noted in its log, does it go on, is it shown, what is it called, is it there?"""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

from gobetween.study.commands.verb import Act, Verb
from gobetween.study.spec.checks import check_some_text, check_text


@dataclass(frozen=True)
class Note(Act):
    """Write something into the log."""

    word, done = "note", "noted"
    text: Annotated[str, "What to write."]

    def _check(self) -> None:
        check_some_text("note", self.text, "a note needs some text")


@dataclass(frozen=True)
class Pause(Act):
    """Issue no more queries until the study is resumed; answers are still taken."""

    word, done, idle = "pause", "paused", "the study is paused already; nothing changed"


@dataclass(frozen=True)
class Resume(Act):
    """Go on after a pause, or after the study has stopped.

    A verdict stays in the record.
    """

    word, done = "resume", "the study goes on"
    idle = "the study is not paused and has not stopped; nothing changed"


@dataclass(frozen=True)
class Archive(Act):
    """Hide the study from lists, and issue no more queries.

    Everything stays, and answers are still taken.
    """

    word = "archive"
    _: KW_ONLY
    undo: Annotated[bool, "Bring it back."] = False

    def idle_words(self) -> str:
        """Where it was already."""
        return f"the study is {'not archived' if self.undo else 'archived already'}; nothing changed"

    def words(self) -> str:
        """Where it is now."""
        return "the study is in lists again" if self.undo else "archived: no queries are issued, and lists do not show it"


@dataclass(frozen=True)
class RenameStudy(Act):
    """Give the study another name in its store.

    A study file is for the study of its own name: rename the file, too.
    """

    word = "rename-study"
    idle = "the study is called {name} already; nothing changed"
    done = "the study is called {name} now; a study file is for the study of its own name: rename it, too"
    name: Annotated[str, "The name from now on."]

    def _check(self) -> None:
        check_some_text("name", self.name, "name: a study needs a short name")


@dataclass(frozen=True)
class Delete(Act):
    """Take the study out of its store, with all that was recorded, once a backup of it is written.

    The answer names the file, which `restore` brings back. Tokens of its mediators end.
    """

    word = "delete"
    done = "study {name} is deleted"
    name: Annotated[str, "The study's name once more, to confirm."]

    def _check(self) -> None:
        check_text("name", self.name)


#: Those about whether it is shown and there.
STUDY: tuple[type[Verb[Any]], ...] = (Archive, RenameStudy, Delete)
