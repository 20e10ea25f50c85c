"""Simulation and live use run the same step: same seed and data, same queries, same bits."""

import math
from typing import Any

import numpy as np
import pytest

import gobetween as gb
from gobetween.core.ground.jit import ENABLED
from gobetween.testing import same_steps

POLICIES = [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]]
MEANS = [1.5, 1.0, 0.7, 0.5]
EXPERIMENT_1 = gb.Problem(MEANS, POLICIES, family=gb.Gaussian(1.0))
MOST = 3000 if ENABLED else 1000

SAMPLING = [
    gb.Tracking(),
    gb.Tracking(tracking="D"),
    gb.Tracking(policies="unknown"),
    gb.Tracking(prune=True),
    gb.UniformSampling(),
    gb.UniformSampling(order="cyclic"),
    gb.Static([0.4, 0.1, 0.2, 0.3]),
]
STOPPING = [
    gb.EProcess(),
    gb.GLR(),
    gb.GLR(rate="garivier-kaufmann"),
    gb.GLR(rate="kaufmann-koolen"),
    gb.GLR(rate="heuristic"),
]
PROBLEMS = {
    "gaussian": EXPERIMENT_1,
    "bernoulli": gb.Problem(
        [0.7, 0.5, 0.4, 0.2], 0.9 * np.array(POLICIES), family=gb.Bernoulli(), silent=True, costs=[1, 2, 1, 3]
    ),
    "poisson": gb.Problem([3.0, 2.0, 1.0, 0.5], POLICIES, family=gb.Poisson()),
    "exponential": gb.Problem([3.0, 2.0, 1.0, 0.5], POLICIES, family=gb.Exponential()),
    "bounded": gb.Problem([0.9, 0.5, 0.3, 0.1], POLICIES, family=gb.Bounded(0.0, 1.0)),
    "gamma": gb.Problem([3.0, 2.0, 1.0, 0.5], POLICIES, family=gb.Gamma(2.0)),
    "binomial": gb.Problem([3.0, 2.0, 1.0, 0.5], POLICIES, family=gb.Binomial(4)),
    "geometric": gb.Problem([6.0, 3.0, 2.0, 1.5], POLICIES, family=gb.Geometric()),
    "negative-binomial": gb.Problem([3.0, 2.0, 1.0, 0.5], POLICIES, family=gb.NegativeBinomial(1.5)),
}
COMPILED = ["gaussian", "bernoulli"]  # each further family costs a minute of compilation; without the JIT all are run


def cases() -> list[tuple[str, object, object]]:
    found: list[tuple[str, object, object]] = []
    for name in COMPILED if ENABLED else PROBLEMS:
        few = name not in COMPILED
        rules = [(SAMPLING[0], STOPPING[0]), (SAMPLING[2], STOPPING[3])] if few else [(s, STOPPING[0]) for s in SAMPLING]
        rules += [] if few else [(SAMPLING[0], stop) for stop in STOPPING[1:]]
        found += [(name, sampling, stopping) for sampling, stopping in rules]
    return found


@pytest.mark.parametrize(("name", "sampling", "stopping"), cases(), ids=str)
def test_engine_and_learner_take_the_same_steps(name: str, sampling: gb.Tracking, stopping: gb.EProcess) -> None:
    same_steps(PROBLEMS[name], sampling, stopping, delta=1e-6, most=MOST)


@pytest.mark.parametrize("sampling", [gb.Tracking(), gb.UniformSampling()], ids=repr)
def test_the_result_does_not_depend_on_the_workers(sampling: gb.Tracking) -> None:
    runs = 40 if ENABLED else 4
    one = gb.simulate(EXPERIMENT_1, sampling, gb.GLR(), [0.1, 0.4], runs, seed=3, workers=1, max_steps=2000)
    for workers in (2, 3):
        other = gb.simulate(EXPERIMENT_1, sampling, gb.GLR(), [0.1, 0.4], runs, seed=3, workers=workers, max_steps=2000)
        for field in ("tau", "correct", "censored", "N_e", "N_a"):
            assert (getattr(one, field) == getattr(other, field)).all()
    assert (one.tau[:, 0] >= one.tau[:, 1]).all()
    assert (one.N_e.sum(axis=2) == one.tau).all()
    assert (one.N_a.sum(axis=2) == one.tau).all()


@pytest.mark.parametrize("sampling", [gb.Tracking(), gb.Tracking(tracking="D"), gb.Tracking(policies="unknown")], ids=repr)
def test_with_costs_tracking_follows_query_shares(sampling: gb.Tracking) -> None:
    """N_e/t approaches ω ∝ ρ/c, not the shares of cost."""
    problem = gb.Problem([1.0, 0.0], [[0.9, 0.1], [0.1, 0.9]], costs=[4.0, 1.0], family=gb.Gaussian(1.0))
    steps = 20_000 if ENABLED else 600
    runs = gb.simulate(problem, sampling, gb.GLR(), 1e-300, 2, seed=4, workers=1, max_steps=steps)
    shares = runs.N_e[:, 0, :] / runs.tau[:, :1]
    bound = gb.lower_bound(problem)
    assert np.abs(bound.omega - bound.cost_shares).max() > 0.1
    assert np.abs(shares - bound.omega).max() < (0.03 if ENABLED else 0.1)


