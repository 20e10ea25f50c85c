"""The instances on which rules are compared, in one place."""

from typing import Any

import numpy as np

import gobetween as gb

PAPER = [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]]
MEANS = [1.5, 1.0, 0.7, 0.5]


class Narrow(gb.Bounded):
    """Bounded rewards that vary little: uniform within 0.05 of the mean, where `Bounded` draws one of the bounds."""

    __slots__ = ()
    name = "narrow"

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        return mean + 0.1 * (rng.random() - 0.5)


def normal(means: Any, policies: Any = None, **options: Any) -> gb.Problem:
    """A problem with normal rewards of standard deviation 1."""
    return gb.Problem(means, policies, family=gb.Gaussian(1.0), **options)


def dirichlet(K: int, E: int, seed: int = 0) -> Any:
    """[E, K] random policies."""
    return np.random.default_rng(seed).dirichlet(np.ones(K), size=E)


def instances() -> dict[str, gb.Problem]:
    """Name → problem. Direct arms are mediators who each pull one arm."""
    silent = [list(0.9 * np.array(row)) if e % 2 else list(0.5 * np.array(row)) for e, row in enumerate(PAPER)]
    return {
        "Table 1": normal(MEANS, PAPER),
        "Table 2": normal([5.0, 1.0], [[0.01, 0.99]] + [[0.0, 1.0]] * 9),
        "direct 1.5, 1, 0.7, 0.5": normal(MEANS),
        "two arms, one mediator": normal([1.0, 0.5], [[0.3, 0.7]]),
        "ten arms, one mediator": normal([1.0, *np.linspace(0.5, 0.1, 9)], [[0.1] * 10]),
        "two arms, 50 mediators": normal([0.5, 0.0], dirichlet(2, 50)),
        "50 arms, ten mediators": normal([1.5, *np.linspace(0.6, 0.0, 49)], dirichlet(50, 10)),
        "50 direct arms": normal([1.5, *np.linspace(0.6, 0.0, 49)]),
        "rare best arm": normal([1.0, 0.5, 0.3], [[0.05, 0.45, 0.5], [0.0, 0.8, 0.2], [0.0, 0.2, 0.8]]),
        "duplicates: Table 1 thrice": normal(MEANS, [row for row in PAPER for _ in range(3)]),
        "near tie 1, 0.85, 0.5, 0.3": normal([1.0, 0.85, 0.5, 0.3]),
        "equal rivals: 1, nine of 0.5": normal([1.0] + [0.5] * 9),
        "Dirichlet, K = E = 20": normal([1.0, *np.linspace(0.6, 0.0, 19)], dirichlet(20, 20)),
        "steps 1 to 0 by 0.2": normal(np.linspace(1.0, 0.0, 6)),
        "Bernoulli 0.5, 0.45, 0.43, 0.4": gb.Problem([0.5, 0.45, 0.43, 0.4], family="bernoulli"),
        "Bernoulli 3, 2, 1.5, 1 %": gb.Problem([0.03, 0.02, 0.015, 0.01], family="bernoulli"),
        "Poisson 5, 4, 3.5, 3": gb.Problem([5.0, 4.0, 3.5, 3.0], PAPER, family="poisson"),
        "Exponential 1.5, 1, 0.8, 0.6": gb.Problem([1.5, 1.0, 0.8, 0.6], PAPER, family="exponential"),
        "Bounded, small variance": gb.Problem([0.6, 0.45, 0.4, 0.3], PAPER, family=Narrow()),
        "costs 1, 1, 1, 4": normal(MEANS, PAPER, costs=[1.0, 1.0, 1.0, 4.0]),
        "silence": normal(MEANS, silent, silent=True),
    }
