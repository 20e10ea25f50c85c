"""What a learner reports about itself."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gobetween.core.alarm.alarm import Alarm
from gobetween.core.sampling.sampler import AnySampler
from gobetween.core.verdict.evidence_report import Account, ArmReport, Evidence, arm_reports, in_play
from gobetween.export import html_table
from gobetween.study.learner.queries import Query
from gobetween.study.learner.state import LearnerState


@dataclass(frozen=True)
class Progress:
    """How far a learner is."""

    leader: str | None
    """The counted answers' best arm; `recommendation` is the one that the verdict named."""
    statistic: float
    threshold: float
    """The learner stops when the statistic of the counted answers reaches the threshold."""
    counted: int
    """Answers that the verdict counts: the resolved prefix in the order in which queries were issued."""
    told: int
    pending: int
    waiting_for: Query | None
    """The oldest open query, when later answers wait for it to be counted."""
    queries_to_go: float
    """Estimated: what the statistic lacks, at the rate of the shares that the rule plans or, where it plans none, of the pulls
    so far; ∞ while that is unknown. `Learner.forecast` looks closer, and has a range."""
    p_value: float
    """Against "some other arm is strictly better than the leader", valid at any time; not the probability that it is best.
    Of a verdict, unless it is in doubt: that with which it was reached."""
    arms: tuple[ArmReport, ...]
    shares: Mapping[str, float]
    """Share of queries issued to each mediator."""
    target: Mapping[str, float]
    """The shares that the sampling rule follows now."""
    in_play: tuple[str, ...]
    """The arms that can still be best, with probability ≥ 1 − δ at all times; after the verdict, the one that it named."""
    account: Account
    """The verdict with the alarms about it."""

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """What was checked about the world, raised or not, the worst first."""
        return self.account.alarms

    @property
    def headline(self) -> str:
        """The answer in one sentence; what is wrong, once an alarm that breaks the guarantee is raised."""
        from gobetween.words.verdict import headline

        return headline(self.account)


def progress_of(learner: LearnerState) -> Progress:
    """Read a learner."""
    cast, seen, planner, counted = learner.cast, learner.seen, learner.planner, learner.counted
    decision = learner.decision
    found, issued, queries = decision.evidence(), max(1, int(seen.N_e.sum())), learner.queries
    oldest = next(iter(queries.open.items()), None) if queries.waiting else None
    plan = planner.plan.planned(planner.present, learner.told.family, seen)
    shares = plan.shares()
    followed = () if shares is None else zip(plan.members, shares, strict=True)
    return Progress(
        leader=cast.arms[found.leader] if counted.tally.N_a.any() else None,
        statistic=found.statistic,
        threshold=found.threshold,
        counted=counted.n,
        told=int(seen.N_ea.sum()),
        pending=len(queries.open),
        waiting_for=None if oldest is None else Query(oldest[0], cast.mediators[oldest[1]]),
        queries_to_go=_to_go(learner, plan, found),
        p_value=found.p_value if not decision.sure or decision.verdict is None else decision.verdict["p_value"],
        arms=_arms(learner),
        shares={name: int(seen.N_e[e]) / issued for e, name in enumerate(cast.mediators)},
        target={cast.mediators[int(e)]: float(share) for e, share in followed},
        in_play=_arms_in_play(learner),
        account=learner.account(detectable=True),
    )


def _arms_in_play(learner: LearnerState) -> tuple[str, ...]:
    """The arms that can still be best."""
    if learner.decision.sure:
        return learner.answer
    still = in_play(learner.counted.family, learner.counted.tally, learner.design.delta, learner.pairs)
    return tuple(name for name, is_in in zip(learner.cast.arms, still, strict=True) if is_in)


def _to_go(learner: LearnerState, plan: AnySampler, found: Evidence) -> float:
    """What is lacking, times T̂* in queries where the rule plans, or at the evidence of each answer so far."""
    counted, decision = learner.counted, learner.decision
    if decision.sure:
        return 0.0
    lack, Z = found.threshold - found.statistic, decision.stopper.gathered(counted.family, counted.tally, found.statistic)
    if Z is None or not counted.tally.N_a.all():
        return math.inf  # unknown: how a statistic of one's own grows, or what an arm pays that was never seen
    shares, T_upper = plan.shares(), plan.T_upper()
    if shares is None or math.isinf(T_upper):
        return max(0.0, lack) * counted.n / Z if Z > 0.0 else math.inf
    return max(0.0, lack) * T_upper / float(learner.cast.costs[plan.members] @ shares)


def _arms(learner: LearnerState) -> tuple[ArmReport, ...]:
    return arm_reports(learner.counted.family, learner.cast.arms, learner.counted.tally, learner.design.delta)


def arms_html(learner: LearnerState, title: str) -> str:
    """The arms as a table, for notebooks."""
    rows = [(arm.arm, arm.pulls, _number(arm.estimate), f"{_number(arm.low)} to {_number(arm.high)}") for arm in _arms(learner)]
    return html_table(title, ("arm", "pulls", "estimate", "interval, always valid"), rows)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
