"""Verbs of a live study on the command line: arguments, options and help are those of `study/commands/verbs.py`."""

from collections.abc import Callable, Iterator
from inspect import getdoc
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import click

from gobetween.cli.verb import Call, study_command
from gobetween.study.commands.verb import Argument, Verb, arguments_of
from gobetween.study.commands.verbs import VERBS
from gobetween.study.spec.checks import reward_of


def verb_command(verb: type[Verb[Any]], without: tuple[str, ...] = ()) -> Callable[[Callable[..., None]], click.Command]:
    """A command with the arguments of a verb, but for some; the function gets the Call and what was given."""

    def wrap(function: Callable[..., None]) -> click.Command:
        def run(call: Call, **given: Any) -> None:
            function(call, **{name: value for name, value in given.items() if value is not None})

        run.__doc__ = "\n\n".join(text for text in (getdoc(verb), getdoc(function)) if text)
        command = study_command(verb.word)(run)
        own = reversed(function.__dict__.get("__click_params__", []))
        command.params = [*_parameters(verb, without), *own, *command.params]
        return command

    return wrap


def plain_command(word: str) -> click.Command | None:
    """A verb that needs nothing but its arguments; None where there is none."""
    verb = VERBS.get(word)
    if verb is None:
        return None

    @verb_command(verb)
    def run(call: Call, **given: Any) -> None:
        wanted = verb(**given)
        call.done(call.open().do(wanted), wanted)

    return run


class _Reward(click.ParamType[Any]):
    """A number, or a word such as yes, as in files."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        return reward_of(value) if isinstance(value, str) else value


def _parameters(verb: type[Verb[Any]], without: tuple[str, ...]) -> Iterator[click.Parameter]:
    for one in arguments_of(verb):
        if one.name not in without:
            yield from _parameter(one)


def _parameter(one: Argument) -> Iterator[click.Parameter]:
    """One argument or option; a choice of few words is a flag for each that is not the default."""
    kind = next(part for part in one.types if part is not NoneType)
    kind = _Reward() if one.name == "reward" else kind
    flag = f"--{one.name.replace('_', '-')}" if len(one.name) > 1 else f"-{one.name}"
    if get_origin(kind) is Literal:
        for word in get_args(kind):
            if word != one.default:
                article = "an" if word[0] in "aeiou" else "a"
                yield click.Option([f"--{word}", one.name], flag_value=word, help=f"It is {article} {word}.")
    elif one.positional and len(one.name) > 1:
        yield click.Argument([one.name], type=kind, required=one.required)
    elif kind is bool:
        yield click.Option([flag, one.name], is_flag=True, help=one.help)
    else:
        yield click.Option([flag, one.name], type=kind, required=one.required, help=one.help)
