"""The e-process: martingale at the truth, infimum over the whole null, never above the likelihood ratio."""

import math

import naive
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import here

import gobetween as gb
from gobetween.core.evidence.eprocess import PRODUCT, evidence, log_evalue
from gobetween.core.ground.tally import Tally

FAMILIES: list[gb.Family] = [
    gb.Gaussian(1.0),
    gb.Gaussian(3.0),
    gb.Bernoulli(),
    gb.Poisson(),
    gb.Exponential(),
    gb.Bounded(0.0, 2.0),
    gb.Gamma(2.5),
    gb.Binomial(4),
    gb.Geometric(),
    gb.NegativeBinomial(0.6),
]
EXACT = [family for family in FAMILIES if family.name not in ("gaussian", "bounded")]


def two_means(family: gb.Family) -> tuple[float, float]:
    return {"bernoulli": (0.8, 0.3), "geometric": (2.6, 1.5)}.get(family.name, (1.6, 0.5))


def tally(N: list[int], S: list[float]) -> Tally:
    counts, sums = np.array(N), np.array(S, dtype=float)
    return Tally(counts, sums, sums / counts)


def grid(family: gb.Family) -> np.ndarray:
    low, high = family.span()
    if math.isfinite(low) and math.isfinite(high):
        return np.linspace(low, high, 4001)
    if math.isfinite(low):
        return np.append(low, np.geomspace(1e-6, 1e4, 4000))
    return np.concatenate([-np.geomspace(1e-4, 1e4, 2000)[::-1], np.geomspace(1e-4, 1e4, 2000)])


def brute(family: gb.Family, t: Tally, a: int, b: int) -> float:
    """inf over {mean_b ≥ mean_a} on a wide grid of pairs, not only at common points."""
    order = 1.0 if family.coordinate(2.0) > family.coordinate(1.0) else -1.0
    x = np.sort(order * grid(family))  # by increasing mean, as the twin has them
    up = naive.log_M(family, float(t.N_a[a]), float(t.S_a[a]), x, 1)
    down = naive.log_M(family, float(t.N_a[b]), float(t.S_a[b]), x, -1)
    return float(np.min(np.minimum.accumulate(up) + down))


