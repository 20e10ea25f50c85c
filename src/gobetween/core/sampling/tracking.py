"""Simple choices of a mediator: who is furthest behind target proportions, who was asked least, or anyone at random."""

import math

from gobetween.core.ground.jit import Bools, Floats, Ints, Randomness, leaf, uniform


@leaf
def exploration_floor(E: int, t: int) -> float:
    """ε_t = (E² + t)^(−1/2)/2, the least share of any mediator at time t."""
    return 0.5 / math.sqrt(E * E + t)


@leaf
def project(omega: Floats, floor: float) -> None:
    """Overwrite ω by the nearest distribution in the L∞ norm with all entries ≥ floor.

    What the small entries lack is taken in equal parts from those above the floor, none of which may fall below it.
    """
    E = omega.shape[0]
    cut, previous = 0.0, -1.0
    while cut > previous:  # Σ max(floor, ω_e − cut) = 1, solved for cut from below: each pass clips at least one more entry
        previous = cut
        total, above = -1.0, 0
        for e in range(E):
            if omega[e] - cut > floor:
                total += omega[e]
                above += 1
            else:
                total += floor
        if above > 0 and total > cut * above:
            cut = total / above
    for e in range(E):
        omega[e] = max(floor, omega[e] - cut)


@leaf
def furthest_behind(target: Floats, N_e: Ints, members: Ints, available: Bools) -> int:
    """Argmax of target_i − N_e over the available members; −1 when none is available. Ties go to the first."""
    best, lag = -1, -math.inf
    for i in range(members.shape[0]):
        e = members[i]
        if available[e] and target[i] - N_e[e] > lag:
            best, lag = e, target[i] - N_e[e]
    return best


@leaf
def least_asked(N_e: Ints, members: Ints, available: Bools) -> int:
    """The available member asked least often; −1 when none is available."""
    best = -1
    for i in range(members.shape[0]):
        e = members[i]
        if available[e] and (best < 0 or N_e[e] < N_e[best]):
            best = e
    return best


@leaf
def forced(N_e: Ints, members: Ints, available: Bools, t: int) -> int:
    """Forced exploration around any tracker: the least asked available member while it has under √t − n/2 queries, else −1."""
    e = least_asked(N_e, members, available)
    return e if e >= 0 and N_e[e] < math.sqrt(t) - 0.5 * members.shape[0] else -1


@leaf
def box_to_ask(N_a: Ints, t: int, turns: Floats, target: Floats, N_e: Ints, members: Ints, available: Bools) -> int:
    """The next available box of a round while some arm has fewer than √(t/K) pulls, else argmin of N_e − Σω_e. That
    is in the support of Σω, as these sum to −1. turns [1] counts the boxes that went by.
    """
    n, begun, least = members.shape[0], int(turns[0]), N_a[0]
    for a in range(N_a.shape[0]):
        least = min(least, N_a[a])
    if least * least * N_a.shape[0] < t:
        for i in range(begun, begun + n):
            if available[members[i % n]]:
                turns[0] = i + 1
                return int(members[i % n])
    return furthest_behind(target, N_e, members, available)


@leaf
def random_member(members: Ints, available: Bools, rng: Randomness) -> int:
    """A member drawn uniformly from those available; −1 when none is."""
    free = 0
    for i in range(members.shape[0]):
        free += available[members[i]]
    if free == 0:
        return -1
    skip = int(uniform(rng) * free)
    for i in range(members.shape[0]):
        if available[members[i]]:
            if skip == 0:
                return int(members[i])
            skip -= 1
    return -1
