"""Replay: what a sampling rule would have needed, on logged rows and without throwing any away.

Asking mediator e consumes e's next row. Rows of one mediator are independent draws of its fixed policy and its arms' rewards:
any order of them is as good as the logged one, and each run permutes them anew.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from gobetween.core.alarm.alarm import LEVEL
from gobetween.core.alarm.drift import log_policy_drift, split_after, split_at, split_weight
from gobetween.core.ground.jit import Bools, Floats, Ints
from gobetween.core.ground.tally import new_state
from gobetween.core.problem.cast import are_known
from gobetween.core.question.question import Question
from gobetween.core.question.questions import BEST
from gobetween.core.reward.family import Family
from gobetween.core.run.loops import replay_run
from gobetween.core.sampling.rules import Pursuit, Tracking
from gobetween.core.sampling.sampling_rule import SamplingRule, as_sampling
from gobetween.core.stopping.rules import EProcess
from gobetween.core.stopping.stopping_rule import StoppingRule, as_stopping
from gobetween.errors import LogError
from gobetween.export import data_frame, json_safe
from gobetween.interrupts import held
from gobetween.logs.analysis.analysis import report_of
from gobetween.logs.analysis.policies import declared_policies
from gobetween.logs.analysis.report import LogReport
from gobetween.logs.reading.merging import all_batches
from gobetween.logs.reading.options import LogKeywords, LogOptions, options_of
from gobetween.logs.reading.reading import CodedRows, Reading, accepted
from gobetween.logs.reading.sources import Source, check_sources, each_source
from gobetween.simulation.engine import check_runs
from gobetween.simulation.summary import mean_and_half_width
from gobetween.simulation.worlds import stream

NOBODY = "none"  # the answer that no arm is


@dataclass(frozen=True)
class LoggedRows:
    """Rows by mediator, in order: those of mediator e stand at starts[e] … starts[e+1]−1. The arm K is silence."""

    arms: tuple[str, ...]
    mediators: tuple[str, ...]
    starts: Ints
    pulled: Ints
    rewards: Floats


@dataclass(frozen=True, repr=False)
class Replay:
    """Outcomes of replayed runs."""

    delta: float
    tau: Ints
    """[runs] queries until the rule stopped, or until the log ran out."""
    named: tuple[str, ...]
    """The arm named, or the arms with commas where the answer is a set; empty where the log ran out."""
    ran_out: Bools
    exhausted: dict[str, int]
    """Mediator → runs that ended because its log had no more rows."""
    N_e: Ints
    """[runs, E]"""
    rows: int
    """In the log."""
    drifting: tuple[str, ...] = ()
    """Mediators who choose differently at different times: that any order of their rows is as good as the logged one does not
    hold."""
    log: LogReport | None = None
    """What the log says itself: the verdict, the alarms, the rows that were left out."""

    def __repr__(self) -> str:
        stopped = self.tau[~self.ran_out]
        mean = f" after {stopped.mean():,.0f} rows on average" if len(stopped) else ""
        return f"<Replay: the rule stopped in {len(stopped)} of {len(self.tau)} replays{mean}, δ = {self.delta:g}>"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe summary; the mean is over replays that stopped."""
        stopped = self.tau[~self.ran_out]
        mean, half_width = mean_and_half_width(stopped) if len(stopped) else (None, math.inf)
        found = {
            "stopped": len(stopped),
            "mean": mean,
            "half_width": half_width,
            "quantiles": np.quantile(stopped, (0.1, 0.9)) if len(stopped) else None,
            "named": {name: self.named.count(name) for name in sorted(set(self.named)) if name},
            "ran_out": int(self.ran_out.sum()),
            "exhausted": self.exhausted,
            "drifting": self.drifting,
            "log": None if self.log is None else self.log.account(),
        }
        return {key: json_safe(value) for key, value in found.items()}

    def to_frame(self) -> Any:
        """The replays as a data frame of pandas or polars: queries, named, ran_out, and "queries to …" each mediator."""
        asked = {f"queries to {name}": self.N_e[:, e].tolist() for e, name in enumerate(self.exhausted)}
        return data_frame({"queries": self.tau.tolist(), "named": list(self.named), "ran_out": self.ran_out.tolist(), **asked})


def read_rows(options: LogOptions, sources: tuple[Source, ...]) -> tuple[LoggedRows, Reading]:
    """All rows, by mediator, for a replay needs them in memory; and what was seen on the way."""
    if not options.ordered:
        raise LogError("a replay needs single rows; rows that stand for many have no order")
    parts = each_source(sources)
    reading = Reading(options)
    found: list[CodedRows] = []
    for batch in all_batches(parts, options):
        coded = reading.take(batch)
        if coded is not None:
            found.append(coded)
    stats = accepted(reading.stats, options)
    K, silent = len(stats.arms), np.repeat(np.arange(len(stats.mediators)), stats.silent)
    found.append(CodedRows(silent, np.full(len(silent), K), np.zeros(len(silent))))
    e, a, x = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(e, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(e, minlength=len(stats.mediators)))]).astype(np.int64)
    pulled, paid = a[order].astype(np.int64), x[order].astype(np.float64)
    return LoggedRows(tuple(stats.arms), tuple(stats.mediators), starts, pulled, paid), reading


