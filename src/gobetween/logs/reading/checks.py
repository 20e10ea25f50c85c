"""Which rows of a batch can be used, why others cannot, and whether they come in order."""

import math
import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from gobetween.core.ground.jit import Bools, Floats
from gobetween.logs.reading.batch import Batch, Names, Order
from gobetween.logs.reading.counts import NEITHER, NO_NUMBER, NOT_PAID, NOT_TOGETHER, BadRow, Before
from gobetween.logs.reading.names import is_nothing
from gobetween.logs.reading.options import LogOptions
from gobetween.names import LONGEST

MOST = 1e15  # rows that one row may stand for


def left_out_rows(batch: Batch, options: LogOptions) -> Bools | None:
    """Is a row of an arm that is not asked about? None: all are."""
    if options.only is None:
        return None
    asked = set(options.asked_arms)
    return ~batch.arms.of_rows([value in asked or not _is_name(value, options.names) for value in batch.arms.values], True)


def usable_rows(batch: Batch, options: LogOptions) -> Bools:
    """Has a row an arm, a mediator and a reward that are possible?"""
    good = named_rows(batch, options)
    good &= _possible(batch, options)
    if batch.propensities is not None:
        good &= (batch.propensities > 0.0) & (batch.propensities <= 1.0)
    return good


def named_rows(batch: Batch, options: LogOptions) -> Bools:
    """Has a row an arm and a mediator that are possible?"""
    good = np.ones(len(batch.rewards), np.bool_)
    for _, names, known in _named(batch, options):
        good &= names.of_rows(_allowed(names, known, options))
    return good


def _possible(batch: Batch, options: LogOptions) -> Bools:
    """Can the rewards be paid, and be those of as many rows as is said?"""
    family, rewards, n = options.family, batch.rewards, batch.weights
    if n is None:
        return np.asarray(family.pays(rewards), np.bool_)
    whole = is_number_of_rows(n)
    if not options.totals:
        return np.asarray(whole & family.pays(rewards), np.bool_)
    with np.errstate(invalid="ignore"):
        inside = (rewards >= n * family.low) & (rewards <= n * family.high) & np.isfinite(rewards)
        if math.isfinite(family.low) and not family.pays(family.low + 0.5):  # such as 0 and 1: totals are whole
            inside &= rewards == np.floor(rewards)
    return np.asarray(whole & (inside | ((n == 0.0) & (rewards == 0.0))), np.bool_)


def is_number_of_rows(n: Floats) -> Bools:
    """Can a row stand for so many?"""
    return np.asarray((n >= 0.0) & (n == np.floor(n)) & (n <= MOST), np.bool_)


def stands_for(batch: Batch, i: int) -> int:
    """How many rows a row is; one, where nobody says a number that can be."""
    return int(batch.weights[i]) if batch.weights is not None and is_number_of_rows(batch.weights[i : i + 1])[0] else 1


def _allowed(names: Names, known: tuple[str, ...], options: LogOptions) -> list[bool]:
    """Of each value: is it a name, and one that there may be?"""
    among = set(known)
    return [value in among if known else _is_name(value, options.names) for value in names.values]


def _is_name(value: str, names: frozenset[str]) -> bool:
    return (not is_nothing(value) and "\0" not in value and len(value) <= LONGEST) or value in names


def silent_rows(batch: Batch, options: LogOptions) -> Bools:
    """Did a mediator answer nothing: neither arm nor reward?"""
    if not options.silence:
        return np.zeros(len(batch.rewards), np.bool_)
    names = batch.mediators
    found = _nothing(batch, options) & names.of_rows(_allowed(names, options.known_mediators, options))
    return np.asarray(found if batch.weights is None else found & is_number_of_rows(batch.weights), np.bool_)


def _nothing(batch: Batch, options: LogOptions) -> Bools:
    """Has a row neither arm nor reward?"""
    empty = batch.arms.of_rows([not _is_name(value, options.names) for value in batch.arms.values], missing=True)
    found: Bools = empty & np.isnan(batch.rewards)
    found[list(batch.said)] = False  # what is not a number is no silence either
    return found


