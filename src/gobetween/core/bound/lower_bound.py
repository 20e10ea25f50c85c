"""The lower bound on the number of queries (Theorem 1), as a certified value, for the best arm and for other questions.

Other questions by cutting planes: max over ω of the min over pairs of f_ib(πᵀω). Each f is concave and homogeneous, so that its
slopes at one point bound it everywhere: f(w) ≤ d_i w_i + d_b w_b. A linear program over such cuts is at least the value of the
game, and its multipliers, the adversary's mixture over cuts, prove that; the best shares so far prove a value that can be had.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.bound.certificate import Point, certify, forget, leader, new_ledger, new_point
from gobetween.core.bound.game import COLD, INEXACT, LARGE, OPTIMAL, TIE, UNREACHABLE, new_workspace, solve, solve_large
from gobetween.core.evidence.eprocess import evidence
from gobetween.core.ground.jit import Bools, Floats
from gobetween.core.ground.value import is_number
from gobetween.core.problem.problem import Problem
from gobetween.core.question.question import Question, answers_at, pairs_of
from gobetween.core.reward.family import Family
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
    T_lower: float  # T* is at least this: proven by the adversary's mixture
    T_upper: float  # T* is at most this: proven by cost_shares
    omega: Floats  # [E] shares of queries in an optimal plan
    cost_shares: Floats  # [E] shares of cost in that plan; the same as omega without costs
    arm_weights: Floats  # [K] πᵀω: how often a query of that plan pulls each arm (the paper's π̃)
    iterations: int
    status: str  # "optimal" (relative error ≤ tol), "inexact" (bounds true, error above tol) or "tie" (T* = ∞)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(T* = {self.T_star:.6g} {self.unit}, {self.status}, error {self.relative_error:.1g})"

    def _repr_html_(self) -> str:
        columns = {"share of queries": self.omega} | ({"share of cost": self.cost_shares} if self.unit == "cost" else {})
        known = () if self.status == "tie" else enumerate(self.problem.mediators)
        rows = [(name, *(f"{shares[e]:.2%}" for shares in columns.values())) for e, name in known]
        return html_table(repr(self), ("mediator", *columns), rows)

    def plot(self) -> Any:
        """Whom an optimal plan asks how often, as a Matplotlib figure."""
        from gobetween.pages.figures import bound
        from gobetween.pages.paper_figures import draw

        return draw(bound(self, titled=True))

    @property
    def unit(self) -> str:
        """What T* counts."""
        return "queries" if self.problem.costs is None else "cost"

    @property
    def T_star(self) -> float:
        """T_upper: the value that `omega` attains."""
        return self.T_upper

    @property
    def relative_error(self) -> float:
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
    QuestionBound(T* = 67.5556 queries, optimal, error 0)
    """
    if not (is_number(tol) and 0.0 < tol < 1.0):
        raise ProblemError(f"tol = {tol!r}: the relative error is a number between 0 and 1, such as 1e-6")
    question.check(problem.K, problem.family)
    best: tuple[GameValue, Bools] | None = None
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


def bound_for(problem: Problem, question: Question, tol: float = 1e-9) -> Bounds:
    """T* of the best arm, to a relative error of tol, or of another question."""
    return lower_bound(problem, tol) if question.names_leader else question_bound(problem, question)


def lower_bound(problem: Problem, tol: float = 1e-9, without: Sequence[int] = ()) -> LowerBound:
    """T*(μ, π) and an optimal plan, with T_upper − T_lower ≤ tol · T_upper where double precision allows.

    `without` lists mediators that the plan shall not ask, such as redundant ones; the bounds remain those of the whole problem.

    A tie for the best arm has T* = ∞ and status "tie". If tol is not reached the status is "inexact"; the bounds are true.

    >>> bound = gb.lower_bound(gb.Problem([1.0, 0.0], [[0.9, 0.1], [0.2, 0.8]], family=gb.Gaussian(1.0)))
    >>> round(bound.T_star, 6), round(bound.queries(delta=0.05), 1)
    (8.0, 21.2)
    >>> bound.omega.round(4).tolist()
    [0.4286, 0.5714]
    """
    if not (is_number(tol) and 0.0 < tol < 1.0):
        raise ProblemError(f"tol = {tol!r}: the relative error is a number between 0 and 1, such as 1e-9")
    mu, R = problem.means.copy(), problem.rates  # writable copies: Numba would compile again for read-only ones
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


