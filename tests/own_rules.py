"""Families and rules of someone else: what a user's own file looks like."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

import gobetween as gb
from gobetween.core.evidence.eprocess import evidence


@gb.register
class Amount(NamedTuple("Amount", [("shape", float)]), gb.Family):
    """Gamma rewards with known shape: V(μ) = μ²/shape."""

    name = "own-gamma"
    rewards = "a positive number"
    low, high = 0.0, math.inf
    open_ends = (0.0,)

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        x = rest * mu + step * toward
        return self.shape * (mu / x - 1.0 - math.log(mu / x)) if x > 0.0 else math.inf

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        return (rest * mu + step * toward) ** 2 / self.shape

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return rng.standard_gamma(self.shape) * mean / self.shape

    def coordinate(self, mean: float) -> float:
        return 1.0 / mean  # likelihood ratios are log-convex in it

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        gain = -math.expm1(-theta / self.shape) * self.shape
        return x * S * gain - n * theta, S * gain

    def accepts(self, rewards: Any) -> Any:
        return rewards > 0.0


@gb.register
@dataclass(frozen=True)
class Chase(gb.SamplingRule):
    """Ask whoever pulls the leader and its closest rival most often for the money; now and then anyone."""

    name: ClassVar[str] = "own-chase"
    epsilon: float = 0.1

    def memory(self, K: int, E: int) -> Any:
        return np.zeros(1)  # how often anyone was asked

    def choose(self, view: gb.SamplingView, available: Any, rng: np.random.Generator) -> int:
        worth = np.full(len(available), -1.0)
        if rng.random() < self.epsilon or view.N_a.min() == 0:
            view.memory[0] += 1.0
            for e in range(len(available)):
                worth[e] = rng.random() if available[e] else -1.0
            return int(np.argmax(worth))
        best = int(np.argmax(view.mu_hat))
        rival, least = -1, math.inf
        for b in range(len(view.mu_hat)):
            if b != best:
                mu, N = view.mu_hat, view.N_a
                Z = evidence(view.family, mu[best], mu[b], float(N[best]), float(N[b]))[0]
                if least > Z:
                    rival, least = b, Z
        for e in range(len(available)):
            if available[e]:
                worth[e] = min(view.policies[e, best], view.policies[e, rival]) / view.costs[e] + 1e-6 / (1.0 + view.N_e[e])
        return int(np.argmax(worth))


@gb.register
@dataclass(frozen=True)
class Stubborn(gb.StoppingRule):
    """The likelihood ratio against every rival, less a log-log price for looking often; counts its own looks."""

    name: ClassVar[str] = "own-stubborn"
    price: float = 4.0

    def memory(self, K: int) -> Any:
        return np.zeros(1)

    def observe(self, view: gb.StoppingView, a: int, reward: float) -> None:
        view.memory[0] += 1.0

    def threshold(self, K: int, delta: float, family: gb.Family) -> float:
        return math.log(K / delta)

    def statistic(self, view: gb.StoppingView) -> float:
        least = math.inf
        for b in range(len(view.mu_hat)):
            if b != view.leader:
                mu, N = view.mu_hat, view.N_a
                Z = evidence(view.family, mu[view.leader], mu[b], float(N[view.leader]), float(N[b]))[0]
                least = min(least, Z)
        return least - self.price * math.log(1.0 + math.log(view.memory[0]))


@gb.register
@dataclass(frozen=True)
class Wordy(gb.SamplingRule):
    """The same as asking in turn, written so that it does not compile."""

    name: ClassVar[str] = "own-wordy"

    def choose(self, view: gb.SamplingView, available: Any, rng: np.random.Generator) -> int:
        asked = {f"mediator {e}": int(n) for e, n in enumerate(view.N_e) if available[e]}
        return int(min(asked, key=lambda name: (asked[name], name)).split()[1])
