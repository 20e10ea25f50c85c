"""What the commands on a live study share: where the study is, and how they say what they did.

`--json` prints one object (shapes: docs/live.md).
"""

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from gobetween.cli.plugins import ready
from gobetween.cli.terminal import printable, show
from gobetween.cli.workload import small_study
from gobetween.errors import GoBetweenError, StudyError
from gobetween.files.paths import path_of

if TYPE_CHECKING:
    from gobetween.study.commands.verb import Verb
    from gobetween.study.journal.receipts import Receipt, StudyQuery
    from gobetween.study.spec.changes import Changes
    from gobetween.study.study import Study

VARIABLE = "GOBETWEEN_STUDY"
#: What becomes of a verdict when something is told after it.
STOOD = {"identified": "and the verdict stays", "budget": "and can still bring the verdict of the rule"}


@dataclass(frozen=True)
class Call:
    """A command as it was called: on which study, by whom, and for whom it prints."""

    study: str | None
    name: str | None
    actor: str | None
    as_json: bool

    @property
    def where(self) -> str:
        """study.toml, a SQLite file or a URL."""
        return self.study or os.environ.get(VARIABLE) or "study.toml"

    def prepare(self) -> None:
        """Make ready for a study of its size; without a file there is none."""
        path = path_of(self.where)
        if self.where == "study.toml" and not path.exists():
            raise StudyError("there is no study.toml here: gobetween init makes one, --study names another place")
        ready(plain=small_study(path))

    def open(self, *, view: bool = False) -> "Study":
        """The study that is meant; a view does not take over changes of study.toml."""
        self.prepare()
        from gobetween.study.find_study import open_study

        found = open_study(self.where, self.name, self.actor, take_over=not view)
        if found.behind:
            older = f"{self.where} is older than what commands have changed since ({', '.join(found.behind)})"
            click.echo(printable(f"note: {older}; write it there too"), err=True)
        if found.unsaved:
            differs = f"{self.where} differs from the stored study ({', '.join(found.unsaved)})"
            click.echo(f"note: {differs}; your edits take effect at the next ask or tell, unless they are refused", err=True)
        self._say_taken_over(found.taken_over)
        return found

    def quietly(self) -> "Study":
        """The study that is meant, whatever its file says now."""
        self.prepare()
        from gobetween.study.find_study import open_study

        return open_study(self.where, self.name, self.actor, take_over=False)

    def would_change(self) -> "Changes | None":
        """What the study file would change; None where it has no store yet."""
        self.prepare()
        from gobetween.study.find_study import open_study
        from gobetween.study.spec.spec import StudySpec

        spec = StudySpec.from_toml(self.where)
        try:
            return open_study(self.where, self.name, self.actor, take_over=False).check(spec)
        except GoBetweenError as error:
            if not error.missing:
                raise
            return None

    def _say_taken_over(self, changes: "Changes") -> None:
        """What came from an edited file; beside JSON on standard error."""
        from gobetween.words.study import change_words

        for line in change_words(changes):
            click.echo(printable(f"updated {line}"), err=self.as_json)

    def show(self, value: dict[str, object], *lines: str) -> None:
        """Print one JSON object, or lines for people."""
        show({"format": 1, **value}, self.as_json, *lines)

    def done(self, receipt: "Receipt", verb: "Verb[Any]", words: str = "") -> None:
        """Print what a verb has brought about."""
        self.show(receipt.to_dict(), *receipt_lines(receipt, words or verb.words(), verb.idle_words()))
        leave(receipt.alarm)


def study_command(name: str) -> Callable[[Callable[..., None]], click.Command]:
    """A command on a study: found by --study, the environment or ./study.toml, and given to the function as a Call."""

    def wrap(function: Callable[..., None]) -> click.Command:
        @wraps(function)
        def run(study: str | None, study_name: str | None, actor: str | None, as_json: bool, **rest: object) -> None:
            try:
                function(Call(study, study_name, actor, as_json), **rest)
            except GoBetweenError as error:
                said = (("--study", study), ("--name", study_name))
                options = "".join(f" {option} {shlex.quote(value)}" for option, value in said if value)
                error.study_options = options  # type: ignore[attr-defined]  # for the commands that its sentence names
                raise

        command = click.command(name)(run)
        for option in (
            click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/live.md)."),
            click.option("--actor", help="Who does this [default: the user's name]."),
            click.option("--name", "study_name", help="Which study of a store that holds several."),
            click.option("--study", help=f"study.toml, a SQLite file or a URL [default: ${VARIABLE}, or ./study.toml]."),
        ):
            command = option(command)
        return command

    return wrap


#: For commands that show times.
utc_option = click.option("--utc", is_flag=True, help="Times in UTC [default: the local zone].")


def leave(alarm: object) -> None:
    """Exit status 3 where an alarm breaks the guarantee, or a verdict is under review."""
    if alarm:
        sys.exit(3)


def query_words(query: "StudyQuery") -> str:
    """A query for the one who carries it out."""
    contact = f" ({query.contact})" if query.contact else ""
    again = f", instead of query {query.reissue_of}" if query.reissue_of is not None else ""
    return f"query {query.id}: ask {query.mediator}{contact}{again}{'' if query.new else ' (already asked)'}"


def receipt_lines(receipt: "Receipt", done: str, idle: str = "") -> list[str]:
    """What a command has brought about, for people."""
    lines = [done if receipt.recorded else idle]
    if receipt.backup:
        lines.append(f"all of it is in {receipt.backup}, which gobetween restore brings back")
    if receipt.late:
        lines.append("it came after its lease had ended and is marked as late")
    if receipt.stood is not None and receipt.query is not None:
        then = "" if receipt.alarm is not None else f", {STOOD[receipt.stood]}"
        lines.append(f"the study had stopped before; this is kept{then}")
    if receipt.alarm is not None:
        lines.append(receipt.alarm if receipt.stopped is None else f"the study has stopped. {receipt.alarm}")
    elif receipt.stopped is not None:
        from gobetween.words.study import verdict_words

        lines.append(f"the study has stopped: {verdict_words(receipt.stopped)}")
    return lines + [query_words(query) for query in receipt.asked]
