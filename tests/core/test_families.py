import math
from typing import Any

import mpmath
import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gobetween as gb
from gobetween.core.ground.jit import jit
from gobetween.core.ground.registry import classes
from gobetween.core.reward.family import divergence, draw, variance

ALL = [
    gb.Gaussian(0.7),
    gb.Bernoulli(),
    gb.Poisson(),
    gb.Exponential(),
    gb.Bounded(-2.0, 3.0),
    gb.Gamma(2.5),
    gb.Binomial(12),
    gb.Geometric(),
    gb.NegativeBinomial(0.7),
]


def inside(family: gb.Family, u: float) -> float:
    """A mean of the family from a number in [0, 1]."""
    low = 0.0 if math.isinf(family.low) else family.low
    high = 50.0 if math.isinf(family.high) else family.high
    return low + u * (high - low)


@pytest.mark.parametrize("family", ALL, ids=lambda f: f.name)
@given(u=st.floats(1e-6, 1.0), v=st.floats(1e-6, 1.0), step=st.floats(1e-12, 1.0))
@settings(max_examples=200, deadline=None)
def test_divergence_matches_many_digits(family: gb.Family, u: float, v: float, step: float) -> None:
    mu, toward = inside(family, u), inside(family, v)
    rest = 1.0 - step
    step = 1.0 - rest  # an exact pair
    x = mpmath.mpf(rest) * mpmath.mpf(mu) + mpmath.mpf(step) * mpmath.mpf(toward)
    if x in (family.low, family.high):
        return
    expected = naive.kl(family, mu, x)
    got = family.divergence(mu, toward, step, rest)
    assert got == pytest.approx(float(expected), rel=2e-13, abs=1e-300)


@pytest.mark.parametrize("family", ALL, ids=lambda f: f.name)
def test_divergence_of_close_means_keeps_its_digits(family: gb.Family) -> None:
    mu = inside(family, 0.37)
    for gap in (1e-3, 1e-6, 1e-9, 1e-12):
        lam = mu + gap
        assert family.kl(mu, lam) == pytest.approx(float(naive.kl(family, mu, lam)), rel=1e-12)


def test_divergence_at_the_closed_boundary() -> None:
    bernoulli, poisson = gb.Bernoulli(), gb.Poisson()
    assert bernoulli.kl(0.0, 0.25) == pytest.approx(-math.log(0.75))
    assert bernoulli.kl(1.0, 0.25) == pytest.approx(math.log(4))
    assert bernoulli.kl(0.25, 0.0) == math.inf
    assert bernoulli.kl(0.25, 1.0) == math.inf
    assert bernoulli.kl(0.0, 0.0) == bernoulli.kl(1.0, 1.0) == 0.0
    assert bernoulli.kl(0.0, 1.0) == bernoulli.kl(1.0, 0.0) == math.inf
    assert poisson.kl(0.0, 3.0) == 3.0
    assert poisson.kl(3.0, 0.0) == math.inf
    assert poisson.kl(0.0, 0.0) == 0.0
    assert gb.Exponential().kl(1.0, 0.0) == math.inf
    assert gb.Gamma(2.0).kl(1.0, 0.0) == math.inf
    binomial, geometric, negative = gb.Binomial(3), gb.Geometric(), gb.NegativeBinomial(2.0)
    assert binomial.kl(0.0, 1.0) == pytest.approx(3 * math.log(1.5))
    assert binomial.kl(3.0, 1.0) == pytest.approx(3 * math.log(3))
    assert binomial.kl(1.0, 0.0) == binomial.kl(1.0, 3.0) == binomial.kl(0.0, 3.0) == math.inf
    assert geometric.kl(1.0, 4.0) == pytest.approx(math.log(4))  # of chances 1 and ¼
    assert geometric.kl(4.0, 1.0) == math.inf
    assert negative.kl(0.0, 3.0) == pytest.approx(2 * math.log(2.5))
    assert negative.kl(3.0, 0.0) == math.inf
    for family, end in ((binomial, 0.0), (binomial, 3.0), (geometric, 1.0), (negative, 0.0)):
        assert family.kl(end, end) == 0.0


