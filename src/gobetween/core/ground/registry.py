"""The one list of families, rules and questions, ours and those of others.

Words, help text, files, saved learners and test lists derive from it. `register` adds a class; a package announces its own by
entry points in the groups "gobetween.family", "gobetween.sampling", "gobetween.stopping" and "gobetween.question", loaded when
first needed.
"""

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from gobetween.core.ground.value import parameters_of
from gobetween.errors import Fix, ProblemError
from gobetween.export import choose, short

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T", bound=type[Any])
WHAT = {"family": "family", "sampling": "sampling rule", "stopping": "stopping rule", "question": "question"}
EXAMPLE = {
    "family": "gb.Bernoulli() or gb.Gaussian(sigma=2.0)",
    "sampling": "gb.Pursuit()",
    "stopping": "gb.EProcess()",
    "question": "gb.BestArm() or gb.TopM(3)",
}
_HOMES = {
    "family": ("reward.families", "reward.bounded", "reward.trials"),
    "sampling": ("sampling.rules",),
    "stopping": ("stopping.rules",),
    "question": ("question.questions",),
}
BASES: dict[str, type[Any]] = {}  # of each side the class that all others inherit from
_classes: dict[str, dict[str, type[Any]]] = {side: {} for side in WHAT}


def contract(side: str) -> Callable[[T], T]:
    """The class that families, rules or questions inherit from; a class decorator."""

    def declare(kind: T) -> T:
        BASES[side] = kind
        return kind

    return declare


def register(kind: T) -> T:
    """Make a family or rule known by its name, to files, the command line and saved learners; a class decorator.

    >>> from dataclasses import dataclass
    >>> @gb.register
    ... @dataclass(frozen=True)
    ... class First(gb.SamplingRule):
    ...     name = "first"
    ...     def choose(self, view, available, rng):
    ...         return available.nonzero()[0][0]
    >>> gb.Learner(2, {"North": [0.5, 0.5], "South": [0.2, 0.8]}, sampling="first").ask().mediator
    'North'
    """
    side = next((side for side, base in BASES.items() if inspect.isclass(kind) and issubclass(kind, base)), None)
    if side is None:
        raise ProblemError(f"{kind!r} cannot be registered: write a class that inherits from {_bases()}")
    check_class(side, kind)
    if not (isinstance(kind.name, str) and kind.name.strip()):
        raise ProblemError(f'{kind.__name__} has no name: write name = "…" in the class, what files shall call it')
    for word in (kind.name, *getattr(kind, "words", {})):
        owner = next((known for known in _classes[side].values() if word in (known.name, *getattr(known, "words", {}))), None)
        if owner is not None and (owner.__module__, owner.__qualname__) != (kind.__module__, kind.__qualname__):
            raise ProblemError(f"{word!r} is the {WHAT[side]} {owner.__module__}.{owner.__qualname__}: choose another name")
    _classes[side][kind.name] = kind
    return kind


def check_class(side: str, kind: type[Any]) -> None:
    """Refuse a class that leaves out what it must define, or that compiled code could take for one of ours."""
    base = BASES[side]
    if not kind.__module__.startswith("gobetween.") and any(kind.__name__ == ours for ours in _ours(side)):
        raise ProblemError(
            f"{kind.__module__}.{kind.__name__} has the name of a class of gobetween, for which compiled code could take it: "
            "call the class something else"
        )
    if side != "family":
        parameters_of(kind)
    elif not issubclass(kind, tuple):
        raise ProblemError(f"{kind.__name__} must be a NamedTuple of its parameters that inherits from Family")
    lacks = [name for name in base.needs if getattr(kind, name) is getattr(base, name)]
    if side == "family" and kind.log_mixture is not base.log_mixture:
        lacks = [name for name in lacks if name != "tilt"]
    if side == "family":
        lacks += [name for name in ("low", "high") if not hasattr(kind, name)]
    if any(getattr(kind, name, None) is not getattr(base, name, None) for name in ("at_work", "told")):
        lacks = []  # it is set to work in a way of its own
    if lacks:
        raise ProblemError(f"{kind.__name__} is no {WHAT[side]} yet: define {', '.join(lacks)}")
    for name in base.functions:
        wanted, found = _arguments(getattr(base, name)), _arguments(getattr(kind, name))
        if len(found) != len(wanted):
            raise ProblemError(f"{kind.__name__}.{name} takes ({', '.join(found)}): it must take ({', '.join(wanted)})")


