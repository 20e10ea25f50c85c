"""What a log comes to: counts and sums for each mediator and arm. They add up, whoever counted them and in whatever order."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gobetween.core.alarm.contradiction import Claim
from gobetween.core.alarm.drift import Checkpoint, Trajectory, moderate
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.ground.tally import Tally, fill, new_tally
from gobetween.core.problem.cast import too_many
from gobetween.core.reward.family import Family
from gobetween.core.reward.second_moments import add_spread, new_spread, widened
from gobetween.errors import Fix, LogError
from gobetween.export import numbered
from gobetween.logs.reading.names import is_nothing, natural

Before = float | str  # the last value of an order column

LISTED = 1000  # bad rows that are listed; all are counted
NEITHER = "has neither arm nor reward"
NOT_UTF8 = "holds characters that are not UTF-8"
REPEATED, NO_NUMBER = "id is repeated", "reward is not a number"
NOT_PAID, NOT_TOGETHER = "reward is not possible", "total is not possible"
ONE_SIDED = 5  # bad rows of one name that are no chance
SHOWN = 10  # bad rows that are told in a sentence; the rest is counted by kind


@dataclass(frozen=True)
class BadRow:
    """A row that cannot be used."""

    source: str
    row: int  # number of the data row in its file, from 1; 0 for the file as a whole
    reason: str
    kind: str = ""  # what such rows have in common; empty: the reason


@dataclass
class LogStats:
    """Sufficient statistics of a log."""

    arms: list[str] = field(default_factory=list)
    mediators: list[str] = field(default_factory=list)
    N_ea: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    S_ea: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    spread: Floats = field(default_factory=lambda: new_spread(0))
    """[3 or more, K] second moments, counted where the family declares how far rewards spread."""
    silent: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # [E] rows in which a mediator answered nothing
    rows: int = 0
    bad: list[BadRow] = field(default_factory=list)  # the first of them
    bad_count: int = 0
    kinds: dict[str, int] = field(default_factory=dict)  # how many bad rows there are of each kind
    missing: dict[tuple[str, str], int] = field(default_factory=dict)
    """(mediator, arm) → how many bad rows lack nothing but the reward."""
    bad_names: tuple[dict[str | None, int], dict[str | None, int]] = field(default_factory=lambda: ({}, {}))
    """Mediator, and arm → how many bad rows have it; None: it cannot be read, or there are too many to list."""
    left_out: int = 0  # rows that were not asked for
    words: frozenset[str] = frozenset()  # words, such as yes, that were read as rewards
    renamed: frozenset[str] = frozenset()  # old names that were found and renamed
    propensities: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    """(mediator, arm) → the lowest and highest probability with which the log says that the arm was chosen."""
    disorder: BadRow | None = None  # the first row that the order column puts before its predecessor
    last: Before = -math.inf  # the last value of the order column
    claim: Claim | None = None  # the first claim and what speaks against it, where the log was read in order
    checkpoints: Sequence[Checkpoint] | None = None
    """What had been counted at the splits on the way, where the log was read in order."""

    def widen(self, arms: Iterable[str], mediators: Iterable[str]) -> bool:
        """Make room for names; did an arm come in addition?"""
        known_arms, known = len(self.arms), set(self.arms)
        self.arms += [name for name in dict.fromkeys(arms) if name not in known]
        known = set(self.mediators)
        self.mediators += [name for name in dict.fromkeys(mediators) if name not in known]
        shape = (len(self.mediators), len(self.arms))
        if words := too_many(shape[1], shape[0]):
            raise LogError(f"{words}: is a column of ids or times taken for names?", fix=Fix("columns"))
        if self.N_ea.shape != shape:
            self.N_ea, self.S_ea = _grown(self.N_ea, shape), _grown(self.S_ea, shape)
            self.spread = widened(self.spread, len(self.arms))
            self.silent = np.pad(self.silent, (0, shape[0] - len(self.silent)))
        return len(self.arms) > known_arms

    def refuse(self, rows: Iterable[BadRow]) -> None:
        """Take note of rows that cannot be used."""
        for row in rows:
            self.bad_count += 1
            self.kinds[row.kind or row.reason] = self.kinds.get(row.kind or row.reason, 0) + 1
            if len(self.bad) < LISTED:
                self.bad.append(row)

    def note_names(self, mediator: str | None, arm: str | None, rows: int = 1) -> None:
        """Take note of the names in a row that cannot be used."""
        for counts, name in zip(self.bad_names, (mediator, arm), strict=True):
            seen = name is not None and not is_nothing(name) and (name in counts or len(counts) < LISTED)
            known = name if seen else None
            counts[known] = counts.get(known, 0) + rows

    @property
    def one_sided(self) -> tuple[str, str] | None:
        """What all bad rows have in common, and hardly others: (arm or mediator, its name); None where there is nothing."""
        for what, counts, names in zip(("mediator", "arm"), self.bad_names, (self.mediators, self.arms), strict=True):
            if len(counts) == 1 and sum(counts.values()) >= ONE_SIDED and None not in counts and {*names} - {*counts}:
                return what, str(*counts)
        return None

    def note_propensity(self, pair: tuple[str, str], low: float, high: float) -> None:
        """Take note of probabilities with which a mediator chose an arm."""
        before = self.propensities.get(pair, (low, high))
        self.propensities[pair] = min(before[0], low), max(before[1], high)

    def tally(self) -> Tally:
        """Counts and sums of each arm."""
        return fill(new_tally(len(self.arms)), self.N_ea.sum(axis=0), self.S_ea.sum(axis=0))

    def family_at_work(self, family: Family) -> Family:
        """A family as it is after these rows."""
        made, N_a = family.at_work(len(self.arms)), self.N_ea.sum(axis=0)
        made.absorb_moments(N_a, self.spread)
        return made

    def aligned(self, arms: Sequence[str], mediators: Sequence[str]) -> tuple[Ints, Floats]:
        """Counts and sums [E, K] in the order of given names; refuses a log that names others."""
        for what, found, known in (("arm", self.arms, arms), ("mediator", self.mediators, mediators)):
            for name in found:
                if name not in known:
                    raise LogError(f"the log has {what} {name!r}, which is not in the study")
        shape = (len(mediators), len(arms))
        N_ea, S_ea = np.zeros(shape, np.int64), np.zeros(shape)
        places = np.ix_([list(mediators).index(m) for m in self.mediators], [list(arms).index(a) for a in self.arms])
        N_ea[places], S_ea[places] = self.N_ea, self.S_ea
        return N_ea, S_ea

    def aligned_silence(self, mediators: Sequence[str]) -> Ints:
        """Silence [E] in the order of given names."""
        silent = np.zeros(len(mediators), np.int64)
        silent[[list(mediators).index(name) for name in self.mediators]] = self.silent
        return silent

    def aligned_spread(self, arms: Sequence[str]) -> Floats:
        """Second moments [3 or more, K] in the order of given names."""
        return _placed(self, [list(arms).index(name) for name in self.arms], len(arms))[0]

    def aligned_checkpoints(self, arms: Sequence[str], mediators: Sequence[str]) -> list[list[Any]] | None:
        """What had been counted on the way, in the order of given names, as JSON knows it: split, N_a, S_a, N_ea."""
        if self.checkpoints is None:
            return None
        rows, columns = [list(mediators).index(m) for m in self.mediators], [list(arms).index(a) for a in self.arms]
        found = [_spread_out(checkpoint, rows, columns, (len(mediators), len(arms))) for checkpoint in self.checkpoints]
        return [[one.j, *(None if part is None else part.tolist() for part in one[2:])] for one in found]

    def trajectory(self) -> Trajectory | None:
        """What was counted on the way, and in the end."""
        if self.checkpoints is None:
            return None
        N_ea = self.N_ea if moderate(*self.N_ea.shape) else None
        return Trajectory(self.checkpoints, Checkpoint(-1, -1, self.N_ea.sum(axis=0), self.S_ea.sum(axis=0), N_ea))

    def in_order(self) -> "LogStats":
        """The same with names sorted, so that it does not depend on what was read first."""
        rows, columns = (
            np.array(sorted(range(len(n)), key=lambda i: natural(n[i])), np.int64) for n in (self.mediators, self.arms)
        )
        order = np.ix_(rows, columns)
        names: dict[str, Any] = {"arms": sorted(self.arms, key=natural), "mediators": sorted(self.mediators, key=natural)}
        names["claim"] = None if self.claim is None else self.claim.placed(np.argsort(columns).tolist())
        if self.checkpoints is not None:
            places = np.argsort(rows).tolist(), np.argsort(columns).tolist()
            names["checkpoints"] = [_spread_out(checkpoint, *places, self.N_ea.shape) for checkpoint in self.checkpoints]
        names |= {"spread": self.spread[:, columns], "silent": self.silent[rows]}
        return replace(self, **names, N_ea=self.N_ea[order], S_ea=self.S_ea[order])


def _spread_out(checkpoint: Checkpoint, rows: Sequence[int], columns: Sequence[int], shape: tuple[int, int]) -> Checkpoint:
    """A checkpoint at these places of another cast; those that had not been seen then are at places behind."""
    K = len(checkpoint.N_a)
    N_a, S_a, N_ea = np.zeros(shape[1], np.int64), np.zeros(shape[1]), None
    N_a[columns[:K]], S_a[columns[:K]] = checkpoint.N_a, checkpoint.S_a
    if checkpoint.N_ea is not None and moderate(*shape):
        N_ea = np.zeros(shape, np.int64)
        N_ea[np.ix_(rows[: len(checkpoint.N_ea)], columns[:K])] = checkpoint.N_ea
    return checkpoint._replace(N_a=N_a, S_a=S_a, N_ea=N_ea)


def _grown(array: Any, shape: tuple[int, int]) -> Any:
    made = np.zeros(shape, array.dtype)
    made[: array.shape[0], : array.shape[1]] = array
    return made


def merge(parts: Sequence[LogStats]) -> LogStats:
    """Statistics of several logs together."""
    whole = LogStats()
    for part in parts:
        whole.widen(part.arms, part.mediators)
        rows = [whole.mediators.index(name) for name in part.mediators]
        columns = [whole.arms.index(name) for name in part.arms]
        whole.N_ea[np.ix_(rows, columns)] += part.N_ea
        whole.S_ea[np.ix_(rows, columns)] += part.S_ea
        whole.silent[rows] += part.silent
        whole.spread = widened(whole.spread, len(whole.arms), len(part.spread))
        add_spread(whole.spread, *_placed(part, columns, len(whole.arms), len(whole.spread)))
        whole.rows += part.rows
        whole.bad = (whole.bad + part.bad)[:LISTED]
        whole.bad_count += part.bad_count
        whole.left_out, whole.words = whole.left_out + part.left_out, whole.words | part.words
        whole.renamed |= part.renamed
        for kind, number in part.kinds.items():
            whole.kinds[kind] = whole.kinds.get(kind, 0) + number
        for mine, theirs in zip(whole.bad_names, part.bad_names, strict=True):
            for name, number in theirs.items():
                mine[name] = mine.get(name, 0) + number
        for pair, number in part.missing.items():
            whole.missing[pair] = whole.missing.get(pair, 0) + number
        for pair, span in part.propensities.items():
            whole.note_propensity(pair, *span)
        whole.disorder, whole.last = whole.disorder or part.disorder, part.last
    return whole


def _placed(part: LogStats, columns: Sequence[int], K: int, rows: int = 3) -> tuple[Floats, Ints]:
    """Second moments and counts of a part at the places of its arms among K."""
    spread, N_a = widened(part.spread[:, :0], K, rows), np.zeros(K, np.int64)
    spread[: len(part.spread), columns], N_a[columns] = part.spread, part.N_ea.sum(axis=0)
    return spread, N_a


class BadLogError(LogError):
    """Rows that cannot be used: the first of them in `bad`, their number in `bad_count`."""

    def __init__(self, stats: LogStats) -> None:
        self.bad, self.bad_count = stats.bad, stats.bad_count
        files = all(row.row == 0 for row in stats.bad)
        said = f"{listed(stats.bad[:SHOWN])}{_others(stats)}"
        what = "" if files else f"{numbered(stats.bad_count, 'row')} cannot be used: "
        super().__init__(f"{what}{said}{_common(stats)}", fix=_mend(stats, files))


def _common(stats: LogStats) -> str:
    """What all of the bad rows have in common."""
    found = stats.one_sided
    return f"; all of them are of {found[0]} {found[1]!r}" if found else ""


def _mend(stats: LogStats, files: bool) -> Fix:
    """What to do about rows that cannot be used. To leave them out is named only where they are not chosen by what they hold:
    those of one encoding, one arm, one mediator or one kind of reward would take the answer with them.
    """
    kinds = set(stats.kinds)
    if files:
        return Fix("skip-empty" if stats.rows else "other-file")
    if NOT_UTF8 in kinds:
        return Fix("encoding", "latin-1")
    if kinds & {NOT_PAID, NOT_TOGETHER, NO_NUMBER}:
        return Fix("mend-rewards")
    if stats.one_sided is not None:
        return Fix("mend-rows")
    return Fix("skip-or-silence" if NEITHER in kinds else "skip-bad" if kinds == {REPEATED} else "skip-if-unrelated")


def listed(rows: Iterable[BadRow]) -> str:
    """Rows that cannot be used, those of one file with one reason together."""
    places: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        places.setdefault((row.source, row.reason), []).extend([str(row.row)] if row.row else [])
    return "; ".join(f"{source}{_rows(numbers)}: {reason}" for (source, reason), numbers in places.items())


def _rows(numbers: Sequence[str]) -> str:
    return f" row{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}" if numbers else ""


def _others(stats: LogStats) -> str:
    """How many bad rows of which kind are not shown."""
    kinds = dict(stats.kinds)
    for row in stats.bad[:SHOWN]:
        kinds[row.kind or row.reason] -= 1
    left = sorted(((number, kind) for kind, number in kinds.items() if number), reverse=True)
    more = sum(number for number, _ in left)
    return f"; and {more:,} more: " + ", ".join(f"{number:,} × {kind}" for number, kind in left[:SHOWN]) if left else ""
