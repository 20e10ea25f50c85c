"""Summaries say what they are said to say: against the definition of each number."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

import gobetween as gb
from gobetween.simulation.runs import Runs
from gobetween.simulation.summary import exact_interval, mean_and_half_width, summary_table

PROBLEM = gb.Problem([1.0, 0.0], [[0.5, 0.5], [0.1, 0.9]], family=gb.Gaussian(1.0))


def runs(tau: list[int], correct: list[bool], censored: list[bool], problem: gb.Problem = PROBLEM) -> Runs:
    column = np.array(tau, np.int64)[:, None]
    asked = np.stack([column, np.zeros_like(column)], axis=2)
    return Runs((0.1,), column, np.array(correct)[:, None], np.array(censored)[:, None], asked, asked, problem)


def test_runs_are_decided_within_a_budget_of_queries_and_of_cost() -> None:
    priced = gb.Problem([1.0, 0.0], [[0.5, 0.5], [0.1, 0.9]], costs=[3.0, 1.0], family=gb.Gaussian(1.0))
    made = runs([10, 20, 30, 40], [True, False, True, False], [False, False, False, True], priced)
    assert made.summary()[0].decided is None
    assert [made.within(queries=most).summary()[0].decided for most in (9, 10, 20, 40)] == [0.0, 0.25, 0.5, 0.75]
    assert [made.within(cost=most).summary()[0].decided for most in (29.9, 30.0, 60.0)] == [0.0, 0.25, 0.5]
    row = made.within(queries=30, cost=60.0).summary()[0]
    assert (row.decided, row.decided_low, row.decided_high) == (0.5, *exact_interval(2, 4))
    assert summary_table([row], False)[0][-1] == "within budget"
    assert summary_table([row], False)[1][0][-1] == "50.0%"
    assert summary_table(made.summary(), False)[0][-1] == "ratio"
    with pytest.raises(gb.SpecError, match=r"budget.cost = -1: must be a positive number"):
        made.within(cost=-1)


@pytest.mark.parametrize(("k", "n"), [(0, 30), (1, 30), (7, 30), (29, 30), (30, 30)])
@pytest.mark.parametrize("level", [0.95, 0.9])
def test_each_end_of_an_exact_interval_leaves_half_of_the_risk(k: int, n: int, level: float) -> None:
    """Clopper and Pearson: at either end the data, or more extreme ones, have probability (1 − level)/2."""
    low, high = exact_interval(k, n, level)
    tail = pytest.approx(0.5 * (1.0 - level), rel=1e-6)
    assert low == 0.0 if k == 0 else binom.sf(k - 1, n, low) == tail
    assert high == 1.0 if k == n else binom.cdf(k, n, high) == tail


def test_a_half_width_is_that_of_a_95_percent_interval() -> None:
    values = np.array([3, 5, 9, 11, 40])
    mean, half_width = mean_and_half_width(values)
    assert mean == values.mean()
    assert half_width == pytest.approx(norm.ppf(0.975) * values.std(ddof=1) / math.sqrt(5), rel=1e-3)
    assert mean_and_half_width(values[:1])[1] == math.inf  # one run says nothing of the spread


def test_quantiles_are_those_that_the_header_names() -> None:
    (found,) = runs(list(range(101)), [True] * 101, [False] * 101).summary()
    assert found.quantiles == pytest.approx((10.0, 50.0, 90.0))


def test_a_run_that_was_cut_off_is_not_wrong() -> None:
    (found,) = runs([10, 20, 30, 30], [True, False, False, False], [False, False, True, True]).summary()
    assert (found.wrong, found.censored, found.runs) == (0.25, 2, 4)
    assert (found.wrong_low, found.wrong_high) == exact_interval(1, 4)


def test_the_ratio_is_how_many_times_the_bound_was_needed() -> None:
    (found,) = runs([100, 300], [True] * 2, [False] * 2).summary()
    bound = gb.lower_bound(PROBLEM).queries(0.1)
    assert found.bound == pytest.approx(bound)
    assert found.ratio == pytest.approx(200.0 / bound)
    priced = gb.Problem(PROBLEM.means, PROBLEM.policies, costs=[3.0, 1.0], family=gb.Gaussian(1.0))
    (dear,) = runs([100, 300], [True] * 2, [False] * 2, priced).summary()
    assert (dear.mean, dear.cost) == (200.0, 600.0)  # all were queries of the first
    assert dear.ratio == pytest.approx(600.0 / gb.lower_bound(priced).cost(0.1))
    (tied,) = runs(
        [100, 300], [True] * 2, [False] * 2, gb.Problem([1.0, 1.0], PROBLEM.policies, family=gb.Gaussian(1.0))
    ).summary()
    assert tied.ratio is None
