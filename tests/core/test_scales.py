"""No stall: the e-process, intervals and alarms see differences at any scale of any family, and are exact in the limit."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from long_paths import answers_needed, small_problem
from strategies import here

import gobetween as gb
from gobetween.core.alarm.confounding import log_difference
from gobetween.core.evidence.eprocess import PRODUCT, evidence, log_evalue
from gobetween.core.ground.tally import Tally
from gobetween.core.reward.mixtures import beta_mixture, gamma_mixture
from gobetween.core.verdict.evidence_report import arm_reports

CLOSE: list[tuple[gb.Family, list[float]]] = [
    (gb.Poisson(), [1e5, 99_850.0]),
    (gb.Poisson(), [1000.0, 998.5]),
    (gb.Bernoulli(), [0.5, 0.4999]),
    (gb.Exponential(), [1.0, 0.999]),
    (gb.Poisson(), [1e12, 1e12 * (1 - 1e-8)]),
    (gb.Gamma(50.0), [1.0, 0.999]),
    (gb.Gamma(0.02), [1e9, 0.9e9]),
    (gb.Binomial(1000), [500.0, 499.9]),
    (gb.Binomial(10**9), [10.0, 9.9]),
    (gb.Geometric(), [1.001, 1.0009]),
    (gb.Geometric(), [1e9, 0.99e9]),
    (gb.NegativeBinomial(0.5), [1e6, 0.99e6]),
    (gb.NegativeBinomial(1e6), [0.01, 0.0099]),
]


@pytest.mark.parametrize(("family", "means"), [case for case in CLOSE if here([case[0]])], ids=str)
def test_close_means_are_told_apart(family: gb.Family, means: list[float]) -> None:
    ours, paper = np.mean([answers_needed(family, means, 0.05, seed) for seed in range(10)], axis=0)
    assert ours <= 1.5 * paper


def test_no_small_problem_needs_much_more_than_the_papers_rule() -> None:
    """Some of what validity/scales.py draws; differences of a few answers are left to it."""
    for number in range(60):
        family, means, delta = small_problem(number)
        if not here([family]):
            continue
        ours, paper = np.mean([answers_needed(family, means, delta, 100 * number + seed) for seed in range(3)], axis=0)
        assert ours <= max(1.5 * paper, paper + 10.0), (number, family, means, delta, ours, paper)


WIDE: list[tuple[gb.Family, tuple[float, float]]] = [
    (gb.Gaussian(1.0), (0.3, 0.0)),
    (gb.Bernoulli(), (0.6, 0.47)),
    (gb.Poisson(), (1.3, 1.0)),
    (gb.Exponential(), (1.3, 1.0)),
    (gb.Gamma(3.0), (1.3, 1.0)),
    (gb.Binomial(5), (3.0, 2.4)),
    (gb.Geometric(), (2.3, 2.0)),
    (gb.NegativeBinomial(2.0), (1.3, 1.0)),
]


@pytest.mark.parametrize(("family", "means"), [case for case in WIDE if here([case[0]])], ids=str)
def test_what_is_lost_does_not_grow_with_the_evidence(family: gb.Family, means: tuple[float, float]) -> None:
    """Z − ln E = O(ln n): τ/(T* ln(1/δ)) → 1. Any grid of tilts alone loses a share of Z somewhere."""
    for n in (10**6, 10**8):
        counts, mu = np.array([n, n]), np.array(means)
        lost = evidence(family, mu[0], mu[1], float(n), float(n))[0] - log_evalue(
            family, Tally(counts, n * mu, mu), PRODUCT, 0, 1, -math.inf
        )
        assert 0.0 <= lost <= math.log(n) + 20.0


@pytest.mark.parametrize("mean", [1e5, 1e12, 1e20])
def test_large_counts_have_narrow_intervals_and_alarms(mean: float) -> None:
    n = 1000
    spread = math.sqrt(mean / n)
    sums = np.array([n * mean, n * (mean - 12.0 * spread)])
    tally = Tally(np.array([n, n]), sums, sums / n)
    (report,) = arm_reports(gb.Poisson(), ["a"], tally, 0.1, [0])
    assert 2.0 * spread < mean - report.low < 8.0 * spread
    assert 2.0 * spread < report.high - mean < 8.0 * spread
    assert log_evalue(gb.Poisson(), tally, PRODUCT, 0, 1, -math.inf) > 10.0
    assert log_difference(gb.Poisson(), tally.N_a, tally.S_a) > 10.0


@pytest.mark.parametrize(("ones", "zeros", "x"), [(0, 0, 0.3), (0, 7, 0.3), (3, 40, 0.9), (29.5, 31.25, 0.5), (4e5, 6e5, 0.41)])
def test_the_beta_mixture_is_what_it_is_said_to_be(ones: float, zeros: float, x: float) -> None:
    with mpmath.workdps(60):
        exact = mpmath.log(mpmath.beta(mpmath.mpf(ones) + 0.5, mpmath.mpf(zeros) + 0.5) / mpmath.pi)
        exact -= mpmath.mpf(ones) * mpmath.log(x) + mpmath.mpf(zeros) * mpmath.log(1 - mpmath.mpf(x))
    value, slope = beta_mixture(float(ones), float(zeros), x, 1.0 - x)
    assert value == pytest.approx(float(exact), rel=1e-10, abs=1e-12)
    assert slope == pytest.approx(zeros / (1 - x) - ones / x)


@pytest.mark.parametrize("edge", [0.0, 1.0])
def test_the_beta_mixture_is_finite_at_the_ends(edge: float) -> None:
    value, slope = beta_mixture(3.0, 4.0, edge, 1.0 - edge)
    assert value > 500.0
    assert math.isfinite(slope)
    assert beta_mixture(0.0, 4.0, 0.0, 1.0)[0] < 0.0  # nothing speaks against 0


@pytest.mark.parametrize(
    ("s", "expected"), [(0, 0.0), (5, 0.0), (0, 3.0), (3, 0.2), (31, 40.0), (1e6, 1.001e6), (1e16, 1.00000003e16)]
)
def test_the_gamma_mixture_is_what_it_is_said_to_be(s: float, expected: float) -> None:
    with mpmath.workdps(60):
        big, y = mpmath.mpf(s), mpmath.mpf(expected)
        exact = y + mpmath.loggamma(big + 1) - (big + 1) * mpmath.log(1 + y)
    value, slope = gamma_mixture(float(s), expected)
    assert value == pytest.approx(float(exact), rel=1e-7, abs=1e-9)
    assert slope == pytest.approx((expected - s) / (1.0 + expected))


@pytest.mark.compiled
@pytest.mark.parametrize(("means", "most"), [((0.05, 0.02), 1900), ((0.95, 0.9), 1500), ((0.55, 0.45), 1100)])
def test_bounded_rewards_cost_no_more_than_those_of_two_values(means: tuple[float, float], most: float) -> None:
    """By Hoeffding's lemma they took 19,389, 5,956 and 1,084 answers."""
    for family in (gb.Bounded(0.0, 1.0), gb.Bounded(-3.0, 7.0)):
        scaled = [family.low + (family.high - family.low) * mean for mean in means]
        assert np.mean([answers_needed(family, scaled, 0.05, seed)[0] for seed in range(100)]) <= most


