"""The loops of pursuit over arms × mediators, on whole arrays: what plain Python runs instead of them.

Every sum is added up in the same order as there, number by number, so that both give the same bits. One query among 1,000 ×
1,000 takes milliseconds, less than it takes to load compiled code.
"""

import math

import numpy as np

from gobetween.core.state import State
from gobetween.core.types import Bools, Floats, Ints


def unseen_gains(N_a: Ints, N_e: Ints, R: Floats, members: Ints, costs: Floats, gains: Floats) -> None:
    """`pursuit.unseen_gains`."""
    unseen = N_a == 0
    pulls = np.zeros(len(N_a))
    for i in np.flatnonzero(N_e[members]):  # others add nothing
        pulls += N_e[members[i]] * R[:, i] * costs[i]
    least = float(pulls[unseen].min()) if unseen.any() else math.inf
    gains[:] = 0.0
    for a in np.flatnonzero(unseen).tolist():
        gains[a] = math.exp(-2.0 * (pulls[a] - least))


def expected_pulls(state: State, R: Floats, members: Ints, costs: Floats, t: int, pulls: Floats) -> None:
    """`pursuit.expected_pulls`."""
    pulls[:] = state.tally.N_a
    if int(state.tally.N_a.sum()) == t:
        return
    out = (state.N_e - state.N_ea.sum(axis=1))[members]
    for i in np.flatnonzero(out > 0):
        pulls += out[i] * R[:, i] * costs[i]


def scarcest(pulls: Floats, R: Floats, costs: Floats, members: Ints, available: Bools, t: int) -> int:
    """`pursuit.scarcest`."""
    found, least = -1, 1.0
    root = math.sqrt(t / len(pulls))
    there = np.flatnonzero(available[members])
    for a in np.flatnonzero(pulls < root).tolist() if len(there) else ():
        i = there[np.argmax(R[a, there])]  # the first of equals
        reach = float(R[a, i] * costs[i])
        if pulls[a] < least * reach * root:
            found, least = a, float(pulls[a]) / (reach * root)
    return found


def add_gains(gains: Floats, R: Floats, scores: Floats) -> None:
    """`pursuit.add_gains`."""
    scores[:] = 0.0
    for a in np.flatnonzero(gains > 0.0):
        scores += gains[a] * R[a]
