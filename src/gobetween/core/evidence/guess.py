"""What somebody guesses of the means before the first answer, how much of the risk is staked on it (docs/stopping.md, A guess),
and what it adds to the evidence of a pair of arms.

J_ab = ⅓ G_ab + ⅓ Q^g_ab + ⅓ Σ_k ω_k I^k_a I^k_b, where a is guessed to be better than b. Q^g, the informed contrast, has a
normal deviation θ ~ N(θ₀, τ²), θ > 0, in favour of a; I, the informed product, is what the guess predicted over the likelihood.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gobetween.core.evidence.contrast import GIVEN_UP, scaled_erfc
from gobetween.core.evidence.eprocess import log_sum, pair_at
from gobetween.core.ground.jit import Floats, Ints, by_type, leaf
from gobetween.core.ground.registry import classes
from gobetween.core.ground.tally import Tally
from gobetween.core.ground.value import is_number
from gobetween.core.reward.family import LARGEST, SMALLEST, Family, coordinate
from gobetween.errors import ProblemError

if TYPE_CHECKING:
    from gobetween.core.evidence.informed_ranks import InformedRanks

STAKE = 0.3
#: Weight on "any arm may be the best" beside the chances that the guess gives.
DOUBT = 0.1
#: The spreads that are tried, as multiples of the guessed one, and their weights.
SPREADS, WEIGHTS = np.array([1.0, 2.0, 4.0]), np.array([0.6, 0.25, 0.15])
At = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Guess:
    """A guess of each arm's mean, made before the first answer, that saves queries if it is about right.

    **Safe**: a wrong guess costs queries, never the guarantee (docs/stopping.md). means: one for each arm. spread: how far off
    they may be, as a standard deviation: one number for all arms, or one for each. stake: the share of the risk that is staked
    on the guess; the rest proceeds as without one, so that even a guess far off costs at most −ln(1 − stake) nats of evidence.

    >>> gb.EProcess(guess=gb.Guess([1.5, 1.0, 0.7, 0.5], spread=0.1)).guess.stake
    0.3
    """

    means: tuple[float, ...]
    spread: tuple[float, ...]
    stake: float

    def __init__(self, means: Iterable[float], spread: float | Iterable[float], stake: float = STAKE) -> None:
        values = _numbers(means, "means", -LARGEST)
        spreads = (spread,) * len(values) if is_number(spread) else spread
        for name, value in (("means", values), ("spread", _numbers(spreads, "spread", SMALLEST)), ("stake", stake)):
            object.__setattr__(self, name, value)
        if len(self.spread) != len(self.means):
            raise ProblemError(
                f"spread has {len(self.spread)} entries for {len(self.means)} means: give one number, or one for each"
            )
        if not (is_number(stake) and 0.0 < stake < 1.0):
            raise ProblemError(f"stake = {stake!r}: must be a number between 0 and 1, such as {STAKE}")

    @classmethod
    def from_counts(cls, family: Family, N_a: Ints, S_a: Floats, shift: float = 0.0, stake: float = STAKE) -> "Guess":
        """What N_a earlier rewards with sums S_a suggest, which must not be counted: their means, with spread √(V/n + shift²).

        shift: by how much means may have changed since. Means at an end of what is possible are moved half a reward inside.
        """
        n, low, high = np.asarray(N_a, float), family.low, family.high
        if not (n > 0).all():
            raise ProblemError(f"arm {int(np.argmin(n))} has no rewards: a guess from counts needs some of each arm")
        inside = 0.5 * (min(high - low, 1.0) if np.isfinite(low) else 0.0) / (n + 1.0)
        means = np.clip(np.asarray(S_a, float) / n, low + inside, high - inside).tolist()
        own = [family.variance(mean) / count + shift * shift for mean, count in zip(means, n.tolist(), strict=True)]
        return cls(means, np.sqrt(own).tolist(), stake)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return {"means": list(self.means), "spread": list(self.spread), "stake": self.stake}

    def shares(self) -> Floats:
        """[K, K] u_ab: how the stake is shared among the arms a if b is the best; Σ over a ≠ b is 1."""
        q = (1.0 - DOUBT) * chances(self) + DOUBT / len(self.means)
        u = q[:, None] / np.array([np.delete(q, b).sum() for b in range(len(q))])
        np.fill_diagonal(u, 0.0)
        return np.asarray(u)


def as_guess(value: Any) -> Guess | None:
    """A guess, or what a file says of one."""
    if value is None or isinstance(value, Guess):
        return value
    if not (isinstance(value, Mapping) and {"means", "spread"} <= set(value) <= {"means", "spread", "stake"}):
        raise ProblemError("guess: give means and spread, and stake if you like: gb.Guess(means, spread, stake=0.3)")
    return Guess(**value)


def fitting(guess: Guess, K: int, family: Family) -> Guess:
    """The guess, if it is one of the means of K arms of a family that can have one."""
    if family.prior(guess.means[0], guess.spread[0]) is None:
        known = ", ".join(kind.name for kind in classes("family").values() if kind.prior is not Family.prior)
        raise ProblemError(f"a guess needs a family for which it has a closed form: {known}; {family.name} has none")
    if len(guess.means) != K:
        raise ProblemError(f"the guess has {len(guess.means)} means for {K} arms: give one for each")
    low, high = family.low, family.high
    for a, mean in enumerate(guess.means):
        if not low < mean < high:
            raise ProblemError(f"means[{a}] of the guess = {mean:g}: must lie between {low:g} and {high:g}, not at an end")
    return guess


def chances(guess: Guess) -> Floats:
    """[K] the chance of each arm to be the best if means are normal around the guess."""
    from scipy.special import ndtr

    means, spread = np.array(guess.means), np.array(guess.spread)
    z = np.linspace(-8.0, 8.0, 2001)
    found = np.empty(len(means))
    for a in range(len(means)):
        at = means[a] + spread[a] * z
        others = np.ones_like(z)
        for c in range(len(means)):
            if c != a:
                others *= ndtr((at - means[c]) / spread[c])
        found[a] = (np.exp(-0.5 * z * z) * others).sum()
    return np.asarray(found / found.sum())


def _numbers(values: Any, what: str, least: float) -> tuple[float, ...]:
    """Several finite numbers."""
    listed = list(values) if isinstance(values, (Iterable, Sequence)) and not isinstance(values, str) else None
    if not listed:
        raise ProblemError(f"{what} of a guess = {values!r}: give one number for each arm")
    for i, value in enumerate(listed):
        if not (is_number(value) and least <= value <= LARGEST):
            kind = "a positive number" if least > 0.0 else "a finite number"
            raise ProblemError(f"{what}[{i}] of a guess = {value!r}: must be {kind}")
    return tuple(map(float, listed))


@by_type("pair")
def log_informed(family: Family, n: float, S: float, x: float, alpha: float, beta: float) -> tuple[float, float]:
    """What a guess predicted over the likelihood at coordinate x, in compiled code."""
    return family.log_informed(n, S, x, alpha, beta)


@leaf
def log_informed_contrast(ranks: "InformedRanks", a: int, b: int, x: float) -> tuple[float, float]:
    """The pair ln Q^g_ab, slope at a common mean x.

    Σ_k ω_k (1 + τ²σ²V)^(−½) exp((θ₀Y − ½θ₀²σ²V + ½τ²Y²)/(1 + τ²σ²V)) Φ(ζ)/Φ(θ₀/τ),  Y = S_ab − (H_ab − H_ba) x.
    """
    contrast = ranks.pairing.contrast
    V, steep = contrast.V[a, b], contrast.H[b, a] - contrast.H[a, b]
    if V >= GIVEN_UP:
        return -math.inf, 0.0
    own, Y, theta = contrast.sigma * contrast.sigma * V, contrast.S[a, b] + steep * x, ranks.theta[a, b]
    top, total, slope = -math.inf, 0.0, 0.0
    for k in range(SPREADS.shape[0]):
        tau = ranks.tau[k, a, b]
        square = tau * tau
        whole = 1.0 + square * own
        root = 1.0 / math.sqrt(whole)
        zeta, value = (theta / tau + tau * Y) * root, ranks.lead[k, a, b]
        if zeta > -36.0:
            chance = math.erfc(-0.7071067811865476 * zeta)
            value += (theta * Y - 0.5 * theta * theta * own + 0.5 * square * Y * Y) / whole
            mean = zeta * chance + 0.7978845608028654 * math.exp(-0.5 * zeta * zeta)  # √(2/π)
        else:
            chance = scaled_erfc(-0.7071067811865476 * zeta)
            value -= 0.5 * theta * theta / square
            mean = chance * (1.0 - 2.0 / (zeta * zeta)) / -zeta
        if value > top:
            shrink = math.exp(top - value)
            total, slope, top = total * shrink, slope * shrink, value
        share = math.exp(value - top) * root
        total, slope = total + share * chance, slope + share * root * tau * mean
    return top + math.log(total), steep * slope / total


@leaf
def know(family: Family, tally: Tally, ranks: "InformedRanks", i: int) -> None:
    """Ln ω_k^(1/2) I^k_i at the arm's own estimate, where it is least."""
    known, prior = ranks.known, ranks.prior
    n, S = float(tally.N_a[i]), tally.S_a[i]
    if not (known[0, i] == n and known[1, i] == S):
        known[0, i], known[1, i] = n, S
        x = coordinate(family, tally.mu_hat[i])
        for k in range(SPREADS.shape[0]):
            known[2 + k, i] = log_informed(family, n, S, x, prior[k, i, 0], prior[k, i, 1])[0] + 0.5 * math.log(WEIGHTS[k])


