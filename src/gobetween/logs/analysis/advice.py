"""What a log lacks: how many more rows, how many queries if one may choose whom to ask, and whom; with how sure that is."""

import math
from dataclasses import dataclass

import numpy as np

from gobetween.core.bound.lower_bound import Bounds, bound_for
from gobetween.core.ground.jit import ENABLED, Floats
from gobetween.core.ground.tally import Tally
from gobetween.core.problem.problem import Problem
from gobetween.core.question.question import pairs_of
from gobetween.core.reward.family import Family
from gobetween.core.verdict.evidence_report import Evidence
from gobetween.logs.analysis.forecast import LogStart, forecast
from gobetween.logs.analysis.policy_groups import GroupedMediators, group_mediators
from gobetween.logs.reading.counts import LogStats
from gobetween.logs.reading.options import LogOptions
from gobetween.simulation.worlds import Forecast, drawn_policies, shrunk_means, stream

RESAMPLES, FEWEST = 50, 10  # worlds in which it is asked whom to ask; with fewer nothing is said of them
PLANS = 3_000_000 if ENABLED else 15_000  # what may be spent on them, K (P + 10) each: under a second
MOST_DRAWN = 100_000  # shares of mediators and arms that are drawn for a world of queries
ASKED = 0.005  # a share of queries under which nobody is said to be asked


@dataclass(frozen=True)
class GroupAdvice:
    """How often to ask any of some mediators: their policies are the same, or cannot be told apart."""

    mediators: tuple[str, ...]
    share: float  # of queries, at the present estimates
    low: float | None
    high: float | None  # between these in 8 of 10 worlds that the log leaves possible
    agree: float | None
    """In so many of these worlds they are asked too; or are not, where the share is under ½%. None where too much work."""


@dataclass(frozen=True)
class LogAdvice:
    """What is missing; numbers are those at the present estimates, forecasts have a range."""

    rate: float  # evidence for each further row of the same mixture
    rows: float
    queries: float
    omega: tuple[float, ...] | None = None
    rows_forecast: Forecast | None = None
    queries_forecast: Forecast | None = None
    advice: tuple[GroupAdvice, ...] = ()


def advise(options: LogOptions, family: Family, tally: Tally, stats: LogStats, evidence: Evidence, sure: bool) -> LogAdvice:
    """What is missing at the end of a log; `sure`: do its assumptions seem to hold? Otherwise nothing is forecast."""
    rate, cast = _rate(options, tally, stats, evidence, family), group_mediators(options, stats)
    bound = None if rate is None else _bound(options, family.planned(), tally.mu_hat, cast, cast.policies, 1e-6)
    lack, per_row = max(0.0, evidence.threshold - evidence.statistic), rate or 0.0
    rows = 0.0 if evidence.reached else lack / per_row if per_row > 0.0 else math.inf
    queries = 0.0 if evidence.reached else math.inf if bound is None else lack * bound.T_upper
    omega = None if bound is None or bound.status == "tie" else bound.omega
    shared = None if omega is None else tuple(cast.by_mediator(omega).tolist())
    if evidence.reached or not (sure and per_row > 0.0):
        return LogAdvice(per_row, rows, queries, shared)
    start = LogStart(options.question, options.delta, options.family, family, tally, stats.rows + int(stats.silent.sum()))
    together = cast.counts.sum(axis=0)[None, :]
    unknown = np.full((1, len(tally.N_a)), np.nan)
    expected = forecast(start, lambda rng: drawn_policies(unknown, together, rng)[0])
    if omega is None or len(cast.groups) < 2 or cast.policies.size > MOST_DRAWN:
        return LogAdvice(per_row, rows, queries, shared, expected, advice=_advice(options, family, tally, stats, cast, omega))
    asked: Floats = omega
    chosen = forecast(start, lambda rng: asked @ drawn_policies(cast.said, cast.counts, rng))
    return LogAdvice(per_row, rows, queries, shared, expected, chosen, _advice(options, family, tally, stats, cast, omega))


def _rate(options: LogOptions, tally: Tally, stats: LogStats, evidence: Evidence, family: Family) -> float | None:
    """Evidence for each further row of the same mixture; None where an arm was not seen, or nothing is to be told apart."""
    mu, question = tally.mu_hat, options.question
    pairs = pairs_of(question, np.isin(np.arange(len(mu)), evidence.answer))
    if not pairs or not tally.N_a.all():
        return None
    shares = tally.N_a / (tally.N_a.sum() + stats.silent.sum())
    return min(float(question.payoff(family, mu, i, b, shares[i], shares[b])[0]) for i, b in pairs)


def _bound(
    options: LogOptions, family: Family, mu: Floats, cast: GroupedMediators, policies: Floats, tol: float
) -> Bounds | None:
    """The bound for the best choice of mediators; None where nobody can say."""
    if not cast.known or not all(family.has_mean(float(mean)) for mean in mu):
        return None
    try:
        total = 1.0 if options.silence else policies.sum(axis=1, keepdims=True)
        problem = Problem(mu, policies / total, family=family, silent=options.silence)
        return bound_for(problem, options.question, tol)
    except ValueError:
        return None


def _advice(
    options: LogOptions, family: Family, tally: Tally, stats: LogStats, cast: GroupedMediators, omega: Floats | None
) -> tuple[GroupAdvice, ...]:
    """Whom to ask, those with most queries first, and what worlds say that the log leaves possible."""
    if omega is None:
        return ()
    drawn, said = _plans(options, family.planned(), tally, cast), []
    low, high = np.quantile(drawn, (0.1, 0.9), axis=0) if len(drawn) else np.zeros((2, len(omega)))
    agree = ((drawn >= ASKED) == (omega >= ASKED)).mean(axis=0) if len(drawn) else omega
    for p in np.argsort(-omega, kind="stable").tolist():
        names = tuple(stats.mediators[e] for e in cast.groups[p])
        known = (float(low[p]), float(high[p]), float(agree[p])) if len(drawn) else (None, None, None)
        said.append(GroupAdvice(names, float(omega[p]), *known))
    return tuple(said)


def _plans(options: LogOptions, family: Family, tally: Tally, cast: GroupedMediators) -> Floats:
    """[worlds, P] shares of queries that are best in worlds which the log leaves possible; none where that is too much work."""
    P, K = cast.policies.shape
    if P == 1:
        return np.ones((1, 1))
    worlds, found = min(RESAMPLES, PLANS // (K * (P + 10))), []
    for w in range(worlds if worlds >= FEWEST else 0):
        rng = stream(1, w)
        means = shrunk_means(family, (options.family.low, options.family.high), tally, rng)
        policies = drawn_policies(cast.said, cast.counts, rng)
        bound = _bound(options, family, means, cast, policies, 1e-3)
        if bound is not None and bound.status != "tie":
            found.append(bound.omega)
    return np.array(found[: worlds if len(found) >= FEWEST else 0]).reshape(-1, P)
