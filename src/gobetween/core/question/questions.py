"""The questions: best arm, best up to ε, the best m, which lie above a level (docs/questions.md)."""

import math
from typing import NamedTuple

import numpy as np

from gobetween.core.evidence.empirical_bernstein import BernsteinSums
from gobetween.core.evidence.eprocess import Pairing
from gobetween.core.ground.jit import Bools, Floats, leaf
from gobetween.core.ground.registry import register
from gobetween.core.ground.tally import Tally
from gobetween.core.ground.value import is_number
from gobetween.core.question.question import Question, rival_gains
from gobetween.core.reward.family import Family, closed_level, coordinate, divergence, log_mixture, variance
from gobetween.errors import ProblemError


@leaf
def mark_highest(mu: Floats, m: int, mask: Bools) -> None:
    """Mark the m highest means; the first ones in a tie."""
    mask[:] = False
    for _ in range(m):
        best = -1
        for a in range(mu.shape[0]):
            if not mask[a] and (best < 0 or mu[a] > mu[best]):
                best = a
        mask[best] = True


@register
class BestArm(NamedTuple("BestArm", []), Question):
    """Which arm has the highest mean?"""

    __slots__ = ()
    name = "best-arm"
    names_leader = proven = True

    def claim(self, mu: Floats, k: int, mask: Bools) -> bool:
        mark_highest(mu, 1, mask)
        return k == 0

    def gather(
        self,
        family: Family,
        tally: Tally,
        pulls: Floats,
        bernstein: BernsteinSums,
        Z: Floats,
        mask: Bools,
        most: Floats,
        gains: Floats,
    ) -> None:
        rival_gains(family, tally, pulls, bernstein, Z, most, gains)

    def ways(self, K: int) -> int:
        return K - 1

    def right(self, means: Floats, answer: Bools) -> Bools:
        return np.asarray((answer & (means == means.max())).any(axis=-1))


@register
class TopM(NamedTuple("TopM", [("m", int)]), Question):
    """Which m arms have the highest means?"""

    __slots__ = ()
    name = "top-m"
    proven = True

    def __new__(cls, m: int) -> "TopM":
        if not is_number(m) or m != int(m) or m < 1:
            raise ProblemError(f"m = {m!r}: how many of the best arms are asked for is a whole number, 1 or more")
        return super().__new__(cls, int(m))

    def check(self, K: int, family: Family) -> None:
        if self.m >= K:
            raise ProblemError(f"m = {self.m}: the best {self.m} of {K} arms are no question; ask for fewer than there are")

    def claim(self, mu: Floats, k: int, mask: Bools) -> bool:
        mark_highest(mu, self.m, mask)
        return k == 0

    def ways(self, K: int) -> int:
        return self.m * (K - self.m)

    def right(self, means: Floats, answer: Bools) -> Bools:
        least, most = np.where(answer, means, np.inf).min(axis=-1), np.where(answer, -np.inf, means).max(axis=-1)
        return np.asarray((answer.sum(axis=-1) == self.m) & (least >= most))


@register
class EpsilonBest(NamedTuple("EpsilonBest", [("eps", float)]), Question):
    """Which arm is at most eps below the best? Several may be; one of them is named."""

    __slots__ = ()
    name = "epsilon-best"
    proven = True

    def __new__(cls, eps: float) -> "EpsilonBest":
        if not (is_number(eps) and 0.0 < eps < math.inf):
            raise ProblemError(f"eps = {eps!r}: how far below the best is good enough is a positive number, such as 0.1")
        return super().__new__(cls, float(eps))

    def check(self, K: int, family: Family) -> None:
        if any(family.coordinate(mean) != mean for mean in (0.25, 0.5)):
            raise ProblemError(
                f"epsilon-best is not offered for {family.name} rewards: what they say about a difference of means is not "
                "log-convex; ask for the best arm, or take logarithms and treat them as gaussian"
            )
        low, high = family.span()
        if self.eps >= high - low:
            raise ProblemError(f"eps = {self.eps:g}: every arm of a {family.name} problem is that close to the best")

    def shift(self) -> float:
        return self.eps

    def opposite_ways(self, K: int) -> int:
        return K * (K - 1)

    def claim(self, mu: Floats, k: int, mask: Bools) -> bool:
        """The k-th highest mean."""
        mark_highest(mu, k, mask)
        best, top = -1, mu[0]
        for a in range(mu.shape[0]):
            top = max(top, mu[a])
            if not mask[a] and (best < 0 or mu[a] > mu[best]):
                best = a
        mask[:] = False
        if best >= 0:
            mask[best] = True
        return best >= 0 and mu[best] > top - self.eps

    def payoff(self, family: Family, mu: Floats, i: int, b: int, w_i: float, w_b: float) -> tuple[float, float, float]:
        return shifted_evidence(family, mu[i], mu[b], w_i, w_b, self.eps)

    def ways(self, K: int) -> int:
        return K - 1

    def right(self, means: Floats, answer: Bools) -> Bools:
        good = means >= means.max() - self.eps
        return np.asarray((answer.sum(axis=-1) == 1) & (answer & good).any(axis=-1))


