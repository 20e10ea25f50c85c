"""Simulated logs with a known truth, and how often their first claim is wrong."""

from typing import Any

import numpy as np

import gobetween as gb
from gobetween.core.ground.tally import fill, new_tally
from gobetween.core.verdict.evidence_report import in_play
from gobetween.logs.analysis.replay import LoggedRows, drifting_mediators
from gobetween.logs.reading.batch import Batch, Names
from gobetween.logs.reading.options import LogOptions
from gobetween.logs.reading.reading import Reading


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


def lost_best(K: int, gap: float, logs: int, delta: float, part: int = 0) -> tuple[int, float]:
    """In how many logs the best arm, arm 0, was ever out of play, and how many arms were in play at the end on average.

    Rows are drawn evenly at first, later among the arms in play: what was seen may decide what is tried.
    """
    rng, lost, left = np.random.default_rng([K, part] if part else K), 0, 0
    means = np.full(K, 0.5)
    means[0] += gap
    for _ in range(logs):
        N, S, still = np.zeros(K, np.int64), np.zeros(K), np.ones(K, np.bool_)
        out = False
        for _ in range(4):
            n = rng.multinomial(8 * K, still / still.sum())
            N, S = N + n, S + rng.binomial(n, means)
            still = in_play(gb.Bernoulli(), fill(new_tally(K), N, S), delta)
            out = out or not still[0]
        lost, left = lost + out, left + int(still.sum())
    return lost, left / logs


def false_drifting(logs: int, level: float) -> int:
    """In how many logs of two steady mediators some is said to choose differently at different times."""
    rng, raised, starts = np.random.default_rng(11), 0, np.array([0, 120, 200])
    for _ in range(logs):
        rows = LoggedRows(("a", "b", "c"), ("m", "n"), starts, rng.choice(3, 200, p=[0.5, 0.3, 0.2]), np.zeros(200))
        raised += bool(drifting_mediators(rows, level))
    return raised
