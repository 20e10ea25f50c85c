"""What would change the cost of an experiment, against linear programs, brute force and what must hold."""

import math

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import problems

import gobetween as gb
from gobetween.core.bound.what_if import GAPS, best_newcomer, halving_newcomer, pull_worths

MEANS = [1.5, 1.0, 0.7, 0.5]
POLICIES = [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]]
PAPER = gb.Problem(MEANS, POLICIES, family=gb.Gaussian(1.0))
PRICED = gb.Problem(
    [0.62, 0.74, 0.70],
    [[0.7, 0.2, 0.1], [0.05, 0.55, 0.4], [0.1, 0.1, 0.7]],
    costs=[4.0, 6.0, 5.0],
    family=gb.Bernoulli(),
    silent=True,
)
RARE = gb.Problem([1.0, 0.2, 0.0], [[0.98, 0.01, 0.01], [0.9, 0.1, 0.0]], family=gb.Gaussian(1.0))
CASES = {"paper": PAPER, "priced": PRICED, "rare": RARE}


def solved(problem: gb.Problem, policies: object, costs: object) -> float:
    """T* by linear programs, from policies and costs alone."""
    lower, upper = naive.cutting_planes(problem.family, problem.means, np.asarray(policies) / np.asarray(costs)[:, None], 1e-6)
    assert upper <= lower * (1 + 1e-5)
    return upper


@pytest.mark.parametrize("name", CASES)
def test_a_mediator_is_worth_what_is_lost_without_it(name: str) -> None:
    problem = CASES[name]
    bound = gb.lower_bound(problem)
    worths = gb.what_if(bound).worths
    assert [worth.mediator for worth in worths] == list(range(problem.E))
    for worth in worths:
        e = worth.mediator
        others = [other for other in range(problem.E) if other != e]
        policies, costs = problem.policies[others], problem.query_costs[others]
        if policies.max(axis=0).min() == 0.0:
            assert worth.T_without == math.inf
        else:
            assert worth.T_without == pytest.approx(solved(problem, policies, costs), rel=1e-5)
        for factor, T in ((0.5, worth.T_half), (2.0, worth.T_twice)):
            changed = problem.query_costs.copy()
            changed[e] *= factor
            if math.isnan(T):
                assert bound.omega[e] == 0.0
            else:
                assert pytest.approx(solved(problem, problem.policies, changed), rel=1e-5) == T


@pytest.mark.parametrize("name", CASES)
def test_no_policy_is_better_than_the_best_new_one(name: str) -> None:
    problem = CASES[name]
    bound = gb.lower_bound(problem)
    best = gb.what_if(bound).best
    assert best is not None
    assert best.cost == pytest.approx(problem.query_costs @ bound.omega)
    assert best.policy.sum() == pytest.approx(1.0)
    costs = np.append(problem.query_costs, best.cost)
    assert best.T_star == pytest.approx(solved(problem, np.vstack([problem.policies, best.policy]), costs), rel=1e-5)
    rng = np.random.default_rng(1)
    steps = np.linspace(0.0, 1.0, 6)
    grid = np.array(np.meshgrid(*[steps] * (problem.K - 1))).reshape(problem.K - 1, -1).T
    corners = [np.append(row, 1.0 - row.sum()) for row in grid if row.sum() <= 1.0 + 1e-12]
    near = [0.9 * best.policy + 0.1 * rng.dirichlet(np.ones(problem.K)) for _ in range(50)]
    for policy in [*corners, *near]:
        row = np.clip(policy, 0.0, 1.0)
        joined = gb.Problem(
            problem.means, np.vstack([problem.policies, row / row.sum()]), costs=costs, family=problem.family, silent=True
        )
        assert gb.lower_bound(joined).T_star >= best.T_star * (1.0 - 1e-8)


@pytest.mark.parametrize("name", CASES)
def test_half_is_half(name: str) -> None:
    problem = CASES[name]
    bound = gb.lower_bound(problem)
    design = gb.what_if(bound)
    half, best = design.halving, design.best
    assert half is not None
    assert best is not None
    costs = np.append(problem.query_costs, half.cost)
    assert solved(problem, np.vstack([problem.policies, half.policy]), costs) == pytest.approx(bound.T_star / 2, rel=1e-5)
    assert (half.cost == best.cost) == (best.T_star <= bound.T_star / 2)
    if half.cost < best.cost:  # no policy halves at a higher cost
        assert best_newcomer(bound, 1.001 * half.cost).T_star > bound.T_star / 2
    assert half.policy @ pull_worths(bound) >= 2.0 * half.cost * (1.0 - 1e-9)  # necessary, by the adversary's prices


@given(problem=problems(tame=True))
@settings(max_examples=40)
def test_prices_of_arms_price_mediators(problem: gb.Problem) -> None:
    bound = gb.lower_bound(problem)
    worth = problem.policies @ pull_worths(bound) / problem.query_costs
    assert worth.max() == pytest.approx(bound.T_upper / bound.T_lower, rel=1e-9)
    assert worth[bound.omega > 1e-3] == pytest.approx(1.0, rel=1e-4)


