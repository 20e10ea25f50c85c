"""Families of trials that succeed or fail: how many of n succeed, how many it takes until one does, how many fail until r do.

Likelihood ratios know only how many trials succeeded and failed, so that they are those of 0-and-1 rewards, with a real number
of either where a parameter is one.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.ground.jit import leaf
from gobetween.core.ground.registry import register
from gobetween.core.ground.value import is_number
from gobetween.core.reward.family import Family, tilt_mixture
from gobetween.core.reward.mixtures import beta_informed, beta_mixture, beta_prior, entropy_divergence, with_conjugate
from gobetween.core.reward.overdispersion import Overdispersion, failure_excess, trial_excess
from gobetween.errors import Fix, ProblemError

MOST_TRIALS = 1e9
#: Beyond, failures are Poisson counts for all that can be seen; below, hardly anything is ever paid.
LEAST_R, MOST_R = 1e-3, 1e6


@leaf
def waiting_divergence(mu: float, x: float, shift: float, r: float) -> float:
    """μ ln(μ/x) − (μ + r) ln((μ + r)/(x + r)), given the shift x − μ: the divergence of two mean numbers of failures before the
    r-th success. As (μ + r) times that of the two chances of a failure, whose two parts are positive.
    """
    reach = r / (x + r)
    return entropy_divergence(mu, (mu + r) * (x / (x + r)), shift * reach) + entropy_divergence(
        r, (mu + r) * reach, -shift * reach
    )


@leaf
def waiting_tilt(failed: float, succeeded: float, p: float, theta: float) -> tuple[float, float]:
    """Logarithm of the likelihood ratio of failures whose odds are e^θ times as high, against the chance p of a success, and
    its slope in p: −θ s − (s + f) ln(1 + p(e^(−θ) − 1)) = θ f − (s + f) ln(1 + (1 − p)(e^θ − 1)), that of smaller terms.
    """
    tried, gain = failed + succeeded, math.expm1(-theta)
    slope = -tried * gain / (1.0 + p * gain)
    if p < 0.5:
        return -theta * succeeded - tried * math.log1p(p * gain), slope
    return theta * failed - tried * math.log1p((1.0 - p) * math.expm1(theta)), slope


@register
class Binomial(NamedTuple("Binomial", [("n", float)]), Family):
    """How many of n trials succeed: whole numbers from 0 to n, such as sales to n customers; the mean is n times the chance."""

    __slots__ = ()
    name, plural = "binomial", "binomial counts"
    rewards = "a whole number from 0 to n"
    low = 0.0

    def __new__(cls, n: float | None = None) -> "Binomial":
        if n is None:
            raise ProblemError("binomial needs n, the number of trials behind a reward", fix=Fix("trials"))
        if not (is_number(n) and 1 <= n <= MOST_TRIALS and n == int(n)):
            raise ProblemError(f"n of a Binomial family must be a whole number from 1 to 1e9, not {n!r}")
        return super().__new__(cls, float(n))

    @property
    def high(self) -> float:  # type: ignore[override]  # a bound of means that is a parameter
        """All trials succeed."""
        return self.n

    def span(self) -> tuple[float, float]:
        return 0.0, self.n

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        shift, fails = step * (toward - mu), self.n - mu
        succeeds = entropy_divergence(mu, rest * mu + step * toward, shift)
        return succeeds + entropy_divergence(fails, rest * fails + step * (self.n - toward), -shift)

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return (rest * mu + step * toward) * (rest * (self.n - mu) + step * (self.n - toward)) / self.n

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return float(rng.binomial(int(self.n), mean / self.n))

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        gain = math.expm1(theta)
        inner = x / self.n * gain
        return theta * S - n * self.n * math.log1p(inner), -n * gain / (1.0 + inner)

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        value, slope = tilt_mixture(self, n, S, x, side)
        smooth, smooth_slope = beta_mixture(S, n * self.n - S, x / self.n, (self.n - x) / self.n)
        return with_conjugate(value, slope, smooth, smooth_slope / self.n)

    def prior(self, mean: float, spread: float) -> tuple[float, float]:
        return beta_prior(mean / self.n, spread / self.n)

    def log_informed(self, n: float, S: float, x: float, alpha: float, beta: float) -> tuple[float, float]:
        value, slope = beta_informed(S, n * self.n - S, x / self.n, (self.n - x) / self.n, alpha, beta)
        return value, slope / self.n

    def accepts(self, rewards: Any) -> Any:
        return (rewards >= 0.0) & (rewards <= self.n) & (rewards == np.floor(rewards))

    def excess(self) -> Overdispersion | None:
        return trial_excess(self.n)

    def trials_of_reward(self) -> float:
        return self.n


@register
class Geometric(NamedTuple("Geometric", []), Family):
    """Trials up to and with the first success: 1, 2, 3, …; the chance of a success is 1/mean."""

    __slots__ = ()
    name, plural = "geometric", "geometric counts"
    rewards = "a whole number, 1 or more"
    low, high = 1.0, math.inf

    def span(self) -> tuple[float, float]:
        return 0.0, 1.0

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        return waiting_divergence(mu - 1.0, rest * (mu - 1.0) + step * (toward - 1.0), step * (toward - mu), 1.0)

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        failures = rest * (mu - 1.0) + step * (toward - 1.0)
        return failures * (failures + 1.0)

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        wait = rng.standard_exponential()
        return float(1.0 + np.floor(wait / -math.log1p(-1.0 / mean))) if mean > 1.0 else 1.0

    def coordinate(self, mean: float) -> float:
        return 1.0 / mean

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        return waiting_tilt(S - n, n, x, theta)

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        value, slope = tilt_mixture(self, n, S, x, side)
        smooth, smooth_slope = beta_mixture(n, S - n, x, 1.0 - x)
        return with_conjugate(value, slope, smooth, smooth_slope)

    def prior(self, mean: float, spread: float) -> tuple[float, float]:
        return beta_prior(1.0 / mean, spread / (mean * mean))

    def log_informed(self, n: float, S: float, x: float, alpha: float, beta: float) -> tuple[float, float]:
        return beta_informed(n, S - n, x, 1.0 - x, alpha, beta)

    def accepts(self, rewards: Any) -> Any:
        return (rewards >= 1.0) & (rewards == np.floor(rewards))

    def excess(self) -> Overdispersion:
        return failure_excess(1.0, 1.0)


@register
class NegativeBinomial(NamedTuple("NegativeBinomial", [("r", float)]), Family):
    """Failures before the r-th success: 0, 1, 2, …, with variance μ + μ²/r; counts that vary more than Poisson's. Any r > 0."""

    __slots__ = ()
    name, plural = "negative-binomial", "negative binomial counts"
    rewards = "a whole number, 0 or more"
    low, high = 0.0, math.inf

    def __new__(cls, r: float | None = None) -> "NegativeBinomial":
        if r is None:
            raise ProblemError("negative-binomial needs r: a reward with mean m has the variance m + m²/r", fix=Fix("r"))
        if not (is_number(r) and LEAST_R <= r <= MOST_R):
            raise ProblemError(f"r of a NegativeBinomial family must be a number from 0.001 to 1e6, not {r!r}")
        return super().__new__(cls, float(r))

    def span(self) -> tuple[float, float]:
        return 0.0, 1.0

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        return waiting_divergence(mu, rest * mu + step * toward, step * (toward - mu), self.r)

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        x = rest * mu + step * toward
        return x * (1.0 + x / self.r)

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return float(rng.poisson(rng.standard_gamma(self.r) * (mean / self.r)))

    def coordinate(self, mean: float) -> float:
        return self.r / (mean + self.r)

    def mean_at(self, x: float) -> float:
        return self.r * (1.0 - x) / x

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        return waiting_tilt(S, n * self.r, x, theta)

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        value, slope = tilt_mixture(self, n, S, x, side)
        smooth, smooth_slope = beta_mixture(n * self.r, S, x, 1.0 - x)
        return with_conjugate(value, slope, smooth, smooth_slope)

    def prior(self, mean: float, spread: float) -> tuple[float, float]:
        return beta_prior(self.coordinate(mean), spread * self.r / (mean + self.r) ** 2)

    def log_informed(self, n: float, S: float, x: float, alpha: float, beta: float) -> tuple[float, float]:
        return beta_informed(n * self.r, S, x, 1.0 - x, alpha, beta)

    def accepts(self, rewards: Any) -> Any:
        return (rewards >= 0.0) & (rewards == np.floor(rewards))

    def excess(self) -> Overdispersion:
        return failure_excess(self.r, 0.0)
