"""Adversarial states for the evidence of the ranks, and how the code's bound compares with brute force (tests/naive.py)."""

import math
from typing import Any, NamedTuple

import naive
import numpy as np

import gobetween as gb
from gobetween.core.evidence.contrast import Contrast, add_to_contrast, new_contrast
from gobetween.core.evidence.empirical_bernstein import BernsteinSums, new_bernstein
from gobetween.core.evidence.eprocess import Pairing
from gobetween.core.evidence.rank_evidence import Ranks, new_ranks, term_of
from gobetween.core.ground.tally import Tally, fill, new_tally

FAMILIES: tuple[gb.Family, ...] = (
    gb.Gaussian(1.0),
    gb.Bernoulli(),
    gb.Poisson(),
    gb.Exponential(),
    gb.Bounded(-1.0, 3.0),
    gb.Gamma(2.5),
    gb.Binomial(7),
    gb.Geometric(),
    gb.NegativeBinomial(0.6),
)
WHOLE = ("bernoulli", "poisson", "binomial", "geometric", "negative-binomial")
KINDS = (
    "plain",
    "few pulls of the leader",
    "few pulls of the rival",
    "nearly tied",
    "huge counts",
    "at an end",
    "equal rivals",
)


class Scene(NamedTuple):
    """A state, the leader a and a rival b."""

    family: gb.Family
    tally: Tally
    ranks: Ranks
    a: int
    b: int
    kind: str


def scene(family: gb.Family, seed: int) -> Scene:
    """One of the kinds in turn, with two to six arms; of Gaussian rewards some have contrasts that were gathered answer by
    answer, some that no order of answers would give, some none; some have an atom.
    """
    rng = np.random.default_rng([37, FAMILIES.index(family), seed])
    kind, K = KINDS[seed % len(KINDS)], int(rng.integers(2, 7))
    counts = _counts(kind, K, rng)
    means = _estimates(family, kind, counts, rng)
    sums = counts * means
    if family.name in WHOLE:
        sums = np.round(sums)
    tally = fill(new_tally(K), counts, sums)
    a = int(np.argmax(tally.mu_hat))
    if np.sum(tally.mu_hat == tally.mu_hat[a]) > 1:
        fewer = {"bernoulli": sums[a], "binomial": min(sums[a], 1.0)}.get(family.name, 0.25 * sums[a])
        sums[a] += 1.0 if family.name in ("poisson", "geometric", "negative-binomial") else -fewer
        tally = fill(tally, counts, sums)
        a = int(np.argmax(tally.mu_hat))
    rivals = [b for b in range(K) if tally.mu_hat[b] < tally.mu_hat[a]]
    if not rivals:
        return scene(family, seed + 1_000_003)
    b = max(rivals, key=lambda i: tally.mu_hat[i]) if rng.random() < 0.6 else int(rng.choice(rivals))
    still = float(rng.choice([0.0, 0.05, 0.3]))
    pairing = Pairing(_contrast(family, tally, rng), still, _bernstein(family, tally, rng))
    return Scene(family, tally, new_ranks(K, pairing), a, int(b), kind)


def _counts(kind: str, K: int, rng: Any) -> Any:
    counts = np.ceil(10.0 ** rng.uniform(0.0, 4.0, K))
    if kind == "few pulls of the leader":
        counts[0] = rng.integers(1, 4)
    if kind == "few pulls of the rival":
        counts[1] = rng.integers(1, 4)
    if kind == "huge counts":
        counts = np.ceil(10.0 ** rng.uniform(6.0, 11.0, K))
    if kind in ("equal rivals", "nearly tied"):
        counts[:] = np.ceil(counts[0] * rng.uniform(0.5, 1.0, K))
    return counts.astype(np.int64)


