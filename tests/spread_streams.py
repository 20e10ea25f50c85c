"""Streams of rewards whose declared σ is right or wrong, and how the alarm about it behaves."""

import numpy as np

from gobetween.core.alarms import scale_alarms
from gobetween.core.spread import add_rewards, log_spread_evidence, new_spread
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
