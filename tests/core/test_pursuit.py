"""The loops of pursuit, against the same on whole arrays, to the last bit: each sum is added up in the same order."""

import math

import numpy as np
import pytest

from gobetween.core.evidence.lift_table import sort_first
from gobetween.core.ground.jit import Bools, Floats, Ints
from gobetween.core.ground.tally import State, fill, new_state
from gobetween.core.sampling import pursuit


def unseen_gains(N_a: Ints, N_e: Ints, R: Floats, members: Ints, costs: Floats, gains: Floats) -> None:
    unseen = N_a == 0
    pulls = np.zeros(len(N_a))
    for i in np.flatnonzero(N_e[members]):  # others add nothing
        pulls += N_e[members[i]] * R[:, i] * costs[i]
    least = float(pulls[unseen].min()) if unseen.any() else math.inf
    gains[:] = 0.0
    for a in np.flatnonzero(unseen).tolist():
        gains[a] = math.exp(-2.0 * (pulls[a] - least))


def expected_pulls(state: State, R: Floats, members: Ints, costs: Floats, t: int, pulls: Floats) -> None:
    pulls[:] = state.tally.N_a
    if int(state.tally.N_a.sum()) == t:
        return
    out = (state.N_e - state.N_ea.sum(axis=1))[members]
    for i in np.flatnonzero(out > 0):
        pulls += out[i] * R[:, i] * costs[i]


def scarcest(pulls: Floats, R: Floats, costs: Floats, members: Ints, available: Bools, t: int) -> int:
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
    scores[:] = 0.0
    for a in np.flatnonzero(gains > 0.0):
        scores += gains[a] * R[a]


def draw(seed: int) -> tuple[np.random.Generator, State, np.ndarray, np.ndarray, np.ndarray]:
    """A state of K arms and E mediators, their rates [K, n], the n members and their costs; many numbers are equal."""
    rng = np.random.default_rng(seed)
    K, E = int(rng.integers(2, 40)), int(rng.integers(1, 40))
    state = new_state(K, E)
    state.N_ea[:] = rng.poisson(rng.choice([0.05, 1.0]), (E, K + 1))
    state.N_e[:] = state.N_ea.sum(axis=1) + rng.poisson(0.5, E)
    N_a = state.N_ea[:, :-1].sum(axis=0)
    fill(state.tally, N_a, rng.random(K) * N_a)
    members = np.flatnonzero(rng.random(E) < 0.9) if E > 1 else np.arange(1)
    members = (members if len(members) else np.arange(1)).astype(np.int64)
    costs = rng.choice([0.5, 1.0, 3.0], len(members))
    policies = rng.dirichlet(np.full(K, 0.3), len(members)).round(int(rng.integers(1, 9)))
    return rng, state, np.ascontiguousarray((policies / costs[:, None]).T), members, costs


@pytest.mark.parametrize("seed", range(200))
def test_loops_give_the_same_bits_as_whole_arrays(seed: int) -> None:
    rng, state, R, members, costs = draw(seed)
    K, n, t = len(R), len(members), int(state.N_e.sum() + rng.integers(0, 400))
    available, N_a = rng.random(len(state.N_e)) < 0.8, state.tally.N_a
    gains, pulls, scores = np.full(K, 7.0), np.full(K, 7.0), np.full(n, 7.0)
    pursuit.unseen_gains(N_a, state.N_e, R, members, costs, gains)
    pursuit.add_gains(gains, R, scores)
    pursuit.expected_pulls(state, R, members, costs, t, pulls)
    scarce = pursuit.scarcest(pulls, R, costs, members, available, t)
    ours = [gains.tobytes(), scores.tobytes(), pulls.tobytes(), scarce]
    unseen_gains(N_a, state.N_e, R, members, costs, gains)
    add_gains(gains, R, scores)
    expected_pulls(state, R, members, costs, t, pulls)
    assert ours == [gains.tobytes(), scores.tobytes(), pulls.tobytes(), scarcest(pulls, R, costs, members, available, t)]


@pytest.mark.parametrize("n", [0, 1, 2, 5, 30, 1000])
def test_sorting_in_place(n: int) -> None:
    values = np.random.default_rng(n).integers(0, 50, n + 3).astype(np.float64)
    expected = np.concatenate([np.sort(values[:n]), values[n:]])
    sort_first(values, n)
    assert values.tolist() == expected.tolist()


@pytest.mark.parametrize("seed", range(100))
def test_the_highest_score_wins_and_among_equals_whoever_was_asked_least(seed: int) -> None:
    """Of some members only, as after pruning: places among them are not places among all."""
    rng = np.random.default_rng(seed)
    E = int(rng.integers(2, 9))
    members = np.sort(rng.choice(E, int(rng.integers(1, E + 1)), replace=False)).astype(np.int64)
    scores, available = rng.integers(0, 3, len(members)).astype(np.float64), rng.random(E) < 0.8
    N_e, unknown = rng.integers(0, 4, E), rng.random(len(members)) < 0.5
    there = [i for i, e in enumerate(members) if available[e] and scores[i] > 0.0]
    wanted = min(there, key=lambda i: (-scores[i], N_e[members[i]], i), default=None)
    assert pursuit.highest(scores, members, available, N_e) == (-1 if wanted is None else members[wanted])
    strange = [e for i, e in enumerate(members) if unknown[i] and available[e]]
    least = min(strange, key=lambda e: (N_e[e], e), default=None)
    t = int(rng.integers(0, 100))
    due = least is not None and N_e[least] < pursuit.STRANGE * np.sqrt(t) - 0.5 * len(members)
    assert pursuit.stranger(unknown, members, available, N_e, t) == (least if due else -1)
