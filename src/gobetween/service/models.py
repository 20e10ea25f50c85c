"""What programs send: the arguments of verbs, by the same names, and little else; and what they may be refused with."""

from functools import reduce
from operator import or_
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from gobetween.study.commands.verb import Verb, arguments_of
from gobetween.study.spec.checks import LONGEST


class Body(BaseModel):
    """Nothing is guessed: unknown fields and numbers in quotes are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, str_max_length=LONGEST)


def body_of(verb: type[Verb[Any]], without: tuple[str, ...] = (), required: tuple[str, ...] = ()) -> type[Body]:
    """The arguments of a verb; some may be left out, or be required here."""
    taken: dict[str, Any] = {}
    for one in arguments_of(verb):
        if one.name not in ("key", *without):
            must = one.required or one.name in required
            types = tuple(part for part in one.types if not (must and part is type(None)))
            taken[one.name] = (reduce(or_, types), Field(... if must else one.default, description=one.help))
    return create_model(verb.__name__, __base__=Body, **taken)


class LoginToken(Body):
    """A token, to be exchanged for a cookie."""

    token: Annotated[str, Field(max_length=200)]


class NewStudy(Body):
    """A study, in the shape of a study.toml."""

    name: Annotated[str, Field(max_length=200)]
    study: dict[str, Any]


class ErrorDetail(BaseModel):
    """What is wrong, in one sentence and as data."""

    kind: str
    sentence: str
    what: str
    where: list[str | int]
    fix: dict[str, str] | None


class ErrorBody(BaseModel):
    """Nothing has changed."""

    format: int
    error: ErrorDetail


#: What any route may answer besides what is asked for.
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": words}
    for status, words in {
        401: "No valid token.",
        403: "Not for this token.",
        404: "There is no such thing.",
        405: "Not this method.",
        409: "It contradicts what was said before, or an alarm breaks the guarantee.",
        413: "Too large.",
        422: "Refused.",
        429: "Too many tokens that are not valid.",
        503: "The store does not answer: try again.",
    }.items()
}
