"""Has a mediator refuted its declared policy? Looked at in the step itself, by the e-process of `alarm/policy.py`.

Whom to ask is planned by declared policies until their evidence reaches the limit, and by what was seen from then on. Of right
policies that happens with probability at most LEVEL, for all mediators together.
"""

import math

import numpy as np

from gobetween.core.ground.jit import Floats, Ints, part
from gobetween.core.problem.cast import ROW_TOLERANCE, are_known

LEVEL = 0.01  # of an alarm: the probability that it is ever raised falsely
FIRST = 8  # pulls of an arm by a mediator at the first look


def with_silence(policies: Floats) -> Floats:
    """[E, K + 1] policies with what is left for silence; NaN in rows that do not hold probabilities."""
    rest = 1.0 - policies.sum(axis=1, keepdims=True)
    whole = np.hstack([policies, np.where(rest > ROW_TOLERANCE, rest, 0.0)])
    whole[~are_known(policies)] = np.nan
    return np.asarray(whole)


def refuted_at(policies: Floats) -> float:
    """The limit of the evidence against one of the policies [E, K], in nats."""
    return math.log(max(1, int(are_known(policies).sum())) / LEVEL)


@part
def is_looked_at(n: int) -> bool:
    """Is a policy looked at once its mediator has pulled an arm n times? Each time after an eighth to a quarter more."""
    step = 1
    while 8 * step <= n:
        step *= 2
    return n >= FIRST and n % step == 0


@part
def is_refuted(counts: Ints, policy: Floats, limit: float) -> bool:
    """Does the evidence of counts [K + 1] against a policy [K + 1] reach the limit?

    It is at most n times the divergence of the shares, hence at most χ²: mostly that suffices to see that it does not.
    """
    n, size, chi = 0, 0, 0.0
    for a in range(counts.shape[0]):
        n += counts[a]
    for a in range(counts.shape[0]):
        if policy[a] > 0.0:
            expected = n * policy[a]
            chi += (counts[a] - expected) ** 2 / expected if n else 0.0
            size += 1
        elif counts[a] > 0:
            return True
    return chi >= limit and excess(counts, policy, n, size, limit) >= 1.0


@part
def excess(counts: Ints, policy: Floats, n: int, size: int, limit: float) -> float:
    """e^(−limit) times the evidence: ½ · KT of all arms and 1/(2K) · Σ (each arm against the rest), or of two arms KT alone."""
    half, together, others = math.lgamma(0.5), math.lgamma(0.5 * size) - math.lgamma(n + 0.5 * size), 0.0
    for a in range(counts.shape[0]):
        if policy[a] > 0.0:
            p, c = policy[a], counts[a]
            seen, rest = math.lgamma(c + 0.5) - c * math.log(p), math.log1p(-min(p, 1.0 - 1e-16))
            together += seen - half
            alone = seen + math.lgamma(n - c + 0.5) - (n - c) * rest - 2.0 * half - math.lgamma(n + 1.0)
            others += math.exp(min(alone - limit, 700.0))
            if c == 0:
                others += math.exp(min(-n * rest - limit, 700.0))
    if size < 3:
        return math.exp(min(together - limit, 700.0))
    return 0.5 * math.exp(min(together - limit, 700.0)) + others / (4.0 * size)
