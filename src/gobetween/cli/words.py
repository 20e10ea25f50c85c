"""The words of the command line: what it calls each fix, and help that lists the rules and families there are."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import click

from gobetween import errors
from gobetween.cli.plugins import ready

F = TypeVar("F", bound=Callable[..., None])
#: What can be done, in the words of the command line; the names are those of `errors.FIXES`.
FIXES: Mapping[str, str] = {
    "again": "if it is another answer, say --again",
    "back": "gobetween back NAME says that someone is back",
    "budget": "raise the budget in the study file, then gobetween resume goes on",
    "cancel": "gobetween cancel {} withdraws it",
    "columns": "name columns with --mediator, --arm, --reward",
    "correct": "gobetween correct {} changes that",
    "count": "--count names a column of numbers of rows",
    "create": "gobetween init makes one",
    "expected": 'write it in the file: family = { name = "gaussian", sigma = "unknown", expected = 2.0 }, with yours',
    "family": 'the family of other rewards must be said, in a file such as family = { name = "gaussian", sigma = 2.0 }',
    "join": "gobetween add-mediator NAME takes in a new one",
    "migrate": "gobetween doctor --migrate brings it up to date",
    "other-file": "name another file",
    "plugin": "or install the package that brings it, or name its module by gobetween --plugin MODULE",
    "public-url": "say --public-url https://…",
    "r": "write negative-binomial:r=2, with yours",
    "rename": "or, if only the name is new, gobetween rename OLD NEW says so",
    "restore": "keep a copy of it before anything else; gobetween restore brings back a backup",
    "resume": "gobetween resume goes on",
    "resume-anyway": "gobetween resume asks on all the same",
    "shape": "write gamma:shape=2, with yours",
    "retire": "gobetween retire NAME (--arm for an arm) leaves it out from now on",
    "sigma": "write gaussian:sigma=2, with yours, or gaussian:sigma=unknown",
    "silent": "if this mediator sometimes answers nothing, write silent = true",
    "skip-bad": "--skip-bad leaves them out",
    "skip-or-silence": "--skip-bad leaves them out; --silence counts rows with neither arm nor reward as silence",
    "status": "gobetween status shows it",
    "surprise": "correct this, or say --accept-surprise",
    "tokens": "gobetween token list shows those there are",
    "trials": "write binomial:n=10, with yours",
    "which-name": "say --arm or --mediator",
}


def told(error: errors.GoBetweenError) -> str:
    """What went wrong, for someone at the command line."""
    return error.sentence(fixes={**errors.FIXES, **FIXES})


def words_of(side: str) -> list[str]:
    """What can be said for --sampling, --stopping or --family, the default first."""
    ready(plain=True)
    from gobetween.core.registry import classes, words

    if side not in ("family", "question"):
        return list(words(side))
    fields = {name: getattr(kind, "_fields", ()) for name, kind in classes(side).items()}
    return [f"{name}:{','.join(f'{key}=…' for key in keys)}".rstrip(":") for name, keys in fields.items()]


class Choice(click.Option):
    """An option whose help lists what can be said, in place of {words} and {default}; looked up only when help is shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Name and help, as click asks for them."""
        record, words = super().get_help_record(ctx), words_of(str(self.name))
        listed = f"{', '.join(words[:-1])} or {words[-1]}"
        return record and (record[0], record[1].format(words=listed, default=words[0]))


def choice(side: str, text: str, metavar: str | None = None) -> Callable[[F], F]:
    """--sampling, --stopping or --family, with the words there are in its help."""
    return click.option(f"--{side}", cls=Choice, help=text, metavar=metavar)
