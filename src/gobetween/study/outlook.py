"""What more answers would buy: which difference between the leader and its closest rival can be told with how many."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gobetween.core.evidence import ERRORS, FAR, NearTie, evidence_needed, in_play, leader_and_rival, near_tie, resolvable
from gobetween.core.stopper import Stopper, glr

if TYPE_CHECKING:
    from gobetween.study.learner import Learner
    from gobetween.study.state import StudyState


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
    near: NearTie | None = None
    """The two, if the answers that are asked about will not tell them apart."""


def outlook_of(learner: "Learner", more: int | None = None, errors: float = ERRORS) -> Outlook | None:
    """What can be told of a learner, and whether by so many more answers; None after the verdict, or where nobody knows how its
    evidence grows.
    """
    tally, family = learner._counted, learner.families[1]
    if learner.done or not isinstance(learner._stopper, Stopper) or not tally.N_a.all():
        return None
    if not glr(family, tally)[1] > 0.0:  # a tie: what the stopping rule takes off the evidence is not known
        return None
    a, b = leader_and_rival(tally, in_play(family, tally, learner.delta, learner.pairs))
    t = max(1, learner.counted)
    needed = evidence_needed(family, learner._stopper, float(learner._constant[0]), tally, t)
    mean, n, m = float(tally.mu_hat[a]), float(tally.N_a[a]), float(tally.N_a[b])
    now, twice = (resolvable(family, mean, k * n, k * m, needed((k - 1) * t)) for k in (1, 2))
    near = None if more is None else near_tie(family, learner.arms, tally, (a, b), more, needed(more), errors)
    return Outlook(learner.arms[a], learner.arms[b], mean - float(tally.mu_hat[b]), now, twice, near)


def ahead_of(state: "StudyState", to_go: float | None) -> tuple[int | None, float]:
    """How many more answers may come before one has to think again, and by how many standard errors estimates may be off.

    What the budget leaves, at the least cost; a study without one is looked at when it needs FAR times what it has.
    """
    spec, (queries, cost), counted = state.spec, state.spent, state.learner.counted
    if state.stopped is not None:
        return counted, ERRORS
    limits = [] if spec.max_queries is None else [float(spec.max_queries - queries)]
    if spec.max_cost is not None:
        limits.append((spec.max_cost - cost) / min(spec.costs))
    if limits:
        return max(0, math.floor(min(limits))) + len(state.open), ERRORS
    return (FAR * counted, 0.0) if to_go is not None and to_go > FAR * counted else (None, 0.0)
