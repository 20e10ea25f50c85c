"""The game of many arms and mediators: a few of each at a time, until the certificate of the whole calls in nobody else.

Of a thousand arms few are close enough to the leader to matter, and some optimum asks no more mediators than there are such
arms. So the game is solved on some arms and some mediators; its strategies, with 0 for all others, are one pair of strategies
of the whole, whose bounds (`certificate.py`) need no more than that. Rivals with less evidence than those at hand and mediators
worth more than those at hand are then called in. Both sets only grow, so that this ends, at the latest with all of them.
"""

import numpy as np

from gobetween.core.certificate import WORTH, F, Point, certify, new_point
from gobetween.core.family import Family
from gobetween.core.game import COLD, INEXACT, OPTIMAL, new_workspace, solve
from gobetween.core.types import Bools, Floats

FEW = 16  # rivals to begin with, and how many may always come at a time
LARGE = 20_000  # K · E from which on it pays


def solve_large(
    family: Family, mu: Floats, R: Floats, a_star: int, tol: float, point: Point, ledger: Floats
) -> tuple[int, int]:
    """Solve the game with means μ [K], of which one is the highest, and rates R [K, E] into `point`: status, steps. What is not
    OPTIMAL is left to `solve`, as are arms that nobody pulls.
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
