"""The reward families, one small class each; that of an interval is in `bounded.py`, those of trials are in
`trials.py`.

To add one, write its class here and register it: nothing else needs to know.
"""

import math
from collections.abc import Mapping
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.ground.registry import register
from gobetween.core.ground.value import is_number
from gobetween.core.reward.family import SMALLEST, Family, tilt_mixture
from gobetween.core.reward.mixtures import (
    beta_informed,
    beta_mixture,
    beta_prior,
    entropy_divergence,
    gamma_informed,
    gamma_mixture,
    gamma_prior,
    log_divergence,
    normal_informed,
    normal_mixture,
    with_conjugate,
)
from gobetween.core.reward.overdispersion import Overdispersion, count_excess, gamma_excess
from gobetween.core.reward.unknown_sigma import UNKNOWN, UnknownSigma, positive
from gobetween.errors import Fix, ProblemError


@register
class Gaussian(NamedTuple("Gaussian", [("sigma", float)]), Family):
    """Normal rewards with known standard deviation σ (or an upper bound of it), to be specified: it is never guessed.

    Gaussian(sigma=None) says that it is not known, and may be another one for each arm: it is learnt from rewards, which takes
    more of them. expected: what it might be, for plans and simulations alone.
    """

    __slots__ = ()
    name = "gaussian"
    rewards = "a finite number"
    sub_gaussian = True
    totals_suffice = False
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

    def prior(self, mean: float, spread: float) -> tuple[float, float]:
        return mean, spread

    def log_informed(self, n: float, S: float, x: float, alpha: float, beta: float) -> tuple[float, float]:
        return normal_informed(n, S, x, self.sigma, alpha, beta)

    def declared_sigma(self) -> float:
        return self.sigma


@register
class Bernoulli(NamedTuple("Bernoulli", []), Family):
    """Rewards 0 and 1; the mean is the probability of 1."""

    __slots__ = ()
    name = "bernoulli"
    unless_said = True
    rewards = "0 or 1"
    choices = (0.0, 1.0)
    low, high = 0.0, 1.0

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        shift = step * (toward - mu)
        ones = entropy_divergence(mu, rest * mu + step * toward, shift)
        return ones + entropy_divergence(1.0 - mu, rest * (1.0 - mu) + step * (1.0 - toward), -shift)

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

    def prior(self, mean: float, spread: float) -> tuple[float, float]:
        return beta_prior(mean, spread)

    def log_informed(self, n: float, S: float, x: float, alpha: float, beta: float) -> tuple[float, float]:
        return beta_informed(S, n - S, x, 1.0 - x, alpha, beta)

    def accepts(self, rewards: Any) -> Any:
        return (rewards == 0.0) | (rewards == 1.0)

    def trials_of_reward(self) -> float:
        return 1.0


@register
class Poisson(NamedTuple("Poisson", []), Family):
    """Counts 0, 1, 2, …"""

    __slots__ = ()
    name, plural = "poisson", "Poisson counts"
    rewards = "a whole number, 0 or more"
    totals_suffice = False
    low, high = 0.0, math.inf

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        return entropy_divergence(mu, rest * mu + step * toward, step * (toward - mu))

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

    def prior(self, mean: float, spread: float) -> tuple[float, float]:
        return gamma_prior(mean, spread)

    def log_informed(self, n: float, S: float, x: float, alpha: float, beta: float) -> tuple[float, float]:
        value, slope = gamma_informed(S, n * x, alpha, beta / n)
        return value, n * slope

    def accepts(self, rewards: Any) -> Any:
        return (rewards >= 0.0) & (rewards == np.floor(rewards))

    def excess(self) -> Overdispersion:
        return count_excess()


@register
class Exponential(NamedTuple("Exponential", []), Family):
    """Positive rewards with density e^(−x/μ)/μ, such as waiting times."""

    __slots__ = ()
    name, plural = "exponential", "exponential times"
    rewards = "a positive finite number"
    low, high = 0.0, math.inf
    open_ends = (0.0,)

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        x = rest * mu + step * toward
        if x <= 0.0:
            return math.inf
        return log_divergence(step * (mu - toward) / x, mu / x)

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

    def prior(self, mean: float, spread: float) -> tuple[float, float]:
        return gamma_prior(1.0 / mean, spread / (mean * mean))

    def log_informed(self, n: float, S: float, x: float, alpha: float, beta: float) -> tuple[float, float]:
        whole = S
        value, slope = gamma_informed(n, whole * x, alpha, beta / whole)
        return value, whole * slope

    def accepts(self, rewards: Any) -> Any:
        return rewards >= SMALLEST

    def excess(self) -> Overdispersion:
        return gamma_excess(1.0)


@register
class Gamma(NamedTuple("Gamma", [("shape", float)]), Family):
    """Positive rewards with variance μ²/shape, such as amounts of money; the shape is known. Shape 1 is Exponential."""

    __slots__ = ()
    name, plural = "gamma", "gamma rewards"
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
        return self.shape * log_divergence(step * (mu - toward) / x, mu / x)

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

    def prior(self, mean: float, spread: float) -> tuple[float, float]:
        return gamma_prior(1.0 / mean, spread / (mean * mean))

    def log_informed(self, n: float, S: float, x: float, alpha: float, beta: float) -> tuple[float, float]:
        whole = S * self.shape
        value, slope = gamma_informed(n * self.shape, whole * x, alpha, beta / whole)
        return value, whole * slope

    def accepts(self, rewards: Any) -> Any:
        return rewards >= SMALLEST

    def excess(self) -> Overdispersion:
        return gamma_excess(self.shape)


#: The family by default, at every door: rewards other than 0 and 1 are then refused, where a guess would misread them.
DEFAULT = Bernoulli()
