"""Streams of answers with and without drift, and when the alarms about it are raised."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import gobetween as gb
from gobetween.core.drift import Course, Moment, log_policy_drift, log_reward_drift, split_after, split_at, split_weight
from gobetween.core.family import Family

MEANS = {"bernoulli": (0.5, 0.4, 0.4), "gaussian": (0.2, 0.0, 0.0), "poisson": (5.0, 4.0, 4.0)}
POLICIES = np.array([[0.6, 0.2, 0.2], [0.2, 0.4, 0.4]])


def course_at(N: Any, S: Any, t: int) -> Course:
    """From counts and sums [n + 1, K] after each answer: what is known after t of them."""
    kept = [Moment(j, -1, N[split_at(j)], S[split_at(j)], None) for j in range(split_after(t - 1))]
    return Course(kept, Moment(-1, -1, N[t], S[t], None))


def added_up(arms: Any, rewards: Any, K: int) -> tuple[Any, Any]:
    """Counts and sums [n + 1, K] after each answer."""
    pulled = np.eye(K, dtype=np.int64)[arms]
    N, S = np.cumsum(pulled, axis=0), np.cumsum(pulled * np.asarray(rewards)[:, None], axis=0)
    return np.vstack([np.zeros((1, K), np.int64), N]), np.vstack([np.zeros((1, K)), S])


def evidence_at(family: Family, N: Any, S: Any, t: int, limit: float) -> float:
    """The largest evidence about an arm after t answers; under the limit a bound of it."""
    return float(log_reward_drift(family, course_at(N, S, t), limit, hasty=True)[0].max())


def asked_by_the_default_rule(family: Family, n: int, seed: int) -> tuple[Any, Any]:
    """Arms and rewards of n answers of a learner in a world that does not change."""
    rng, means = np.random.default_rng(seed), MEANS[family.name]
    learner = gb.Learner(3, 2, family=family, delta=1e-9, seed=seed)
    arms, rewards = [], []
    shares, names = {name: row.cumsum() for name, row in zip(learner.mediators, POLICIES, strict=True)}, learner.arms
    for u in rng.random(n).tolist():
        query = learner.ask(go_on=True)
        a = min(2, int(np.searchsorted(shares[query.mediator], u)))
        x = family.draw(means[a], rng)
        learner.tell(query, arm=names[a], reward=x)
        arms.append(a)
        rewards.append(x)
    return np.array(arms), np.array(rewards)


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