@given(problem=problems(tame=True), seed=st.integers(0, 999))
@settings(max_examples=25)
def test_what_must_hold_of_any_design(problem: gb.Problem, seed: int) -> None:
    bound = gb.lower_bound(problem)
    design = gb.what_if(bound)
    for worth in design.worths:
        assert worth.T_without >= bound.T_lower * (1.0 - 1e-9)
        assert not worth.T_half > bound.T_upper * (1.0 + 1e-9)
        assert worth.T_twice <= min(2.0 * bound.T_upper, worth.T_without) * (1.0 + 1e-6)
    assert [factor for factor, _ in design.gaps] == list(GAPS)
    known = [T for _, T in design.gaps if not math.isnan(T)]
    assert known == sorted(known, reverse=True)
    policy = np.random.default_rng(seed).dirichlet(np.ones(problem.K))
    best = best_newcomer(bound)
    joined = gb.Problem(
        problem.means, np.vstack([problem.policies, policy]), family=problem.family, silent=problem.silent,
        costs=np.append(problem.query_costs, best.cost),
    )  # fmt: skip
    assert gb.lower_bound(joined).T_star >= best.T_star * (1.0 - 1e-7)


def test_gaps_of_a_gaussian_count_squared() -> None:
    bound = gb.lower_bound(PAPER)
    gaps = gb.what_if(bound).gaps
    assert len(gaps) == 5
    for factor, T in gaps:
        assert pytest.approx(bound.T_star / factor**2, rel=1e-8) == T


@pytest.mark.parametrize("name", CASES)
def test_with_other_gaps_all_else_stays(name: str) -> None:
    problem = CASES[name]
    best = problem.means.max()
    rates = problem.policies / problem.query_costs[:, None]
    for factor, T in gb.what_if(gb.lower_bound(problem)).gaps:
        lower, upper = naive.cutting_planes(problem.family, best - factor * (best - problem.means), rates, 1e-6)
        assert lower * (1 - 1e-5) <= T <= upper * (1 + 1e-5), factor


def test_a_mean_that_leaves_the_family_is_not_a_number() -> None:
    design = gb.what_if(gb.lower_bound(gb.Problem([0.9, 0.3], family=gb.Bernoulli())))
    assert [math.isnan(T) for _, T in design.gaps] == [False, False, False, True, True]
    assert design.worths == ()
    assert design.best is None


def test_nothing_helps_in_a_tie_or_where_all_is_free() -> None:
    tied = gb.what_if(gb.lower_bound(gb.Problem([1.0, 1.0], [[0.5, 0.5]], family=gb.Gaussian(1.0))))
    assert tied.gaps == ()
    bound = gb.lower_bound(gb.Problem([1.0, 0.0], [[0.5, 0.5]], family=gb.Gaussian(1.0)))
    free = gb.what_if(bound)
    assert free.best is None
    assert free.halving is not None
    assert free.halving.cost == pytest.approx(0.5)
    assert halving_newcomer(bound, best_newcomer(bound), goal=0.25).cost == pytest.approx(0.25)  # type: ignore[union-attr]


def test_a_plan_tells_its_design() -> None:
    found = gb.make_plan(PAPER, [0.1]).to_dict()["what_if"]
    assert [row["mediator"] for row in found["mediators"]] == list(PAPER.mediators)
    assert found["mediators"][0]["T_without"] == pytest.approx(233.137085, rel=1e-7)
    assert found["best_new_mediator"]["T_star"] == pytest.approx(38.156738, rel=1e-6)
    assert [row["pull_worth"] for row in found["arms"]] == pytest.approx([5.0, 0.625, 0.0, 0.0], abs=1e-6)
    only = gb.make_plan(gb.Problem([1.0, 0.0], [[0.5, 0.5]], family=gb.Gaussian(1.0))).to_dict()["what_if"]["mediators"][0]
    assert (only["T_without"], only["possible_without"]) == (None, False)
    assert gb.make_plan(gb.Problem([1.0, 1.0], family=gb.Gaussian(1.0))).to_dict()["what_if"] is None


@pytest.mark.parametrize("sigma", [1.0, 0.3])
def test_a_tolerance_of_two_gaussian_arms_adds_to_the_gap(sigma: float) -> None:
    bound = gb.lower_bound(gb.Problem([1.0, 0.6], family=gb.Gaussian(sigma)))
    found = gb.what_if(bound).tolerances
    assert [eps for eps, _ in found] == pytest.approx([0.1, 0.2, 0.4, 0.8])
    assert [T for _, T in found] == pytest.approx([8.0 * sigma**2 / (0.4 + eps) ** 2 for eps, _ in found], rel=2e-3)


@pytest.mark.plain
def test_a_tolerance_is_not_offered_where_the_question_is_not() -> None:
    assert gb.what_if(gb.lower_bound(gb.Problem([2.0, 1.0], family=gb.Exponential()))).tolerances == ()
    wide = gb.what_if(gb.lower_bound(gb.Problem([0.9, 0.1], family=gb.Bernoulli()))).tolerances
    assert [eps for eps, _ in wide] == pytest.approx([0.2, 0.4, 0.8])  # 1.6 is more than two Bernoulli means can differ
