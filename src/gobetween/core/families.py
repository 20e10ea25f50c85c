"""Reward families: one-parameter exponential families, parameterised by their mean.

A family is a small named tuple with methods. To add one, write its class here and list it in FAMILIES: nothing else needs to
know. Compiled kernels call `divergence`, `variance` and `draw` through the functions at the end of this file.

The divergence is asked for points on a segment: d(μ, x) at x = rest·μ + step·toward, step + rest = 1. Knowing both shares to
full precision, it loses no digits when means are close, when x is close to either end, or when an end is a boundary.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gobetween.core.jit import by_family, jit
from gobetween.errors import ProblemError


@jit
def _gap_of_log(u: float, whole: float) -> float:
    """φ(u) = u − ln(1+u) ≥ 0 to full relative precision, given u and 1 + u; ∞ for u ≤ −1."""
    if not whole > 0.0:
        return math.inf
    if abs(u) > 0.4:
        return u - math.log(whole)
    # ln(1+u) = 2 artanh(r) with r = u/(2+u), and u − 2r = u·r
    r = u / (2.0 + u)
    square = r * r
    term, total, k = r * square, 0.0, 3.0
    while abs(term) > 1e-18 * abs(u * r):
        total += term / k
        term *= square
        k += 2.0
    return u * r - 2.0 * total


@jit
def _entropy_gap(p: float, x: float, shift: float) -> float:
    """P ln(p/x) + x − p, continuous at p = 0, given the shift x − p: the divergence of two Poisson means."""
    if p <= 0.0:
        return shift if x > 0.0 else 0.0
    return p * _gap_of_log(shift / p, x / p) if shift < 1e300 * p else shift


#: Means, scales and costs must not be larger or smaller: their squares and ratios have to fit into double precision.
SMALLEST, LARGEST = 1e-50, 1e50
#: Share of a mixture's weight on the useful side; the rest costs 0.01 nat and helps when counts are very unequal.
USEFUL = 0.99
#: Prior precisions of the normal mixture (as numbers of pseudo-observations) and their weights.
PRECISIONS = np.array([0.25, 1.0, 4.0, 16.0, 64.0])
PRECISION_ROOTS = np.array([1.0, 2.0, 4.0, 4.0, 1.0]) / 12.0 * np.sqrt(PRECISIONS)  # weight · √c
#: Grid of tilts for the other families, in units of the natural parameter, and their weights, heavier in the middle.
TILTS = 2.0 ** np.arange(-9.0, 3.01, 0.5)
_SHARES = 1.0 / (1.0 + (np.log2(TILTS) + 2.0) ** 2 / 4.0)
LOG_WEIGHTS = np.log(np.outer([USEFUL, 1.0 - USEFUL], _SHARES / _SHARES.sum()))


@jit
def _normal_mixture(n: float, S: float, x: float, side: float, sigma: float) -> tuple[float, float]:
    """The pair ln M, slope for normal rewards: tilts θ ~ N(0, 1/(cσ²)) cut in two halves, mixed over the grid of c.

    M_c = (1 + n/c)^(−1/2) e^(z²) (1 + (2·USEFUL − 1) erf z),  z = side · (S − n x)/(σ √(2(n + c))).
    """
    lean = 2.0 * USEFUL - 1.0
    gap = side * (S - n * x) / (1.4142135623730951 * sigma)
    steep = -side * n / (1.4142135623730951 * sigma)
    top = gap * gap / (n + PRECISIONS[0])  # the largest z²: precisions grow
    rest = math.exp(-top)
    total, slope = 0.0, 0.0
    for j in range(PRECISIONS.shape[0]):
        per_root = 1.0 / math.sqrt(n + PRECISIONS[j])
        z = gap * per_root
        weight = PRECISION_ROOTS[j] * per_root
        sink = gap * gap * per_root * per_root * (PRECISIONS[j] - PRECISIONS[0]) / (n + PRECISIONS[0])  # top − z², never < 0
        share = weight * (1.0 + lean * math.erf(z)) * math.exp(-sink)
        total += share
        slope += steep * per_root * (2.0 * z * share + 1.1283791670955126 * lean * weight * rest)  # 2/√π
    return top + math.log(total), slope / total


class Family:
    """What every family offers; `low` and `high` bound the means (open ends are listed in `open_ends`)."""

    __slots__ = ()
    name: ClassVar[str]
    rewards: ClassVar[str]
    proxy: ClassVar[bool] = False
    low: float
    high: float
    open_ends: ClassVar[tuple[float, ...]] = ()

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        """d(μ, x), the KL divergence between the members with means μ and x = rest·μ + step·toward."""
        raise TypeError(f"{type(self).__name__} has no divergence")

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        """V(x), the variance function, at x = rest·μ + step·toward; by default at μ."""
        raise TypeError(f"{type(self).__name__} has no variance")

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        """One reward of an arm with this mean."""
        raise TypeError(f"{type(self).__name__} cannot be simulated")

    def coordinate(self, mean: float) -> float:
        """The coordinate of a mean in which likelihood ratios are log-convex: the mean itself, unless said otherwise.
        The map is its own inverse.
        """
        return mean

    def span(self) -> tuple[float, float]:
        """The closed interval of coordinates."""
        raise TypeError(f"{type(self).__name__} has no span")

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        """Logarithm of the likelihood ratio after n rewards with sum S of the member tilted by θ (θ > 0: a higher mean)
        against the member at coordinate x, and its slope in x.
        """
        raise TypeError(f"{type(self).__name__} has no tilt")

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        """The pair ln M(x), slope: a mixture of likelihood ratios against the member at coordinate x, USEFUL of its weight on
        higher means (side = 1) or lower means (side = −1). Here over a fixed grid of tilts.
        """
        top, total, slope = -math.inf, 0.0, 0.0
        for j in range(2 * TILTS.shape[0]):
            k = j >> 1
            sign = side if j & 1 == 0 else -side
            value, rise = tilt(self, n, S, x, sign * TILTS[k])
            value += LOG_WEIGHTS[j & 1, k]
            if value > top:
                shrink = math.exp(top - value)
                total, slope, top = total * shrink + 1.0, slope * shrink + rise, value
            elif value > top - 40.0:
                share = math.exp(value - top)
                total, slope = total + share, slope + share * rise
        return top + math.log(total), slope / total

    def accepts(self, rewards: Any) -> Any:
        """Can an arm of this family pay these rewards? For one, or for an array of them."""
        return (rewards >= self.low) & (rewards <= self.high)

    def pays(self, rewards: Any) -> Any:
        """What it accepts and double precision can work with; NaN and infinities it never pays."""
        return np.logical_and(self.accepts(rewards), np.abs(rewards) <= LARGEST)

    def kl(self, mu: float, lam: float) -> float:
        """d(μ, λ), the KL divergence between the members with means μ and λ."""
        return self.divergence(float(mu), float(lam), 1.0, 0.0)

    def has_mean(self, mean: float) -> bool:
        """Is there a member with this mean?"""
        return abs(mean) <= LARGEST and self.low <= mean <= self.high and mean not in self.open_ends

    def check_reward(self, reward: float) -> float:
        """The reward as a float, or an error that says what this family pays."""
        number = is_number(reward) or isinstance(reward, (bool, np.bool_))
        value = float(reward) if number and abs(reward) <= LARGEST else math.nan
        if not self.pays(value):
            shown = "a very large number" if isinstance(reward, int) and abs(reward) > 10**30 else repr(reward)[:60]
            raise ProblemError(f"reward {shown} is not possible: a {self.name} reward is {self.rewards}")
        return value

    def parameters(self) -> dict[str, float]:
        """The family's parameters by name; none unless it is a named tuple with fields."""
        return {name: getattr(self, name) for name in getattr(self, "_fields", ())}

    def to_dict(self) -> dict[str, Any]:
        """Name and parameters, JSON-safe."""
        return {"name": self.name, **self.parameters()}

    def domain(self) -> str:
        """The means as an interval, for messages."""
        left = "(" if self.low in self.open_ends or math.isinf(self.low) else "["
        right = ")" if self.high in self.open_ends or math.isinf(self.high) else "]"
        return f"{left}{self.low:g}, {self.high:g}{right}"


