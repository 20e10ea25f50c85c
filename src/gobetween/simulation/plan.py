"""A plan: what an experiment will need before anything is spent, as one value for people and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gobetween.core.bound.geometry import (
    MediationPrice,
    Redundancy,
    SupportRange,
    price_of_mediation,
    support_range,
    surely_redundant,
)
from gobetween.core.bound.lower_bound import LowerBound, QuestionBound, lower_bound, question_bound
from gobetween.core.bound.what_if import Newcomer, WhatIf, what_if
from gobetween.core.problem.cast import MOST_PAIRS
from gobetween.core.problem.problem import Problem
from gobetween.core.question.question import Question
from gobetween.errors import ProblemError
from gobetween.export import html_table, json_safe
from gobetween.simulation.engine import as_deltas

DELTAS = (0.1, 0.05, 0.01)


@dataclass(frozen=True)
class Plan:
    """The lower bound of a problem with all that a reader wants to know about its mediators."""

    problem: Problem
    deltas: tuple[float, ...]
    bound: LowerBound
    price: MediationPrice
    redundant: tuple[Redundancy, ...]
    supported: SupportRange | None = None
    """The range of T*, where policies are not known: the plan takes equal shares of what these mediators may pull."""

    def __repr__(self) -> str:
        targets = ", ".join(f"{self.bound.cost(delta):,.1f} at δ = {delta:g}" for delta in self.deltas)
        return f"Plan(T* = {self.bound.T_star:.6g}; expected {self.unit} {'about' if self.bound.is_proxy else '≥'} {targets})"

    def _repr_html_(self) -> str:
        columns = [f"queries at δ = {delta:g}" for delta in self.deltas]
        header = ("mediator", *(["cost of a query"] if self.unit == "cost" else []), "share of queries", *columns)
        return html_table(repr(self), header, [] if self.bound.status == "tie" else [*self._rows()])

    def _rows(self) -> Iterator[list[str]]:
        """Each mediator: its cost where there are costs, its share and its queries for each δ."""
        for e, name in enumerate(self.problem.mediators):
            cost = [f"{self.problem.query_costs[e]:g}"] if self.unit == "cost" else []
            share = float(self.bound.omega[e])
            yield [name, *cost, f"{share:.2%}", *(f"{share * self.bound.queries(delta):,.1f}" for delta in self.deltas)]

    @property
    def unit(self) -> str:
        """What T* counts."""
        return self.bound.unit

    @property
    def best_arms(self) -> tuple[str, ...]:
        """The best arm; several in a tie."""
        best = self.problem.means[self.bound.leader]
        return tuple(name for name, mean in zip(self.problem.arms, self.problem.means, strict=True) if mean == best)

    @property
    def hardest_rival(self) -> int:
        """The rival on which the adversary puts most weight: the one that takes most queries to tell from the best."""
        return int(np.argmax(self.bound.rival_weights))

    @cached_property
    def what_if(self) -> WhatIf:
        """What would change the cost: each mediator's worth, a new mediator, other costs and gaps; solved when asked for."""
        return what_if(self.bound)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; the shape of `gobetween plan --json` (docs/plan.md). Infinite and undefined numbers are null."""
        problem, bound = self.problem, self.bound
        tie = bound.status == "tie"
        found = {
            "format": 1,
            "status": bound.status,
            "unit": self.unit,
            "proxy": bound.is_proxy,
            "family": problem.family.to_dict(),
            "best_arms": list(self.best_arms),
            "hardest_rival": None if tie else problem.arms[self.hardest_rival],
            "T_star": bound.T_star,
            "T_lower": bound.T_lower,
            "T_upper": bound.T_upper,
            "iterations": bound.iterations,
            "targets": [{"delta": delta, "queries": bound.queries(delta), "cost": bound.cost(delta)} for delta in self.deltas],
            "mediators": [
                {
                    "mediator": name,
                    "cost": float(problem.query_costs[e]),
                    "query_share": None if tie else float(bound.omega[e]),
                    "cost_share": None if tie else float(bound.cost_shares[e]),
                }
                for e, name in enumerate(problem.mediators)
            ],
            "arms": [
                {
                    "arm": name,
                    "mean": float(problem.means[a]),
                    "pull_share": None if tie else float(bound.arm_weights[a]),
                    "rival_weight": None if tie else float(bound.rival_weights[a]),
                    "rival_odds": None if tie else float(bound.rival_odds[a]),
                }
                for a, name in enumerate(problem.arms)
            ],
            "price_of_mediation": {
                "ratio": self.price.ratio,
                "lower": self.price.lower,
                "upper": self.price.upper,
                "is_free": None if tie else self.price.is_free,
            },
            "redundant": [
                {
                    "mediator": problem.mediators[item.mediator],
                    "reason": item.reason,
                    "substitute": {problem.mediators[e]: float(item.weights[e]) for e in np.flatnonzero(item.weights)},
                }
                for item in self.redundant
            ],
            "what_if": self._what_if(),
            "supports": _supports(problem, self.supported),
        }
        safe: dict[str, Any] = json_safe(found)
        return safe

    def _what_if(self) -> dict[str, Any] | None:
        problem, what_if = self.problem, self.what_if
        if self.bound.status == "tie":
            return None
        return {
            "mediators": [
                {
                    "mediator": problem.mediators[worth.mediator],
                    "T_without": worth.T_without,
                    "possible_without": worth.T_without < np.inf,
                    "query_worth": worth.query,
                    "T_half_cost": worth.T_half,
                    "T_twice_cost": worth.T_twice,
                }
                for worth in what_if.worths
            ],
            "arms": [{"arm": name, "pull_worth": float(what_if.pull_worths[a])} for a, name in enumerate(problem.arms)],
            "best_new_mediator": self._newcomer(what_if.best),
            "halving_mediator": self._newcomer(what_if.halving),
            "gaps": [{"factor": factor, "T_star": T_star} for factor, T_star in what_if.gaps],
            "tolerances": [{"eps": eps, "T_star": T_star} for eps, T_star in what_if.tolerances],
        }

    def _newcomer(self, newcomer: Newcomer | None) -> dict[str, Any] | None:
        if newcomer is None:
            return None
        policy = {name: float(p) for name, p in zip(self.problem.arms, newcomer.policy, strict=True)}
        return {"policy": policy, "cost": newcomer.cost, "T_star": newcomer.T_star}


@dataclass(frozen=True)
class QuestionPlan:
    """What another question than the best arm will need."""

    problem: Problem
    deltas: tuple[float, ...]
    bound: QuestionBound
    supported: SupportRange | None = None

    @property
    def unit(self) -> str:
        """What T* counts."""
        return self.bound.unit

    @property
    def answer(self) -> tuple[str, ...]:
        """The arms that answer the question, by the means of the problem."""
        return tuple(self.problem.arms[a] for a in self.bound.answer)

    @property
    def hardest(self) -> tuple[str, ...]:
        """The pair, or the one arm, on which the adversary puts most weight."""
        pair = max(self.bound.pair_weights, key=lambda pair: self.bound.pair_weights[pair])
        return tuple(dict.fromkeys(self.problem.arms[a] for a in pair))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; the shape of `gobetween plan --json` for a question (docs/plan.md)."""
        problem, bound = self.problem, self.bound
        tie, weights = bound.status == "tie", bound.pair_weights.items()
        safe: dict[str, Any] = json_safe(
            {
                "format": 1,
                "question": bound.question.to_dict(),
                "status": bound.status,
                "unit": self.unit,
                "proxy": bound.is_proxy,
                "family": problem.family.to_dict(),
                "answer": list(self.answer),
                "T_star": bound.T_star,
                "T_lower": bound.T_lower,
                "T_upper": bound.T_upper,
                "targets": [
                    {"delta": delta, "queries": bound.queries(delta), "cost": bound.cost(delta)} for delta in self.deltas
                ],
                "query_shares": None if tie else dict(zip(problem.mediators, bound.omega.tolist(), strict=True)),
                "pairs": [{"arms": [problem.arms[i], problem.arms[b]], "weight": weight} for (i, b), weight in weights],
                "supports": _supports(problem, self.supported),
            }
        )
        return safe


