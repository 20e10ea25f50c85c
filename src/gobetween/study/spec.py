"""What a live study is about, with every default resolved: from a study.toml or from plain Python values."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any, ClassVar

from gobetween.core.asked import BEST
from gobetween.core.family import Family
from gobetween.core.policies import Policy
from gobetween.core.question import Question
from gobetween.core.rule import SamplingRule, StoppingRule
from gobetween.core.stopping import EProcess
from gobetween.errors import SpecError
from gobetween.files.fields import naming, only, show
from gobetween.files.problem import Row
from gobetween.files.rules import parse_family, parse_question, rule_from_dict, rule_to_dict
from gobetween.files.toml import read_toml
from gobetween.study.learner import Learner
from gobetween.study.notify import Notify, parse_notify
from gobetween.study.setup import new_setup, within_reach
from gobetween.study.terms import left_out, parse_terms

#: What may change after the first event: it cannot touch the mathematics. Names change by `rename` only.
EDITABLE = ("title", "arms", "mediators", "contacts", "lease", "in_flight", "max_queries", "max_cost", "notify")


@dataclass(frozen=True, init=False, repr=False)
class StudySpec:
    """A study; `to_dict` is what a store keeps.

    >>> gb.StudySpec(["letter", "call"], {"North": [0.8, 0.2], "South": None}, family="bernoulli", title="Reminders")
    <StudySpec 'Reminders': 2 arms, 2 mediators, bernoulli, delta=0.05>
    """

    title: str
    arms: tuple[str, ...]
    mediators: tuple[str, ...]
    contacts: tuple[str, ...]
    policies: tuple[Row | None, ...]
    """None where nothing is known; in a row None of the arms of a support, and 0 of others."""
    costs: tuple[float, ...]
    family: Family
    silent: bool
    delta: float
    sampling: SamplingRule
    stopping: StoppingRule
    question: Question
    seed: int
    wait_for: str
    """Until when the verdict waits for an answer: the end of its "lease", or the "answer" (or that the query is cancelled)."""
    lease: float | None
    """Seconds until an open query may be issued anew; None: never."""
    in_flight: int | None
    """How many queries are kept open; None: as many as are asked for."""
    max_queries: int | None
    max_cost: float | None
    """The budget."""
    notify: Notify | None
    """Who is told when something happens."""
    left_out: ClassVar[frozenset[str]] = frozenset()
    """Fields that nobody said: they have their defaults, or in a study that has begun what it was begun with."""

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
    ) -> None:
        """The same as a study.toml says: mediators are names, or a mapping from names to policies (a set of arms: those that it
        may pull; None: not known).

        family: Bernoulli, wait_for: "answer" when left out.
        """
        rest = {
            "family": family, "delta": delta, "title": title, "silent": silent, "sampling": sampling, "stopping": stopping,
            "question": question, "seed": seed, "lease": lease, "wait_for": wait_for, "in_flight": in_flight,
            "budget": budget or {}, "notify": notify,
        }  # fmt: skip
        self.__dict__.update(parse_terms(_cast(arms, mediators, costs, contacts) | rest), left_out=left_out(rest))
        within_reach(self.new_learner().setup)  # these refuse what does not fit together

    @classmethod
    def _of(cls, values: Mapping[str, Any]) -> "StudySpec":
        """From fields that are known to be right."""
        spec = cls.__new__(cls)
        spec.__dict__.update(values)
        return spec

    def __repr__(self) -> str:
        cast = f"{len(self.arms)} arms, {len(self.mediators)} mediators"
        return f"<StudySpec {self.title!r}: {cast}, {self.family.name}, delta={self.delta:g}>"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe. The best arm is asked for where no question is said, as it was before there were others."""
        named = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in _MAY_LACK}
        asked = {} if self.question == BEST else {"question": self.question.to_dict()}
        told = {} if self.notify is None else {"notify": self.notify.to_dict()}
        return (
            named
            | asked
            | told
            | {
                "arms": list(self.arms),
                "mediators": list(self.mediators),
                "contacts": list(self.contacts),
                "policies": [None if row is None else list(row) for row in self.policies],
                "costs": list(self.costs),
                "family": self.family.to_dict(),
                "sampling": rule_to_dict(self.sampling),
                "stopping": rule_to_dict(self.stopping),
            }
        )

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> "StudySpec":
        """Read and check a study.toml."""
        return parse_study(read_toml(path), str(path))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "StudySpec":
        """What `to_dict` described."""
        return cls._of(
            {field.name: data[field.name] for field in fields(cls) if field.name not in _MAY_LACK}
            | {
                "arms": tuple(data["arms"]),
                "mediators": tuple(data["mediators"]),
                "contacts": tuple(data["contacts"]),
                "policies": tuple(None if row is None else tuple(row) for row in data["policies"]),
                "costs": tuple(data["costs"]),
                "family": parse_family(data["family"]),
                "sampling": rule_from_dict(data["sampling"], "sampling"),
                "stopping": rule_from_dict(data["stopping"], "stopping"),
                "question": parse_question(data.get("question", BEST.name), "question"),  # earlier versions had one
                "notify": parse_notify(data.get("notify")),
            }
        )

    def edited(self, field: str, value: Any) -> "StudySpec":
        """The same with one field changed, given as in `to_dict`."""
        if field == "notify":
            value = parse_notify(value)
        return self._of(self.__dict__ | {field: tuple(value) if isinstance(value, list) else value})

    def joined(self, name: str, policy: Sequence[float | None] | None, cost: float, contact: str) -> "StudySpec":
        """The same with one mediator more, the last."""
        row = None if policy is None else tuple(policy)
        more = {"mediators": name, "policies": row, "costs": cost, "contacts": contact}
        return self._of(self.__dict__ | {field: (*getattr(self, field), value) for field, value in more.items()})

    def new_learner(self) -> Learner:
        """A learner that has not asked anything."""
        setup = new_setup(
            self.arms,
            dict(zip(self.mediators, self.policies, strict=True)),
            self.family,
            self.delta,
            self.costs,
            self.sampling,
            self.stopping,
            self.seed,
            self.silent,
            question=self.question,
        )
        return Learner.begun(setup)


