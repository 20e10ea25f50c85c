"""Alarms: raised when they should be, and what they are said to be."""

from typing import Any

import numpy as np
import pytest
from log_tables import POLICIES, table

import gobetween as gb
from gobetween.core.alarms import log_difference, log_kt
from gobetween.pages.log import sentences


def test_alarms() -> None:
    good = gb.analyse_logs(
        table(2000, means=(0.6, 0.5, 0.5)), arms=["a", "b", "c"], declared={"m0": POLICIES[0], "m1": POLICIES[1]}
    )
    assert not any(alarm.raised for alarm in (*good.policy_alarms, *good.confounding))
    wrong = gb.analyse_logs(table(2000), arms=["a", "b", "c"], declared={"m0": POLICIES[1], "m1": None})
    assert [(alarm.subject, alarm.raised) for alarm in wrong.policy_alarms] == [("m0", True)]
    impossible = gb.analyse_logs(table(50), arms=["a", "b", "c"], declared={"m0": [1.0, 0.0, 0.0], "m1": POLICIES[1]})
    assert impossible.policy_alarms[0].log_e == np.inf
    confounded = table(3000)
    for i, (who, arm) in enumerate(zip(confounded["mediator"], confounded["arm"], strict=True)):
        if who == "m1" and arm == "b":
            confounded["reward"][i] = float(i % 10 == 0)
    found = gb.analyse_logs(confounded)
    assert [alarm.subject for alarm in found.confounding if alarm.raised] == ["b"]
    assert any("the guarantee does not hold" in line for line in sentences(found))


def test_alarms_are_what_they_are_said_to_be() -> None:
    """KT against its sequential definition; the infimum of the confounding e-value against a wide grid."""
    rng = np.random.default_rng(3)
    policy = np.array([0.5, 0.3, 0.2])
    draws, counts, log_e = rng.choice(3, 50, p=policy), np.zeros(3, np.int64), 0.0
    for i, a in enumerate(draws):
        log_e += np.log((counts[a] + 0.5) / (i + 1.5)) - np.log(policy[a])
        counts[a] += 1
    assert log_kt(counts, policy) == pytest.approx(log_e, abs=1e-9)
    for family, grid in ((gb.Bernoulli(), np.linspace(1e-6, 1 - 1e-6, 4001)), (gb.Gaussian(1.0), np.linspace(-5, 5, 4001))):
        n, S = np.array([30, 200, 7]), np.array([12.0, 130.0, 1.0])
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
        assert len(found.confounding) == len(arms)
        assert len(found.policy_alarms) == len(mediators)
        for alarms in (found.confounding, found.policy_alarms):
            assert sum(np.exp(-alarm.limit) for alarm in alarms) == pytest.approx(0.01)
            assert all(alarm.raised == (alarm.log_e >= alarm.limit) for alarm in alarms)
