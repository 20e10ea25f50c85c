"""Evidence that the leader a beats a rival b, valid at any time under any sampling (docs/stopping.md):

    ln E_{a>b} = inf { ln G_ab(λ_a, λ_b) : λ_b ≥ λ_a + shift },   G_ab = (1 − s) M_a⁺(λ_a) M_b⁻(λ_b) + s Q_ab(λ_a, λ_b)

M_i is a mixture of likelihood ratios of arm i's rewards, a martingale at arm i's true mean; Q is a contrast of Gaussian rewards
or what bounded rewards say that vary little. All are convex in the family's coordinate. If at some common point the first falls
and the second rises in the mean, the infimum is that over common points λ_b = λ_a + shift. The shift is 0, but for the question
which arm is best up to ε.

The least of a convex function between two points, from below.

First the transportation cost f_a, how much evidence the weights (w_1, w_a) gather against "arm a is as good as the leader":

    f_a(w) = w_1 d(μ_1, x_a) + w_a d(μ_a, x_a),   x_a = (w_1 μ_1 + w_a μ_a)/(w_1 + w_a)          # eq. (key), with its ω

With weights it is the payoff of the game behind T*; with counts N and estimates μ̂ it is the GLR statistic Z_{1,a}.
The point x_a divides the segment from μ_a to μ_1 at the split r_a = w_1/(w_1 + w_a).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from gobetween.core.evidence.contrast import Contrast, log_contrast, new_contrast
from gobetween.core.evidence.empirical_bernstein import BernsteinSums, log_bernstein, new_bernstein
from gobetween.core.ground.jit import Bools, leaf, part
from gobetween.core.ground.tally import Tally
from gobetween.core.reward.family import Family, closed_pair, coordinate, divergence, log_mixture, span, variance

MOST_STEPS = 200
CLOSE = 1e-9


class Pairing(NamedTuple):
    """How two arms are compared."""

    contrast: Contrast
    still: float  # weight on θ = 0 in each mixture: what a rival that is seldom or often pulled does not pay for
    bernstein: BernsteinSums = new_bernstein(0, 0.0, 0.0, 1.0)  # in place of the contrast, never beside it
    shift: float = 0.0  # by how much the rival must be better; other than 0 only where coordinates are means


#: By the product of two mixtures alone.
PRODUCT = Pairing(new_contrast(0, 0.0, 1.0), 0.0)


@part
def evidence(family: Family, mu_1: float, mu_a: float, w_1: float, w_a: float) -> tuple[float, float, float]:
    """f_a and its gradient (∂f/∂w_1, ∂f/∂w_a) = (d(μ_1, x_a), d(μ_a, x_a))."""
    total = w_1 + w_a
    if not total > 0.0:  # nothing known of either arm: any point will do
        return 0.0, divergence(family, mu_1, mu_a, 0.5, 0.5), divergence(family, mu_a, mu_1, 0.5, 0.5)
    each = 1.0 / total
    share_1, share_a = w_1 * each, w_a * each
    d_1 = divergence(family, mu_1, mu_a, share_a, share_1)
    d_a = divergence(family, mu_a, mu_1, share_1, share_a)
    if w_1 <= 0.0 or w_a <= 0.0:
        return 0.0, d_1, d_a
    return w_1 * d_1 + w_a * d_a, d_1, d_a


@leaf
def curvature(family: Family, mu_1: float, mu_a: float, w_1: float, w_a: float) -> tuple[float, float, float]:
    """−∇²f_a = κ (h_1, h_a)(h_1, h_a)ᵀ as κ, h_1, h_a; κ = 1/((w_1+w_a) V(x_a)), h = (μ_1 − x_a, μ_a − x_a)."""
    each = 1.0 / (w_1 + w_a)
    gap, share_1, share_a = mu_1 - mu_a, w_1 * each, w_a * each
    spread = variance(family, mu_a, mu_1, share_1, share_a)
    kappa = each / spread if spread > 0.0 else 0.0  # x_a rounded to the boundary of the domain
    return kappa, gap * share_a, -gap * share_1


@leaf
def with_atom(value: float, slope: float, still: float) -> tuple[float, float]:
    """The pair ln((1 − still) M + still), slope."""
    if still <= 0.0:
        return value, slope
    top = max(value, 0.0)
    p, q = (1.0 - still) * math.exp(value - top), still * math.exp(-top)
    return top + math.log(p + q), slope * p / (p + q)


@leaf
def log_sum(p: float, q: float) -> float:
    """The logarithm of e^p + e^q."""
    return max(p, q) + math.log1p(math.exp(-abs(p - q)))


@leaf
def alone(family: Family, tally: Tally, pairing: Pairing, i: int, x: float, side: float) -> tuple[float, float]:
    """The pair ln M_i, slope at coordinate x, with the atom: one arm of two."""
    value, slope = log_mixture(family, float(tally.N_a[i]), tally.S_a[i], x, side)
    return with_atom(value, slope, pairing.still)


@leaf
def beside(pairing: Pairing) -> float:
    """The weight of Q."""
    return pairing.contrast.share + pairing.bernstein.share


@leaf
def log_beside(pairing: Pairing, a: int, b: int, x: float) -> tuple[float, float]:
    """The pair ln Q_ab, slope at coordinate x of a and x + shift of b: Q falls in a's mean and rises in b's."""
    if pairing.bernstein.share > 0.0:
        up, up_slope = log_bernstein(pairing.bernstein, a, x, 1.0)
        down, down_slope = log_bernstein(pairing.bernstein, b, x + pairing.shift, -1.0)
        return up + down, up_slope + down_slope
    return log_contrast(pairing.contrast, a, b, x, pairing.shift)


@leaf
def least_beside(pairing: Pairing, a: int, b: int, y: float, z: float) -> float:
    """A lower bound of ln Q_ab where μ_a lies between those of coordinates z and y, that of y being higher, and μ_b ≥ μ_a.

    Along common means all terms of a contrast go one way; N_a⁺ falls and N_b⁻ rises.
    """
    if pairing.bernstein.share > 0.0:
        return log_bernstein(pairing.bernstein, a, y, 1.0)[0] + log_bernstein(pairing.bernstein, b, z, -1.0)[0]
    return min(log_contrast(pairing.contrast, a, b, y, 0.0)[0], log_contrast(pairing.contrast, a, b, z, 0.0)[0])


@leaf
def pair_at(family: Family, tally: Tally, pairing: Pairing, a: int, b: int, x: float) -> tuple[float, float, float, float]:
    """At a common coordinate x of a, and x + shift of b: ln G_ab and its slope, and the slopes of ln M_a⁺ and ln M_b⁻."""
    value_a, slope_a = alone(family, tally, pairing, a, x, 1.0)
    value_b, slope_b = alone(family, tally, pairing, b, x + pairing.shift, -1.0)
    value, slope, share = value_a + value_b, slope_a + slope_b, beside(pairing)
    if share > 0.0:
        other, rise = log_beside(pairing, a, b, x)
        value, other = value + math.log1p(-share), other + math.log(share)
        top = max(value, other)
        p, q = math.exp(value - top), math.exp(other - top)
        value, slope = top + math.log(p + q), (p * slope + q * rise) / (p + q)
    return value, slope, slope_a, slope_b


@leaf
def tangents_meet(left: float, f: float, s: float, right: float, g: float, r: float) -> tuple[float, float]:
    """Where the minimum of a convex function, whose values and slopes are known at two points on its sides, would be were it a
    parabola — kept away from the ends —, and how low their tangents meet: it is nowhere lower between them.

    The lower of the two, because the point where they meet is rounded, and a tangent may be as steep as 1e150.
    """
    x = left + (g - f - r * (right - left)) / (s - r)
    lower = min(f, g, f + s * (x - left), g + r * (x - right))
    inner = s / (s - r)
    inner = min(0.95, max(0.05, inner)) if inner == inner else 0.5
    return left + inner * (right - left), lower


@leaf
def pooled(family: Family, tally: Tally, pairing: Pairing, a: int, b: int) -> float:
    """The coordinate of the mean of all rewards of two arms, the shift taken off those of b."""
    return coordinate(family, (tally.S_a[a] + tally.S_a[b] - pairing.shift * tally.N_a[b]) / (tally.N_a[a] + tally.N_a[b]))


@leaf
def least_pair(
    family: Family, tally: Tally, pairing: Pairing, a: int, b: int, enough: float, spare: float
) -> tuple[float, float, float, bool]:
    """The least ln G_ab over common means for a leader a that is above b, from below and to 1e-9; a coordinate y on its side of
    lower means, and ln G_ab there; is the minimum over the half-plane μ_b ≥ μ_a that over common means?

    Every point evaluated bounds the convex function's minimum from above: once it is known to lie under `enough`, that is
    returned. Tangents bound it from below: once it is known to reach `enough` + `spare`, any number from there on.
    """
    low, high = span(family)
    high -= pairing.shift
    x_a, x_b = coordinate(family, tally.mu_hat[a]), coordinate(family, tally.mu_hat[b]) - pairing.shift
    up = 1.0 if x_a > x_b else -1.0  # the direction of higher means
    x, stride = min(high, max(low, pooled(family, tally, pairing, a, b))), abs(x_a - x_b)
    left, f_left, s_left = -math.inf, 0.0, 0.0
    right, f_right, s_right = math.inf, 0.0, 0.0
    upper, orderly = math.inf, False
    for _ in range(MOST_STEPS):
        f, s, slope_a, slope_b = pair_at(family, tally, pairing, a, b, x)
        orderly = orderly or up * slope_a <= 0.0 <= up * slope_b
        upper = min(upper, f)
        if not upper >= enough:
            return upper, x, f, False
        if s > 0.0:
            right, f_right, s_right = x, f, s
        else:
            left, f_left, s_left = x, f, s
        if (s <= 0.0 and x == high) or (s >= 0.0 and x == low) or s == 0.0:
            return f, x, f, orderly
        if left > -math.inf and right < math.inf:
            x, lower = tangents_meet(left, f_left, s_left, right, f_right, s_right)
            lower = min(upper, lower)
            enclosed = upper - lower <= CLOSE or not left < x < right  # or sums so large that their digits do not reach it
            if enclosed or (orderly and lower - spare >= enough > -math.inf):
                return (lower, left, f_left, orderly) if up > 0.0 else (lower, right, f_right, orderly)
        else:
            x = max(low, x - stride) if s > 0.0 else min(high, x + stride)
            stride *= 2.0
    return -math.inf, x, -math.inf, False


@leaf
def log_evalue(family: Family, tally: Tally, pairing: Pairing, a: int, b: int, enough: float) -> float:
    """The logarithm of E_{a>b} for a leader a that is above b, from below and to 1e-9 — or, once it is known to lie under
    `enough`, any number under it, and once it is known to reach it, any number from there to ln E.

    −∞ when the infimum is not where it should be: refusing to stop is always safe.
    """
    closed, value = closed_pair(family, a, b, pairing.shift, enough)
    if closed > 0.0:
        return value
    least, _, _, orderly = least_pair(family, tally, pairing, a, b, enough, 0.0)
    return least if orderly or least < enough else -math.inf


@leaf
def rule_out(family: Family, tally: Tally, pairing: Pairing, a: int, limit: float, still: Bools) -> None:
    """Strike off those of `still` [K] that were seen and for which ln E_{a>b} reaches a limit."""
    for b in range(tally.N_a.shape[0]):
        if still[b] and tally.N_a[b] > 0 and tally.mu_hat[a] > tally.mu_hat[b]:
            still[b] = not log_evalue(family, tally, pairing, a, b, limit) >= limit


MOST_STEPS, CLOSE = 200, 1e-9
Tangent = tuple[float, float, float]  # a point, the value there and the slope


def least_between(tangent_at: Callable[[float], Tangent], left: Tangent, right: Tangent) -> float:
    """A lower bound, to CLOSE, of a convex function that falls at `left` and rises at `right`: where its tangents meet."""
    lower = -math.inf
    for _ in range(MOST_STEPS):
        (x, f, s), (y, g, r) = left, right
        between, lower = tangents_meet(x, f, s, y, g, r)
        new = tangent_at(between)
        if min(f, g, new[1]) - lower <= CLOSE or not x < new[0] < y:
            break
        left, right = (new, right) if new[2] < 0.0 else (left, new)
    return float(lower)
