"""What plain Python runs on whole arrays gives the same bits as the loops that are compiled."""

import inspect
from typing import Any

import numpy as np
import pytest

from gobetween.core import pursuit, whole
from gobetween.core.jit import ENABLED
from gobetween.core.lifts import sort_first
from gobetween.core.state import State, fill, new_state


def loops(name: str) -> Any:
    """The loops themselves: compiled, or as Python where the twin has taken their place."""
    found = getattr(pursuit, name)
    return found if ENABLED else inspect.unwrap(found)


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
def test_whole_arrays_give_the_same_bits_as_loops(seed: int) -> None:
    rng, state, R, members, costs = draw(seed)
    K, n, t = len(R), len(members), int(state.N_e.sum() + rng.integers(0, 400))
    available = rng.random(len(state.N_e)) < 0.8
    found = []
    for part in (whole, None):
        run = (lambda name: getattr(whole, name)) if part else loops
        gains, pulls, scores = np.full(K, 7.0), np.full(K, 7.0), np.full(n, 7.0)
        run("unseen_gains")(state.tally.N_a, state.N_e, R, members, costs, gains)
        run("add_gains")(gains, R, scores)
        run("expected_pulls")(state, R, members, costs, t, pulls)
        scarce = run("scarcest")(pulls, R, costs, members, available, t)
        found.append([gains.tobytes(), scores.tobytes(), pulls.tobytes(), scarce])
    assert found[0] == found[1]


@pytest.mark.parametrize("n", [0, 1, 2, 5, 30, 1000])
def test_sorting_in_place(n: int) -> None:
    values = np.random.default_rng(n).integers(0, 50, n + 3).astype(np.float64)
    expected = np.concatenate([np.sort(values[:n]), values[n:]])
    sort_first(values, n)
    assert values.tolist() == expected.tolist()
