"""The game behind the lower bound: T*(μ, π) and ω*(μ, π), solved with a certificate.

    T*⁻¹ = max_{ω∈Σ_E} min_{a≠1} f_a(πᵀω)                                                        # eq. (lower-bound)

One kernel, `solve`, with three ways in: the old point is re-certified (lazy), else improved by Newton steps on its own support
(warm, `active_set.py`), else found from nothing (cold, `interior_point.py`, then polished). With many more mediators than arms
the cold way works on a few mediators at a time and lets the certificate call in others.

The game of many arms and mediators: a few of each at a time, until the certificate of the whole needs no others.

Of a thousand arms few are close enough to the leader to matter, and some optimum asks no more mediators than there are such
arms. So the game is solved on some arms and some mediators; its strategies, with 0 for all others, are one pair of strategies
of the whole, whose bounds (`certificate.py`) need no more than that. Rivals with less evidence than those at hand and mediators
worth more than those at hand are then called in. Both sets only grow, so that this ends, at the latest with all of them.
"""

import math
from typing import NamedTuple

import numpy as np

from gobetween.core.bound.active_set import MEDIATORS, RIVALS, ActiveSets, new_active_sets, polish, take
from gobetween.core.bound.certificate import (
    WORTH,
    F,
    Point,
    certify,
    forget,
    improve,
    leader,
    new_ledger,
    new_point,
    relative_error,
)
from gobetween.core.bound.interior_point import OMEGA, Scratch, Y, interior, new_scratch, settle, start
from gobetween.core.evidence.eprocess import evidence
from gobetween.core.ground.jit import Bools, Floats, Ints, index, inlined, jit, leaf, part, quiet
from gobetween.core.reward.family import Family

OPTIMAL, INEXACT, TIE, UNREACHABLE = 0, 1, 2, 3
COLD, WARM = index(0), index(1)


class Workspace(NamedTuple):
    """Scratch of one solver; not to be shared between threads."""

    ledger: Floats  # [6, max(K, E)]
    sets: ActiveSets
    scratch: Scratch


@leaf
def crowd(K: int) -> int:
    """With more mediators than this, work on a few at a time."""
    return 2 * K + 16


@jit
def new_workspace(K: int, E: int) -> Workspace:
    """Scratch for problems with K arms and E mediators."""
    return Workspace(new_ledger(K, E), new_active_sets(K, E), new_scratch(K, E if crowd(K) >= E else 1))


@leaf
def warm(family: Family, mu: Floats, R: Floats, a_star: int, tol: float, point: Point, ledger: Floats, sets: ActiveSets) -> int:
    """Newton steps from the support of a point that was just certified; its relative error tells whether they worked."""
    take(MEDIATORS, point.omega, R.shape[1], sets)
    take(RIVALS, point.q, R.shape[0], sets)
    return polish(family, mu, R, a_star, tol, 1.0, point, ledger, sets)


@leaf
def attempt(
    family: Family,
    mu: Floats,
    R: Floats,
    a_star: int,
    tol: float,
    uniform: float,
    point: Point,
    ledger: Floats,
    sets: ActiveSets,
    scratch: Scratch,
) -> int:
    """Interior point method to a rough error, polish, and on with the interior point method where that does not settle it.

    The bounds of the point are only ever improved.
    """
    K, E = R.shape
    level = start(family, mu, R, a_star, uniform, scratch, ledger)
    steps, rough = 0, 1e-3
    while True:
        steps += interior(family, mu, R, level, a_star, max(tol, rough), point, ledger, scratch)
        settle(K, E, scratch)
        take(MEDIATORS, scratch.goal[OMEGA], E, sets)
        take(RIVALS, scratch.goal[Y], K, sets)
        improve(family, mu, R, a_star, sets.weight[MEDIATORS], sets.weight[RIVALS], point, ledger)
        if relative_error(point) > tol:
            steps += polish(family, mu, R, a_star, tol, rough, point, ledger, sets)
        if relative_error(point) <= tol or rough <= max(tol, 1e-14):
            return steps
        rough *= 1e-3


@leaf
def cold(
    family: Family,
    mu: Floats,
    R: Floats,
    a_star: int,
    tol: float,
    point: Point,
    ledger: Floats,
    sets: ActiveSets,
    scratch: Scratch,
) -> int:
    """Start again; where rounding spoils one way to the optimum, another start takes another way."""
    forget(point)
    steps = 0
    for uniform in (0.3, 0.9, 0.05):
        steps += attempt(family, mu, R, a_star, tol, uniform, point, ledger, sets, scratch)
        if relative_error(point) <= tol:
            break
    return steps


@leaf
def call_in(worth: Floats, chosen: Ints, most: int) -> bool:
    """Choose up to `most` mediators worth more than every chosen one, the upper half first; False if there is none."""
    E = chosen.shape[0]
    best, top = -math.inf, -math.inf
    for e in range(E):
        top = max(top, worth[e])
        if chosen[e]:
            best = max(best, worth[e])
    called = 0
    for bar in (0.5 * (best + top), best):
        for e in range(E):
            if worth[e] > bar and not chosen[e] and called < most:
                chosen[e] = 1
                called += 1
    return called > 0


@jit
def columns(R: Floats, chosen: Ints) -> Floats:
    """The rates of the chosen mediators, in order."""
    K, E = R.shape
    part, n = np.empty((K, chosen.sum())), 0
    for e in range(E):
        if chosen[e]:
            for a in range(K):
                part[a, n] = R[a, e]
            n += 1
    return part


