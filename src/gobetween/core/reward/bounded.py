"""Rewards in an interval, whatever their law."""

import math
from typing import NamedTuple

import numpy as np

from gobetween.core.ground.registry import register
from gobetween.core.ground.value import is_number
from gobetween.core.reward.family import LARGEST, SMALLEST, Family, tilt_mixture
from gobetween.core.reward.mixtures import beta_informed, beta_mixture, beta_prior, entropy_divergence, with_conjugate
from gobetween.errors import ProblemError


@register
class Bounded(NamedTuple("Bounded", [("low", float), ("high", float)]), Family):
    """Any rewards in [low, high], treated as if they were low or high: rewards in between vary less, and never claim too much.

    Stopping rules stay valid, and the default one sees how little rewards vary; T* is a proxy for planning, not a lower bound.
    Simulation draws low or high.
    """

    __slots__ = ()
    name = "bounded"
    rewards = "a number between low and high"
    proxy = True
    varies_less = True

    def __new__(cls, low: float = 0.0, high: float = 1.0) -> "Bounded":
        if not (is_number(low) and is_number(high) and -LARGEST <= low < high <= LARGEST and high - low >= SMALLEST):
            raise ProblemError(f"a Bounded family needs finite low < high, not low={low!r}, high={high!r}")
        return super().__new__(cls, float(low), float(high))

    def span(self) -> tuple[float, float]:
        return self.low, self.high

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        shift, ones, zeros = step * (toward - mu), mu - self.low, self.high - mu
        of_ones = entropy_divergence(ones, rest * ones + step * (toward - self.low), shift)
        return (of_ones + entropy_divergence(zeros, rest * zeros + step * (self.high - toward), -shift)) / (
            self.high - self.low
        )

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return (rest * (mu - self.low) + step * (toward - self.low)) * (rest * (self.high - mu) + step * (self.high - toward))

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return self.high if rng.random() * (self.high - self.low) < mean - self.low else self.low

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        width, gain = self.high - self.low, math.expm1(theta)
        inner = (x - self.low) / width * gain
        return theta * (S - n * self.low) / width - n * math.log1p(inner), -n * gain / (width * (1.0 + inner))

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        width = self.high - self.low
        value, slope = tilt_mixture(self, n, S, x, side)
        ones, zeros = max(S - n * self.low, 0.0) / width, max(n * self.high - S, 0.0) / width
        smooth, smooth_slope = beta_mixture(ones, zeros, (x - self.low) / width, (self.high - x) / width)
        return with_conjugate(value, slope, smooth, smooth_slope / width)

    def prior(self, mean: float, spread: float) -> tuple[float, float]:
        width = self.high - self.low
        return beta_prior((mean - self.low) / width, spread / width)

    def log_informed(self, n: float, S: float, x: float, alpha: float, beta: float) -> tuple[float, float]:
        width = self.high - self.low
        ones, zeros = max(S - n * self.low, 0.0) / width, max(n * self.high - S, 0.0) / width
        value, slope = beta_informed(ones, zeros, (x - self.low) / width, (self.high - x) / width, alpha, beta)
        return value, slope / width

    def trials_of_reward(self) -> float:
        return 1.0
