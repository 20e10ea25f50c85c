"""A log being read in order: rows are checked, counted and watched for the first claim."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.asked import BEST, stopper_for, threshold_for
from gobetween.core.claimed import Claimed
from gobetween.core.drift import Moment, moderate, split_after, split_at
from gobetween.core.evidence import Evidence, next_look, weigh
from gobetween.core.family import Family
from gobetween.core.learnt import copied_family, with_arms
from gobetween.core.question import Question
from gobetween.core.scans import scan, scan_answers
from gobetween.core.spread import add_rewards, new_spread, unit_of
from gobetween.core.state import Tally, fill, new_tally
from gobetween.core.stopper import AnyStopper
from gobetween.core.stopping import BY_COUNTS
from gobetween.core.types import Bools, Floats, Ints
from gobetween.errors import LogError
from gobetween.logs.batch import Batch, Names
from gobetween.logs.checks import (
    bad_rows,
    fall_words,
    first_fall,
    left_out_rows,
    named_rows,
    silent_rows,
    stands_for,
    usable_rows,
)
from gobetween.logs.counts import BadLogError, BadRow, LogStats
from gobetween.logs.merging import all_batches
from gobetween.logs.names import folded, natural, spelled
from gobetween.logs.options import LogOptions
from gobetween.logs.sources import Source, batches, each_source

EXPANDED = 1 << 20  # rows that are looked at together where one stands for many

Trail = tuple[tuple[int, float, float], ...]
"""(row, statistic, threshold) along a log."""


@dataclass(frozen=True)
class Claim:
    """Where the question could first have been answered."""

    arm: str
    """The arm that could be named; where the answer is a set of arms: their names, with commas."""
    row: int
    """Of the whole log, from 1."""
    source: str
    source_row: int
    answer: tuple[str, ...]
    """The arms that answer the question."""


class Look(NamedTuple):
    """What had been counted at one row: counts [K] and sums [K] of each arm, in the order in which they were first seen."""

    row: int
    N_a: Ints
    S_a: Floats
    family: Family


class Along(NamedTuple):
    """What was seen on the way through a log."""

    claim: Claim | None
    looks: list[Look]
    disorder: BadRow | None
    moments: list[Moment]


class Coded(NamedTuple):
    """Usable rows of a batch: places of mediators and arms among all that were seen, and rewards."""

    e: Ints
    a: Ints
    x: Floats


class Reading:
    """A log being read in order, or a part of it `after` what others have counted."""

    def __init__(self, options: LogOptions, watching: bool = True, after: LogStats | None = None) -> None:
        self.options, self.watching = options, watching
        self._ids: set[str] = set()
        self.stats = LogStats(spread=new_spread(0, None if options.totals else options.family)) if after is None else after
        self.stats.widen(options.counted_arms, options.known_mediators)
        self.claim: Claim | None = None
        self.looks: list[Look] = []
        self.moments: list[Moment] = []
        self._split = split_after(self.stats.rows)
        """The next split at which counts are kept."""
        self._tally = self.stats.tally()
        self._stopper = self._at_work()
        self._unit = unit_of(options.family) if after is None and not options.totals else None
        self.family = self.stats.family_at_work(options.family)
        """At work on the rows so far."""
        self._look = 10
        """The row at which the evidence is next looked at."""
        while self._look <= self.stats.rows:
            self._look = next_look(self._look)

    @property
    def _asked(self) -> Question:
        """The question, once there are arms enough for it to be one."""
        question = self.options.question
        return question if question.ways(len(self.stats.arms)) > 0 else BEST

    def _at_work(self) -> AnyStopper:
        return stopper_for(self._asked, BY_COUNTS, len(self.stats.arms), self.options.family)

    @property
    def along(self) -> Along | None:
        """What was seen on the way; None where rows have lost their order."""
        return None if not self.options.ordered else Along(self.claim, self.looks, self.stats.disorder, self.moments)

    def read(self, source: Source) -> None:
        """Take in a source, without threads: others read others at the same time."""
        for batch in batches(source, self.options, threads=False):
            self.take(batch)

    def read_all(self, sources: Sequence[Any]) -> None:
        """Take in all sources."""
        for batch in all_batches(sources, self.options):
            self.take(batch)

    def take(self, batch: Batch) -> Coded | None:
        """Count a batch; its usable rows."""
        batch, stats, options = self._spelled(batch), self.stats, self.options
        stats.refuse(batch.bad)
        stats.left_out, stats.words = stats.left_out + batch.left_out, stats.words | batch.words
        if not len(batch.rewards):
            return None
        good, silent = usable_rows(batch, options), silent_rows(batch, options)
        out = left_out_rows(batch, options)
        if out is not None:
            stats.left_out += int(out.sum())
            good &= ~out
        known = good | silent if out is None else good | silent | out
        stats.refuse(bad_rows(batch, known, options))
        self._count_missing(batch, known)
        if batch.ids is not None:
            self._leave_repeated(batch, good, silent)
        self._count_silence(batch, silent)
        self._check_order(batch)
        rows = self._coded(batch, good)
        if batch.weights is None:
            self._count(batch, good, rows)
        else:
            self._count_many(rows, batch.weights[good])
        if batch.propensities is not None:
            self._note_propensities(rows, batch.propensities[good])
        return rows

    def _spelled(self, batch: Batch) -> Batch:
        """The batch with names as they are to be counted."""
        fold, renamed = self.options.fold, self.options.rename or {}
        if not (fold or renamed):
            return batch
        present = {*batch.mediators.values, *batch.arms.values}
        alike = {folded(value) for value in present} if fold else present
        self.stats.renamed |= {old for old in renamed if (folded(old) if fold else old) in alike}
        made = [
            Names(spelled(names.values, known, renamed, fold), names.codes)
            for names, known in (
                (batch.mediators, self.options.known_mediators),
                (batch.arms, self.options.known_arms or self.options.asked_arms),
            )
        ]
        return replace(batch, mediators=made[0], arms=made[1])

    def _count_missing(self, batch: Batch, known: Bools) -> None:
        """Which rows lack nothing but the reward?"""
        if known.all():
            return
        lacking = np.isnan(batch.rewards) & named_rows(batch, self.options) & ~known
        for i in np.flatnonzero(lacking).tolist():
            if i not in batch.said:
                pair = str(batch.mediators.text(i)), str(batch.arms.text(i))
                self.stats.missing[pair] = self.stats.missing.get(pair, 0) + stands_for(batch, i)

    def _leave_repeated(self, batch: Batch, good: Bools, silent: Bools) -> None:
        """Take out rows whose id was seen before; they are bad ones."""
        assert batch.ids is not None
        for i in np.flatnonzero(good | silent).tolist():
            name = batch.ids.text(i)
            if name is None or not name.strip():
                reason, kind = "has no id", ""
            elif name in self._ids:
                reason, kind = f"repeats id {name!r}", "id is repeated"
            else:
                self._ids.add(name)
                continue
            good[i] = silent[i] = False
            self.stats.refuse([BadRow(batch.origin(i), batch.row(i), reason, kind)])

    def _count_many(self, rows: Coded, n: Floats) -> None:
        """Count rows that stand for many; their order is lost."""
        stats, number = self.stats, n.astype(np.int64)
        np.add.at(stats.N_ea, (rows.e, rows.a), number)
        np.add.at(stats.S_ea, (rows.e, rows.a), rows.x if self.options.totals else rows.x * n)
        stats.rows += int(number.sum())
        if self._unit is not None:
            (scale, farthest), family = self._unit, self.options.family
            for i in range(len(n)):
                for start in range(0, int(number[i]), EXPANDED):
                    size = min(EXPANDED, int(number[i]) - start)
                    a, x = np.repeat(rows.a[i], size), np.repeat(rows.x[i] / scale, size)
                    add_rewards(stats.spread, a, x, farthest, family)

    def _note_propensities(self, rows: Coded, p: Floats) -> None:
        """The lowest and highest probability of each mediator and arm."""
        K = len(self.stats.arms)
        pair = rows.e * K + rows.a
        low, high = np.full(len(self.stats.mediators) * K, np.inf), np.full(len(self.stats.mediators) * K, -np.inf)
        np.minimum.at(low, pair, p)
        np.maximum.at(high, pair, p)
        for k in np.flatnonzero(high > -np.inf).tolist():
            self.stats.said_to_choose((self.stats.mediators[k // K], self.stats.arms[k % K]), float(low[k]), float(high[k]))

    def _check_order(self, batch: Batch) -> None:
        if batch.order is None:
            return
        fall, self.stats.last = first_fall(batch.order, self.stats.last)
        if fall is not None and self.stats.disorder is None:
            self.stats.disorder = BadRow(batch.origin(fall), batch.row(fall), fall_words(batch.order, fall))

    def _count_silence(self, batch: Batch, silent: Bools) -> None:
        codes = batch.mediators.codes[silent]
        if not len(codes):
            return
        self.stats.widen((), batch.mediators.used(codes, self.stats.mediators))
        rows = 1 if batch.weights is None else batch.weights[silent].astype(np.int64)
        np.add.at(self.stats.silent, batch.mediators.placed(codes, self.stats.mediators), rows)

    def _coded(self, batch: Batch, good: Bools) -> Coded:
        kept = slice(None) if good.all() else good  # mostly nothing needs to be copied
        e, a = batch.mediators.codes[kept], batch.arms.codes[kept]
        if self.stats.widen(batch.arms.used(a, self.stats.arms), batch.mediators.used(e, self.stats.mediators)):
            self.claim = None  # a claim needs every arm to have been seen
            self._tally = self.stats.tally()
            self._stopper = self._at_work()
            self.family = with_arms(self.family, len(self.stats.arms))
        x = np.ascontiguousarray(batch.rewards[kept])
        rows = Coded(batch.mediators.placed(e, self.stats.mediators), batch.arms.placed(a, self.stats.arms), x)
        if self._unit is not None and batch.weights is None:
            add_rewards(self.stats.spread, rows.a, x / self._unit[0], self._unit[1], self.options.family)
        return rows

    def _count(self, batch: Batch, good: Bools, rows: Coded) -> None:
        """Count rows from one look at the evidence to the next."""
        stats, family, K = self.stats, self.family, len(self.stats.arms)
        enough, asked = self.options.question.ways(K) > 0, self._asked
        constants = np.array([threshold_for(asked, BY_COUNTS, K if enough else max(K, 2), self.options.delta, family)])
        count_rows: Any = scan if asked == BEST and family.sums_suffice else scan_answers
        rows.x.setflags(write=False)  # as those of some readers are: one kernel for all
        start, end = 0, len(rows.x)
        while start < end:
            stop = min(end, start + min(self._look, split_at(self._split)) - stats.rows) if self.watching else end
            e, a, x = rows.e[start:stop], rows.a[start:stop], rows.x[start:stop]
            unclaimed = self.watching and enough and self.claim is None
            found, named = count_rows(
                family, self._stopper, constants, self._tally, stats.N_ea, stats.S_ea, e, a, x, stats.rows, unclaimed
            )
            if found >= 0:
                place = int(np.flatnonzero(good)[start + found])
                answer, row = self._named(int(named)), stats.rows + int(found) + 1
                self.claim = Claim(", ".join(answer), row, batch.origin(place), batch.row(place), answer)
            stats.rows += stop - start
            start = stop
            if self.watching and stats.rows >= self._look:
                self._follow()
            if self.watching and stats.rows == split_at(self._split):
                self._keep()

    def _named(self, best: int) -> tuple[str, ...]:
        """The answer that was just found, names in order."""
        mask = np.zeros(len(self.stats.arms), np.bool_)
        self._stopper.answer(best, mask)
        return tuple(sorted((self.stats.arms[a] for a in np.flatnonzero(mask)), key=natural))

    def _follow(self) -> None:
        self.looks.append(Look(self.stats.rows, self._tally.N_a.copy(), self._tally.S_a.copy(), copied_family(self.family)))
        self._look = next_look(self.stats.rows)

    def _keep(self) -> None:
        stats = self.stats
        N_ea = stats.N_ea.copy() if moderate(*stats.N_ea.shape) else None
        self.moments.append(Moment(self._split, -1, stats.N_ea.sum(axis=0), stats.S_ea.sum(axis=0), N_ea))
        self._split += 1


def accepted(stats: LogStats, options: LogOptions) -> LogStats:
    """The same, or an error: bad rows are refused unless they are to be left out, and some row must be left."""
    if stats.bad_count and not options.skip_bad:
        raise BadLogError(stats)
    if not stats.rows:
        raise LogError("the log holds no row that can be used")
    return stats


def count_logs(options: LogOptions, sources: Sequence[Source]) -> LogStats:
    """The statistics of logs together, names in order, with the claim that was found on the way."""
    reading = Reading(options)
    reading.read_all(each_source(sources))
    stats, along = accepted(reading.stats, options), reading.along
    if along is not None:
        stats.claimed, stats.moments = claimed_along(options, stats, along), moments_along(stats, along)
    return stats.in_order()


def count_one(options: LogOptions, source: Source) -> LogStats:
    """The statistics of one source; executors call this."""
    reading = Reading(options, watching=False)
    reading.read(source)
    return reading.stats


def look_along(options: LogOptions, source: Source, after: LogStats) -> Along:
    """What is seen on the way through a source that comes after others; executors call this."""
    reading = Reading(options, after=after)
    reading.read(source)
    along = reading.along
    assert along is not None
    return along


def joined(parts: Sequence[Along]) -> Along:
    """What was seen on the way through parts that follow each other."""
    claim = next((part.claim for part in parts if part.claim is not None), None)
    disorder = next((part.disorder for part in parts if part.disorder is not None), None)
    looks, moments = [look for part in parts for look in part.looks], [moment for part in parts for moment in part.moments]
    return Along(claim, looks, disorder, moments)


def tally_at(look: Look, K: int) -> Tally:
    """A look as a tally of K arms, of which the last may have been seen later."""
    more = (0, K - len(look.N_a))
    return fill(new_tally(K), np.pad(look.N_a, more), np.pad(look.S_a, more))


def family_at(look: Look, K: int) -> Family:
    """The family at work on K arms, as it was at a look."""
    return with_arms(look.family, K)


def trail_of(options: LogOptions, along: Along, K: int) -> Trail:
    """The evidence at every look."""
    if options.question.ways(K) < 1:
        return ()
    seen = [(look.row, evidence_of(options, family_at(look, K), tally_at(look, K), look.row)) for look in along.looks]
    return tuple((row, now.statistic, now.threshold) for row, now in seen)


def evidence_of(options: LogOptions, family: Family, tally: Tally, rows: int) -> Evidence:
    """What counts and sums say about the question, with what the family at work has counted."""
    return weigh(family, BY_COUNTS, options.delta, tally, rows, question=options.question)


def moments_along(stats: LogStats, along: Along) -> list[Moment] | None:
    """What had been counted at the splits; None where rows are not in order."""
    return None if stats.disorder is not None else along.moments


def claimed_along(options: LogOptions, stats: LogStats, along: Along) -> Claimed | None:
    """The first claim and the strongest evidence against it afterwards, at all looks and at the end."""
    if along.claim is None or stats.disorder is not None:
        return None
    question = options.question
    found = Claimed.of(question, tuple(sorted(map(stats.arms.index, along.claim.answer))), along.claim.row)
    end = Look(stats.rows, stats.N_ea.sum(axis=0), stats.S_ea.sum(axis=0), stats.family_at_work(options.family))
    for look in (*along.looks, end):
        K = len(stats.arms)
        found = found.seen(question, family_at(look, K), tally_at(look, K), look.row)
    return found