@inlined
def crowded(family: Family, mu: Floats, R: Floats, a_star: int, tol: float, point: Point, ledger: Floats) -> int:
    """Cold, for E ≫ K: solve on a few mediators, call in those that the certificate finds underused, repeat."""
    K, E = R.shape
    chosen = np.zeros(E, np.int64)
    for a in range(K):
        chosen[np.argmax(R[a])] = 1
    steps = 0
    while True:
        part = columns(R, chosen)
        n = part.shape[1]
        few = new_point(K, n)
        steps += cold(family, mu, part, a_star, 0.5 * tol, few, new_ledger(K, n), new_active_sets(K, n), new_scratch(K, n))
        n = 0
        for e in range(E):
            point.omega[e] = few.omega[n] if chosen[e] else 0.0
            n += chosen[e]
        point.q[:] = few.q
        point.odds[:] = few.odds
        if certify(family, mu, R, a_star, point, ledger) <= tol or not call_in(ledger[WORTH], chosen, K + 8):
            return steps


@part
@quiet
def keep_up(family: Family, mu: Floats, R: Floats, tol: float, point: Point, workspace: Workspace) -> tuple[int, int]:
    """Lazy, then warm: status and number of steps; INEXACT when only a cold start can tell."""
    a_star, unique = leader(mu)
    if not unique:
        forget(point)
        return TIE, 0
    point.q[a_star] = 0.0
    if certify(family, mu, R, a_star, point, workspace.ledger) <= tol:
        return OPTIMAL, 0
    if point.bounds[1] == math.inf:
        return INEXACT, 0
    steps = warm(family, mu, R, a_star, tol, point, workspace.ledger, workspace.sets)
    return (OPTIMAL if relative_error(point) <= tol else INEXACT), steps


@jit
def solve(family: Family, mu: Floats, R: Floats, tol: float, way: int, point: Point, workspace: Workspace) -> tuple[int, int]:
    """Solve the game with means μ [K] and rates R [K, E] into `point`; returns status and number of steps."""
    steps = 0
    if way == WARM:
        status, steps = keep_up(family, mu, R, tol, point, workspace)
        if status != INEXACT:
            return status, steps
    a_star, unique = leader(mu)
    if not unique:
        forget(point)
        return TIE, 0
    for a in range(R.shape[0]):
        if a != a_star and not evidence(family, mu[a_star], mu[a], 1.0, 1.0)[0] > 0.0:
            forget(point)
            return TIE, steps  # the gap is too small for double precision
        if not R[a].max() > 0.0:
            forget(point)
            return UNREACHABLE, steps
    if R.shape[1] > crowd(R.shape[0]):
        steps += crowded(family, mu, R, a_star, tol, point, workspace.ledger)
    else:
        steps += cold(family, mu, R, a_star, tol, point, workspace.ledger, workspace.sets, workspace.scratch)
    return (OPTIMAL if relative_error(point) <= tol else INEXACT), steps


FEW = 16  # rivals to begin with, and how many may always come at a time
LARGE = 20_000  # K · E from which on it pays


def solve_large(
    family: Family, mu: Floats, R: Floats, a_star: int, tol: float, point: Point, ledger: Floats
) -> tuple[int, int]:
    """Solve the game with means μ [K], of which one is the highest, and rates R [K, E] into `point`: status, steps. What is not
    OPTIMAL is left to `solve`, as are arms that are never pulled.
    """
    certify(family, mu, R, a_star, point, ledger)
    rivals, mediators = np.zeros(len(mu), np.bool_), np.zeros(R.shape[1], np.bool_)
    rivals[a_star] = True
    rivals[np.argsort(ledger[F, : len(mu)], kind="stable")[:FEW]] = True
    steps = 0
    while True:
        mediators[np.argmax(R[rivals], axis=1)] = True
        part = np.ascontiguousarray(R[np.ix_(rivals, mediators)])
        few = new_point(*part.shape)
        status, more = solve(family, mu[rivals], part, 0.5 * tol, COLD, few, new_workspace(*part.shape))
        steps += int(more)
        if status != OPTIMAL:
            return int(status), steps
        _widen(point, few, rivals, mediators)
        if certify(family, mu, R, a_star, point, ledger) <= tol:
            return OPTIMAL, steps
        value, worth = ledger[F, : len(mu)], -ledger[WORTH, : R.shape[1]]
        called = _call_in(rivals, value, float(value[rivals].min())), _call_in(mediators, worth, float(worth[mediators].min()))
        if not any(called):
            return INEXACT, steps


def _call_in(chosen: Bools, value: Floats, under: float) -> bool:
    """Choose those with the least values, if they are under this one: as many again as there are, and a few; was there one?"""
    others = np.flatnonzero(~chosen & (value < under))
    chosen[others[np.argsort(value[others], kind="stable")][: FEW + int(chosen.sum())]] = True
    return len(others) > 0


def _widen(point: Point, few: Point, rivals: Bools, mediators: Bools) -> None:
    """Write the strategies of a few to those of all."""
    point.omega[:], point.q[:], point.odds[:] = 0.0, 0.0, 1.0
    point.omega[mediators], point.q[rivals], point.odds[rivals] = few.omega, few.q, few.odds
