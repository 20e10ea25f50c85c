"""Normal rewards of unknown spread: the family as a value, and at work, where it learns from rewards.

What n of them with mean x̄ and variance v say against a mean λ, whatever σ is: against (λ, σ) stand members with the
precision r/σ², r ~ Gamma(α, α), and a mean ~ N(λ, σ²/(rc)). Their mixture over those of (λ, σ) is a martingale at the truth,
and least over σ, in closed form with d = x̄ − λ (docs/stopping.md):

    ln M(λ) = ½ ln(c/(c+n)) + α ln α − ln Γ(α) + ln Γ(h) − h ln h + h + h ln R − αR,    h = α + n/2,

    R = (v + d²)/(v + d²c/(n+c)), at most h/α. M, mixed over c and α with an atom on 1, rises with |d|.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.ground.jit import Floats, Ints, leaf
from gobetween.core.ground.value import is_number
from gobetween.core.reward.family import LARGEST, SMALLEST, Family
from gobetween.core.reward.second_moments import add_spread, add_to_sums, gap_between, precision_of, variance_of
from gobetween.errors import Fix, ProblemError

#: What a file says of a parameter that is not known.
UNKNOWN = "unknown"


def positive(value: object, what: str) -> float:
    """A scale."""
    if not (is_number(value) and SMALLEST <= value <= LARGEST):  # type: ignore[operator]  # a number by then
        raise ProblemError(f"{what} of a Gaussian family must be a positive number (1e-50 to 1e50), not {value!r}")
    return float(value)  # type: ignore[arg-type]


class UnknownSigma(NamedTuple("UnknownSigma", [("expected", float)]), Family):
    """Normal rewards, each arm with an unknown standard deviation of its own: Gaussian(sigma=None)."""

    __slots__ = ()
    name = "gaussian"
    rewards = "a finite number"
    sub_gaussian = True
    sums_suffice = totals_suffice = False
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
        if not self.expected:
            raise ProblemError(
                "a plan needs the sigma that is expected; a study will learn it from rewards", fix=Fix("expected")
            )
        return _known(self.expected)

    def at_work(self, K: int) -> "UnknownSigmaState":
        return UnknownSigmaState(np.zeros((4, K)), np.full(1, 0.5), self.expected)

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        shift = step * (toward - mu)
        return shift * shift * (0.5 / (self.expected * self.expected))

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return self.expected * self.expected

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return mean + self.expected * rng.standard_normal()

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        return 0.0, 0.0  # counts and sums alone say nothing


class UnknownSigmaState(NamedTuple("UnknownSigmaState", [("sums", Floats), ("plug", Floats), ("sigma", float)]), Family):
    """`UnknownSigma` at work: what rewards say about means and spreads."""

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

    def planned(self) -> Family:
        return _known(math.sqrt(0.5 / self.plug[0]))

    def playable(self) -> Family:
        return self._replace(sigma=math.sqrt(0.5 / self.plug[0]))

    def with_arms(self, K: int) -> Family:
        return self._replace(sums=np.pad(self.sums, ((0, 0), (0, K - self.sums.shape[1]))))

    def absorb_moments(self, N_a: Ints, spread: Floats | None) -> None:
        if not N_a.any():
            return
        if spread is None:
            raise ProblemError("sigma is not known, and what was collected before has no second moments: pass spread")
        n, origin, *rest = self.sums
        both = np.array([np.where(n > 0.0, origin, np.nan), *rest])
        add_spread(both, spread[:3], N_a)
        self.restore_sums(np.vstack([n + N_a, np.nan_to_num(both[0]), both[1:]]))

    def reward_sums(self) -> Floats:
        return self.sums

    def restore_sums(self, sums: Floats) -> None:
        self.sums[:] = sums
        self.plug[0] = precision_of(self.sums)

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


def _known(sigma: float) -> Family:
    from gobetween.core.reward.families import Gaussian

    return Gaussian(sigma)


#: Prior precisions of the mean, as numbers of rewards, and their weights.
MEAN_PRECISIONS = np.array([0.25, 1.0, 4.0, 16.0, 64.0])
#: How closely alternatives keep to the σ of the null.
SHAPES = np.array([0.25, 32.0])
#: Weight of "as the null has it": what an arm that is seldom or often pulled does not pay for.
ATOM = 0.1
LOG_SHARES = np.log((1.0 - ATOM) * np.outer([1.0, 2.0, 4.0, 4.0, 1.0], [1.0, 3.0]) / 48.0)  # [c, α]
#: α ln α − ln Γ(α)
SHAPE_TERMS = np.array([a * math.log(a) - math.lgamma(a) for a in SHAPES.tolist()])
#: Which share of the evidence, and of a nat, may be given away where the least of it is told; what rounding may have added.
CLOSE, ROUNDING = 0.01, 1e-9
FINEST = 1e-6


@leaf
def stirling(h: float) -> float:
    """Ln Γ(h) − h ln h + h, without the loss of digits for large h."""
    if h < 50.0:
        return math.lgamma(h) - h * math.log(h) + h
    return 0.5 * math.log(6.283185307179586 / h) + (1.0 - 1.0 / (30.0 * h * h)) / (12.0 * h)


@leaf
def log_student(n: float, v: float, d: float) -> float:
    """Ln M of n rewards with variance v (the mean square around their mean) against a mean that is off theirs by d."""
    total = ATOM
    for j in range(SHAPES.shape[0]):
        alpha = SHAPES[j]
        h = alpha + 0.5 * n
        first = stirling(h) + SHAPE_TERMS[j]
        for i in range(MEAN_PRECISIONS.shape[0]):
            c = MEAN_PRECISIONS[i]
            square = d * d
            rest = v + square * (c / (n + c))
            ratio = min(1.0 + square * (n / (n + c)) / rest, h / alpha) if rest > 0.0 else 1.0
            value = first + 0.5 * math.log(c / (c + n)) + h * math.log(ratio) - alpha * ratio + LOG_SHARES[i, j]
            total += math.exp(min(value, 600.0))
    return math.log(total)


@leaf
def weight_on(n: float, v: float, m: float, w: float) -> float:
    """A share between two estimates that is likely to be near the least evidence: for speed alone."""
    one, other = n * w, m * v
    return one / (one + other) if one + other > 0.0 else n / (n + m)


@leaf
def low_point(n_a: float, v_a: float, n_b: float, v_b: float, gap: float) -> float:
    """A low value of ln M_a + ln M_b between the estimates, by golden sections: where to begin, not a bound."""
    left, right, least = 0.0, gap, math.inf
    for _ in range(20):
        one, other = right - 0.6180339887498949 * (right - left), left + 0.6180339887498949 * (right - left)
        at_one = log_student(n_b, v_b, one) + log_student(n_a, v_a, gap - one)
        at_other = log_student(n_b, v_b, other) + log_student(n_a, v_a, gap - other)
        least = min(least, at_one, at_other)
        if at_one < at_other:
            right = other
        else:
            left = one
    return least


@leaf
def least_common(n_a: float, v_a: float, n_b: float, v_b: float, gap: float, enough: float) -> float:
    """The least ln M_a + ln M_b over common means of two arms whose estimates are `gap` apart, from below — any number under
    `enough` once it is known to lie under it, and `enough` once it is known to reach it.

    Between y and z, counted from b's estimate, it is at least M_b's at y and M_a's at z, because both rise away from their own.
    """
    y = gap * weight_on(n_a, v_a, n_b, v_b)
    upper = log_student(n_b, v_b, y) + log_student(n_a, v_a, gap - y) - ROUNDING
    if upper < enough:
        return upper
    limit = enough
    if enough == -math.inf:
        upper = min(upper, low_point(n_a, v_a, n_b, v_b, gap) - ROUNDING)
        limit = upper - CLOSE * max(1.0, upper)
    y, step = 0.0, gap / 16.0
    at_y = log_student(n_b, v_b, 0.0) - ROUNDING
    while y < gap:
        z = min(gap, y + step)
        far = log_student(n_a, v_a, gap - z)
        if at_y + far >= limit:
            y, step = z, 2.0 * step
            at_y = log_student(n_b, v_b, y) - ROUNDING
            continue
        here = log_student(n_b, v_b, z) - ROUNDING + far
        if here < enough or (step < FINEST * gap and enough > -math.inf):
            return min(here, at_y + far)
        if here < limit:
            limit = here - CLOSE * max(1.0, here)
        step *= 0.5
        if step < FINEST * gap:  # only where nothing is enough: the least is told, however low
            limit = min(limit, at_y + far)
    return limit


def half_width(n: float, v: float, limit: float) -> float:
    """How far from the estimate ln M reaches a limit; ∞ where it never does."""
    far = max(1e-300, math.sqrt(v))
    while log_student(n, v, far) < limit:
        far *= 2.0
        if far > 1e150:
            return math.inf
    near = 0.0
    while near < 0.5 * (near + far) < far:
        middle = 0.5 * (near + far)
        near, far = (near, middle) if log_student(n, v, middle) >= limit else (middle, far)
    return far
