"""What a live study is about: study.toml, in the one shape of files, with every default resolved."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any

from gobetween.core.family import Family
from gobetween.errors import SpecError
from gobetween.files.problem import (
    KEYS,
    naming,
    number,
    only,
    parse_deltas,
    parse_policy,
    show,
    tables,
    typed,
    unique_name,
    whole,
)
from gobetween.files.rules import default, parse_family, parse_rule, rule_from_dict, rule_to_dict
from gobetween.files.toml import read_toml
from gobetween.study.learner import Learner

WAITS = ("lease", "answer")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
#: What may change after the first event: it cannot touch the mathematics.
EDITABLE = ("title", "arms", "mediators", "contacts", "lease", "in_flight", "max_queries", "max_cost")


@dataclass(frozen=True)
class StudySpec:
    """A study; `to_dict` is what a store keeps."""

    title: str
    arms: tuple[str, ...]
    mediators: tuple[str, ...]
    contacts: tuple[str, ...]
    policies: tuple[tuple[float, ...] | None, ...]
    costs: tuple[float, ...]
    family: Family
    silent: bool
    delta: float
    sampling: Any
    stopping: Any
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

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        data = asdict(replace(self, family=None, sampling=None, stopping=None))  # type: ignore[arg-type]  # filled in below
        return data | {
            "arms": list(self.arms),
            "mediators": list(self.mediators),
            "contacts": list(self.contacts),
            "policies": [None if row is None else list(row) for row in self.policies],
            "costs": list(self.costs),
            "family": self.family.to_dict(),
            "sampling": rule_to_dict(self.sampling),
            "stopping": rule_to_dict(self.stopping),
        }

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> "StudySpec":
        """Read and check a study.toml."""
        return parse_study(read_toml(path), str(path))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "StudySpec":
        """What `to_dict` described."""
        return cls(
            **{key: value for key, value in data.items() if not isinstance(value, (list, dict))},
            arms=tuple(data["arms"]),
            mediators=tuple(data["mediators"]),
            contacts=tuple(data["contacts"]),
            policies=tuple(None if row is None else tuple(row) for row in data["policies"]),
            costs=tuple(data["costs"]),
            family=parse_family(data["family"]),
            sampling=rule_from_dict(data["sampling"], "sampling"),
            stopping=rule_from_dict(data["stopping"], "stopping"),
        )

    def new_learner(self) -> Learner:
        """A learner that has not asked anything."""
        return Learner(
            self.arms,
            dict(zip(self.mediators, self.policies, strict=True)),
            family=self.family,
            delta=self.delta,
            costs=self.costs,
            sampling=self.sampling,
            stopping=self.stopping,
            seed=self.seed,
            silent=self.silent,
        )


def differences(old: StudySpec, new: StudySpec) -> dict[str, tuple[Any, Any]]:
    """Field → (old, new), JSON-safe, where two specs differ."""
    before, after = old.to_dict(), new.to_dict()
    return {key: (before[key], after[key]) for key in before if before[key] != after[key]}


def parse_study(data: Mapping[str, Any], source: str) -> StudySpec:
    """Check nested dicts."""
    with naming(source):
        only(data, KEYS, "")
        family = parse_family(data.get("family", "gaussian"))
        arms: list[str] = []
        for i, table in enumerate(tables(data, "arms")):
            only(table, ("name", "mean"), f"arms[{i}].")
            arms.append(unique_name(table, f"arm {i + 1}", arms, f"arms[{i}]"))
        if len(arms) < 2:
            raise SpecError("arms: a study needs at least two arms")
        mediators, contacts, policies, costs = _mediators(data, arms)
        spec = StudySpec(
            title=typed(data.get("title", ""), str, "title", "a string"),
            arms=tuple(arms),
            mediators=mediators,
            contacts=contacts,
            policies=policies,
            costs=costs,
            family=family,
            silent=typed(data.get("silent", False), bool, "silent", "true or false"),
            delta=_delta(data),
            sampling=_one_rule(data, "sampling"),
            stopping=_one_rule(data, "stopping"),
            seed=whole(data, "seed", 0) or 0,
            wait_for=_wait_for(data),
            lease=parse_lease(data.get("lease")),
            in_flight=_in_flight(data),
            **_budget(data),
        )
        spec.new_learner()  # refuses what does not fit together
        return spec


def _mediators(data: Mapping[str, Any], arms: list[str]) -> tuple[Any, Any, Any, Any]:
    names: list[str] = []
    contacts, policies, costs = [], [], []
    for i, table in enumerate(tables(data, "mediators")):
        path = f"mediators[{i}]"
        only(table, ("name", "policy", "cost", "contact"), f"{path}.")
        names.append(unique_name(table, f"mediator {i + 1}", names, path))
        contacts.append(typed(table.get("contact", ""), str, f"{path}.contact", "a string"))
        policies.append(tuple(parse_policy(table["policy"], arms, f"{path}.policy")) if "policy" in table else None)
        costs.append(number(table.get("cost", 1.0), f"{path}.cost"))
    return tuple(names), tuple(contacts), tuple(policies), tuple(costs)


def _delta(data: Mapping[str, Any]) -> float:
    deltas = parse_deltas(data.get("delta", 0.05))
    if len(deltas) != 1:
        raise SpecError(f"delta = {show(data['delta'])}: a study has one risk of a wrong answer, such as 0.05")
    return deltas[0]


def _one_rule(data: Mapping[str, Any], side: str) -> Any:
    value = data.get(side)
    if isinstance(value, list) and len(value) != 1:
        raise SpecError(f"{side} names {len(value)} rules: a study follows one")
    if isinstance(value, list):
        value = value[0]
    return default(side).rule if value is None else parse_rule(value, side, side).rule


def _wait_for(data: Mapping[str, Any]) -> str:
    value = data.get("wait_for", "lease")
    if value not in WAITS:
        raise SpecError(f"wait_for = {show(value)}: choose one of {', '.join(WAITS)}")
    return str(value)


def parse_lease(value: Any) -> float | None:
    """Seconds: a number, or a text such as "45s", "30m", "12h" or "3d"."""
    if value is None:
        return None
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd])\s*", value)
        if not found:
            raise SpecError(f"lease = {show(value)}: write a time such as '30m', '12h' or '3d'")
        value = float(found[1]) * UNITS[found[2]]
    seconds = number(value, "lease")
    if not 0.0 < seconds <= 3650 * 86400:
        raise SpecError(f"lease = {show(value)}: must be a positive time of at most ten years")
    return seconds


def _in_flight(data: Mapping[str, Any]) -> int | None:
    value = whole(data, "in_flight", 1)
    if value is not None and value > 10_000:
        raise SpecError(f"in_flight = {value}: at most 10,000 queries can be kept open")
    return value


def _budget(data: Mapping[str, Any]) -> dict[str, Any]:
    table = typed(data.get("budget", {}), Mapping, "budget", "a table with queries, cost or both")
    only(table, ("queries", "cost"), "budget.")
    cost = table.get("cost")
    if cost is not None and number(cost, "budget.cost") <= 0.0:
        raise SpecError(f"budget.cost = {show(cost)}: must be a positive number")
    with naming("budget"):
        queries = whole(table, "queries", 1)
    return {"max_queries": queries, "max_cost": None if cost is None else float(cost)}
