"""Options that say what a log is and how it is read: the same for every command that reads one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from gobetween.cli.plan import question_of
from gobetween.cli.words import choice, told
from gobetween.errors import GoBetweenError, LogError
from gobetween.files.paths import is_given_pipe, path_of

if TYPE_CHECKING:
    from gobetween.core.reward.family import Family


@dataclass(frozen=True)
class LogArguments:
    """What the options say of a log; `rest` has those that `LogOptions` knows by the same name and in the same form."""

    files: tuple[str, ...]
    arm: str
    family: str | None
    delta: float | None
    declared: str | None
    question: str | None
    only: str | None
    renames: tuple[str, ...]
    rest: dict[str, Any]

    def arguments(self) -> dict[str, Any]:
        """For analyse_logs and replay_logs; what is not said is taken from the declared file, or is the default."""
        from gobetween.core.question.questions import BEST
        from gobetween.core.reward.families import DEFAULT

        found: dict[str, Any] = {"family": DEFAULT, "delta": 0.05, "arms": None, "declared": None, "question": BEST}
        if self.declared is not None:
            from gobetween.study.spec.spec import StudySpec

            spec = StudySpec.from_toml(self.declared)
            found |= {
                "family": spec.design.family,
                "delta": spec.design.delta,
                "arms": spec.arms,
                "declared": spec.cast.policies_by_name(),
            }
            found["question"] = spec.design.question
        if self.family is not None:
            found["family"] = family_of(self.family)
        if self.delta is not None:
            found["delta"] = self.delta
        found["question"] = question_of(self.question, found["question"])
        return found | self.reading()

    def paths(self) -> list[str]:
        """All files that are read: those of patterns and folders too."""
        from gobetween.logs.reading.files import log_files

        named = [file for file in self.files if file != "-" and not is_given_pipe(path_of(file))]
        logs = [str(one.path) for file in named for one in log_files(file)]
        return [*logs, *self.renames, *([self.declared] if self.declared else [])]

    def reading(self) -> dict[str, Any]:
        """How rows are read, whatever they are about."""
        from gobetween.logs.reading.names import read_renames

        only = None if self.only is None else [name.strip() for name in self.only.split(",")]
        return self.rest | {"arm": self.arm, "only": only, "rename": read_renames(self.renames)}


def reading(*where: Callable[[Any], Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options, after the one that names the files; a function is given them as a LogArguments."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(**said: Any) -> None:
            rest = {name: said.pop(name) for name in NAMES if name not in LogArguments.__dataclass_fields__}
            own = {name: said.pop(name) for name in LogArguments.__dataclass_fields__ if name != "rest"}
            function(LogArguments(**own, rest=rest), **said)

        for option in (*OPTIONS[::-1], *where):
            run = option(run)
        return run

    return decorate


OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--mediator", help="Column of mediators, or several with commas [default: mediator; without it there is one]."
    ),
    click.option("--arm", default="arm", show_default=True, help="Column of arms, or several with commas."),
    click.option("--reward", default="reward", show_default=True, help="Column of rewards."),
    click.option("--order", help="Column of time or row order: checked, and files that overlap are merged by it."),
    choice("family", "{words} [default: the file's, or bernoulli]."),
    choice("question", "What to find out: {words} [default: the file's, or {default}].", metavar="QUESTION"),
    click.option("--delta", type=float, help="Risk of a wrong answer [default: the file's, or 0.05]."),
    click.option(
        "--declared", type=click.Path(), help="A plan or study file: arms, mediators, policies, family, delta and question."
    ),
    click.option("--propensity", help="Column of the probability with which the mediator chose the arm."),
    click.option("--count", help="Column that says how many rows a row stands for."),
    click.option("--totals", is_flag=True, help="With --count: the reward is the total of these rows, not of each."),
    click.option("--id", help="Column whose values must differ: rows that repeat one are bad."),
    click.option("--where", help="Only rows of which this holds, in SQL: 'position = 1'."),
    click.option("--arms", "only", help="Only these arms, with commas; rows of others are left out."),
    click.option("--fold", is_flag=True, help="Join names that differ by case, spaces, Unicode form or as 1 and 1.0 do."),
    click.option("--map", "renames", multiple=True, help="Rename: OLD=NEW, or a CSV file of old and new names; repeat it."),
    click.option("--separator", help="Between cells of CSV: comma, semicolon, tab, pipe or a character [default: as found]."),
    click.option("--decimal", default=".", show_default=True, help="Decimal sign of numbers in text."),
    click.option("--thousands", help="What separates thousands in numbers in text."),
    click.option("--encoding", help="Of text, such as latin-1 or utf-16-le [default: UTF-8, or as its first mark says]."),
    click.option("--skip-bad", is_flag=True, help="Leave out rows that cannot be used, and report them."),
    click.option("--silence", is_flag=True, help="Count rows with neither arm nor reward as silence of their mediator."),
)


def _said() -> tuple[str, ...]:
    """What the options are called in Python."""

    def anything() -> None: ...

    for option in OPTIONS:
        option(anything)
    return tuple(option.name for option in anything.__click_params__)  # type: ignore[attr-defined]  # click puts them there


NAMES = _said()


def family_of(text: str) -> "Family":
    """gaussian:sigma=2 as a family."""
    from gobetween.files.rules import parse_family, table_of

    try:
        return parse_family(table_of(text))
    except GoBetweenError as error:
        raise LogError(f"--family {text}: {told(error)}") from None
