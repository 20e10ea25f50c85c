"""How a log is to be read: one value, made once from keywords and checked once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from gobetween.core.asked import BEST
from gobetween.core.bound import binary_kl
from gobetween.core.families import DEFAULT
from gobetween.core.family import Family
from gobetween.core.question import Question
from gobetween.core.registry import as_family, as_question
from gobetween.core.types import Floats
from gobetween.errors import LogError
from gobetween.logs.batch import Columns

Policies = Mapping[str, Sequence[float] | Floats | None]
"""Mediator → how often it pulls each arm, or None where that is not known."""


class LogKeywords(TypedDict, total=False):
    """The fields of `LogOptions` as keywords: a function that takes them says `**options: Unpack[LogKeywords]`."""

    family: Family | str
    delta: float
    mediator: str | None
    arm: str
    reward: str
    order: str | None
    declared: Policies | None
    arms: Sequence[str] | None
    skip_bad: bool
    question: Question | str
    silence: bool


@dataclass(frozen=True)
class LogOptions:
    """How a log is to be read."""

    family: Family = DEFAULT
    delta: float = 0.05
    mediator: str | None = None
    """Its column; None: "mediator", and a log without such a column has one mediator."""
    arm: str = "arm"
    reward: str = "reward"
    order: str | None = None
    """A column that is checked to rise."""
    declared: Policies | None = None
    """Policies known beforehand, in the order of `arms`; other mediators are then bad rows."""
    arms: Sequence[str] | None = None
    """Arms known beforehand; others are then bad rows."""
    skip_bad: bool = False
    """Leave out rows that cannot be used instead of refusing the log."""
    question: Question = BEST
    """What is asked about the arms."""
    silence: bool = False
    """Does the log hold rows of mediators who answered nothing? Those with neither arm nor reward are counted as silence."""

    def __post_init__(self) -> None:
        binary_kl(self.delta)
        if self.declared is not None and self.arms is None:
            raise LogError("declared policies need the names of the arms, in their order: arms=[…]")
        for name, row in (self.declared or {}).items():
            if row is not None and len(row) != len(self.known_arms):
                raise LogError(f"declared[{name!r}] has {len(row)} numbers for {len(self.known_arms)} arms: give one for each")

    @property
    def columns(self) -> Columns:
        """Which columns hold what."""
        explicit = self.mediator is not None or bool(self.declared)
        return Columns(self.mediator or "mediator", self.arm, self.reward, self.order, explicit)

    @property
    def known_arms(self) -> tuple[str, ...]:
        """All arms that there may be; empty: any."""
        return tuple(self.arms or ())

    @property
    def known_mediators(self) -> tuple[str, ...]:
        """All mediators that there may be; empty: any."""
        return tuple(self.declared or ())


def options_of(given: LogKeywords) -> LogOptions:
    """Options from keywords; the family and the question may be words, such as "poisson"."""
    values: dict[str, Any] = dict(given)
    if "family" in values:
        values["family"] = as_family(values["family"])
    if "question" in values:
        values["question"] = as_question(values["question"])
    return LogOptions(**values)
