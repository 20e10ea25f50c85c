"""Simulation: the step in a compiled loop, many runs, one seed."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from os import cpu_count
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.bound import binary_kl
from gobetween.core.families import Family, draw
from gobetween.core.jit import index, leaf
from gobetween.core.problem import Problem
from gobetween.core.sampling import (
    RANDOM,
    Sampler,
    Sampling,
    Static,
    Tracking,
    UniformSampling,
    choose,
    kept_members,
    new_sampler,
    resolve,
    restart,
)
from gobetween.core.state import State, clear, new_state
from gobetween.core.step import observe, verdict
from gobetween.core.stopping import EProcess, Stopper, Stopping, constant, new_stopper
from gobetween.core.types import Bools, Floats, Ints
from gobetween.errors import ProblemError
from gobetween.files.rules import word
from gobetween.simulation.runs import Runs, together

CHUNK = 8
RUNS = 1000
MAX_STEPS = 10_000_000
NONE = index(0)


@leaf
def pull(cumulative: Floats, e: int, u: float) -> int:
    """The arm that mediator e pulls when chance says u ∈ [0, 1); K when it answers nothing."""
    K: int = cumulative.shape[1]
    for a in range(K):
        if u < cumulative[e, a]:
            return a
    return K


@leaf
def record(state: State, t: int, best: int, tau: Ints, named: Ints, N_e: Ints, N_a: Ints, d: int) -> None:
    """Note in row d that `best` was named after t queries, and the counts by then."""
    tau[d], named[d] = t, best
    for i in range(N_e.shape[1]):
        N_e[d, i] = state.N_e[i]
    for i in range(N_a.shape[1]):
        N_a[d, i] = state.tally.N_a[i]


@leaf
def episodes(
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
) -> None:
    """Run after run, one for each row of `tau`: when each constant was passed, the arm named (−1: none), the counts then."""
    for run in range(tau.shape[0]):
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
                record(state, t, best, tau[run], named[run], N_e[run], N_a[run], passed)
                passed += 1
        while passed < constants.shape[0]:
            record(state, t, -1, tau[run], named[run], N_e[run], N_a[run], passed)
            passed += 1


def simulate(
    problem: Problem,
    sampling: Sampling = Tracking(),  # noqa: B008 - an immutable value
    stopping: Stopping = EProcess(),  # noqa: B008 - an immutable value
    deltas: float | Sequence[float] = 0.1,
    runs: int = 100,
    seed: int = 0,
    workers: int | None = None,
    max_steps: int = MAX_STEPS,
    progress: Callable[[int], None] | None = None,
    declared: ArrayLike | None = None,
) -> Runs:
    """Run a sampling and a stopping rule on a problem many times; one path serves every δ.

    The result depends on the seed alone, not on the number of workers (threads; by default one for each core). A run that has
    not stopped after max_steps queries is censored. `progress` is told how many runs have just been finished. `declared`: the
    policies that the sampling rule believes in, where they are not the true ones.
    """
    job = new_job(problem, sampling, stopping, deltas, seed, max_steps, declared)
    check_whole({"runs": (runs, 1), "workers": (1 if workers is None else workers, 1)})
    chunks = [range(first, min(first + CHUNK, runs)) for first in range(0, runs, CHUNK)]

    def work(chunk: range) -> Runs:
        found = run_chunk(job, chunk)
        if progress:
            progress(len(chunk))
        return found

    count = min(workers or cpu_count() or 1, len(chunks))
    if count == 1:
        found = together(map(work, chunks))
    else:
        with ThreadPoolExecutor(count) as pool:
            found = together(pool.map(work, chunks))
    return replace(found, problem=problem, sampling=word(sampling), stopping=word(stopping))


@dataclass(frozen=True)
class Job:
    """What every run of a simulation has in common; checked."""

    problem: Problem
    believed: Floats
    members: Ints
    costs: Floats
    sampling: Tracking | UniformSampling | Static
    stopping: Stopping
    deltas: tuple[float, ...]
    seed: int
    max_steps: int


def new_job(
    problem: Problem,
    sampling: Sampling,
    stopping: Stopping,
    deltas: float | Sequence[float],
    seed: int,
    max_steps: int,
    declared: ArrayLike | None = None,
) -> Job:
    """Check and resolve the arguments of `simulate` that do not say how many runs."""
    wanted = (float(deltas),) if isinstance(deltas, (int, float)) else tuple(float(delta) for delta in deltas)
    if not wanted:
        raise ProblemError("deltas is empty: name at least one risk, such as 0.05")
    for delta in wanted:
        binary_kl(delta)
    check_whole({"seed": (seed, 0), "max_steps": (max_steps, 1)})
    believed = problem.policies
    if declared is not None:
        believed = Problem(problem.means, declared, family=problem.family, silent=problem.silent).policies
        if believed.shape != problem.policies.shape:
            raise ProblemError(f"declared has {len(believed)} rows for {problem.E} mediators")
    rule = resolve(sampling, problem)
    costs = problem.query_costs
    members = kept_members(rule, believed, np.ones(problem.E, np.bool_), costs)
    new_sampler(rule, believed, np.ones(problem.E, np.bool_), costs, members)  # refuses what does not fit
    return Job(problem, believed, members, costs, rule, stopping, wanted, seed, max_steps)


def check_whole(numbers: dict[str, tuple[object, int]]) -> None:
    """Refuse what is not a whole number or under its least value: name → (value, least)."""
    for name, (value, least) in numbers.items():
        if not isinstance(value, int) or value < least:
            raise ProblemError(f"{name} = {value!r}: must be a whole number, {least} or more")


def run_chunk(job: Job, chunk: range) -> Runs:
    """The runs of one chunk; it begins at a multiple of CHUNK, whose number seeds it: others need not have been run."""
    problem = job.problem
    bench = _bench(job)
    sampler, state, constants = bench.sampler, bench.state, bench.constants
    world = stream(job.seed, chunk.start // CHUNK, 0)
    own = stream(job.seed, chunk.start // CHUNK, 1) if sampler.kind == RANDOM else world  # no other rule draws
    shape = (len(chunk), len(constants))
    tau, named = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    N_e, N_a = np.zeros((*shape, problem.E), np.int64), np.zeros((*shape, problem.K), np.int64)
    episodes(
        problem.family, bench.means, bench.ladder, sampler, bench.stopper, constants, state, bench.available,
        job.max_steps, own, world, tau, named, N_e, N_a,
    )  # fmt: skip
    back = bench.back
    censored = named < 0
    correct = ~censored & (problem.means == problem.means.max())[named]
    return Runs(job.deltas, tau[:, back], correct[:, back], censored[:, back], N_e[:, back], N_a[:, back])


class Bench(NamedTuple):
    """What a thread needs to run a job, made once."""

    sampler: Sampler
    stopper: Stopper
    state: State
    available: Bools
    means: Floats
    ladder: Floats
    constants: Floats  # in increasing order
    back: Ints  # where each δ stands in that order


_own = threading.local()


def _bench(job: Job) -> Bench:
    """The bench of this thread for a job; every run begins by clearing it."""
    if getattr(_own, "job", None) is not job:
        problem = job.problem
        constants = np.array([constant(job.stopping, problem.K, delta, problem.family) for delta in job.deltas])
        order, available = np.argsort(constants, kind="stable"), np.ones(problem.E, np.bool_)
        _own.bench = Bench(
            new_sampler(job.sampling, job.believed, available, job.costs, job.members),
            new_stopper(job.stopping, problem.family),
            new_state(problem.K, problem.E),
            available,
            problem.means.copy(),
            ladder(problem),
            constants[order],
            np.argsort(order),
        )
        _own.job = job
    bench: Bench = _own.bench
    return bench


def ladder(problem: Problem) -> Floats:
    """[E, K] cumulative policies, for `pull`."""
    cumulative: Floats = np.cumsum(problem.policies, axis=1)
    if not problem.silent:
        cumulative[:, -1] = np.inf  # rows sum to 1 only up to rounding
    return cumulative


def stream(seed: int, chunk: int, k: int) -> np.random.Generator:
    """The k-th stream of random numbers of a chunk: 0 is the world's, 1 the sampling rule's."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(chunk, k))))
