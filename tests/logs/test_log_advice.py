"""What a log lacks: rows with a range, whom to ask with the share of resamples that agree, mediators alike taken together."""

import csv
import io
import math
from typing import Any

import numpy as np
import pytest
from log_forecasts import logs_on_the_way
from log_tables import table

import gobetween as gb
from gobetween.core.ground.jit import ENABLED
from gobetween.core.ground.tally import fill, new_tally
from gobetween.logs.analysis import forecast as forecasting
from gobetween.logs.analysis.policy_groups import _said_of, policy_groups_of
from gobetween.simulation.worlds import (
    OUTSIDE,
    WORLDS,
    _population,
    _toward_population,
    drawn_means,
    shrunk_means,
    stream,
)
from gobetween.words.logs import any_of, sentences

ALIKE = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])
CLOSE = (0.56, 0.5, 0.45)


def line(found: gb.LogReport, start: str) -> str:
    return next(line for line in sentences(found) if line.startswith(start))


def test_the_range_holds_the_truth_about_eight_times_of_ten() -> None:
    """docs/validity-log-forecast.md has the same of more logs and instances."""
    found = logs_on_the_way("Bernoulli", range(20 if ENABLED else 1))
    for chosen in (False, True):
        ends = [(one.truth, *one.forecast) for one in found if one.chosen == chosen and one.forecast is not None]
        truth, median, low, high = np.array(ends).T
        assert len(ends) >= (55 if ENABLED else 1)
        assert (low < median).all()
        assert (median <= high).all()
        assert 0.65 <= np.mean((low <= truth) & (truth <= high)) <= 0.95 if ENABLED else len(ends)


def test_one_log_has_one_forecast_in_words_json_and_numbers() -> None:
    log = table(400, seed=1, means=CLOSE)
    found, again = (
        gb.analyse_logs(log),
        gb.analyse_logs({key: values[:200] for key, values in log.items()}, {key: values[200:] for key, values in log.items()}),
    )
    assert found.rows_forecast is not None
    assert found.queries_forecast is not None
    assert (found.rows_forecast, found.queries_forecast, found.advice) == (
        again.rows_forecast,
        again.queries_forecast,
        again.advice,
    )
    data = found.to_dict()
    assert data["rows_forecast"]["low"] < data["rows_forecast"]["median"]
    assert sum(one["share"] for one in data["advice"]) == pytest.approx(1.0)
    assert "more rows like these (80% range: " in line(found, "Expect about").replace("9 times", "8 times")


def test_what_is_certain_or_broken_is_not_forecast() -> None:
    sure = gb.analyse_logs(table(300, means=(0.9, 0.3, 0.3)))
    assert (sure.rows_to_go, sure.rows_forecast, sure.queries_forecast, sure.advice) == (0.0, None, None, ())
    unseen = gb.analyse_logs({"arm": ["a", "b"], "reward": [1, 0]}, arms=["a", "b", "c"])
    assert (unseen.rows_to_go, unseen.rows_forecast, unseen.advice) == (math.inf, None, ())
    drift: dict[str, Any] = {"arm": ["a", "b"] * 600, "reward": [0, 1] * 300 + [1, 0] * 300}
    broken = gb.analyse_logs(drift)
    assert broken.broken is not None
    assert broken.rows_forecast is None


def test_too_much_work_is_said_by_saying_less(monkeypatch: pytest.MonkeyPatch) -> None:
    log = table(200, seed=1, means=CLOSE)
    far = gb.analyse_logs(log).rows_forecast
    assert far is not None
    monkeypatch.setattr(forecasting, "WORK", 0)
    assert gb.analyse_logs(log).rows_forecast is None
    assert "80% range" not in line(gb.analyse_logs(log), "Expect about")