@pytest.mark.parametrize("sampling", [gb.Tracking(), gb.Tracking(policies="unknown")], ids=repr)
def test_before_all_arms_are_seen_and_in_ties_shares_are_uniform(sampling: gb.Tracking) -> None:
    learner = gb.Learner(2, [[0.5, 0.5], [0.2, 0.8], [0.6, 0.4]], family=gb.Bernoulli(), sampling=sampling)
    assert {learner.ask().mediator for _ in range(3)} == set(learner.mediators)  # nothing seen: everyone in turn
    assert list(learner.progress.target.values()) == pytest.approx([1 / 3] * 3)
    for number, arm in enumerate(("arm 1", "arm 2", "arm 1")):
        learner.tell(number, arm=arm, reward=1)
    learner.ask()  # both estimates are 1: a tie
    assert sum(learner.progress.target.values()) == pytest.approx(1.0)
    assert max(learner.progress.target.values()) == pytest.approx(1 / 3, abs=1e-12)
    assert learner.progress.queries_to_go == math.inf


def test_censoring() -> None:
    runs = gb.simulate(EXPERIMENT_1, gb.Tracking(), gb.GLR(), [0.4, 1e-30], 5, seed=1, max_steps=50, workers=1)
    assert runs.censored.all()
    assert (runs.tau == 50).all()
    assert not runs.correct.any()
    assert (runs.N_e.sum(axis=2) == 50).all()


@pytest.mark.compiled
def test_the_paper_is_reproduced() -> None:
    """Table 1, TaS-MF-k, MF-u and Uniform within four standard errors and 4% of the paper's means."""
    deltas = [0.4, 0.1, 0.01, 0.001]
    printed: dict[Any, list[float]] = {
        gb.Tracking(): [863.87, 990.27, 1179.11, 1376.72],
        gb.Tracking(policies="unknown"): [883.52, 1013.14, 1205.61, 1378.14],
        gb.UniformSampling(): [1689.71, 1891.62, 2245.46, 2619.26],
    }
    for sampling, means in printed.items():
        runs = gb.simulate(EXPERIMENT_1, sampling, gb.GLR(), deltas, 1000, seed=1)
        error = runs.tau.std(axis=0) / math.sqrt(1000)
        assert (np.abs(runs.tau.mean(axis=0) - means) <= 0.04 * np.array(means) + 4 * error).all()
        assert runs.correct.all()


@pytest.mark.compiled
def test_the_default_rules_need_less_than_half_of_the_paper() -> None:
    runs = gb.simulate(EXPERIMENT_1, deltas=[0.4, 0.1, 0.01, 0.001], runs=20_000, seed=5)
    assert (runs.tau.mean(axis=0) <= [300, 430, 650, 860]).all()
    assert runs.correct.mean() > 0.99


@pytest.mark.compiled
@pytest.mark.parametrize("stopping", [gb.EProcess(), gb.GLR()], ids=repr)
@pytest.mark.parametrize("name", ["gaussian", "bernoulli"])
def test_wrong_answers_are_rarer_than_delta(name: str, stopping: gb.EProcess) -> None:
    from scipy.stats import beta

    rare = [[0.02, 0.98], [0.9, 0.1]]
    problem = {
        "gaussian": gb.Problem([0.5, 0.0], rare, family=gb.Gaussian(1.0)),
        "bernoulli": gb.Problem([0.7, 0.5], rare, family=gb.Bernoulli()),
    }[name]
    runs = gb.simulate(problem, gb.Tracking(), stopping, 0.1, 4000, seed=8)
    wrong = int((~runs.correct).sum())
    assert not runs.censored.any()
    assert beta.ppf(0.999, wrong + 1, 4000 - wrong) <= 0.1  # Clopper–Pearson


def test_bad_arguments() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"deltas": []}, "deltas is empty"),
        ({"deltas": 1.5}, "between 0 and 1"),
        ({"runs": 0}, "runs = 0: must be a whole number, 1 or more"),
        ({"seed": -1}, "seed = -1: must be a whole number, 0 or more"),
        ({"workers": 0}, "workers = 0"),
        ({"max_steps": 0}, "max_steps = 0"),
        ({"sampling": gb.Static([0.5, 0.5])}, "omega of Static has 2 shares for 4 mediators"),
    ]
    for arguments, message in cases:
        with pytest.raises(gb.ProblemError, match=message):
            gb.simulate(EXPERIMENT_1, **arguments)
    with pytest.raises(gb.ProblemError, match="prune=True needs known policies"):
        gb.Tracking(policies="unknown", prune=True)
    with pytest.raises(gb.ProblemError, match="tracking = 'E': choose 'C' or 'D'"):
        gb.Tracking(tracking="E")
    with pytest.raises(gb.ProblemError, match="omega of Static must be"):
        gb.Static([0.5, 0.6])
    with pytest.raises(gb.ProblemError, match="rate = 'best'"):
        gb.GLR(rate="best")
    with pytest.raises(gb.ProblemError, match="alpha belongs to rate='paper'"):
        gb.GLR(rate="heuristic", alpha=2.0)
