import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import problems

import gobetween as gb
from gobetween.core.bound import geometry
from gobetween.core.bound.geometry import hull_distance

MEANS = [1.5, 1.0, 0.7, 0.5]
POLICIES = [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]]


def test_price_of_experiment_1() -> None:
    price = gb.price_of_mediation(gb.Problem(MEANS, POLICIES, family=gb.Gaussian(1.0)))
    assert price.ratio == pytest.approx(73.2842712 / 38.156738, rel=1e-6)
    assert price.lower <= price.ratio <= price.upper
    assert not price.is_free
    assert price.direct_weights == pytest.approx([0.427727, 0.411243, 0.101294, 0.059736], abs=1e-6)


def test_direct_control_is_free() -> None:
    price = gb.price_of_mediation(gb.Problem(MEANS, family=gb.Gaussian(1.0)))
    assert price.is_free
    assert price.ratio == pytest.approx(1.0, rel=1e-9)


def test_a_tie_has_no_price() -> None:
    price = gb.price_of_mediation(gb.Problem([1.0, 1.0], [[0.5, 0.5]], family=gb.Gaussian(1.0)))
    assert np.isnan(price.ratio)
    assert not price.is_free


@given(problem=problems(tame=True))
@settings(max_examples=60)
def test_proposition_1_mediation_never_helps(problem: gb.Problem) -> None:
    price = gb.price_of_mediation(problem)
    assert price.upper >= 1.0
    assert price.ratio >= 1.0 - 1e-9
    if price.ratio > 1.0 + 1e-6:
        assert not price.is_free


@given(problem=problems(tame=True), seed=st.integers(0, 999))
@settings(max_examples=40)
def test_proposition_1_a_mixture_of_policies_is_free(problem: gb.Problem, seed: int) -> None:
    """Put the best direct allocation into the hull of random policies: the price must be 1."""
    best = gb.lower_bound(gb.Problem(problem.means, family=problem.family)).omega
    rng = np.random.default_rng(seed)
    shift = rng.dirichlet(np.ones(problem.K)) - rng.dirichlet(np.ones(problem.K))
    size = 0.5 * min(best[shift < 0] / -shift[shift < 0], default=1.0)
    policies = np.vstack([best + size * shift, best - 0.2 * size * shift])
    assume((policies >= 0).all())
    policies /= policies.sum(axis=1, keepdims=True)
    price = gb.price_of_mediation(gb.Problem(problem.means, policies, family=problem.family))
    assert price.is_free
    assert price.ratio == pytest.approx(1.0, rel=1e-8)


def test_proposition_1_outside_the_hull_there_is_a_price() -> None:
    best = gb.lower_bound(gb.Problem(MEANS, family=gb.Gaussian(1.0))).omega
    for step in (0.3, 0.03, 0.003):
        policies = np.vstack([best + step * np.array([0.1, -0.1, 0, 0]), best + step * np.array([0.1, 0, -0.1, 0])])
        price = gb.price_of_mediation(gb.Problem(MEANS, policies, family=gb.Gaussian(1.0)))
        assert not price.is_free
        assert price.lower > 1.0


@pytest.mark.parametrize("costs", [[1.0, 9.0, 2.0, 5.0], [0.1] * 4])
def test_the_price_is_counted_in_queries_whatever_they_cost(costs: list[float]) -> None:
    free, priced = (gb.price_of_mediation(gb.Problem(MEANS, POLICIES, costs=c, family=gb.Gaussian(1.0))) for c in (None, costs))
    assert priced.ratio == pytest.approx(free.ratio, rel=1e-9)
    assert priced.distance == pytest.approx(free.distance, abs=1e-9)


def test_what_is_free_has_no_price_and_lies_in_the_hull() -> None:
    """Each half of Proposition 1 by itself is fooled, by an arm that hardly matters or by a price too small to see."""
    far = gb.price_of_mediation(gb.Problem([1.0, 0.0, -1e5], [[0.5, 0.5 - 1e-13, 1e-13]], family=gb.Gaussian(1.0)))
    assert far.distance < 1e-7
    assert far.lower > 1.01
    assert not far.is_free
    near = gb.price_of_mediation(gb.Problem([1.0, 0.0], [[0.5 + 1e-5, 0.5 - 1e-5]], family=gb.Gaussian(1.0)))
    assert near.distance > 1e-6
    assert near.upper < 1.0 + 1e-6
    assert not near.is_free


def test_hull_distance() -> None:
    square = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert hull_distance(square, np.array([0.3, 0.7])) == pytest.approx(0.0, abs=1e-9)
    assert hull_distance(square, np.array([1.0, 1.0])) == pytest.approx(np.sqrt(0.5), rel=1e-6)


def names(problem: gb.Problem) -> list[tuple[int, str]]:
    return [(item.mediator, item.reason) for item in gb.redundant_mediators(problem)]


