"""Alarms: raised when they should be, and what they are said to be."""

from typing import Any

import numpy as np
import pytest
from log_tables import POLICIES, of_kind, table

import gobetween as gb
from gobetween.core.alarm.alarm import LEVEL
from gobetween.core.alarm.confounding import log_difference
from gobetween.core.alarm.policy import log_against, log_policy_evidence, policy_alarms
from gobetween.simulation.summary import exact_interval
from gobetween.words.logs import sentences


def test_alarms() -> None:
    good = gb.analyse_logs(
        table(2000, means=(0.6, 0.5, 0.5)), arms=["a", "b", "c"], declared={"m0": POLICIES[0], "m1": POLICIES[1]}
    )
    assert not any(alarm.raised for alarm in (*of_kind(good, "policy"), *of_kind(good, "confounding")))
    wrong = gb.analyse_logs(table(2000), arms=["a", "b", "c"], declared={"m0": POLICIES[1], "m1": None})
    assert [(alarm.subject, alarm.raised) for alarm in of_kind(wrong, "policy")] == [("m0", True)]
    share = wrong.N_ea[0] / wrong.N_ea[0].sum()
    off = int(np.argmax(np.abs(share - POLICIES[1]) / np.sqrt(POLICIES[1] * (1.0 - np.array(POLICIES[1])))))
    assert of_kind(wrong, "policy")[0].size == pytest.approx(share[off] - POLICIES[1][off])
    assert f"{'abc'[off]!r} {share[off]:.1%} of the time instead of" in of_kind(wrong, "policy")[0].words
    impossible = gb.analyse_logs(table(50), arms=["a", "b", "c"], declared={"m0": [1.0, 0.0, 0.0], "m1": POLICIES[1]})
    assert of_kind(impossible, "policy")[0].log_e == np.inf
    confounded = table(3000)
    for i, (who, arm) in enumerate(zip(confounded["mediator"], confounded["arm"], strict=True)):
        if who == "m1" and arm == "b":
            confounded["reward"][i] = float(i % 10 == 0)
    found = gb.analyse_logs(confounded)
    raised = [alarm for alarm in of_kind(found, "confounding") if alarm.raised]
    assert [alarm.subject for alarm in raised] == ["b"]
    means = [found.S_ea[e, 1] / found.N_ea[e, 1] for e in range(2)]
    assert raised[0].size == pytest.approx(min(means) - max(means)) or raised[0].size == pytest.approx(max(means) - min(means))
    assert f"{means[1]:.4g} with 'm1'" in raised[0].words
    assert f"{means[0]:.4g} with 'm0'" in raised[0].words
    assert any("the guarantee does not hold" in line for line in sentences(found))


def test_alarms_are_what_they_are_said_to_be() -> None:
    """KT against its sequential definition; the infimum of the confounding e-value against a wide grid."""
    rng = np.random.default_rng(3)
    policy = np.array([0.5, 0.3, 0.2])
    draws, counts, log_e = rng.choice(3, 50, p=policy), np.zeros(3, np.int64), 0.0
    for i, a in enumerate(draws):
        log_e += np.log((counts[a] + 0.5) / (i + 1.5)) - np.log(policy[a])
        counts[a] += 1
    assert log_against(counts, policy) == pytest.approx(log_e, abs=1e-9)
    for family, grid in ((gb.Bernoulli(), np.linspace(1e-6, 1 - 1e-6, 4001)), (gb.Gaussian(1.0), np.linspace(-5, 5, 4001))):
        n, S = np.array([30, 200, 7, 30, 30]), np.array([12.0, 130.0, 1.0, 12.0, 13.0])  # two are alike
        values = []
        for x in grid:
            total = 0.0
            for k, s in zip(n.tolist(), S.tolist(), strict=True):
                up, down = family.log_mixture(float(k), s, float(x), 1.0)[0], family.log_mixture(float(k), s, float(x), -1.0)[0]
                total += np.logaddexp(up, down) - np.log(2.0)
            values.append(total)
        found = log_difference(family, n, S)
        assert found <= min(values) + 1e-9
        assert found >= min(values) - 0.01


def test_all_alarms_of_a_kind_are_false_with_one_percent_together() -> None:
    """Ville: P(E ever ≥ e^limit) ≤ e^−limit for each check; their sum is the level, however many arms or mediators there are."""
    few: dict[str, list[Any]] = {"mediator": ["m", "n"] * 4, "arm": ["a", "a", "b", "b"] * 2, "reward": [1, 0] * 4}
    many: dict[str, list[Any]] = {
        "mediator": ["m", "n", "o"] * 10,
        "arm": [name for name in "abcde" for _ in range(6)],
        "reward": [1, 0] * 15,
    }
    for columns in (few, many):
        arms, mediators = sorted(set(columns["arm"])), sorted(set(columns["mediator"]))
        declared = {name: [1.0 / len(arms)] * len(arms) for name in mediators}
        found = gb.analyse_logs(columns, family=gb.Bernoulli(), arms=arms, declared=declared)
        assert len(of_kind(found, "confounding")) == len(arms)
        assert len(of_kind(found, "policy")) == len(mediators)
        for alarms in (of_kind(found, "confounding"), of_kind(found, "policy")):
            assert sum(np.exp(-alarm.limit) for alarm in alarms) == pytest.approx(0.01)
            assert all(alarm.raised == (alarm.log_e >= alarm.limit) for alarm in alarms)


def test_an_arm_of_many_that_is_never_shown_is_noticed() -> None:
    """Eighty arms, one never shown: the product of all KT factors alone needs 21,800 rows."""
    K, rng, needed = 80, np.random.default_rng(5), []
    declared = [[1.0 / K] * K]
    for _ in range(20):
        counts = np.zeros((1, K), np.int64)
        for _ in range(200):
            counts[0, :-1] += rng.multinomial(25, [1.0 / (K - 1)] * (K - 1))
            if policy_alarms(["m"], counts, declared, LEVEL)[0].raised:
                break
        needed.append(int(counts.sum()))
    assert np.mean(needed) <= 900


@pytest.mark.parametrize("K", [3, 12])
def test_policy_alarms_keep_their_level(K: int) -> None:
    """Streams of a mediator who acts as declared, looked at again and again."""
    rng, level, raised, streams = np.random.default_rng(K), 0.1, 0, 2000
    policy = rng.dirichlet(np.ones(K))
    looks = np.unique(np.geomspace(1, 600, 12).astype(int))
    limit = -np.log(level)
    for _ in range(streams):
        steps = np.array([rng.multinomial(more, policy) for more in np.diff(looks, prepend=0)])
        raised += any(log_policy_evidence(counts, policy) >= limit for counts in np.cumsum(steps, axis=0))
    assert exact_interval(raised, streams)[1] <= level


def test_policy_evidence_is_a_martingale() -> None:
    """Its mean after one more pull is what it is, if the policy is right; an arm that is not declared is proof."""
    policy, counts = np.array([0.5, 0.3, 0.15, 0.05]), np.array([7, 0, 4, 1])
    then = [np.exp(log_policy_evidence(counts + np.eye(4, dtype=np.int64)[a], policy)) for a in range(4)]
    assert policy @ then == pytest.approx(np.exp(log_policy_evidence(counts, policy)), rel=1e-12)
    assert log_policy_evidence(np.zeros(4, np.int64), policy) == pytest.approx(0.0, abs=1e-12)
    assert log_policy_evidence(np.array([1, 1, 1, 1]), np.array([0.5, 0.3, 0.2, 0.0])) == np.inf
