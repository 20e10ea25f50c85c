"""T* and its certificate: known constants, invariances, an independent solver, extremes."""

import math

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import here, problems

import gobetween as gb
import gobetween.core.bound.lower_bound as bounds
from gobetween.core.bound import game
from gobetween.core.bound.game import Workspace, new_workspace

MEANS = [1.5, 1.0, 0.7, 0.5]
POLICIES = [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]]
EXPERIMENT_1 = gb.Problem(MEANS, POLICIES, family=gb.Gaussian(1.0))


def brackets(bound: gb.LowerBound) -> None:
    """The published bounds are those that anyone recomputes in 120 digits, up to rounding."""
    lower, upper = naive.certificate(bound)
    assert bound.T_lower == pytest.approx(float(lower), rel=1e-11)
    assert bound.T_upper == pytest.approx(float(upper), rel=1e-11)


@pytest.mark.parametrize(
    ("problem", "T_star", "omega"),
    [
        (EXPERIMENT_1, 45 + 20 * math.sqrt(2), [0.52240, 0, 0, 0.47760]),
        (gb.Problem(MEANS, family=gb.Gaussian(1.0)), 38.156738, [0.427727, 0.411243, 0.101294, 0.059736]),
        (gb.Problem(MEANS, [[0.075, 0.25, 0.35, 0.325]], family=gb.Gaussian(1.0)), 416 / 3, [1.0]),
        (gb.Problem([5.0, 1.0], [[0.01, 0.99]] + [[0.0, 1.0]] * 9, family=gb.Gaussian(1.0)), 1250 / 99, [1.0] + [0.0] * 9),
        (
            gb.Problem([0.5, 0.45, 0.43, 0.4], family=gb.Bernoulli()),
            989.7921,
            [0.41652, 0.39026, 0.13622, 0.05699],
        ),
    ],
    ids=["experiment 1", "direct", "uniform mediators", "experiment 2", "bernoulli"],
)
def test_known_constants(problem: gb.Problem, T_star: float, omega: list[float]) -> None:
    bound = gb.lower_bound(problem)
    assert bound.T_star == pytest.approx(T_star, rel=1e-6)
    assert bound.omega == pytest.approx(omega, abs=1e-5)
    assert bound.status == "optimal"
    assert bound.relative_error <= 1e-9
    brackets(bound)


def test_experiment_1_to_the_last_digits() -> None:
    assert gb.lower_bound(EXPERIMENT_1, tol=1e-14).T_star == pytest.approx(45 + 20 * math.sqrt(2), rel=1e-14)


@given(problem=problems())
@settings(max_examples=120)
def test_extreme_problems_are_certified_to_tol(problem: gb.Problem) -> None:
    bound = gb.lower_bound(problem)
    assert bound.relative_error <= 1e-9
    assert bound.status == "optimal"
    brackets(bound)
    assert bound.omega.sum() == pytest.approx(1.0)
    assert (bound.omega >= 0).all()
    assert bound.arm_weights == pytest.approx(problem.policies.T @ bound.omega)


@given(problem=problems(tame=True, most_arms=5, most_mediators=5))
@settings(max_examples=40)
def test_an_independent_solver_agrees(problem: gb.Problem) -> None:
    lower, upper = naive.cutting_planes(problem.family, problem.means, problem.policies)
    bound = gb.lower_bound(problem)
    assert bound.T_lower <= upper * (1 + 1e-9)
    assert bound.T_upper >= lower * (1 - 1e-9)
    assert bound.T_star == pytest.approx(upper, rel=1e-5)


