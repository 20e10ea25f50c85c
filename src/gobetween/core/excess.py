"""Rewards that vary more than their family says: sums that add up and can be taken back, and evidence.

The alternative to a family's law p_μ is q_μ ∝ g(x) e^(λx) p_μ, with ln g convex and λ such that its mean is μ too. Then q_μ is
above p_μ at both ends and below it between, hence varies more. The likelihood ratio of all rewards, as a function of μ, has the
slope n(x̄ − μ)(1/Var q_μ − 1/Var p_μ), and is least at μ = x̄, whatever g is: ln E_g = Σ ln g(x) − n h_g(x̄) is known without μ.

    Poisson              q a negative binomial of shape r                    ln g = l_r(x) = Σ_{j<x} ln(1 + j/r)
    NegativeBinomial(r)  one of a smaller shape r' (Geometric: x − 1, r = 1) ln g = l_r'(x) − l_r(x)
    Gamma(k)             one of a smaller shape k' (Exponential: k = 1)      ln g = −(k − k') ln x
    Binomial(m)          a beta-binomial, tilted                             ln g = l_s(x) + l_s(m − x)

The sums [2 + R, K] hold for each arm how much was ever added to or taken from them (which bounds their rounding), Σx, and
Σ ln g(x) for each of R alternatives.
"""

import math
from functools import cache

import numpy as np

from gobetween.core.families import Exponential, Gamma, Poisson
from gobetween.core.family import Family
from gobetween.core.trials import Binomial, Geometric, NegativeBinomial
from gobetween.core.types import Floats, Ints

SHAPES = np.array([4.0**k for k in range(-4, 17)])
"""[R] the r that are tried for Poisson counts: a mean of 1e9 with twice its variance has 1e9, one of 0.01 has 0.01."""
ROWS = 2 + len(SHAPES)
RATIOS = np.array([2.0 ** (0.5 * j) for j in range(1, 17)])
"""[R] by what a declared shape is divided."""
MOST_TRIALS = 1000
"""Of a binomial family whose spread is watched."""
TABLED = 1024
ROUNDING = 1e-12
POISSON = Poisson()


def watches(family: Family) -> bool:
    """Does the family say how much rewards vary around a mean, and is that watched here?"""
    if isinstance(family, Binomial):
        return 2 <= family.n <= MOST_TRIALS
    return isinstance(family, (Poisson, NegativeBinomial, Geometric, Gamma, Exponential))


def rows_of(family: Family) -> int:
    """How many sums are kept of an arm."""
    return 2 + len(alternatives(family)) if watches(family) else 0


def alternatives(family: Family) -> Floats:
    """[R] the shapes (r, r', k', s) that are tried, with even weights."""
    if isinstance(family, Poisson):
        return SHAPES
    if isinstance(family, Binomial):
        return np.array([2.0**k for k in range(-4, 3 + math.ceil(math.log2(family.n)))])
    return declared_shape(family) / RATIOS


def declared_shape(family: Family) -> float:
    """The r or k that a family says."""
    if isinstance(family, NegativeBinomial):
        return family.r
    return family.shape if isinstance(family, Gamma) else 1.0


def log_g(family: Family, x: Floats) -> Floats:
    """[R, n] ln g(x) of rewards x [n]."""
    shapes = alternatives(family)
    if isinstance(family, Poisson):
        return excesses(x)
    if isinstance(family, Binomial):
        return _rises(x, tuple(shapes)) + _rises(family.n - x, tuple(shapes))
    r = declared_shape(family)
    if isinstance(family, (Gamma, Exponential)):
        return np.outer(shapes - r, np.log(x))
    y = x - 1.0 if isinstance(family, Geometric) else x
    return _rises(y, tuple(shapes)) - _rises(y, (r,))


def least(family: Family, mean: Floats) -> Floats:
    """[R, K] h_g(x̄): what an answer costs at the means [K] where the likelihood ratio is least."""
    shapes = alternatives(family)
    r, declared = shapes[:, None], declared_shape(family)
    if isinstance(family, Binomial):
        return np.array([_tilted(family.n, s, mean) for s in shapes.tolist()])
    if isinstance(family, (Gamma, Exponential)):
        own = np.array([_gamma_constant(k) for k in shapes.tolist()]) - _gamma_constant(declared)
        return -own[:, None] - (declared - r) * (1.0 + np.log(np.maximum(mean, 1e-300)))
    if isinstance(family, Poisson):
        return np.asarray((r + mean) * np.log1p(mean / r) - mean)
    y = np.maximum(0.0, mean - 1.0) if isinstance(family, Geometric) else mean
    return np.asarray((r + y) * np.log1p(y / r) - (declared + y) * np.log1p(y / declared))


def _gamma_constant(k: float) -> float:
    """Of the density of a gamma law with mean 1: k ln k − ln Γ(k)."""
    return k * math.log(k) - math.lgamma(k)


def _tilted(m: float, s: float, mean: Floats) -> Floats:
    """[K] h of binomial counts: ln Z(λ) − λx̄ + x̄ ln(x̄/m) + (m − x̄) ln(1 − x̄/m), with Z(λ) = Σ C(m, x) g(x) e^(λx).

    It is least at the λ whose mean is x̄; at another it is larger, so that evidence is never overstated: one step from a table
    will do.
    """
    log_weights, places, table = _table_of_tilts(m, s)
    x = np.arange(m + 1.0)
    tilt = np.interp(mean, table, places)
    for step in range(2):
        exponents = log_weights + np.multiply.outer(tilt, x)
        top = exponents.max(axis=1)
        weights = np.exp(exponents - top[:, None])
        total = weights.sum(axis=1)
        centre = weights @ x / total
        if step == 0:
            variance = np.maximum(weights @ (x * x) / total - centre**2, 1e-3)
            tilt = np.clip(tilt + np.clip((mean - centre) / variance, -0.1, 0.1), places[0], places[-1])
    p = np.clip(mean / m, 0.0, 1.0)
    own = mean * np.log(np.maximum(p, 1e-300)) + (m - mean) * np.log(np.maximum(1.0 - p, 1e-300))
    return np.asarray(top + np.log(total) - tilt * mean + own)


