"""Logs that say on the way how many more rows they will take: are their forecasts right as often as they claim?"""

from typing import NamedTuple

import numpy as np
from forecast_runs import SIX, THREE

import gobetween as gb
from gobetween.logs.analysis.advice import advise
from gobetween.logs.reading.batch import Batch, Names
from gobetween.logs.reading.counts import LogStats
from gobetween.logs.reading.history import evidence_of
from gobetween.logs.reading.options import LogOptions
from gobetween.logs.reading.reading import Reading
from gobetween.paper.tables import EXPERIMENT_1

#: Of the way.
MOMENTS = (0.25, 0.5, 0.75)
MOST = 3_000_000
_FIRST = np.full((2, 80), 0.5 / 78)
_FIRST[0, :2], _FIRST[1, :2] = 0.25, (0.01, 0.01)
_CLICKS = np.concatenate([[0.16, 0.11], np.linspace(0.1, 0.02, 78)])
_DRAWN = np.sort(np.random.default_rng(5).beta(4.0, 40.0, 80))[::-1].copy()

INSTANCES = {
    "Table 1": EXPERIMENT_1,
    "Bernoulli": gb.Problem([0.8, 0.5, 0.3], THREE, family=gb.Bernoulli()),
    "Bernoulli, close": gb.Problem([0.56, 0.5, 0.44], THREE, family=gb.Bernoulli()),
    "Poisson": gb.Problem([4.0, 2.5, 2.0], THREE, family=gb.Poisson()),
    "twelve arms": gb.Problem(np.linspace(2.0, -0.2, 12), SIX, family=gb.Gaussian(0.5)),
    "80 items, evenly spaced": gb.Problem(_CLICKS, _FIRST / _FIRST.sum(axis=1, keepdims=True), family=gb.Bernoulli()),
    "80 items, drawn": gb.Problem(_DRAWN, _FIRST / _FIRST.sum(axis=1, keepdims=True), family=gb.Bernoulli()),
}
DELTA = 0.1


class Asked(NamedTuple):
    """What a log said on its way, of rows of the same mixture or of queries by its plan, and what came of it."""

    moment: float
    chosen: bool
    forecast: gb.Forecast | None
    truth: int


def options_for(problem: gb.Problem) -> LogOptions:
    return LogOptions(problem.family, DELTA, arms=problem.arms, declared=dict.fromkeys(problem.mediators))


def rows_of(problem: gb.Problem, weights: np.ndarray, n: int, rng: np.random.Generator) -> Batch:
    """Rows of mediators who are asked with these weights."""
    e = rng.choice(problem.E, n, p=weights)
    a = (rng.random((n, 1)) > np.cumsum(problem.policies, axis=1)[e]).sum(axis=1).clip(0, problem.K - 1)
    mean, family = problem.means[a], problem.family
    if isinstance(family, gb.Bernoulli):
        x = (rng.random(n) < mean).astype(float)
    else:
        x = rng.poisson(mean).astype(float) if isinstance(family, gb.Poisson) else rng.normal(mean, family.sigma)  # type: ignore[attr-defined]
    return Batch("simulated", 1, Names(list(problem.mediators), e), Names(list(problem.arms), a), x, None)


def until_claimed(
    problem: gb.Problem, weights: np.ndarray, rng: np.random.Generator, after: LogStats | None
) -> tuple[int, list[Batch]]:
    """The row of the first claim in a log that goes on and on, and its rows."""
    reading, batches = Reading(options_for(problem), after=after), []
    while reading.claim is None and reading.stats.rows < MOST:
        batches.append(rows_of(problem, weights, max(200, reading.stats.rows // 4), rng))
        reading.take(batches[-1])
    return (MOST if reading.claim is None else reading.claim.row), batches


def counted(problem: gb.Problem, batches: list[Batch], rows: int) -> LogStats:
    """What the first rows come to."""
    stats = LogStats(rows=rows)
    stats.widen(problem.arms, problem.mediators)
    e, a = (np.concatenate([getattr(batch, key).codes for batch in batches])[:rows] for key in ("mediators", "arms"))
    np.add.at(stats.N_ea, (e, a), 1)
    np.add.at(stats.S_ea, (e, a), np.concatenate([batch.rewards for batch in batches])[:rows])
    return stats


def logs_on_the_way(name: str, seeds: range) -> list[Asked]:
    """The forecasts of logs of an instance, whose mediators act equally often."""
    problem, found = INSTANCES[name], []
    options, even = options_for(problem), np.full(problem.E, 1.0 / problem.E)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        tau, batches = until_claimed(problem, even, rng, None)
        for moment in MOMENTS:
            now = max(1, int(moment * tau))
            stats = counted(problem, batches, now)
            tally = stats.tally()
            evidence = evidence_of(options, problem.family, tally, now)
            if evidence.reached:  # it was claimed before the last arm was seen, or at a row that is not looked at
                continue
            advice = advise(options, problem.family, tally, stats, evidence, True)
            found.append(Asked(moment, False, advice.rows_forecast, tau - now))
            if advice.omega is not None and advice.queries_forecast is not None:
                end, _ = until_claimed(problem, np.array(advice.omega), rng, stats)
                found.append(Asked(moment, True, advice.queries_forecast, end - now))
    return found
