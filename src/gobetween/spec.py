"""TOML ↔ values: the one file shape of plans, simulations, experiments and studies, and the only place that translates names.

Every mistake is one sentence with the path of the key, such as `mediators[2].policy`.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from gobetween.core.families import FAMILIES, Family
from gobetween.core.problem import Problem
from gobetween.errors import GoBetweenError, SpecError
from gobetween.files import read_toml

KEYS = ("title", "family", "silent", "delta", "arms", "mediators")


@dataclass(frozen=True)
class Spec:
    """What a file says."""

    problem: Problem
    delta: tuple[float, ...]
    """Risks; empty when the file names none."""
    title: str


def read_spec(path: str | PathLike[str]) -> Spec:
    """Read and check a file."""
    return parse_spec(read_toml(path), str(path))


def parse_spec(data: Mapping[str, Any], source: str) -> Spec:
    """Check nested dicts; `source` opens every message."""
    try:
        _only(data, KEYS, "")
        family = parse_family(data.get("family", "gaussian"))
        arms, means = _arms(_tables(data, "arms"))
        names, policies, costs = _mediators(_tables(data, "mediators"), arms) if "mediators" in data else (None, None, None)
        problem = Problem(
            means,
            policies,
            family=family,
            costs=costs,
            silent=_typed(data.get("silent", False), bool, "silent", "true or false"),
            arms=arms,
            mediators=names,
        )
        title = _typed(data.get("title", ""), str, "title", "a string")
        return Spec(problem, parse_deltas(data.get("delta", [])), title)
    except GoBetweenError as error:
        raise SpecError(f"{source}: {_in_words_of_the_file(str(error))}") from None


def _in_words_of_the_file(message: str) -> str:
    """Problem speaks of its arguments; the reader of a file knows its keys."""
    for argument, key in ((r"means\[(\d+)\]", r"arms[\1].mean"), (r"policies\[(\d+)\]", r"mediators[\1].policy")):
        message = re.sub(f"^{argument}", key, message)
    message = re.sub(r"^costs\[(\d+)\]", r"mediators[\1].cost", message)
    return message.replace("silent=True", "silent = true")


def parse_family(value: Any) -> Family:
    """A family from its name or from a table with a name and parameters."""
    table = {"name": value} if isinstance(value, str) else _typed(value, Mapping, "family", "a name or a table with a name")
    name = table.get("name")
    if "name" not in table:
        raise SpecError(f"family.name is missing: choose one of {', '.join(FAMILIES)}")
    if not isinstance(name, str) or name not in FAMILIES:
        raise SpecError(f"family.name = {show(name)}: choose one of {', '.join(FAMILIES)}")
    parameters = {key: _number(table[key], f"family.{key}") for key in table if key != "name"}
    kind: Any = FAMILIES[name]
    _only(parameters, kind._fields, "family.")
    family: Family = kind(**parameters)
    return family


def parse_deltas(value: Any) -> tuple[float, ...]:
    """One risk or several."""
    values = value if isinstance(value, list) else [value]
    deltas = tuple(_number(v, "delta") for v in values)
    for delta in deltas:
        if not 0.0 < delta < 1.0:
            raise SpecError(f"delta = {delta:g}: the risk of a wrong answer is a number between 0 and 1, such as 0.05")
    return deltas


def _arms(tables: list[Mapping[str, Any]]) -> tuple[list[str], list[float]]:
    names: list[str] = []
    means: list[float] = []
    for i, table in enumerate(tables):
        path = f"arms[{i}]"
        _only(table, ("name", "mean"), f"{path}.")
        names.append(_name(table, f"arm {i + 1}", names, path))
        if "mean" not in table:
            raise SpecError(f"{path}.mean is missing: a plan needs a guess of each arm's mean")
        means.append(_number(table["mean"], f"{path}.mean"))
    return names, means


def _mediators(tables: list[Mapping[str, Any]], arms: list[str]) -> tuple[list[str], list[list[float]], list[float] | None]:
    names: list[str] = []
    policies: list[list[float]] = []
    costs: list[float] = []
    for i, table in enumerate(tables):
        path = f"mediators[{i}]"
        _only(table, ("name", "policy", "cost"), f"{path}.")
        names.append(_name(table, f"mediator {i + 1}", names, path))
        if "policy" not in table:
            raise SpecError(f"{path}.policy is missing: a plan needs how often each mediator pulls each arm")
        policies.append(_policy(table["policy"], arms, f"{path}.policy"))
        costs.append(_number(table.get("cost", 1.0), f"{path}.cost"))
    return names, policies, costs if any("cost" in table for table in tables) else None


def _policy(value: Any, arms: list[str], path: str) -> list[float]:
    """A list in the order of the arms, or a table from arm names to probabilities (others are 0)."""
    if isinstance(value, Mapping):
        _only(value, arms, f"{path}.")
        return [_number(value.get(arm, 0.0), f"{path}.{arm}") for arm in arms]
    if not isinstance(value, list) or len(value) != len(arms):
        raise SpecError(
            f"{path} must be a list of {len(arms)} probabilities, one for each arm, or a table from arm to probability"
        )
    return [_number(p, f"{path}[{a}]") for a, p in enumerate(value)]


def show(value: Any) -> str:
    """A value for a message: short, and as TOML would spell it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) > 10**30:
        return "a very large number"
    text = repr(value) if isinstance(value, (str, int, float, list, dict)) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _name(table: Mapping[str, Any], default: str, taken: list[str], path: str) -> str:
    name: str = _typed(table.get("name", default), str, f"{path}.name", "a string")
    if name in taken:
        raise SpecError(
            f"{path}.name = {name!r} is also the name of {path.split('[')[0]}[{taken.index(name)}]: names must differ"
        )
    return name


def _tables(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = data.get(key)
    if value is None or value == []:
        raise SpecError(f"{key} is missing: write one [[{key}]] for each")
    if not isinstance(value, list) or not value or not all(isinstance(item, Mapping) for item in value):
        raise SpecError(f"{key} must be a list of tables: write one [[{key}]] for each")
    return value


def _only(table: Mapping[str, Any], known: Any, prefix: str) -> None:
    for key in table:
        if key not in known:
            choices = f"choose from {', '.join(known)}" if known else "there is none here"
            raise SpecError(f"{prefix}{key} is not a known key: {choices}")


def _typed(value: Any, kind: Any, path: str, what: str) -> Any:
    if not isinstance(value, kind):
        raise SpecError(f"{path} = {show(value)}: must be {what}")
    return value


def _number(value: Any, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SpecError(f"{path} = {show(value)}: must be a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise SpecError(f"{path} = {show(value)}: must be a finite number")
    return number