@cache
def _table_of_tilts(m: float, s: float) -> tuple[Floats, Floats, Floats]:
    """Ln C(m, x) g(x), and tilts λ with the means that they have."""
    x = np.arange(m + 1.0)
    choices = math.lgamma(m + 1.0) - np.array([math.lgamma(k + 1.0) + math.lgamma(m - k + 1.0) for k in x.tolist()])
    log_weights = choices + (_rises(x, (s,)) + _rises(m - x, (s,)))[0]
    places = np.linspace(-40.0, 40.0, 801)
    exponents = log_weights + np.multiply.outer(places, x)
    weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    return log_weights, places, weights @ x / weights.sum(axis=1)


def excesses(x: Floats) -> Floats:
    """[R, n] l_r(x) of counts x [n], for the shapes of Poisson counts."""
    return _rises(x, tuple(SHAPES))


def _rises(x: Floats, shapes: tuple[float, ...]) -> Floats:
    """[R, n] l_r(x) of counts x [n]."""
    r = np.array(shapes)[:, None]
    found = _table(shapes)[:, np.minimum(x, TABLED - 1).astype(np.int64)]
    large = x >= TABLED
    if large.any():
        y = x[large]
        found[:, large] = (y + r) * np.log1p(y / r) - y + _rest(y + r) - _rests(shapes)[:, None]
    return found


@cache
def _table(shapes: tuple[float, ...]) -> Floats:
    """[R, TABLED] l_r of small counts."""
    steps = np.log1p(np.arange(TABLED - 1) / np.array(shapes)[:, None])
    return np.concatenate([np.zeros((len(shapes), 1)), np.cumsum(steps, axis=1)], axis=1)


def _rest(y: Floats) -> Floats:
    """Ln Γ(y) − y ln y + y, for large y."""
    return np.asarray(0.5 * np.log(2.0 * np.pi / y) + (1.0 - 1.0 / (30.0 * y * y)) / (12.0 * y))


@cache
def _rests(shapes: tuple[float, ...]) -> Floats:
    """[R] the same of every r."""
    small = [math.lgamma(r) - r * math.log(r) + r if r < TABLED else float(_rest(np.array(r))) for r in shapes]
    return np.array(small)


def add_counts(sums: Floats, arms: Ints, x: Floats, family: Family = POISSON) -> None:
    """Add rewards x of arms to the sums [2 + R, K]."""
    K = sums.shape[1]
    whole = not isinstance(family, (Gamma, Exponential))
    a, values, times = _distinct(arms, x, K) if whole else (arms, x, np.ones(len(x)))
    once, places = np.unique(values, return_inverse=True)
    each = log_g(family, once)[:, places]
    sums[0] += np.bincount(a, times * _sizes(family, values, each), K)
    sums[1] += np.bincount(a, times * values, K)
    for row, part in zip(sums[2:], each, strict=True):
        row += np.bincount(a, times * part, K)


def add_count(sums: Floats, a: int, x: float, step: int = 1, family: Family = POISSON) -> None:
    """Add one reward or, with step −1, take it out again."""
    each = log_g(family, np.array([x]))[:, 0]
    sums[0, a] += float(_sizes(family, np.array([x]), each[:, None])[0])
    sums[1, a] += step * x
    sums[2:, a] += step * each


def _sizes(family: Family, x: Floats, each: Floats) -> Floats:
    """[n] how large what is added up is, from ln g(x) [R, n]; rewards of gamma families have no unit."""
    return np.asarray(np.abs(each).max(axis=0) + (1.0 if isinstance(family, (Gamma, Exponential)) else x))


def _distinct(arms: Ints, x: Floats, K: int) -> tuple[Ints, Floats, Floats]:
    """Pairs of arm and count, and how often each occurs, where that is soon counted; else all as they are."""
    width = float(x.max(initial=0.0)) + 1.0
    if K * width > max(len(x), 2**16):
        return arms, x, np.ones(len(x))
    found = np.bincount(arms * int(width) + x.astype(np.int64))
    pairs = np.flatnonzero(found)
    return pairs // int(width), (pairs % int(width)).astype(np.float64), found[pairs].astype(np.float64)


def log_excess_evidence(N_a: Ints, sums: Floats, family: Family = POISSON) -> float:
    """Ln E against "every arm pays as the family says", from counts [K] and sums [2 + R, K]; from below, with all rounding."""
    return float(log_mixed(excess_values(N_a, sums, family)))


def excess_values(N_a: Ints, sums: Floats, family: Family) -> Floats:
    """[R, K] ln E_g of each alternative and arm."""
    n = np.maximum(1, N_a)
    values = sums[2:] - n * least(family, np.maximum(0.0, sums[1]) / n) - ROUNDING * sums[0]
    return np.where(N_a > 0, values, 0.0)


def log_mixed(values: Floats) -> Floats:
    """Ln E from ln E_g of each alternative and arm [.., R, K]: half of it is the product over all arms, half the mean over
    single arms, both mixed evenly over alternatives.
    """
    R, K = values.shape[-2:]
    together, alone = values.sum(axis=-1), values.reshape(*values.shape[:-2], R * K) - math.log(K)
    return np.asarray(np.logaddexp.reduce(np.concatenate([together, alone], axis=-1), axis=-1) - math.log(2.0 * R))
