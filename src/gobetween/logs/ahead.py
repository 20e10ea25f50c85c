"""What a log lacks: how many more rows, how many queries if one may choose whom to ask, and whom; with how sure that is."""

import math
from dataclasses import dataclass

import numpy as np

from gobetween.core.asked import BEST
from gobetween.core.bound import Bounds, lower_bound, question_bound
from gobetween.core.evidence import Evidence
from gobetween.core.family import Family
from gobetween.core.jit import ENABLED
from gobetween.core.learnt import plug_in
from gobetween.core.problem import Problem
from gobetween.core.question import pairs_of
from gobetween.core.state import Tally
from gobetween.core.types import Floats
from gobetween.logs.counts import LogStats
from gobetween.logs.forecast import Start, forecast
from gobetween.logs.options import LogOptions
from gobetween.logs.pools import Cast, cast_of
from gobetween.simulation.worlds import Forecast, drawn_policies, shrunk_means, world_stream

RESAMPLES, FEWEST = 50, 10  # worlds in which it is asked whom to ask; with fewer nothing is said of them
PLANS = 3_000_000 if ENABLED else 15_000  # what may be spent on them, K (P + 10) each: under a second
MOST_DRAWN = 100_000  # shares of mediators and arms that are drawn for a world of queries
ASKED = 0.005  # a share of queries under which nobody is said to be asked


@dataclass(frozen=True)
class Advice:
    """How often to ask any of some mediators: their policies are the same, or cannot be told apart."""

    mediators: tuple[str, ...]
    share: float
    """Of queries, at the present estimates."""
    low: float | None
    high: float | None
    """Between these in 8 of 10 worlds that the log leaves possible."""
    agree: float | None
    """In so many of these worlds they are asked too; or are not, where the share is under ½%. None where too much work."""


@dataclass(frozen=True)
class Ahead:
    """What is missing; numbers are those at the present estimates, forecasts have a range."""

    rate: float
    """Evidence for each further row of the same mixture."""
    rows: float
    queries: float
    omega: tuple[float, ...] | None = None
    rows_forecast: Forecast | None = None
    queries_forecast: Forecast | None = None
    advice: tuple[Advice, ...] = ()


def look_ahead(options: LogOptions, family: Family, tally: Tally, stats: LogStats, evidence: Evidence, sure: bool) -> Ahead:
    """What is missing at the end of a log; `sure`: do its assumptions seem to hold? Otherwise nothing is forecast."""
    rate, cast = _rate(options, tally, stats, evidence, family), cast_of(options, stats)
    bound = None if rate is None else _bound(options, plug_in(family), tally.mu_hat, cast, cast.policies, 1e-6)
    lack, per_row = max(0.0, evidence.threshold - evidence.statistic), rate or 0.0
    rows = 0.0 if evidence.reached else lack / per_row if per_row > 0.0 else math.inf
    queries = 0.0 if evidence.reached else math.inf if bound is None else lack * bound.T_upper
    omega = None if bound is None or bound.status == "tie" else bound.omega
    shared = None if omega is None else tuple(cast.by_mediator(omega).tolist())
    if evidence.reached or not (sure and per_row > 0.0):
        return Ahead(per_row, rows, queries, shared)
    start = Start(options.question, options.delta, options.family, family, tally, stats.rows + int(stats.silent.sum()))
    together = cast.counts.sum(axis=0)[None, :]
    unknown = np.full((1, len(tally.N_a)), np.nan)
    ahead = forecast(start, lambda rng: drawn_policies(unknown, together, rng)[0])
    if omega is None or len(cast.pools) < 2 or cast.policies.size > MOST_DRAWN:
        return Ahead(per_row, rows, queries, shared, ahead, advice=_advice(options, family, tally, stats, cast, omega))
    asked: Floats = omega
    chosen = forecast(start, lambda rng: asked @ drawn_policies(cast.said, cast.counts, rng))
    return Ahead(per_row, rows, queries, shared, ahead, chosen, _advice(options, family, tally, stats, cast, omega))


def _rate(options: LogOptions, tally: Tally, stats: LogStats, evidence: Evidence, family: Family) -> float | None:
    """Evidence for each further row of the same mixture; None where an arm was not seen, or nothing is to be told apart."""
    mu, question = tally.mu_hat, options.question
    pairs = pairs_of(question, np.isin(np.arange(len(mu)), evidence.answer))
    if not pairs or not tally.N_a.all():
        return None
    shares = tally.N_a / (tally.N_a.sum() + stats.silent.sum())
    return min(float(question.payoff(family, mu, i, b, shares[i], shares[b])[0]) for i, b in pairs)


def _bound(options: LogOptions, family: Family, mu: Floats, cast: Cast, policies: Floats, tol: float) -> Bounds | None:
    """The bound for the best choice of mediators; None where nobody can say."""
    if not cast.known or not all(family.has_mean(float(mean)) for mean in mu):
        return None
    try:
        total = 1.0 if options.silence else policies.sum(axis=1, keepdims=True)
        problem = Problem(mu, policies / total, family=family, silent=options.silence)
        return lower_bound(problem, tol=tol) if options.question == BEST else question_bound(problem, options.question)
    except ValueError:
        return None


def _advice(
    options: LogOptions, family: Family, tally: Tally, stats: LogStats, cast: Cast, omega: Floats | None
) -> tuple[Advice, ...]:
    """Whom to ask, those with most queries first, and what worlds say that the log leaves possible."""
    if omega is None:
        return ()
    drawn, said = _plans(options, plug_in(family), tally, cast), []
    low, high = np.quantile(drawn, (0.1, 0.9), axis=0) if len(drawn) else np.zeros((2, len(omega)))
    agree = ((drawn >= ASKED) == (omega >= ASKED)).mean(axis=0) if len(drawn) else omega
    for p in np.argsort(-omega, kind="stable").tolist():
        names = tuple(stats.mediators[e] for e in cast.pools[p])
        known = (float(low[p]), float(high[p]), float(agree[p])) if len(drawn) else (None, None, None)
        said.append(Advice(names, float(omega[p]), *known))
    return tuple(said)


def _plans(options: LogOptions, family: Family, tally: Tally, cast: Cast) -> Floats:
    """[worlds, P] shares of queries that are best in worlds which the log leaves possible; none where that is too much work."""
    P, K = cast.policies.shape
    if P == 1:
        return np.ones((1, 1))
    worlds, found = min(RESAMPLES, PLANS // (K * (P + 10))), []
    for w in range(worlds if worlds >= FEWEST else 0):
        rng = world_stream(1, w)
        means = shrunk_means(family, (options.family.low, options.family.high), tally, rng)
        policies = drawn_policies(cast.said, cast.counts, rng)
        bound = _bound(options, family, means, cast, policies, 1e-3)
        if bound is not None and bound.status != "tie":
            found.append(bound.omega)
    return np.array(found[: worlds if len(found) >= FEWEST else 0]).reshape(-1, P)
