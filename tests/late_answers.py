"""Every question with answers in batches, and with bad news that is slow: the step of a learner, compiled.

Five queries are issued at a time. What a mediator pulls and what that pays is drawn then, and told after a delay; the verdict counts
answers in the order of issue, as far as all earlier ones are told, the sampling rule sees what was told.
"""

from typing import Any

import numpy as np

import gobetween as gb
from gobetween.core.ground.jit import leaf
from gobetween.core.ground.tally import State, Tally, clear, count, new_state, new_tally
from gobetween.core.problem.cast import ladder
from gobetween.core.reward.family import Family, draw
from gobetween.core.run.loops import choose, observe, pull, verdict
from gobetween.core.sampling.sampler import AnySampler
from gobetween.core.stopping.stopper import AnyStopper, answer, restart

BATCH = 5
SETTINGS = ("batches of five", "bad news is slow")


@leaf
def late_runs(
    family: Family,
    means: Any,
    cumulative: Any,
    sampler: AnySampler,
    stopper: AnyStopper,
    constants: Any,
    state: State,
    tally: Tally,
    everyone: Any,
    slow: bool,
    most: int,
    rng: Any,
    asked: Any,
    pulled: Any,
    paid: Any,
    due: Any,
    stopped: Any,
    named: Any,
) -> None:
    """Run after run, one for each row of `named`: was an answer named within so many queries, and which?"""
    for run in range(named.shape[0]):
        restart(sampler)
        restart(stopper)
        clear(state)
        tally.N_a[:] = 0
        tally.S_a[:] = 0.0
        tally.mu_hat[:] = 0.0
        issued, counted, now, passed = 0, 0, 0, 0
        while passed == 0 and counted < most:
            if issued < most:
                for _ in range(BATCH):
                    e = choose(family, sampler, state, issued, everyone, rng)
                    a = pull(cumulative, e, rng.random())
                    x = draw(family, means[a], rng)
                    bad = x < means[a] if a == 0 else x > means[a]
                    asked[issued], pulled[issued], paid[issued] = e, a, x
                    due[issued] = now + (int(rng.standard_exponential() * (8.0 if bad else 1.0)) if slow else 0)
                    issued += 1
            for k in range(counted, issued):
                if due[k] == now:
                    observe(family, sampler, state, issued, asked[k], pulled[k], paid[k])
            while passed == 0 and counted < issued and due[counted] <= now:
                a, x = pulled[counted], paid[counted]
                counted += 1
                count(tally, a, x)
                best, passed = verdict(family, stopper, tally, counted, a, x, constants, 0)
                if passed > 0:
                    answer(stopper, best, named[run])
                    stopped[run] = True
            now += 1


def late(problem: gb.Problem, question: gb.Question, slow: bool, delta: float, runs: int, most: int) -> tuple[int, int]:
    """How many of so many runs of the default rules answered within so many queries, and how many were wrong."""
    K, E = problem.K, problem.E
    everyone, stopping = np.ones(E, np.bool_), gb.EProcess()
    sampler = gb.Pursuit().sampler_for(question, problem.policies.copy(), everyone, np.ones(E))
    stopper = stopping.stopper_for(question, K, problem.family)
    constants = np.array([stopping.threshold_for(question, K, delta, problem.family)])
    whole, stopped, named = np.zeros((2, most + BATCH), np.int64), np.zeros(runs, np.bool_), np.zeros((runs, K), np.bool_)
    late_runs(
        problem.family.at_work(K), problem.means.copy(), ladder(problem.policies, problem.silent), sampler, stopper, constants,
        new_state(K, E), new_tally(K), everyone, slow, most, np.random.Generator(np.random.PCG64(17)), whole[0], whole[1],
        np.zeros(most + BATCH), np.zeros(most + BATCH, np.int64), stopped, named,
    )  # fmt: skip
    return int(stopped.sum()), int((stopped & ~question.right(problem.means, named)).sum())