class Gaussian(NamedTuple("Gaussian", [("sigma", float)]), Family):
    """Normal rewards with known standard deviation σ (or an upper bound of it)."""

    __slots__ = ()
    name = "gaussian"
    rewards = "a finite number"
    low, high = -math.inf, math.inf

    def __new__(cls, sigma: float = 1.0) -> "Gaussian":
        if not (is_number(sigma) and SMALLEST <= sigma <= LARGEST):
            raise ProblemError(f"sigma of a Gaussian family must be a positive number (1e-50 to 1e50), not {sigma!r}")
        return super().__new__(cls, float(sigma))

    def span(self) -> tuple[float, float]:
        return -math.inf, math.inf

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        shift = step * (toward - mu)
        return shift * shift * (0.5 / (self.sigma * self.sigma))

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return self.sigma * self.sigma

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return mean + self.sigma * rng.standard_normal()

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        return _normal_mixture(n, S, x, side, self.sigma)


class Bernoulli(NamedTuple("Bernoulli", []), Family):
    """Rewards 0 and 1; the mean is the probability of 1."""

    __slots__ = ()
    name = "bernoulli"
    rewards = "0 or 1"
    low, high = 0.0, 1.0

    def span(self) -> tuple[float, float]:
        return 0.0, 1.0

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        shift = step * (toward - mu)
        ones = _entropy_gap(mu, rest * mu + step * toward, shift)
        return ones + _entropy_gap(1.0 - mu, rest * (1.0 - mu) + step * (1.0 - toward), -shift)

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return (rest * mu + step * toward) * (rest * (1.0 - mu) + step * (1.0 - toward))

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return 1.0 if rng.random() < mean else 0.0

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        gain = math.expm1(theta)
        return theta * S - n * math.log1p(x * gain), -n * gain / (1.0 + x * gain)

    def accepts(self, rewards: Any) -> Any:
        return (rewards == 0.0) | (rewards == 1.0)


