"""What a learner reports about itself."""

from collections.abc import Mapping
from dataclasses import dataclass

from gobetween.core.evidence import ArmReport


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
    """Estimated: what the statistic lacks, at the rate 1/T*(μ̂, π̂) of the best allocation; ∞ while that is unknown."""
    p_value: float
    """Against "some other arm is strictly better than the leader", valid whenever one looks. Not the chance that it is best."""
    arms: tuple[ArmReport, ...]
    shares: Mapping[str, float]
    """Share of queries issued to each mediator."""
    target: Mapping[str, float]
    """The shares that the sampling rule follows now."""