def _supports(problem: Problem, supported: SupportRange | None) -> dict[str, Any] | None:
    if supported is None:
        return None
    names = [problem.mediators[e] for e in supported.mediators]
    shares = {"assumed": "equal shares"}
    return {"mediators": names, **shares, "T_best": supported.T_best, "T_without": supported.T_without}


def plan_for(problem: Problem, question: Question, deltas: Sequence[float], guessed: Sequence[int]) -> Plan | QuestionPlan:
    """Plan an experiment that shall answer a question."""
    if question.names_leader:
        return make_plan(problem, deltas, guessed)
    return QuestionPlan(
        problem, as_deltas(deltas), question_bound(problem, question), support_range(problem, guessed, question)
    )


def make_plan(problem: Problem, deltas: float | Sequence[float] = DELTAS, guessed: Sequence[int] = ()) -> Plan:
    """Plan an experiment on a problem for these risks. guessed: mediators whose policy is not known, at most its support.

    >>> gb.make_plan(gb.Problem([1.0, 0.0], [[0.5, 0.5], [0.9, 0.1]], family=gb.Gaussian(1.0)), deltas=[0.05])
    Plan(T* = 8; expected queries ≥ 21.2 at δ = 0.05)
    """
    if problem.E**2 > MOST_PAIRS:
        raise ProblemError(f"{problem.E:,} mediators are too many to compare each with all others: plan with fewer")
    redundant = surely_redundant(problem, guessed)
    bound = lower_bound(problem, without=[item.mediator for item in redundant])
    return Plan(problem, as_deltas(deltas), bound, price_of_mediation(problem), redundant, support_range(problem, guessed))
