"""The game behind the lower bound: T*(μ, π) and ω*(μ, π), solved with a certificate.

    T*⁻¹ = max_{ω∈Σ_E} min_{a≠1} f_a(πᵀω)                                                        # eq. (lower-bound)

One kernel, `solve`, with three ways in: the old point is re-certified (lazy), else improved by Newton steps on its own support
(warm, `active.py`), else found anew (cold, `interior.py`, then polished). With many more mediators than arms the cold way works
on a few mediators at a time and lets the certificate call in others.
"""

import math
from typing import NamedTuple

import numpy as np

from gobetween.core.active import Sets, new_sets, polish, take
from gobetween.core.certificate import Point, Ledger, certify, gap_between, leader, new_point, new_ledger
from gobetween.core.families import Family
from gobetween.core.interior import Room, interior, new_room, settle, start
from gobetween.core.jit import jit
from gobetween.core.types import Floats

OPTIMAL, INEXACT, TIE, UNREACHABLE = 0, 1, 2, 3
COLD, WARM = 0, 1


class Space(NamedTuple):
    """Scratch of one solver; not shared between threads."""

    ledger: Ledger
    sets: Sets
    room: Room


@jit
def new_space(K: int, E: int) -> Space:
    """Scratch for problems with K arms and E mediators."""
    return Space(new_ledger(K, E), new_sets(K, E), new_room(K, E if E <= crowd(K) else 1))


@jit
def crowd(K: int) -> int:
    """With more mediators than this, work on a few at a time."""
    return 2 * K + 16


@jit
def give_up(point: Point) -> None:
    """Uniform weights and no bounds."""
    K, E = point.q.shape[0], point.omega.shape[0]
    point.omega[:] = 1.0 / E
    point.q[:] = 1.0 / K
    point.split[:] = 0.5
    point.bounds[0], point.bounds[1] = 0.0, math.inf


@jit
def warm(family: Family, mu: Floats, R: Floats, a_star: int, tol: float, point: Point, space: Space) -> int:
    """Lazy, then warm: returns the number of Newton steps; the point's gap tells whether it worked."""
    point.q[a_star] = 0.0
    if certify(family, mu, R, a_star, point, space.ledger) <= tol or point.bounds[1] == math.inf:
        return 0
    take(point.omega, point.q, space.sets)
    return polish(family, mu, R, a_star, tol, False, point, space.ledger, space.sets)


@jit
def cold(family: Family, mu: Floats, R: Floats, a_star: int, tol: float, point: Point, space: Space) -> int:
    """Interior point method to a rough gap, polish, and on with the interior point method where that does not settle it."""
    give_up(point)
    room = space.room
    F = start(family, mu, R, a_star, room, space.ledger)
    steps, rough = 0, 1e-3
    while rough > 1e-14:
        steps += interior(family, mu, R, F, a_star, max(tol, rough), point, space.ledger, room)
        settle(room.at, room.step, room.goal.omega, room.goal.y)
        take(room.goal.omega, room.goal.y, space.sets)
        steps += polish(family, mu, R, a_star, tol, rough < 1e-4, point, space.ledger, space.sets)
        if gap_between(point) <= tol or rough < tol:
            return steps
        rough *= 1e-3
    return steps


@jit
def crowded(family: Family, mu: Floats, R: Floats, a_star: int, tol: float, point: Point, ledger: Ledger) -> int:
    """Cold, for E ≫ K: solve on a few mediators, call in those that the certificate finds underused, repeat."""
    K, E = R.shape
    chosen = np.zeros(E, np.bool_)
    for a in range(K):
        chosen[np.argmax(R[a])] = True
    steps = 0
    give_up(point)
    for _ in range(E):
        few = np.flatnonzero(chosen)
        part, room = new_point(K, few.shape[0]), new_space(K, few.shape[0])
        steps += cold(family, mu, R[:, few].copy(), a_star, 0.5 * tol, part, room)
        point.omega[:] = 0.0
        point.omega[few] = part.omega
        point.q[:] = part.q
        point.split[:] = part.split
        if certify(family, mu, R, a_star, point, ledger) <= tol:
            return steps
        best = np.max(ledger.worth[few])
        order = np.argsort(-ledger.worth)[: K + 8]
        before = few.shape[0]
        for e in order:
            if ledger.worth[e] > best:
                chosen[e] = True
        if np.sum(chosen) == before:
            return steps
    return steps


@jit
def solve(family: Family, mu: Floats, R: Floats, tol: float, way: int, point: Point, space: Space) -> tuple[int, int]:
    """Solve the game with means μ [K] and rates R [K, E] into `point`; returns status and number of steps."""
    a_star, unique = leader(mu)
    if not unique:
        give_up(point)
        return TIE, 0
    steps = 0
    if way == WARM:
        steps = warm(family, mu, R, a_star, tol, point, space)
        if gap_between(point) <= tol:
            return OPTIMAL, steps
    for a in range(mu.shape[0]):
        if not R[a].max() > 0.0:
            give_up(point)
            return UNREACHABLE, steps
    if R.shape[1] > crowd(R.shape[0]):
        steps += crowded(family, mu, R, a_star, tol, point, space.ledger)
    else:
        steps += cold(family, mu, R, a_star, tol, point, space)
    return (OPTIMAL if gap_between(point) <= tol else INEXACT), steps
