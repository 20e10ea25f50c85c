"""TOML ↔ values: the one file shape of plans, simulations, experiments and studies, and the only place that translates names.

Every mistake is one sentence with the path of the key, such as `mediators[2].policy`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, TypeVar

from gobetween.core.evidence.guess import STAKE, Guess
from gobetween.core.ground.registry import classes
from gobetween.core.ground.value import parameters_of
from gobetween.core.problem.cast import Cast, check_size, new_cast
from gobetween.core.problem.problem import Problem
from gobetween.core.question.question import Question
from gobetween.errors import SpecError
from gobetween.export import choose, meant_number
from gobetween.files.fields import naming, number, only, show, tables, text, typed, unique_names, whole
from gobetween.files.rules import NamedRule, family_in, parse_question, parse_rule
from gobetween.files.toml import read_toml
from gobetween.names import as_declared

T = TypeVar("T")
Row = tuple[float | None, ...]  # a policy; None where a probability is not known, 0 of all arms outside a support
PROBLEM_KEYS = ("family", "silent", "arms", "mediators", "stake")
RUN_KEYS = ("delta", "question", "sampling", "stopping", "runs", "seed", "max_steps")
STUDY_KEYS = ("lease", "in_flight", "wait_for", "budget", "store", "notify", "inbox")
KEYS = ("title", *PROBLEM_KEYS, *RUN_KEYS, *STUDY_KEYS)


@dataclass(frozen=True)
class Spec:
    """What a file says."""

    problem: Problem
    title: str
    settings: "Settings"
    guess: Guess | None = None
    guessed: tuple[int, ...] = ()  # mediators whose policy is not known: the problem has equal shares of what they may pull


@dataclass(frozen=True)
class Roster:
    """Arms and mediators as a file lists them; None where it says nothing."""

    arms: tuple[str, ...]
    means: tuple[float | None, ...]
    mediators: tuple[str, ...]
    policies: tuple["Row | None", ...]
    costs: tuple[float, ...] | None  # 1 for mediators without one; None if no mediator has one
    contacts: tuple[str, ...]
    guess: Guess | None = None  # where arms have a mean and how sure that is

    def cast(self, silent: bool) -> Cast:
        """The same, checked."""
        return new_cast(self.arms, dict(zip(self.mediators, self.policies, strict=True)), self.costs, silent)


@dataclass(frozen=True)
class Budget:
    """Where a study stops in any case: queries, cost or both."""

    queries: int | None = None
    cost: float | None = None

    def __bool__(self) -> bool:
        return self.queries is not None or self.cost is not None


NO_BUDGET = Budget()


@dataclass(frozen=True)
class Settings:
    """How the problem is to be run; empty or None where the file is silent."""

    delta: tuple[float, ...]
    sampling: tuple[NamedRule, ...]
    stopping: tuple[NamedRule, ...]
    runs: int | None
    seed: int | None
    max_steps: int | None
    budget: Budget
    question: Question | None = None


def read_spec(path: str | PathLike[str]) -> Spec:
    """Read and check a file."""
    return parse_spec(read_toml(path), str(path))


def parse_spec(data: Mapping[str, Any], source: str, guess: bool = False) -> Spec:
    """Check nested dicts; `source` opens every message. guess: where a policy is not known, take equal shares."""
    with naming(source):
        only_known(data)
        title, roster = text(data.get("title", ""), "title"), parse_roster(data)
        guessed = tuple(i for i, row in enumerate(roster.policies) if row is None or None in row)
        if guess:
            nothing = (None,) * len(roster.arms)
            roster = replace(roster, policies=tuple(equal_shares(row or nothing) for row in roster.policies))
        return Spec(_problem(data, roster), title, parse_settings(data), roster.guess, guessed)


def only_known(data: Mapping[str, Any]) -> None:
    """Refuse keys that a file does not have; a parameter of its family has its place there."""
    named = data.get("family")
    kind = classes("family").get(named) if isinstance(named, str) else None
    beside = {
        key: show(value) for key, value in data.items() if key not in KEYS and kind is not None and _is_of(kind, key, value)
    }
    for key in beside:
        table = f'family = {{ name = "{named}", {", ".join(f"{one} = {value}" for one, value in beside.items())} }}'
        raise SpecError(f"{key} is a parameter of the family: write {table}")
    only(data, KEYS, "")


def _is_of(kind: Any, key: str, value: Any) -> bool:
    """Is a key a parameter of a family, also in another spelling of it?"""
    return key in (*parameters_of(kind), *parameters_of(kind.spelled({"name": kind.name, key: value})))


def equal_shares(row: Row) -> Row:
    """A policy in which all that is not known is equal."""
    unknown = sum(p is None for p in row)
    return tuple(1.0 / unknown if p is None else p for p in row)


def parse_problem(data: Mapping[str, Any]) -> tuple[Problem, Guess | None]:
    """The problem that a file or a part of it describes: every mean and every policy must be there; and its guess."""
    roster = parse_roster(data)
    return _problem(data, roster), roster.guess


GUESS = "plans and simulations need a guess of each arm's mean"


def _problem(data: Mapping[str, Any], roster: Roster) -> Problem:
    family = family_in(data)
    means = [_there(mean, f"arms[{i}].mean", GUESS) for i, mean in enumerate(roster.means)]
    words = "simulations need how often each mediator pulls each arm (a plan takes as equal what is not known)"
    policies = [_there(_whole(row), f"mediators[{i}].policy", words) for i, row in enumerate(roster.policies)]
    return Problem(
        means,
        policies or None,
        family=family,
        costs=roster.costs,
        silent=typed(data.get("silent", False), bool, "silent", "true or false"),
        arms=roster.arms,
        mediators=roster.mediators or None,
    )


def _whole(row: Row | None) -> list[float] | None:
    """A policy of which every probability is known."""
    known = [p for p in row or () if p is not None]
    return known if row is not None and len(known) == len(row) else None


def _there(value: T | None, path: str, what: str) -> T:
    if value is None:
        raise SpecError(f"{path} is missing: {what}")
    return value


def parse_settings(data: Mapping[str, Any]) -> Settings:
    """Risks, rules and numbers."""
    return Settings(
        parse_deltas(data.get("delta", [])),
        _rules(data, "sampling"),
        _rules(data, "stopping"),
        whole(data, "runs", 1),
        whole(data, "seed", 0),
        whole(data, "max_steps", 1),
        parse_budget(data.get("budget", {})),
        None if data.get("question") is None else parse_question(data["question"], "question"),
    )


def parse_budget(value: Any) -> Budget:
    """A table with queries, cost or both."""
    table = typed(value, Mapping, "budget", "a table with queries, cost or both")
    only(table, ("queries", "cost"), "budget.")
    cost = table.get("cost")
    if cost is not None and number(cost, "budget.cost") <= 0.0:
        raise SpecError(f"budget.cost = {show(cost)}: must be a positive number")
    with naming("budget"):
        queries = whole(table, "queries", 1)
    return Budget(queries, None if cost is None else float(cost))


def _rules(data: Mapping[str, Any], side: str) -> tuple[NamedRule, ...]:
    """One rule or a list of them, with names that differ."""
    value = data.get(side, [])
    if not isinstance(value, list):
        return (parse_rule(value, side, side),)
    rules = tuple(parse_rule(item, side, f"{side}[{i}]") for i, item in enumerate(value))
    names = [rule.name for rule in rules]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise SpecError(f"{side}[{i}].name = {name!r} is also the name of {side}[{names.index(name)}]: names must differ")
    return rules


def parse_deltas(value: Any) -> tuple[float, ...]:
    """One risk or several."""
    values = value if isinstance(value, list) else [value]
    deltas = tuple(number(v, "delta") for v in values)
    for delta in deltas:
        if not 0.0 < delta < 1.0:
            raise SpecError(f"delta = {delta:g}: the risk of a wrong answer is a number between 0 and 1, such as 0.05")
    return deltas


def parse_roster(data: Mapping[str, Any]) -> Roster:
    """Arms and mediators; a file without mediators has none."""
    listed = tables(data, "arms")
    given = tables(data, "mediators") if "mediators" in data else []
    check_size(len(listed), len(given))
    means: list[float | None] = []
    for i, table in enumerate(listed):
        only(table, ("name", "mean", "spread"), f"arms[{i}].")
        means.append(number(table["mean"], f"arms[{i}].mean") if "mean" in table else None)
    for i, table in enumerate(given):
        only(table, ("name", "policy", "support", "cost", "contact"), f"mediators[{i}].")
    arms, mediators = unique_names(listed, "arms"), unique_names(given, "mediators")
    policies = [_policy(table, arms, f"mediators[{i}]") for i, table in enumerate(given)]
    costs = tuple(number(table.get("cost", 1.0), f"mediators[{i}].cost") for i, table in enumerate(given))
    contacts = (text(t.get("contact", ""), f"mediators[{i}].contact") for i, t in enumerate(given))
    said = any("cost" in table for table in given)
    people = tuple(mediators), tuple(policies), costs if said else None, tuple(contacts)
    return Roster(tuple(arms), tuple(means), *people, _guess(data, listed))


def _guess(data: Mapping[str, Any], arms: Sequence[Mapping[str, Any]]) -> Guess | None:
    """What the arms' means and spreads guess; None where no arm has a spread."""
    if not any("spread" in arm for arm in arms):
        if "stake" in data:
            raise SpecError("stake: there is no guess to stake on: give each arm a mean and a spread, or leave it out")
        return None
    for key in ("mean", "spread"):
        for i, arm in enumerate(arms):
            if key not in arm:
                raise SpecError(f"arms[{i}].{key} is missing: a guess needs mean and spread of each arm")
    means, spreads = ([number(arm[key], f"arms[{i}].{key}") for i, arm in enumerate(arms)] for key in ("mean", "spread"))
    return Guess(means, spreads, number(data.get("stake", STAKE), "stake"))


