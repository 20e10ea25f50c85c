"""How a log is to be read: one value, made once from keywords and checked once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict

from gobetween.core.bound.lower_bound import binary_kl
from gobetween.core.ground.jit import Floats
from gobetween.core.problem.cast import Policy, policy_row
from gobetween.core.question.question import Question, as_question
from gobetween.core.question.questions import BEST
from gobetween.core.reward.families import DEFAULT
from gobetween.core.reward.family import Family, as_family
from gobetween.errors import Fix, LogError, ProblemError
from gobetween.export import choose
from gobetween.files.cells import NumberFormat, separator_of
from gobetween.logs.reading.columns import Columns
from gobetween.logs.reading.filters import Filter
from gobetween.names import normal


class LogKeywords(TypedDict, total=False):
    """The fields of `LogOptions` as keywords: a function that takes them says `**options: Unpack[LogKeywords]`."""

    family: Family | str
    delta: float
    mediator: str | Sequence[str] | None
    arm: str | Sequence[str]
    reward: str
    order: str | None
    declared: Mapping[str, Policy] | None
    arms: Sequence[str] | None
    skip_bad: bool
    question: Question | str
    silence: bool
    count: str | None
    totals: bool
    id: str | None
    propensity: str | None
    where: str | None
    only: Sequence[str] | None
    fold: bool
    rename: Mapping[str, str] | None
    separator: str | None
    decimal: str
    thousands: str | None
    encoding: str | None


@dataclass(frozen=True)
class LogOptions:
    """How a log is to be read."""

    family: Family = DEFAULT
    delta: float = 0.05
    mediator: str | Sequence[str] | None = None
    """Its column, or several; None: "mediator", and a log without such a column has one mediator."""
    arm: str | Sequence[str] = "arm"
    reward: str = "reward"
    order: str | None = None  # a column that is checked to rise in each file; files that overlap are merged by it
    declared: Mapping[str, Policy] | None = (
        None  # policies known beforehand, in the order of `arms`; other mediators are then bad rows
    )
    arms: Sequence[str] | None = None  # arms known beforehand; others are then bad rows
    skip_bad: bool = False  # leave out rows that cannot be used instead of refusing the log
    question: Question = BEST  # what is asked about the arms
    silence: bool = False
    """Does the log hold rows of mediators who answered nothing? Those with neither arm nor reward are counted as silence."""

    count: str | None = None  # a column that says how many rows a row stands for
    totals: bool = False  # is the reward of such a row the total of all, not that of each?
    id: str | None = None  # a column whose values must differ: a row that repeats one cannot be used
    propensity: str | None = None  # a column of the probability with which the mediator chose the arm
    where: str | None = None  # a condition in SQL on single rows, such as "position = 1"; other rows are left out
    only: Sequence[str] | None = None  # arms that are asked about; rows of others are left out
    fold: bool = False  # join names that differ by case, spaces, Unicode form or as 1 and 1.0 do
    rename: Mapping[str, str] | None = None  # old name → new one, of arms and mediators
    separator: str | None = None
    """Between cells of CSV; None: a comma, a semicolon, a tab or a bar, whichever its first line has."""
    decimal: str = "."
    thousands: str | None = None
    encoding: str | None = None  # of files of text; None: UTF-8, or what a byte order mark says

    def __post_init__(self) -> None:
        binary_kl(self.delta)
        if self.declared is not None and self.arms is None:
            raise LogError("declared policies need the names of the arms, in their order: arms=[…]")
        if self.totals and self.count is None:
            raise LogError("totals are of as many rows as a column says: name it", fix=Fix("count"))
        if self.totals and not self.family.totals_suffice:
            raise LogError(f"totals hide how far {self.family.name} rewards spread, which is checked: give single rewards")
        if self.only is not None and self.silence:
            raise LogError("only some arms cannot be asked about where silence counts: leave out one of the two")
        for old, new in (self.rename or {}).items():
            if not new.strip():
                raise LogError(f"rename {old!r}: give it a new name, not {new!r}")
        if self.only is not None and not any(name.strip() for name in self.only):
            raise LogError("only some arms are asked about, but none is named: name them, or leave it out")
        self.style, self.filter, self.declared_rows  # noqa: B018 - each refuses what cannot be read
        for name in self.only or ():
            if self.arms is not None and name not in self.arms:
                raise LogError(f"only {name!r}: is none of the arms: {choose(name, self.arms)}")

    @cached_property
    def declared_rows(self) -> dict[str, Floats]:
        """Mediator → its declared policy [K], of all rows or of those with an answer; NaN where a probability is not known."""
        found = {}
        for name, policy in (self.declared or {}).items():
            try:
                found[name] = policy_row(policy, 0, self.known_arms, name, silent=True)
            except ProblemError as error:
                raise LogError(f"declared[{name!r}]{'' if error.where else ':'} {error.what}") from None
        return found

    @property
    def style(self) -> NumberFormat:
        """How files of text are written."""
        return NumberFormat(separator_of(self.separator), self.decimal, self.thousands, self.encoding)

    @cached_property
    def filter(self) -> Filter | None:
        """The rows that are asked for."""
        return None if self.where is None else Filter(self.where)

    @cached_property
    def columns(self) -> Columns:
        """Which columns hold what."""
        explicit = self.mediator is not None or bool(self.declared)
        names = _names(self.mediator) or "mediator", _names(self.arm), self.reward, self.order
        others = () if self.filter is None else self.filter.columns
        return Columns(*names, self.count, self.id, self.propensity, others, explicit)

    @property
    def ordered(self) -> bool:
        """Do rows come one after the other? Those that stand for many have lost their order."""
        return self.count is None

    @cached_property
    def names(self) -> frozenset[str]:
        """Names that are ones, whatever they look like."""
        return frozenset((*self.known_arms, *self.known_mediators, *(self.rename or {}).values(), *(self.only or ())))

    @property
    def asked_arms(self) -> tuple[str, ...]:
        """The arms that are asked about; empty: all."""
        return tuple(self.only or ())

    @property
    def counted_arms(self) -> tuple[str, ...]:
        """Arms that are there whether rows name them or not."""
        return self.asked_arms or self.known_arms

    @property
    def known_arms(self) -> tuple[str, ...]:
        """All arms that there may be; empty: any."""
        return tuple(self.arms or ())

    @property
    def known_mediators(self) -> tuple[str, ...]:
        """All mediators that there may be; empty: any."""
        return tuple(self.declared or ())


def _names(columns: str | Sequence[str] | None) -> str:
    return columns if isinstance(columns, str) else ",".join(columns or ())


def options_of(given: LogKeywords) -> LogOptions:
    """Options from keywords; the family and the question may be words, such as "poisson"."""
    values: dict[str, Any] = dict(given)
    for key in ("arms", "only"):
        if values.get(key) is not None:
            values[key] = [normal(name) if isinstance(name, str) else name for name in values[key]]
    for key in ("declared", "rename"):
        if values.get(key) is not None:
            values[key] = {normal(name): value for name, value in values[key].items()}
    if "family" in values:
        values["family"] = as_family(values["family"])
    if "question" in values:
        values["question"] = as_question(values["question"])
    return LogOptions(**values)
