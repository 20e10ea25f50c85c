"""Mixtures of likelihood ratios: which tilts are tried, with which weights, and how sides are put together.

Divergences to full precision, and mixtures of likelihood ratios under a conjugate prior, in closed form.

A conjugate mixture loses ½ ln n to the largest likelihood ratio, at any mean: it makes stopping rules exact in the limit of
small δ, which no grid of tilts does. Every term is of the size of the result: sums of 1e20 lose nothing but their own digits.
"""

import math

import numpy as np

from gobetween.core.ground.jit import Floats, Ints, jit, leaf

#: Share of a mixture's weight on the useful side; the rest costs 0.01 nat and helps when counts are very unequal.
USEFUL = 0.99
#: Prior precisions of the normal mixture (as numbers of pseudo-observations) and their weights.
PRECISIONS = np.array([0.25, 1.0, 4.0, 16.0, 64.0])
PRECISION_ROOTS = np.array([1.0, 2.0, 4.0, 4.0, 1.0]) / 12.0 * np.sqrt(PRECISIONS)  # weight · √c
#: Weight of the conjugate mixture beside the grid of tilts, where a family has one.
CONJUGATE = 0.01
#: Weight of tilts below 2⁻⁹ on the useful side: 1% of weight costs about 0.01 nat for each arm, ½% of all queries at δ = 0.1.
TINY = 0.03


def _grid() -> tuple[Floats, Floats]:
    """Tilts in units of the natural parameter (negative: the other side), and the logarithms of their weights.

    Steps of √2 from 2⁻⁹ to 2³, of 2 down to 2⁻²⁴, of 4 down to 2⁻⁴⁰, so that rules stop however close means are; weights fall
    like 1/ln²θ from ¼ on, and follow the steps. The other side has steps of 2, and no tiny tilts.
    """

    def shares(powers: Floats, steps: Floats) -> Floats:
        parts = steps / (1.0 + (powers + 2.0) ** 2 / 4.0)
        return np.asarray(parts / parts.sum())

    middle, other = np.arange(-9.0, 3.01, 0.5), np.arange(-9.0, 3.01)
    tiny = np.concatenate([np.arange(-24.0, -9.0), np.arange(-40.0, -25.0, 2.0)])
    weights = [
        USEFUL * (1.0 - TINY) * shares(middle, np.ones_like(middle)),
        USEFUL * TINY * shares(tiny, np.where(tiny < -24.0, 2.0, 1.0)),
        (1.0 - USEFUL) * shares(other, np.ones_like(other)),
    ]
    return np.concatenate([2.0**middle, 2.0**tiny, -(2.0**other)]), np.log(np.concatenate(weights))


TILTS, LOG_WEIGHTS = _grid()


@jit
def normal_mixture(n: float, S: float, x: float, side: float, sigma: float) -> tuple[float, float]:
    """The pair ln M, slope for normal rewards: tilts θ ~ N(0, 1/(cσ²)) cut in two halves, mixed over the grid of c.

    M_c = (1 + n/c)^(−1/2) e^(z²) (1 + (2·USEFUL − 1) erf z),  z = side · (S − n x)/(σ √(2(n + c))).
    """
    lean = 2.0 * USEFUL - 1.0
    deviation = side * (S - n * x) / (1.4142135623730951 * sigma)
    steep = -side * n / (1.4142135623730951 * sigma)
    top = deviation * deviation / (n + PRECISIONS[0])  # the largest z²: precisions grow
    rest = math.exp(-top)
    total, slope = 0.0, 0.0
    for j in range(PRECISIONS.shape[0]):
        per_root = 1.0 / math.sqrt(n + PRECISIONS[j])
        z = deviation * per_root
        weight = PRECISION_ROOTS[j] * per_root
        sink = (
            deviation * deviation * per_root * per_root * (PRECISIONS[j] - PRECISIONS[0]) / (n + PRECISIONS[0])
        )  # top − z², never < 0
        share = weight * (1.0 + lean * math.erf(z)) * math.exp(-sink)
        total += share
        slope += steep * per_root * (2.0 * z * share + 1.1283791670955126 * lean * weight * rest)  # 2/√π
    return top + math.log(total), slope / total


