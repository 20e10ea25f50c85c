"""Laws that vary more than a family says: the alternatives that rewards are held against.

The alternative to a family's law p_μ is q_μ ∝ g(x) e^(λx) p_μ, with ln g convex and λ such that its mean is μ too. Then q_μ is
above p_μ at both ends and below it between, hence varies more. The likelihood ratio of all rewards, as a function of μ, has the
slope n(x̄ − μ)(1/Var q_μ − 1/Var p_μ), and is least at μ = x̄, whatever g is: ln E_g = Σ ln g(x) − n h_g(x̄) is known without μ.

    Poisson              q a negative binomial of shape r                    ln g = l_r(x) = Σ_{j<x} ln(1 + j/r)
    NegativeBinomial(r)  one of a smaller shape r' (Geometric: x − 1, r = 1) ln g = l_r'(x) − l_r(x)
    Gamma(k)             one of a smaller shape k' (Exponential: k = 1)      ln g = −(k − k') ln x
    Binomial(m)          a beta-binomial, tilted                             ln g = l_s(x) + l_s(m − x)
"""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from gobetween.core.ground.jit import Floats

SHAPES = tuple(4.0**k for k in range(-4, 17))
"""The r that are tried for Poisson counts: a mean of 1e9 with twice its variance has 1e9, one of 0.01 has 0.01."""
RATIOS = tuple(2.0 ** (0.5 * j) for j in range(1, 17))  # by what a declared shape is divided
MOST_TRIALS = 1000  # of a binomial family whose spread is watched
TABLED = 1024


class Overdispersion(NamedTuple):
    """The R alternatives to a family, which are tried with even weights."""

    shapes: tuple[float, ...]  # r, r', k' or s
    log_g: Callable[[Floats], Floats]  # [R, n] ln g(x) of rewards x [n]
    least: Callable[[Floats], Floats]  # [R, K] h_g(x̄): what a reward costs at the means [K] where the ratio is least
    whole: bool = True  # are rewards whole numbers? Others have no unit


@cache
def count_excess() -> Overdispersion:
    """Against Poisson counts."""
    r = np.array(SHAPES)[:, None]

    def least(mean: Floats) -> Floats:
        return np.asarray((r + mean) * np.log1p(mean / r) - mean)

    return Overdispersion(SHAPES, lambda x: rises(x, SHAPES), least)


@cache
def failure_excess(declared: float, first: float) -> Overdispersion:
    """Against failures before the r-th success, r as declared, counted from `first`."""
    shapes = tuple(declared / ratio for ratio in RATIOS)
    r = np.array(shapes)[:, None]

    def least(mean: Floats) -> Floats:
        y = np.maximum(0.0, mean - first)
        return np.asarray((r + y) * np.log1p(y / r) - (declared + y) * np.log1p(y / declared))

    return Overdispersion(shapes, lambda x: rises(x - first, shapes) - rises(x - first, (declared,)), least)


@cache
def gamma_excess(declared: float) -> Overdispersion:
    """Against gamma rewards of the shape k that is declared."""
    shapes = tuple(declared / ratio for ratio in RATIOS)
    less = declared - np.array(shapes)
    own = np.array([_gamma_constant(k) for k in shapes]) - _gamma_constant(declared)

    def least(mean: Floats) -> Floats:
        return np.asarray(-own[:, None] - less[:, None] * (1.0 + np.log(np.maximum(mean, 1e-300))))

    return Overdispersion(shapes, lambda x: np.outer(-less, np.log(x)), least, whole=False)


@cache
def trial_excess(m: float) -> Overdispersion | None:
    """Against how many of m trials succeed, where that can vary and a table is not too large."""
    if not 2 <= m <= MOST_TRIALS:
        return None
    shapes = tuple(2.0**k for k in range(-4, 3 + math.ceil(math.log2(m))))
    return Overdispersion(
        shapes, lambda x: rises(x, shapes) + rises(m - x, shapes), lambda mean: np.array([_tilted(m, s, mean) for s in shapes])
    )


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
    log_weights = choices + (rises(x, (s,)) + rises(m - x, (s,)))[0]
    places = np.linspace(-40.0, 40.0, 801)
    exponents = log_weights + np.multiply.outer(places, x)
    weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    return log_weights, places, weights @ x / weights.sum(axis=1)


def rises(x: Floats, shapes: tuple[float, ...]) -> Floats:
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