@register
class Threshold(NamedTuple("Threshold", [("theta", float)]), Question):
    """Which arms have a mean above theta?"""

    __slots__ = ()
    name = "threshold"
    proven = True

    def __new__(cls, theta: float) -> "Threshold":
        if not (is_number(theta) and abs(theta) < math.inf):
            raise ProblemError(f"theta = {theta!r}: the level that arms are compared with is a number")
        return super().__new__(cls, float(theta))

    def check(self, K: int, family: Family) -> None:
        if not family.has_mean(self.theta) or self.theta in (family.low, family.high):
            raise ProblemError(
                f"theta = {self.theta:g}: no {family.name} arm is on both sides of it; means are {family.domain()}"
            )

    def claim(self, mu: Floats, k: int, mask: Bools) -> bool:
        for a in range(mu.shape[0]):
            mask[a] = mu[a] > self.theta
        return k == 0

    def faces(self, mask: Bools, i: int, b: int) -> bool:
        return i == b

    def payoff(self, family: Family, mu: Floats, i: int, b: int, w_i: float, w_b: float) -> tuple[float, float, float]:
        d = divergence(family, mu[i], self.theta, 1.0, 0.0)
        return w_i * d, d, 0.0

    def log_e(self, family: Family, tally: Tally, pairing: Pairing, i: int, b: int, enough: float) -> float:
        closed, known = closed_level(family, i, self.theta)
        if closed > 0.0:
            return known
        side = 1.0 if tally.mu_hat[i] > self.theta else -1.0
        x, there = coordinate(family, self.theta), coordinate(family, tally.mu_hat[i])
        value, slope = log_mixture(family, float(tally.N_a[i]), tally.S_a[i], x, side)
        return value if slope * (there - x) <= 0.0 else -math.inf  # beyond the level it is higher still: ln M is convex

    def ways(self, K: int) -> int:
        return K

    def level(self) -> float:
        return self.theta

    def right(self, means: Floats, answer: Bools) -> Bools:
        return np.asarray(np.where(answer, means >= self.theta, means <= self.theta).all(axis=-1))


#: The question by default.
BEST = BestArm()


@leaf
def shifted_evidence(
    family: Family, mu_i: float, mu_b: float, w_i: float, w_b: float, eps: float
) -> tuple[float, float, float]:
    """The least over y of w_i d(μ_i, y) + w_b d(μ_b, y + ε) for μ_b < μ_i + ε, and its slopes d(μ_i, y), d(μ_b, y + ε).

    The sum is convex in y, falling at μ_b − ε and rising at μ_i: the slope's zero is enclosed, and found to rounding.
    """
    left, right = mu_b - eps, mu_i
    if not left < right:
        return 0.0, 0.0, 0.0
    total = w_i + w_b
    if not total > 0.0:
        middle = 0.5 * (left + right)
        return 0.0, divergence(family, mu_i, middle, 1.0, 0.0), divergence(family, mu_b, middle + eps, 1.0, 0.0)
    low, high = left, right
    y = (w_i * mu_i + w_b * left) / total  # exact for normal rewards
    for k in range(120):
        g_i = w_i / max(1e-150, variance(family, y, 0.0, 0.0, 1.0))
        g_b = w_b / max(1e-150, variance(family, y + eps, 0.0, 0.0, 1.0))
        if g_i * (y - mu_i) + g_b * (y - left) > 0.0:
            high = y
        else:
            low = y
        guess = (g_i * mu_i + g_b * left) / (g_i + g_b)  # where the slope vanishes with these variances
        if abs(guess - y) <= 1e-14 * (right - left) or not low < 0.5 * (low + high) < high:
            break
        y = guess if low < guess < high and (k < 4 or k % 2) else 0.5 * (low + high)
    d_i, d_b = divergence(family, mu_i, y, 1.0, 0.0), divergence(family, mu_b, y + eps, 1.0, 0.0)
    if w_i <= 0.0 or w_b <= 0.0:
        return 0.0, d_i, d_b
    return w_i * d_i + w_b * d_b, d_i, d_b