@leaf
def even_mixture(up: float, up_slope: float, down: float, down_slope: float) -> tuple[float, float]:
    """The pair ln((e^up + e^down)/2), slope."""
    top = max(up, down)
    a, b = math.exp(up - top), math.exp(down - top)
    return top + math.log(0.5 * (a + b)), (a * up_slope + b * down_slope) / (a + b)


@leaf
def with_conjugate(value: float, slope: float, smooth: float, smooth_slope: float) -> tuple[float, float]:
    """The pair ln M, slope of a mixture over tilts with CONJUGATE of its weight moved to a conjugate one."""
    value, smooth = value + math.log1p(-CONJUGATE), smooth + math.log(CONJUGATE)
    top = max(value, smooth)
    a, b = math.exp(value - top), math.exp(smooth - top)
    return top + math.log(a + b), (a * slope + b * smooth_slope) / (a + b)


def log_gamma(x: Floats) -> Floats:
    """Ln Γ of each."""
    return np.array([math.lgamma(value) for value in x.tolist()])


def log_kt(counts: Floats) -> Floats:
    """Ln of the Krichevsky–Trofimov probability of a sequence with these counts, along the last axis."""
    C = counts.shape[-1]
    parts = log_gamma((counts + 0.5).ravel()).reshape(counts.shape).sum(axis=-1) - C * math.lgamma(0.5)
    whole = counts.sum(axis=-1) + C / 2
    return np.asarray(parts + math.lgamma(C / 2) - log_gamma(whole.ravel()).reshape(whole.shape))


def log_likelihood(counts: Ints) -> Floats:
    """The largest log-likelihood of a sequence with these counts, along the last axis."""
    total = np.maximum(1, counts.sum(axis=-1, keepdims=True))
    return np.asarray((counts * np.log(np.maximum(counts, 1) / total)).sum(axis=-1))


#: Closer to an end of [0, 1] the beta mixture is not looked at: it is finite there, and below the true one.
EDGE = 1e-150


@jit
def log_divergence(u: float, whole: float) -> float:
    """φ(u) = u − ln(1+u) ≥ 0 to full relative precision, given u and 1 + u; ∞ for u ≤ −1."""
    if not whole > 0.0:
        return math.inf
    if abs(u) > 0.4:
        return u - math.log(whole)
    # ln(1+u) = 2 artanh(r) with r = u/(2+u), and u − 2r = u·r
    r = u / (2.0 + u)
    square = r * r
    term, total, k = r * square, 0.0, 3.0
    while abs(term) > 1e-18 * abs(u * r):
        total += term / k
        term *= square
        k += 2.0
    return u * r - 2.0 * total


@jit
def entropy_divergence(p: float, x: float, shift: float) -> float:
    """P ln(p/x) + x − p, continuous at p = 0, given the shift x − p: the divergence of two Poisson means."""
    if p <= 0.0:
        return shift if x > 0.0 else 0.0
    return p * log_divergence(shift / p, x / p) if shift < 1e300 * p else shift


@leaf
def _stirling(s: float) -> float:
    """Ln Γ(s + 1) − s ln s + s, s ≥ 0."""
    if s < 30.0:
        return math.lgamma(s + 1.0) - (s * math.log(s) if s > 0.0 else 0.0) + s
    return 0.5 * math.log(6.283185307179586 * s) + (1.0 - 1.0 / (30.0 * s * s)) / (12.0 * s)


@leaf
def _half_stirling(s: float) -> float:
    """Ln Γ(s + ½) − s ln s + s, s ≥ 0."""
    if s < 30.0:
        return math.lgamma(s + 0.5) - (s * math.log(s) if s > 0.0 else 0.0) + s
    return 0.9189385332046727 - (1.0 - 7.0 / (120.0 * s * s)) / (24.0 * s)  # ½ ln 2π


@leaf
def beta_mixture(ones: float, zeros: float, x: float, rest: float) -> tuple[float, float]:
    """The pair ln M, slope in x, for rewards 0 and 1 against the mean x, rest = 1 − x: alternatives have a Beta(½, ½) prior.

    M = B(ones + ½, zeros + ½)/(π x^ones (1 − x)^zeros); ones and zeros need not be whole numbers.
    """
    n = ones + zeros
    x, rest = max(x, EDGE), max(rest, EDGE)
    shift = zeros * x - ones * rest
    largest = entropy_divergence(ones, n * x, shift) + entropy_divergence(zeros, n * rest, -shift)
    prior = _half_stirling(ones) + _half_stirling(zeros) - _stirling(n) - 1.1447298858494002  # ln π
    return largest + prior, zeros / rest - ones / x