#: Fields that `to_dict` leaves out where they are as they were before there was a choice.
_MAY_LACK = {"question": BEST.name, "notify": None}
#: What the default stopping rule was stored as by earlier versions.
_DEFAULTS_BEFORE = (
    {"rule": EProcess.name},
    {"rule": EProcess.name, "weights": "ranks", "contrast": 0.3, "still": 0.05},
)


def begun_with(stored: Mapping[str, Any], spec: StudySpec) -> StudySpec:
    """A spec for a study that has begun: what it leaves out is as stored, whatever the defaults are by now, and so is a word
    that stood for another rule when it was begun.
    """
    kept = set(spec.left_out)
    if stored["stopping"] in _DEFAULTS_BEFORE and spec.stopping == EProcess():  # parameters that came later
        kept.add("stopping")
    if not kept:
        return spec
    before = StudySpec.from_dict(stored).__dict__
    return StudySpec._of(spec.__dict__ | {field: before[field] for field in kept})


def differences(old: Mapping[str, Any], new: StudySpec) -> dict[str, tuple[Any, Any]]:
    """Field → (old, new), JSON-safe, where a stored spec and another differ."""
    after = new.to_dict()
    if old == after:
        return {}
    before = StudySpec.from_dict(old).to_dict()  # an earlier version may have kept it in other words
    return {
        key: (before.get(key, _MAY_LACK.get(key)), after.get(key, _MAY_LACK.get(key)))
        for key in before | after
        if before.get(key) != after.get(key)
    }


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
        within_reach(spec.new_learner().setup)
    return spec


def _cast(
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


def _names(given: Any, what: str) -> list[str]:
    names = as_list(given)
    if not isinstance(names, list):
        raise SpecError(f"{what} = {show(given)}: must be a list of names")
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise SpecError(f"{what}[{i}] = {show(name)}: must be a string")
        if name in names[:i]:
            raise SpecError(f"{what}[{i}] = {show(name)} is also the name of {what}[{names.index(name)}]: names must differ")
    return names


def as_list(values: Any) -> Any:
    """A list of plain Python values, also from an array or, in order, a set; what is none is left to be refused."""
    if isinstance(values, Set):
        return sorted(values, key=str)
    if hasattr(values, "tolist"):
        return values.tolist()
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else values
