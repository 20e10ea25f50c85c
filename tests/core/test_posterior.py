"""Means that rewards leave possible."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from own_rules import Amount
from strategies import here

import gobetween as gb
from gobetween.core.evidence.means import possible_mean, possible_means
from gobetween.core.ground.tally import fill, new_tally

Draws = Callable[[np.random.Generator], Any]
FAMILIES: list[gb.Family] = [
    gb.Gaussian(2.0),
    gb.Bernoulli(),
    gb.Poisson(),
    gb.Exponential(),
    gb.Bounded(-1.0, 3.0),
    Amount(2.0),
]


@pytest.mark.parametrize("family", here(FAMILIES), ids=lambda family: family.name)
@pytest.mark.parametrize("r", [-2.5, -0.3, 0.3, 2.5])
def test_the_signed_root_of_the_likelihood_ratio_is_what_was_drawn(family: gb.Family, r: float) -> None:
    n, mu = 7.0, 0.4
    x = found(family, n, mu, r)
    assert family.has_mean(x)
    assert math.copysign(math.sqrt(2.0 * n * family.kl(mu, x)), x - mu) == pytest.approx(r, rel=1e-6)


def found(family: gb.Family, n: float, mu: float, r: float) -> float:
    return float(possible_mean(family, float(family.low), float(family.high), n, mu, r))


def test_gaussian_means_are_the_posterior_of_an_even_prior() -> None:
    assert found(gb.Gaussian(3.0), 9.0, -4.0, 1.7) == pytest.approx(-4.0 + 1.7)


@pytest.mark.parametrize("r", [-1.5, 1.5])
def test_from_an_end_there_is_one_side(r: float) -> None:
    assert found(gb.Poisson(), 5.0, 0.0, r) == pytest.approx(0.5 * r * r / 5.0)  # r²/2 is a draw of Gamma(½)
    assert found(gb.Bernoulli(), 5.0, 0.0, r) == pytest.approx(-math.expm1(-0.5 * r * r / 5.0))
    assert found(gb.Bernoulli(), 5.0, 1.0, r) == pytest.approx(math.exp(-0.5 * r * r / 5.0))


@pytest.mark.parametrize(
    ("family", "S", "posterior"),
    [
        (gb.Bernoulli(), 6.0, lambda rng: rng.beta(6.5, 14.5, 100_000)),
        (gb.Poisson(), 30.0, lambda rng: rng.gamma(30.5, 1.0 / 20.0, 100_000)),
        (gb.Exponential(), 30.0, lambda rng: 30.0 / rng.gamma(20.0, 1.0, 100_000)),
    ],
    ids=lambda value: value.name if isinstance(value, gb.Family) else "",
)
def test_others_are_close_to_the_posterior_of_jeffreys_prior(family: gb.Family, S: float, posterior: Draws) -> None:
    tally, means = fill(new_tally(1), np.array([20]), np.array([S])), np.empty(1)
    exact = posterior(np.random.default_rng(1))
    for r, q in ((-1.2816, 0.1), (0.0, 0.5), (1.2816, 0.9)):
        possible_means(family, float(family.low), float(family.high), tally, np.array([r]), means)
        assert abs(means[0] - np.quantile(exact, q)) < 0.15 * np.std(exact)
