"""Logs: the best arm from what others have already collected, row by row, always valid."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Unpack

import numpy as np

from gobetween.core.alarm import Facts
from gobetween.core.asked import BEST
from gobetween.core.drift import split_at
from gobetween.core.evidence import (
    FAR,
    ArmReport,
    Evidence,
    NearTie,
    arm_reports,
    evidence_needed,
    in_play,
    leader_and_rival,
    near_tie,
)
from gobetween.core.family import Family
from gobetween.core.jit import ENABLED
from gobetween.core.learnt import plug_in, with_arms
from gobetween.core.state import Tally, fill, new_tally
from gobetween.core.stopper import glr
from gobetween.core.stopping import BY_COUNTS
from gobetween.core.voice import Account, account, family_words
from gobetween.export import some
from gobetween.logs.ahead import look_ahead
from gobetween.logs.counts import LogStats, merge
from gobetween.logs.course import adaptive_mediators, stretches_of
from gobetween.logs.merging import in_turn
from gobetween.logs.options import LogKeywords, LogOptions, options_of
from gobetween.logs.policies import declared_policies
from gobetween.logs.reading import (
    Along,
    Reading,
    accepted,
    claimed_along,
    count_one,
    evidence_of,
    joined,
    look_along,
    moments_along,
    trail_of,
)
from gobetween.logs.remarks import remarks
from gobetween.logs.report import LogReport, Traffic
from gobetween.logs.sources import Source, check_sources, each_source

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
    - separator=None, decimal=".", thousands=None: how text is written.

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
    return report_of(chosen, reading.stats, reading.along, names)


def _in_parallel(options: LogOptions, sources: Sequence[Source], executor: Executor) -> tuple[LogStats, Along | None] | None:
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
        looking.append(executor.submit(look_along, options, source, after))
        before = merge([before, part])
    along = joined([part.result() for part in looking])
    whole.disorder = along.disorder
    return whole, along


def report_of(options: LogOptions, stats: LogStats, along: Along | None, sources: tuple[str, ...]) -> LogReport:
    """What was read, as a report; the statistics get what was claimed on the way, and are refused where they cannot be used."""
    accepted(stats, options)
    looks = tuple if along is None else partial(trail_of, options, _shown(along, len(stats.arms)), len(stats.arms))
    if along is not None:
        stats.claimed, stats.moments = claimed_along(options, stats, along), moments_along(stats, along)
    stats = stats.in_order()
    family, tally, learnt = options.family, stats.tally(), stats.family_at_work(options.family)
    evidence = _evidence(options, learnt, tally, stats.rows)
    found = account(_facts(options, stats), evidence, stats.rows, question=options.question)
    ahead = look_ahead(options, learnt, tally, stats, evidence, found.broken is None)
    arms = arm_reports(learnt, stats.arms, tally, options.delta)
    still = _in_play(options, learnt, tally, evidence, arms)
    return LogReport(
        rows=stats.rows,
        family=family_words(family),
        parameters=family.to_dict(),
        delta=options.delta,
        question=options.question,
        answer=found.answer,
        headline=_headline(found, options, stats, tally, still),
        alarms=found.alarms,
        arms=arms,
        mediators=tuple(stats.mediators),
        N_ea=stats.N_ea,
        S_ea=stats.S_ea,
        law=family,
        silent=dict(zip(stats.mediators, stats.silent.tolist(), strict=True)) if options.silence else None,
        claim=None if along is None else along.claim,
        ordered=along is not None,
        identified=evidence.reached,
        leader=stats.arms[evidence.leader],
        statistic=evidence.statistic,
        threshold=evidence.threshold,
        p_value=evidence.p_value,
        in_play=tuple(stats.arms[b] for b in still),
        rows_to_go=ahead.rows,
        rows_forecast=ahead.rows_forecast,
        queries_to_go=ahead.queries,
        queries_forecast=ahead.queries_forecast,
        near_tie=_near_tie(options, learnt, stats, tally, still) if ahead.rows > FAR * stats.rows else None,
        mixture=tuple(((stats.N_ea.sum(axis=1) + stats.silent) / (stats.rows + stats.silent.sum())).tolist()),
        omega=ahead.omega,
        advice=ahead.advice,
        never_pulled=tuple(name for name, n in zip(stats.arms, tally.N_a, strict=True) if not n),
        disorder=stats.disorder,
        bad=tuple(stats.bad),
        bad_count=stats.bad_count,
        looks=looks,
        sources=sources,
        notes=remarks(stats, options),
        traffic=_traffic(stats, still) if options.question == BEST else None,
        adaptive=adaptive_mediators(plug_in(learnt), stats, found.alarms),
        stretches=stretches_of(stats),
    )


def _shown(along: Along, K: int) -> Along:
    """The looks that a figure shows: fewer where there are many arms, for each takes its time, the last of them always."""
    every = max(1, math.ceil(len(along.looks) / max(FEWEST, MOST_WORK // K)))
    return along._replace(looks=along.looks[::-1][::every][::-1])


def _headline(found: Account, options: LogOptions, stats: LogStats, tally: Tally, still: Sequence[int]) -> str:
    """The verdict; until it is certain, the arms of which one is the best, those with the highest estimates first."""
    K, names = len(stats.arms), [stats.arms[b] for b in sorted(still, key=lambda b: -tally.mu_hat[b])]
    if found.broken is not None or found.certain or options.question != BEST or len(names) == K:
        return found.headline("row", "the log")
    risk = f"with probability at least {1.0 - options.delta:.6g}"
    if len(names) == 1:
        return f"Of {K:,} arms only {names[0]!r} can still be the best, {risk}."
    return f"One of these {len(names):,} of {K:,} arms is the best, {risk}: {some(names)}."


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
        claimed=stats.claimed,
        question=options.question,
        course=stats.course(),
        unit="row",
    )


def _evidence(options: LogOptions, family: Family, tally: Tally, rows: int) -> Evidence:
    """The evidence at the end; a lone arm gets a rival that nobody has seen, and so is never certain to be better."""
    options.question.check(len(tally.N_a), options.family)
    if options.question.ways(len(tally.N_a)) < 1:
        tally, family = fill(new_tally(2), np.append(tally.N_a, 0), np.append(tally.S_a, 0.0)), with_arms(family, 2)
    return evidence_of(options, family, tally, rows)


def _in_play(options: LogOptions, family: Family, tally: Tally, evidence: Evidence, arms: Sequence[ArmReport]) -> list[int]:
    """The arms that can still be the best; the one that is named is alone."""
    if len(tally.N_a) == 1 or (evidence.reached and options.question == BEST):
        return [evidence.leader]
    return np.flatnonzero(in_play(family, tally, options.delta, arms=arms)).tolist()


def _traffic(stats: LogStats, still: Sequence[int]) -> Traffic:
    """How much of the last rows went to arms that are out of play."""
    before = [moment for moment in stats.moments or () if split_at(moment.j) <= 0.9 * stats.rows]
    since, N_a = 0, stats.N_ea.sum(axis=0)
    if before:
        since, N_a = split_at(before[-1].j), N_a - before[-1].N_a
    return Traffic(since, stats.rows - since, 1.0 - float(N_a[list(still)].sum() / (stats.rows - since)))


def _near_tie(options: LogOptions, family: Family, stats: LogStats, tally: Tally, still: Sequence[int]) -> NearTie | None:
    """Two arms that many times as many rows would not tell apart; asked where that is to be expected of all rows together."""
    rows = stats.rows
    if options.question != BEST or len(stats.arms) < 2 or not glr(family, tally)[1] > 0.0:
        return None
    pair = leader_and_rival(tally, np.isin(np.arange(len(stats.arms)), still))
    if tally.N_a[list(pair)].sum() < ENOUGH:
        return None
    stopper, constant = BY_COUNTS.at_work(len(stats.arms), family), BY_COUNTS.threshold(len(stats.arms), options.delta, family)
    needed = evidence_needed(family, stopper, constant, tally, rows)(FAR * rows)
    return near_tie(family, stats.arms, tally, pair, FAR * rows, needed, 0.0)
