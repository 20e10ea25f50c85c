"""Simulation: the step in a compiled loop, many runs, one seed."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from os import cpu_count

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.bound import binary_kl
from gobetween.core.families import Family, draw
from gobetween.core.jit import index, leaf
from gobetween.core.problem import Problem
from gobetween.core.round import observe, verdict
from gobetween.core.sampling import (
    RANDOM,
    Sampler,
    Sampling,
    Static,
    Tracking,
    UniformSampling,
    choose,
    new_sampler,
    resolve,
    restart,
)
from gobetween.core.state import State, clear, new_state
from gobetween.core.stopping import EProcess, Stopper, Stopping, constant, new_stopper
from gobetween.core.types import Bools, Floats, Ints
from gobetween.errors import ProblemError

CHUNK = 16
NONE = index(0)


@dataclass(frozen=True)
class Runs:
    """Outcomes of many runs; the axis of δ follows `deltas`."""

    deltas: tuple[float, ...]
    tau: Ints
    """[runs, deltas] queries until the rule stopped; where censored, the queries made."""
    correct: Bools
    """[runs, deltas] was the best arm named? False where censored."""
    censored: Bools
    """[runs, deltas] had the rule not stopped after max_steps queries?"""
    N_e: Ints
    """[runs, deltas, E] queries of each mediator by then."""
    N_a: Ints
    """[runs, deltas, K] pulls of each arm by then."""


@leaf
def pull(cumulative: Floats, e: int, u: float) -> int:
    """The arm that mediator e pulls when chance says u ∈ [0, 1); K when it answers nothing."""
    K: int = cumulative.shape[1]
    for a in range(K):
        if u < cumulative[e, a]:
            return a
    return K


@leaf
def episode(
    family: Family,
    means: Floats,
    cumulative: Floats,
    sampler: Sampler,
    stopper: Stopper,
    constants: Floats,
    state: State,
    available: Bools,
    most: int,
    rule_rng: np.random.Generator,
    world: np.random.Generator,
    tau: Ints,
    named: Ints,
    N_e: Ints,
    N_a: Ints,
) -> int:
    """One run: writes when each constant was passed, who was named and the counts then; returns how many were passed."""
    restart(sampler)
    clear(state)
    passed, t = NONE, NONE
    while passed < constants.shape[0] and t < most:
        e = choose(family, sampler, state, t, available, rule_rng)
        state.N_e[e] += 1
        a = pull(cumulative, e, world.random())
        observe(sampler, state, e, a, draw(family, means[a], world) if a < means.shape[0] else 0.0)
        t += 1
        best, now = verdict(family, stopper, state.tally, t, constants, passed)
        while passed < now:
            tau[passed], named[passed] = t, best
            for i in range(state.N_e.shape[0]):
                N_e[passed, i] = state.N_e[i]
            for i in range(means.shape[0]):
                N_a[passed, i] = state.tally.N_a[i]
            passed += 1
    return passed


def simulate(
    problem: Problem,
    sampling: Sampling = Tracking(),  # noqa: B008 - an immutable value
    stopping: Stopping = EProcess(),  # noqa: B008 - an immutable value
    deltas: float | Sequence[float] = 0.1,
    runs: int = 100,
    seed: int = 0,
    workers: int | None = None,
    max_steps: int = 10_000_000,
    progress: Callable[[int], None] | None = None,
    declared: ArrayLike | None = None,
) -> Runs:
    """Run a sampling and a stopping rule on a problem many times; one path serves every δ.

    The result depends on the seed alone, not on the number of workers (threads; by default one for each core). A run that has
    not stopped after max_steps queries is censored. `progress` is told how many runs have just been finished. `declared`: the
    policies that the sampling rule believes in, where they are not the true ones.
    """
    wanted = (float(deltas),) if isinstance(deltas, (int, float)) else tuple(float(delta) for delta in deltas)
    _check(wanted, runs, seed, workers, max_steps)
    result = _empty(problem, wanted, runs)
    chunks = [range(first, min(first + CHUNK, runs)) for first in range(0, runs, CHUNK)]
    believed = problem.policies
    if declared is not None:
        believed = Problem(problem.means, declared, family=problem.family, silent=problem.silent).policies
        if believed.shape != problem.policies.shape:
            raise ProblemError(f"declared has {len(believed)} rows for {problem.E} mediators")
    work = partial(_run_chunk, problem, believed, resolve(sampling, problem), stopping, seed, max_steps, result, progress)
    count = min(workers or cpu_count() or 1, len(chunks))
    if count == 1:
        for chunk in chunks:
            work(chunk)
        return result
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, chunks))
    return result


def stream(seed: int, run: int, k: int) -> np.random.Generator:
    """The k-th stream of random numbers of a run: 0 is the world's, 1 the sampling rule's."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(run, k))))