@leaf
def gamma_mixture(s: float, expected: float) -> tuple[float, float]:
    """The pair ln M, slope in `expected`, for a Poisson count s where `expected` are expected times a factor u: prior e^(−u).

    M = e^expected s!/(1 + expected)^(s + 1). Waiting times: the count is n, expected is the sum of the times over the mean.
    """
    slope = (expected - s) / (expected + 1.0)
    if expected < 1.0:
        return expected - (s + 1.0) * math.log1p(expected) + math.lgamma(s + 1.0), slope
    loss = s * math.log1p(1.0 / expected) + math.log1p(expected)
    return entropy_divergence(s, expected, expected - s) + _stirling(s) - loss, slope


# Alternatives under a prior of one's own: what a guess predicted, over the likelihood.


@leaf
def normal_informed(n: float, S: float, x: float, sigma: float, mean: float, spread: float) -> tuple[float, float]:
    """The pair ln I, slope for normal rewards against the mean x: alternatives are N(mean, spread²)."""
    own, average = sigma * sigma, S / n
    off = average - mean
    prior = -0.5 * math.log1p(n * spread * spread / own) - 0.5 * off * off / (spread * spread + own / n)
    return prior + 0.5 * n * (average - x) * (average - x) / own, n * (x - average) / own


@leaf
def _stirling_rest(z: float) -> float:
    """Ln Γ(z) − (z − ½) ln z + z."""
    if z < 30.0:
        return math.lgamma(z) - (z - 0.5) * math.log(z) + z
    return 0.9189385332046727 + (1.0 - 1.0 / (30.0 * z * z)) / (12.0 * z)


@leaf
def _rising(s: float, alpha: float) -> float:
    """Ln(Γ(α + s)/Γ(α)) − s ln s + s."""
    if not s > 0.0:
        return 0.0
    rest = _stirling_rest(alpha + s) - _stirling_rest(alpha)
    return rest + (alpha - 0.5) * math.log1p(s / alpha) + s * math.log1p(alpha / s)


@leaf
def beta_informed(ones: float, zeros: float, x: float, rest: float, alpha: float, beta: float) -> tuple[float, float]:
    """The pair ln I, slope in x, as `beta_mixture`: alternatives have a Beta(α, β) prior.

    I = B(α + ones, β + zeros)/(B(α, β) x^ones (1 − x)^zeros).
    """
    n = ones + zeros
    x, rest = max(x, EDGE), max(rest, EDGE)
    shift = zeros * x - ones * rest
    largest = entropy_divergence(ones, n * x, shift) + entropy_divergence(zeros, n * rest, -shift)
    return largest + _rising(ones, alpha) + _rising(zeros, beta) - _rising(n, alpha + beta), zeros / rest - ones / x


@leaf
def gamma_informed(s: float, expected: float, alpha: float, rate: float) -> tuple[float, float]:
    """The pair ln I, slope in `expected`, as `gamma_mixture`: alternatives expect Gamma(α, rate) instead.

    I = rate^α Γ(α + s)/(Γ(α) (rate + 1)^(α + s)) · e^expected/expected^s.
    """
    expected = max(expected, EDGE)
    prior = _rising(s, alpha) - alpha * math.log1p(1.0 / rate) - s * math.log1p(rate)
    return entropy_divergence(s, expected, expected - s) + prior, (expected - s) / expected


def beta_prior(chance: float, spread: float) -> tuple[float, float]:
    """α, β of a Beta law with about this mean and standard deviation."""
    size = max(chance * (1.0 - chance) / (spread * spread) - 1.0, 0.2)
    return chance * size, (1.0 - chance) * size


def gamma_prior(mean: float, spread: float) -> tuple[float, float]:
    """Shape and rate of a Gamma law with this mean and standard deviation."""
    return (mean / spread) ** 2, mean / spread / spread
