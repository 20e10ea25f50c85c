"""What is to be expected, from worlds that counts leave possible: how long each of them takes, and what that comes to.

A world has means drawn from what the counts leave open (core/evidence/means.py), and policies where they are not declared.
In it a study or a log goes on until the verdict. An even prior makes more of near-ties than is seen in practice: worlds take
longer than the truth. Which of them bound the range was therefore measured, once for all studies (docs/validity-forecast.md)
and once for all logs (docs/validity-log-forecast.md).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gobetween.core.evidence.means import possible_means
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.ground.tally import Tally
from gobetween.core.problem.cast import are_known
from gobetween.core.reward.family import Family

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
OUTSIDE = 0.05  # of a population of arms, so many at most are apart from it


class Forecast(NamedTuple):
    """Queries to go, open ones included: the median, and the 80% range from low to high."""

    median: float
    low: float
    high: float
    """∞ where that is too far to be played."""


def stream(seed: int, *which: int) -> np.random.Generator:
    """A stream of random numbers, for the w-th world for one: the same at every look, so that only answers move a forecast."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=which)))


def drawn_means(family: Family, ends: tuple[float, float], tally: Tally, rng: np.random.Generator) -> Floats:
    """[K] means between these ends that rewards leave possible, of arms that have all been seen."""
    means, r = np.empty(len(tally.N_a)), rng.standard_normal(len(tally.N_a))
    possible_means(family, float(ends[0]), float(ends[1]), tally, r, means)
    return means


def shrunk_means(family: Family, ends: tuple[float, float], tally: Tally, rng: np.random.Generator) -> Floats:
    """[K] the same where arms are draws of one population: of many, those with the highest estimates are so by chance in part.

    The population is even between m − h and m + h, and one of K, at most OUTSIDE, is anywhere. Where it ends matters:
    among many rivals a tail has some that are close to the leader, whether there are any or not. Each arm has the posterior of
    `core/evidence/means.py` times that density.
    """
    means, r = np.empty(len(tally.N_a)), rng.standard_normal(len(tally.N_a))
    possible_means(family, float(ends[0]), float(ends[1]), tally, _toward_population(family, tally, r), means)
    return means


def _toward_population(family: Family, tally: Tally, r: Floats) -> Floats:
    """[K] standard normal draws as they are under the density of the population, each by its own quantile."""
    from scipy.special import ndtr, ndtri

    K, mu = len(tally.N_a), tally.mu_hat
    centre = float(mu.mean())
    likely = (tally.S_a + 2.0 * centre) / (tally.N_a + 2)  # an arm that never paid has a spread too
    squares = np.array([family.variance(mean) for mean in likely.tolist()]) / tally.N_a
    if K <= 3 or not (squares > 0.0).all():
        return r
    s, (m, h) = np.sqrt(squares), _population(mu, squares)
    wide = float((mu + 3.0 * s).max() - (mu - 3.0 * s).min())
    apart = min(OUTSIDE, 1.0 / K)
    odds = apart / wide / ((1.0 - apart) / (2.0 * h) + apart / wide)  # of the density outside to that inside
    low, high = ndtr((m - h - mu) / s), ndtr((m + h - mu) / s)
    place = ndtr(r) * (high - low + odds * (1.0 - (high - low)))
    inside, above = place - odds * low, place - odds * low - (high - low)
    share = np.where(inside < 0.0, place / odds, np.where(above < 0.0, low + inside, high + above / odds))
    return np.asarray(ndtri(np.clip(share, 1e-12, 1.0 - 1e-12)))


def _population(mu: Floats, squares: Floats) -> tuple[float, float]:
    """The centre m of a population and half its width h, from estimates μ̂ [K] with squared errors s² [K].

    Its variance is the τ² with Σ (μ̂ − m)²/(s² + τ²) = K − 1 (Paule and Mandel), m weighted likewise: an arm that was pulled a
    hundred times as often is still one of K. h² = 3τ²(K − 1)/(K − 3), as James and Stein shrink; τ² is at least what K arms
    cannot tell from 0.
    """
    K = len(mu)

    def centre(square: float) -> tuple[float, Floats]:
        w = 1.0 / (squares + square)
        return float(w @ mu / w.sum()), w

    low, high = 0.0, float(((mu - mu.mean()) ** 2).sum())
    for _ in range(50):
        middle = 0.5 * (low + high)
        m, w = centre(middle)
        low, high = (middle, high) if float(w @ (mu - m) ** 2) > K - 1 else (low, middle)
    high = max(high, 2.0 / (K - 1) / float((1.0 / squares).mean()))
    return centre(high)[0], math.sqrt(3.0 * high * (K - 1) / (K - 3))


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