def test_of_twins_the_first_stays() -> None:
    assert names(gb.Problem([5.0, 1.0], [[0.01, 0.99]] + [[0.0, 1.0]] * 4, family=gb.Gaussian(1.0))) == [
        (i, "duplicate") for i in (2, 3, 4)
    ]
    assert names(gb.Problem(MEANS, POLICIES, family=gb.Gaussian(1.0))) == []


def test_mixtures_and_dominated_mediators() -> None:
    corners_and_middle = gb.Problem([1.0, 0.0], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], family=gb.Gaussian(1.0))
    assert names(corners_and_middle) == [(1, "mixture")]
    cheap_twin = gb.Problem([1.0, 0.0], [[0.5, 0.5], [0.5, 0.5]], costs=[2.0, 1.0], family=gb.Gaussian(1.0))
    assert names(cheap_twin) == [(0, "dominated")]
    silent_twin = gb.Problem([1.0, 0.0], [[0.5, 0.5], [0.4, 0.4]], silent=True, family=gb.Gaussian(1.0))
    assert names(silent_twin) == [(1, "dominated")]
    cheap_and_silent = gb.Problem([1.0, 0.0], [[0.5, 0.5], [0.4, 0.4]], silent=True, costs=[1.0, 0.5], family=gb.Gaussian(1.0))
    assert names(cheap_and_silent) == [(0, "dominated")]
    never_answers = gb.Problem([1.0, 0.0], [[0.5, 0.5], [0.0, 0.0]], silent=True, family=gb.Gaussian(1.0))
    assert names(never_answers) == [(1, "dominated")]


@pytest.mark.parametrize("rare", [1e-6, 1e-9, 1e-12])
def test_the_only_way_to_a_rare_arm_is_never_pruned(rare: float) -> None:
    """A solver's tolerance of 1e-7 must not make an arm unreachable."""
    problem = gb.Problem([1.0, 0.5, 0.0], [[0.5, 0.5, 0.0], [0.5 - rare, 0.5, rare], [0.0, 1.0, 0.0]], family=gb.Gaussian(1.0))
    assert 1 not in [e for e, _ in names(problem)]


@given(
    problem=problems(), costs=st.lists(st.sampled_from([1.0, 1.0, 2.0, 0.3]), min_size=9, max_size=9), quiet=st.floats(0.3, 1.0)
)
@settings(max_examples=50)
def test_removing_all_that_are_redundant_leaves_T_unchanged(problem: gb.Problem, costs: list[float], quiet: float) -> None:
    policies = problem.policies.copy()
    policies[0] *= quiet
    c = np.array(costs)[: problem.E]
    whole = gb.Problem(problem.means, policies, family=problem.family, silent=True, costs=c)
    found = gb.redundant_mediators(whole)
    gone = [item.mediator for item in found]
    for item in found:
        assert (item.weights[gone] == 0).all()  # substitutes are among those that stay
        assert (policies.T @ item.weights >= policies[item.mediator] * (1 - 1e-9)).all()
        assert c @ item.weights <= c[item.mediator] * (1 + 1e-8)
    stay = np.setdiff1d(np.arange(problem.E), gone)
    rest = gb.Problem(problem.means, policies[stay], family=problem.family, silent=True, costs=c[stay])
    assert gb.lower_bound(rest).T_star == pytest.approx(gb.lower_bound(whole).T_star, rel=2e-8)


@given(problem=problems(tame=True, most_arms=4, most_mediators=5))
@settings(max_examples=40)
def test_mediators_that_stay_are_needed(problem: gb.Problem) -> None:
    """Against brute force: a mediator in the others' convex hull is found, one outside is not."""
    gone = {item.mediator for item in gb.redundant_mediators(problem)}
    for e in set(range(problem.E)) - gone:
        others = [i for i in range(problem.E) if i != e and i not in gone]
        if others:
            assert hull_distance(problem.policies[others], problem.policies[e]) > 1e-10
    for e in gone:
        others = [i for i in range(problem.E) if i not in gone]
        assert hull_distance(problem.policies[others], problem.policies[e]) < 1e-7


@pytest.mark.parametrize("seed", range(40))
def test_who_is_surely_needed_is_what_the_linear_programs_find(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    policies = rng.dirichlet(np.full(rng.integers(2, 7), rng.choice([0.1, 1.0, 5.0])), rng.integers(3, 9))
    if seed % 2:  # mixtures, twins, and probabilities of 0
        policies = np.round(4.0 * policies) + (np.arange(policies.shape[1]) == 0)
        policies /= policies.sum(axis=1, keepdims=True)
        policies[0], policies[-1] = policies[1:3].mean(axis=0), policies[1]
    costs = rng.choice([0.5, 1.0, 2.0], len(policies))
    sure, found = geometry._surely_needed(policies, costs), geometry.find_redundant(policies, costs)
    assert not sure[[item.mediator for item in found]].any()
    monkeypatch.setattr(geometry, "_surely_needed", lambda policies, costs: np.zeros(len(policies), dtype=np.bool_))
    assert repr(geometry.find_redundant(policies, costs)) == repr(found)
