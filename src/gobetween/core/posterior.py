"""Means that an arm's rewards leave possible, for every family by one formula.

With n rewards of mean μ̂ and r standard normal it is the x on r's side of μ̂ with n d(μ̂, x) = r²/2: the signed root of the
likelihood ratio is normal. For Gaussian rewards this is the posterior of an even prior, for others, up to O(1/n), that of
Jeffreys' prior dx/√V(x). From an end of the interval there is one side alone; for Poisson counts of 0 that is exact too.
"""

import math

from gobetween.core.family import Family, divergence, variance
from gobetween.core.jit import leaf
from gobetween.core.state import Tally
from gobetween.core.types import Floats

HALVINGS = 50
DOUBLINGS = 1000


@leaf
def possible_mean(family: Family, low: float, high: float, n: float, mu: float, r: float) -> float:
    """The mean x on the side of r, or on the only side there is, with n d(μ̂, x) = r²/2, between low and high."""
    target = 0.5 * r * r / n
    up = mu < high and (r > 0.0 or mu <= low)
    far = high if up else low
    if math.isinf(far):
        stride = math.sqrt(2.0 * target * max(0.0, variance(family, mu, 0.0, 0.0, 1.0))) + target * (mu in (low, high))
        for _ in range(DOUBLINGS):
            far = mu + stride if up else mu - stride
            if not divergence(family, mu, far, 1.0, 0.0) < target:
                break
            stride *= 2.0
    near = mu
    for _ in range(HALVINGS):
        x = 0.5 * (near + far)
        if divergence(family, mu, x, 1.0, 0.0) < target:
            near = x
        else:
            far = x
    return near


@leaf
def possible_means(family: Family, low: float, high: float, tally: Tally, r: Floats, means: Floats) -> None:
    """Write to means [K] those that r [K] stands for; every arm has been seen."""
    for a in range(means.shape[0]):
        mu = min(high, max(low, tally.mu_hat[a]))
        means[a] = possible_mean(family, low, high, float(tally.N_a[a]), mu, r[a])
