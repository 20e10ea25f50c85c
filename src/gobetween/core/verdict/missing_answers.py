"""Evidence with missing answers at their worst, for rewards in an interval (proof: docs/stopping.md, Missing answers).

Only the tilts on the useful side of each mixture are kept, a lower bound of M_a⁺ and M_b⁻:

    ln M_a⁺(λ) ≥ u(n_a, S_a, λ),   ln M_b⁻(λ) ≥ u(n_b, n_b − S_b, 1 − λ),
    u(n, s, λ) = ln Σ_θ w_θ e^(θs) (1 + λ(e^θ − 1))^(−n),   θ > 0

with rewards and means scaled to [0, 1]; a binomial answer is one for each of its trials. No answer lowers the first more than a
0 for arm a, nor the second more than a 1 for b.
"""

import heapq
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gobetween.core.evidence.eprocess import Tangent, least_between
from gobetween.core.ground.jit import Bools, Floats, Ints
from gobetween.core.ground.tally import Tally
from gobetween.core.question.question import Question, pairs_of
from gobetween.core.reward.family import Family
from gobetween.core.reward.mixtures import CONJUGATE, LOG_WEIGHTS, TILTS

_USED = TILTS > 0.0
_TILTS, _GAINS = TILTS[_USED], np.expm1(TILTS[_USED])
_LOG_WEIGHTS = LOG_WEIGHTS[_USED] + math.log1p(-CONJUGATE)
MOST_PAIRS = 2000  # of another question than the best arm; with more it would take too long


class Trials(NamedTuple):
    """Answers as trials that succeed or fail."""

    n: Floats  # [K]
    ones: Floats  # [K]
    each: float  # trials behind an answer


def worst_answer(
    question: Question, family: Family, tally: Tally, answer: tuple[int, ...], missing: Ints, reach: Bools
) -> float | None:
    """A lower bound of the least evidence for an answer over its pairs and over all that missing answers could have been; None
    where there is no worst reward, where that would take too long, or for a question without a proof.
    """
    each, (low, high), level = family.trials_of_reward(), family.span(), question.level()
    if not question.proven or each is None:
        return None
    n = each * tally.N_a.astype(np.float64)
    trials = Trials(n, np.clip(each * (tally.S_a - tally.N_a * low) / (high - low), 0.0, n), each)
    if level is not None:
        return worst_sides(trials, answer, (level - low) / (high - low), missing, reach)
    pairs = pairs_of(question, np.isin(np.arange(len(n)), answer))
    if len(pairs) > max(MOST_PAIRS, len(n)):
        return None
    return worst_of_pairs(trials, pairs, question.shift() / (high - low), missing, reach)


def worst_sides(trials: Trials, answer: tuple[int, ...], x: float, missing: Ints, reach: Bools) -> float:
    """The least evidence that arms lie on their sides of a level x: what is missing may be zeros of an arm above, ones of one
    below, and as many as there can be.
    """
    (n, ones, each), least = trials, math.inf
    for a in range(len(n)):
        more = each * int(missing[reach[:, a]].sum())
        above = a in answer
        value, _ = _side(n[a] + more, float(ones[a] if above else n[a] - ones[a]), x if above else 1.0 - x)
        least = min(least, value)
    return least


def worst_of_pairs(trials: Trials, pairs: Sequence[tuple[int, int]], shift: float, missing: Ints, reach: Bools) -> float:
    """A lower bound of the smallest ln E_{a>b} over pairs (a, b) and over all that missing answers could have been; against
    λ_b ≥ λ_a + shift.

    missing [E]: how many each mediator owes; reach [E, K]: the arms that each may pull. Each missing answer may also be none.
    Of those that can reach a or b, i are zeros for a and the others ones for b. Blocks of i are bounded from below by their
    two ends, the least is halved until it is one split.
    """
    n, ones, each = trials
    blocks: list[tuple[float, int, int, int, int]] = []

    def add(a: int, b: int, first: int, last: int) -> None:
        both = int(missing[reach[:, a] | reach[:, b]].sum())
        counts = n[a] + each * last, float(ones[a]), n[b] + each * (both - first), float(n[b] - ones[b])
        heapq.heappush(blocks, (_least(*counts, shift), a, b, first, last))

    for a, b in pairs:
        both = int(missing[reach[:, a] | reach[:, b]].sum())
        add(a, b, both - int(missing[reach[:, b]].sum()), int(missing[reach[:, a]].sum()))
    while blocks:
        value, a, b, first, last = heapq.heappop(blocks)
        if first == last:
            return float(value)
        middle = (first + last) // 2
        add(a, b, first, middle)
        add(a, b, middle + 1, last)
    return math.inf


def _side(n: float, s: float, x: float) -> tuple[float, float]:
    """The pair u(n, s, x), slope in x."""
    values = _LOG_WEIGHTS + _TILTS * s - n * np.log1p(x * _GAINS)
    top = float(values.max())
    shares = np.exp(values - top)
    total = float(shares.sum())
    return top + math.log(total), -n * float(shares @ (_GAINS / (1.0 + x * _GAINS))) / total


def _least(n_a: float, ones_a: float, n_b: float, zeros_b: float, shift: float) -> float:
    """The least u(n_a, ones_a, x) + u(n_b, zeros_b, 1 − x − shift) over x in [0, 1 − shift], from below, by tangents."""

    def tangent_at(x: float) -> Tangent:
        (up, rise), (down, fall) = _side(n_a, ones_a, x), _side(n_b, zeros_b, max(0.0, 1.0 - x - shift))
        return x, up + down, rise - fall

    left, right = tangent_at(0.0), tangent_at(1.0 - shift)
    if left[2] >= 0.0 or right[2] <= 0.0:
        return left[1] if left[2] >= 0.0 else right[1]
    return least_between(tangent_at, left, right)
