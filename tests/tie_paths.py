"""Arms that tie, or nearly: how often does the evidence ever claim that an arm beats arm 1, although none does?"""

import math
from typing import Any

import numpy as np

import gobetween as gb
from gobetween.core.evidence.eprocess import evidence
from gobetween.core.evidence.rank_evidence import term_of
from gobetween.core.ground.jit import leaf
from gobetween.core.ground.tally import Tally, count, new_tally
from gobetween.core.reward.family import Family, draw
from gobetween.core.stopping.stopper import Stopper, note, restart

MODES = (
    "in turn",
    "the leader",
    "the laggard",
    "arm 1 seldom",
    "arm 1 mostly",
    "whatever helps most",
    "arm 1 and its best rival",
)


@leaf
def next_arm(tally: Tally, means: Any, mode: int, t: int, a: int) -> int:
    """The arm to pull, when a is the best of those that are not arm 0. "Whatever helps most" knows the means: it pulls the one of
    the two whose estimate is expected to move most towards a false claim.
    """
    K: int = means.shape[0]
    if t < K or mode == 0:
        return t % K
    N_a, mu_hat = tally.N_a, tally.mu_hat
    if mode == 1:
        return a if mu_hat[a] > mu_hat[0] else 0
    if mode == 2:
        return 0 if mu_hat[a] > mu_hat[0] else a
    if mode == 3:
        return 0 if t % 50 == 0 else 1 + t % (K - 1)
    if mode == 4:
        return 1 + (t // 50) % (K - 1) if t % 50 == 0 else 0
    if mode == 6:
        return a if N_a[a] < N_a[0] else 0
    up, down = (means[a] - mu_hat[a]) / (N_a[a] + 1), (mu_hat[0] - means[0]) / (N_a[0] + 1)
    return a if up > down else 0


@leaf
def claims(
    family: Family, means: Any, mode: int, most: int, limits: Any, stopper: Stopper, tally: Tally, rng: Any, passed: Any
) -> None:
    """Run after run, one for each entry of `passed`: how many limits did the evidence against arm 0 ever pass?"""
    K = means.shape[0]
    for run in range(passed.shape[0]):
        restart(stopper)
        tally.N_a[:] = 0
        tally.S_a[:] = 0.0
        tally.mu_hat[:] = 0.0
        a, now = 1, 0
        for t in range(most):
            i = next_arm(tally, means, mode, t, a)
            reward = draw(family, means[i], rng)
            count(tally, i, reward)
            note(stopper, family, tally, t + 1, i, reward)
            a = 1
            for c in range(2, K):
                if tally.mu_hat[c] > tally.mu_hat[a]:
                    a = c
            if t < K or not tally.mu_hat[a] > tally.mu_hat[0]:
                continue
            Z = evidence(family, tally.mu_hat[a], tally.mu_hat[0], float(tally.N_a[a]), float(tally.N_a[0]))[0]
            while now < limits.shape[0] and limits[now] <= Z:
                if not term_of(stopper.ranks, family, tally, a, 0, limits[now]) >= limits[now]:
                    break
                now += 1
            if now == limits.shape[0]:
                break
        passed[run] = now


def false_claims(
    family: gb.Family,
    means: list[float],
    mode: int,
    runs: int,
    most: int,
    alphas: tuple[float, ...],
    seed: int = 41,
    guess: gb.Guess | None = None,
) -> list[int]:
    """In how many runs the e-process of `gb.EProcess(guess=guess)` ever reached 1/α against arm 1, one of the best, for each α."""
    passed, limits = np.zeros(runs, np.int64), np.array([-math.log(alpha) for alpha in alphas])
    stopper: Any = gb.EProcess(guess=guess).at_work(len(means), family)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, mode, len(means)])))
    claims(family, np.array(means, dtype=float), mode, most, limits, stopper, new_tally(len(means)), rng, passed)
    return [int((passed > i).sum()) for i in range(len(alphas))]
