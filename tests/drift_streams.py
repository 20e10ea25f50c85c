"""Streams of answers with and without drift, and when the alarms about it are raised."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import gobetween as gb
from gobetween.core.alarm.drift import (
    Checkpoint,
    Trajectory,
    log_policy_drift,
    log_reward_drift,
    split_after,
    split_at,
    split_weight,
)
from gobetween.core.ground.jit import leaf
from gobetween.core.ground.tally import clear, new_state
from gobetween.core.question.questions import BEST
from gobetween.core.reward.family import Family, draw
from gobetween.core.run.loops import choose, observe, pull
from gobetween.core.stopping.stopper import restart

MEANS = {"bernoulli": (0.5, 0.4, 0.4), "gaussian": (0.2, 0.0, 0.0), "poisson": (5.0, 4.0, 4.0)}
POLICIES = np.array([[0.6, 0.2, 0.2], [0.2, 0.4, 0.4]])


def trajectory_at(N: Any, S: Any, t: int) -> Trajectory:
    """From counts and sums [n + 1, K] after each answer: what is known after t of them."""
    kept = [Checkpoint(j, -1, N[split_at(j)], S[split_at(j)], None) for j in range(split_after(t - 1))]
    return Trajectory(kept, Checkpoint(-1, -1, N[t], S[t], None))


def added_up(arms: Any, rewards: Any, K: int) -> tuple[Any, Any]:
    """Counts and sums [n + 1, K] after each answer."""
    pulled = np.eye(K, dtype=np.int64)[arms]
    N, S = np.cumsum(pulled, axis=0), np.cumsum(pulled * np.asarray(rewards)[:, None], axis=0)
    return np.vstack([np.zeros((1, K), np.int64), N]), np.vstack([np.zeros((1, K)), S])


def evidence_at(family: Family, N: Any, S: Any, t: int, limit: float) -> float:
    """The largest evidence about an arm after t answers; under the limit a bound of it."""
    return float(log_reward_drift(family, trajectory_at(N, S, t), limit, hasty=True)[0].max())


@cache
def at_work(family: Family) -> tuple[Any, ...]:
    """The default rule for three arms and two mediators whose policies it does not know, and its state."""
    sampler = gb.Pursuit().sampler_for(BEST, POLICIES, np.zeros(2, np.bool_), np.ones(2))
    return sampler, new_state(3, 2), np.array(MEANS[family.name]), POLICIES.cumsum(axis=1)


def asked_by_the_default_rule(family: Family, n: int, seed: int) -> tuple[Any, Any]:
    """Arms and rewards of n answers in a world that does not change."""
    sampler, state, means, cumulative = at_work(family)
    arms, rewards = np.zeros(n, np.int64), np.zeros(n)
    answer_all(family, means, cumulative, sampler, state, np.ones(2, np.bool_), np.random.default_rng(seed), arms, rewards)
    return arms, rewards


@leaf
def answer_all(
    family: Family,
    means: Any,
    cumulative: Any,
    sampler: Any,
    state: Any,
    available: Any,
    rng: np.random.Generator,
    arms: Any,
    rewards: Any,
) -> None:
    """The step without a verdict, once for each row."""
    restart(sampler)
    clear(state)
    for t in range(arms.shape[0]):
        e = choose(family, sampler, state, t, available, rng)
        a = min(means.shape[0] - 1, pull(cumulative, e, rng.random()))
        arms[t], rewards[t] = a, draw(family, means[a], rng)
        observe(family, sampler, state, t + 1, e, a, rewards[t])


def drawn_evenly(family: Family, n: int, seed: int) -> tuple[Any, Any]:
    """The same where all arms are as likely."""
    rng = np.random.default_rng(seed)
    arms = rng.integers(0, 3, n)
    return arms, np.array([family.draw(MEANS[family.name][a], rng) for a in arms.tolist()])


def most_evidence(family: Family, n: int, seed: int, limit: float, by_rule: bool = True) -> float:
    """The most evidence of rewards that drift, which they do not, at a dozen looks; under the limit a bound of it."""
    N, S = added_up(*(asked_by_the_default_rule if by_rule else drawn_evenly)(family, n, seed), 3)
    looks = np.unique(np.geomspace(10, n, 12).astype(int)).tolist()
    return max(evidence_at(family, N, S, t, limit) for t in looks)


def most_evidence_of_policies(n: int, K: int, seed: int) -> float:
    """The same of a policy, which does not drift, of a mediator who is asked for every other answer."""
    rng = np.random.default_rng(seed)
    arms, his = rng.choice(K, n, p=rng.dirichlet(np.ones(K))), rng.random(n) < 0.5
    N = np.vstack([np.zeros((1, K), np.int64), np.cumsum(np.eye(K, dtype=np.int64)[arms] * his[:, None], axis=0)])
    return max(policy_evidence_at(N, t) for t in np.unique(np.geomspace(10, n, 12).astype(int)).tolist())


def policy_evidence_at(N: Any, t: int) -> float:
    """Evidence that a mediator with counts [n + 1, K] after each answer chooses differently at different times."""
    js = range(split_after(t - 1))
    return log_policy_drift(N[[split_at(j) for j in js]], N[t], np.array([split_weight(j) for j in js]))[0]


def delay(family: Family, mean: Callable[[int], float], change: int, n: int, seed: int, level: float = 0.01) -> float:
    """Answers after a change until the alarm is raised, looked at after every tenth: three arms, uniformly, the first drifts."""
    rng = np.random.default_rng(seed)
    arms = rng.integers(0, 3, n)
    others = MEANS[family.name][1]
    rewards = [family.draw(mean(t) if a == 0 else others, rng) for t, a in enumerate(arms.tolist())]
    N, S = added_up(arms, rewards, 3)
    limit = math.log(3 / level)
    return next(
        (t - change for t in range(max(10, change), n + 1, 10) if evidence_at(family, N, S, t, limit) >= limit), math.inf
    )


def policy_delay(share: Callable[[int], float], change: int, n: int, seed: int, level: float = 0.01) -> float:
    """The same of a mediator, one of two, who pulls the first of three arms with this probability."""
    rng = np.random.default_rng(seed)
    shares = np.array([share(t) for t in range(n)])
    arms = np.where(rng.random(n) < shares, 0, 1 + rng.integers(0, 2, n))
    N, limit = added_up(arms, np.zeros(n), 3)[0], math.log(2 / level)
    return next((t - change for t in range(max(10, change), n + 1, 10) if policy_evidence_at(N, t) >= limit), math.inf)


def thompson_delay(n: int, seed: int, level: float = 0.01) -> float:
    """Answers until a mediator who learns by Thompson sampling, of two arms that pay 0.6 and 0.4, is found out."""
    rng, won, lost, arms = np.random.default_rng(seed), np.ones(2), np.ones(2), []
    for _ in range(n):
        a = int(np.argmax(rng.beta(won, lost)))
        paid = rng.random() < (0.6, 0.4)[a]
        won[a], lost[a] = won[a] + paid, lost[a] + (not paid)
        arms.append(a)
    N, limit = added_up(np.array(arms), np.zeros(n), 2)[0], math.log(1 / level)
    return next((t for t in range(10, n + 1, 10) if policy_evidence_at(N, t) >= limit), math.inf)


def shuffled_evidence(seed: int, n: int = 600) -> float:
    """The evidence of drift in a log of three arms, of which one begins to pay more half way, once its rows are shuffled."""
    rng = np.random.default_rng([seed, n])
    arms, means = rng.integers(0, 3, n), np.tile([0.5, 0.4, 0.2], (n, 1))
    means[n // 2 :, 2] = 0.7
    rewards, order = (rng.random(n) < means[np.arange(n), arms]).astype(float), rng.permutation(n)
    N, S = added_up(arms[order], rewards[order], 3)
    return evidence_at(gb.Bernoulli(), N, S, n, math.log(3 / 0.05))
