"""A log being read in order: rows are checked, counted and watched for the first claim."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gobetween.core.evidence import next_look, weigh
from gobetween.core.loops import scan
from gobetween.core.state import new_tally
from gobetween.core.stopping import EProcess
from gobetween.core.types import Bools, Floats, Ints
from gobetween.errors import LogError
from gobetween.logs.batch import Batch
from gobetween.logs.checks import Before, bad_rows, first_fall, usable_rows
from gobetween.logs.counts import BadLogError, BadRow, LogStats
from gobetween.logs.options import LogOptions
from gobetween.logs.sources import Source, batches, check_sources

Trail = tuple[tuple[int, float, float], ...]
"""(row, statistic, threshold) along a log."""


@dataclass(frozen=True)
class Claim:
    """Where the best arm could first have been named."""

    arm: str
    row: int
    """Of the whole log, from 1."""
    source: str
    source_row: int


#: Rows that were merged have no order that contrasts could follow.
OF_LOGS = EProcess(contrast=0.0)


class Coded(NamedTuple):
    """Usable rows of a batch: places of mediators and arms among all that were seen, and rewards."""

    e: Ints
    a: Ints
    x: Floats


class Reading:
    """A log being read in order."""

    def __init__(self, options: LogOptions, watching: bool = True) -> None:
        self.options, self.watching = options, watching
        self.stats = LogStats()
        self.stats.widen(options.known_arms, options.known_mediators)
        self.claim: Claim | None = None
        self.trail: Trail = ()
        self._tally = new_tally(len(self.stats.arms))
        self._stopper = OF_LOGS.at_work(len(self.stats.arms), options.family)
        self._before: Before = -math.inf
        self._look = 10
        """The row at which the evidence is next looked at, for the trail."""

    def read(self, source: Source, threads: bool = True) -> None:
        """Take in a source."""
        for batch in batches(source, self.options.columns, threads=threads):
            self.take(batch)

    def take(self, batch: Batch) -> Coded | None:
        """Count a batch; its usable rows."""
        self.stats.refuse(batch.bad)
        if not len(batch.rewards):
            return None
        good = usable_rows(batch, self.options)
        self.stats.refuse(bad_rows(batch, good, self.options))
        self._check_order(batch)
        rows = self._coded(batch, good)
        self._count(batch, good, rows)
        return rows

    def _check_order(self, batch: Batch) -> None:
        if batch.order is None or self.stats.disorder is not None:
            return
        fall, self._before = first_fall(batch.order, self._before)
        if fall is not None:
            self.stats.disorder = BadRow(batch.source, batch.row(fall), "comes before the row above it")

    def _coded(self, batch: Batch, good: Bools) -> Coded:
        kept = slice(None) if good.all() else good  # mostly nothing needs to be copied
        e, a = batch.mediators.codes[kept], batch.arms.codes[kept]
        if self.stats.widen(batch.arms.used(a), batch.mediators.used(e)):
            self.claim = None  # a claim needs every arm to have been seen
            self._tally = self.stats.tally()
            self._stopper = OF_LOGS.at_work(len(self.stats.arms), self.options.family)
        x = np.ascontiguousarray(batch.rewards[kept])
        return Coded(batch.mediators.placed(e, self.stats.mediators), batch.arms.placed(a, self.stats.arms), x)

    def _count(self, batch: Batch, good: Bools, rows: Coded) -> None:
        """Count rows from one look at the evidence to the next."""
        stats, family, K = self.stats, self.options.family, len(self.stats.arms)
        watching = self.watching and K >= 2
        constants = np.array([OF_LOGS.threshold(max(K, 2), self.options.delta, family)])
        start, end = 0, len(rows.x)
        while start < end:
            stop = min(end, start + max(1, self._look - stats.rows)) if watching else end
            e, a, x = rows.e[start:stop], rows.a[start:stop], rows.x[start:stop]
            unclaimed = watching and self.claim is None
            found, named = scan(
                family, self._stopper, constants, self._tally, stats.N_ea, stats.S_ea, e, a, x, stats.rows, unclaimed
            )
            if found >= 0:
                place = batch.row(int(np.flatnonzero(good)[start + found]))
                self.claim = Claim(stats.arms[named], stats.rows + found + 1, batch.source, place)
            stats.rows += stop - start
            start = stop
            if watching and stats.rows >= self._look:
                self._follow()

    def _follow(self) -> None:
        now = weigh(self.options.family, OF_LOGS, self.options.delta, self._tally, self.stats.rows)
        self.trail += ((self.stats.rows, now.statistic, now.threshold),)
        self._look = next_look(self.stats.rows)


def accepted(stats: LogStats, options: LogOptions) -> LogStats:
    """The same, or an error: bad rows are refused unless they are to be left out, and some row must be left."""
    if stats.bad_count and not options.skip_bad:
        raise BadLogError(stats)
    if not stats.rows:
        raise LogError("the log holds no row that can be used")
    return stats


def count_logs(options: LogOptions, sources: Sequence[Source]) -> LogStats:
    """The statistics of logs together, names in order."""
    check_sources(sources)
    reading = Reading(options, watching=False)
    for source in sources:
        reading.read(source)
    return accepted(reading.stats, options).in_order()


def count_one(options: LogOptions, source: Source) -> LogStats:
    """The statistics of one source; executors call this."""
    reading = Reading(options, watching=False)
    reading.read(source, threads=False)
    return reading.stats
