"""What a live study is about, with every default resolved: from a study.toml or from plain Python values."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from gobetween.core.evidence.guess import Guess
from gobetween.core.problem.cast import Cast, Policy, from_json_rows
from gobetween.core.question.question import Question
from gobetween.core.reward.family import Family
from gobetween.core.sampling.sampling_rule import SamplingRule
from gobetween.core.stopping.stopping_rule import StoppingRule
from gobetween.errors import SpecError
from gobetween.export import as_list
from gobetween.files.fields import naming, only, show
from gobetween.files.toml import read_toml
from gobetween.names import normal
from gobetween.study.learner.design import Design, design_from_dict, design_to_dict
from gobetween.study.learner.learner import Learner
from gobetween.study.learner.state import LearnerState
from gobetween.study.notify.messages import Notify, parse_notify
from gobetween.study.spec.fields import left_out, parse_terms

#: What may change after the first event: it cannot touch the mathematics. Names change by `rename` only.
EDITABLE = ("title", "arms", "mediators", "contacts", "lease", "in_flight", "max_queries", "max_cost", "notify", "inbox")


@dataclass(frozen=True, init=False, repr=False, eq=False)
class StudySpec:
    """A study; `to_dict` is what a store keeps.

    >>> gb.StudySpec(["letter", "call"], {"North": [0.8, 0.2], "South": None}, family="bernoulli", title="Reminders")
    <StudySpec 'Reminders': 2 arms, 2 mediators, bernoulli, delta=0.05>
    """

    title: str
    cast: Cast
    """Arms, mediators, policies and costs."""
    contacts: tuple[str, ...]
    """Of each mediator."""
    design: Design
    """Family, question, risk, rules and seed."""
    wait_for: str
    """Until when the verdict waits for an answer: the end of its "lease", or the "answer" (or that the query is cancelled)."""
    lease: float | None
    """Seconds until an open query may be issued again; None: never."""
    in_flight: int | None
    """How many queries are kept open; None: as many as are asked for."""
    max_queries: int | None
    max_cost: float | None
    """The budget."""
    notify: Notify | None
    """Who is told when something happens."""
    inbox: Mapping[str, str]
    """What an inbox asks: `question`, `option`, `outcome`, `yes` and `no`, where the usual words shall not stand."""
    left_out: ClassVar[frozenset[str]] = frozenset()
    """Fields that were left out: they have their defaults, or in a study that has begun what it was begun with."""

    def __init__(
        self,
        arms: Sequence[str],
        mediators: Mapping[str, Policy] | Sequence[str],
        *,
        family: Family | str | Mapping[str, Any] | None = None,
        delta: float = 0.05,
        title: str = "",
        costs: Mapping[str, float] | Sequence[float] | None = None,
        contacts: Mapping[str, str] | None = None,
        silent: bool = False,
        sampling: SamplingRule | str | Mapping[str, Any] | None = None,
        stopping: StoppingRule | str | Mapping[str, Any] | None = None,
        question: Question | str | Mapping[str, Any] | None = None,
        seed: int = 0,
        lease: str | float | None = None,
        wait_for: str | None = None,
        in_flight: int | None = None,
        budget: Mapping[str, float] | None = None,
        notify: Mapping[str, Any] | None = None,
        inbox: Mapping[str, str] | None = None,
        guess: Guess | None = None,
    ) -> None:
        """The same as a study.toml says: mediators are names, or a mapping from names to policies (a set of arms: those that it
        may pull; None: not known).

        family: Bernoulli, wait_for: "answer" when left out. guess: what is expected of the arms, fixed before the first answer.
        """
        rest = {
            "family": family, "delta": delta, "title": title, "silent": silent, "sampling": sampling, "stopping": stopping,
            "question": question, "seed": seed, "lease": lease, "wait_for": wait_for, "in_flight": in_flight,
            "budget": budget or {}, "notify": notify, "inbox": inbox,
        }  # fmt: skip
        tables = _tables(arms, mediators, costs, contacts) | rest | _guessed(arms, guess)
        self.__dict__.update(parse_terms(tables), left_out=left_out(tables))
        self.fitting()

    @classmethod
    def _of(cls, values: Mapping[str, Any]) -> "StudySpec":
        """From fields that are known to be right."""
        spec = cls.__new__(cls)
        spec.__dict__.update(values)
        return spec

    def __repr__(self) -> str:
        who, design = f"{len(self.arms)} arms, {len(self.mediators)} mediators", self.design
        return f"<StudySpec {self.title!r}: {who}, {design.family.name}, delta={design.delta:g}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StudySpec) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    @property
    def arms(self) -> tuple[str, ...]:
        """Their names."""
        return self.cast.arms

    @property
    def mediators(self) -> tuple[str, ...]:
        """Their names."""
        return self.cast.mediators

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        cast = self.cast
        people = {
            "arms": list(cast.arms),
            "mediators": list(cast.mediators),
            "contacts": list(self.contacts),
            "policies": list(cast.policies_by_name().values()),
            "costs": cast.costs.tolist(),
            "silent": cast.silent,
            "notify": None if self.notify is None else self.notify.to_dict(),
            "inbox": dict(self.inbox),
        }
        return people | design_to_dict(self.design) | {field: getattr(self, field) for field in _PLAIN}

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> "StudySpec":
        """Read and check a study.toml."""
        return parse_study(read_toml(path), str(path))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "StudySpec":
        """What `to_dict` described."""
        rows, arms = data["policies"], tuple(data["arms"])
        cast = Cast(arms, tuple(data["mediators"]), from_json_rows(rows, len(arms)), np.array(data["costs"]), data["silent"])
        more = {"contacts": tuple(data["contacts"]), "notify": parse_notify(data["notify"]), "inbox": dict(data["inbox"])}
        return cls._of({field: data[field] for field in _PLAIN} | {"cast": cast, "design": design_from_dict(data)} | more)

    def edited(self, field: str, value: Any) -> "StudySpec":
        """The same with one field changed, given as in `to_dict`."""
        if field in ("arms", "mediators"):
            names: Any = {field: tuple(value)}
            return self._of(self.__dict__ | {"cast": replace(self.cast, **names)})
        if field == "notify":
            value = parse_notify(value)
        return self._of(self.__dict__ | {field: tuple(value) if isinstance(value, list) else value})

    def joined(self, name: str, policy: Policy, cost: float, contact: str) -> "StudySpec":
        """The same with one mediator more, the last."""
        return self._of(self.__dict__ | {"cast": self.cast.joined(name, policy, cost), "contacts": (*self.contacts, contact)})

    def declaring(self, name: str, policy: Policy) -> "StudySpec":
        """The same with another policy declared of a mediator."""
        return self._of(self.__dict__ | {"cast": self.cast.declaring(name, policy)})

    def fitting(self) -> "StudySpec":
        """The same, unless something of it does not fit together."""
        self.cast.checked()
        self.new_learner()
        return self

    def new_learner(self) -> Learner:
        """A learner that has not asked anything."""
        return Learner.of(LearnerState.begin(self.cast.within_reach(), self.design))


#: Fields that `to_dict` keeps as they are.
_PLAIN = ("title", "wait_for", "lease", "in_flight", "max_queries", "max_cost")


def begun_with(stored: Mapping[str, Any], spec: StudySpec) -> StudySpec:
    """A spec for a study that has begun: what it leaves out is as stored, whatever the defaults are by now."""
    kept = {field: stored[field] for field in spec.left_out}
    return StudySpec.from_dict(spec.to_dict() | kept)


def differences(old: Mapping[str, Any], new: StudySpec) -> dict[str, tuple[Any, Any]]:
    """Field → (old, new), JSON-safe, where a stored spec and another differ."""
    after = new.to_dict()
    return {key: (old[key], after[key]) for key in after if old[key] != after[key]}


def parse_study(data: Mapping[str, Any], source: str) -> StudySpec:
    """Check nested dicts, and that all of it fits together."""
    return fitting(unfitted(data, source), source)


def unfitted(data: Mapping[str, Any], source: str) -> StudySpec:
    """Nested dicts, field by field: enough for one that is the same as what a store holds."""
    with naming(source):
        return StudySpec._of(parse_terms(data) | {"left_out": left_out(data)})


def fitting(spec: StudySpec, source: str) -> StudySpec:
    """Refuse what does not fit together."""
    with naming(source):
        return spec.fitting()


def _tables(
    arms: Sequence[str],
    mediators: Mapping[str, Policy] | Sequence[str],
    costs: Mapping[str, float] | Sequence[float] | None,
    contacts: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Arms and mediators as a file would say them."""
    named: Mapping[str, Any] = mediators if isinstance(mediators, Mapping) else dict.fromkeys(_names(mediators, "mediators"))
    made: list[dict[str, Any]] = [{"name": name} for name in named]
    for table, policy in zip(made, named.values(), strict=True):
        if isinstance(policy, Set):
            table["support"] = as_list(policy)
        elif policy is not None:
            table["policy"] = policy if isinstance(policy, Mapping) else as_list(policy)
    if costs is not None and not isinstance(costs, Mapping):
        values = as_list(costs)
        if not isinstance(values, list) or len(values) != len(made):
            raise SpecError(f"costs = {show(costs)}: must be a list or a mapping with one for each of {len(made)} mediators")
        costs = dict(zip(named, values, strict=True))
    for key, value in (("cost", costs or {}), ("contact", contacts or {})):
        only(value, tuple(named), f"{key}s.")
        for table in made:
            if table["name"] in value:
                table[key] = value[table["name"]]
    return {"arms": [{"name": name} for name in _names(arms, "arms")], "mediators": made}


def _guessed(arms: Sequence[str], guess: Guess | None) -> dict[str, Any]:
    """Arms with a guess, as a file would say them."""
    if guess is None:
        return {}
    names = _names(arms, "arms")
    if len(names) != len(guess.means):
        raise SpecError(f"the guess has {len(guess.means)} means for {len(names)} arms: give one for each")
    said = zip(names, guess.means, guess.spread, strict=True)
    return {"arms": [{"name": name, "mean": mean, "spread": s} for name, mean, s in said], "stake": guess.stake}


def _names(given: Any, what: str) -> list[str]:
    names = as_list(given)
    if not isinstance(names, list):
        raise SpecError(f"{what} = {show(given)}: must be a list of names")
    first: dict[str, int] = {}
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise SpecError(f"{what}[{i}] = {show(name)}: must be a string")
        if first.setdefault(normal(name), i) < i:
            raise SpecError(f"{what}[{i}] = {show(name)} is also the name of {what}[{first[normal(name)]}]: names must differ")
    return names