def replay(
    rows: LoggedRows,
    family: Family,
    sampling: SamplingRule,
    stopping: StoppingRule,
    delta: float,
    runs: int,
    seed: int = 0,
    policies: Sequence[Sequence[float] | Floats | None] = (),
    question: Question = BEST,
) -> Replay:
    """Replay a sampling rule `runs` times; policies of mediators that are known, each [K] or None, or none at all; NaN for the
    arms of a support of which no more is known.
    """
    K, E = len(rows.arms), len(rows.mediators)
    check_runs(runs, K + E)
    if K < 2 and question.ways(K) < 1:
        raise LogError("a replay needs a log with at least two arms")
    if not sampling.live:
        raise LogError(f"a log does not know the true means that the {sampling.name} follows: choose another sampling rule")
    with held() as heard:
        known = np.array([np.full(K, np.nan) if row is None else row for row in policies or [None] * E], np.float64)
        stopper, state = stopping.stopper_for(question, K, family), new_state(K, E)
        sampler = sampling.sampler_for(question, known, are_known(known), np.ones(E), stopper.bernstein())
        constants, everyone = np.array([stopping.threshold_for(question, K, delta, family)]), np.ones(E, np.bool_)
        ends, N_e, named = np.zeros((runs, 3), np.int64), np.zeros((runs, E), np.int64), np.zeros((runs, K), np.bool_)
        working = family.at_work(K)
        for run in range(runs):
            if heard:
                break
            places, rng = _permuted(rows.starts, stream(seed, run, 0)), stream(seed, run, 1)
            pulled, rewards = rows.pulled[places], rows.rewards[places]
            ends[run] = replay_run(working, pulled, rewards, rows.starts, sampler, stopper, constants, state, everyone, rng)
            N_e[run] = state.N_e
            if ends[run, 1] >= 0:
                stopper.answer(int(ends[run, 1]), named[run])
            if ends[run, 2] < -1:
                raise LogError(f"{type(sampling).__name__}.choose named a mediator who cannot be asked: take an available one")
    return _outcome(rows, delta, ends, N_e, named)


def _permuted(starts: Ints, rng: np.random.Generator) -> Ints:
    """Places of the rows, those of each mediator in a new order."""
    return np.concatenate([start + rng.permutation(end - start) for start, end in pairwise(starts)])


def _outcome(rows: LoggedRows, delta: float, ends: Ints, N_e: Ints, named: Bools) -> Replay:
    """From [runs, 3]: queries, the leader or −1, the mediator that ran out or −1; and the answers [runs, K]."""
    tau, best, empty = ends.T
    names = tuple(_called(rows.arms, mask) if a >= 0 else "" for a, mask in zip(best.tolist(), named, strict=True))
    exhausted = {name: int((empty == e).sum()) for e, name in enumerate(rows.mediators)}
    return Replay(delta, tau, names, best < 0, exhausted, N_e, int(rows.starts[-1]), drifting_mediators(rows))


def drifting_mediators(rows: LoggedRows, level: float = LEVEL) -> tuple[str, ...]:
    """Mediators whose choices, in the logged order of their rows, do not look like draws of one policy; at a level that they
    share. Where among them silence was is not known, so that it is left out.
    """
    K, found = len(rows.arms), []
    for name, (start, end) in zip(rows.mediators, pairwise(rows.starts.tolist()), strict=True):
        pulled = rows.pulled[start:end]
        pulled = pulled[pulled < K]
        splits = [split_at(j) for j in range(split_after(len(pulled) - 1))]
        parts = [np.bincount(part, minlength=K) for part in np.split(pulled, splits)]
        before = np.cumsum(parts[:-1], axis=0).reshape(-1, K)
        if len(before):
            log_w = np.array([split_weight(j) for j in range(len(splits))])
            log_e = log_policy_drift(before, before[-1] + parts[-1], log_w)[0]
            found += [name] if log_e >= math.log(len(rows.mediators) / level) else []
    return tuple(found)


def _called(arms: Sequence[str], mask: Bools) -> str:
    return ", ".join(sorted(name for name, is_in in zip(arms, mask, strict=True) if is_in)) or NOBODY


UNSAID = Tracking(policies="unknown")


def replay_logs(
    *sources: Source,
    sampling: SamplingRule | str = UNSAID,
    stopping: StoppingRule | str = EProcess(),  # noqa: B008 - an immutable value
    runs: int = 200,
    seed: int = 0,
    **options: Unpack[LogKeywords],
) -> Replay:
    """Replay rules on logs; sources and options as in `analyse_logs`. Policies are used that are declared or that propensities
    say. `log` of what is found is what `analyse_logs` says of the same log.

    sampling: by default Tracking(policies="unknown"); for another question than the best arm Pursuit().

    >>> log = {"mediator": ["North", "South"] * 100, "arm": ["letter", "call"] * 100, "reward": [1, 0] * 100}
    >>> gb.replay_logs(log, mediator="mediator", runs=10)
    <Replay: the rule stopped in 10 of 10 replays after 10 rows on average, δ = 0.05>
    """
    chosen, names = options_of(options), check_sources(sources)
    check_runs(runs)
    rows, reading = read_rows(chosen, sources)
    who = default_sampling(chosen.question) if sampling is UNSAID else as_sampling(sampling)
    known = declared_policies(chosen, reading.stats)
    found = replay(rows, chosen.family, who, as_stopping(stopping), chosen.delta, runs, seed, known, chosen.question)
    return replace(found, log=report_of(chosen, reading.stats, reading.history, names))


def default_sampling(question: Question) -> SamplingRule:
    """Who is asked where nothing is said."""
    return UNSAID if question.names_leader else Pursuit()
