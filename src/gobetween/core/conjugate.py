"""Divergences to full precision, and mixtures of likelihood ratios under a conjugate prior, in closed form.

A conjugate mixture loses ½ ln n to the largest likelihood ratio, at any mean: it makes stopping rules exact in the limit of
small δ, which no grid of tilts does. Every term is of the size of the result: sums of 1e20 lose nothing but their own digits.
"""

import math

from gobetween.core.jit import jit, leaf

#: Closer to an end of [0, 1] the beta mixture is not looked at: it is finite there, and below the true one.
EDGE = 1e-150


@jit
def gap_of_log(u: float, whole: float) -> float:
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
def entropy_gap(p: float, x: float, shift: float) -> float:
    """P ln(p/x) + x − p, continuous at p = 0, given the shift x − p: the divergence of two Poisson means."""
    if p <= 0.0:
        return shift if x > 0.0 else 0.0
    return p * gap_of_log(shift / p, x / p) if shift < 1e300 * p else shift


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
    largest = entropy_gap(ones, n * x, shift) + entropy_gap(zeros, n * rest, -shift)
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
    return entropy_gap(s, expected, expected - s) + _stirling(s) - loss, slope
