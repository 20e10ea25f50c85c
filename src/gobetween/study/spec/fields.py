"""The terms of a study, read from nested dicts in the shape of files: every field checked, every default filled in."""

import re
from collections.abc import Mapping
from typing import Any

from gobetween.core.ground.registry import resolve
from gobetween.core.question.question import Question, as_question
from gobetween.core.question.questions import BEST
from gobetween.core.reward.families import DEFAULT
from gobetween.core.reward.family import Family, as_family
from gobetween.errors import SpecError
from gobetween.export import choose
from gobetween.files.fields import number, only, show, tables, text, typed, whole
from gobetween.files.problem import only_known, parse_budget, parse_deltas, parse_roster
from gobetween.files.rules import default, parse_family, parse_question, parse_rule
from gobetween.study.learner.design import Design
from gobetween.study.notify.messages import parse_notify

INBOX, LONGEST_WORDS = ("question", "option", "outcome", "yes", "no"), 300
WAITS = ("lease", "answer")
#: Keys that cannot change once a study has begun, and that a file may leave out.
OPTIONAL = ("family", "silent", "delta", "sampling", "stopping", "question", "seed", "wait_for")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_terms(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `StudySpec`. A family and rules may also be values, as Python users give them."""
    only_known(data)
    if len(tables(data, "arms")) < 2:
        raise SpecError("arms: a study needs at least two arms")
    tables(data, "mediators")  # a plan may do without, a study not
    roster, budget = parse_roster(data), parse_budget(data.get("budget", {}))
    return {
        "title": text(data.get("title", ""), "title"),
        "cast": roster.cast(typed(data.get("silent", False), bool, "silent", "true or false")),
        "contacts": roster.contacts,
        "design": Design(
            _family(data.get("family")),
            _question(data.get("question")),
            _delta(data.get("delta", 0.05)),
            _one_rule(data, "sampling"),
            _one_rule(data, "stopping").guessing(roster.guess),
            whole(data, "seed", 0) or 0,
        ),
        "wait_for": _wait_for(data.get("wait_for")),
        "lease": _lease(data.get("lease")),
        "in_flight": _in_flight(data),
        "max_queries": budget.queries,
        "max_cost": budget.cost,
        "notify": parse_notify(data.get("notify")),
        "inbox": parse_inbox(data.get("inbox")),
    }


def parse_inbox(value: Any) -> dict[str, str]:
    """What an inbox asks: its question, what stands over the options and results, and yes and no; empty: the usual words."""
    table = {} if value is None else typed(value, Mapping, "inbox", f"a table with {', '.join(INBOX)}")
    only(table, INBOX, "inbox.")
    said = {key: text(table[key], f"inbox.{key}").strip() for key in INBOX if key in table}
    for key, words in said.items():
        if len(words) > LONGEST_WORDS:
            raise SpecError(f"inbox.{key}: has {len(words):,} characters; at most {LONGEST_WORDS} fit on a phone")
    return {key: words for key, words in said.items() if words}


def left_out(data: Mapping[str, Any]) -> frozenset[str]:
    """The keys of OPTIONAL that are not said, so that their defaults hold."""
    guess = any("spread" in arm for arm in data.get("arms", ()))  # a part of the stopping rule
    return frozenset(key for key in OPTIONAL if data.get(key) is None and not (guess and key == "stopping"))


def _family(value: Any) -> Family:
    if value is None:
        return DEFAULT
    return parse_family(value) if isinstance(value, (str, Mapping)) else as_family(value)


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
        raise SpecError(f"wait_for = {show(value)}: {choose(value, WAITS, str)}")
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
