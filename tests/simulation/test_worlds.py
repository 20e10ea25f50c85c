"""What a simulated world keeps apart: rule and world, one run and the next, what is declared and what is true."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import gobetween as gb
from gobetween.core.ground.tally import new_state
from gobetween.core.run.loops import choose, observe
from gobetween.simulation.worlds import drawn_policies

NORTH = [[0.5, 0.5], [0.05, 0.95]]
SOUTH = NORTH[::-1]
TWINS = gb.Problem([0.7, 0.4], [[0.5, 0.5]] * 2, family="bernoulli")


def shares(sampling: Any, declared: Any) -> Any:
    """Of the queries of each mediator."""
    found = gb.simulate(TWINS, sampling, gb.GLR(), 1e-300, runs=20, seed=2, workers=1, max_steps=300, declared=declared)
    return found.N_e[:, 0].mean(axis=0) / 300


def test_every_one_of_tied_best_arms_is_a_right_answer() -> None:
    problem = gb.Problem([1.0, 1.0, -9.0], [[0.4, 0.4, 0.2]], family=gb.Gaussian(1.0))
    found = gb.simulate(problem, "cyclic", gb.EProcess(), 0.9, runs=40, seed=1, workers=1, max_steps=200)
    assert (~found.censored).sum() >= 10  # by chance; either arm may be named
    assert (found.correct == ~found.censored).all()
    third = gb.Problem([1.0, 1.0, 2.5], [[0.4, 0.4, 0.2]], family=gb.Gaussian(1.0))
    assert gb.simulate(third, "cyclic", runs=4, seed=1, workers=1, max_steps=2000).correct.all()


def test_a_rule_that_draws_leaves_the_world_as_it_is() -> None:
    """Mediators with one policy: whoever is asked, the world pulls and pays the same, so that rules can be compared."""
    game = gb.Problem([1.0, 0.3, 0.0], [[0.4, 0.3, 0.3]] * 3, family=gb.Gaussian(1.0))
    found = [
        gb.simulate(game, rule, gb.EProcess(), [0.3, 0.05], runs=4, seed=5, workers=1, max_steps=3000)
        for rule in (gb.UniformSampling(), gb.UniformSampling(order="cyclic"), gb.Static([0.2, 0.2, 0.6]))
    ]
    for other in found[1:]:
        assert (other.tau == found[0].tau).all()
        assert (other.N_a == found[0].N_a).all()
    assert (found[0].N_e != found[1].N_e).any()


def test_a_rule_believes_what_is_declared() -> None:
    """Two mediators that are the same; the declared policies say that one of them hardly shows the first arm. Where answers
    refute that in time, both are asked alike.
    """
    north, south = shares(gb.Tracking(), NORTH), shares(gb.Tracking(), SOUTH)
    assert north[0] > 0.6
    assert south[1] > 0.7


@pytest.mark.parametrize("tracking", ["C", "D"])
def test_unknown_policies_are_not_looked_at(tracking: str) -> None:
    rule = gb.Tracking(policies="unknown", tracking=tracking)
    assert shares(rule, NORTH).tolist() == shares(rule, SOUTH).tolist() == shares(rule, None).tolist()


@pytest.mark.parametrize("sampling", [gb.Tracking(policies="unknown"), gb.Tracking(), gb.Tracking(tracking="D")], ids=repr)
def test_a_new_run_knows_nothing_of_the_one_before(sampling: gb.Tracking) -> None:
    everyone, costs, family = np.ones(2, np.bool_), np.ones(2), gb.Bernoulli()
    rng = np.random.default_rng(4)
    used, fresh = (sampling.at_work(np.array(NORTH), everyone, costs) for _ in range(2))
    state = new_state(2, 2)
    for t in range(30):
        e = choose(family, used, state, t, everyone, 0.0)
        observe(family, used, state, t + 1, e, int(rng.random() < 0.5), float(rng.random() < 0.5))
    used.restart()
    assert (used.R == fresh.R).all()
    for name in ("target", "point", "bounds"):
        assert used.to_dict()[name] == fresh.to_dict()[name], name


@pytest.mark.parametrize("steps", [100, 500])
def test_d_tracking_forgets_nobody(steps: int) -> None:
    """Garivier and Kaufmann's Lemma 8: each of E has been asked √t − E/2 times or more, but for one query."""
    E = 6
    problem = gb.Problem([1.0, 0.0], [[0.5, 0.5]] + [[0.01, 0.99]] * (E - 1), family=gb.Gaussian(1.0))
    found = gb.simulate(problem, gb.Tracking(tracking="D"), gb.GLR(), 1e-300, 1, seed=1, workers=1, max_steps=steps)
    floor = math.sqrt(steps) - E / 2
    assert (found.N_e[0, 0] >= floor - 1).all()
    assert found.N_e[0, 0, 1:].max() <= floor + 2  # and no more than that: the others show the best arm too seldom


def test_policies_are_drawn_from_what_a_mediator_may_still_do() -> None:
    """Half an answer is added to each arm that it may pull, seen or not, and to silence; never to one outside its support."""
    known = np.array([[np.nan, np.nan, np.nan], [np.nan, np.nan, 0.0], [0.2, 0.3, 0.5]])
    counts = np.array([[7, 0, 0], [7, 0, 0], [7, 0, 0]])
    rng = np.random.default_rng(0)
    for N_ea, expected in (
        (counts, [[15 / 17, 1 / 17, 1 / 17], [15 / 16, 1 / 16, 0.0], known[2]]),
        (np.pad(counts, ((0, 0), (0, 1))), [[15 / 18, 1 / 18, 1 / 18], [15 / 17, 1 / 17, 0.0], known[2]]),
    ):
        drawn = np.array([drawn_policies(known, N_ea, rng) for _ in range(4000)])
        assert drawn.mean(axis=0) == pytest.approx(np.array(expected), abs=0.006)
        assert (drawn[:, 1, 2] == 0.0).all()
        assert (drawn[:, 2] == known[2]).all()


def test_risks_may_come_in_any_order() -> None:
    """Each column of what was found is that of its own risk."""
    deltas = (0.3, 0.1, 0.02)
    found = gb.simulate(TWINS, gb.UniformSampling(), gb.GLR(), deltas, runs=4, seed=3, workers=1)
    assert (np.diff(found.tau, axis=1) > 0).any()
    for order in itertools.permutations(range(3)):
        other = gb.simulate(TWINS, gb.UniformSampling(), gb.GLR(), [deltas[d] for d in order], runs=4, seed=3, workers=1)
        for name in ("tau", "correct", "censored", "N_e", "N_a"):
            assert (getattr(other, name) == getattr(found, name)[:, list(order)]).all(), (order, name)