MOST_ROUNDS = 400
MOST_CUTS = 4000


class GameValue(NamedTuple):
    """The value of the game for one answer, per unit of cost: low ≤ 1/T* ≤ high."""

    low: float
    high: float
    shares: Floats  # [n] of cost
    weights: dict[tuple[int, int], float]  # the adversary's mixture over pairs
    rounds: int


def value_of(question: Question, family: Family, mu: Floats, R: Floats, answer: Bools, tol: float, enough: float) -> GameValue:
    """The value for an answer that is right at means mu, with rates R [K, n]; given up once it is known to be too low."""
    pairs, n = pairs_of(question, answer), R.shape[1]
    best, low, high = np.full(n, 1.0 / n), 0.0, math.inf
    rows: list[Floats] = []
    of: list[int] = []
    y, rounds = np.zeros(0), 0
    points = [best]
    while rounds < MOST_ROUNDS and len(rows) < MOST_CUTS:
        for shares in points:
            worth, cuts = _look(question, family, mu, R, pairs, shares)
            rows.extend(cuts.values())
            of.extend(cuts)
            if worth > low:
                best, low = shares, worth
        shares, weights = _program(np.array(rows), max(low, 1e-300))
        bound = float((weights @ np.array(rows)).max()) if weights is not None else math.inf
        if bound < high and weights is not None:
            high, y = bound, weights
        rounds += 1
        if low >= high * (1.0 - tol) or high < enough or weights is None:
            break
        points = [shares, 0.5 * (shares + best)]
    total: dict[tuple[int, int], float] = {}
    for k, weight in enumerate(y.tolist()):
        total[pairs[of[k]]] = total.get(pairs[of[k]], 0.0) + weight
    return GameValue(low, max(low, high), best, {pair: weight for pair, weight in total.items() if weight > 1e-12}, rounds)


def _look(
    question: Question, family: Family, mu: Floats, R: Floats, pairs: list[tuple[int, int]], shares: Floats
) -> tuple[float, dict[int, Floats]]:
    """The least payoff at these shares, and the cut [n] of each pair but those that are infinitely steep, which say nothing."""
    w, least, cuts = R @ shares, math.inf, dict[int, Floats]()
    for k, (i, b) in enumerate(pairs):
        value, d_i, d_b = question.payoff(family, mu, i, b, float(w[i]), float(w[b]))
        least = min(least, value)
        if math.isfinite(d_i) and math.isfinite(d_b):
            cuts[k] = d_i * R[i] + d_b * R[b]
    return least, cuts


def _program(cuts: Floats, scale: float) -> tuple[Floats, Floats | None]:
    """Shares [n] with the largest least cut, and the multipliers of the cuts, which sum to 1; None where the solver fails."""
    from scipy.optimize import linprog

    m, n = cuts.shape
    scale = max(scale, 1e-3 * float(cuts.max()))
    above = np.hstack([-cuts / scale, np.ones((m, 1))])  # v ≤ cut · ρ
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=above,
        b_ub=np.zeros(m),
        A_eq=np.append(np.ones(n), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0.0, None)] * n + [(None, None)],
        method="highs",
    )
    if not found.success:
        return np.full(n, 1.0 / n), None
    shares, weights = np.maximum(found.x[:n], 0.0), np.maximum(-found.ineqlin.marginals, 0.0)
    return shares / shares.sum(), weights / weights.sum() if weights.sum() > 0.0 else None
