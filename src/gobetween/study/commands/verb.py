"""What a verb of a study is: a value with a word, arguments and an answer; and its arguments as a shell or a form needs them.

Nothing here needs mathematics.
"""

import hashlib
import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Concatenate,
    Generic,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from gobetween.errors import StudyError
from gobetween.study.journal.receipts import Receipt, StudyQuery
from gobetween.study.spec.checks import LONGEST_KEY, check_text

T = TypeVar("T")
P = ParamSpec("P")
AUTO = "auto-"  # how keys begin that are drawn for one command, of which its user knows nothing


@dataclass(frozen=True)
class Verb(Generic[T]):
    """One thing to do to a study, with its arguments as fields; T is the answer."""

    word: ClassVar[str]  # in addresses and on the command line
    done: ClassVar[str] = "recorded"  # what people are told when it was recorded, with arguments in braces
    idle: ClassVar[str] = "already recorded, nothing changed"  # what they are told when there was nothing to do
    long: ClassVar[bool] = False  # is it worth trying without the lock that others wait for?
    key: Annotated[str | None, "Makes the command safe to repeat."] = field(default=None, kw_only=True, compare=False)

    def __post_init__(self) -> None:
        check_text("key", self.key, LONGEST_KEY)
        if self.key == "":
            raise StudyError("key: must not be empty")
        self._check()

    def _check(self) -> None:
        """Refuse what makes no sense in any study; bring arguments that mean the same into one form."""

    @property
    def keyed(self) -> bool:
        """Has someone chosen its key? One that begins with auto- was drawn, by a client that may try again."""
        return self.key is not None and not self.key.startswith(AUTO)

    def arguments(self) -> dict[str, Any]:
        """By name, as JSON has them; the key is none of them."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "key"}

    @property
    def digest(self) -> str:
        """Of what is asked for: a key may only be used again for the same."""
        asked_for = json.dumps([self.word, self._asked_for()], sort_keys=True, default=str)
        return hashlib.sha256(asked_for.encode()).hexdigest()[:32]

    def _asked_for(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self) if one.compare}

    @classmethod
    def summary(cls) -> str:
        """What it does, in one sentence."""
        return (cls.__doc__ or "").partition("\n")[0]

    def words(self) -> str:
        """What people are told when it was recorded."""
        return self.done.format(**vars(self))

    def idle_words(self) -> str:
        """What people are told when nothing was recorded; under a key of theirs perhaps since it was done before."""
        return Verb.idle if self.keyed else self.idle.format(**vars(self))

    def to_json(self, answer: T) -> dict[str, Any]:
        """The answer, for programs."""
        raise NotImplementedError

    def from_json(self, data: Mapping[str, Any]) -> T:
        """The answer that `to_json` described."""
        raise NotImplementedError


class Act(Verb[Receipt]):
    """A verb that is answered by a receipt."""

    def to_json(self, answer: Receipt) -> dict[str, Any]:
        return answer.to_dict()

    def from_json(self, data: Mapping[str, Any]) -> Receipt:
        return Receipt.from_dict(data)


@dataclass(frozen=True)
class Argument:
    """An argument of a verb, for those who ask people or programs for it."""

    name: str
    types: tuple[Any, ...]  # one of these; None among them where it may be null
    help: str
    default: Any
    required: bool
    positional: bool


def arguments_of(verb: type[Verb[Any]]) -> list[Argument]:
    """The arguments of a verb, in order. A query is known by its number, wherever it does not come from Python."""
    hints = get_type_hints(verb, include_extras=True)
    found = []
    for one in fields(verb):
        kind, words = get_args(hints[one.name])
        parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        types = tuple(part for part in parts if part is not StudyQuery)
        found.append(Argument(one.name, types, words, one.default, one.default is MISSING, not one.kw_only))
    return sorted(found, key=lambda one: one.name == "key")  # the key is the last


class VerbRunner(ABC):
    """Whoever does verbs: a study, or one elsewhere."""

    @abstractmethod
    def do(self, verb: Verb[T]) -> T:
        """Any verb."""


def method(verb: Callable[P, Verb[T]]) -> Callable[Concatenate[Any, P], T]:
    """A method of a doer with the arguments and the documentation of a verb."""

    def does(self: VerbRunner, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.do(verb(*args, **kwargs))

    _document(does, verb)
    return does


def _document(does: Any, verb: Any) -> None:
    """For `help` and notebooks: the signature with plain types, and what each argument is for."""
    given = sorted(inspect.signature(verb).parameters.values(), key=lambda one: one.name == "key")
    own, answer = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY), inspect.signature(verb.from_json)
    plain = [one.replace(annotation=get_args(one.annotation)[0]) for one in given]
    does.__signature__ = inspect.Signature([own, *plain], return_annotation=answer.return_annotation)
    lines = [f"{one.name}: {get_args(one.annotation)[1]}" for one in given]
    does.__name__, does.__doc__ = verb.word.replace("-", "_"), "\n".join([inspect.getdoc(verb) or "", "", *lines])