@pytest.mark.parametrize("mean", [1e-6, 1.0, 1e6, 1e20])
@pytest.mark.parametrize("r", [1e-3, 1.0, 1e6])
def test_the_divergence_of_waits_keeps_its_digits_where_they_look_like_other_families(mean: float, r: float) -> None:
    """Failures are Poisson counts for r ≫ mean and gamma for r ≪ mean: as a difference of two entropies they would lose all."""
    family = gb.NegativeBinomial(r)
    for close in (0.5, 1e-3, 1e-9):
        lam = mean * (1.0 + close)
        assert family.kl(mean, lam) == pytest.approx(float(naive.kl(family, mean, lam)), rel=1e-12)
    if r == 1.0:
        geometric, trials = gb.Geometric(), 1.0 + mean
        assert geometric.kl(trials, 2 * trials) == pytest.approx(float(naive.kl(geometric, trials, 2 * trials)), rel=1e-12)


@pytest.mark.parametrize(("r", "mean"), [(1e6, 0.01), (0.6, 1e9), (1e-3, 50.0)])
def test_likelihood_ratios_of_waits_keep_their_digits(r: float, mean: float) -> None:
    family, n, S = gb.NegativeBinomial(r), 1000.0, 1000.0 * mean
    for chance in (family.coordinate(mean), family.coordinate(1.01 * mean)):
        for theta in (-0.5, 1e-3, 2.0):
            p, t = mpmath.mpf(chance), mpmath.mpf(theta)
            exact = t * S - (S + n * mpmath.mpf(r)) * mpmath.log(1 + (1 - p) * mpmath.expm1(t))
            assert family.tilt(n, S, chance, theta)[0] == pytest.approx(float(exact), rel=1e-10, abs=1e-9 * S * theta**2)


@pytest.mark.parametrize("family", ALL, ids=lambda f: f.name)
def test_a_coordinate_leads_back_to_its_mean(family: gb.Family) -> None:
    for u in (0.05, 0.4, 0.9):
        mean = inside(family, u)
        assert family.mean_at(family.coordinate(mean)) == pytest.approx(mean, rel=1e-12)
        low, high = family.span()
        assert low <= family.coordinate(mean) <= high


@pytest.mark.parametrize("family", ALL, ids=lambda f: f.name)
def test_variance_is_the_curvature_of_the_divergence(family: gb.Family) -> None:
    x = inside(family, 0.4)
    h = 1e-4 * (x - inside(family, 0.0))
    second = (family.kl(x - h, x) + family.kl(x + h, x)) / h**2  # d²/dμ² d(μ, x) = 1/V(x)
    assert 1.0 / second == pytest.approx(family.variance(x), rel=1e-5)


@pytest.mark.parametrize("family", ALL, ids=lambda f: f.name)
def test_draws_have_the_mean_and_variance_they_should(family: gb.Family) -> None:
    mean, n = inside(family, 0.3), 40_000
    rng = np.random.default_rng(7)
    x = np.array([family.draw(mean, rng) for _ in range(n)])
    variance_of_draws = family.variance(mean)
    z = (x.mean() - mean) / math.sqrt(variance_of_draws / n)
    assert abs(z) < 4.5  # a false alarm once in 150,000 seeds
    assert x.var() == pytest.approx(variance_of_draws, rel=0.1)
    assert all(family.accepts(float(v)) for v in x[:1000])


@jit
def _compiled(family: gb.Family, mu: float, lam: float, rng: np.random.Generator) -> tuple[float, float, float]:
    return divergence(family, mu, lam, 0.25, 0.75), variance(family, mu, lam, 0.25, 0.75), draw(family, mu, rng)


