"""Live learners whose answers come in disorder, on ties and near-ties, where errors can happen."""

from typing import Any

import numpy as np

import gobetween as gb

DELTA = 0.1
FAMILY: gb.Family = gb.Bernoulli()
SETTINGS = ("batches of five", "shuffled", "bad news is slow")


def live(setting: str, gap: float, most: int, seed: int, order: str = "issue", family: gb.Family = FAMILY) -> str | None:
    """The arm that a learner names when answers come in disorder, within so many queries; arm 2 is the better one by a gap."""
    rng = np.random.default_rng([7, seed])
    learner = gb.Learner(2, [[0.5, 0.5], [0.2, 0.8]], family=family, delta=DELTA, order=order)
    means, rows = (0.5, 0.5 + gap), ((0.5, 0.5), (0.2, 0.8))
    flying: list[tuple[float, Any, int, float]] = []
    now = 0.0
    while not learner.done and learner.issued < most:
        for query in learner.ask(5):
            row = rows[learner.mediators.index(query.mediator)]
            a = int(rng.random() >= row[0])
            reward = float(rng.random() < means[a]) if family.name == "bernoulli" else means[a] + rng.standard_normal()
            slow = 8.0 if setting == "bad news is slow" and (reward > 0.5) == (a == 1) else 1.0
            delay = 0.0 if setting == "batches of five" else rng.exponential(2.0 * slow)
            flying.append((now + delay, query, a, reward))
        now += 1.0
        flying.sort(key=lambda item: item[0])
        while flying and flying[0][0] <= now:
            _, query, a, reward = flying.pop(0)
            learner.tell(query, arm=learner.arms[a], reward=reward)
    return learner.recommendation if learner.done else None
