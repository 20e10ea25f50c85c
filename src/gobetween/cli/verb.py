"""What the verbs of a live study share: where the study is, and how they say what they did.

Each verb is one transaction on the study's store; `--json` prints one object (shapes: docs/live.md).
"""

import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from typing import TYPE_CHECKING

import click

from gobetween.cli.plugins import ready
from gobetween.cli.terminal import printable, show
from gobetween.cli.work import small_problem
from gobetween.errors import Fix, GoBetweenError, StudyError
from gobetween.files.paths import path_of
from gobetween.files.toml import read_toml

if TYPE_CHECKING:
    from gobetween.study.edits import Changes
    from gobetween.study.study import Study
    from gobetween.study.transaction import Receipt, StudyQuery

VARIABLE = "GOBETWEEN_STUDY"
#: What becomes of a verdict when something is told after it.
STOOD = {"identified": "and the verdict stays", "budget": "and can still bring the verdict of the rule"}


@dataclass(frozen=True)
class Call:
    """A verb as it was called: on which study, by whom, and for whom it prints."""

    study: str | None
    name: str | None
    actor: str | None
    as_json: bool

    @property
    def where(self) -> str:
        """study.toml, a SQLite file or a URL."""
        return self.study or os.environ.get(VARIABLE) or "study.toml"

    def prepare(self, brief: bool = True) -> None:
        """Make ready for a study of its size; without a file there is none. brief: most likely little is to be done, as for one
        query or one answer, whatever the size.
        """
        path = path_of(self.where)
        if self.where == "study.toml" and not path.exists():
            raise StudyError("there is no study.toml here: gobetween init makes one, --study names another place")
        known = path.suffix == ".toml" and path.is_file()
        ready(plain=known and small_problem(read_toml(path)), brief=brief or not known)

    def open(self, *, view: bool = False, brief: bool = True) -> "Study":
        """The study that is meant; a view does not take over changes of study.toml. brief: see `prepare`."""
        self.prepare(brief)
        from gobetween.study.opening import open_study

        found = open_study(self.where, self.name, self.actor, take_over=not view)
        if found.unsaved:
            differs = f"{self.where} differs from the stored study ({', '.join(found.unsaved)})"
            click.echo(f"note: {differs}; the next ask or tell takes that over or refuses", err=True)
        self._say_taken_over(found.taken_over)
        return found

    def quietly(self) -> "Study":
        """The study that is meant, whatever its file says now."""
        self.prepare()
        from gobetween.study.opening import open_study

        return open_study(self.where, self.name, self.actor, take_over=False)

    def would_change(self) -> "Changes | None":
        """What the study file would change; None where it has no store yet."""
        self.prepare()
        from gobetween.study.opening import open_study
        from gobetween.study.spec import StudySpec

        spec = StudySpec.from_toml(self.where)
        try:
            return open_study(self.where, self.name, self.actor, take_over=False).check(spec)
        except GoBetweenError as error:
            if error.fix != Fix("create"):
                raise
            return None

    def _say_taken_over(self, changes: "Changes") -> None:
        """What came from an edited file; beside JSON on standard error."""
        from gobetween.study.edits import change_words

        for line in change_words(changes):
            click.echo(printable(f"took over {line}"), err=self.as_json)

    def show(self, value: dict[str, object], *lines: str) -> None:
        """Print one JSON object, or lines for people."""
        show({"format": 1, **value}, self.as_json, *lines)

    def done(self, receipt: "Receipt", words: str) -> None:
        """Print what a command has brought about."""
        self.show(asdict(receipt), *receipt_lines(receipt, words))
        leave(receipt.alarm)


def verb(name: str) -> Callable[[Callable[..., None]], click.Command]:
    """A command on a study: found by --study, the environment or ./study.toml, and given to the function as a Call."""

    def wrap(function: Callable[..., None]) -> click.Command:
        @wraps(function)
        def run(study: str | None, name: str | None, actor: str | None, as_json: bool, **rest: object) -> None:
            function(Call(study, name, actor, as_json), **rest)

        command = click.command(name)(run)
        for option in (
            click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/live.md)."),
            click.option("--actor", help="Who does this [default: the user's name]."),
            click.option("--name", help="Which study of a store that holds several."),
            click.option("--study", help=f"study.toml, a SQLite file or a URL [default: ${VARIABLE}, or ./study.toml]."),
        ):
            command = option(command)
        return command

    return wrap


#: For verbs that show times.
utc_option = click.option("--utc", is_flag=True, help="Times in UTC [default: the local zone].")


def leave(alarm: object) -> None:
    """Exit status 3 where an alarm breaks the guarantee."""
    if alarm is not None:
        sys.exit(3)


def query_words(query: "StudyQuery") -> str:
    """A query for the one who carries it out."""
    contact = f" ({query.contact})" if query.contact else ""
    again = f", instead of query {query.reissue_of}" if query.reissue_of is not None else ""
    return f"query {query.id}: ask {query.mediator}{contact}{again}{'' if query.new else ' (already asked)'}"


def receipt_lines(receipt: "Receipt", done: str) -> list[str]:
    """What a command has brought about, for people."""
    lines = [done if receipt.recorded else "already recorded, nothing changed"]
    if receipt.late:
        lines.append("it came after its lease had ended and is marked as late")
    if receipt.stood is not None and receipt.query is not None:
        lines.append(f"the study had stopped before; this is kept, {STOOD[receipt.stood]}")
    if receipt.alarm is not None:
        lines.append(receipt.alarm if receipt.stopped is None else f"the study has stopped. {receipt.alarm}")
    elif receipt.stopped is not None:
        from gobetween.study.transaction import verdict_words

        lines.append(f"the study has stopped: {verdict_words(receipt.stopped)}")
    return lines + [query_words(query) for query in receipt.asked]