def _ours(side: str) -> list[str]:
    """The names of our classes."""
    return [known.__name__ for known in _known(side).values() if known.__module__.startswith("gobetween.")]


def _arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def classes(side: str) -> Mapping[str, type[Any]]:
    """All classes of a side by name, those of other packages included."""
    for name in _announced(side):
        find(side, name)
    return _known(side)


def find(side: str, name: str) -> type[Any] | None:
    """The class with this name; None if there is none."""
    if name not in _known(side) and name in _announced(side):
        _load(side, _announced(side)[name])
    return _classes[side].get(name)


def words(side: str) -> dict[str, Any]:
    """Word → the rule or family that it stands for, the default first; announced ones that cannot be loaded are left out."""
    for name in _announced(side):
        with suppress(ProblemError):
            find(side, name)
    return _words(side)


def default_word(side: str) -> tuple[str, Any]:
    """The first of them, which is ours."""
    return next(iter(_words(side).items()))


def resolve(side: str, value: object) -> Any:
    """A rule or family from what was passed: itself, or a word for it; anything else is refused by name."""
    base, what = _base(side), WHAT[side]
    if isinstance(value, str):
        known = _words(side)
        if value not in known:
            _complete(side, find(side, value))  # may say why an announced one cannot be loaded, or what it needs
            known = words(side)
        if value not in known:
            names = _known(side) if side in ("family", "question") else known
            raise ProblemError(f"{value!r} is not a known {what}: {choose(value, names, str, 20)}", fix=Fix("plugin"))
        return known[value]
    if isinstance(value, type) and issubclass(value, base):
        raise ProblemError(f"{value.__name__} is a class: pass a {what}, {value.__name__}(…)")
    if not isinstance(value, base) or type(value) is base:
        raise ProblemError(f"{short(value)} is not a {what}: pass one such as {EXAMPLE[side]}")
    check_class(side, type(value))
    return value


def _complete(side: str, kind: type[Any] | None) -> None:
    """Refuse a class that cannot be meant by its name alone, because some parameter has no default."""
    if kind is None:
        return
    try:
        kind()
    except TypeError:
        needed = ", ".join(parameters_of(kind))
        raise ProblemError(f"the {WHAT[side]} {kind.name!r} needs {needed}: pass {kind.__name__}(…)") from None


def _known(side: str) -> dict[str, type[Any]]:
    for home in _HOMES[side]:
        import_module(f"gobetween.core.{home}")
    return _classes[side]


def _words(side: str) -> dict[str, Any]:
    return {word: value for kind in _known(side).values() for word, value in _words_of(kind).items()}


def _words_of(kind: type[Any]) -> dict[str, Any]:
    """Its words; its name is one of them where it needs no parameters and no other word stands for the defaults."""
    stated = getattr(kind, "words", {})
    found = {word: kind(**parameters) for word, parameters in stated.items()}
    if all(stated.values()):
        with suppress(TypeError, ProblemError):  # some parameter has no default
            found = {kind.name: kind(), **found}
    return found


@cache
def _announced(side: str) -> "dict[str, EntryPoint]":
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=f"gobetween.{side}")}


def _load(side: str, point: "EntryPoint") -> None:
    try:
        kind = point.load()
    except Exception as error:  # whatever someone else's module does
        raise ProblemError(
            f"the {WHAT[side]} {point.name!r} of {point.value} cannot be loaded ({type(error).__name__}: {error}): "
            "mend or remove the package that announces it"
        ) from None
    register(kind)


def _bases() -> str:
    return ", ".join(f"gb.{_base(side).__name__}" for side in WHAT)


def _base(side: str) -> type[Any]:
    _known(side)
    return BASES[side]