def _check(deltas: tuple[float, ...], runs: int, seed: int, workers: int | None, max_steps: int) -> None:
    if not deltas:
        raise ProblemError("deltas is empty: name at least one risk, such as 0.05")
    for delta in deltas:
        binary_kl(delta)
    numbers: dict[str, tuple[object, int]] = {"runs": (runs, 1), "seed": (seed, 0), "max_steps": (max_steps, 1)}
    numbers["workers"] = (1 if workers is None else workers, 1)
    for name, (value, least) in numbers.items():
        if not isinstance(value, int) or value < least:
            raise ProblemError(f"{name} = {value!r}: must be a whole number, {least} or more")


def _empty(problem: Problem, deltas: tuple[float, ...], runs: int) -> Runs:
    shape = (runs, len(deltas))
    return Runs(
        deltas,
        np.zeros(shape, np.int64),
        np.zeros(shape, np.bool_),
        np.zeros(shape, np.bool_),
        np.zeros((*shape, problem.E), np.int64),
        np.zeros((*shape, problem.K), np.int64),
    )


def _run_chunk(
    problem: Problem,
    believed: Floats,
    sampling: Tracking | UniformSampling | Static,
    stopping: Stopping,
    seed: int,
    max_steps: int,
    result: Runs,
    progress: Callable[[int], None] | None,
    chunk: range,
) -> None:
    """Run some of the runs, each from a seed of its own, into their rows of the result."""
    constants = np.array([constant(stopping, problem.K, delta, problem.family) for delta in result.deltas])
    order = np.argsort(constants, kind="stable")
    means, cumulative = problem.means.copy(), np.cumsum(problem.policies, axis=1)
    if not problem.silent:
        cumulative[:, -1] = np.inf  # rows sum to 1 only up to rounding
    costs = np.ones(problem.E) if problem.costs is None else problem.costs
    sampler = new_sampler(sampling, believed, np.ones(problem.E, np.bool_), costs)
    stopper, state = new_stopper(stopping, problem.family), new_state(problem.K, problem.E)
    available = np.ones(problem.E, np.bool_)
    D = len(constants)
    tau, named = np.zeros(D, np.int64), np.zeros(D, np.int64)
    N_e, N_a = np.zeros((D, problem.E), np.int64), np.zeros((D, problem.K), np.int64)
    best = np.flatnonzero(problem.means == problem.means.max())
    for run in chunk:
        world = stream(seed, run, 0)
        own = stream(seed, run, 1) if sampler.kind == RANDOM else world  # no other rule draws
        tau[:] = max_steps
        passed = episode(
            problem.family, means, cumulative, sampler, stopper, constants[order], state, available, max_steps, own, world,
            tau, named, N_e, N_a,
        )  # fmt: skip
        N_e[passed:], N_a[passed:] = state.N_e, state.tally.N_a
        result.tau[run, order], result.N_e[run, order], result.N_a[run, order] = tau, N_e, N_a
        result.censored[run, order] = np.arange(D) >= passed
        result.correct[run, order] = np.isin(named, best) & (np.arange(D) < passed)
    if progress:
        progress(len(chunk))
