"""Drift of rewards and of policies: what the evidence is, how often it is false, and that it is found."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from drift_streams import (
    added_up,
    delay,
    evidence_at,
    most_evidence,
    most_evidence_of_policies,
    policy_delay,
    policy_evidence_at,
    thompson_delay,
    trajectory_at,
)
from scipy.special import gammaln, logsumexp

import gobetween as gb
from gobetween.core.alarm.drift import DriftDetails, log_policy_drift, log_reward_drift, split_after, split_at, split_weight
from gobetween.core.reward.family import Family
from gobetween.simulation.summary import exact_interval

FAMILIES: tuple[Family, ...] = (gb.Bernoulli(), gb.Gaussian(1.0), gb.Poisson())


def test_splits_are_those_that_are_said() -> None:
    assert [split_at(j) for j in range(7)] == [8, 12, 16, 24, 32, 48, 64]
    assert [split_after(t) for t in (0, 7, 8, 11, 12, 63, 64)] == [0, 0, 1, 1, 2, 6, 7]
    assert math.fsum(math.exp(split_weight(j)) for j in range(100_000)) == pytest.approx(1.0, abs=2e-5)


def naive_evidence(family: Family, arms: Sequence[int], rewards: Sequence[float], a: int) -> float:
    """Σ w_j min over a grid of means of M(before)·M(after), sample by sample from the rewards themselves."""
    low, high = (0.001, 0.999) if family.name == "bernoulli" else (-3.0, 3.0) if family.name == "gaussian" else (0.01, 12.0)
    means, found, j = np.linspace(low, high, 401), [], 0
    for j, s in enumerate((8, 12, 16, 24, 32, 48)):
        sides = [[x for b, x in zip(arms[i:k], rewards[i:k], strict=True) if b == a] for i, k in ((0, s), (s, len(arms)))]
        totals = []
        for m in means.tolist():
            total = 0.0
            for side in sides:
                ups = [family.log_mixture(float(len(side)), sum(side), family.coordinate(m), way)[0] for way in (1.0, -1.0)]
                total += float(logsumexp(ups)) - math.log(2.0)
            totals.append(total)
        if all(sides):
            found.append(min(totals) - math.log((j + 1) * (j + 2)))
    return float(logsumexp(found))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_evidence_is_what_it_is_said_to_be(family: Family) -> None:
    rng = np.random.default_rng(2)
    arms = rng.integers(0, 2, 60)
    rewards = np.array([family.draw(0.3 + (0.6 if t > 20 and a else 0.0), rng) for t, a in enumerate(arms.tolist())])
    trajectory = trajectory_at(*added_up(arms, rewards, 2), 60)
    exact = log_reward_drift(family, trajectory, -math.inf)[0]
    for a in range(2):
        assert exact[a] == pytest.approx(naive_evidence(family, arms.tolist(), rewards.tolist(), a), abs=0.01)
    for limit in (-2.0, 1.0, 30.0, *(exact + 0.001).tolist()):
        for hasty in (False, True):
            found = log_reward_drift(family, trajectory, limit, hasty)[0]
            assert (found >= exact - 1e-12).all()
            assert ((found >= limit) == (exact >= limit)).all()


def test_evidence_about_policies_is_what_it_is_said_to_be() -> None:
    rng, w = np.random.default_rng(4), [split_weight(j) for j in (0, 1, 3)]

    def kt(counts: list[int]) -> float:
        C = len(counts)
        return float(gammaln(C / 2) - gammaln(sum(counts) + C / 2) + sum(gammaln(c + 0.5) - gammaln(0.5) for c in counts))

    def best(counts: list[int]) -> float:
        return sum(c * math.log(c / sum(counts)) for c in counts if c)

    for C in (2, 4):
        before = np.cumsum(rng.integers(0, 9, (3, C)), axis=0)
        end = before[-1] + rng.integers(0, 20, C)
        parts = []
        for row, log_w in zip(before.tolist(), w, strict=True):
            later = (end - row).tolist()
            together = kt(row) + kt(later) - best(end.tolist())
            parts.append(log_w + together - (math.log(2.0) if C > 2 else 0.0))
            for a in range(C) if C > 2 else ():
                one, two, all_ = ([c[a], sum(c) - c[a]] for c in (row, later, end.tolist()))
                parts.append(log_w + kt(one) + kt(two) - best(all_) - math.log(2.0 * C))
        assert log_policy_drift(before, end, np.array(w))[0] == pytest.approx(float(logsumexp(parts)), abs=1e-9)
    assert log_policy_drift(np.array([[0, 0, 0]]), np.array([3, 1, 1]), np.array([0.0]))[0] == -math.inf


@pytest.mark.compiled
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_rewards_that_do_not_drift_raise_the_alarm_seldom(family: Family) -> None:
    """docs/validity-drift.md has 10,000 runs, with the default rule too."""
    level, runs = 0.1, 300
    limit = math.log(3 / level)
    raised = sum(most_evidence(family, 300, seed, limit, by_rule=False) >= limit for seed in range(runs))
    raised += sum(most_evidence(family, 60, seed, limit) >= limit for seed in range(20))
    assert exact_interval(raised, runs + 20)[1] <= level


@pytest.mark.parametrize("K", [2, 6])
def test_policies_that_do_not_drift_raise_the_alarm_seldom(K: int) -> None:
    level, runs = 0.1, 300
    raised = sum(most_evidence_of_policies(400, K, seed) >= -math.log(level) for seed in range(runs))
    assert exact_interval(raised, runs)[1] <= level


def test_drift_is_found() -> None:
    """A jump by one σ of an arm that gives a third of the answers, a trend, another share, and whoever learns on the way."""
    jumps = [delay(gb.Gaussian(1.0), lambda t: float(t >= 500), 500, 2000, seed) for seed in range(20)]
    assert np.median(jumps) <= 200
    trends = [delay(gb.Gaussian(1.0), lambda t: t / 1000, 0, 2000, seed) for seed in range(20)]
    assert np.median(trends) <= 1500
    assert np.median([policy_delay(lambda t: 0.4 + 0.3 * (t >= 500), 500, 2000, seed) for seed in range(20)]) <= 300
    assert np.median([thompson_delay(1000, seed) for seed in range(20)]) <= 600


@pytest.mark.parametrize("moment", [96, 384, 1024])
def test_the_moment_of_a_change_and_both_means_are_named(moment: int) -> None:
    """Early, in the middle of the answers and late."""
    rewards = np.r_[np.tile([0.0, 0.0, 0.0, 1.0], moment // 4), np.tile([1.0, 1.0, 1.0, 0.0], (1200 - moment) // 4)]
    log = {"mediator": ["m"] * 2400, "arm": ["a", "b"] * 1200, "reward": np.column_stack([rewards, 1.0 - rewards]).ravel()}
    alarms = [alarm for alarm in gb.analyse_logs(log).alarms if alarm.kind == "drift"]
    assert {alarm.subject for alarm in alarms if alarm.raised} == {"a", "b"}
    for alarm in alarms:
        sign = 1.0 if alarm.subject == "a" else -1.0
        assert alarm.at == 2 * moment
        assert alarm.size == pytest.approx(0.5 * sign)
        assert isinstance(alarm.details, DriftDetails)
        assert [alarm.details.before, alarm.details.since] == pytest.approx([0.5 - 0.25 * sign, 0.5 + 0.25 * sign])


def test_another_order_of_the_same_answers_is_no_drift() -> None:
    """A drifting stream raises the alarm; its rows in random order do not, beyond the level."""
    rng, level, raised, family = np.random.default_rng(8), 0.05, 0, gb.Bernoulli()
    arms = rng.integers(0, 3, 600)
    rewards = (rng.random(600) < np.where(np.arange(600) < 300, 0.3, 0.8)).astype(float)
    limit = math.log(3 / level)
    assert evidence_at(family, *added_up(arms, rewards, 3), 600, limit) > limit + 5.0
    chosen = np.where(np.arange(600) < 300, rng.integers(0, 2, 600), rng.integers(1, 3, 600))
    assert policy_evidence_at(added_up(chosen, rewards, 3)[0], 600) > limit + 5.0
    for _ in range(200):
        order = rng.permutation(600)
        raised += evidence_at(family, *added_up(arms[order], rewards[order], 3), 600, limit) >= limit
        raised += policy_evidence_at(added_up(chosen[order], rewards, 3)[0], 600) >= -math.log(level)
    assert raised <= 10


def test_what_rounding_leaves_is_no_evidence() -> None:
    """Sums are taken from one another: what is left of rewards that are all 0 may be −1e-17."""
    trajectory = trajectory_at(*added_up(np.zeros(40, np.int64), np.r_[np.full(10, 0.1), np.zeros(30)], 1), 40)
    end = trajectory.end._replace(S_a=trajectory.end.S_a - 1e-15)
    log_e = log_reward_drift(gb.Bounded(0.0, 1.0), trajectory._replace(end=end), 3.0)[0]
    assert np.isfinite(log_e).all()
