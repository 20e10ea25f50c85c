"""Runs that say on the way how long they will take: are forecasts right as often as they claim?"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import gobetween as gb
from gobetween.core.family import Family, draw
from gobetween.core.jit import index, jit
from gobetween.core.loops import pull
from gobetween.core.sampler import AnySampler
from gobetween.core.state import State
from gobetween.core.step import choose, observe, verdict
from gobetween.core.stopper import AnyStopper
from gobetween.core.types import Bools, Floats
from gobetween.paper.tables import DIRECT, EXPERIMENT_1, EXPERIMENT_2
from gobetween.simulation.engine import ladder

#: Of the way.
MOMENTS = (0.25, 0.5, 0.75)
THREE = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]


@dataclass(frozen=True)
class Instance:
    """A problem, and what the learner is told of it."""

    problem: gb.Problem
    delta: float = 0.1
    unknown: bool = False
    sampling: gb.SamplingRule | str = "pursuit"


INSTANCES = {
    "Table 1": Instance(EXPERIMENT_1),
    "Table 1, unknown policies": Instance(EXPERIMENT_1, unknown=True),
    "Table 1, tracking": Instance(EXPERIMENT_1, sampling="tracking"),
    "Table 1, uniform": Instance(EXPERIMENT_1, sampling="uniform"),
    "Table 2": Instance(EXPERIMENT_2, delta=1e-6),
    "direct": Instance(DIRECT),
    "near tie": Instance(gb.Problem([0.55, 0.5, 0.0], THREE[:2], family=gb.Gaussian(0.25))),
    "Bernoulli": Instance(gb.Problem([0.6, 0.45, 0.3], THREE, family=gb.Bernoulli())),
    "Poisson": Instance(gb.Problem([2.0, 1.5, 1.2], THREE, family=gb.Poisson())),
}


@jit
def advance(
    family: Family,
    means: Floats,
    cumulative: Floats,
    sampler: AnySampler,
    stopper: AnyStopper,
    constants: Floats,
    state: State,
    available: Bools,
    t: int,
    until: int,
    rng: np.random.Generator,
) -> int:
    """Play on until the verdict, after t queries, or until there were so many: −t."""
    while t < until:
        e = choose(family, sampler, state, t, available, rng)
        a = pull(cumulative, e, rng.random())
        reward = draw(family, means[a], rng)
        t += 1
        observe(family, sampler, state, t, e, a, reward)
        if verdict(family, stopper, state.tally, t, a, reward, constants, 0)[1] > 0:
            return t
    return -t


class Run:
    """A learner at work, its loop compiled."""

    def __init__(self, instance: Instance, seed: int) -> None:
        problem = instance.problem
        given = problem.E if instance.unknown else problem.policies
        self.learner = gb.Learner(
            problem.K, given, family=problem.family, delta=instance.delta, sampling=instance.sampling, seed=seed
        )
        self.problem, self.ladder, self.t = problem, ladder(problem), 0
        self.rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))

    def go(self, until: int) -> bool:
        """Play on until there were so many queries; was the verdict reached before?"""
        one = self.learner
        found = advance(
            one.family, self.problem.means, self.ladder, one._sampler, one._stopper, one._constant, one._state, one._present,
            index(self.t), index(until), self.rng,
        )  # fmt: skip
        self.t = one._count = abs(int(found))
        for mine, all_told in zip(one._counted, one._state.tally, strict=True):
            mine[:] = all_told
        return found > 0


def stopping_times(instance: Instance, seeds: range, most: int = 1_000_000) -> list[int]:
    """How long runs take."""
    taken = []
    for seed in seeds:
        run = Run(instance, seed)
        run.go(most)
        taken.append(run.t)
    return taken


class Asked(NamedTuple):
    """What a run said on its way, and what came of it."""

    moment: float
    forecast: gb.Forecast | None
    truth: int


def asked_on_the_way(name: str, seeds: range) -> list[Asked]:
    """The forecasts of runs of an instance."""
    instance, found = INSTANCES[name], []
    for seed in seeds:
        (tau,) = stopping_times(instance, range(seed, seed + 1))
        run = Run(instance, seed)
        for moment in MOMENTS:
            run.go(max(1, int(moment * tau)))
            found.append(Asked(moment, run.learner.forecast(), tau - run.t))
    return found
