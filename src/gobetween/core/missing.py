"""Evidence with missing answers at their worst, for rewards in an interval (proof: docs/stopping.md, Missing answers).

Only the tilts on the useful side of each mixture are kept, a lower bound of M_a⁺ and M_b⁻:

    ln M_a⁺(λ) ≥ u(n_a, S_a, λ),   ln M_b⁻(λ) ≥ u(n_b, n_b − S_b, 1 − λ),
    u(n, s, λ) = ln Σ_θ w_θ e^(θs) (1 + λ(e^θ − 1))^(−n),   θ > 0

with rewards and means scaled to [0, 1]; a binomial answer is one for each of its trials. No answer lowers the first more than a
0 for arm a, nor the second more than a 1 for b.
"""

import heapq
import math

import numpy as np

from gobetween.core.eprocess import tangents_meet
from gobetween.core.families import Bernoulli, Bounded
from gobetween.core.family import Family
from gobetween.core.mixtures import CONJUGATE, LOG_WEIGHTS, TILTS
from gobetween.core.state import Tally
from gobetween.core.trials import Binomial
from gobetween.core.types import Bools, Ints

_USED = TILTS > 0.0
_TILTS, _GAINS = TILTS[_USED], np.expm1(TILTS[_USED])
_LOG_WEIGHTS = LOG_WEIGHTS[_USED] + math.log1p(-CONJUGATE)
MOST_STEPS, CLOSE = 200, 1e-9


def can_impute(family: Family) -> bool:
    """Is there a worst reward?"""
    return isinstance(family, (Bernoulli, Bounded, Binomial))


def worst_evidence(family: Family, tally: Tally, a: int, missing: Ints, reach: Bools) -> float:
    """A lower bound of the smallest ln E_{a>b} over rivals b and over all that missing answers could have been.

    missing [E]: how many each mediator owes; reach [E, K]: the arms that each may pull. Each missing answer may also be none.
    Of those that can reach a or b, i are zeros for a and the others ones for b. Blocks of i are bounded from below by their
    two ends, the least is halved until it is one split.
    """
    low, high = family.span()
    each = family.n if isinstance(family, Binomial) else 1.0
    n = each * tally.N_a
    ones = np.clip(each * (tally.S_a - tally.N_a * low) / (high - low), 0.0, n)
    blocks: list[tuple[float, int, int, int]] = []

    def add(b: int, first: int, last: int) -> None:
        both = int(missing[reach[:, a] | reach[:, b]].sum())
        value = _least(n[a] + each * last, float(ones[a]), n[b] + each * (both - first), float(n[b] - ones[b]))
        heapq.heappush(blocks, (value, b, first, last))

    for b in range(len(n)):
        if b != a:
            both = int(missing[reach[:, a] | reach[:, b]].sum())
            add(b, both - int(missing[reach[:, b]].sum()), int(missing[reach[:, a]].sum()))
    while True:
        value, b, first, last = heapq.heappop(blocks)
        if first == last:
            return float(value)
        middle = (first + last) // 2
        add(b, first, middle)
        add(b, middle + 1, last)


def _side(n: float, s: float, x: float) -> tuple[float, float]:
    """The pair u(n, s, x), slope in x."""
    values = _LOG_WEIGHTS + _TILTS * s - n * np.log1p(x * _GAINS)
    top = float(values.max())
    shares = np.exp(values - top)
    total = float(shares.sum())
    return top + math.log(total), -n * float(shares @ (_GAINS / (1.0 + x * _GAINS))) / total


def _least(n_a: float, ones_a: float, n_b: float, zeros_b: float) -> float:
    """The least u(n_a, ones_a, x) + u(n_b, zeros_b, 1 − x) over x in [0, 1], from below: a convex function and its tangents."""

    def look(x: float) -> tuple[float, float, float]:
        (up, rise), (down, fall) = _side(n_a, ones_a, x), _side(n_b, zeros_b, 1.0 - x)
        return x, up + down, rise - fall

    left, right = look(0.0), look(1.0)
    if left[2] >= 0.0 or right[2] <= 0.0:
        return left[1] if left[2] >= 0.0 else right[1]
    lower = -math.inf
    for _ in range(MOST_STEPS):
        (x, f, s), (y, g, r) = left, right
        between, lower = tangents_meet(x, f, s, y, g, r)
        new = look(between)
        if min(f, g, new[1]) - lower <= CLOSE or not x < new[0] < y:
            return lower
        left, right = (new, right) if new[2] < 0.0 else (left, new)
    return lower
