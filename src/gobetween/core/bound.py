"""The lower bound on the number of queries (Theorem 1), as a certified value."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gobetween.core.certificate import Point, certify, forget, leader, new_ledger, new_point
from gobetween.core.family import Family, is_number
from gobetween.core.game import COLD, INEXACT, OPTIMAL, TIE, UNREACHABLE, new_workspace, solve
from gobetween.core.large import LARGE, solve_large
from gobetween.core.problem import Problem
from gobetween.core.question import Question, answers_at
from gobetween.core.question_bound import Value, value_of
from gobetween.core.questions import BestArm
from gobetween.core.transport import evidence
from gobetween.core.types import Bools, Floats
from gobetween.errors import ProblemError
from gobetween.export import html_table

STATUS = {OPTIMAL: "optimal", INEXACT: "inexact", TIE: "tie"}


def binary_kl(delta: float) -> float:
    """kl(δ, 1 − δ) for δ < ½, and 0 from there on: a coin is right half of the time."""
    if not (is_number(delta) and 0.0 < delta < 1.0):
        raise ProblemError(f"delta = {delta!r}: the risk of a wrong answer is a number between 0 and 1, such as 0.05")
    return (1.0 - 2.0 * delta) * (math.log1p(-delta) - math.log(delta)) if delta < 0.5 else 0.0


@dataclass(frozen=True)
class Bounds:
    """T* between two certified bounds, with a plan that attains the upper one.

    Without costs T* counts queries. With costs it is in units of cost, and `omega` holds query shares, ∝ cost_shares / costs.
    """

    problem: Problem
    T_lower: float
    """T* is at least this: proven by the adversary's mixture."""
    T_upper: float
    """T* is at most this: proven by cost_shares."""
    omega: Floats
    """[E] shares of queries in an optimal plan."""
    cost_shares: Floats
    """[E] shares of cost in that plan; the same as omega without costs."""
    arm_weights: Floats
    """[K] πᵀω: how often a query of that plan pulls each arm (the paper's π̃)."""
    iterations: int
    status: str
    """"optimal" (gap ≤ tol), "inexact" (bounds true, gap above tol) or "tie" (T* = ∞)."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(T* = {self.T_star:.6g} {self.unit}, {self.status}, gap {self.gap:.1g})"

    def _repr_html_(self) -> str:
        columns = {"share of queries": self.omega} | ({"share of cost": self.cost_shares} if self.unit == "cost" else {})
        known = () if self.status == "tie" else enumerate(self.problem.mediators)
        rows = [(name, *(f"{shares[e]:.2%}" for shares in columns.values())) for e, name in known]
        return html_table(repr(self), ("mediator", *columns), rows)

    @property
    def unit(self) -> str:
        """What T* counts."""
        return "queries" if self.problem.costs is None else "cost"

    @property
    def T_star(self) -> float:
        """T_upper: the value that `omega` attains."""
        return self.T_upper

    @property
    def gap(self) -> float:
        """(T_upper − T_lower)/T_upper; 0 in a tie, where T* = ∞ is exact."""
        if self.status == "tie":
            return 0.0
        return 1.0 - self.T_lower / self.T_upper if math.isfinite(self.T_upper) else 1.0

    @property
    def is_proxy(self) -> bool:
        """True when the family is only an envelope (Bounded): T* then guides planning but bounds nothing."""
        return self.problem.family.proxy

    def cost(self, delta: float) -> float:
        """Least expected cost to be wrong with probability at most δ: kl(δ, 1−δ) T*; 0 for δ ≥ ½."""
        scale = binary_kl(delta)
        return scale * self.T_star if scale > 0.0 else 0.0

    def queries(self, delta: float) -> float:
        """Least expected queries: kl(δ, 1−δ) T*; 0 for δ ≥ ½. With costs: the queries that the least cost pays for."""
        return self.cost(delta) / float(self.problem.query_costs @ self.omega)


@dataclass(frozen=True, repr=False)
class LowerBound(Bounds):
    """T*(μ, π) of the best arm, with the strategies that prove its bounds (docs/lower-bound.md recomputes both)."""

    leader: int
    """The best arm; the first of them in a tie."""
    rival_weights: Floats
    """[K] the adversary's mixture q over rivals, 0 at the leader."""
    rival_odds: Floats
    """[K] where the adversary puts the common mean of leader and rival: x_a = (μ_a + o_a μ_1)/(1 + o_a)."""

    @property
    def rival_points(self) -> Floats:
        """[K] the points x_a themselves."""
        rest: Floats = 1.0 / (1.0 + self.rival_odds)
        best = float(self.problem.means[self.leader])
        return rest * self.problem.means + self.rival_odds * rest * best


@dataclass(frozen=True, repr=False)
class QuestionBound(Bounds):
    """T* of another question than the best arm (docs/questions.md)."""

    question: Question
    answer: tuple[int, ...]
    """The arms of the answer that is quickest to prove."""
    pair_weights: dict[tuple[int, int], float]
    """The adversary's mixture over pairs (i, b): "b is as good as i", or i on the other side of a level where b = i."""