def bad_rows(batch: Batch, good: Bools, options: LogOptions) -> Iterator[BadRow]:
    """The rows that cannot be used, with what is wrong with each."""
    for i in np.flatnonzero(~good).tolist():
        yield BadRow(batch.origin(i), batch.row(i), *_reason(batch, i, options))


def _named(batch: Batch, options: LogOptions) -> tuple[tuple[str, Names, tuple[str, ...]], ...]:
    return ("arm", batch.arms, options.known_arms), ("mediator", batch.mediators, options.known_mediators)


def _reason(batch: Batch, i: int, options: LogOptions) -> tuple[str, str]:
    """What is wrong with a row, and what kind of wrong that is."""
    for what, names, known in _named(batch, options):
        value = names.text(i)
        if value is None or (not value.strip() and value not in options.names):
            nothing = what == "arm" and math.isnan(batch.rewards[i]) and i not in batch.said
            if nothing and options.silence:
                continue  # silence, if it were not for its mediator or how many rows it stands for
            return (NEITHER, "") if nothing else (f"has no {what}", "")
        if not known and not _is_name(value, options.names):
            return f"its {what} is {value[:LONGEST]!r}: rename it to itself if that is a name", f"{what} is no name"
        if known and value not in known:
            return f"{what} {value!r} is not known", f"{what} is not known"
    return _reward_reason(batch, i, options)


def _reward_reason(batch: Batch, i: int, options: LogOptions) -> tuple[str, str]:
    x, n, p = float(batch.rewards[i]), batch.weights, batch.propensities
    if i in batch.said:
        return f"its reward {batch.said[i][:60]!r} is not a number{_hint(batch.said[i])}", NO_NUMBER
    if math.isnan(x) and not (options.silence and not (batch.arms.text(i) or "").strip()):
        return "its reward is missing", ""
    if n is not None and not is_number_of_rows(n[i : i + 1])[0]:
        if math.isnan(n[i]):
            return "it has no number of rows", ""
        if n[i] > MOST:
            return f"it stands for {n[i]:g} rows, and a row for at most {MOST:g}", "count is too large"
        return f"it stands for {n[i]:g} rows, which is no whole number", "count is no whole number"
    if p is not None and not 0.0 < p[i] <= 1.0:
        return f"its propensity {p[i]:g} is not above 0 and at most 1", "propensity is not possible"
    if n is not None and options.totals:
        reason = f"{n[i]:,.0f} {options.family.name} rewards cannot be {x:g} together"
        return reason, NOT_TOGETHER
    return options.family.not_paid(f"{x:g}"), NOT_PAID


def _hint(text: str) -> str:
    """What a number with marks in it may be, and which words are numbers."""
    if text.strip().isalpha() and len(text.strip()) > 2:
        return " (of words only yes and no, true and false are read as 1 and 0)"
    if re.fullmatch(r"[+-]?[\d.]*,\d+", text.strip()):
        return " (a decimal comma has to be named)"
    return ""


def first_fall(order: Order, before: Before) -> tuple[int | None, Before]:
    """The first row whose value is under the one before it, and the last value; rows without one are passed over."""
    return _fall_of_texts(order, before) if isinstance(order, list) else _fall_of_numbers(order, before)


def fall_words(order: Order, fall: int) -> str:
    """What is wrong with a row that comes too early."""
    value, words = order[fall], "comes before the row above it"
    if not isinstance(value, str) or re.match(r"\d{4}-\d\d-\d\d", value):
        return words
    return f"{words}; texts are compared as texts, so write dates as 2026-11-15"


def _fall_of_texts(order: list[str], before: Before) -> tuple[int | None, Before]:
    present = [i for i, text in enumerate(order) if text]
    start = before if isinstance(before, str) else ""  # numbers came before: nothing to compare with
    pairs = pairwise([start, *(order[i] for i in present)])
    fall = next((i for i, (above, now) in zip(present, pairs, strict=True) if now < above), None)
    return fall, order[present[-1]] if present else before


def _fall_of_numbers(order: Floats, before: Before) -> tuple[int | None, Before]:
    present = np.flatnonzero(~np.isnan(order))
    start = before if isinstance(before, float) else -math.inf
    falls = present[np.diff(order[present], prepend=start) < 0.0]
    return int(falls[0]) if len(falls) else None, float(order[present[-1]]) if len(present) else before
