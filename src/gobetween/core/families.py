"""The reward families, one small class each; those of trials are in `trials.py`.

To add one, write its class here and register it: nothing else needs to know.
"""

import math
from collections.abc import Mapping
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.conjugate import beta_mixture, entropy_gap, gamma_mixture, gap_of_log
from gobetween.core.family import LARGEST, SMALLEST, Family, is_number, tilt_mixture
from gobetween.core.mixtures import normal_mixture, with_conjugate
from gobetween.core.registry import register
from gobetween.core.unknown import UNKNOWN, UnknownSigma, positive
from gobetween.errors import Fix, ProblemError


@register
class Gaussian(NamedTuple("Gaussian", [("sigma", float)]), Family):
    """Normal rewards with known standard deviation σ (or an upper bound of it), which must be said: it is never guessed.

    Gaussian(sigma=None) says that it is not known, and may be another one for each arm: it is learnt from rewards, which takes
    more of them. expected: what it might be, for plans and simulations alone.
    """

    __slots__ = ()
    name = "gaussian"
    rewards = "a finite number"
    sub_gaussian = True
    low, high = -math.inf, math.inf

    def __new__(cls, sigma: float | str | EllipsisType | None = ..., expected: float | None = None) -> "Gaussian":
        if sigma is ...:
            raise ProblemError("gaussian needs sigma, the standard deviation of a reward", fix=Fix("sigma"))
        if sigma is None or sigma == UNKNOWN:
            return UnknownSigma(0.0 if expected is None else expected)  # type: ignore[return-value]  # another class
        if expected is not None:
            raise ProblemError(f"expected = {expected!r} belongs to a sigma that is not known, not to sigma = {sigma!r}")
        return super().__new__(cls, positive(sigma, "sigma"))

    @classmethod
    def spelled(cls, parameters: Mapping[str, Any]) -> type[Family]:
        return UnknownSigma if parameters.get("sigma") == UNKNOWN else cls

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        shift = step * (toward - mu)
        return shift * shift * (0.5 / (self.sigma * self.sigma))

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return self.sigma * self.sigma

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return mean + self.sigma * rng.standard_normal()

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        return normal_mixture(n, S, x, side, self.sigma)


@register
class Bernoulli(NamedTuple("Bernoulli", []), Family):
    """Rewards 0 and 1; the mean is the probability of 1."""

    __slots__ = ()
    name = "bernoulli"
    unless_said = True
    rewards = "0 or 1"
    low, high = 0.0, 1.0

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        shift = step * (toward - mu)
        ones = entropy_gap(mu, rest * mu + step * toward, shift)
        return ones + entropy_gap(1.0 - mu, rest * (1.0 - mu) + step * (1.0 - toward), -shift)

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return (rest * mu + step * toward) * (rest * (1.0 - mu) + step * (1.0 - toward))

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return 1.0 if rng.random() < mean else 0.0

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        gain = math.expm1(theta)
        return theta * S - n * math.log1p(x * gain), -n * gain / (1.0 + x * gain)

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        value, slope = tilt_mixture(self, n, S, x, side)
        smooth, smooth_slope = beta_mixture(S, n - S, x, 1.0 - x)
        return with_conjugate(value, slope, smooth, smooth_slope)

    def accepts(self, rewards: Any) -> Any:
        return (rewards == 0.0) | (rewards == 1.0)


@register
class Poisson(NamedTuple("Poisson", []), Family):
    """Counts 0, 1, 2, …"""

    __slots__ = ()
    name = "poisson"
    rewards = "a whole number, 0 or more"
    low, high = 0.0, math.inf

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        return entropy_gap(mu, rest * mu + step * toward, step * (toward - mu))

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return rest * mu + step * toward

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return float(rng.poisson(mean))

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        gain = math.expm1(theta)
        return theta * S - n * x * gain, -n * gain

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        value, slope = tilt_mixture(self, n, S, x, side)
        smooth, smooth_slope = gamma_mixture(S, n * x)
        return with_conjugate(value, slope, smooth, n * smooth_slope)

    def accepts(self, rewards: Any) -> Any:
        return (rewards >= 0.0) & (rewards == np.floor(rewards))


@register
class Exponential(NamedTuple("Exponential", []), Family):
    """Positive rewards with density e^(−x/μ)/μ, such as waiting times."""

    __slots__ = ()
    name = "exponential"
    rewards = "a positive finite number"
    low, high = 0.0, math.inf
    open_ends = (0.0,)

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        x = rest * mu + step * toward
        if x <= 0.0:
            return math.inf
        return gap_of_log(step * (mu - toward) / x, mu / x)

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return (rest * mu + step * toward) ** 2

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return mean * rng.standard_exponential()

    def coordinate(self, mean: float) -> float:
        return 1.0 / mean

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        gain = -math.expm1(-theta)
        return x * S * gain - n * theta, S * gain

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        value, slope = tilt_mixture(self, n, S, x, side)
        smooth, smooth_slope = gamma_mixture(n, S * x)
        return with_conjugate(value, slope, smooth, S * smooth_slope)

    def accepts(self, rewards: Any) -> Any:
        return rewards >= SMALLEST


@register
class Gamma(NamedTuple("Gamma", [("shape", float)]), Family):
    """Positive rewards with variance μ²/shape, such as amounts of money; the shape is known. Shape 1 is Exponential."""

    __slots__ = ()
    name = "gamma"
    rewards = "a positive finite number"
    low, high = 0.0, math.inf
    open_ends = (0.0,)

    def __new__(cls, shape: float | None = None) -> "Gamma":
        if shape is None:
            raise ProblemError("gamma needs shape: a reward with mean m has the variance m²/shape", fix=Fix("shape"))
        if not (is_number(shape) and 1e-3 <= shape <= 1e9):
            raise ProblemError(f"shape of a Gamma family must be a number from 0.001 to 1e9, not {shape!r}")
        return super().__new__(cls, float(shape))

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        x = rest * mu + step * toward
        if x <= 0.0:
            return math.inf
        return self.shape * gap_of_log(step * (mu - toward) / x, mu / x)

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return (rest * mu + step * toward) ** 2 / self.shape

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return max(SMALLEST, rng.standard_gamma(self.shape) * (mean / self.shape))

    def coordinate(self, mean: float) -> float:
        return 1.0 / mean

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        gain = -self.shape * math.expm1(-theta)
        return x * S * gain - n * self.shape * theta, S * gain

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        value, slope = tilt_mixture(self, n, S, x, side)
        whole = S * self.shape
        smooth, smooth_slope = gamma_mixture(n * self.shape, whole * x)
        return with_conjugate(value, slope, smooth, whole * smooth_slope)

    def accepts(self, rewards: Any) -> Any:
        return rewards >= SMALLEST


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

    def __new__(cls, low: float = 0.0, high: float = 1.0) -> "Bounded":
        if not (is_number(low) and is_number(high) and -LARGEST <= low < high <= LARGEST and high - low >= SMALLEST):
            raise ProblemError(f"a Bounded family needs finite low < high, not low={low!r}, high={high!r}")
        return super().__new__(cls, float(low), float(high))

    def span(self) -> tuple[float, float]:
        return self.low, self.high

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        shift, ones, zeros = step * (toward - mu), mu - self.low, self.high - mu
        of_ones = entropy_gap(ones, rest * ones + step * (toward - self.low), shift)
        return (of_ones + entropy_gap(zeros, rest * zeros + step * (self.high - toward), -shift)) / (self.high - self.low)

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


#: What rewards are where nobody says, at every door: others than 0 and 1 are then refused, where a guess would misread them.
DEFAULT = Bernoulli()
