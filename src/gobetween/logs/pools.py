"""Mediators who choose alike, taken together: whichever of them is asked, one learns the same."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gobetween.core.mixtures import log_kt
from gobetween.core.problem import unreachable_arms
from gobetween.core.types import Bools, Floats, Ints
from gobetween.logs.counts import LogStats
from gobetween.logs.options import LogOptions
from gobetween.logs.policies import declared_policies

SAME = 1e-9  # how far declared shares may be apart
#: Ln of the odds for "one policy" against "two", both Krichevsky–Trofimov mixtures, from which on mediators are not told apart.
ALIKE = math.log(3.0)


def pools_of(counts: Ints, declared: Sequence[Sequence[float] | None]) -> tuple[tuple[int, ...], ...]:
    """Mediators by the policy they have declared, or by one that their rows do not tell apart; each joins the first pool whose
    rows are likest to its own. counts [E, C]: rows of each arm, and of silence where it counts.
    """
    found: list[list[int]] = []
    for e in np.argsort(-counts.sum(axis=1), kind="stable").tolist():
        at = _place(e, found, counts, declared)
        if at is None:
            found.append([e])
        else:
            found[at].append(e)
    return tuple(sorted(tuple(sorted(pool)) for pool in found))


def _place(e: int, pools: list[list[int]], counts: Ints, declared: Sequence[Sequence[float] | None]) -> int | None:
    """The pool that a mediator joins."""
    mine, best, at = declared[e], ALIKE, None
    for i, pool in enumerate(pools):
        theirs = declared[pool[0]]
        if mine is not None and theirs is not None:
            if max(abs(p - q) for p, q in zip(mine, theirs, strict=True)) <= SAME:
                return i
        elif mine is None and theirs is None:
            odds = log_odds(counts[e], counts[pool].sum(axis=0))
            if odds >= best:
                best, at = odds, i
    return at


def log_odds(one: Ints, other: Ints) -> float:
    """Ln of the odds that two rows of counts [C] have one policy; 0 where one of them is empty."""
    parts: Floats = np.stack([one + other, one, other]).astype(np.float64)
    both, first, second = log_kt(parts).tolist()
    return float(both - first - second)


class Cast(NamedTuple):
    """Mediators in pools, as they are planned with."""

    pools: tuple[tuple[int, ...], ...]
    counts: Ints  # [P, C] rows of each arm, and of silence where it counts
    policies: Floats  # [P, K] as declared, or as estimated
    declared: Bools  # [P]

    @property
    def known(self) -> bool:
        """Is there a policy of everybody, and somebody for every arm?"""
        used = self.declared | (self.counts[:, : self.policies.shape[1]].sum(axis=1) > 0)
        return bool(used.all()) and not len(unreachable_arms(self.policies))

    def by_mediator(self, shares: Floats) -> Floats:
        """[E] shares of pools [P], those of a pool among its members alike."""
        found = np.empty(sum(map(len, self.pools)))
        for pool, share in zip(self.pools, shares.tolist(), strict=True):
            found[list(pool)] = share / len(pool)
        return found


def cast_of(options: LogOptions, stats: LogStats) -> Cast:
    """The mediators of a log; shares are those of answers unless silence counts."""
    counts = np.column_stack([stats.N_ea, stats.silent]) if options.silence else stats.N_ea
    said, K = declared_policies(options, stats), len(stats.arms)
    pools = pools_of(counts, said)
    summed = np.array([counts[list(pool)].sum(axis=0) for pool in pools])
    policies = summed[:, :K] / np.maximum(1, summed.sum(axis=1, keepdims=True))
    declared = np.array([said[pool[0]] is not None for pool in pools])
    for i in np.flatnonzero(declared).tolist():
        policies[i] = said[pools[i][0]]
    return Cast(pools, summed, policies, declared)
