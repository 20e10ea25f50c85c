"""Random numbers of simulated runs: a stream for each arm, whatever a rule asks."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import pytest
from scipy import stats

import gobetween as gb
from gobetween.core.ground.jit import index
from gobetween.core.problem.cast import ladder
from gobetween.core.run import streams
from gobetween.core.run.loops import respond
from gobetween.core.run.streams import AHEAD, begin_run, seeded, world_of_runs
from gobetween.simulation.engine import new_job, run_chunk

PROBLEM = gb.Problem([1.5, 1.0, 0.5], [[0.1, 0.8, 0.1], [0.3, 0.3, 0.4]], family=gb.Gaussian(1.0))


def played(run: int, asked: Iterable[int], seed: int = 3, runs: range = range(8)) -> tuple[list[int], list[float]]:
    """What mediators pull and arms pay in a run, asked in this order."""
    world = seeded(world_of_runs(PROBLEM.K, False), seed, runs)
    begin_run(world, index(run - runs.start))
    rows, means = ladder(PROBLEM.policies, False), PROBLEM.means.copy()
    found = [respond(PROBLEM.family, means, rows, world, index(e)) for e in asked]
    return [int(a) for a, _ in found], [float(x) for _, x in found]


def sequences(asked: list[int], run: int = 2) -> dict[str, list[float]]:
    """The rewards of each arm, in their own order."""
    found: dict[str, list[float]] = defaultdict(list)
    for a, x in zip(*played(run, asked), strict=True):
        found[f"arm {a}"].append(x)
    return found


def test_the_next_reward_of_an_arm_does_not_depend_on_who_was_asked_before() -> None:
    n = 5 * AHEAD
    one, other = sequences([0, 1] * n), sequences([1] * n + [0] * n)
    for name, told in one.items():
        both = min(len(told), len(other[name]))
        assert both > AHEAD
        assert told[:both] == other[name][:both]


def test_a_run_follows_from_the_seed_and_its_number_alone() -> None:
    asked = [0, 1, 1, 0] * AHEAD
    assert played(5, asked) == played(5, asked, runs=range(5, 6))
    assert played(5, asked) != played(4, asked)
    assert played(5, asked) != played(5, asked, seed=4)
    job = new_job(PROBLEM, "pursuit", "e-process", [0.1, 0.01], 7, 10_000)
    eight = run_chunk(job, range(8))
    for run in (0, 3, 7):
        alone = run_chunk(job, range(run, run + 1))
        for name in ("tau", "correct", "N_e", "N_a"):
            assert (getattr(alone, name)[0] == getattr(eight, name)[run]).all(), name


@pytest.mark.parametrize("rule", [gb.UniformSampling(), gb.Tracking()])
def test_a_rule_that_draws_has_a_stream_of_its_own(rule: gb.SamplingRule) -> None:
    job = new_job(PROBLEM, rule, "e-process", [0.1], 7, 10_000)
    assert (run_chunk(job, range(2, 4)).tau == run_chunk(job, range(4)).tau[2:]).all()


def test_streams_are_even_and_know_nothing_of_each_other() -> None:
    runs, n = range(400), PROBLEM.K + 1
    world = seeded(world_of_runs(PROBLEM.K, False), 11, runs)
    first = np.empty((len(runs), n, 2 * AHEAD))
    for run in runs:
        begin_run(world, index(run))
        for k in range(n):
            first[run, k] = [streams.chance(world, index(k)) for _ in range(2 * AHEAD)]
    assert stats.kstest(first.ravel(), "uniform").pvalue > 1e-3
    flat = first.reshape(len(runs), -1)
    for a, b in ((flat[:-1].ravel(), flat[1:].ravel()), (first[:, 0].ravel(), first[:, 1].ravel())):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4.0 / np.sqrt(len(a))
    # no two streams begin alike
    assert len(np.unique(first[:, :, 0])) == len(runs) * n


def test_another_layout_of_numpy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np.ctypeslib, "as_array", lambda _: np.zeros(5, np.uint64))
    with pytest.raises(RuntimeError, match="keeps the state of SFC64 where it was not looked for"):
        world_of_runs(2, False)


def test_paired_runs_halve_the_interval_of_a_difference() -> None:
    """Of rules that differ, at the same number of runs: against runs of other seeds."""
    policies = [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]]
    problem = gb.Problem([1.5, 1.0, 0.7, 0.5], policies, family=gb.Gaussian(1.0))
    one, other, apart = (
        gb.simulate(problem, sampling, "e-process", 0.1, 160, seed=seed).tau[:, 0]
        for sampling, seed in (("pursuit", 1), ("tracking", 1), ("tracking", 2))
    )
    assert np.corrcoef(one, other)[0, 1] > 0.8
    assert (one - other).std() < 0.5 * (one - apart).std()