@pytest.mark.compiled  # plain Python says less: it does less work (WORK)
def test_arms_that_seem_equal_have_no_forecast_but_that_it_is_far() -> None:
    pulled = [str(i // 20) for i in range(800)]
    found = gb.analyse_logs({"arm": pulled, "reward": [int(i % 5 == 0 or i == 1) for i in range(800)]})
    assert found.rows_forecast is not None
    assert math.isinf(found.rows_forecast.median)
    assert (
        line(found, "No estimate")
        == "No estimate of how many more rows it takes: in most resamples of the log, more than 800,000."
    )
    assert found.to_dict()["rows_forecast"]["median"] is None


def test_mediators_alike_are_taken_together() -> None:
    found = gb.analyse_logs(table(800, seed=1, means=CLOSE, policies=ALIKE))
    groups = {one.mediators: one for one in found.advice}
    assert set(groups) == {("m0", "m1", "m3"), ("m2",)}
    assert found.omega is not None
    together = groups["m0", "m1", "m3"]
    assert found.omega == pytest.approx([together.share / 3] * 2 + [groups[("m2",)].share, together.share / 3])
    words = line(found, "Best split of queries: ")
    assert f"any of 'm0', 'm1' or 'm3' {together.share:.0%} (in {together.agree:.0%} of resamples)" in words
    stream = io.StringIO()
    found.to_csv(stream)
    cells = {(cell["mediator"], cell["arm"]): cell for cell in csv.DictReader(io.StringIO(stream.getvalue()))}
    assert cells["m3", "a"]["any_of"] == "m0; m1; m3"
    assert float(cells["m3", "b"]["ask"]) == together.share
    assert float(cells["m2", "a"]["agree"]) == groups[("m2",)].agree
    assert cells["", "a"]["ask"] == ""


def test_declared_policies_are_alike_when_they_are_the_same() -> None:
    log = table(300, seed=1, means=CLOSE, policies=ALIKE[:3])
    declared: Any = {"m0": [0.5, 0.3, 0.2], "m1": [0.5, 0.3, 0.2], "m2": [0.5, 0.29, 0.21]}
    found = gb.analyse_logs(log, arms=["a", "b", "c"], declared=declared)
    assert {one.mediators for one in found.advice} == {("m0", "m1"), ("m2",)}
    lone = gb.analyse_logs(log, arms=["a", "b", "c"], declared={name: [0.5, 0.3, 0.2] for name in declared})
    assert line(lone, "Ask ") == "Ask any of 'm0', 'm1' or 'm2': their policies are the same, or cannot be told apart."
    assert lone.queries_forecast is None


def test_a_group_may_pull_what_any_of_its_members_may() -> None:
    """Of two that are alike by their rows one was declared by its support, which is not all arms; of the other nothing is said."""
    one = np.array([[np.nan, np.nan, 0.0, 0.0], [np.nan, 0.0, np.nan, 0.0]])
    assert np.isnan(_said_of(one)).tolist() == [True, True, True, False]
    assert _said_of(one)[3] == 0.0
    assert np.isnan(_said_of(one[:1])).tolist() == [True, True, False, False]
    known = np.array([[0.2, 0.8, 0.0, 0.0]] * 2)
    assert _said_of(known).tolist() == known[0].tolist()


def test_few_rows_do_not_make_two_mediators_one() -> None:
    assert policy_groups_of(np.array([[1, 0], [1, 0]]), [None, None]) == ((0,), (1,))
    assert policy_groups_of(np.array([[50, 50], [50, 50], [0, 0]]), [None] * 3) == ((0, 1), (2,))
    assert policy_groups_of(np.array([[500, 500], [600, 400]]), [None, None]) == ((0,), (1,))
    many = np.random.default_rng(0).multinomial(200, [0.2] * 5, size=2000)
    assert len(policy_groups_of(many, [None] * 2000)) == 2000  # too much work
    assert len(policy_groups_of(many, [[0.2] * 5] * 2000)) == 1
    assert len(policy_groups_of(many[:50], [None] * 50)) == 1
    assert any_of([str(i) for i in range(12)]).endswith("'7' and 4 more")


def test_of_many_arms_the_highest_are_drawn_towards_the_others() -> None:
    rng = np.random.default_rng(0)
    N = np.full(100, 50)
    tally = fill(new_tally(100), N, rng.binomial(N, 0.5).astype(float))
    best, family = int(np.argmax(tally.mu_hat)), gb.Bernoulli()
    plain, shrunk = (
        np.mean([draw(family, (0.0, 1.0), tally, stream(0, w))[best] for w in range(50)])
        for draw in (drawn_means, shrunk_means)
    )
    assert abs(plain - tally.mu_hat[best]) < 0.03
    assert abs(shrunk - 0.5) < 0.3 * abs(tally.mu_hat[best] - 0.5)
    few = fill(new_tally(3), N[:3], np.array([20.0, 25.0, 30.0]))
    one, other = (draw(family, (0.0, 1.0), few, stream(0, 1)) for draw in (drawn_means, shrunk_means))
    assert np.array_equal(one, other)


def test_arms_that_were_pulled_most_are_each_one_of_all() -> None:
    """Two arms with half of all rows stand apart; the others end at 0.1, and in most worlds none is far above that."""
    means = np.concatenate([[0.16, 0.11], np.linspace(0.1, 0.02, 78)])
    N = np.array([3200, 3200] + [230] * 78)
    tally = fill(new_tally(80), N, np.random.default_rng(2).binomial(N, means).astype(float))
    family, worlds = gb.Bernoulli(), [stream(0, w) for w in range(40)]
    drawn = np.array([shrunk_means(family, (0.0, 1.0), tally, rng) for rng in worlds])
    assert drawn[:, 2:].max(axis=1).mean() < 0.115 < tally.mu_hat[2:].max()
    assert abs(drawn[:, 0].mean() - tally.mu_hat[0]) < 0.002


def test_means_are_drawn_by_the_density_of_the_population() -> None:
    """Bayes' rule on a grid, of normal rewards: even between two ends, a little anywhere."""
    N, centres = np.array([4, 4, 4, 9, 25, 4]), np.array([-1.5, -0.6, 0.0, 0.5, 1.4, 3.0])
    tally = fill(new_tally(6), N, N * centres)
    r = np.linspace(-5.0, 5.0, 20001)
    found = np.array([_toward_population(gb.Gaussian(1.0), tally, np.full(6, x)) for x in r[::20]]) / np.sqrt(N) + centres
    m, h = _population(centres, 1.0 / N)
    wide = (centres + 3.0 / np.sqrt(N)).max() - (centres - 3.0 / np.sqrt(N)).min()
    for a in range(6):
        x = centres[a] + r / np.sqrt(N[a])
        density = np.exp(-0.5 * r**2) * ((np.abs(x - m) < h) * (1.0 - OUTSIDE) / (2.0 * h) + OUTSIDE / wide)
        weights = np.exp(-0.5 * r[::20] ** 2)
        assert (found[:, a] @ weights) / weights.sum() == pytest.approx((x @ density) / density.sum(), abs=0.01)
        below = ((found[:, a] < m) @ weights) / weights.sum()
        assert below == pytest.approx(((x < m) @ density) / density.sum(), abs=0.01)
    assert (np.diff(found, axis=0) >= 0.0).all()


def test_a_population_is_as_wide_as_estimates_differ_beyond_their_errors() -> None:
    rng, squares = np.random.default_rng(0), np.full(4000, 0.04)
    m, h = _population(rng.uniform(-1.0, 2.0, 4000) + rng.normal(0.0, 0.2, 4000), squares)
    assert np.array([m, h]) == pytest.approx([0.5, 1.5], abs=0.05)
    assert 0.0 < _population(np.full(4000, 0.5), squares)[1] < 0.01  # no more than cannot be told from 0
    assert shrunk_means(gb.Bernoulli(), (0.0, 1.0), fill(new_tally(4), np.full(4, 9), np.zeros(4)), rng).shape == (4,)


def test_the_range_begins_and_ends_with_a_stretch() -> None:
    spans = [(float(10 * 2**k), float(20 * 2**k)) for k in range(WORLDS)]
    found = forecasting._within(spans[::-1])
    assert found is not None
    assert found.low == 10.0
    assert found.high == pytest.approx(20.0 * 2**10.9)
    assert found.median == pytest.approx(10.0 * math.sqrt(2.0) * 2**4.6)
    assert forecasting._within([*spans[:4], *[(math.inf, math.inf)] * 9]) is None
