"""Mixtures of likelihood ratios: which tilts are tried, with which weights, and how sides are put together."""

import math

import numpy as np

from gobetween.core.jit import jit, leaf
from gobetween.core.types import Floats, Ints

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
    gap = side * (S - n * x) / (1.4142135623730951 * sigma)
    steep = -side * n / (1.4142135623730951 * sigma)
    top = gap * gap / (n + PRECISIONS[0])  # the largest z²: precisions grow
    rest = math.exp(-top)
    total, slope = 0.0, 0.0
    for j in range(PRECISIONS.shape[0]):
        per_root = 1.0 / math.sqrt(n + PRECISIONS[j])
        z = gap * per_root
        weight = PRECISION_ROOTS[j] * per_root
        sink = gap * gap * per_root * per_root * (PRECISIONS[j] - PRECISIONS[0]) / (n + PRECISIONS[0])  # top − z², never < 0
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
