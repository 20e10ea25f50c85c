"""What programs send: the arguments of the commands of a study, by the same names."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Number = Annotated[float, Field(allow_inf_nan=False)]
Text = Annotated[str, Field(max_length=10_000)]


class Body(BaseModel):
    """Nothing is guessed: unknown fields and numbers in quotes are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Ask(Body):
    """How many queries, or one for a worker that names itself."""

    n: int | None = None
    worker: Text | None = None


class Tell(Body):
    """An answer to a query, or one that a mediator gave unasked."""

    query: int | None = None
    arm: Text | None = None
    reward: Number | None = None
    silent: bool = False
    mediator: Text | None = None
    accept_surprise: bool = False
    again: bool = False


class Correct(Body):
    """What is right instead, and why."""

    query: int
    arm: Text | None = None
    reward: Number | None = None
    silent: bool = False
    mediator: Text | None = None
    reason: Text
    accept_surprise: bool = False


class Void(Body):
    """Which answer is taken out, and why."""

    query: int
    reason: Text


class Cancel(Body):
    """Which query is withdrawn."""

    query: int
    reason: Text = ""


class Presence(Body):
    """Who is away, or back."""

    mediator: Text


class Join(Body):
    """One mediator more."""

    mediator: Text
    policy: list[Number] | list[Text] | dict[str, Number] | None = None
    cost: Number = 1.0
    contact: Text = ""


class Retire(Body):
    """Who is asked no more, or which arm is left out."""

    name: Text
    what: Literal["mediator", "arm"] = "mediator"


class Rename(Body):
    """Another word for the same."""

    old: Text
    new: Text
    what: Literal["mediator", "arm"] | None = None


class Note(Body):
    """For the log."""

    text: Text


class OwnTell(Body):
    """A mediator's answer to a query of its own."""

    query: int
    arm: Text | None = None
    reward: Number | None = None
    silent: bool = False
    accept_surprise: bool = False


class OwnCorrect(OwnTell):
    """What is right instead, and why."""

    reason: Text


class Entry(Body):
    """A token, to be exchanged for a cookie."""

    token: Annotated[str, Field(max_length=200)]


class New(Body):
    """A study, in the shape of a study.toml."""

    name: Annotated[str, Field(max_length=200)]
    study: dict[str, Any]


class Trouble(BaseModel):
    """What is wrong, in one sentence and as data."""

    kind: str
    sentence: str
    what: str
    where: list[str | int]
    fix: dict[str, str] | None


class Refusal(BaseModel):
    """Nothing has changed."""

    format: int
    error: Trouble


#: What any route may answer besides what is asked for.
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refusal, "description": words}
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
