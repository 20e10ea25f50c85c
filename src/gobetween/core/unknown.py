"""Normal rewards whose spread nobody knows: the family as a value, and at work, where it learns from rewards."""

import math
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.family import LARGEST, SMALLEST, Family, is_number
from gobetween.core.student import (
    ROUNDING,
    add_to_sums,
    gap_between,
    half_width,
    least_common,
    log_student,
    precision_of,
    variance_of,
)
from gobetween.core.types import Floats
from gobetween.errors import ProblemError

#: What a file says of a parameter that is not known.
UNKNOWN = "unknown"


def positive(value: object, what: str) -> float:
    """A scale."""
    if not (is_number(value) and SMALLEST <= value <= LARGEST):  # type: ignore[operator]  # a number by then
        raise ProblemError(f"{what} of a Gaussian family must be a positive number (1e-50 to 1e50), not {value!r}")
    return float(value)  # type: ignore[arg-type]  # likewise


class UnknownSigma(NamedTuple("UnknownSigma", [("expected", float)]), Family):
    """Normal rewards, each arm with a standard deviation of its own that nobody knows: Gaussian(sigma=None)."""

    __slots__ = ()
    name = "gaussian"
    rewards = "a finite number"
    sub_gaussian = True
    sums_suffice = False
    low, high = -math.inf, math.inf

    def __new__(cls, expected: float = 0.0) -> "UnknownSigma":
        """0 stands for no expectation."""
        return super().__new__(cls, 0.0 if expected == 0.0 else positive(expected, "expected"))

    def __repr__(self) -> str:
        more = f", expected={self.expected:g}" if self.expected else ""
        return f"Gaussian(sigma=None{more})"

    def parameters(self) -> dict[str, Any]:
        return {"sigma": UNKNOWN} | ({"expected": self.expected} if self.expected else {})

    def planned(self) -> Family:
        from gobetween.core.families import Gaussian

        return Gaussian(self.expected)

    def at_work(self, K: int) -> "Student":
        return Student(np.zeros((4, K)), np.full(1, 0.5), self.expected)

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        shift = step * (toward - mu)
        return shift * shift * (0.5 / (self.expected * self.expected))

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return self.expected * self.expected

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return mean + self.expected * rng.standard_normal()

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        return 0.0, 0.0  # counts and sums alone say nothing


class Student(NamedTuple("Student", [("sums", Floats), ("plug", Floats), ("sigma", float)]), Family):
    """`UnknownSigma` at work: what rewards say about means and spreads, by `student.py`."""

    __slots__ = ()
    name = "gaussian"
    sub_gaussian = True
    sums_suffice = False
    low, high = -math.inf, math.inf

    def count_reward(self, a: int, reward: float, step: float) -> None:
        add_to_sums(self.sums, a, reward, step)
        self.plug[0] = precision_of(self.sums)

    def forget_rewards(self) -> None:
        self.sums[:] = 0.0
        self.plug[0] = 0.5

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        shift = step * (toward - mu)
        return float(shift * shift * self.plug[0])

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return float(0.5 / self.plug[0])

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return mean + self.sigma * rng.standard_normal()

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        return 0.0, 0.0

    def surplus(self) -> float:
        return math.inf

    def closed_pair(self, a: int, b: int, shift: float, enough: float) -> tuple[float, float]:
        sums = self.sums
        if sums[0, a] < 1.0 or sums[0, b] < 1.0:
            return 1.0, -math.inf
        gap = gap_between(sums, a, b) + shift
        if not gap > 0.0:
            return 1.0, -math.inf
        return 1.0, least_common(sums[0, a], variance_of(sums, a), sums[0, b], variance_of(sums, b), gap, enough)

    def closed_level(self, a: int, theta: float) -> tuple[float, float]:
        n = self.sums[0, a]
        if n < 1.0:
            return 1.0, -math.inf
        off = self.sums[1, a] - theta + self.sums[2, a] / n
        return 1.0, log_student(n, variance_of(self.sums, a), off) - ROUNDING

    def interval(self, a: int, limit: float) -> tuple[float, float]:
        """The means of an arm that are not excluded: those at which ln M is below a limit."""
        n, origin, total, _ = self.sums[:, a].tolist()
        width = half_width(n, variance_of(self.sums, a), limit) if n else math.inf
        estimate = origin + total / n if n else 0.0
        return estimate - width, estimate + width
