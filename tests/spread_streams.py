"""Streams of rewards whose declared spread is right or wrong, and how the alarm about it behaves."""

from itertools import pairwise

import numpy as np

from gobetween.core.alarm.dispersion import excess_alarms, scale_alarms
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.reward.families import Exponential, Gamma, Gaussian, Poisson
from gobetween.core.reward.family import Family
from gobetween.core.reward.overdispersion import Overdispersion
from gobetween.core.reward.second_moments import (
    add_counts,
    add_reward,
    add_rewards,
    excess_values,
    log_excess_evidence,
    log_mixed,
    log_spread_evidence,
    new_spread,
)
from gobetween.core.reward.trials import Binomial, Geometric, NegativeBinomial


def spread_of(arms: Ints, rewards: Floats, K: int, family: Family = Gaussian(1.0)) -> Floats:  # noqa: B008 - a value
    spread = new_spread(K, family)
    add_rewards(spread, arms, rewards, family)
    return spread


def excess_of(family: Family) -> Overdispersion:
    found = family.excess()
    assert found is not None
    return found


def sums_for(excess: Overdispersion, K: int) -> Floats:
    return np.zeros((2 + len(excess.shapes), K))


COUNTS = excess_of(Poisson())


def false_alarms(streams: int, rows: int, level: float, coin: bool, seed: int = 3) -> int:
    """Two arms, normal rewards or ±1 with σ = 1 as declared, looked at 40 times: how many streams ever raised the alarm."""
    rng, looks = np.random.default_rng([seed, coin]), np.unique(np.geomspace(2, rows, 40).astype(int))
    raised = 0
    for _ in range(streams):
        x, a = rng.standard_normal(rows), rng.integers(0, 2, rows)
        x = np.sign(x) if coin else x
        N, L, Q = (np.cumsum([np.where(a == b, w, 0.0) for b in (0, 1)], axis=1)[:, looks - 1] for w in (1.0, x, x * x))
        SS = Q - L * L / np.maximum(1.0, N)
        raised += any(log_spread_evidence(N[:, i].astype(np.int64), SS[:, i]) >= -np.log(level) for i in range(len(looks)))
    return raised


def rows_until_raised(ratio: float, streams: int, most: int, seed: int = 4) -> Ints:
    """Two arms whose rewards spread by `ratio` times the declared σ: rows until the alarm is raised, looking at every row."""
    rng, needed = np.random.default_rng(seed), []
    for _ in range(streams):
        x, a = ratio * rng.standard_normal(most) + 5.0, rng.integers(0, 2, most)
        for t in range(1, most + 1):
            if scale_alarms(1.0, np.bincount(a[:t], minlength=2), spread_of(a[:t], x[:t], 2))[0].raised:
                break
        needed.append(t)
    return np.array(needed)


def false_count_alarms(mean: float, streams: int, rows: int, level: float, seed: int = 5) -> int:
    """Two arms that pay Poisson counts, one twice as much, looked at 40 times: how many streams ever raised the alarm."""
    rng, looks = np.random.default_rng([seed, int(1000 * mean)]), np.unique(np.geomspace(2, rows, 40).astype(int))
    raised = 0
    for _ in range(streams):
        a = rng.integers(0, 2, rows)
        x = rng.poisson(mean * (1 + a)).astype(float)
        sums = sums_for(COUNTS, 2)
        for start, end in pairwise([0, *looks.tolist()]):
            add_counts(sums, a[start:end], x[start:end], COUNTS)
            if log_excess_evidence(np.bincount(a[:end], minlength=2), sums, COUNTS) >= -np.log(level):
                raised += 1
                break
    return raised


def counts_until_raised(ratio: float, mean: float, streams: int, most: int, seed: int = 6) -> Ints:
    """Two arms whose negative binomial counts have `ratio` times the variance of Poisson's: rows until the alarm is raised."""
    rng, needed = np.random.default_rng(seed), []
    for _ in range(streams):
        x, a = rng.negative_binomial(mean / (ratio - 1.0), 1.0 / ratio, most), rng.integers(0, 2, most)
        spread, N_a = new_spread(2, Poisson()), np.zeros(2, np.int64)
        for t in range(most):
            add_reward(spread, int(a[t]), float(x[t]), 1, Poisson())
            N_a[a[t]] += 1
            if excess_alarms(Poisson(), COUNTS, N_a, spread)[0].raised:
                break
        needed.append(t + 1)
    return np.array(needed)


def drawn(family: Family, mean: Floats, ratio: float, rng: np.random.Generator) -> Floats:
    """Rewards with these means and `ratio` times the variance that the family says."""
    if isinstance(family, (Gamma, Exponential)):
        shape = (family.shape if isinstance(family, Gamma) else 1.0) / ratio
        return np.maximum(1e-50, rng.standard_gamma(shape, mean.shape) * mean / shape)
    if isinstance(family, Binomial):
        chance = mean / family.n
        if ratio > 1.0:  # beta-binomial, whose variance is 1 + (n − 1)ρ times as large
            s = (family.n - 1.0) / (ratio - 1.0) - 1.0
            chance = rng.beta(s * chance, s * (1.0 - chance))
        return rng.binomial(int(family.n), chance).astype(float)
    assert isinstance(family, (Geometric, NegativeBinomial))
    first, r = (0.0, family.r) if isinstance(family, NegativeBinomial) else (1.0, 1.0)
    failures = mean - first
    shapes = failures / (ratio * (1.0 + failures / r) - 1.0)
    return rng.negative_binomial(shapes, shapes / (shapes + failures)).astype(float) + first


def until_raised(family: Family, mean: float, ratio: float, streams: int, looks: Ints, level: float, seed: int = 7) -> Ints:
    """Two arms, one with half the mean above the family's least, looked at after so many rows: those at which each stream raised
    the alarm about how much rewards vary; 0 where it never did.
    """
    rng, low = np.random.default_rng([seed, int(1000 * mean), int(1000 * ratio)]), 1.0 if isinstance(family, Geometric) else 0.0
    excess, N_a, found = excess_of(family), np.zeros(2 * streams, np.int64), np.zeros(streams, np.int64)
    sums = sums_for(excess, 2 * streams)
    for start, end in pairwise([0, *looks.tolist()]):
        a = rng.integers(0, 2, (streams, end - start))
        x = drawn(family, np.where(a == 1, low + 0.5 * (mean - low), mean), ratio, rng)
        places = (a + 2 * np.arange(streams)[:, None]).ravel()
        add_counts(sums, places, x.ravel(), excess)
        N_a += np.bincount(places, minlength=2 * streams)
        values = excess_values(N_a, sums, excess).reshape(-1, streams, 2).swapaxes(0, 1)
        found[(found == 0) & (log_mixed(values) >= -np.log(level))] = end
    return found