class Poisson(NamedTuple("Poisson", []), Family):
    """Counts 0, 1, 2, …"""

    __slots__ = ()
    name = "poisson"
    rewards = "a whole number, 0 or more"
    low, high = 0.0, math.inf

    def span(self) -> tuple[float, float]:
        return 0.0, math.inf

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        return _entropy_gap(mu, rest * mu + step * toward, step * (toward - mu))

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return rest * mu + step * toward

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return float(rng.poisson(mean))

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        gain = math.expm1(theta)
        return theta * S - n * x * gain, -n * gain

    def accepts(self, rewards: Any) -> Any:
        return (rewards >= 0.0) & (rewards == np.floor(rewards))


class Exponential(NamedTuple("Exponential", []), Family):
    """Positive rewards with density e^(−x/μ)/μ, such as waiting times."""

    __slots__ = ()
    name = "exponential"
    rewards = "a positive finite number"
    low, high = 0.0, math.inf
    open_ends = (0.0,)

    def span(self) -> tuple[float, float]:
        return 0.0, math.inf

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        x = rest * mu + step * toward
        if x <= 0.0:
            return math.inf
        return _gap_of_log(step * (mu - toward) / x, mu / x)

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return (rest * mu + step * toward) ** 2

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return mean * rng.standard_exponential()

    def coordinate(self, mean: float) -> float:
        return 1.0 / mean

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        gain = -math.expm1(-theta)
        return x * S * gain - n * theta, S * gain

    def accepts(self, rewards: Any) -> Any:
        return rewards >= SMALLEST


class Bounded(NamedTuple("Bounded", [("low", float), ("high", float)]), Family):
    """Any rewards in [low, high], treated as sub-Gaussian with σ = (high − low)/2.

    Stopping rules stay valid; T* is a proxy for planning, not a lower bound. Simulation draws low or high.
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
        shift, width = step * (toward - mu), self.high - self.low
        return shift * shift * (2.0 / (width * width))

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return 0.25 * (self.high - self.low) ** 2

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return self.high if rng.random() * (self.high - self.low) < mean - self.low else self.low

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        return _normal_mixture(n, S, x, side, 0.5 * (self.high - self.low))


def is_number(value: object) -> bool:
    """A real number, and not True or False."""
    real = isinstance(value, (int, float, np.integer, np.floating))
    return real and not isinstance(value, (bool, np.timedelta64))


FAMILIES: Mapping[str, type[Family]] = {family.name: family for family in (Gaussian, Bernoulli, Poisson, Exponential, Bounded)}


@by_family
def divergence(family: Family, mu: float, toward: float, step: float, rest: float) -> float:
    """d(μ, rest·μ + step·toward) in compiled code."""
    return family.divergence(mu, toward, step, rest)


@by_family
def variance(family: Family, mu: float, toward: float, step: float, rest: float) -> float:
    """V(rest·μ + step·toward) in compiled code."""
    return family.variance(mu, toward, step, rest)


@by_family
def draw(family: Family, mean: float, rng: np.random.Generator) -> float:
    """One reward in compiled code."""
    return family.draw(mean, rng)


@by_family
def coordinate(family: Family, mean: float) -> float:
    """The coordinate of a mean, in compiled code."""
    return family.coordinate(mean)


@by_family
def span(family: Family) -> tuple[float, float]:
    """The interval of coordinates, in compiled code."""
    return family.span()


@by_family
def tilt(family: Family, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
    """A likelihood ratio, in compiled code."""
    return family.tilt(n, S, x, theta)


@by_family
def log_mixture(family: Family, n: float, S: float, x: float, side: float) -> tuple[float, float]:
    """A mixture of likelihood ratios, in compiled code."""
    return family.log_mixture(n, S, x, side)