def question_bound(problem: Problem, question: Question, tol: float = 1e-6) -> QuestionBound:
    """T* of a question, with T_upper − T_lower ≤ tol · T_upper where the linear programs reach it.

    >>> problem = gb.Problem([1.0, 0.5, 0.0], family=gb.Gaussian(1.0))
    >>> gb.question_bound(problem, gb.Threshold(0.25))
    QuestionBound(T* = 67.5556 queries, optimal, gap 0)
    """
    if not (is_number(tol) and 0.0 < tol < 1.0):
        raise ProblemError(f"tol = {tol!r}: the relative gap is a number between 0 and 1, such as 1e-6")
    question.check(problem.K, problem.family)
    best: tuple[Value, Bools] | None = None
    high, rounds = 0.0, 0
    for answer in answers_at(question, problem.means):
        enough = best[0].low if best else 0.0
        found = value_of(question, problem.family.planned(), problem.means, problem.rates, answer, tol, enough)
        high, rounds = max(high, found.high), rounds + found.rounds
        best = (found, answer) if best is None or found.low > best[0].low else best
    assert best is not None
    value, answer = best
    tie = not value.low > 0.0
    omega = value.shares / problem.query_costs
    omega = omega / omega.sum()
    return QuestionBound(
        problem=problem,
        T_lower=math.inf if tie else 1.0 / high,
        T_upper=math.inf if tie else 1.0 / value.low,
        omega=omega,
        cost_shares=value.shares,
        arm_weights=problem.policies.T @ omega,
        iterations=rounds,
        status="tie" if tie else "optimal" if value.low >= high * (1.0 - tol) else "inexact",
        question=question,
        answer=tuple(np.flatnonzero(answer).tolist()),
        pair_weights=value.weights,
    )


def bound_for(problem: Problem, question: Question) -> Bounds:
    """T* of the best arm or of another question."""
    return lower_bound(problem) if question == BestArm() else question_bound(problem, question)


def lower_bound(problem: Problem, tol: float = 1e-9, without: Sequence[int] = ()) -> LowerBound:
    """T*(μ, π) and an optimal plan, with T_upper − T_lower ≤ tol · T_upper where double precision allows.

    `without` lists mediators that the plan shall not ask, such as redundant ones; the bounds remain those of the whole problem.

    A tie for the best arm has T* = ∞ and status "tie". If the gap is not reached the status is "inexact"; the bounds are true.

    >>> bound = gb.lower_bound(gb.Problem([1.0, 0.0], [[0.9, 0.1], [0.2, 0.8]], family=gb.Gaussian(1.0)))
    >>> round(bound.T_star, 6), round(bound.queries(delta=0.05), 1)
    (8.0, 21.2)
    >>> bound.omega.round(4).tolist()
    [0.4286, 0.5714]
    """
    if not (is_number(tol) and 0.0 < tol < 1.0):
        raise ProblemError(f"tol = {tol!r}: the relative gap is a number between 0 and 1, such as 1e-9")
    mu, R = problem.means.copy(), problem.rates  # writable copies: Numba would compile anew for read-only ones
    a_star, _ = leader(mu)
    _check_range(problem, a_star)
    point, ledger = new_point(problem.K, problem.E), new_ledger(problem.K, problem.E)
    allowed = R.copy()
    allowed[:, list(without)] = 0.0
    with np.errstate(all="ignore"):  # without the JIT NumPy would warn of infinities that the kernel knows how to handle
        status, steps = _solved(problem.family.planned(), mu, allowed, tol, point, ledger)
        if status == UNREACHABLE:
            raise ProblemError("without these mediators some arm is never pulled: leave out fewer")
        if status != TIE:
            status = OPTIMAL if certify(problem.family.planned(), mu, R, a_star, point, ledger) <= tol else INEXACT
    q = np.where(np.arange(problem.K) == a_star, 0.0, point.q)
    omega = point.omega / problem.query_costs
    omega = omega / omega.sum()
    return LowerBound(
        problem=problem,
        T_lower=math.inf if status == TIE else float(point.bounds[0]),
        T_upper=float(point.bounds[1]),
        omega=omega,
        cost_shares=point.omega,
        arm_weights=problem.policies.T @ omega,
        leader=int(a_star),
        rival_weights=q / q.sum(),
        rival_odds=point.odds,
        iterations=int(steps),
        status=STATUS[status],
    )


def _solved(family: Family, mu: Floats, R: Floats, tol: float, point: Point, ledger: Floats) -> tuple[int, int]:
    """Solve the game from cold: status and number of steps; of many arms and mediators a few at a time, where that works."""
    (a_star, unique), steps = leader(mu), 0
    if R.size >= LARGE and unique and R.max(axis=1).all():
        status, steps = solve_large(family, mu, R, a_star, tol, point, ledger)
        if status == OPTIMAL:
            return status, steps
        forget(point)
    status, more = solve(family, mu, R, tol, COLD, point, new_workspace(*R.shape))
    return status, steps + int(more)


def _check_range(problem: Problem, a_star: int) -> None:
    """Divergences must neither overflow nor underflow."""
    best = float(problem.means[a_star])
    for a, mean in enumerate(problem.means):
        size = evidence(problem.family.planned(), best, float(mean), 1.0, 1.0)[0]
        if mean != best and not 1e-100 <= size <= 1e100:
            raise ProblemError(
                f"the gap between {problem.arms[a_star]!r} and {problem.arms[a]!r} is too {'small' if size < 1.0 else 'large'} "
                "for double precision: look at the means and at the scale of the rewards"
            )
