"""The contracts of sampling and stopping rules: what one's own rule must say, and all that it is shown.

A rule is a small immutable value, a frozen dataclass of its parameters, with functions that say what it does. They are compiled
together with the step when they can be, and run as plain Python when they cannot. The rules of the package are in `sampling.py`
and `stopping.py`; docs/extending.md shows how to bring one's own.
"""

from collections import namedtuple
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from gobetween.core.family import Family, NotDefinedError, is_number
from gobetween.core.jit import by_type, jit
from gobetween.core.types import Bools, Floats, Ints
from gobetween.errors import ProblemError

if TYPE_CHECKING:
    from gobetween.core.problem import Problem
    from gobetween.core.sampler import AnySampler
    from gobetween.core.stopper import AnyStopper


class View(NamedTuple):
    """What a sampling rule sees; it must change nothing but its memory."""

    family: Family
    t: int  # queries issued so far, pending ones included
    N_e: Ints  # [E] of each mediator
    N_ea: Ints  # [E, K+1] answers of each mediator by arm; the last column counts silence
    N_a: Ints  # [K] pulls of each arm
    S_a: Floats  # [K] sums of their rewards
    mu_hat: Floats  # [K] S_a/N_a; 0 for arms never seen
    policies: Floats  # [E, K] the problem as believed: declared policies, or estimates N_ea/Σ_a N_ea (0 before any answer)
    declared: Bools  # [E] which of them were declared
    costs: Floats  # [E] of a query; 1 where there are none
    memory: Floats  # the rule's own, as `memory` made it at the start of the run


class Looks(NamedTuple):
    """What a stopping rule sees: the answers that the verdict counts."""

    family: Family
    t: int  # answers counted so far
    leader: int  # the first arm with the highest estimate
    N_a: Ints  # [K]
    S_a: Floats  # [K]
    mu_hat: Floats  # [K]
    memory: Floats  # the rule's own


class _Compiled:
    """A rule's class as compiled code sees it: found under the rule's own class, so that the cache of kernels can name it."""

    def __get__(self, rule: object, kind: type[Any]) -> type[Any]:
        found: type[Any] = compiled_kind(kind)  # type: ignore[arg-type]  # classes are hashable
        return found


class Rule:
    """What sampling and stopping rules have in common."""

    _compiled: ClassVar[_Compiled] = _Compiled()
    name: ClassVar[str] = ""
    """What files, the command line and saved learners call it."""
    words: ClassVar[Mapping[str, Mapping[str, object]]] = {}
    """Further words, with the parameters that each stands for."""


class SamplingRule(Rule):
    """Which mediator to ask next. Define `choose`; `memory` and `observe` if the rule remembers more than the counts.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Last(gb.SamplingRule):
    ...     def choose(self, view, available, rng):
    ...         return available.nonzero()[0][-1]
    >>> gb.Learner(2, {"North": [0.5, 0.5], "South": [0.2, 0.8]}, sampling=Last()).ask().mediator
    'South'
    """

    needs: ClassVar[tuple[str, ...]] = ("choose",)
    functions: ClassVar[tuple[str, ...]] = ("choose", "memory", "observe")
    live: ClassVar[bool] = True
    """Can a learner use it? Not if it knows what only a simulation does."""
    any_question: ClassVar[bool] = False
    """Does it serve every question, not the best arm alone?"""
    draws: ClassVar[bool] = True
    """Does it draw random numbers?"""

    def choose(self, view: View, available: Bools, rng: np.random.Generator) -> int:
        """The mediator to ask now, one of those available [E]; `rng` is the rule's own stream."""
        raise NotDefinedError

    def memory(self, K: int, E: int) -> Floats:
        """An array of floats of any shape, for the rule to write to; each run begins with it as it is here."""
        return np.zeros(0)

    def observe(self, view: View, e: int, a: int, reward: float) -> None:
        """Mediator e answered: arm a paid a reward, or nothing was pulled (a = K)."""

    def told(self, problem: "Problem") -> "SamplingRule":
        """The rule once it knows the true problem, which only a simulation can tell it: by default the same."""
        return self

    def at_work(self, policies: Floats, declared: Bools, costs: Floats) -> "AnySampler":
        """The rule set to work on policies [E, K], of which only the declared ones may be looked at."""
        from gobetween.core.sampler import new_own_sampler

        return new_own_sampler(self, policies, declared, costs)


class StoppingRule(Rule):
    """When the leader may be named. Define `statistic` and `threshold`; `memory` and `observe` if it needs more than counts.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class After(gb.StoppingRule):
    ...     answers: int
    ...     def threshold(self, K, delta, family):
    ...         return self.answers
    ...     def statistic(self, view):
    ...         return view.t
    >>> gb.simulate(gb.Problem([1.0, 0.0], family=gb.Gaussian(1.0)), stopping=After(50), runs=1).tau.tolist()
    [[50]]
    """

    needs: ClassVar[tuple[str, ...]] = ("statistic", "threshold")
    functions: ClassVar[tuple[str, ...]] = ("statistic", "threshold", "memory", "observe")

    def threshold(self, K: int, delta: float, family: Family) -> float:
        """The rule stops as soon as its statistic reaches this; it must not fall when δ does."""
        raise NotDefinedError

    def statistic(self, view: Looks) -> float:
        """The evidence for the leader, once every arm has been seen."""
        raise NotDefinedError

    def memory(self, K: int) -> Floats:
        """An array of floats of any shape, for the rule to write to; each run begins with it as it is here."""
        return np.zeros(0)

    def observe(self, view: Looks, a: int, reward: float) -> None:
        """One more counted answer: arm a paid a reward."""

    def at_work(self, K: int, family: Family) -> "AnyStopper":
        """The rule set to work."""
        from gobetween.core.stopper import new_own_stopper

        return new_own_stopper(self, K)


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


@by_type("int64")
def choose(rule: Any, view: View, available: Bools, rng: np.random.Generator) -> int:
    """What a sampling rule of one's own chooses."""
    return int(rule.choose(view, available, rng))


@by_type("none")
def observe(rule: Any, view: Any, *answer: Any) -> None:
    """A rule of one's own is told an answer."""
    rule.observe(view, *answer)


@by_type("float64")
def statistic(rule: Any, view: Looks) -> float:
    """The statistic of a stopping rule of one's own."""
    return float(rule.statistic(view))
