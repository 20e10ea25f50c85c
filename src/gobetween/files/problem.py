"""TOML ↔ values: the one file shape of plans, simulations, experiments and studies, and the only place that translates names.

Every mistake is one sentence with the path of the key, such as `mediators[2].policy`.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import Any

from gobetween.core.problem import Problem
from gobetween.errors import FIXES, GoBetweenError, SpecError, Where, spelled
from gobetween.files.rules import Named, parse_family, parse_rule
from gobetween.files.toml import read_toml

PROBLEM_KEYS = ("family", "silent", "arms", "mediators")
RUN_KEYS = ("delta", "sampling", "stopping", "runs", "seed", "max_steps")
STUDY_KEYS = ("lease", "in_flight", "wait_for", "budget", "store")
#: What Problem calls it → the tables and their key in a file.
KEY_OF = {"means": ("arms", "mean"), "policies": ("mediators", "policy"), "costs": ("mediators", "cost")}
IN_FILE = {"silent": "if this mediator sometimes answers nothing, say silent = true"}
KEYS = ("title", *PROBLEM_KEYS, *RUN_KEYS, *STUDY_KEYS)


@dataclass(frozen=True)
class Spec:
    """What a file says."""

    problem: Problem
    title: str
    settings: "Settings"


@dataclass(frozen=True)
class Settings:
    """How the problem is to be run; empty or None where the file is silent."""

    delta: tuple[float, ...]
    sampling: tuple[Named, ...]
    stopping: tuple[Named, ...]
    runs: int | None
    seed: int | None
    max_steps: int | None


def read_spec(path: str | PathLike[str]) -> Spec:
    """Read and check a file."""
    return parse_spec(read_toml(path), str(path))


def parse_spec(data: Mapping[str, Any], source: str) -> Spec:
    """Check nested dicts; `source` opens every message."""
    with naming(source):
        only(data, KEYS, "")
        title = typed(data.get("title", ""), str, "title", "a string")
        return Spec(parse_problem(data), title, parse_settings(data))


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Mistakes found inside are told with their source, in the words of the file."""
    try:
        yield
    except GoBetweenError as error:
        raise SpecError(f"{source}: {error.sentence(in_file, {**FIXES, **IN_FILE})}") from None


def parse_problem(data: Mapping[str, Any]) -> Problem:
    """The problem that a file or a part of it describes."""
    family = parse_family(data.get("family", "gaussian"))
    arms, means = _arms(tables(data, "arms"))
    names, policies, costs = _mediators(tables(data, "mediators"), arms) if "mediators" in data else (None, None, None)
    return Problem(
        means,
        policies,
        family=family,
        costs=costs,
        silent=typed(data.get("silent", False), bool, "silent", "true or false"),
        arms=arms,
        mediators=names,
    )


def parse_settings(data: Mapping[str, Any]) -> Settings:
    """Risks, rules and numbers."""
    return Settings(
        parse_deltas(data.get("delta", [])),
        _rules(data, "sampling"),
        _rules(data, "stopping"),
        whole(data, "runs", 1),
        whole(data, "seed", 0),
        whole(data, "max_steps", 1),
    )


def _rules(data: Mapping[str, Any], side: str) -> tuple[Named, ...]:
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


def whole(data: Mapping[str, Any], key: str, least: int) -> int | None:
    """A whole number; None when the key is not there."""
    value = data.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
        raise SpecError(f"{key} = {show(value)}: must be a whole number, {least} or more")
    return value


def in_file(where: Where) -> str:
    """Problem speaks of its arguments; the reader of a file knows its keys."""
    table, key = KEY_OF.get(str(where[0]), ("", "")) if len(where) > 1 else ("", "")
    return spelled((table, where[1], key, *where[2:]) if table else where)


def parse_deltas(value: Any) -> tuple[float, ...]:
    """One risk or several."""
    values = value if isinstance(value, list) else [value]
    deltas = tuple(number(v, "delta") for v in values)
    for delta in deltas:
        if not 0.0 < delta < 1.0:
            raise SpecError(f"delta = {delta:g}: the risk of a wrong answer is a number between 0 and 1, such as 0.05")
    return deltas


def _arms(tables: list[Mapping[str, Any]]) -> tuple[list[str], list[float]]:
    names: list[str] = []
    means: list[float] = []
    for i, table in enumerate(tables):
        path = f"arms[{i}]"
        only(table, ("name", "mean"), f"{path}.")
        names.append(unique_name(table, f"arm {i + 1}", names, path))
        if "mean" not in table:
            raise SpecError(f"{path}.mean is missing: a plan needs a guess of each arm's mean")
        means.append(number(table["mean"], f"{path}.mean"))
    return names, means


def _mediators(tables: list[Mapping[str, Any]], arms: list[str]) -> tuple[list[str], list[list[float]], list[float] | None]:
    names: list[str] = []
    policies: list[list[float]] = []
    costs: list[float] = []
    for i, table in enumerate(tables):
        path = f"mediators[{i}]"
        only(table, ("name", "policy", "cost", "contact"), f"{path}.")
        names.append(unique_name(table, f"mediator {i + 1}", names, path))
        if "policy" not in table:
            raise SpecError(f"{path}.policy is missing: a plan needs how often each mediator pulls each arm")
        policies.append(parse_policy(table["policy"], arms, f"{path}.policy"))
        costs.append(number(table.get("cost", 1.0), f"{path}.cost"))
    return names, policies, costs if any("cost" in table for table in tables) else None


def parse_policy(value: Any, arms: list[str], path: str) -> list[float]:
    """A list in the order of the arms, or a table from arm names to probabilities (others are 0)."""
    if isinstance(value, Mapping):
        only(value, arms, f"{path}.")
        return [number(value.get(arm, 0.0), f"{path}.{arm}") for arm in arms]
    if not isinstance(value, list) or len(value) != len(arms):
        raise SpecError(
            f"{path} must be a list of {len(arms)} probabilities, one for each arm, or a table from arm to probability"
        )
    return [number(p, f"{path}[{a}]") for a, p in enumerate(value)]


def show(value: Any) -> str:
    """A value for a message: short, and as TOML would spell it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) > 10**30:
        return "a very large number"
    text = repr(value) if isinstance(value, (str, int, float, list, dict)) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def unique_name(table: Mapping[str, Any], default: str, taken: list[str], path: str) -> str:
    """A name that is not taken."""
    name: str = typed(table.get("name", default), str, f"{path}.name", "a string")
    if name in taken:
        raise SpecError(
            f"{path}.name = {name!r} is also the name of {path.split('[')[0]}[{taken.index(name)}]: names must differ"
        )
    return name


def tables(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The tables of a key, at least one."""
    value = data.get(key)
    if value is None or value == []:
        raise SpecError(f"{key} is missing: write one [[{key}]] for each")
    if not isinstance(value, list) or not value or not all(isinstance(item, Mapping) for item in value):
        raise SpecError(f"{key} must be a list of tables: write one [[{key}]] for each")
    return value


def only(table: Mapping[str, Any], known: Any, prefix: str) -> None:
    """Refuse unknown keys."""
    for key in table:
        if key not in known:
            choices = f"choose from {', '.join(known)}" if known else "there is none here"
            raise SpecError(f"{prefix}{key} is not a known key: {choices}")


def typed(value: Any, kind: Any, path: str, what: str) -> Any:
    """A value of the right kind."""
    if not isinstance(value, kind):
        raise SpecError(f"{path} = {show(value)}: must be {what}")
    return value


def number(value: Any, path: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SpecError(f"{path} = {show(value)}: must be a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise SpecError(f"{path} = {show(value)}: must be a finite number")
    return number
