"""What is to be expected, from worlds that counts leave possible: how long each of them takes, and what that comes to.

A world has means drawn from what the counts leave open (core/posterior.py), and policies likewise where they are not declared.
In it a study or a log goes on until the verdict. An even prior makes more of near-ties than is seen in practice: worlds take
longer than the truth. Which of them bound the range was therefore measured, once for all problems (docs/validity-forecast.md,
docs/validity-logs.md).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gobetween.core.family import Family
from gobetween.core.posterior import possible_means
from gobetween.core.state import Tally
from gobetween.core.types import Bools, Floats, Ints

#: How many worlds are played. More would make a range steadier, not truer.
WORLDS = 13
#: The shares of worlds, by how long they take, that are under the ends of the range and its middle.
LOW, MIDDLE, HIGH = 0.07, 0.325, 0.775
#: Of them so many must have ended: the higher end of the range is then known.
ENOUGH = math.ceil(HIGH * (WORLDS + 1))


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


def drawn_policies(policies: Floats, declared: Bools, N_ea: Ints, rng: np.random.Generator) -> Floats:
    """[E, K] policies, drawn where they are not declared; N_ea has a further column where mediators may be silent."""
    drawn = policies.copy()
    for e in np.flatnonzero(~declared):
        drawn[e] = rng.dirichlet(N_ea[e] + 0.5)[: drawn.shape[1]]
    return drawn


def forecast_from(waits: Sequence[float]) -> Forecast | None:
    """What worlds come to that take so long, ∞ where that is not known; None where not even the middle is."""
    low, median, high = (_quantile(sorted(waits), share) for share in (LOW, MIDDLE, HIGH))
    return Forecast(median, low, high) if math.isfinite(median) else None


def _quantile(waits: Sequence[float], share: float) -> float:
    """The wait that a further world has this chance to stay under: between two of n, geometrically."""
    place, part = divmod(max(1.0, share * (len(waits) + 1)), 1.0)
    one, next_one = waits[int(place) - 1], waits[int(place)]
    return one ** (1.0 - part) * next_one**part if part > 0.0 else one
