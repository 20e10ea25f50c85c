"""Streams of rewards whose declared spread is right or wrong, and how the alarm about it behaves."""

from itertools import pairwise

import numpy as np

from gobetween.core.alarms import count_alarms, scale_alarms
from gobetween.core.excess import ROWS, add_counts, log_excess_evidence
from gobetween.core.families import Poisson
from gobetween.core.spread import add_reward, add_rewards, log_spread_evidence, new_spread
from gobetween.core.types import Floats, Ints


def spread_of(arms: Ints, rewards: Floats, K: int) -> Floats:
    spread = new_spread(K)
    add_rewards(spread, arms, rewards)
    return spread


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
        sums = np.zeros((ROWS, 2))
        for start, end in pairwise([0, *looks.tolist()]):
            add_counts(sums, a[start:end], x[start:end])
            if log_excess_evidence(np.bincount(a[:end], minlength=2), sums) >= -np.log(level):
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
            add_reward(spread, int(a[t]), float(x[t]))
            N_a[a[t]] += 1
            if count_alarms(N_a, spread)[0].raised:
                break
        needed.append(t + 1)
    return np.array(needed)