def _policy(table: Mapping[str, Any], arms: Sequence[str], path: str) -> Row | None:
    """What is said of a mediator's policy: probabilities, which arms it may pull, or nothing."""
    if "policy" in table and "support" in table:
        raise SpecError(f"{path}.support: the policy says already which arms it may pull: leave out one of the two")
    if "support" in table:
        return parse_support(table["support"], arms, f"{path}.support")
    return parse_policy(table["policy"], arms, f"{path}.policy") if "policy" in table else None


def parse_policy(value: Any, arms: Sequence[str], path: str) -> Row | None:
    """A list in the order of the arms (None, as it is kept, where nobody knows), or a table from arm names to probabilities
    (others are 0); a list of names is a support.
    """
    if isinstance(value, Mapping):
        value = dict(zip(as_declared(value, arms), value.values(), strict=True))
        only(value, arms, f"{path}.")
        return tuple(number(value.get(arm, 0.0), f"{path}.{arm}") for arm in arms)
    if isinstance(value, list) and value and all(isinstance(name, str) for name in value):
        return parse_support(value, arms, path)
    if not isinstance(value, list) or len(value) != len(arms):
        raise SpecError(
            f"{path} must be a list of {len(arms)} probabilities, one for each arm, or a table from arm to probability"
        )
    if set(map(type, value)) == {float} and math.isfinite(sum(value)):  # what nearly all are, quickly
        return tuple(value)
    row = tuple(None if p is None else number(p, f"{path}[{a}]") for a, p in enumerate(value))
    return row if any(p is not None for p in row) else None


def parse_support(value: Any, arms: Sequence[str], path: str) -> Row | None:
    """The names of the arms that a mediator may pull; all of them say nothing."""
    if not isinstance(value, list) or not value:
        raise SpecError(f"{path} = {show(value)}: must be a list with the names of the arms that this mediator may pull")
    found, known = as_declared(value, arms), set(arms)
    for i, name in enumerate(found):
        if not isinstance(name, str) or name not in known:
            raise SpecError(f"{path}[{i}] = {show(name)} is not an arm{meant_number(name) or f': {choose(name, arms)}'}")
    return None if set(found) == known else tuple(None if arm in found else 0.0 for arm in arms)
