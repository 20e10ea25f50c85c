"""Sources that overlap in time, merged by the order column; rows of one source keep their order."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import chain
from typing import Any

import numpy as np

from gobetween.core.ground.jit import Ints
from gobetween.logs.reading.batch import Batch, Names, Order
from gobetween.logs.reading.counts import Before
from gobetween.logs.reading.files import LogFile
from gobetween.logs.reading.options import LogOptions
from gobetween.logs.reading.sources import batches


def all_batches(sources: Sequence[Any], options: LogOptions) -> Iterator[Batch]:
    """The batches of all sources, one after the other or, where there is an order column, in its order."""
    if options.order is None or len(sources) < 2:
        return chain.from_iterable(batches(source, options) for source in sources)
    return _merged(sources, options)


class Cursor:
    """A source being read: its current batch, and the keys of its rows from the first that was not taken."""

    def __init__(self, place: int, source: Any, options: LogOptions) -> None:
        self.place, self._source, self._options = place, source, options
        self._rest: Iterator[Batch] | None = batches(source, options)
        self.batch, self.keys, self.before = next(self._rest, None), np.zeros(0), None
        self._look()
        self.start: Any = self.keys[0] if len(self.keys) else None

    def close(self) -> None:
        """Keep nothing of a file but where it begins, until it is needed."""
        if isinstance(self._source, LogFile):
            self._rest = self.batch = None

    def open(self) -> None:
        """Read a file again from its beginning."""
        if self._rest is None:
            self._rest, self.before = batches(self._source, self._options), None
            self.following()

    def following(self) -> None:
        """Go on to the next batch."""
        assert self._rest is not None
        self.batch = next(self._rest, None)
        self._look()

    def _look(self) -> None:
        self.keys = np.zeros(0) if self.batch is None else _keys(self.batch, self.before)
        self.before = self.keys[-1] if len(self.keys) else self.before

    def up_to(self, limit: Any) -> Batch | None:
        """Take the rows whose keys are not above the limit."""
        assert self.batch is not None
        n = int(np.searchsorted(self.keys, limit, side="right")) if len(self.keys) else 0
        if n == len(self.keys):
            taken = self.batch
            self.following()
            return taken
        taken, self.batch = _slice(self.batch, slice(0, n)), _slice(self.batch, slice(n, None))
        self.keys = self.keys[n:]
        return taken if n else None


def _merged(sources: Sequence[Any], options: LogOptions) -> Iterator[Batch]:
    """Rows in the order of their keys; of equal ones those of the source that is named first come first."""
    waiting = [Cursor(place, source, options) for place, source in enumerate(sources)]
    if len({type(cursor.start) for cursor in waiting if cursor.start is not None}) > 1:
        yield from chain.from_iterable(batches(source, options) for source in sources)  # numbers and texts: no common order
        return
    for cursor in waiting:
        cursor.close()
    waiting.sort(key=lambda cursor: (cursor.start is not None, cursor.start, cursor.place))
    active: list[Cursor] = []
    while waiting or active:
        limit = min((cursor.keys[-1] for cursor in active if len(cursor.keys)), default=None)
        while waiting and (limit is None or waiting[0].start is None or waiting[0].start <= limit):
            cursor = waiting.pop(0)
            cursor.open()
            active.append(cursor)
            ends = [cursor.keys[-1] for cursor in active if len(cursor.keys)]
            limit = min(ends, default=None)
        active.sort(key=lambda cursor: cursor.place)
        parts = [(cursor.keys, cursor.up_to(limit)) for cursor in active if cursor.batch is not None]
        yield from _together([(keys[: len(part.rewards)], part) for keys, part in parts if part is not None])
        active = [cursor for cursor in active if cursor.batch is not None]


def _keys(batch: Batch, before: Any) -> Any:
    """The order of the rows, none below the one above it: within a source rows stay as they are."""
    values: Any = _filled(batch.order, before) if batch.order is not None else np.zeros(len(batch.rewards))
    return np.maximum.accumulate(values) if len(values) else values


def _filled(order: Order, before: Any) -> Any:
    """The order, with the value above it where a row has none."""
    if isinstance(order, list):
        found, last = [], "" if before is None else before
        for text in order:
            last = text or last
            found.append(max(last, before) if before is not None else last)
        return np.array(found, dtype=object)
    start = -np.inf if before is None else before
    return np.maximum(np.where(np.isnan(order), -np.inf, order), start)


def _together(parts: list[tuple[Any, Batch]]) -> Iterator[Batch]:
    """Parts of several sources as one batch in the order of their keys."""
    full = [(keys, part) for keys, part in parts if len(part.rewards)]
    yield from (part for _, part in parts if not len(part.rewards))
    if len(full) < 2:
        yield from (part for _, part in full)
        return
    order = np.argsort(np.concatenate([keys for keys, _ in full]), kind="stable")
    yield _slice(_joined([part for _, part in full]), order)


def _joined(parts: list[Batch]) -> Batch:
    rows = [len(part.rewards) for part in parts]
    starts = np.concatenate([[0], np.cumsum(rows)])

    def column(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return None if values[0] is None else np.concatenate(values)

    orders = [part.order for part in parts]
    return Batch(
        parts[0].source,
        1,
        Names.joined([part.mediators for part in parts]),
        Names.joined([part.arms for part in parts]),
        np.concatenate([part.rewards for part in parts]),
        _orders(orders),
        np.concatenate([[part.row(i) for i in range(len(part.rewards))] for part in parts]).astype(np.int64),
        tuple(row for part in parts for row in part.bad),
        {int(start) + i: text for start, part in zip(starts, parts, strict=False) for i, text in part.said.items()},
        frozenset().union(*(part.words for part in parts)),
        column("weights"),
        None if parts[0].ids is None else Names.joined([part.ids for part in parts if part.ids is not None]),
        column("propensities"),
        sum(part.left_out for part in parts),
        np.repeat(np.arange(len(parts)), rows),
        tuple(part.source for part in parts),
    )


def _orders(orders: list[Order | None]) -> Order:
    if any(isinstance(order, list) for order in orders):
        return [str(value) for order in orders if order is not None for value in order]
    return np.concatenate([order for order in orders if order is not None])


def _slice(batch: Batch, places: slice | Ints) -> Batch:
    """Some rows of a batch; what was bad or left out goes with its first ones."""
    numbers = batch.numbers if batch.numbers is not None else batch.first + np.arange(len(batch.rewards))
    first = not isinstance(places, slice) or places.start == 0
    kept = np.arange(len(batch.rewards))[places]
    back = {int(old): new for new, old in enumerate(kept.tolist())} if batch.said else {}
    made: dict[str, Any] = {one.name: getattr(batch, one.name) for one in fields(Batch)}
    for name in ("mediators", "arms", "ids"):
        names = made[name]
        made[name] = None if names is None else Names(names.values, names.codes[places])
    for name in ("rewards", "weights", "propensities", "origins"):
        made[name] = None if made[name] is None else made[name][places]
    order = batch.order
    made |= {
        "order": [order[i] for i in kept] if isinstance(order, list) else None if order is None else order[places],
        "numbers": numbers[places],
        "said": {back[i]: text for i, text in batch.said.items() if i in back},
        "bad": batch.bad if first else (),
        "left_out": batch.left_out if first else 0,
    }
    return Batch(**made)


def in_turn(sources: Sequence[Any], ends: Sequence[Before], options: LogOptions) -> bool:
    """Does every source begin after those before it end? Else they are to be merged."""
    if options.order is None:
        return True
    last: Any = None
    for source, end in zip(sources, ends, strict=True):
        keys: Any = next((_keys(batch, None) for batch in batches(source, options) if len(batch.rewards)), ())
        if len(keys) and last is not None and (isinstance(last, str) != isinstance(keys[0], str) or keys[0] < last):
            return False
        last = end if len(keys) else last
    return True
