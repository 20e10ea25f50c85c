"""Which rows of a batch can be used, why others cannot, and whether they come in order."""

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from gobetween.core.types import Bools, Floats
from gobetween.logs.batch import Batch, Names, Order
from gobetween.logs.counts import NEITHER, BadRow, Before
from gobetween.logs.options import LogOptions


def usable_rows(batch: Batch, options: LogOptions) -> Bools:
    """Has a row an arm, a mediator and a reward that are possible?"""
    good: Bools = options.family.pays(batch.rewards) & (batch.arms.codes >= 0) & (batch.mediators.codes >= 0)
    for _, names, known in _named(batch, options):
        allowed = np.array([bool(value.strip()) and (not known or value in known) for value in names.values] + [False])
        good &= allowed[names.codes]
    return good


def silent_rows(batch: Batch, options: LogOptions) -> Bools:
    """Did a mediator answer nothing: neither arm nor reward?"""
    if not options.silence:
        return np.zeros(len(batch.rewards), np.bool_)
    names, known = batch.mediators, options.known_mediators
    allowed = np.array([bool(value.strip()) and (not known or value in known) for value in names.values] + [False])
    return np.asarray(_nothing(batch) & allowed[names.codes])


def _nothing(batch: Batch) -> Bools:
    """Has a row neither arm nor reward?"""
    empty = np.array([not value.strip() for value in batch.arms.values] + [True])
    return np.asarray(empty[batch.arms.codes] & np.isnan(batch.rewards))


def bad_rows(batch: Batch, good: Bools, options: LogOptions) -> Iterator[BadRow]:
    """The rows that cannot be used, with what is wrong with each."""
    for i in np.flatnonzero(~good).tolist():
        yield BadRow(batch.source, batch.row(i), _reason(batch, i, options))


def _named(batch: Batch, options: LogOptions) -> tuple[tuple[str, Names, tuple[str, ...]], ...]:
    return ("arm", batch.arms, options.known_arms), ("mediator", batch.mediators, options.known_mediators)


def _reason(batch: Batch, i: int, options: LogOptions) -> str:
    for what, names, known in _named(batch, options):
        code = int(names.codes[i])
        if code < 0 or not names.values[code].strip():
            return NEITHER if what == "arm" and math.isnan(batch.rewards[i]) else f"has no {what}"
        if known and names.values[code] not in known:
            return f"{what} {names.values[code]!r} is not known"
    x = float(batch.rewards[i])
    if math.isnan(x):
        return "its reward is missing or no number"
    return options.family.not_paid(f"{x:g}")


def first_fall(order: Order, before: Before) -> tuple[int | None, Before]:
    """The first row whose value is under the one before it, and the last value; rows without one are passed over."""
    return _fall_of_texts(order, before) if isinstance(order, list) else _fall_of_numbers(order, before)


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
