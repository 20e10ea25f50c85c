"""Simulation: the step in a compiled loop, many runs, one seed."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import cpu_count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.bound.lower_bound import binary_kl
from gobetween.core.evidence.guess import Guess
from gobetween.core.ground.jit import Bools, Floats, Ints
from gobetween.core.ground.tally import State, new_state
from gobetween.core.problem.cast import Policy, are_known, ladder, never_pulled, nobody_pulls, policy_row
from gobetween.core.problem.problem import Problem
from gobetween.core.question.question import Question, as_question
from gobetween.core.question.questions import BEST
from gobetween.core.reward.family import Family
from gobetween.core.run.loops import HALTED, LOST, NONE, runs
from gobetween.core.run.streams import World, seeded, world_of_runs
from gobetween.core.sampling.rules import Pursuit
from gobetween.core.sampling.sampler import AnySampler
from gobetween.core.sampling.sampling_rule import SamplingRule, as_sampling
from gobetween.core.stopping.rules import EProcess
from gobetween.core.stopping.stopper import AnyStopper
from gobetween.core.stopping.stopping_rule import StoppingRule, as_stopping
from gobetween.errors import ProblemError
from gobetween.export import choose, is_number, is_whole, meant_number
from gobetween.files.rules import word
from gobetween.simulation.executors import work_through
from gobetween.simulation.progress import Told, telling
from gobetween.simulation.runs import Runs, together

CHUNK = 8
RUNS = 1000
MAX_STEPS = 10_000_000


def simulate(
    problem: Problem,
    sampling: SamplingRule | str = Pursuit(),  # noqa: B008 - an immutable value
    stopping: StoppingRule | str = EProcess(),  # noqa: B008 - an immutable value
    deltas: float | Sequence[float] = 0.1,
    runs: int = 100,
    seed: int = 0,
    workers: int | None = None,
    max_steps: int = MAX_STEPS,
    progress: Told = None,
    declared: ArrayLike | Mapping[str, Policy] | Sequence[Policy] | None = None,
    question: Question | str = BEST,
    guess: Guess | None = None,
) -> Runs:
    """Run a sampling and a stopping rule on a problem many times; one path serves every δ.

    The result depends on the seed alone, not on the number of workers (threads; by default one for each core). A run that has
    not stopped after max_steps queries is censored. `progress`: True shows a bar in a terminal; a function is told how many
    runs have just been finished. `declared`: the policies that the sampling rule believes in, where they are not the true
    ones; of a mediator also a set of arms that it may pull, or None, and the rest is estimated. `question`: what is asked about
    the arms, the best one unless said otherwise. `guess`: what somebody expects of the arms, with the stopping rule.

    >>> problem = gb.Problem([0.9, 0.2], [[0.7, 0.3], [0.3, 0.7]], family="bernoulli")
    >>> runs = gb.simulate(problem, "tracking", "e-process", deltas=[0.1, 0.01], runs=8, seed=1)
    >>> runs.tau.shape, bool(runs.correct.all())
    ((8, 2), True)
    """
    stopping = as_stopping(stopping).guessing(guess)
    job = new_job(problem, sampling, stopping, deltas, seed, max_steps, declared, question)
    check_whole({"workers": (1 if workers is None else workers, 1)})
    check_runs(runs, len(job.deltas) * (problem.K + problem.E))
    chunks = [range(first, min(first + CHUNK, runs)) for first in range(0, runs, CHUNK)]

    parts: dict[range, Runs] = {}

    def take(chunk: range, part: Runs) -> None:
        parts[chunk] = part
        tell(len(chunk))

    crew = min(workers or cpu_count() or 1, len(chunks))
    # threads also for one worker: the main one stays free to hear Ctrl-C
    with ThreadPoolExecutor(crew) as pool, halting([job]), telling(progress, runs) as tell:
        work_through(lambda chunk: pool.submit(run_chunk, job, chunk), chunks, 4 * crew, take)
    found = together(parts[chunk] for chunk in chunks)
    one, other = word(as_sampling(sampling)), word(as_stopping(stopping))
    return replace(found, problem=problem, question=job.question, sampling=one, stopping=other)


@dataclass(frozen=True)
class Job:
    """What every run of a simulation has in common; checked."""

    problem: Problem
    believed: Floats
    sampling: SamplingRule
    stopping: StoppingRule
    deltas: tuple[float, ...]
    seed: int
    max_steps: int
    question: Question = BEST
    halt: Bools = field(default_factory=lambda: np.zeros(1, np.bool_), compare=False)
    """[1] set it, and runs under way end soon."""


class HaltedError(Exception):
    """Runs that were told to end."""


@contextmanager
def halting(jobs: Sequence[Job]) -> Iterator[None]:
    """What is raised inside, Ctrl-C for one, also ends the runs that other threads are at."""
    for job in jobs:
        job.halt[0] = False
    try:
        yield
    except BaseException:
        for job in jobs:
            job.halt[0] = True
        raise


def new_job(
    problem: Problem,
    sampling: SamplingRule | str,
    stopping: StoppingRule | str,
    deltas: float | Sequence[float],
    seed: int,
    max_steps: int,
    declared: ArrayLike | Mapping[str, Policy] | Sequence[Policy] | None = None,
    question: Question | str = BEST,
) -> Job:
    """Check and resolve the arguments of `simulate` that do not say how many runs."""
    wanted = as_deltas(deltas)
    if not wanted:
        raise ProblemError("deltas is empty: name at least one risk, such as 0.05")
    for delta in wanted:
        binary_kl(delta)
    check_whole({"seed": (seed, 0), "max_steps": (max_steps, 1)})
    believed = problem.policies if declared is None else believed_policies(problem, declared)
    rule, stop = as_sampling(sampling).told(problem), as_stopping(stopping)
    if type(problem.family).draw is Family.draw:
        raise ProblemError(f"{problem.family.name} rewards cannot be drawn: define draw in {type(problem.family).__name__}")
    asked = as_question(question)
    rule.sampler_for(asked, believed, are_known(believed), problem.query_costs)  # these refuse what does not fit
    stop.stopper_for(asked, problem.K, problem.family)
    return Job(problem, believed, rule, stop, wanted, seed, max_steps, asked)


def believed_policies(problem: Problem, declared: Any) -> Floats:
    """[E, K] what is declared of each mediator; NaN where a probability is not known."""
    if isinstance(declared, Mapping):
        for name in declared:
            if name not in problem.mediators:
                raise ProblemError(f"declared names {name!r}: {choose(name, problem.mediators)}")
        declared = [declared.get(name) for name in problem.mediators]
    rows = list(declared) if isinstance(declared, Iterable) else []
    if len(rows) != problem.E:
        raise ProblemError(f"declared has {len(rows)} rows for {problem.E} mediators")
    names, arms = problem.mediators, problem.arms
    found = np.array([policy_row(row, e, arms, names[e], problem.silent) for e, row in enumerate(rows)])
    missing = never_pulled(found)
    if missing:
        raise nobody_pulls([arms[a] for a in missing])
    return found


def check_whole(numbers: dict[str, tuple[Any, int]]) -> None:
    """Refuse what is not a whole number or under its least value: name → (value, least)."""
    for name, (value, least) in numbers.items():
        if not is_whole(value) or value < least:
            raise ProblemError(f"{name} = {value!r}: must be a whole number, {least} or more")


def as_deltas(given: float | Sequence[float]) -> tuple[float, ...]:
    """One risk or several; what is no number says which is meant."""
    found = (given,) if isinstance(given, (int, float, str)) else tuple(given)
    for delta in found:
        if not is_number(delta):
            raise ProblemError(f"delta = {delta!r}: must be a number{meant_number(delta)}")
    return tuple(map(float, found))


#: Numbers that the runs of one call may come to, about a gigabyte: one for each run, δ, arm and mediator.
MOST_NUMBERS = 100_000_000


def check_runs(runs: Any, numbers: int = 1) -> None:
    """Refuse what is not a number of runs, and more than memory holds; `numbers`: of each run."""
    check_whole({"runs": (runs, 1)})
    if runs * numbers > MOST_NUMBERS:
        raise ProblemError(f"runs = {runs:,}: are too many at once: at most {MOST_NUMBERS // numbers:,} here")


def run_chunk(job: Job, chunk: range) -> Runs:
    """The runs with these numbers, each from the seed and its number alone: others need not have been run."""
    problem = job.problem
    workbench = _workbench(job)
    sampler, state, constants = workbench.sampler, workbench.state, workbench.constants
    world = seeded(workbench.world, job.seed, chunk)
    shape = (len(chunk), len(constants))
    tau, stopped, named = np.zeros(shape, np.int64), np.zeros(shape, np.bool_), np.zeros((*shape, problem.K), np.bool_)
    N_e, N_a = np.zeros((*shape, problem.E), np.int64), np.zeros((*shape, problem.K), np.int64)
    done = runs(
        workbench.family, workbench.means, workbench.ladder, sampler, workbench.stopper, constants, state, workbench.available,
        job.halt, True, NONE, NONE, job.max_steps, world, tau, stopped, named, N_e, N_a,
    )  # fmt: skip
    if done == HALTED:
        raise HaltedError
    if done == LOST:
        raise ProblemError(f"{type(job.sampling).__name__}.choose named a mediator who cannot be asked: take an available one")
    back = workbench.back
    correct = stopped & job.question.right(problem.means, named)
    return Runs(job.deltas, tau[:, back], correct[:, back], ~stopped[:, back], N_e[:, back], N_a[:, back])


class Workbench(NamedTuple):
    """What a thread needs to run a job, made once."""

    family: Family
    sampler: AnySampler
    stopper: AnyStopper
    state: State
    world: World
    available: Bools
    means: Floats
    ladder: Floats
    constants: Floats  # in increasing order
    back: Ints  # where each δ stands in that order


_own = threading.local()


def _workbench(job: Job) -> Workbench:
    """The workbench of this thread for a job; every run begins by clearing it."""
    if getattr(_own, "job", None) is not job:
        problem = job.problem
        ask, K, family = job.question, problem.K, problem.family
        constants = np.array([job.stopping.threshold_for(ask, K, delta, family) for delta in job.deltas])
        order, available = np.argsort(constants, kind="stable"), np.ones(problem.E, np.bool_)
        stopper = job.stopping.stopper_for(ask, K, family)
        _own.workbench = Workbench(
            family.at_work(K),
            job.sampling.sampler_for(ask, job.believed, are_known(job.believed), problem.query_costs, stopper.bernstein()),
            stopper,
            new_state(problem.K, problem.E),
            world_of_runs(problem.K, job.sampling.draws),
            available,
            problem.means.copy(),
            ladder(problem.policies, problem.silent),
            constants[order],
            np.argsort(order),
        )
        _own.job = job
    workbench: Workbench = _own.workbench
    return workbench
