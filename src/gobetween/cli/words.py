"""The words of the command line: errors with its own fixes, and help that lists the rules and families there are."""

import re
import shlex
from collections.abc import Callable
from typing import TypeVar

import click

from gobetween.cli.plugins import ready
from gobetween.errors import GoBetweenError
from gobetween.words.fixes import SHELL

#: Commands on a study that a sentence names: the study that was meant belongs to them.
_OF_STUDY = re.compile(r"\bgobetween (?!(?:init|logs|serve|plan|simulate|experiment|template)\b)(?:token )?[a-z]+(?:-[a-z]+)*")

F = TypeVar("F", bound=Callable[..., None])


def told(error: GoBetweenError) -> str:
    """What went wrong, for someone at the command line."""
    words, options = error.sentence(fixes=SHELL, quote=shlex.quote), getattr(error, "study_options", "")
    return _OF_STUDY.sub(lambda found: f"{found[0]}{options}", words)


def words_of(side: str) -> list[str]:
    """What can be said for --sampling, --stopping or --family, the default first."""
    ready(plain=True)
    from gobetween.core.ground.registry import classes, words

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
