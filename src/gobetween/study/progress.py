"""What a learner reports about itself."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gobetween.core.absence import planned
from gobetween.core.alarm import Alarm
from gobetween.core.evidence import ArmReport, arm_reports, in_play
from gobetween.core.examiner import Examiner
from gobetween.core.sampler import AnySampler
from gobetween.core.stopper import OwnStopper, glr
from gobetween.core.voice import Account
from gobetween.export import html_table

if TYPE_CHECKING:
    from gobetween.study.learner import Learner


@dataclass(frozen=True)
class Query:
    """Ask this mediator; answer with `tell(query, arm=…, reward=…)`."""

    id: int
    mediator: str


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
    """Against "some other arm is strictly better than the leader", valid whenever one looks. Not the chance that it is best."""
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
        return self.account.headline()


def progress_of(learner: "Learner") -> Progress:
    """Read a learner."""
    state, found = learner._state, learner.evidence()
    issued = max(1, int(state.N_e.sum()))
    plan = planned(learner._plan, learner._present, learner.families[0], state)
    shares = plan.shares()
    followed = () if shares is None else zip(plan.members, shares, strict=True)
    return Progress(
        leader=learner.arms[found.leader] if learner._counted.N_a.any() else None,
        statistic=found.statistic,
        threshold=found.threshold,
        counted=learner.counted,
        told=int(state.N_ea.sum()),
        pending=len(learner.pending),
        waiting_for=learner.pending[0] if learner._resolved and learner.pending else None,
        queries_to_go=_to_go(learner, plan, found.threshold - found.statistic),
        p_value=found.p_value,
        arms=_arms(learner),
        shares={name: int(state.N_e[e]) / issued for e, name in enumerate(learner.mediators)},
        target={learner.mediators[int(e)]: float(share) for e, share in followed},
        in_play=arms_in_play(learner),
        account=learner.account(),
    )


def arms_in_play(learner: "Learner") -> tuple[str, ...]:
    """The arms that can still be best."""
    if learner._named is not None:
        return learner.answer
    still = in_play(learner.families[1], learner._counted, learner.delta, learner.pairs)
    return tuple(name for name, is_in in zip(learner.arms, still, strict=True) if is_in)


def _to_go(learner: "Learner", plan: AnySampler, lack: float) -> float:
    """What is lacking, times T̂* in queries where the rule plans, or at the evidence of each answer so far."""
    if learner.done:
        return 0.0
    if isinstance(learner._stopper, OwnStopper) or not learner._counted.N_a.all():
        return math.inf  # nobody knows how a statistic of one's own grows, or what an arm pays that was never seen
    shares, T_upper = plan.shares(), plan.T_upper()
    if shares is None or math.isinf(T_upper):
        own = isinstance(learner._stopper, Examiner)
        Z = learner.evidence().statistic if own else float(glr(learner.families[1], learner._counted)[1])
        return max(0.0, lack) * learner.counted / Z if Z > 0.0 else math.inf
    return max(0.0, lack) * T_upper / float(learner.costs[plan.members] @ shares)


def _arms(learner: "Learner") -> tuple[ArmReport, ...]:
    return arm_reports(learner.families[1], learner.arms, learner._counted, learner.delta)


def arms_html(learner: "Learner") -> str:
    """The arms as a table, for notebooks."""
    rows = [(arm.arm, arm.pulls, _number(arm.estimate), f"{_number(arm.low)} to {_number(arm.high)}") for arm in _arms(learner)]
    return html_table(repr(learner), ("arm", "pulls", "estimate", "interval, always valid"), rows)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
