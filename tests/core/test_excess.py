"""Counts that vary more than Poisson's: the evidence is what it is said to be, keeps its level, has power, and can be taken back."""

import numpy as np
import pytest
from scipy.stats import nbinom, poisson
from spread_streams import counts_until_raised, false_count_alarms

from gobetween.core.alarms import LEVEL, count_alarms
from gobetween.core.excess import ROWS, SHAPES, add_count, add_counts, excesses, log_excess_evidence
from gobetween.core.families import Poisson
from gobetween.core.spread import add_reward, add_rewards, add_spread, new_spread
from gobetween.core.types import Floats, Ints
from gobetween.simulation.summary import exact_interval


def sums_of(arms: Ints, x: Floats, K: int) -> Floats:
    sums = np.zeros((ROWS, K))
    add_counts(sums, arms, x)
    return sums


def log_ratio(x: Floats, r: float, mean: float) -> float:
    return float((nbinom.logpmf(x, r, r / (r + mean)) - poisson.logpmf(x, mean)).sum())


def test_evidence_is_the_least_likelihood_ratio_over_the_means() -> None:
    rng = np.random.default_rng(0)
    a, x = rng.integers(0, 3, 60), rng.negative_binomial(4.0, 0.4, 60).astype(float)
    shares = []
    for r in SHAPES[:12].tolist():
        each = [log_ratio(x[a == b], r, x[a == b].mean()) for b in range(3)]
        for b, value in enumerate(each):
            assert value <= min(log_ratio(x[a == b], r, mean) for mean in np.linspace(0.5, 20.0, 200)) + 1e-9
        shares += [sum(each) - np.log(2.0), *(value - np.log(6.0) for value in each)]
    far = len(SHAPES) - 12  # of the others, close to Poisson, the ratio is close to 1
    expected = np.logaddexp.reduce([*shares, np.log(far)]) - np.log(len(SHAPES))
    assert log_excess_evidence(np.bincount(a, minlength=3), sums_of(a, x, 3)) == pytest.approx(expected, abs=1e-4)


def test_large_counts_follow_the_small_ones() -> None:
    """Σ ln(1 + j/r) from the sum, and from its expansion above 1,024."""
    for x in (0, 1, 2, 900, 1023, 1024, 1025, 40_000):
        expected = np.log1p(np.arange(x)[None, :] / SHAPES[:, None]).sum(axis=1)
        assert excesses(np.array([float(x)]))[:, 0] == pytest.approx(expected, rel=1e-11, abs=1e-12 * x)


def test_poisson_counts_are_falsely_doubted_less_often_than_the_level() -> None:
    """10,000 streams of each mean in `make validity`."""
    for mean in (0.5, 20.0):
        assert exact_interval(false_count_alarms(mean, 200, 400, LEVEL), 200)[0] <= LEVEL


@pytest.mark.parametrize(("ratio", "rows"), [(4.0, 40), (2.0, 130)])
def test_counts_that_vary_too_much_are_noticed_soon(ratio: float, rows: int) -> None:
    for mean in (0.5, 5.0, 2000.0):
        assert np.median(counts_until_raised(ratio, mean, 20, 400)) <= rows


@pytest.mark.parametrize("mean", [0.01, 3.0, 1e5, 1e9])
def test_many_counts_at_any_scale(mean: float) -> None:
    rng = np.random.default_rng(1)
    a, x = rng.integers(0, 5, 200_000), rng.poisson(mean, 200_000).astype(float)
    N_a = np.bincount(a, minlength=5)
    assert log_excess_evidence(N_a, sums_of(a, x, 5)) < 1.0
    wider = rng.poisson(rng.gamma(mean, 1.0, 200_000)).astype(float)  # twice the variance
    assert log_excess_evidence(N_a, sums_of(a, wider, 5)) > 1000.0 * min(1.0, mean)


def test_sums_add_up_in_any_order_and_can_be_taken_back() -> None:
    rng = np.random.default_rng(2)
    a, x = rng.integers(0, 3, 3000), rng.poisson(7.0, 3000).astype(float)
    x[::100] = 2000.0  # some that are not in the table
    N_a, whole, merged = np.bincount(a, minlength=3), new_spread(3, Poisson()), new_spread(3, Poisson())
    add_rewards(whole, a, x)
    for part in np.split(rng.permutation(3000), 3):
        one = new_spread(3, Poisson())
        add_rewards(one, a[part], x[part])
        add_spread(merged, one, np.bincount(a[part], minlength=3))
    one_by_one = new_spread(3, Poisson())
    for b, y in zip(a.tolist(), x.tolist(), strict=True):
        add_reward(one_by_one, b, y)
    add_reward(one_by_one, 1, 30.0)
    add_reward(one_by_one, 1, 30.0, -1)
    expected = log_excess_evidence(N_a, sums_of(a, x, 3))
    for found in (whole, merged, one_by_one):
        assert log_excess_evidence(N_a, found[3:]) == pytest.approx(expected, rel=1e-9)
    words = count_alarms(N_a, whole)[0].words
    squares = sum(((x[a == b] - x[a == b].mean()) ** 2).sum() for b in range(3))
    expected = squares / sum((N_a[b] - 1) * x[a == b].mean() for b in range(3))
    assert f"their variance is about {expected:,.2f} times their mean" in words


def test_what_was_taken_out_leaves_no_evidence_behind() -> None:
    """Sums that have held 1e50 have lost their other digits."""
    sums = sums_of(np.zeros(50, np.int64), np.full(50, 3.0), 1)
    add_count(sums, 0, 1e50)
    assert log_excess_evidence(np.array([51]), sums) > 1e40
    add_count(sums, 0, 1e50, -1)
    assert log_excess_evidence(np.array([50]), sums) < 1.0
