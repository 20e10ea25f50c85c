"""What more answers would buy: which difference between the leader and its closest rival can be told with how many."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gobetween.core.evidence import in_play, resolvable
from gobetween.core.jit import index
from gobetween.core.stopper import PAIRS, RANKS, Stopper, glr, growth

if TYPE_CHECKING:
    from gobetween.study.learner import Learner


@dataclass(frozen=True)
class Outlook:
    """The closest rival in play, and the gaps that would be told: true of data as they are expected, no guarantee."""

    leader: str
    rival: str
    gap: float
    """By how much its estimate is lower."""
    now: float | None
    """The gap between the two that answers as many as these would tell; None: none would."""
    twice: float | None
    """The same of twice as many, pulled in the same shares."""


def outlook_of(learner: "Learner") -> Outlook | None:
    """What can be told of a learner; None after the verdict, or where nobody knows how its evidence grows."""
    tally, family = learner._counted, learner.family
    if learner.done or not isinstance(learner._stopper, Stopper) or not tally.N_a.all():
        return None
    if not glr(family, tally)[1] > 0.0:  # a tie: what the stopping rule takes off the evidence is not known
        return None
    a = int(np.argmax(tally.mu_hat))
    still = in_play(family, tally, learner.delta, learner.pairs)
    still[a] = False
    if not still.any():
        still[np.arange(len(still)) != a] = True
    b, needed, t = (
        int(np.argmax(np.where(still, tally.mu_hat, -np.inf))),
        evidence_needed(learner, learner._stopper),
        learner.counted,
    )
    mean, n, m = float(tally.mu_hat[a]), float(tally.N_a[a]), float(tally.N_a[b])
    now, twice = (resolvable(family, mean, k * n, k * m, needed((k - 1) * t)) for k in (1, 2))
    return Outlook(learner.arms[a], learner.arms[b], mean - float(tally.mu_hat[b]), now, twice)


def evidence_needed(learner: "Learner", stopper: Stopper) -> Callable[[int], float]:
    """The Z at which the rule stops, after s more queries: what mixtures cost grows like ln t, what a contrast costs hardly."""
    constant, t = float(learner._constant[0]), max(1, learner.counted)
    if stopper.shape not in (PAIRS, RANKS):
        return lambda s: constant + float(growth(stopper, index(t + s)))
    Z = float(glr(learner.family, learner._counted)[1])
    spent = Z - stopper.reading(learner.family, learner._counted, t, Z)[0]
    cost = 0.0 if stopper.ranks.pairing.contrast.share > 0.0 else 1.0
    return lambda s: constant + spent + cost * math.log((t + s) / t)
