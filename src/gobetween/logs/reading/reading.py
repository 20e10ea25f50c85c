"""A log being read in order: rows are checked, counted and watched for the first claim."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.alarm.drift import Checkpoint, moderate, split_after, split_at
from gobetween.core.ground.jit import Bools, Floats, Ints
from gobetween.core.ground.value import copied
from gobetween.core.question.question import Question
from gobetween.core.question.questions import BEST
from gobetween.core.reward.second_moments import add_rewards, new_spread, unit_of
from gobetween.core.run.log_scan import scan, scan_answers
from gobetween.core.stopping.rules import BY_COUNTS
from gobetween.core.stopping.stopper import AnyStopper
from gobetween.core.verdict.evidence_report import next_look
from gobetween.errors import LogError
from gobetween.export import some
from gobetween.logs.reading.batch import Batch, Names
from gobetween.logs.reading.checks import (
    bad_rows,
    fall_words,
    first_fall,
    left_out_rows,
    named_rows,
    silent_rows,
    stands_for,
    usable_rows,
)
from gobetween.logs.reading.counts import REPEATED, BadLogError, BadRow, LogStats
from gobetween.logs.reading.history import CountsAtRow, FirstClaim, LogHistory
from gobetween.logs.reading.merging import all_batches
from gobetween.logs.reading.names import known_spellings, natural
from gobetween.logs.reading.options import LogOptions
from gobetween.logs.reading.plausibility import check_plausible
from gobetween.logs.reading.sources import Source, batches, each_source
from gobetween.names import folded

EXPANDED = 1 << 20  # rows that are looked at together where one stands for many


class CodedRows(NamedTuple):
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
        self.claim: FirstClaim | None = None
        self.looks: list[CountsAtRow] = []
        self.checkpoints: list[Checkpoint] = []
        self._split = split_after(self.stats.rows)  # the next split at which counts are kept
        self._tally = self.stats.tally()
        self._stopper = self._at_work()
        self._unit = unit_of(options.family) if after is None and not options.totals else None
        self.family = self.stats.family_at_work(options.family)  # at work on the rows so far
        self._look = 10  # the row at which the evidence is next looked at
        while self._look <= self.stats.rows:
            self._look = next_look(self._look)

    @property
    def _asked(self) -> Question:
        """The question, once there are arms enough for it to be one."""
        question = self.options.question
        return question if question.ways(len(self.stats.arms)) > 0 else BEST

    def _at_work(self) -> AnyStopper:
        return BY_COUNTS.stopper_for(self._asked, len(self.stats.arms), self.options.family)

    @property
    def history(self) -> LogHistory | None:
        """What was seen on the way; None where rows have lost their order."""
        return None if not self.options.ordered else LogHistory(self.claim, self.looks, self.stats.disorder, self.checkpoints)

    def read(self, source: Source) -> None:
        """Take in a source, without threads: others read others at the same time."""
        for batch in batches(source, self.options, threads=False):
            self.take(batch)

    def read_all(self, sources: Sequence[Any]) -> None:
        """Take in all sources."""
        for batch in all_batches(each_source(sources), self.options):
            self.take(batch)

    def take(self, batch: Batch) -> CodedRows | None:
        """Count a batch; its usable rows."""
        batch, stats, options = self._spelled(batch), self.stats, self.options
        stats.refuse(batch.bad)
        if lost := sum(row.row > 0 for row in batch.bad):
            stats.note_names(None, None, lost)
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
            Names(known_spellings(names.values, known, renamed, fold), names.codes)
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
        for i in np.flatnonzero(~known).tolist():
            self.stats.note_names(batch.mediators.text(i), batch.arms.text(i))
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
                reason, kind = f"repeats id {name!r}", REPEATED
            else:
                self._ids.add(name)
                continue
            good[i] = silent[i] = False
            self.stats.refuse([BadRow(batch.origin(i), batch.row(i), reason, kind)])

    def _count_many(self, rows: CodedRows, n: Floats) -> None:
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
                    add_rewards(stats.spread, a, x, family, farthest)

    def _note_propensities(self, rows: CodedRows, p: Floats) -> None:
        """The lowest and highest probability of each mediator and arm."""
        K = len(self.stats.arms)
        pair = rows.e * K + rows.a
        low, high = np.full(len(self.stats.mediators) * K, np.inf), np.full(len(self.stats.mediators) * K, -np.inf)
        np.minimum.at(low, pair, p)
        np.maximum.at(high, pair, p)
        for k in np.flatnonzero(high > -np.inf).tolist():
            self.stats.note_propensity((self.stats.mediators[k // K], self.stats.arms[k % K]), float(low[k]), float(high[k]))

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

    def _coded(self, batch: Batch, good: Bools) -> CodedRows:
        kept = slice(None) if good.all() else good  # mostly nothing needs to be copied
        e, a = batch.mediators.codes[kept], batch.arms.codes[kept]
        if self.stats.widen(batch.arms.used(a, self.stats.arms), batch.mediators.used(e, self.stats.mediators)):
            self.claim = None  # a claim needs every arm to have been seen
            self._tally = self.stats.tally()
            self._stopper = self._at_work()
            self.family = self.family.with_arms(len(self.stats.arms))
        x = np.ascontiguousarray(batch.rewards[kept])
        rows = CodedRows(batch.mediators.placed(e, self.stats.mediators), batch.arms.placed(a, self.stats.arms), x)
        if self._unit is not None and batch.weights is None:
            add_rewards(self.stats.spread, rows.a, x / self._unit[0], self.options.family, self._unit[1])
        return rows

    def _count(self, batch: Batch, good: Bools, rows: CodedRows) -> None:
        """Count rows from one look at the evidence to the next."""
        stats, family, K = self.stats, self.family, len(self.stats.arms)
        enough, asked = self.options.question.ways(K) > 0, self._asked
        constants = np.array([BY_COUNTS.threshold_for(asked, K if enough else max(K, 2), self.options.delta, family)])
        count_rows: Any = scan if asked.names_leader and family.sums_suffice else scan_answers
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
                self.claim = FirstClaim(", ".join(answer), row, batch.origin(place), batch.row(place), answer)
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
        self.looks.append(CountsAtRow(self.stats.rows, self._tally.N_a.copy(), self._tally.S_a.copy(), copied(self.family)))
        self._look = next_look(self.stats.rows)

    def _keep(self) -> None:
        stats = self.stats
        N_ea = stats.N_ea.copy() if moderate(*stats.N_ea.shape) else None
        self.checkpoints.append(Checkpoint(self._split, -1, stats.N_ea.sum(axis=0), stats.S_ea.sum(axis=0), N_ea))
        self._split += 1


def accepted(stats: LogStats, options: LogOptions) -> LogStats:
    """The same, or an error: bad rows are refused unless they are to be left out, and some row must be left."""
    if stats.bad_count and not options.skip_bad:
        raise BadLogError(stats)
    if not stats.rows:
        of = f" of {some(list(options.only))}: look whether its arms are called so" if options.only else ""
        raise LogError(f"the log holds no row{of or ' that can be used'}")
    check_plausible(stats, options)
    return stats


def count_one(options: LogOptions, source: Source) -> LogStats:
    """The statistics of one source; executors call this."""
    reading = Reading(options, watching=False)
    reading.read(source)
    return reading.stats


def read_history(options: LogOptions, source: Source, after: LogStats) -> LogHistory:
    """What is seen on the way through a source that comes after others; executors call this."""
    reading = Reading(options, after=after)
    reading.read(source)
    history = reading.history
    assert history is not None
    return history