def _estimates(family: gb.Family, kind: str, counts: Any, rng: Any) -> Any:
    """Arm 0 leads arm 1 by what makes the likelihood ratio about as large as ln(1/δ); the others stand anywhere below."""
    K, Z = len(counts), rng.uniform(2.0, 25.0)
    if kind == "nearly tied":
        Z = rng.uniform(0.001, 4.0)
    per = 1.0 / (1.0 / counts[0] + 1.0 / counts[1])
    gaps = np.append([0.0, 1.0], rng.choice([0.3, 0.8, 1.0, 1.2, 3.0, 10.0], K - 2) * rng.uniform(0.8, 1.2, K - 2))
    if kind == "equal rivals":
        gaps[1:] = 1.0
    if family.name == "gaussian":
        return rng.normal(0.0, 10.0) - gaps * math.sqrt(2.0 * Z / per) * family.sigma  # type: ignore[attr-defined]
    if family.name in ("poisson", "exponential"):
        mean = 10.0 ** rng.uniform(-2.0, 0.0 if kind == "huge counts" else 3.0)  # the twin's ln s! must keep its digits
        spread = math.sqrt(mean) if family.name == "poisson" else mean
        means = np.maximum(mean - gaps * math.sqrt(2.0 * Z / per) * spread, 0.0 if family.name == "poisson" else 1e-6 * mean)
        if kind == "at an end":
            means[1:] *= rng.integers(0, 2) if family.name == "poisson" else 1e-3
        return means
    if family.name in ("gamma", "geometric", "negative-binomial"):
        low, above = family.low, 10.0 ** rng.uniform(-2.0, 0.0 if kind == "huge counts" else 3.0)
        spread = math.sqrt(family.variance(low + above))
        means = low + np.maximum(above - gaps * math.sqrt(2.0 * Z / per) * spread, 0.02 * above)
        if kind == "at an end":
            means[1:] = low + (means[1:] - low) * (1e-3 if family.name == "gamma" else rng.integers(0, 2))
        return means
    odds = 10.0 ** rng.uniform(-3.0, 3.0)
    p = odds / (1.0 + odds)
    shares = np.clip(p - gaps * math.sqrt(2.0 * Z / per * p * (1.0 - p)), 0.0, 1.0)
    if kind == "at an end":
        shares[0], shares[1:] = (1.0, shares[1:]) if rng.random() < 0.5 else (shares[0], 0.0)
    return family.low + (family.high - family.low) * shares


def _bernstein(family: gb.Family, tally: Tally, rng: Any) -> BernsteinSums:
    """Bounded rewards that vary as little as may be, in half of the scenes; deviations that no rewards would have."""
    if family.name != "bounded" or rng.random() < 0.5:
        return new_bernstein(0, 0.0, 0.0, 1.0)
    made = new_bernstein(len(tally.N_a), float(rng.choice([0.1, 0.3])), family.low, family.high)
    made.sums[0] = tally.N_a
    made.sums[1] = (tally.S_a - tally.N_a * family.low) / (family.high - family.low)
    made.sums[2] = tally.N_a * 10.0 ** rng.uniform(-5.0, -0.6, len(tally.N_a))
    return made


def _contrast(family: gb.Family, tally: Tally, rng: Any) -> Contrast:
    K, how = len(tally.N_a), rng.random()
    if family.name != "gaussian" or how < 0.25:
        return new_contrast(K, 0.0, 1.0)
    made = new_contrast(K, float(rng.choice([0.3, 0.5])), family.sigma)  # type: ignore[attr-defined]
    if how < 0.5 and tally.N_a.sum() < 3000:
        answers = rng.permutation(np.repeat(np.arange(K), tally.N_a))
        N_a = np.zeros(K, np.int64)
        for i in answers:
            N_a[i] += 1
            add_to_contrast(made, N_a, int(i), float(tally.mu_hat[i]))
        return made
    for i in range(K):
        for j in range(i):
            V = float(min(tally.N_a[i], tally.N_a[j]) * rng.uniform(0.1, 1.0))
            made.V[i, j] = made.V[j, i] = V
            H = V * rng.uniform(0.8, 1.2)
            made.H[i, j], made.H[j, i] = (
                H,
                max(0.0, H + rng.normal(0.0, 2.0)) if rng.random() < 0.5 else H * rng.uniform(0.0, 3.0),
            )
            made.S[i, j] = made.H[i, j] * tally.mu_hat[i] - made.H[j, i] * tally.mu_hat[j] + rng.normal(0.0, math.sqrt(V))
            made.S[j, i] = -made.S[i, j]
    return made


def brute(found: Scene, candidates: int = 4, rounds: int = 7) -> float:
    """The infimum over the whole null, from above."""
    contrast, bernstein = found.ranks.pairing.contrast, found.ranks.pairing.bernstein
    own = (contrast.share, contrast.H, contrast.S, contrast.V) if contrast.share > 0.0 else None
    little = (bernstein.share, bernstein.low, bernstein.width, bernstein.sums) if bernstein.share > 0.0 else None
    state = (found.family, found.tally.N_a, found.tally.S_a, found.a, found.b, found.ranks.pairing.still)
    return naive.Terms(*state, own, little).least(candidates, rounds)


def rounding(found: Scene, least: float) -> float:
    """What double precision may be off, in the code and in the twin: sums of 1e12 leave few digits behind the point."""
    return 1e-9 + (2e-8 * abs(least) + 1e-3 if found.kind == "huge counts" else 0.0)


def bound(found: Scene, enough: float = -math.inf) -> float:
    """What the code says."""
    return float(term_of(found.ranks, found.family, found.tally, found.a, found.b, enough))


def largest_granted(found: Scene, above: float) -> float:
    """The largest limit that the code says is reached: it looks more closely where that matters. −∞ if it is below −1."""
    low, high = -1.0, above + 1.0
    if not bound(found, low) >= low:
        return -math.inf
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if bound(found, middle) >= middle else (low, middle)
    return low