@leaf
def beyond(family: Family, tally: Tally, ranks: "InformedRanks", i: int, x: float) -> tuple[float, float]:
    """By how much ln I_i is larger at coordinate x than at the estimate, and its slope: the same for all k."""
    value, slope = log_informed(family, float(tally.N_a[i]), tally.S_a[i], x, ranks.prior[0, i, 0], ranks.prior[0, i, 1])
    return value + 0.5 * math.log(WEIGHTS[0]) - ranks.known[2, i], slope


@leaf
def log_both(family: Family, tally: Tally, ranks: "InformedRanks", a: int, b: int, x: float, y: float) -> tuple[float, float]:
    """The pair ln Σ_k ω_k I^k_a(x) I^k_b(y), and the sum of the slopes, where I_a is taken for constant above the estimate of a
    and I_b below that of b: never more than what it stands for, it falls in a's mean and rises in b's.
    """
    know(family, tally, ranks, a)
    know(family, tally, ranks, b)
    known = ranks.known
    value, slope = known[2, a] + known[2, b], 0.0
    for k in range(1, SPREADS.shape[0]):
        value = log_sum(value, known[2 + k, a] + known[2 + k, b])
    x_a, x_b = coordinate(family, tally.mu_hat[a]), coordinate(family, tally.mu_hat[b])
    up = 1.0 if x_a > x_b else -1.0
    if up * (x_a - x) > 0.0:
        more, rise = beyond(family, tally, ranks, a, x)
        value, slope = value + more, slope + rise
    if up * (y - x_b) > 0.0:
        more, rise = beyond(family, tally, ranks, b, y)
        value, slope = value + more, slope + rise
    return value, slope


