"""Runs in a few numbers: mean with its error, quantiles, the rate of wrong answers with an exact interval, the lower bound."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gobetween.core.bound.lower_bound import bound_for
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.problem.problem import Problem
from gobetween.export import json_safe
from gobetween.simulation.runs import Runs


@dataclass(frozen=True)
class Summary:
    """One δ."""

    delta: float
    runs: int
    mean: float
    half_width: float
    """Of a 95% interval around the mean, by the normal approximation."""
    quantiles: tuple[float, float, float]
    """10%, 50%, 90%."""
    wrong: float
    wrong_low: float
    wrong_high: float
    """Share of runs whose answer was wrong, with the exact (Clopper–Pearson) 95% interval."""
    censored: int
    cost: float
    cost_half_width: float
    """Mean cost and its 95% interval; without costs, of one for each query."""
    bound: float
    """Least expected cost kl(δ, 1−δ) T*: in queries where the problem has no costs."""
    ratio: float | None
    """cost / bound."""
    decided: float | None = None
    decided_low: float | None = None
    decided_high: float | None = None
    """Share of runs that were decided within the budget, with its exact 95% interval; None without a budget."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        found: dict[str, Any] = json_safe(asdict(self))
        return found


def summarise(problem: Problem, result: Runs) -> list[Summary]:
    """One summary for each δ."""
    bound = bound_for(problem, result.question)
    return [_summary(result, d, problem.query_costs, bound.cost(delta)) for d, delta in enumerate(result.deltas)]


def summary_table(rows: Sequence[Summary], priced: bool) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Summaries for people, a header and a row for each; `priced` shows the cost where else quantiles stand."""
    header = ("delta", "queries", "cost" if priced else "10–90%", "wrong ≤", "bound", "ratio")
    if any(row.decided is not None for row in rows):
        return (*header, "within budget"), [(*_row(row, priced), f"{row.decided or 0.0:.1%}") for row in rows]
    return header, [_row(row, priced) for row in rows]


def _row(row: Summary, priced: bool) -> tuple[str, ...]:
    low, _, high = row.quantiles
    return (
        f"{row.delta:g}",
        f"{row.mean:,.0f} ± {row.half_width:,.0f}",
        f"{row.cost:,.0f} ± {row.cost_half_width:,.0f}" if priced else f"{low:,.0f}–{high:,.0f}",
        f"{row.wrong:.1%} ≤ {row.wrong_high:.1%}",
        f"{row.bound:,.0f}" if row.bound >= 1000 else f"{row.bound:,.1f}",
        f"{row.ratio:.2f}" if row.ratio else "",
    )


def mean_and_half_width(values: Ints | Floats) -> tuple[float, float]:
    """The mean and half of its 95% interval, by the normal approximation."""
    n = len(values)
    return float(values.mean()), 1.96 * float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf


def _summary(result: Runs, d: int, costs: Floats, bound: float) -> Summary:
    tau, n = result.tau[:, d], len(result.tau)
    wrong = int(np.sum(~result.correct[:, d] & ~result.censored[:, d]))
    low, high = exact_interval(wrong, n)
    mean, half_width = mean_and_half_width(tau)
    cost, cost_half_width = mean_and_half_width(result.N_e[:, d] @ costs)
    decided = int(result.decided()[:, d].sum()) if result.budget else None
    ends = (None, None) if decided is None else exact_interval(decided, n)
    return Summary(
        delta=result.deltas[d],
        runs=n,
        mean=mean,
        half_width=half_width,
        quantiles=tuple(float(q) for q in np.quantile(tau, (0.1, 0.5, 0.9))),  # type: ignore[arg-type]  # three of them
        wrong=wrong / n,
        wrong_low=low,
        wrong_high=high,
        censored=int(result.censored[:, d].sum()),
        cost=cost,
        cost_half_width=cost_half_width,
        bound=bound,
        ratio=cost / bound if 0.0 < bound < math.inf else None,
        decided=None if decided is None else decided / n,
        decided_low=ends[0],
        decided_high=ends[1],
    )


def exact_interval(k: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval for a proportion, k out of n."""
    from scipy.stats import beta

    tail = 0.5 * (1.0 - level)
    low = float(beta.ppf(tail, k, n - k + 1)) if k > 0 else 0.0
    return low, float(beta.ppf(1.0 - tail, k + 1, n - k)) if k < n else 1.0


def exact_intervals(k: Ints, n: Ints, level: float = 0.95) -> tuple[Floats, Floats]:
    """The same for arrays; of nothing at all, everything."""
    from scipy.special import betaincinv

    tail = 0.5 * (1.0 - level)
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, tail), 0.0)
    return low, np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1.0 - tail), 1.0)
