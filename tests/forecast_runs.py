"""Runs that say on the way how long they will take: are forecasts right as often as they claim?"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import gobetween as gb
from gobetween.core.ground.jit import index
from gobetween.core.problem.cast import ladder
from gobetween.core.run.loops import runs
from gobetween.core.run.streams import one_stream
from gobetween.paper.tables import DIRECT, EXPERIMENT_1, EXPERIMENT_2

#: Of the way.
MOMENTS = (0.25, 0.5, 0.75)
MOST = 1_000_000
THREE = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
SIX = [[0.3 if a // 2 == e else 0.04 for a in range(12)] for e in range(6)]


@dataclass(frozen=True)
class Instance:
    """A problem, and what the learner is told of it."""

    problem: gb.Problem
    delta: float = 0.1
    unknown: bool = False
    question: gb.Question | str = "best-arm"


INSTANCES = {
    "Table 1": Instance(EXPERIMENT_1),
    "Table 2": Instance(EXPERIMENT_2, delta=1e-11),
    "direct": Instance(DIRECT),
    "Bernoulli": Instance(gb.Problem([0.8, 0.5, 0.3], THREE, family=gb.Bernoulli())),
    "Poisson": Instance(gb.Problem([4.0, 2.5, 2.0], THREE, family=gb.Poisson())),
    "twelve arms": Instance(gb.Problem(np.linspace(2.0, -0.2, 12), SIX, family=gb.Gaussian(0.5))),
    "Table 1, unknown policies": Instance(EXPERIMENT_1, unknown=True),
    "Table 1, best two": Instance(EXPERIMENT_1, question=gb.TopM(2)),
    "Table 1, best up to 0.2": Instance(EXPERIMENT_1, question=gb.EpsilonBest(0.2)),
    "Table 1, above 1.2": Instance(EXPERIMENT_1, question=gb.Threshold(1.2)),
}


class Run:
    """A learner at work, its loop compiled."""

    def __init__(self, instance: Instance, seed: int) -> None:
        problem = instance.problem
        given = problem.E if instance.unknown else problem.policies
        self.learner = gb.Learner(
            problem.K, given, family=problem.family, delta=instance.delta, seed=seed, question=instance.question
        )
        self.problem, self.ladder, self.named = (
            problem,
            ladder(problem.policies, problem.silent),
            np.zeros((1, 1, problem.K), np.bool_),
        )
        self.means = problem.means.copy()
        self.halt, self.t = np.zeros(1, np.bool_), np.array([[0]])
        self.N_e, self.N_a = np.zeros((1, 1, problem.E), np.int64), np.zeros((1, 1, problem.K), np.int64)
        self.rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))

    def go(self, until: int) -> int:
        """Play on until there were so many queries, or the verdict; queries by then."""
        one = self.learner.state
        runs(
            one.design.family, self.means, self.ladder, one.planner.sampler, one.decision.stopper, one.decision.constant,
            one.seen, one.planner.present,
            self.halt, False, index(int(self.t[0, 0])), index(0), index(until), one_stream(self.rng), self.t,
            np.zeros((1, 1), np.bool_), self.named, self.N_e, self.N_a,
        )  # fmt: skip
        one.queries.issued = one.counted.n = int(self.t[0, 0])
        for mine, all_told in zip(one.counted.tally, one.told.tally, strict=True):
            mine[:] = all_told
        return one.counted.n


class Asked(NamedTuple):
    """What a run said on its way, and what came of it."""

    moment: float
    forecast: gb.Forecast | None
    truth: int


def asked_on_the_way(name: str, seeds: range) -> list[Asked]:
    """The forecasts of runs of an instance."""
    instance, found = INSTANCES[name], []
    for seed in seeds:
        tau, run = Run(instance, seed).go(MOST), Run(instance, seed)
        for moment in MOMENTS:
            now = run.go(max(1, int(moment * tau)))
            found.append(Asked(moment, run.learner.forecast(), tau - now))
    return found
