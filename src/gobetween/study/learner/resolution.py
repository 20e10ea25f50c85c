"""What more answers would buy: which difference between the leader and its closest rival can be told with how many."""

from dataclasses import dataclass

from gobetween.core.verdict.evidence_report import ERRORS, NearTie, in_play, leader_and_rival, near_tie, resolvable
from gobetween.study.learner.state import LearnerState


@dataclass(frozen=True)
class Resolution:
    """The closest rival in play, and the gaps that can be detected: true of expected data, no guarantee."""

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


def resolution_of(state: LearnerState, more: int | None = None, errors: float = ERRORS) -> Resolution | None:
    """What the answers, or so many more, can tell apart; None after the verdict, or where evidence grows in an unknown way."""
    arms, tally, family, decision = state.cast.arms, state.counted.tally, state.counted.family, state.decision
    t = max(1, state.counted.n)
    needed = None if decision.sure else decision.stopper.needed(family, tally, float(decision.constant[0]), t)
    if needed is None:
        return None
    a, b = leader_and_rival(tally, in_play(family, tally, state.design.delta, state.pairs))
    mean, n, m = float(tally.mu_hat[a]), float(tally.N_a[a]), float(tally.N_a[b])
    now, twice = (resolvable(family, mean, k * n, k * m, needed((k - 1) * t)) for k in (1, 2))
    near = None if more is None else near_tie(family, arms, tally, (a, b), more, needed(more), errors)
    return Resolution(arms[a], arms[b], mean - float(tally.mu_hat[b]), now, twice, near)