@given(
    n=st.integers(1, 300),
    m=st.integers(1, 300),
    p=st.floats(0.0, 1.0),
    q=st.floats(0.0, 1.0),
    low=st.floats(-1e3, 1e3),
    width=st.floats(1e-3, 1e3),
)
@settings(max_examples=200, deadline=None)
def test_bounded_evidence_is_below_the_likelihood_ratio(n: int, m: int, p: float, q: float, low: float, width: float) -> None:
    """The engine does not look at ln E while Z is below the limit: ln E ≤ Z must hold for the divergence of the family."""
    family = gb.Bounded(low, low + width)
    mu = np.clip(low + width * np.array([max(p, q), min(p, q)]), family.low, family.high)
    assume(mu[0] > mu[1])
    counts = np.array([n, m])
    Z = evidence(family, mu[0], mu[1], float(n), float(m))[0]
    assert log_evalue(family, Tally(counts, counts * mu, mu), PRODUCT, 0, 1, -math.inf) <= Z + 1e-9 * (
        1.0 + abs(low) / width
    ) * (n + m)


@pytest.mark.parametrize("mean", [0.05, 0.4, 0.9])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_mixtures_of_bounded_rewards_do_not_grow_on_average(mean: float, side: float) -> None:
    """E[M_{n+1} | past] ≤ M_n at the true mean, whatever the law on [low, high]; equality when it pays low or high."""
    family, n, S = gb.Bounded(-1.0, 3.0), 10.0, 2.5
    x = -1.0 + 4.0 * mean
    now = math.exp(family.log_mixture(n, S, x, side)[0])
    for low, high in ((0.0, 1.0), (0.5 * mean, 0.5 + 0.5 * mean), (mean, mean)):
        chance = 0.5 if high == low else (mean - low) / (high - low)
        rewards = ((-1.0 + 4.0 * high, chance), (-1.0 + 4.0 * low, 1.0 - chance))
        then = sum(weight * math.exp(family.log_mixture(n + 1.0, S + reward, x, side)[0]) for reward, weight in rewards)
        assert then <= now * (1.0 + 1e-12)
        assert (high - low < 1.0) or then == pytest.approx(now, rel=1e-12)
