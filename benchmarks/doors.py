"""What a rule of one's own costs for each step, against one of ours with the same logic; ratios in one run.

python benchmarks/doors.py
"""

import math
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import gobetween as gb
from gobetween.core.evidence.eprocess import evidence

POLICIES = [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]]
PROBLEM = gb.Problem([1.5, 1.0, 0.7, 0.5], POLICIES, family=gb.Gaussian(1.0))


@dataclass(frozen=True)
class OwnCyclic(gb.SamplingRule):
    name: ClassVar[str] = "own cyclic"
    draws: ClassVar[bool] = False

    def choose(self, view: gb.SamplingView, available: Any, rng: np.random.Generator) -> int:
        best = -1
        for e in range(len(available)):
            if available[e] and (best < 0 or view.N_e[e] < view.N_e[best]):
                best = e
        return best


@dataclass(frozen=True)
class OwnGLR(gb.StoppingRule):
    name: ClassVar[str] = "own glr"

    def threshold(self, K: int, delta: float, family: gb.Family) -> float:
        return math.log(2 * (K - 1) / delta)

    def statistic(self, view: gb.StoppingView) -> float:
        least = math.inf
        for b in range(len(view.mu_hat)):
            if b != view.leader:
                mu, N = view.mu_hat, view.N_a
                least = min(least, evidence(view.family, mu[view.leader], mu[b], float(N[view.leader]), float(N[b]))[0])
        return least - 0.5 * math.e * math.log(view.t)


def step(sampling: gb.SamplingRule, stopping: gb.StoppingRule) -> float:
    """Microseconds of CPU per step, the least of many short runs."""
    gb.simulate(PROBLEM, sampling, stopping, 1e-3, runs=8, workers=1)
    best = math.inf
    for _ in range(60):
        start = time.process_time()
        runs = gb.simulate(PROBLEM, sampling, stopping, 1e-3, runs=8, workers=1)
        best = min(best, (time.process_time() - start) / float(runs.tau.sum()) * 1e6)
    return best


def main() -> None:
    cyclic, glr = gb.UniformSampling(order="cyclic"), gb.GLR()
    ours = step(cyclic, glr)
    print(f"cyclic, GLR: ours {ours:.3f} µs per step")
    for name, sampling, stopping in (
        ("own sampling rule", OwnCyclic(), glr),
        ("own stopping rule", cyclic, OwnGLR()),
        ("both", OwnCyclic(), OwnGLR()),
    ):
        taken = step(sampling, stopping)
        print(f"  {name}: {taken:.3f} µs, {taken / ours:.2f} times ours")


if __name__ == "__main__":
    main()
