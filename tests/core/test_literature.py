"""Sampling rules of the literature, carried over to mediators: their parts against plain twins, and where they lead."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import gobetween as gb
from gobetween.core.ground.jit import ENABLED
from gobetween.core.ground.value import compiled_kind
from gobetween.core.sampling.adahedge import mixability_loss, optimistic, play
from gobetween.core.sampling.frank_wolfe import best_mixture, is_square, payoffs

POLICIES = [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]]
PROBLEM = gb.Problem([1.5, 1.0, 0.7, 0.5], POLICIES, family=gb.Gaussian(1.0))
PRICED = gb.Problem([1.5, 1.0, 0.7, 0.5], POLICIES, costs=[1.0, 1.0, 1.0, 4.0], family=gb.Gaussian(1.0))


@pytest.mark.parametrize("number", range(60))
def test_the_matrix_game_is_solved(number: int) -> None:
    rng = np.random.default_rng(number)
    J, E = rng.integers(1, 8), rng.integers(1, 12)
    M = rng.normal(size=(J, E)) * 10.0 ** rng.integers(-6, 3)
    if number % 3 == 0:
        M = np.round(M / np.abs(M).max(), 1)  # many ties
    z = best_mixture(np.vstack([M, M[:1]]) if number % 5 == 0 else M)
    # most w with (Mz)_j ≥ w, z a distribution
    found = linprog(
        [0.0] * E + [-1.0], A_ub=np.hstack([-M, np.ones((J, 1))]), b_ub=np.zeros(J), A_eq=[[1.0] * E + [0.0]], b_eq=[1.0],
        bounds=[(0.0, None)] * E + [(None, None)],
    )  # fmt: skip
    assert z.min() >= 0.0
    assert z.sum() == pytest.approx(1.0)
    assert (M @ z).min() == pytest.approx(-found.fun, abs=1e-6 * np.abs(M).max())


def test_payoffs_are_slopes_of_the_evidence() -> None:
    rates, mu = np.array(POLICIES), np.array([1.5, 1.0, 0.7, 0.5])

    def values(x: Any) -> Any:
        w = x @ rates
        return np.array([w[0] * w[b] / (w[0] + w[b]) * (mu[0] - mu[b]) ** 2 / 2 for b in (1, 2, 3)])

    x, h = np.array([0.4, 0.1, 0.2, 0.3]), 1e-6
    M = payoffs(gb.Gaussian(1.0), mu, rates, x, math.inf)
    for e in range(4):
        rise = (values(x + h * (np.eye(4)[e] - x)) - values(x - h * (np.eye(4)[e] - x))) / (2 * h)
        assert M[:, e] == pytest.approx(rise, abs=1e-8)
    assert len(payoffs(gb.Gaussian(1.0), mu, rates, x, 1e-9)) == 1
    assert len(payoffs(gb.Gaussian(1.0), np.array([1.0, 1.0, 0.5, 0.5]), rates, x, 1.0)) == 0


def test_squares() -> None:
    assert [n for n in range(50) if is_square(n)] == [0, 1, 4, 9, 16, 25, 36, 49]


def test_adahedge_is_its_formula_and_its_regret_is_small() -> None:
    rng = np.random.default_rng(3)
    G, gap, w, earned = np.zeros(5), 0.0, np.empty(5), 0.0
    gains: Any
    for _ in range(400):
        gains = rng.random(5) * [1.0, 1.1, 0.9, 1.0, 1.2]
        play(G, gap, w)
        if gap > 0.0:
            eta = math.log(5) / gap
            expected = np.exp(eta * (G - G.max()))
            assert w == pytest.approx(expected / expected.sum())
            assert mixability_loss(gains, gap, w) == pytest.approx(
                math.log(w @ np.exp(eta * gains)) / eta - w @ gains, abs=1e-12
            )
        gap += mixability_loss(gains, gap, w)
        earned += w @ gains
        G += gains
    assert G.max() - earned <= 2.0 * gap + 1e-9  # what AdaHedge guarantees
    assert gap < 30.0


@pytest.mark.parametrize(
    ("family", "mu"), [(gb.Gaussian(2.0), 0.3), (gb.Bernoulli(), 0.0), (gb.Bernoulli(), 0.9), (gb.Exponential(), 1.0)], ids=str
)
@pytest.mark.parametrize("level", [1e-4, 0.05, 1.0])
@pytest.mark.parametrize("away", [-0.3, 0.3])
def test_optimism_is_the_end_of_the_confidence_interval(family: gb.Family, mu: float, level: float, away: float) -> None:
    low, high = max(family.low, -50.0) + 1e-12, min(family.high, 50.0) - 1e-12
    grid = np.linspace(mu, high if away > 0.0 else low, 40_001)
    inside = [xi for xi in grid if family.kl(mu, float(xi)) <= level]
    x = 0.5
    assert optimistic(family, mu, away, x, level) == pytest.approx(family.kl(float(inside[-1]), x), rel=2e-2, abs=1e-3)


@pytest.mark.parametrize("rule", [gb.FrankWolfe(), gb.Game()], ids=str)
@pytest.mark.parametrize("problem", [PROBLEM, PRICED], ids=["plain", "costs"])
def test_queries_go_to_the_optimal_shares(rule: gb.SamplingRule, problem: gb.Problem) -> None:
    """At a tiny δ the cost is near T* ln(1/δ), and it falls toward it."""
    deltas = [1e-10, 1e-80] if ENABLED else [1e-3, 1e-10]
    runs = gb.simulate(problem, rule, gb.EProcess(contrast=0.0), deltas, runs=16 if ENABLED else 1, seed=1)
    spent = (runs.N_e * problem.query_costs).sum(axis=2).mean(axis=0)
    ratios = spent / (-np.log(deltas) * gb.lower_bound(problem).T_star)
    assert runs.correct.all()
    if ENABLED:
        assert ratios[1] < min(1.15, ratios[0])


TWICE = gb.Problem([1.5, 1.0, 0.7, 0.5], POLICIES + POLICIES, family=gb.Gaussian(1.0))


@pytest.mark.parametrize("problem", [PROBLEM, TWICE, PRICED], ids=["plain", "twice", "costs"])
def test_tracking_of_boxes_comes_to_optimal_shares(problem: gb.Problem) -> None:
    """Also where ω* is a set, for what has converged is Σω/t. Forced rounds take O(√t) queries."""
    delta = 1e-80 if ENABLED else 1e-20
    runs = gb.simulate(problem, gb.BoxTracking(), gb.EProcess(contrast=0.0), delta, runs=16 if ENABLED else 1, seed=1)
    shares = runs.N_e[:, 0].sum(axis=0) / runs.N_e.sum()
    paid = shares * problem.query_costs
    w = paid / paid.sum() @ (problem.policies / problem.query_costs[:, None])
    best = gb.lower_bound(problem)
    assert runs.correct.all()
    reached = min(w[0] * w[a] / (w[0] + w[a]) * (problem.means[0] - problem.means[a]) ** 2 / 2 for a in (1, 2, 3))
    assert reached * best.T_star >= (0.97 if ENABLED else 0.9)


def test_boxes_are_gone_round_while_an_arm_is_scarce() -> None:
    learner = gb.Learner(2, {e: [0.5, 0.5] for e in "xyz"}, sampling="box-tracking", delta=1e-9, family=gb.Gaussian(1.0))
    asked = []
    for _ in range(9):
        query = learner.ask(go_on=True)
        asked.append(query.mediator)
        learner.tell(query, arm="arm 1", reward=0.0)
    assert "".join(asked) == "x" + "xyzxyzxy"  # at t = 0 nothing is scarce yet
    for _ in range(40):
        query = learner.ask(go_on=True)
        learner.tell(query, arm=f"arm {1 + learner.issued % 2}", reward=0.0)
    assert gb.Learner.from_dict(learner.to_dict()).ask(go_on=True) == learner.ask(go_on=True)
    with pytest.raises(gb.ProblemError, match=r"BoxTracking needs declared policies.*mediator 1 is not"):
        gb.Learner(2, {"x": [0.5, 0.5], "y": None}, sampling=gb.BoxTracking())


@pytest.mark.parametrize("rule", [gb.FrankWolfe(), gb.Game()], ids=str)
def test_unknown_policies_are_found_out(rule: gb.SamplingRule) -> None:
    learner = gb.Learner(2, {"x": None, "y": [0.5, 0.5]}, sampling=rule, delta=1e-9, family=gb.Gaussian(1.0))
    rng = np.random.default_rng(1)
    for _ in range(120):
        a = int(rng.random() < 0.5)
        learner.tell(learner.ask(go_on=True), arm=f"arm {a + 1}", reward=rng.normal())
    assert learner.state.seen.N_e.min() >= 5


def test_one_mediator_is_asked_always() -> None:
    for word in ("frank-wolfe", "game", "box-tracking"):
        learner = gb.Learner(2, {"x": [0.5, 0.5]}, sampling=word)
        for t in range(9):
            assert learner.ask(go_on=True).mediator == "x", t


def test_kernels_of_our_own_rules_can_be_kept() -> None:
    """The class that compiled code sees is found by its name, also in a process that has not used the rule."""
    for kind in (gb.FrankWolfe, gb.Game, gb.BoxTracking):
        assert pickle.loads(pickle.dumps(compiled_kind(kind))) is compiled_kind(kind)
