"""What a run has seen: counts and sums, updated by `observe`. Nothing here depends on how queries were chosen.

Sums that can be corrected: kept exactly, so that an answer can be taken out again as if it had never been told.
"""

from typing import NamedTuple

import numpy as np

from gobetween.core.ground.jit import Floats, Ints, jit, part


class Tally(NamedTuple):
    """Sufficient statistics of the rewards."""

    N_a: Ints  # [K] pulls of each arm
    S_a: Floats  # [K] sum of their rewards
    mu_hat: Floats  # [K] S_a/N_a; 0 for arms never seen


class State(NamedTuple):
    """All that sampling rules look at."""

    N_ea: Ints  # [E, K+1] answers of each mediator by arm; the last column counts silence
    N_e: Ints  # [E] queries issued to each mediator, pending ones included
    tally: Tally


@jit
def new_tally(K: int) -> Tally:
    """Nothing seen."""
    return Tally(np.zeros(K, np.int64), np.zeros(K), np.zeros(K))


@jit
def new_state(K: int, E: int) -> State:
    """Nothing asked, nothing seen."""
    return State(np.zeros((E, K + 1), np.int64), np.zeros(E, np.int64), new_tally(K))


def fill(tally: Tally, N_a: Ints, S_a: Floats) -> Tally:
    """The tally with these counts [K] and sums [K] instead of its own."""
    tally.N_a[:], tally.S_a[:] = N_a, S_a
    tally.mu_hat[:] = np.where(tally.N_a > 0, tally.S_a / np.maximum(tally.N_a, 1), 0.0)
    return tally


@part
def count(tally: Tally, a: int, reward: float) -> None:
    """One more reward of arm a."""
    tally.N_a[a] += 1
    tally.S_a[a] += reward
    tally.mu_hat[a] = tally.S_a[a] / tally.N_a[a]


@part
def seen_all(N_a: Ints) -> bool:
    """Has every arm been seen?"""
    for a in range(N_a.shape[0]):
        if N_a[a] == 0:
            return False
    return True


@part
def best_seen(mu_hat: Floats) -> int:
    """The leader: the first arm with the highest estimate."""
    best = 0
    for a in range(1, mu_hat.shape[0]):
        if mu_hat[a] > mu_hat[best]:
            best = a
    return best


@part
def clear(state: State) -> None:
    """Back to nothing asked, nothing seen."""
    state.N_ea[:] = 0
    state.N_e[:] = 0
    state.tally.N_a[:] = 0
    state.tally.S_a[:] = 0.0
    state.tally.mu_hat[:] = 0.0


def add_exactly(partials: list[float], x: float) -> None:
    """Add x to a sum that is kept exactly, as floats that do not overlap (Shewchuk): a correction can take it out again."""
    kept = 0
    for y in partials:
        big, small = (x, y) if abs(x) >= abs(y) else (y, x)
        high = big + small
        low = small - (high - big)
        if low:
            partials[kept] = low
            kept += 1
        x = high
    partials[kept:] = [x]
