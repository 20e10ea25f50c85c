"""One simulated run, followed closely: what the evidence and the estimates do along the way."""

from dataclasses import dataclass

import numpy as np

from gobetween.core.ground.jit import Floats, Ints, index
from gobetween.core.ground.tally import new_state
from gobetween.core.problem.cast import ladder
from gobetween.core.problem.problem import Problem
from gobetween.core.run.loops import choose, observe, respond, verdict
from gobetween.core.run.streams import begin_run, seeded, world_of_runs
from gobetween.core.sampling.rules import Tracking
from gobetween.core.sampling.sampling_rule import SamplingRule
from gobetween.core.stopping.rules import GLR, EProcess
from gobetween.core.stopping.stopper import glr, growth
from gobetween.core.verdict.evidence_report import ArmReport, arm_reports, next_look


@dataclass(frozen=True)
class Trace:
    """A run until both rules, the paper's and the e-process, have stopped."""

    delta: float
    t: Ints  # [points] queries made when it was looked at
    Z: Floats  # [points] the likelihood ratio that the paper's rule compares with beta
    log_e: Floats  # [points] the smallest ln E of the leader against a rival; it needs log_limit
    beta: Floats  # [points] the paper's threshold
    log_limit: float
    stopped_glr: int
    stopped_e: int  # after how many queries each rule stopped
    N_e: Ints
    N_a: Ints  # [E], [K] counts at the end
    arms: tuple[ArmReport, ...]  # estimates with confidence sequences at the end


def follow(
    problem: Problem,
    sampling: SamplingRule = Tracking(),  # noqa: B008 - an immutable value
    delta: float = 0.1,
    seed: int = 0,
    max_steps: int = 100_000,
) -> Trace:
    """Simulate one run and look at it from time to time, more closely at the beginning."""
    family, K, E = problem.family, problem.K, problem.E
    everyone, state = np.ones(E, np.bool_), new_state(K, E)
    sampler = sampling.told(problem).at_work(problem.policies, everyone, problem.query_costs)
    means, cumulative = problem.means.copy(), ladder(problem.policies, problem.silent)
    world = seeded(world_of_runs(K, sampling.draws), seed, range(1))
    begin_run(world, index(0))
    paper, ours, limit = GLR().at_work(K, family), EProcess().at_work(K, family), EProcess().threshold(K, delta, family)
    base = GLR().threshold(K, delta, family)
    looks: list[tuple[int, float, float, float]] = []
    stopped_glr = stopped_e = t = due = 0
    while not (stopped_glr and stopped_e) and t < max_steps:
        e = choose(family, sampler, state, index(t), everyone, sampler.randomness(world.own))
        t += 1
        a, reward = respond(family, means, cumulative, world, index(e))
        observe(family, sampler, state, index(t), e, a, reward)
        passed = verdict(family, ours, state.tally, index(t), a, reward, np.array([limit]), 0)[1]
        _, Z = glr(family, state.tally)
        beta = base + growth(paper, t)
        stopped_glr = stopped_glr or (t if beta <= Z else 0)
        stopped_e = stopped_e or (t if passed else 0)
        if t >= due or t in (stopped_glr, stopped_e, max_steps):
            looks.append((t, float(Z), max(ours.reading(family, state.tally, t, float(Z))[0], 0.0), beta))
            due = next_look(t)
    columns = np.array(looks)
    return Trace(
        delta, columns[:, 0].astype(np.int64), columns[:, 1], columns[:, 2], columns[:, 3], float(limit),
        stopped_glr, stopped_e, state.N_e, state.tally.N_a,
        arm_reports(family, problem.arms, state.tally, delta),
    )  # fmt: skip