@pytest.mark.parametrize("family", ALL, ids=lambda f: f.name)
def test_compiled_and_plain_agree(family: gb.Family) -> None:
    mu, lam = inside(family, 0.3), inside(family, 0.8)
    got = _compiled(family, mu, lam, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    expected = (family.divergence(mu, lam, 0.25, 0.75), family.variance(0.75 * mu + 0.25 * lam), family.draw(mu, rng))
    assert got == pytest.approx(expected, rel=1e-14)
    assert got[2] == expected[2]


@pytest.mark.parametrize(
    ("family", "good", "bad"),
    [
        (gb.Gaussian(1.0), [0, -3.5, 1e9], [math.nan, math.inf, "x", None]),
        (gb.Bernoulli(), [0, 1, 1.0, True], [0.5, -1, 2, math.nan]),
        (gb.Poisson(), [0, 7, 3.0], [-1, 0.5, math.inf, math.nan]),
        (gb.Exponential(), [1e-9, 5], [0, -1, math.inf, math.nan]),
        (gb.Bounded(-2, 3), [-2, 0, 3], [-2.01, 3.5, math.nan]),
        (gb.Gamma(2.0), [1e-9, 5], [0, -1, math.inf, math.nan]),
        (gb.Binomial(3), [0, 2, 3.0], [-1, 0.5, 4, math.nan]),
        (gb.Geometric(), [1, 7], [0, 1.5, math.inf, math.nan]),
        (gb.NegativeBinomial(0.5), [0, 7], [-1, 0.5, math.inf, math.nan]),
    ],
    ids=lambda v: getattr(v, "name", None),
)
def test_rewards_are_checked(family: gb.Family, good: list[object], bad: list[object]) -> None:
    for reward in good:
        assert family.check_reward(reward) == float(reward)  # type: ignore[arg-type]
    for reward in bad:
        with pytest.raises(gb.ProblemError, match=f"a {family.name} reward is"):
            family.check_reward(reward)  # type: ignore[arg-type]


@pytest.mark.parametrize("sigma", [0, -1, math.nan, math.inf, "1", True])
def test_bad_sigma(sigma: object) -> None:
    with pytest.raises(gb.ProblemError, match="sigma of a Gaussian family must be a positive number"):
        gb.Gaussian(sigma)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "bad", "sentence"),
    [
        (
            gb.Gamma,
            [0, -1.0, math.nan, math.inf, "2", True, 1e10],
            "shape of a Gamma family must be a number from 0.001 to 1e9",
        ),
        (
            gb.Binomial,
            [0, 2.5, math.nan, math.inf, "2", True, 10**400],
            "n of a Binomial family must be a whole number from 1 to 1e9",
        ),
        (gb.NegativeBinomial, [0, -1.0, math.nan, math.inf, "2"], "r of a NegativeBinomial family must be a number from 0.001"),
    ],
)
def test_bad_parameters(make: Any, bad: list[object], sentence: str) -> None:
    for value in bad:
        with pytest.raises(gb.ProblemError, match=sentence):
            make(value)
    with pytest.raises(gb.ProblemError, match=f"write gb.{make.__name__}"):
        make()


def test_bad_bounds() -> None:
    with pytest.raises(gb.ProblemError, match="a Bounded family needs finite low < high"):
        gb.Bounded(1.0, 1.0)


def test_the_registry_knows_every_family() -> None:
    ours = {name for name, kind in classes("family").items() if kind.__module__.startswith("gobetween.")}
    assert ours == {
        *("bernoulli", "bounded", "exponential", "gaussian", "poisson"),
        *("gamma", "binomial", "geometric", "negative-binomial"),
    }


def test_families_are_equal_only_to_their_own_kind() -> None:
    families: list[gb.Family] = [gb.Bernoulli(), gb.Poisson(), gb.Exponential(), gb.Gaussian(1.0), gb.Gaussian(2.0)]
    families += [gb.Gamma(2.0), gb.Binomial(2), gb.Geometric(), gb.NegativeBinomial(2.0)]
    for i, one in enumerate(families):
        assert [one == other for other in families] == [i == j for j in range(len(families))]
        assert [one != other for other in families] == [i != j for j in range(len(families))]
    assert len({*families, gb.Poisson(), gb.Gaussian(2.0)}) == len(families)
    assert gb.Poisson() != ()
