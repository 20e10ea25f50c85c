"""Verdicts that are contradicted though nothing changes: `make validity` writes docs/validity-contradictions.md."""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from page import AT_MOST, add, at_most, table, write

import gobetween as gb

DELTA = 0.4
MOST = 300
ASKED: tuple[tuple[gb.Family, list[float], gb.Question], ...] = (
    (gb.Gaussian(1.0), [0.02, 0.0, -0.5], gb.BestArm()),
    (gb.Gaussian(1.0), [0.5, 0.02, 0.0], gb.TopM(2)),
    (gb.Gaussian(1.0), [0.0, 0.12, -0.5], gb.EpsilonBest(0.1)),
    (gb.Gaussian(1.0), [0.02, -0.5, 0.5], gb.Threshold(0.0)),
    (gb.Bernoulli(), [0.51, 0.5, 0.2], gb.BestArm()),
    (gb.Bernoulli(), [0.8, 0.51, 0.5], gb.TopM(2)),
    (gb.Bernoulli(), [0.5, 0.61, 0.2], gb.EpsilonBest(0.1)),
    (gb.Bernoulli(), [0.51, 0.2, 0.8], gb.Threshold(0.5)),
)


def contradicted(
    question: gb.Question, family: gb.Family, means: Sequence[float], delta: float, most: int, seed: int
) -> tuple[bool, bool]:
    """Was an answer named within so many answers, of arms in turn; was it wrong, or contradicted later?"""
    rng, K = np.random.default_rng(seed), len(means)
    arms = [f"arm {a + 1}" for a in range(K)]
    one = gb.Learner(arms, {"m": None}, family=family, delta=delta, question=question)
    for t in range(most):
        one.tell(mediator="m", arm=arms[t % K], reward=float(family.draw(means[t % K], rng)))
    claim = one.state.decision.claim
    if claim is None:
        return False, False
    named = np.zeros(K, dtype=np.bool_)
    named[list(claim.named)] = True
    against = any(alarm.raised for alarm in one.account().alarms if alarm.kind == "contradiction")
    return True, against or not question.right(np.array(means), named)


def contradictions(runs: int = 10_000) -> list[str]:
    """How often a verdict was wrong, or was contradicted later."""
    lines = table("family", "means", "question", "runs", "verdicts", "wrong or contradicted", AT_MOST)
    for family, means, question in ASKED:
        with ProcessPoolExecutor(2) as pool:
            found = list(pool.map(partial(contradicted, question, family, means, DELTA, MOST), range(runs), chunksize=100))
        named, against = (sum(column) for column in zip(*found, strict=True))
        high = at_most(against, runs, DELTA, family, question)
        add(lines, family.name, means, f"`{question!r}`", runs, named, against, high)
    return lines


if __name__ == "__main__":
    write(
        "validity-contradictions.md",
        "verdicts that are contradicted though nothing changes",
        f"Learners at δ = {DELTA:g} whose arms answer in turn and who go on after their verdict, to {MOST} answers. That it is",
        "wrong, or that a right one is contradicted later (the alarm *contradiction*), may together happen with probability δ,",
        "with `EpsilonBest` 2δ: [questions.md](questions.md).",
        "",
        *contradictions(),
    )
