"""Arms that tie and whose spreads nobody knows: how often does the evidence ever claim that an arm beats arm 1?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tie_paths import next_arm

import gobetween as gb
from gobetween.core.ground.jit import leaf
from gobetween.core.ground.tally import Tally, count, new_tally
from gobetween.core.reward.family import Family, closed_pair, count_reward, forget_rewards


@leaf
def claims(
    family: Family, spreads: Any, means: Any, mode: int, most: int, limits: Any, tally: Tally, rng: Any, passed: Any
) -> None:
    """Run after run, one for each entry of `passed`: how many limits did the evidence against arm 0 ever pass?"""
    K = means.shape[0]
    for run in range(passed.shape[0]):
        forget_rewards(family)
        tally.N_a[:] = 0
        tally.S_a[:] = 0.0
        tally.mu_hat[:] = 0.0
        a, now = 1, 0
        for t in range(most):
            i = next_arm(tally, means, mode, t, a)
            reward = means[i] + spreads[i] * rng.standard_normal()
            count(tally, i, reward)
            count_reward(family, i, reward, 1.0)
            a = 1
            for c in range(2, K):
                if tally.mu_hat[c] > tally.mu_hat[a]:
                    a = c
            while now < limits.shape[0] and closed_pair(family, a, 0, 0.0, limits[now])[1] >= limits[now]:
                now += 1
            if now == limits.shape[0]:
                break
        passed[run] = now


def false_claims(
    means: Sequence[float], spreads: Sequence[float], mode: int, runs: int, most: int, alphas: Sequence[float]
) -> list[int]:
    """Of so many runs, how many ever claimed at each α that some arm is better than arm 1, at a risk of α for each other arm."""
    K, passed = len(means), np.zeros(runs, np.int64)
    limits = np.log((K - 1) / np.array(alphas))
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(11, spawn_key=(mode,))))
    family: Any = gb.Gaussian(sigma=None)
    claims(family.at_work(K), np.array(spreads), np.array(means), mode, most, limits, new_tally(K), rng, passed)
    return [int((passed > j).sum()) for j in range(len(alphas))]
