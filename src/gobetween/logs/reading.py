"""A log being read in order: rows are checked, counted and watched for the first claim."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gobetween.core.evidence import least_log_evalue
from gobetween.core.family import Family
from gobetween.core.loops import scan
from gobetween.core.state import new_tally
from gobetween.core.stopper import glr
from gobetween.core.stopping import EProcess
from gobetween.core.types import Bools, Floats, Ints
from gobetween.errors import LogError
from gobetween.logs.batch import Batch, Columns, Names, batches
from gobetween.logs.counts import BadRow, LogStats

LISTED = 1000  # bad rows that are listed; all are counted


@dataclass(frozen=True)
class Claim:
    """Where the best arm could first have been named."""

    arm: str
    row: int
    """Of the whole log, from 1."""
    source: str
    source_row: int


@dataclass(frozen=True)
class Task:
    """How a log is to be read."""

    family: Family
    columns: Columns
    explicit: bool
    arms: tuple[str, ...]
    mediators: tuple[str, ...]
    delta: float


class BadLogError(LogError):
    """Rows that cannot be used, listed."""

    def __init__(self, stats: LogStats) -> None:
        self.bad, self.bad_count = stats.bad, stats.bad_count
        reasons: dict[str, list[str]] = {}
        for row in stats.bad:
            reasons.setdefault(row.reason, []).append(f"{row.source} row {row.row}" if row.row else row.source)
        listed = "; ".join(
            f"{', '.join(places[:5])}{f' and {len(places) - 5} more' if len(places) > 5 else ''}: {reason}"
            for reason, places in list(reasons.items())[:20]
        )
        more = f"; {stats.bad_count - len(stats.bad):,} more are not listed" if stats.bad_count > len(stats.bad) else ""
        super().__init__(f"{stats.bad_count} rows cannot be used: {listed}{more} (--skip-bad leaves them out)")


class Reading:
    """A log being read in order."""

    def __init__(self, task: Task, watching: bool = True) -> None:
        self.task, self.watching = task, watching
        self.stats, self.claim, self.trail = LogStats(), None, []  # type: tuple[LogStats, Claim | None, list[tuple[int, float, float]]]
        self.stats.widen(task.arms, task.mediators)
        self._tally = new_tally(len(self.stats.arms))
        self._before: float | str = -math.inf
        self._mark = 10
        """The row at which the evidence is next looked at, for the figure."""
        self._stopper = EProcess().at_work(len(self.stats.arms), task.family)

    def read(self, source: Any, threads: bool) -> None:
        """Take in a source."""
        task = self.task
        for batch in batches(source, task.columns, explicit=task.explicit, threads=threads):
            self.take(batch)

    def _bad(self, rows: Iterable[BadRow]) -> None:
        for row in rows:
            self.stats.bad_count += 1
            if len(self.stats.bad) < LISTED:
                self.stats.bad.append(row)

    def take(self, batch: Batch) -> tuple[Ints, Ints, Floats] | None:
        """Count a batch; its usable rows as codes of mediators and arms and rewards."""
        self._bad(batch.bad)
        if not len(batch.rewards):
            return None
        good = self._good(batch)
        everything = bool(good.all())
        mediators, arms, rewards = (
            (batch.mediators.codes, batch.arms.codes, batch.rewards)
            if everything
            else (batch.mediators.codes[good], batch.arms.codes[good], batch.rewards[good])
        )
        self._order(batch)
        seen_arms = [batch.arms.values[i] for i in np.unique(arms).tolist()]
        seen_mediators = [batch.mediators.values[i] for i in np.unique(mediators).tolist()]
        if self.stats.widen(seen_arms, seen_mediators):
            self.claim = None  # a claim needs every arm to have been seen
            self._tally = self.stats.tally()
        e, a = _coded(batch.mediators, mediators, self.stats.mediators), _coded(batch.arms, arms, self.stats.arms)
        K = len(self.stats.arms)
        watching = self.watching and K >= 2
        constants = np.array([EProcess().threshold(max(K, 2), self.task.delta, self.task.family)])
        x, start = np.ascontiguousarray(rewards), 0
        while start < len(x):
            stop = min(len(x), start + max(1, self._mark - self.stats.rows)) if watching else len(x)
            found, named = scan(
                self.task.family, self._stopper, constants, self._tally, self.stats.N_ea, self.stats.S_ea,
                e[start:stop], a[start:stop], x[start:stop], self.stats.rows, watching and self.claim is None,
            )  # fmt: skip
            if found >= 0:
                index = start + found if everything else int(np.flatnonzero(good)[start + found])
                self.claim = Claim(self.stats.arms[named], self.stats.rows + found + 1, batch.source, _row(batch, index))
            self.stats.rows += stop - start
            start = stop
            if watching and self.stats.rows >= self._mark:
                self._follow(float(constants[0]))
        return e, a, x

    def _good(self, batch: Batch) -> Bools:
        """Rows that can be used; the others are listed."""
        good: Bools = self.task.family.pays(batch.rewards) & (batch.arms.codes >= 0) & (batch.mediators.codes >= 0)
        for names, known in ((batch.arms, self.task.arms), (batch.mediators, self.task.mediators)):
            allowed = np.array([bool(value.strip()) and (not known or value in known) for value in names.values] + [False])
            good &= allowed[names.codes]
        for i in np.flatnonzero(~good).tolist():
            self._bad([BadRow(batch.source, _row(batch, i), self._reason(batch, i))])
        return good

    def _reason(self, batch: Batch, i: int) -> str:
        for what, names, known in (("arm", batch.arms, self.task.arms), ("mediator", batch.mediators, self.task.mediators)):
            code = int(names.codes[i])
            if code < 0 or not names.values[code].strip():
                return f"has no {what}"
            if known and names.values[code] not in known:
                return f"{what} {names.values[code]!r} is not known"
        x = float(batch.rewards[i])
        if math.isnan(x):
            return "its reward is missing or no number"
        return f"reward {x:g} is not possible: a {self.task.family.name} reward is {self.task.family.rewards}"

    def _order(self, batch: Batch) -> None:
        if batch.order is None or self.stats.disorder is not None or not len(batch.order):
            return
        if isinstance(batch.order, list):
            present = [i for i, text in enumerate(batch.order) if text]
        else:
            present = np.flatnonzero(~np.isnan(batch.order)).tolist()
        if not present:
            return
        if isinstance(batch.order, list):
            here = [batch.order[i] for i in present]
            pairs = zip([self._before if isinstance(self._before, str) else "", *here], here, strict=False)
            falls = next((i for i, (above, now) in enumerate(pairs) if now < above), -1)
            self._before = here[-1]
        else:
            values = batch.order[present]
            found = np.flatnonzero(
                np.diff(values, prepend=self._before if isinstance(self._before, float) else -math.inf) < 0.0
            )
            falls = int(found[0]) if len(found) else -1
            self._before = float(values[-1])
        if falls >= 0:
            self.stats.disorder = BadRow(batch.source, _row(batch, present[falls]), "comes before the row above it")

    def _follow(self, threshold: float) -> None:
        best, Z = glr(self.task.family, self._tally)
        statistic = least_log_evalue(self.task.family, self._tally, int(best)) if Z > 0.0 else 0.0
        self.trail.append((self.stats.rows, max(0.0, statistic), threshold))
        self._mark = max(self.stats.rows + 1, math.ceil(1.04 * self.stats.rows))


def _row(batch: Batch, i: int) -> int:
    return batch.first + i if batch.numbers is None else int(batch.numbers[i])


def _coded(names: Names, codes: Ints, known: list[str]) -> Ints:
    """Codes of a batch as places in the list of all names."""
    place = {name: i for i, name in enumerate(known)}
    table = np.array([place.get(value, -1) for value in names.values], np.int64)
    found: Ints = table[codes]
    return found


def count_logs(task: Task, sources: Sequence[Any], skip_bad: bool = False) -> LogStats:
    """The statistics of logs, strictly: bad rows are refused."""
    reading = Reading(task, watching=False)
    for source in sources:
        reading.read(source, threads=True)
    if reading.stats.bad_count and not skip_bad:
        raise BadLogError(reading.stats)
    if not reading.stats.rows:
        raise LogError("the log holds no row that can be used")
    return reading.stats.in_order()


def count_one(task: Task, source: Any) -> LogStats:
    """The statistics of one source; executors call this."""
    reading = Reading(task, watching=False)
    reading.read(source, threads=False)
    return reading.stats
