"""Logs: the best arm from what others have already collected, row by row, always valid."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Unpack

import numpy as np

from gobetween.core.alarm.alarm import Facts
from gobetween.core.alarm.drift import split_at
from gobetween.core.ground.jit import ENABLED
from gobetween.core.ground.tally import Tally, fill, new_tally
from gobetween.core.reward.family import Family
from gobetween.core.stopping.rules import BY_COUNTS
from gobetween.core.verdict.evidence_report import (
    FAR,
    ArmReport,
    Evidence,
    NearTie,
    account,
    arm_reports,
    in_play,
    leader_and_rival,
    near_tie,
)
from gobetween.logs.analysis.advice import advise
from gobetween.logs.analysis.notes import notes_of
from gobetween.logs.analysis.policies import declared_policies
from gobetween.logs.analysis.report import LogReport, Traffic
from gobetween.logs.analysis.timeline import adaptive_mediators, stretches_of
from gobetween.logs.reading.counts import LogStats, merge
from gobetween.logs.reading.history import LogHistory, checkpoints_of, claim_of, evidence_of, join_histories, trail_of
from gobetween.logs.reading.merging import in_turn
from gobetween.logs.reading.options import LogKeywords, LogOptions, options_of
from gobetween.logs.reading.reading import Reading, accepted, count_one, read_history
from gobetween.logs.reading.sources import Source, check_sources, each_source

#: Looks along a log that are shown, and arms that are looked at in all of them: about a second.
FEWEST, MOST_WORK = 12, 12_000 if ENABLED else 72
ENOUGH = 100  # rows of two arms before a near-tie is spoken of: with fewer, estimates are often close by chance


def analyse_logs(*sources: Source, executor: Executor | None = None, **options: Unpack[LogKeywords]) -> LogReport:
    """What logs say about the best arm, or about another question.

    sources: paths of CSV, JSON, Parquet or Feather files, patterns, folders, lists of paths, tables (pandas, polars, Arrow,
    DuckDB, anything with the stream interface of Arrow, a dict of columns) or an iterable of tables, in the order in which they
    were collected. executor: count the sources in parallel, then look along them in parallel for the first claim; the report is
    the same. options, with their defaults:

    - family=Bernoulli(), delta=0.05: what rewards are, and the risk of a wrong answer.
    - mediator=None, arm="arm", reward="reward", order=None: names of columns, of mediators and arms also several. A log without
      a column "mediator" has one mediator; order is a column that must rise, and by which files that overlap are merged.
    - arms=None, declared=None: names of arms, and policies of mediators in their order, known beforehand, or the set of arms
      that one may pull; other names are then bad rows.
    - skip_bad=False: leave out rows that cannot be used instead of refusing the log.
    - question=BestArm(): what is asked about the arms.
    - silence=False: count rows with neither arm nor reward as silence of their mediator; without it they are bad rows.
    - count=None, totals=False: a column that says how many rows a row stands for, and whether its reward is their total.
    - id=None, propensity=None: columns of ids that must differ, and of probabilities with which the arm was chosen.
    - where=None, only=None: a condition in SQL on single rows, and the arms that are asked about; other rows are left out.
    - fold=False, rename=None: join names that hardly differ, and old names with their new ones.
    - separator=None, decimal=".", thousands=None, encoding=None: how text is written.

    >>> gb.analyse_logs({"arm": ["letter", "call"] * 40, "reward": [1, 0] * 40})
    <LogReport: the best arm is 'letter', certain since row 10 of 80, δ = 0.05>
    """
    chosen, names = options_of(options), check_sources(sources)
    parts = each_source(sources)
    if executor is not None and chosen.id is None:  # ids are held against each other
        found = _in_parallel(chosen, parts, executor)
        if found is not None:
            return report_of(chosen, *found, names)
    reading = Reading(chosen)
    reading.read_all(parts)
    return report_of(chosen, reading.stats, reading.history, names)


def _in_parallel(
    options: LogOptions, sources: Sequence[Source], executor: Executor
) -> tuple[LogStats, LogHistory | None] | None:
    """Count the sources, then look along each of them from what the others before it came to, unless they are read once; None
    if they are to be merged.
    """
    counted = [part.result() for part in [executor.submit(count_one, options, source) for source in sources]]
    whole = accepted(merge(counted), options)
    whole.widen(options.counted_arms, options.known_mediators)
    if not options.ordered or any(isinstance(source, Iterator) for source in sources):
        return whole, None
    if not in_turn(sources, [part.last for part in counted], options):
        return None
    looking, before = [], LogStats()
    for source, part in zip(sources, counted, strict=True):
        after = LogStats(rows=before.rows, last=before.last)
        after.widen(whole.arms, whole.mediators)
        after.N_ea, after.S_ea = before.aligned(whole.arms, whole.mediators)
        after.spread = before.aligned_spread(whole.arms)
        looking.append(executor.submit(read_history, options, source, after))
        before = merge([before, part])
    history = join_histories([part.result() for part in looking])
    whole.disorder = history.disorder
    return whole, history


def report_of(options: LogOptions, stats: LogStats, history: LogHistory | None, sources: tuple[str, ...]) -> LogReport:
    """What was read, as a report; the statistics get what was claimed on the way, and are refused where they cannot be used."""
    accepted(stats, options)
    looks = tuple if history is None else partial(trail_of, options, _shown(history, len(stats.arms)), len(stats.arms))
    if history is not None:
        stats.claim, stats.checkpoints = claim_of(options, stats, history), checkpoints_of(stats, history)
    stats = stats.in_order()
    family, tally, learnt = options.family, stats.tally(), stats.family_at_work(options.family)
    evidence = _evidence(options, learnt, tally, stats.rows)
    found = account(_facts(options, stats), evidence, stats.rows, question=options.question)
    advice = advise(options, learnt, tally, stats, evidence, found.broken is None)
    arms = arm_reports(learnt, stats.arms, tally, options.delta)
    still = _in_play(options, learnt, tally, evidence, arms)
    return LogReport(
        rows=stats.rows,
        parameters=family.to_dict(),
        delta=options.delta,
        question=options.question,
        answer=found.answer,
        alarms=found.alarms,
        arms=arms,
        mediators=tuple(stats.mediators),
        N_ea=stats.N_ea,
        S_ea=stats.S_ea,
        law=family,
        silent=dict(zip(stats.mediators, stats.silent.tolist(), strict=True)) if options.silence else None,
        claim=None if history is None else history.claim,
        ordered=history is not None,
        identified=evidence.reached,
        leader=stats.arms[evidence.leader],
        statistic=evidence.statistic,
        threshold=evidence.threshold,
        p_value=evidence.p_value,
        in_play=tuple(stats.arms[b] for b in still),
        rows_to_go=advice.rows,
        rows_forecast=advice.rows_forecast,
        queries_to_go=advice.queries,
        queries_forecast=advice.queries_forecast,
        near_tie=_near_tie(options, learnt, stats, tally, still) if advice.rows > FAR * stats.rows else None,
        mixture=tuple(((stats.N_ea.sum(axis=1) + stats.silent) / (stats.rows + stats.silent.sum())).tolist()),
        omega=advice.omega,
        advice=advice.advice,
        never_pulled=tuple(name for name, n in zip(stats.arms, tally.N_a, strict=True) if not n),
        disorder=stats.disorder,
        bad=tuple(stats.bad),
        bad_count=stats.bad_count,
        looks=looks,
        sources=sources,
        remarks=notes_of(stats, options),
        traffic=_traffic(stats, still) if options.question.names_leader else None,
        adaptive=adaptive_mediators(learnt.planned(), stats, found.alarms),
        stretches=stretches_of(stats),
    )


def _shown(history: LogHistory, K: int) -> LogHistory:
    """The looks that a figure shows: fewer where there are many arms, for each takes its time, the last of them always."""
    every = max(1, math.ceil(len(history.looks) / max(FEWEST, MOST_WORK // K)))
    return history._replace(looks=history.looks[::-1][::every][::-1])


def _facts(options: LogOptions, stats: LogStats) -> Facts:
    return Facts(
        family=options.family,
        arms=stats.arms,
        mediators=stats.mediators,
        N_ea=np.column_stack([stats.N_ea, stats.silent]) if options.silence else stats.N_ea,
        declared=declared_policies(options, stats),
        delta=options.delta,
        S_ea=stats.S_ea,
        spread=stats.spread,
        claim=stats.claim,
        question=options.question,
        trajectory=stats.trajectory(),
        unit="row",
    )


def _evidence(options: LogOptions, family: Family, tally: Tally, rows: int) -> Evidence:
    """The evidence at the end; a lone arm gets a rival that nobody has seen, and so is never certain to be better."""
    options.question.check(len(tally.N_a), options.family)
    if options.question.ways(len(tally.N_a)) < 1:
        tally, family = fill(new_tally(2), np.append(tally.N_a, 0), np.append(tally.S_a, 0.0)), family.with_arms(2)
    return evidence_of(options, family, tally, rows)


def _in_play(options: LogOptions, family: Family, tally: Tally, evidence: Evidence, arms: Sequence[ArmReport]) -> list[int]:
    """The arms that can still be the best; the one that is named is alone."""
    if len(tally.N_a) == 1 or (evidence.reached and options.question.names_leader):
        return [evidence.leader]
    return np.flatnonzero(in_play(family, tally, options.delta, arms=arms)).tolist()


def _traffic(stats: LogStats, still: Sequence[int]) -> Traffic:
    """How much of the last rows went to arms that are out of play."""
    before = [checkpoint for checkpoint in stats.checkpoints or () if split_at(checkpoint.j) <= 0.9 * stats.rows]
    since, N_a = 0, stats.N_ea.sum(axis=0)
    if before:
        since, N_a = split_at(before[-1].j), N_a - before[-1].N_a
    return Traffic(since, stats.rows - since, 1.0 - float(N_a[list(still)].sum() / (stats.rows - since)))


def _near_tie(options: LogOptions, family: Family, stats: LogStats, tally: Tally, still: Sequence[int]) -> NearTie | None:
    """Two arms that many times as many rows would not tell apart; asked where that is to be expected of all rows together."""
    rows = stats.rows
    if not options.question.names_leader or len(stats.arms) < 2:
        return None
    pair = leader_and_rival(tally, np.isin(np.arange(len(stats.arms)), still))
    stopper, constant = BY_COUNTS.at_work(len(stats.arms), family), BY_COUNTS.threshold(len(stats.arms), options.delta, family)
    needed = stopper.needed(family, tally, constant, rows)
    if needed is None or tally.N_a[list(pair)].sum() < ENOUGH:
        return None
    return near_tie(family, stats.arms, tally, pair, FAR * rows, needed(FAR * rows), 0.0)
