"""Second moments that add up, and the alarm about a declared σ: its level, its power, and what it must not mind."""

import numpy as np
import pytest
from spread_streams import false_alarms, rows_until_raised, spread_of

from gobetween.core.alarm.alarm import LEVEL
from gobetween.core.alarm.dispersion import SigmaDetails, scale_alarms
from gobetween.core.reward.families import Gaussian
from gobetween.core.reward.second_moments import add_reward, add_spread, log_spread_evidence, new_spread, squares
from gobetween.simulation.summary import exact_interval


def test_a_declared_spread_is_falsely_doubted_less_often_than_the_level() -> None:
    """Normal rewards, and ±1, which are 1-sub-Gaussian; 10,000 streams of each in `make validity`."""
    for coin in (False, True):
        assert exact_interval(false_alarms(300, 400, LEVEL, coin), 300)[0] <= LEVEL


@pytest.mark.parametrize("sigma", [0.5, 1.0, 4.0])
def test_the_alarm_names_the_spread_that_was_found(sigma: float) -> None:
    """In units of rewards, whatever the declared σ, around the mean of each arm."""
    rewards, arms = np.tile([10.0, 40.0, -10.0, 0.0], 100), np.tile([0, 0, 1, 1], 100)
    spread = new_spread(2, Gaussian(sigma))
    for a, x in zip(arms.tolist(), rewards.tolist(), strict=True):
        add_reward(spread, a, x / sigma, 1, Gaussian(sigma))
    (alarm,) = scale_alarms(sigma, np.array([200, 200]), spread)
    assert isinstance(alarm.details, SigmaDetails)
    assert alarm.details.found == pytest.approx(np.sqrt((200 * 15.0**2 + 200 * 5.0**2) / 398))


def test_evidence_about_spread_is_a_supermartingale() -> None:
    """At the true mean, which is what the sum of squares around the estimate is never above."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights /= weights.sum()
    n, SS, first = np.array([7, 3]), np.array([5.0, 4.5]), np.array([1, 0])
    now = np.exp(log_spread_evidence(n, SS))
    small = np.abs(nodes) < 8.0  # ratios near 2^10 make e^{x²/2} of the far nodes: bounded from below
    then = sum(
        w * np.exp(log_spread_evidence(n + first, SS + x * x * first))
        for w, x in zip(weights[small], nodes[small], strict=True)
    )
    assert then <= now * (1.0 + 1e-6)
    assert np.exp(log_spread_evidence(np.zeros(2, np.int64), np.zeros(2))) == pytest.approx(1.0)


def test_too_small_a_sigma_is_noticed_soon() -> None:
    """σ = 1 on a spread of 26: within four rows; 1.5 times σ: within some hundred."""
    assert np.median(rows_until_raised(26.0, 40, 50)) <= 4
    assert np.median(rows_until_raised(1.5, 20, 400)) <= 150


def test_second_moments_add_up_and_keep_their_digits() -> None:
    rng = np.random.default_rng(1)
    x, a = 1e8 + rng.standard_normal(3000), rng.integers(0, 3, 3000)
    whole, parts = spread_of(a, x, 3), [spread_of(a[i : i + 1000], x[i : i + 1000], 3) for i in (0, 1000, 2000)]
    merged, one_by_one = new_spread(3), new_spread(3)
    for i, part in enumerate(parts):
        add_spread(merged, part, np.bincount(a[1000 * i : 1000 * (i + 1)], minlength=3))
    for b, y in zip(a.tolist(), x.tolist(), strict=True):
        add_reward(one_by_one, b, y, 1, Gaussian(1.0))
    add_reward(one_by_one, 0, 1e300, 1, Gaussian(1.0))
    add_reward(one_by_one, 0, 1e300, -1, Gaussian(1.0))
    N_a = np.bincount(a, minlength=3)
    expected = [((x[a == b] - x[a == b].mean()) ** 2).sum() for b in range(3)]
    for found in (whole, merged, one_by_one):
        assert squares(found, N_a) == pytest.approx(expected, rel=1e-5)
        assert not scale_alarms(1.0, N_a, found)[0].raised