@pytest.mark.parametrize("family", here(FAMILIES), ids=repr)
@given(n=st.integers(1, 60), m=st.integers(1, 60), seed=st.integers(0, 10**6))
@settings(max_examples=12)
def test_the_infimum_is_over_the_whole_null(family: gb.Family, n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    top, low = two_means(family)
    t = tally([n, m], [sum(family.draw(mean, rng) for _ in range(k)) for mean, k in ((top, n), (low, m))])
    assume(t.mu_hat[0] > t.mu_hat[1])
    got, expected = log_evalue(family, t, PRODUCT, 0, 1, -math.inf), brute(family, t, 0, 1)
    assume(got > -math.inf)  # Hypothesis refuses a test of which no example gets here
    assert got <= expected + 1e-9
    assert got >= expected - 0.02 - 0.02 * abs(expected)  # the grid is coarse
    assert got <= evidence(family, t.mu_hat[0], t.mu_hat[1], float(n), float(m))[0] + 1e-9


def test_the_minimiser_may_lie_outside_the_estimates() -> None:
    """One sample of the leader against a thousand of the rival, and the reverse."""
    family, outside = gb.Gaussian(1.0), 0
    for N in ([1, 1000], [100_000, 5], [1000, 1]):
        t = tally(N, [3.0 * N[0], 0.0])
        x = np.linspace(-4.0, 7.0, 200_001)
        both = [
            family.log_mixture(float(N[0]), 3.0 * N[0], v, 1.0)[0] + family.log_mixture(float(N[1]), 0.0, v, -1.0)[0]
            for v in x[::100]
        ]
        near = x[::100][int(np.argmin(both))]
        fine = np.linspace(near - 0.01, near + 0.01, 4001)
        least = min(
            family.log_mixture(float(N[0]), 3.0 * N[0], v, 1.0)[0] + family.log_mixture(float(N[1]), 0.0, v, -1.0)[0]
            for v in fine
        )
        assert log_evalue(family, t, PRODUCT, 0, 1, -math.inf) == pytest.approx(least, abs=1e-3)
        outside += not 0.0 <= near <= 3.0
    assert outside > 0


@pytest.mark.parametrize("family", here(FAMILIES), ids=repr)
def test_the_decision_agrees_with_the_value(family: gb.Family) -> None:
    rng = np.random.default_rng(1)
    top, low = two_means(family)
    for _ in range(20):
        n, m = int(rng.integers(5, 80)), int(rng.integers(5, 80))
        t = tally([n, m], [sum(family.draw(mean, rng) for _ in range(k)) for mean, k in ((top, n), (low, m))])
        if t.mu_hat[0] <= t.mu_hat[1]:
            continue
        value = log_evalue(family, t, PRODUCT, 0, 1, -math.inf)
        for enough in (value - 0.5, value - 1e-6, value + 1e-6, value + 0.5):
            assert (log_evalue(family, t, PRODUCT, 0, 1, enough) >= enough) == (value >= enough)


def outcomes(family: gb.Family, mean: float) -> list[tuple[float, float]]:
    """Rewards with the logarithms of their probabilities (of small cells, for a density), far into the tail."""
    if family.name == "bernoulli":
        return [(0.0, math.log(1 - mean)), (1.0, math.log(mean))]
    if family.name == "poisson":
        return [(float(k), k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(7000)]
    if isinstance(family, gb.Binomial):
        n, p = int(family.n), mean / family.n
        return [(float(k), math.log(math.comb(n, k)) + k * math.log(p) + (n - k) * math.log(1 - p)) for k in range(n + 1)]
    if isinstance(family, (gb.Geometric, gb.NegativeBinomial)):
        least, r = (1, 1.0) if isinstance(family, gb.Geometric) else (0, family.r)
        p = r / (mean - least + r)
        cells = [(k, 1) for k in range(1000)] + [(k, 11) for k in range(1005, 40_000, 11)]  # of so many, by the middle one
        ways = [math.log(wide) + math.lgamma(k + r) - math.lgamma(r) - math.lgamma(k + 1) for k, wide in cells]
        return [
            (float(k + least), way + r * math.log(p) + k * math.log(1 - p)) for (k, _), way in zip(cells, ways, strict=True)
        ]
    shape = family.shape if isinstance(family, gb.Gamma) else 1.0
    y = np.geomspace(1e-9, 3e5, 6000)
    step = math.log(y[1] / y[0])
    return [(mean / shape * v, -v + shape * math.log(v) - math.lgamma(shape) + math.log(step)) for v in y]


@pytest.mark.parametrize("family", EXACT, ids=repr)
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_grid_mixtures_are_martingales_at_the_truth(family: gb.Family, side: float) -> None:
    """E[M_{n+1} | past] = M_n, by summation or quadrature."""
    mean = 0.3 if family.name == "bernoulli" else 1.7
    x = family.coordinate(mean)
    for n, S in ((0, 0.0), (10, 14.0 if family.name == "geometric" else 4.0)):
        now = math.exp(family.log_mixture(float(n), S, x, side)[0])
        then = sum(math.exp(log_p + family.log_mixture(float(n + 1), S + r, x, side)[0]) for r, log_p in outcomes(family, mean))
        assert then == pytest.approx(now, rel=1e-4)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("sigma", [1.0, 3.0])
def test_the_normal_mixture_is_a_martingale_at_the_truth(side: float, sigma: float) -> None:
    family = gb.Gaussian(sigma)
    x = np.linspace(-14, 14, 20001)
    density = np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    for n, S in ((2, 1.0), (10, -4.0), (200, 30.0)):
        now = math.exp(family.log_mixture(float(n), S, 0.0, side)[0])
        then = sum(
            p * math.exp(family.log_mixture(float(n + 1), S + sigma * r, 0.0, side)[0]) for r, p in zip(x, density, strict=True)
        )
        assert then == pytest.approx(now, rel=1e-6)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_slopes_are_derivatives(family: gb.Family) -> None:
    for side in (1.0, -1.0):
        for n, S, x in ((5, 3.0, 0.4), (40, 30.0, 0.7)):
            S += n if family.name == "geometric" else 0.0
            h = 1e-6
            rise = (family.log_mixture(n, S, x + h, side)[0] - family.log_mixture(n, S, x - h, side)[0]) / (2 * h)
            assert family.log_mixture(n, S, x, side)[1] == pytest.approx(rise, rel=1e-4, abs=1e-6)
