"""Logs: the best arm from what others have already collected, row by row, always valid."""

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Unpack

import numpy as np

from gobetween.core import transport
from gobetween.core.alarms import Alarm, confounding_alarms, policy_alarms
from gobetween.core.bound import LowerBound, lower_bound
from gobetween.core.eprocess import log_evalue
from gobetween.core.evidence import Evidence, arm_report, weigh
from gobetween.core.family import Family
from gobetween.core.problem import Problem, unreachable_arms
from gobetween.core.state import Tally, fill, new_tally
from gobetween.core.types import Floats
from gobetween.logs.counts import LogStats, merge
from gobetween.logs.options import LogKeywords, LogOptions, options_of
from gobetween.logs.reading import OF_LOGS, Claim, Reading, Trail, accepted, count_one
from gobetween.logs.report import LogReport
from gobetween.logs.sources import Source, check_sources


def analyse_logs(*sources: Source, executor: Executor | None = None, **options: Unpack[LogKeywords]) -> LogReport:
    """What logs say about the best arm.

    sources: paths of CSV, JSONL or Parquet files, tables (pandas, polars, Arrow, a dict of columns) or an iterable of tables,
    in the order in which they were collected. executor: count the sources in parallel; the verdict at the end is the same,
    but the first claim needs one pass in order. options, with their defaults:

    - family=Bernoulli(), delta=0.05: what rewards are, and the risk of a wrong answer.
    - mediator=None, arm="arm", reward="reward", order=None: names of columns. A log without a column "mediator" has one
      mediator; order is a column that is checked to rise.
    - arms=None, declared=None: names of arms, and policies of mediators in their order, known beforehand; other names are
      then bad rows.
    - skip_bad=False: leave out rows that cannot be used instead of refusing the log.

    >>> gb.analyse_logs({"arm": ["letter", "call"] * 40, "reward": [1, 0] * 40})
    <LogReport: the best arm is 'letter', certain since row 10 of 80, δ = 0.05>
    """
    chosen, names = options_of(options), check_sources(sources)
    if executor is not None:
        parts = [executor.submit(count_one, chosen, source) for source in sources]
        stats = merge([part.result() for part in parts])
        stats.widen(chosen.known_arms, chosen.known_mediators)
        return _report(chosen, stats, names, ordered=False)
    reading = Reading(chosen)
    for source in sources:
        reading.read(source)
    return _report(chosen, reading.stats, names, ordered=True, claim=reading.claim, trail=reading.trail)


def _report(
    options: LogOptions, stats: LogStats, sources: tuple[str, ...], ordered: bool, claim: Claim | None = None, trail: Trail = ()
) -> LogReport:
    stats = accepted(stats, options).in_order()
    family, tally = options.family, stats.tally()
    evidence = _evidence(options, tally, stats.rows)
    rate, bound = _rates(family, tally, stats, evidence.leader)
    lack = max(0.0, evidence.threshold - evidence.statistic)
    return LogReport(
        rows=stats.rows,
        family=family.name,
        delta=options.delta,
        arms=tuple(arm_report(family, name, tally, a, options.delta) for a, name in enumerate(stats.arms)),
        mediators=tuple(stats.mediators),
        N_ea=stats.N_ea,
        claim=claim,
        ordered=ordered,
        identified=evidence.reached,
        leader=stats.arms[evidence.leader],
        statistic=evidence.statistic,
        threshold=evidence.threshold,
        p_value=evidence.p_value,
        in_play=tuple(name for b, name in enumerate(stats.arms) if _in_play(family, tally, evidence, b)),
        rows_to_go=0.0 if evidence.reached else lack / rate if rate > 0.0 else math.inf,
        queries_to_go=0.0 if evidence.reached else math.inf if bound is None else lack * bound.T_upper,
        mixture=tuple((stats.N_ea.sum(axis=1) / stats.rows).tolist()),
        omega=None if bound is None or bound.status == "tie" else tuple(bound.omega.tolist()),
        never_pulled=tuple(name for name, n in zip(stats.arms, tally.N_a, strict=True) if not n),
        policy_alarms=_policy_alarms(options, stats),
        confounding=tuple(confounding_alarms(stats.arms, family, stats.N_ea, stats.S_ea)),
        disorder=stats.disorder,
        bad=tuple(stats.bad),
        bad_count=stats.bad_count,
        trail=trail,
        sources=sources,
    )


def _evidence(options: LogOptions, tally: Tally, rows: int) -> Evidence:
    """The evidence at the end; a lone arm gets a rival that nobody has seen, and so is never certain."""
    if len(tally.N_a) == 1:
        tally = fill(new_tally(2), np.append(tally.N_a, 0), np.append(tally.S_a, 0.0))
    return weigh(options.family, OF_LOGS, options.delta, tally, rows)


def _in_play(family: Family, tally: Tally, evidence: Evidence, b: int) -> bool:
    """May arm b still be the best?"""
    best = evidence.leader
    return b == best or not tally.N_a.all() or log_evalue(family, tally, best, b, -math.inf) < evidence.threshold


def _policy_alarms(options: LogOptions, stats: LogStats) -> tuple[Alarm, ...]:
    if options.declared is None:
        return ()
    places = [options.known_arms.index(name) for name in stats.arms]
    declared = [_reordered(options.declared.get(name), places) for name in stats.mediators]
    return tuple(policy_alarms(stats.mediators, stats.N_ea, declared))


def _reordered(row: Sequence[float] | Floats | None, places: Sequence[int]) -> list[float] | None:
    """A policy in another order of the arms."""
    if row is None:
        return None
    total = math.fsum(row)  # under 1 where a mediator may stay silent, of which a log knows nothing
    return [float(row[place]) / total for place in places]


def _rates(family: Family, tally: Tally, stats: LogStats, best: int) -> tuple[float, LowerBound | None]:
    """Evidence for each further row of the same mixture, and the bound for the best choice of mediators."""
    mu, rivals = tally.mu_hat, [b for b in range(len(tally.mu_hat)) if b != best]
    if not rivals or not tally.N_a.all():
        return 0.0, None
    shares = tally.N_a / tally.N_a.sum()
    rate = min(float(transport.evidence(family, mu[best], mu[b], shares[best], shares[b])[0]) for b in rivals)
    policies = stats.N_ea / np.maximum(1, stats.N_ea.sum(axis=1, keepdims=True))
    used = stats.N_ea.sum(axis=1) > 0
    if not used.all() or len(unreachable_arms(policies)) or not all(family.has_mean(float(m)) for m in mu):
        return rate, None
    try:
        return rate, lower_bound(Problem(mu, policies / policies.sum(axis=1, keepdims=True), family=family), tol=1e-6)
    except ValueError:
        return rate, None
