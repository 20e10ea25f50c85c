"""Families and questions as values: named tuples that have a name, tell their parameters and are equal by kind; and numbers.

What sampling and stopping rules have in common: a name, parameters, a memory of their own, and how compiled code sees them.

A rule is a small immutable value, a frozen dataclass of its parameters, with functions that say what it does. They are compiled
together with the step when they can be, and run as plain Python when they cannot (docs/extending.md shows how to add your own).
"""

from collections import namedtuple
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from gobetween.core.ground.jit import Floats, by_type, jit
from gobetween.errors import ProblemError
from gobetween.export import is_number as is_number


class NotDefinedError(TypeError):
    """A method that a family or rule must define, and which was asked for before it was checked."""


class Value:
    """What both have in common."""

    __slots__ = ()
    name: ClassVar[str] = ""  # what files and the command line call it

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if issubclass(cls, tuple):  # as tuples all kinds without parameters would be equal
            cls.__eq__, cls.__ne__, cls.__hash__ = _same, object.__ne__, _hash  # type: ignore[assignment]  # methods

    def parameters(self) -> dict[str, Any]:
        """Parameters by name; none unless it is a named tuple with fields."""
        return {name: getattr(self, name) for name in getattr(self, "_fields", ())}

    def to_dict(self) -> dict[str, Any]:
        """Name and parameters, JSON-safe."""
        return {"name": self.name, **self.parameters()}


def _same(one: Any, other: object) -> bool:
    return type(one) is type(other) and bool(tuple.__eq__(one, other))  # type: ignore[operator]  # both are tuples


def _hash(value: Any) -> int:
    return hash((type(value).__name__, *value))


def copied(value: Any) -> Any:
    """A named tuple with arrays of its own, all the way down."""
    if isinstance(value, np.ndarray):
        return value.copy()
    return type(value)._make(map(copied, value)) if hasattr(value, "_make") else value


class _Compiled:
    """A rule's class as compiled code sees it: found under the rule's own class, so that the cache of kernels can name it."""

    def __get__(self, rule: object, kind: type[Any]) -> type[Any]:
        found: type[Any] = compiled_kind(kind)  # type: ignore[arg-type]  # classes are hashable
        return found


class Rule:
    """What sampling and stopping rules have in common."""

    _compiled: ClassVar[_Compiled] = _Compiled()
    name: ClassVar[str] = ""  # what files, the command line and saved learners call it
    words: ClassVar[Mapping[str, Mapping[str, object]]] = {}  # further words, with the parameters that each stands for


def parameters_of(kind: type[Any]) -> tuple[str, ...]:
    """Names of a rule's parameters."""
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return tuple(kind._fields)
    raise ProblemError(f"{kind.__name__} must be a frozen dataclass, or a NamedTuple, so that its parameters are known")


@cache
def compiled_kind(kind: type[Any]) -> type[Any]:
    """A rule's class as compiled code sees it: the same methods on a named tuple of its parameters."""
    if issubclass(kind, tuple):
        return kind
    names = namedtuple(kind.__name__, parameters_of(kind))  # type: ignore[misc]  # its fields are found out here
    place = {"__module__": kind.__module__, "__qualname__": f"{kind.__qualname__}._compiled"}
    return type(kind.__name__, (names, kind), {"__slots__": (), "__init__": lambda self, *_: None, **place})


def compiled_form(rule: Any) -> Any:
    """A rule as compiled code sees it."""
    kind: Any = type(rule)
    return compiled_kind(kind)(*(_parameter(rule, name) for name in parameters_of(kind)))


def _parameter(rule: Any, name: str) -> Any:
    """A parameter that compiled code can take: numbers, words, nothing, and tuples of them."""
    value = getattr(rule, name)
    value = tuple(value) if isinstance(value, list) else value
    for part in value if isinstance(value, tuple) else (value,):
        if not (part is None or is_number(part) or isinstance(part, (bool, np.bool_, str))):
            raise ProblemError(f"{name} of {type(rule).__name__} = {part!r}: parameters are numbers, words and tuples of them")
    return value


def first_memory(rule: Rule, made: Any) -> Floats:
    """What a rule's `memory` made, as an array of floats."""
    try:
        return np.array(made, dtype=np.float64)
    except (TypeError, ValueError):
        raise ProblemError(f"{type(rule).__name__}.memory must return an array of numbers, not {made!r}") from None


@jit
def remember(memory: Floats, first: Floats) -> None:
    """A memory as it was at the beginning."""
    memory[:] = first


@by_type("none")
def observe(rule: Any, view: Any, *answer: Any) -> None:
    """A rule of one's own is told an answer."""
    rule.observe(view, *answer)
