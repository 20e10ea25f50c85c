"""Rewards that vary more than their family says: the evidence is what it is said to be, keeps its level, has power, and can be taken back."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import betabinom, binom, gamma, nbinom, poisson
from spread_streams import COUNTS, counts_until_raised, drawn, excess_of, false_count_alarms, spread_of, sums_for, until_raised

import gobetween as gb
from gobetween.core.alarm.alarm import LEVEL
from gobetween.core.alarm.dispersion import excess_alarms
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.reward.families import Poisson
from gobetween.core.reward.overdispersion import SHAPES, rises
from gobetween.core.reward.second_moments import (
    add_count,
    add_counts,
    add_reward,
    add_spread,
    excess_values,
    log_excess_evidence,
    new_spread,
)
from gobetween.simulation.summary import exact_interval


def sums_of(arms: Ints, x: Floats, K: int) -> Floats:
    sums = sums_for(COUNTS, K)
    add_counts(sums, arms, x, COUNTS)
    return sums


def log_ratio(x: Floats, r: float, mean: float) -> float:
    return float((nbinom.logpmf(x, r, r / (r + mean)) - poisson.logpmf(x, mean)).sum())


def test_evidence_is_the_least_likelihood_ratio_over_the_means() -> None:
    rng = np.random.default_rng(0)
    a, x = rng.integers(0, 3, 60), rng.negative_binomial(4.0, 0.4, 60).astype(float)
    shares = []
    for r in SHAPES[:12]:
        each = [log_ratio(x[a == b], r, x[a == b].mean()) for b in range(3)]
        for b, value in enumerate(each):
            assert value <= min(log_ratio(x[a == b], r, mean) for mean in np.linspace(0.5, 20.0, 200)) + 1e-9
        shares += [sum(each) - np.log(2.0), *(value - np.log(6.0) for value in each)]
    far = len(SHAPES) - 12  # of the others, close to Poisson, the ratio is close to 1
    expected = np.logaddexp.reduce([*shares, np.log(far)]) - np.log(len(SHAPES))
    assert log_excess_evidence(np.bincount(a, minlength=3), sums_of(a, x, 3), COUNTS) == pytest.approx(expected, abs=1e-4)


def test_large_counts_follow_the_small_ones() -> None:
    """Σ ln(1 + j/r) from the sum, and from its expansion above 1,024."""
    for x in (0, 1, 2, 900, 1023, 1024, 1025, 40_000):
        expected = np.log1p(np.arange(x)[None, :] / np.array(SHAPES)[:, None]).sum(axis=1)
        assert rises(np.array([float(x)]), SHAPES)[:, 0] == pytest.approx(expected, rel=1e-11, abs=1e-12 * x)


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
    assert log_excess_evidence(N_a, sums_of(a, x, 5), COUNTS) < 1.0
    wider = rng.poisson(rng.gamma(mean, 1.0, 200_000)).astype(float)  # twice the variance
    assert log_excess_evidence(N_a, sums_of(a, wider, 5), COUNTS) > 1000.0 * min(1.0, mean)


def test_sums_add_up_in_any_order_and_can_be_taken_back() -> None:
    rng = np.random.default_rng(2)
    a, x = rng.integers(0, 3, 3000), rng.poisson(7.0, 3000).astype(float)
    x[::100] = 2000.0  # some that are not in the table
    N_a, whole, merged = np.bincount(a, minlength=3), spread_of(a, x, 3, Poisson()), new_spread(3, Poisson())
    for part in np.split(rng.permutation(3000), 3):
        add_spread(merged, spread_of(a[part], x[part], 3, Poisson()), np.bincount(a[part], minlength=3))
    one_by_one = new_spread(3, Poisson())
    for b, y in zip(a.tolist(), x.tolist(), strict=True):
        add_reward(one_by_one, b, y, 1, Poisson())
    add_reward(one_by_one, 1, 30.0, 1, Poisson())
    add_reward(one_by_one, 1, 30.0, -1, Poisson())
    expected = log_excess_evidence(N_a, sums_of(a, x, 3), COUNTS)
    for found in (whole, merged, one_by_one):
        assert log_excess_evidence(N_a, found[3:], COUNTS) == pytest.approx(expected, rel=1e-9)
    words = excess_alarms(Poisson(), COUNTS, N_a, whole)[0].words
    squares = sum(((x[a == b] - x[a == b].mean()) ** 2).sum() for b in range(3))
    expected = squares / sum((N_a[b] - 1) * x[a == b].mean() for b in range(3))
    assert f"variance about {expected:,.2f} times what their mean implies" in words


def test_what_was_taken_out_leaves_no_evidence_behind() -> None:
    """Sums that have held 1e50 have lost their other digits."""
    sums = sums_of(np.zeros(50, np.int64), np.full(50, 3.0), 1)
    add_count(sums, 0, 1e50, 1, COUNTS)
    assert log_excess_evidence(np.array([51]), sums, COUNTS) > 1e40
    add_count(sums, 0, 1e50, -1, COUNTS)
    assert log_excess_evidence(np.array([50]), sums, COUNTS) < 1.0


DISPERSED: list[tuple[gb.Family, float]] = [
    (gb.NegativeBinomial(1.5), 3.0),
    (gb.Geometric(), 4.0),
    (gb.Gamma(2.5), 3.0),
    (gb.Exponential(), 3.0),
    (gb.Binomial(12), 5.0),
]


def log_of_ratio(family: gb.Family, x: Floats, shape: float, mean: float) -> float:
    """Ln of the likelihood ratio of an alternative with the same mean, from densities."""
    own, m = next(iter(family.parameters().values()), 1.0), mean - 1.0 if family.name == "geometric" else mean
    if family.name in ("gamma", "exponential"):
        return float((gamma.logpdf(x, shape, scale=m / shape) - gamma.logpdf(x, own, scale=m / own)).sum())
    if family.name == "binomial":
        n, k = 12, np.arange(13)
        weights = betabinom.pmf(k, n, shape, shape)
        tilt = brentq(lambda t: (weights * np.exp(t * k)) @ (k - mean), -40.0, 40.0)
        tilted = np.log(weights) + tilt * k - np.log((weights * np.exp(tilt * k)).sum())
        return float((tilted[x.astype(int)] - binom.logpmf(x, n, mean / n)).sum())
    y = x - 1.0 if family.name == "geometric" else x
    return float((nbinom.logpmf(y, shape, shape / (shape + m)) - nbinom.logpmf(y, own, own / (own + m))).sum())


@pytest.mark.parametrize(("family", "mean"), DISPERSED, ids=str)
def test_the_ratio_is_least_at_the_mean_of_the_rewards(family: gb.Family, mean: float) -> None:
    x = drawn(family, np.full(60, mean), 1.3, np.random.default_rng(2))
    excess, centre = excess_of(family), float(x.mean())
    sums = sums_for(excess, 1)
    add_counts(sums, np.zeros(60, np.int64), x, excess)
    values = excess_values(np.array([60]), sums, excess)[:, 0]
    for shape, value in list(zip(excess.shapes, values.tolist(), strict=True))[::3]:
        assert value == pytest.approx(log_of_ratio(family, x, shape, centre), rel=1e-6, abs=1e-6)
        assert value <= min(log_of_ratio(family, x, shape, centre * factor) for factor in (0.9, 0.97, 1.03, 1.1)) + 1e-6


@pytest.mark.parametrize(("family", "mean"), DISPERSED, ids=str)
def test_what_varies_more_is_found_and_what_does_not_is_left_alone(family: gb.Family, mean: float) -> None:
    looks = np.unique(np.geomspace(2, 1000, 25).astype(np.int64))
    assert exact_interval(int((until_raised(family, mean, 1.0, 300, looks, LEVEL) > 0).sum()), 300)[0] <= LEVEL
    assert (until_raised(family, mean, 2.0, 30, looks, LEVEL) > 0).all()


@pytest.mark.parametrize(("family", "mean"), DISPERSED, ids=str)
def test_parts_add_up_and_answers_can_be_taken_back(family: gb.Family, mean: float) -> None:
    rng = np.random.default_rng(5)
    x, a = drawn(family, np.full(300, mean), 1.0, rng), rng.integers(0, 3, 300)
    N_a, whole, one_by_one = np.bincount(a, minlength=3), spread_of(a, x, 3, family), new_spread(3, family)
    for b, y in zip(a.tolist(), x.tolist(), strict=True):
        add_reward(one_by_one, b, y, 1, family)
    add_reward(one_by_one, 1, 3.0, 1, family)
    add_reward(one_by_one, 1, 3.0, -1, family)
    excess = excess_of(family)
    expected = log_excess_evidence(N_a, whole[3:], excess)
    assert log_excess_evidence(N_a, one_by_one[3:], excess) == pytest.approx(expected, rel=1e-9)
    (alarm,) = excess_alarms(family, excess, N_a, whole)
    assert not alarm.raised
    assert alarm.words.startswith("No sign that rewards vary more than ")


@pytest.mark.plain
def test_learners_and_logs_raise_it() -> None:
    family, rng = gb.Gamma(4.0), np.random.default_rng(3)
    x = drawn(family, np.full(200, 2.0), 4.0, rng)
    one = gb.Learner(["a", "b"], 1, family=family)
    for i, reward in enumerate(x.tolist()):
        one.tell(mediator="mediator 1", arm="ab"[i % 2], reward=reward)
    alarm = one.broken()
    assert alarm is not None
    assert (alarm.kind, alarm.subject, alarm.breaks) == ("scale", "shape = 4", True)
    assert alarm.words.startswith("Rewards vary more than gamma rewards with shape = 4 do (variance about ")
    assert " times what their mean implies): the evidence is overstated, and the guarantee does not hold." in alarm.words
    assert gb.Learner.from_dict(one.to_dict()).broken() == alarm
    rows = {"mediator": ["m"] * 200, "arm": ["a", "b"] * 100, "reward": x.tolist()}
    report = gb.analyse_logs(rows, family=family)
    assert [found.log_e for found in report.alarms if found.kind == "scale"] == [pytest.approx(alarm.log_e)]
    totals = gb.analyse_logs({**rows, "n": [2] * 200}, family=family, count="n", totals=True)
    assert not [found for found in totals.alarms if found.kind == "scale"]  # totals do not show how far rewards spread
    assert gb.Binomial(1).excess() is None
    assert gb.Binomial(5000).excess() is None
