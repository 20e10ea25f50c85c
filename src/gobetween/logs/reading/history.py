"""What was seen on the way through a log: the first claim, looks at the evidence, and counts at the splits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gobetween.core.alarm.contradiction import Claim
from gobetween.core.alarm.drift import Checkpoint
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.ground.tally import Tally, fill, new_tally
from gobetween.core.reward.family import Family
from gobetween.core.stopping.rules import BY_COUNTS
from gobetween.core.verdict.evidence_report import Evidence, weigh
from gobetween.logs.reading.counts import BadRow, LogStats
from gobetween.logs.reading.options import LogOptions

Trail = tuple[tuple[int, float, float], ...]  # (row, statistic, threshold) along a log


@dataclass(frozen=True)
class FirstClaim:
    """Where the question could first have been answered."""

    arm: str  # the arm that could be named; where the answer is a set of arms: their names, with commas
    row: int  # of the whole log, from 1
    source: str
    source_row: int
    answer: tuple[str, ...]  # the arms that answer the question


class CountsAtRow(NamedTuple):
    """What had been counted at one row: counts [K] and sums [K] of each arm, in the order in which they were first seen."""

    row: int
    N_a: Ints
    S_a: Floats
    family: Family


class LogHistory(NamedTuple):
    """What was seen on the way through a log."""

    claim: FirstClaim | None
    looks: list[CountsAtRow]
    disorder: BadRow | None
    checkpoints: list[Checkpoint]


def join_histories(parts: Sequence[LogHistory]) -> LogHistory:
    """What was seen on the way through parts that follow each other."""
    claim = next((part.claim for part in parts if part.claim is not None), None)
    disorder = next((part.disorder for part in parts if part.disorder is not None), None)
    looks, checkpoints = (
        [look for part in parts for look in part.looks],
        [checkpoint for part in parts for checkpoint in part.checkpoints],
    )
    return LogHistory(claim, looks, disorder, checkpoints)


def tally_at(look: CountsAtRow, K: int) -> Tally:
    """A look as a tally of K arms, of which the last may have been seen later."""
    more = (0, K - len(look.N_a))
    return fill(new_tally(K), np.pad(look.N_a, more), np.pad(look.S_a, more))


def family_at(look: CountsAtRow, K: int) -> Family:
    """The family at work on K arms, as it was at a look."""
    return look.family.with_arms(K)


def trail_of(options: LogOptions, history: LogHistory, K: int) -> Trail:
    """The evidence at every look."""
    if options.question.ways(K) < 1:
        return ()
    seen = [(look.row, evidence_of(options, family_at(look, K), tally_at(look, K), look.row)) for look in history.looks]
    return tuple((row, now.statistic, now.threshold) for row, now in seen)


def evidence_of(options: LogOptions, family: Family, tally: Tally, rows: int) -> Evidence:
    """What counts and sums say about the question, with what the family at work has counted."""
    return weigh(family, BY_COUNTS, options.delta, tally, rows, question=options.question)


def checkpoints_of(stats: LogStats, history: LogHistory) -> list[Checkpoint] | None:
    """What had been counted at the splits; None where rows are not in order."""
    return None if stats.disorder is not None else history.checkpoints


def claim_of(options: LogOptions, stats: LogStats, history: LogHistory) -> Claim | None:
    """The first claim and the strongest evidence against it afterwards, at all looks and at the end."""
    if history.claim is None or stats.disorder is not None:
        return None
    question = options.question
    found = Claim.of(question, tuple(sorted(map(stats.arms.index, history.claim.answer))), history.claim.row)
    end = CountsAtRow(stats.rows, stats.N_ea.sum(axis=0), stats.S_ea.sum(axis=0), stats.family_at_work(options.family))
    for look in (*history.looks, end):
        K = len(stats.arms)
        found = found.seen(question, family_at(look, K), tally_at(look, K), look.row)
    return found