@leaf
def weighted(p: float, rise_p: float, q: float, rise_q: float) -> tuple[float, float]:
    """The pair ln(e^p + e^q), slope."""
    if not max(p, q) > -math.inf:
        return -math.inf, 0.0
    top = max(p, q)
    one, other = math.exp(p - top), math.exp(q - top)
    return top + math.log(one + other), (one * rise_p + other * rise_q) / (one + other)


@leaf
def rest_at(family: Family, tally: Tally, ranks: "InformedRanks", a: int, b: int, x: float) -> tuple[float, float]:
    """The logarithm of what the guess adds to G at a common coordinate, and its slope."""
    if not ranks.both[a, b] > -math.inf:
        return -math.inf, 0.0
    rest, rise = log_both(family, tally, ranks, a, b, x, x)
    rest += ranks.both[a, b]
    if ranks.contrast_weight[a, b] > -math.inf:
        Q, rise_q = log_informed_contrast(ranks, a, b, x)
        rest, rise = weighted(rest, rise, Q + ranks.contrast_weight[a, b], rise_q)
    return rest, rise


@leaf
def informed_at(family: Family, tally: Tally, ranks: "InformedRanks", a: int, b: int, x: float) -> At:
    """At a common coordinate: ln G and its slope, the same of what the guess adds, and the slopes of ln M_a⁺ and ln M_b⁻."""
    G, slope, slope_a, slope_b = pair_at(family, tally, ranks.pairing, a, b, x)
    rest, rise = rest_at(family, tally, ranks, a, b, x)
    return G, slope, rest, rise, slope_a, slope_b


@leaf
def joined(ranks: "InformedRanks", a: int, b: int, at: At, gain: float) -> tuple[float, float]:
    """The logarithm of the term, and its slope, where lifting others is worth `gain`, 0 or less."""
    G = at[0] + log_sum(ranks.plain + ranks.base + gain, ranks.own[a, b])
    return weighted(G, at[1], at[2], at[3])


@leaf
def least_rest(family: Family, tally: Tally, ranks: "InformedRanks", a: int, b: int, y: float, z: float) -> float:
    """A lower bound of what the guess adds where μ_a lies between those of z and y, y being higher, and μ_b ≥ μ_a."""
    rest = -math.inf
    if ranks.both[a, b] > -math.inf:
        rest = log_both(family, tally, ranks, a, b, y, z)[0] + ranks.both[a, b]
    if ranks.contrast_weight[a, b] > -math.inf:
        Q = min(log_informed_contrast(ranks, a, b, y)[0], log_informed_contrast(ranks, a, b, z)[0])
        rest = weighted(rest, 0.0, Q + ranks.contrast_weight[a, b], 0.0)[0]
    return rest
