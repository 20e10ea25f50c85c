"""Simulated logs with a known truth, and how often their first claim is wrong."""

from typing import Any

import numpy as np

from gobetween.logs.batch import Batch, Names
from gobetween.logs.options import LogOptions
from gobetween.logs.reading import Reading


def simulated(family: Any, mediators: int, rows: int, rng: np.random.Generator, gap: float) -> Batch:
    """Arm 0 is the best by a little; each mediator has a policy of its own."""
    e = rng.integers(0, mediators, rows)
    policies = np.array([[0.4, 0.3, 0.3], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])[:mediators]
    a = (rng.random((rows, 1)) > np.cumsum(policies[e], axis=1)).sum(axis=1)
    means = np.array([0.5 + gap, 0.5, 0.5])[a]
    x = (rng.random(rows) < means).astype(float) if family.name == "bernoulli" else rng.normal(means, 1.0)
    return Batch("simulated", 1, Names(["m0", "m1", "m2"], e), Names(["a", "b", "c"], a), x, None)


def wrong_claims(family: Any, mediators: int, logs: int, rows: int, delta: float, gap: float = 0.05) -> tuple[int, int]:
    """How many logs made a claim, and how many a wrong one."""
    rng, claims, wrong = np.random.default_rng([mediators, rows]), 0, 0
    options = LogOptions(family, delta, arms=("a", "b", "c"))
    for _ in range(logs):
        reading = Reading(options)
        reading.take(simulated(family, mediators, rows, rng, gap))
        if reading.claim is not None:
            claims += 1
            wrong += reading.claim.arm != "a"
    return claims, wrong
