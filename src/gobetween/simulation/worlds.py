"""What is to be expected, from worlds that counts leave possible: how long each of them takes, and what that comes to.

A world has means drawn from what the counts leave open (core/posterior.py), and policies likewise where they are not declared.
In it a study or a log goes on until the verdict. An even prior makes more of near-ties than is seen in practice: worlds take
longer than the truth. Which of them bound the range was therefore measured, once for all studies (docs/validity-forecast.md)
and once for all logs (docs/validity-log-forecast.md).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gobetween.core.family import Family
from gobetween.core.policies import are_known
from gobetween.core.posterior import possible_means
from gobetween.core.state import Tally
from gobetween.core.types import Floats, Ints

#: How many worlds are played. More would make a range steadier, not truer.
WORLDS = 13


class Places(NamedTuple):
    """The shares of worlds, by how long they take, that are under the ends of the range and its middle."""

    low: float
    middle: float
    high: float

    @property
    def enough(self) -> int:
        """How many worlds must have ended for the higher end to be known."""
        return math.ceil(self.high * (WORLDS + 1))


STUDY, LOG = Places(0.07, 0.325, 0.775), Places(0.07, 0.4, 0.85)


class Forecast(NamedTuple):
    """Queries to go, open ones included: as often more than the median as fewer, 8 times of 10 between low and high."""

    median: float
    low: float
    high: float
    """∞ where that is too far to be played."""


def world_stream(seed: int, w: int) -> np.random.Generator:
    """A stream for the w-th world, the same at every look: answers shall move a forecast, not chance."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(w,))))


def drawn_means(family: Family, ends: tuple[float, float], tally: Tally, rng: np.random.Generator) -> Floats:
    """[K] means between these ends that rewards leave possible, of arms that have all been seen."""
    means, r = np.empty(len(tally.N_a)), rng.standard_normal(len(tally.N_a))
    possible_means(family, float(ends[0]), float(ends[1]), tally, r, means)
    return means


def shrunk_means(family: Family, ends: tuple[float, float], tally: Tally, rng: np.random.Generator) -> Floats:
    """[K] the same where arms are draws of one population: of many, those with the highest estimates are so by chance in part.

    Arm a of mean μ̂ and standard error s is drawn, as in `posterior.py`, around μ̂ − p(μ̂ − m) with the variance (1 − p)s²,
    p = (K − 3)/(K − 1) · s²/(s² + τ²), as James and Stein shrink; m and τ² are mean and variance of the population by moments.
    """
    means, r = np.empty(len(tally.N_a)), rng.standard_normal(len(tally.N_a))
    pull, back = _toward_population(family, tally)
    possible_means(family, float(ends[0]), float(ends[1]), tally, np.sqrt(1.0 - pull) * r - back, means)
    return means


def _toward_population(family: Family, tally: Tally) -> tuple[Floats, Floats]:
    """The p of each arm [K], and p(μ̂ − m)/s [K]."""
    K, mu = len(tally.N_a), tally.mu_hat
    variance = family.variance(float(tally.S_a.sum() / tally.N_a.sum()))
    if K <= 3 or not variance > 0.0:
        return np.zeros(K), np.zeros(K)
    squares = variance / tally.N_a
    w = 1.0 / squares
    apart = float(w @ (mu - w @ mu / w.sum()) ** 2) - (K - 1)
    w = 1.0 / (squares + max(0.0, apart / (w.sum() - (w**2).sum() / w.sum())))
    pull = (K - 3) / (K - 1) * squares * w
    return pull, pull * (mu - w @ mu / w.sum()) / np.sqrt(squares)


def drawn_policies(known: Floats, N_ea: Ints, rng: np.random.Generator) -> Floats:
    """[E, K] policies, drawn where they are not known; N_ea has a further column where mediators may be silent."""
    drawn, K = known.copy(), known.shape[1]
    for e in np.flatnonzero(~are_known(known)):
        may = N_ea[e] > 0
        may[:K] |= known[e] != 0.0
        may[K:] = True
        shares = np.zeros(len(may))
        shares[may] = rng.dirichlet(N_ea[e, may] + 0.5)
        drawn[e] = shares[:K]
    return drawn


def forecast_from(waits: Sequence[float], places: Places) -> Forecast | None:
    """What worlds come to that take so long, ∞ where that is not known; None where not even the middle is."""
    low, median, high = (_quantile(sorted(waits), share) for share in places)
    return Forecast(median, low, high) if math.isfinite(median) else None


def _quantile(waits: Sequence[float], share: float) -> float:
    """The wait that a further world has this chance to stay under: between two of n, geometrically."""
    place, part = divmod(max(1.0, share * (len(waits) + 1)), 1.0)
    one, next_one = waits[int(place) - 1], waits[int(place)]
    return one ** (1.0 - part) * next_one**part if part > 0.0 else one
