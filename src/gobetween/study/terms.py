"""The terms of a study, read from nested dicts in the shape of files: every field checked, every default filled in."""

import re
from collections.abc import Mapping
from typing import Any

from gobetween.core.asked import BEST
from gobetween.core.families import DEFAULT
from gobetween.core.question import Question
from gobetween.core.registry import as_question, resolve
from gobetween.errors import SpecError
from gobetween.files.fields import number, only, show, tables, text, typed, whole
from gobetween.files.problem import KEYS, parse_budget, parse_cast, parse_deltas
from gobetween.files.rules import default, parse_family, parse_question, parse_rule
from gobetween.study.notify import parse_notify

WAITS = ("lease", "answer")
#: Keys that cannot change once a study has begun, and that a file may leave out.
OPTIONAL = ("family", "silent", "delta", "sampling", "stopping", "question", "seed", "wait_for")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_terms(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `StudySpec`. A family and rules may also be values, as Python users give them."""
    only(data, KEYS, "")
    if len(tables(data, "arms")) < 2:
        raise SpecError("arms: a study needs at least two arms")
    tables(data, "mediators")  # a plan may do without, a study not
    cast, budget = parse_cast(data), parse_budget(data.get("budget", {}))
    family = DEFAULT if data.get("family") is None else data["family"]
    return {
        "title": text(data.get("title", ""), "title"),
        "arms": cast.arms,
        "mediators": cast.mediators,
        "contacts": cast.contacts,
        "policies": cast.policies,
        "costs": cast.costs or (1.0,) * len(cast.mediators),
        "family": parse_family(family) if isinstance(family, (str, Mapping)) else resolve("family", family),
        "silent": typed(data.get("silent", False), bool, "silent", "true or false"),
        "delta": _delta(data.get("delta", 0.05)),
        "sampling": _one_rule(data, "sampling"),
        "stopping": _one_rule(data, "stopping"),
        "question": _question(data.get("question")),
        "seed": whole(data, "seed", 0) or 0,
        "wait_for": _wait_for(data.get("wait_for")),
        "lease": _lease(data.get("lease")),
        "in_flight": _in_flight(data),
        "max_queries": budget.queries,
        "max_cost": budget.cost,
        "notify": parse_notify(data.get("notify")),
    }


def left_out(data: Mapping[str, Any]) -> frozenset[str]:
    """The keys of OPTIONAL that are not said, so that their defaults hold."""
    return frozenset(key for key in OPTIONAL if data.get(key) is None)


def _question(value: Any) -> Question:
    if value is None:
        return BEST
    return parse_question(value, "question") if isinstance(value, (str, Mapping)) else as_question(value)


def _delta(value: Any) -> float:
    deltas = parse_deltas(value)
    if len(deltas) != 1:
        raise SpecError(f"delta = {show(value)}: a study has one risk of a wrong answer, such as 0.05")
    return deltas[0]


def _one_rule(data: Mapping[str, Any], side: str) -> Any:
    value = data.get(side)
    if isinstance(value, list) and len(value) != 1:
        raise SpecError(f"{side} names {len(value)} rules: a study follows one")
    if isinstance(value, list):
        value = value[0]
    if value is None:
        return default(side).rule
    return parse_rule(value, side, side).rule if isinstance(value, (str, Mapping)) else resolve(side, value)


def _wait_for(value: Any) -> str:
    if value is None:
        return "answer"
    if value not in WAITS:
        raise SpecError(f"wait_for = {show(value)}: choose one of {', '.join(WAITS)}")
    return str(value)


def _lease(value: Any) -> float | None:
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