@given(problem=problems(), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_order_and_copies_do_not_matter(problem: gb.Problem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    T = gb.lower_bound(problem).T_star
    arms, mediators = rng.permutation(problem.K), rng.permutation(problem.E)
    moved = gb.Problem(problem.means[arms], problem.policies[np.ix_(mediators, arms)], family=problem.family)
    assert gb.lower_bound(moved).T_star == pytest.approx(T, rel=3e-9)
    copied = gb.Problem(problem.means, np.vstack([problem.policies, problem.policies[seed % problem.E]]), family=problem.family)
    assert gb.lower_bound(copied).T_star == pytest.approx(T, rel=3e-9)


@given(problem=problems(families=[gb.Gaussian(1.0)]), scale=st.sampled_from([1e-3, 0.5, 7.0, 1e4]))
@settings(max_examples=30)
def test_scaling_means_and_sigma_together_changes_nothing(problem: gb.Problem, scale: float) -> None:
    scaled = gb.Problem(problem.means * scale, problem.policies, family=gb.Gaussian(scale))
    assert gb.lower_bound(scaled).T_star == pytest.approx(gb.lower_bound(problem).T_star, rel=3e-9)


@given(problem=problems(tame=True))
@settings(max_examples=30)
def test_doubling_all_costs_doubles_the_cost_and_keeps_the_plan(problem: gb.Problem) -> None:
    plain = gb.lower_bound(problem)
    double = gb.Problem(problem.means, problem.policies, family=problem.family, costs=np.full(problem.E, 2.0))
    bound = gb.lower_bound(double)
    assert bound.T_star == pytest.approx(2 * plain.T_star, rel=3e-9)
    assert bound.omega == pytest.approx(plain.omega, abs=1e-6)
    assert bound.queries(0.1) == pytest.approx(plain.queries(0.1), rel=3e-9)
    assert bound.cost(0.1) == pytest.approx(2 * plain.cost(0.1), rel=3e-9)


@given(problem=problems(), costs=st.lists(st.floats(0.01, 100.0), min_size=9, max_size=9))
@settings(max_examples=40)
def test_costs_are_certified_too(problem: gb.Problem, costs: list[float]) -> None:
    c = np.array(costs)[: problem.E]
    bound = gb.lower_bound(gb.Problem(problem.means, problem.policies, family=problem.family, costs=c))
    brackets(bound)
    assert bound.relative_error <= 1e-9
    spent = bound.omega * c
    assert spent / spent.sum() == pytest.approx(bound.cost_shares, abs=1e-12)
    assert float(spent.sum()) * bound.queries(0.1) == pytest.approx(bound.cost(0.1), rel=1e-9)  # what its queries cost in all


def test_silence_costs_queries_in_proportion() -> None:
    answered_half = gb.Problem(MEANS, 0.5 * np.array(POLICIES), silent=True, family=gb.Gaussian(1.0))
    assert gb.lower_bound(answered_half).T_star == pytest.approx(2 * (45 + 20 * math.sqrt(2)), rel=1e-9)


@given(
    gaps=st.lists(st.floats(0.01, 5.0), min_size=1, max_size=6),
    weights=st.lists(st.floats(0.01, 1.0), min_size=7, max_size=7),
)
def test_one_mediator_has_a_closed_form(gaps: list[float], weights: list[float]) -> None:
    """Appendix C, off-policy learning: min over rivals of ½ Δ² π_1 π_a/(π_1 + π_a)."""
    pi = np.array(weights[: len(gaps) + 1])
    pi /= pi.sum()
    rivals = [0.5 * gap**2 * pi[0] * p / (pi[0] + p) for gap, p in zip(gaps, pi[1:], strict=True)]
    bound = gb.lower_bound(gb.Problem(np.append(0.0, -np.array(gaps)), [pi], family=gb.Gaussian(1.0)))
    assert bound.T_star == pytest.approx(1 / min(rivals), rel=1e-12)


def test_T_grows_without_bound_as_an_arm_disappears() -> None:
    """Appendix C: T* → ∞ as π(a) → 0."""
    values = [
        gb.lower_bound(gb.Problem([1.0, 0.0], [[p, 1 - p]], family=gb.Gaussian(1.0))).T_star for p in (1e-2, 1e-4, 1e-8, 1e-12)
    ]
    assert values == pytest.approx([2 / (p * (1 - p)) for p in (1e-2, 1e-4, 1e-8, 1e-12)], rel=1e-9)


def value(problem: gb.Problem, omega: np.ndarray) -> float:
    w = problem.policies.T @ omega
    best = int(np.argmax(problem.means))
    rivals = (a for a in range(problem.K) if a != best)
    return float(min(naive.transport(problem.family, problem.means[best], problem.means[a], w[best], w[a]) for a in rivals))


def test_proposition_2_maximisers_form_a_convex_set() -> None:
    """A duplicate makes ω* a set; the midpoint of two maximisers is one too."""
    doubled = gb.Problem(MEANS, [*POLICIES, POLICIES[0]], family=gb.Gaussian(1.0))
    bound = gb.lower_bound(gb.Problem(MEANS, POLICIES, family=gb.Gaussian(1.0)))
    one, other = np.append(bound.omega, 0.0), np.append(bound.omega, 0.0)
    other[0], other[4] = other[4], other[0]
    best = 1 / bound.T_star
    for omega in (one, other, 0.5 * (one + other), gb.lower_bound(doubled).omega):
        assert value(doubled, omega) == pytest.approx(best, rel=1e-9)


def test_a_tie_is_a_status() -> None:
    bound = gb.lower_bound(gb.Problem([1.0, 1.0, 0.5], np.eye(3), family=gb.Gaussian(1.0)))
    assert (bound.status, bound.T_star, bound.T_lower, bound.relative_error) == ("tie", math.inf, math.inf, 0.0)
    assert bound.queries(0.1) == math.inf
    assert bound.queries(0.7) == 0.0
    assert bound.omega == pytest.approx(np.full(3, 1 / 3))


@pytest.mark.parametrize(
    ("means", "family", "word"),
    [
        ([1e-100, 0.0], gb.Gaussian(1.0), "small"),
        ([1e50, -1e50], gb.Gaussian(1e-50), "large"),
        ([1e-310, 0.0], gb.Poisson(), "small"),
        ([0.6, 0.4], gb.Gaussian(1e50), "small"),
    ],
)
def test_gaps_beyond_double_precision_are_refused(means: list[float], family: gb.Family, word: str) -> None:
    with pytest.raises(gb.ProblemError, match=f"the gap between 'arm 1' and 'arm 2' is too {word} for double precision"):
        gb.lower_bound(gb.Problem(means, family=family))


def test_a_plan_without_some_mediators() -> None:
    doubled = gb.Problem(MEANS, [*POLICIES, POLICIES[0]], family=gb.Gaussian(1.0))
    bound = gb.lower_bound(doubled, without=[4])
    assert bound.omega[4] == 0.0
    assert bound.T_star == pytest.approx(45 + 20 * math.sqrt(2), rel=1e-9)
    assert bound.status == "optimal"
    worse = gb.lower_bound(doubled, without=[3])
    assert worse.status == "inexact"  # T* is that of the whole problem, which this plan does not attain
    brackets(worse)
    with pytest.raises(gb.ProblemError, match="leave out fewer"):
        gb.lower_bound(doubled, without=[1, 2, 3])


def test_queries_follow_the_binary_relative_entropy() -> None:
    bound = gb.lower_bound(EXPERIMENT_1)
    for delta in (0.4, 0.1, 1e-12):
        kl = delta * math.log(delta / (1 - delta)) + (1 - delta) * math.log((1 - delta) / delta)
        assert bound.queries(delta) == pytest.approx(kl * bound.T_star)
    assert bound.queries(0.5) == bound.queries(0.9) == 0.0
    for delta in (0.0, 1.0, -1, math.nan):
        with pytest.raises(gb.ProblemError, match=r"delta = .* between 0 and 1"):
            bound.queries(delta)


@pytest.mark.parametrize("tol", [0.0, 1.0, -1e-9, math.nan])
def test_bad_tolerance(tol: float) -> None:
    with pytest.raises(gb.ProblemError, match="tol = "):
        gb.lower_bound(EXPERIMENT_1, tol=tol)


def test_an_unreachable_tolerance_is_inexact_but_true() -> None:
    bound = gb.lower_bound(
        gb.Problem(np.linspace(1, 0, 9), np.random.default_rng(0).dirichlet(np.ones(9), 9), family=gb.Gaussian(1.0)), tol=1e-17
    )
    assert bound.status in ("inexact", "optimal")
    assert bound.relative_error < 1e-12
    assert bound.T_lower <= bound.T_upper
    brackets(bound)


@pytest.mark.plain
def test_a_bounded_family_is_labelled_a_proxy() -> None:
    bound = gb.lower_bound(gb.Problem([0.8, 0.3], family=gb.Bounded(0.0, 1.0)))
    assert bound.is_proxy
    assert bound.T_star == pytest.approx(gb.lower_bound(gb.Problem([0.8, 0.3], family=gb.Bernoulli())).T_star)
    assert not gb.lower_bound(EXPERIMENT_1).is_proxy


@pytest.mark.parametrize("family", here([gb.Bernoulli(), gb.Poisson()]), ids=lambda f: f.name)
def test_means_on_the_boundary(family: gb.Family) -> None:
    for means in ([1.0, 0.0, 0.5], [1.0, 0.9, 0.0], [0.3, 0.0, 0.0]):
        bound = gb.lower_bound(gb.Problem(means, [[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]], family=family))
        assert bound.relative_error <= 1e-9
        brackets(bound)


@pytest.mark.parametrize(("K", "E"), [(2, 1), (2, 200), (60, 2), (40, 40), (25, 80), (5, 300), (20, 1000)])
def test_sizes_and_shapes(K: int, E: int) -> None:
    rng = np.random.default_rng(K * 1000 + E)
    policies = rng.dirichlet(np.full(K, 0.3), size=E) + 1e-9
    policies /= policies.sum(axis=1, keepdims=True)
    problem = gb.Problem(rng.normal(size=K), policies, family=gb.Gaussian(1.0))
    bound = gb.lower_bound(problem)
    assert bound.relative_error <= 1e-9
    assert np.count_nonzero(bound.omega) <= np.count_nonzero(bound.rival_weights) + 1
    lower, upper = naive.certificate(bound)
    assert bound.T_lower == pytest.approx(float(lower), rel=1e-11)
    assert bound.T_upper == pytest.approx(float(upper), rel=1e-11)


@pytest.mark.parametrize("everyone_matters", [False, True])
def test_of_many_arms_and_mediators_a_few_are_solved_at_a_time(everyone_matters: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, K, E = np.random.default_rng(1), 40, 30
    policies, means = rng.dirichlet(np.full(K, 0.05), size=E) + 1e-6, rng.random(K)
    if everyone_matters:  # each arm has a mediator of its own, and all rivals are as close
        policies, means = np.eye(K) + 1e-6, np.array([1.0] + [0.0] * (K - 1))
    problem = gb.Problem(means, policies / policies.sum(axis=1, keepdims=True), family=gb.Gaussian(1.0))
    whole, sizes = gb.lower_bound(problem), list[tuple[int, int]]()

    def noted(K: int, E: int) -> Workspace:
        sizes.append((K, E))
        return new_workspace(K, E)

    monkeypatch.setattr(bounds, "LARGE", 1)
    monkeypatch.setattr(game, "FEW", 4)
    monkeypatch.setattr(game, "new_workspace", noted)
    with monkeypatch.context() as only:
        only.setattr(bounds, "new_workspace", None)  # all at once is not resorted to
        found = gb.lower_bound(problem)
    assert (found.T_lower, found.T_upper) == pytest.approx((whole.T_lower, whole.T_upper), rel=1e-8)
    lower, upper = naive.certificate(found)
    assert (found.T_lower, found.T_upper) == pytest.approx((float(lower), float(upper)), rel=1e-11)
    assert len(sizes) > 1
    assert (sizes[-1] == (K, K)) if everyone_matters else sizes[-1][0] < K / 2
    with pytest.raises(gb.ProblemError, match="leave out fewer"):
        gb.lower_bound(problem, without=range(len(problem.mediators)))


def test_a_bound_shows_itself_shortly() -> None:
    problem = gb.Problem({"x": 1.0, "y": 0.0}, {"m": [0.5, 0.5], "<n>": [0.1, 0.9]}, family=gb.Gaussian(1.0))
    bound = gb.lower_bound(problem)
    assert repr(bound).startswith("LowerBound(T* = 8 queries, optimal, error ")
    page = bound._repr_html_()
    assert "<td>m</td><td>100.00%</td>" in page
    assert "&lt;n&gt;" in page
    assert "share of cost" not in page
    priced = gb.lower_bound(gb.Problem([1.0, 0.0], problem.policies, costs=[2.0, 1.0], family=gb.Gaussian(1.0)))
    assert " cost, " in repr(priced)
    assert "share of cost" in priced._repr_html_()
    tied = gb.lower_bound(gb.Problem([1.0, 1.0], family=gb.Gaussian(1.0)))
    assert repr(tied) == "LowerBound(T* = inf queries, tie, error 0)"
    assert "100" not in tied._repr_html_()
