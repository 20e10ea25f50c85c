"""The outcomes of many runs, as one value that can sum itself up, draw itself and become a data frame."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gobetween.core.bound.lower_bound import bound_for
from gobetween.core.ground.jit import Bools, Ints
from gobetween.core.problem.problem import Problem
from gobetween.core.question.question import Question
from gobetween.core.question.questions import BEST
from gobetween.errors import ProblemError
from gobetween.export import data_frame, html_table
from gobetween.files.problem import NO_BUDGET, Budget, parse_budget

if TYPE_CHECKING:
    from gobetween.simulation.summary import Summary

ARRAYS = ("tau", "correct", "censored", "N_e", "N_a")


@dataclass(frozen=True)
class Runs:
    """Outcomes of many runs; the axis of δ follows `deltas`."""

    deltas: tuple[float, ...]
    tau: Ints
    """[runs, deltas] queries until the rule stopped; where censored, the queries made."""
    correct: Bools
    """[runs, deltas] was a right answer named? False where censored."""
    censored: Bools
    """[runs, deltas] had the rule not stopped after max_steps queries?"""
    N_e: Ints
    """[runs, deltas, E] queries of each mediator by then."""
    N_a: Ints
    """[runs, deltas, K] pulls of each arm by then."""
    problem: Problem | None = None
    """What was played; only blocks on their way from a worker do not say."""
    question: Question = BEST
    sampling: str = ""
    stopping: str = ""
    """What the rules are called."""
    budget: Budget = NO_BUDGET
    """Within which it is counted how many runs were decided."""

    def __repr__(self) -> str:
        means = ", ".join(
            f"{mean:,.0f} at δ = {delta:g}" for delta, mean in zip(self.deltas, self.tau.mean(axis=0), strict=True)
        )
        return f"Runs({len(self.tau)} of {self.rules}; mean queries {means})"

    def _repr_html_(self) -> str:
        from gobetween.simulation.summary import summary_table

        return html_table(repr(self), *summary_table(self.summary(), self.played.costs is not None))

    @property
    def rules(self) -> str:
        """Both rules in one name."""
        return f"{self.sampling}, {self.stopping}"

    @property
    def played(self) -> Problem:
        """The problem, where it must be known."""
        if self.problem is None:
            raise ProblemError("these runs have no problem: use runs from simulate or load_results")
        return self.problem

    def within(self, *, queries: int | None = None, cost: float | None = None) -> "Runs":
        """The same with a budget: `summary` then says how many runs were decided within it. A run costs its queries.

        >>> problem = gb.Problem([0.9, 0.2], [[0.7, 0.3], [0.3, 0.7]], family="bernoulli")
        >>> runs = gb.simulate(problem, deltas=0.1, runs=8, seed=1)
        >>> [row.decided for row in runs.within(queries=1).summary() + runs.within(queries=10_000).summary()]
        [0.0, 1.0]
        """
        said = {"queries": queries, "cost": cost}
        return replace(self, budget=parse_budget({key: value for key, value in said.items() if value is not None}))

    def decided(self) -> Bools:
        """[runs, deltas] had the rule stopped before the budget was used up?"""
        spent = self.N_e @ self.played.query_costs
        queries, cost = self.budget.queries, self.budget.cost
        enough = np.ones_like(self.censored) if queries is None else self.tau <= queries
        return np.asarray(~self.censored & enough & (True if cost is None else spent <= cost * (1.0 + 1e-12)))

    def summary(self) -> "list[Summary]":
        """In a few numbers, for each δ: mean, quantiles, wrong answers, the lower bound."""
        from gobetween.simulation.summary import summarise

        return summarise(self.played, self)

    def plot(self) -> Any:
        """Distributions of τ beside the lower bound on its mean, as a Matplotlib figure."""
        from gobetween.pages.figures import stopping_times
        from gobetween.pages.paper_figures import draw

        bounds = query_bounds(self.played, self.deltas, self.question)
        return draw(stopping_times({self.rules: self}, bounds, f"{len(self.tau):,} runs"))

    def to_frame(self) -> Any:
        """One row for each run and δ, as a data frame of pandas or polars."""
        return data_frame(self.columns())

    def columns(self) -> dict[str, list[Any]]:
        """The same as lists by name."""
        n, D = self.tau.shape
        index = {"run": np.repeat(np.arange(n), D).tolist(), "delta": list(self.deltas) * n}
        return index | {name: getattr(self, name).reshape(n * D, *getattr(self, name).shape[2:]).tolist() for name in ARRAYS}


def together(parts: Iterable[Runs]) -> Runs:
    """Runs of the same job, one after the other."""
    rows = list(parts)
    arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in rows]) for name in ARRAYS}
    return replace(rows[0], **arrays)


def take(runs: Runs, rows: Ints) -> Runs:
    """Some of the runs, by index."""
    return replace(runs, **{name: getattr(runs, name)[rows] for name in ARRAYS})


def query_bounds(problem: Problem, deltas: tuple[float, ...], question: Question = BEST) -> dict[str, list[float]]:
    """The least expected queries for each δ, for a figure of queries: costs set aside, nothing where nothing is proven."""
    if problem.family.proxy:
        return {}
    bound = bound_for(Problem(problem.means, problem.policies, family=problem.family, silent=problem.silent), question)
    return {"": [bound.queries(delta) for delta in deltas]} if math.isfinite(bound.T_star) else {}
