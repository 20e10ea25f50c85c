"""Long runs in large steps: sums of thousands of rewards are drawn at once, and rules look at 2% more answers each time."""

import math
from typing import Any

import numpy as np

import gobetween as gb
from gobetween.core.evidence.rank_evidence import least_evidence
from gobetween.core.ground.tally import Tally
from gobetween.core.stopping.stopper import glr

STEP = 1.02


def total(family: gb.Family, mean: float, n: int, rng: np.random.Generator) -> float:
    """The sum of n rewards of an arm; what is only bounded pays low or high."""
    if isinstance(family, gb.Gaussian):
        return float(n * mean + family.sigma * math.sqrt(n) * rng.standard_normal())
    if family.name == "bernoulli":
        return float(rng.binomial(n, mean))
    if isinstance(family, gb.Bounded):
        width = family.high - family.low
        return n * family.low + width * float(rng.binomial(n, (mean - family.low) / width))
    if family.name == "poisson":
        large = n * mean
        return float(rng.poisson(large)) if large < 1e15 else float(np.round(large + math.sqrt(large) * rng.standard_normal()))
    if isinstance(family, gb.Binomial):
        return float(rng.binomial(n * int(family.n), mean / family.n))
    if isinstance(family, (gb.Geometric, gb.NegativeBinomial)):
        least, r = (1.0, 1.0) if isinstance(family, gb.Geometric) else (0.0, family.r)
        return n * least + float(rng.poisson(rng.gamma(n * r) * (mean - least) / r))
    shape = family.shape if isinstance(family, gb.Gamma) else 1.0
    return float(mean / shape * rng.gamma(n * shape))


def answers_needed(family: gb.Family, means: list[float], delta: float, seed: int, most: float = 1e17) -> tuple[float, float]:
    """Answers until the e-process and the paper's rule stop, all arms pulled equally often, on one path; ∞ if they do not."""
    rng = np.random.default_rng([29, seed])
    K, n = len(means), 0
    sums = np.zeros(K)
    needed = [math.inf, math.inf]
    rule = gb.EProcess(contrast=0.0, bernstein=0.0)  # sums are drawn at once: there is no order
    stopper: Any = rule.at_work(K, family)
    limits = rule.threshold(K, delta, family), gb.GLR().threshold(K, delta, family)
    while math.inf in needed and K * n < most:
        more = max(1, math.ceil((STEP - 1.0) * n))
        sums += [total(family, mean, more, rng) for mean in means]
        n += more
        tally = Tally(np.full(K, n), sums, sums / n)
        best, Z = glr(family, tally)
        if math.isinf(needed[1]) and limits[1] + 0.5 * math.e * math.log(K * n) <= Z:
            needed[1] = K * n
        if (
            math.isinf(needed[0])
            and limits[0] <= Z
            and least_evidence(family, tally, stopper.ranks, best, limits[0]) >= limits[0]
        ):
            needed[0] = K * n
    return needed[0], needed[1]


def small_problem(seed: int) -> tuple[gb.Family, list[float], float]:
    """A random family, two or three means at any scale and any distance, and a risk."""
    rng = np.random.default_rng([31, seed])
    close = 10.0 ** rng.uniform(-4.0, -0.1)
    kind = seed % 5
    family: gb.Family
    if kind == 0:
        family = gb.Gaussian(10.0 ** rng.uniform(-3.0, 3.0))
        means = [0.0, -10.0 * close * family.sigma]
    elif kind in (1, 2):
        odds = 10.0 ** rng.uniform(-4.0, 4.0)
        p = odds / (1.0 + odds)
        means = [p, p - close * min(p, 1.0 - p)]
        family = gb.Bernoulli()
        if kind == 2:
            low, width = rng.normal(), 10.0 ** rng.uniform(-2.0, 2.0)
            family = gb.Bounded(low, low + width)
            means = [low + width * mean for mean in means]
    else:
        family = gb.Poisson() if kind == 3 else gb.Exponential()
        high = 10.0 ** (rng.uniform(-3.0, 5.0) if kind == 3 else rng.uniform(-6.0, 6.0))
        means = [high, high * (1.0 - close)]
    if rng.random() < 0.5:
        means.append(means[1] - rng.random() * (means[0] - means[1]) if kind == 0 else means[1])
    return family, means, 10.0 ** -rng.uniform(0.5, 6.0)
