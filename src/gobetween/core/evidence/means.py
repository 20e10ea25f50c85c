"""What samples say about means: confidence sequences, a test of a common mean, and means that are still possible.

A confidence sequence ends where the mixture of both sides, convex in the coordinate, reaches its limit. Have samples a common
mean? The least Σ ln M over it says, with M a two-sided mixture of a sample's likelihood ratios. Samples with the same count and
sum are alike: each is looked at once, `times` says how many there are; of a thousand mediators with few answers each most are.

Possible means, for every family by one formula: with n rewards of mean μ̂ and r standard normal, the x on r's side of μ̂ with
n d(μ̂, x) = r²/2, because the signed root of the likelihood ratio is normal. For Gaussian rewards this is the posterior of an
even prior, for others, up to O(1/n), that of Jeffreys' prior dx/√V(x). From an end of the interval there is one side alone; for
Poisson counts of 0 that is exact too.
"""

import math

import numpy as np

from gobetween.core.ground.jit import Floats, Ints, jit, leaf
from gobetween.core.ground.tally import Tally
from gobetween.core.reward.family import Family, coordinate, divergence, span, two_sided, variance

STEPS, CLOSE = 200, 1e-10


@jit
def interval_ends(family: Family, n: Floats, S: Floats, limit: float) -> Floats:
    """[..., 2] coordinates beyond which means of samples with counts n and sums S are excluded; the span where n = 0."""
    found, (low, high) = np.empty((n.shape[0], 2)), span(family)
    for i in range(n.shape[0]):
        found[i, 0], found[i, 1] = low, high
        if n[i] > 0.0:
            centre = coordinate(family, S[i] / n[i])
            found[i, 0], found[i, 1] = (
                end_of(family, n[i], S[i], centre, low, limit),
                end_of(family, n[i], S[i], centre, high, limit),
            )
    return found


@leaf
def end_of(family: Family, n: float, S: float, inside: float, edge: float, limit: float) -> float:
    """Where, between the estimate and the edge of the domain, ln M reaches its limit, from beyond.

    Of a convex function a tangent from beyond meets the limit beyond it as well, and a chord meets it before: both enclose it.
    """
    far, side = edge, 1.0 if edge > inside else -1.0
    if math.isinf(edge):
        stride = max(1e-9, abs(inside))
        far = inside + side * stride
        while not two_sided(family, n, S, far)[0] >= limit and stride < 1e60:
            stride *= 2.0
            far = inside + side * stride
    near, value = inside, two_sided(family, n, S, inside)[0] - limit
    above, slope = two_sided(family, n, S, far)
    above -= limit
    if not above >= 0.0:
        return edge
    for _ in range(STEPS):
        width = side * (far - near)
        chord = near + side * width * (value / (value - above)) if value < 0.0 else 0.5 * (near + far)
        tangent = far - above / slope if side * slope > 0.0 else 0.5 * (near + far)
        for x in (tangent, chord, 0.5 * (near + far)):
            if side * (x - near) > 0.0 and side * (far - x) > 0.0:
                here, rise = two_sided(family, n, S, x)
                if here >= limit:
                    far, above, slope = x, here - limit, rise
                else:
                    near, value = x, here - limit
            if side * (far - near) < 0.5 * width:
                break
        if not side * (far - near) > CLOSE * abs(far - inside) or side * (far - near) >= width:
            break
    return far


def merged_samples(n: Ints, S: Floats) -> tuple[Floats, Floats, Floats, Ints]:
    """Counts and sums that differ, in order, how many samples have each, and which of them each sample has."""
    found, places, times = np.unique(n + 1j * S, return_inverse=True, return_counts=True)
    return np.ascontiguousarray(found.real), np.ascontiguousarray(found.imag), times.astype(np.float64), places


@leaf
def least_total(family: Family, n: Floats, S: Floats, times: Floats, enough: float) -> float:
    """Bisection on the slope of the convex function Σ ln M, which is least between the samples' own means or beside them."""
    low, high = span(family)
    x = coordinate(family, pooled_mean(n, S, times))
    best, slope = total_at(family, n, S, times, x)
    left, right = x, x
    stride = max(1e-3, 0.1 * abs(x))
    while slope != 0.0 and best >= enough and low < left and right < high and stride < 1e60:
        if slope > 0.0:
            left = max(low, x - stride)
            value, slope_there = total_at(family, n, S, times, left)
        else:
            right = min(high, x + stride)
            value, slope_there = total_at(family, n, S, times, right)
        best = min(best, value)
        if slope_there * slope <= 0.0:
            break
        stride *= 2.0
    for _ in range(200):
        middle = 0.5 * (left + right)
        if best < enough or middle <= left or middle >= right:
            break
        value, slope = total_at(family, n, S, times, middle)
        best = min(best, value)
        if slope > 0.0:
            right = middle
        else:
            left = middle
    return best


@leaf
def pooled_mean(n: Floats, S: Floats, times: Floats) -> float:
    """The mean of all samples together."""
    number, total = 0.0, 0.0
    for e in range(n.shape[0]):
        number, total = number + times[e] * n[e], total + times[e] * S[e]
    return total / number


@leaf
def total_at(family: Family, n: Floats, S: Floats, times: Floats, x: float) -> tuple[float, float]:
    """The pair Σ ln M, slope at a common coordinate x; M is an even mixture of both sides."""
    value, slope = 0.0, 0.0
    for e in range(n.shape[0]):
        here, rise = two_sided(family, n[e], S[e], x)
        value, slope = value + times[e] * here, slope + times[e] * rise
    return value, slope


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
