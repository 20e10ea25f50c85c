"""Mediators who choose alike, taken together: whichever of them is asked, one learns the same."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.problem.cast import are_known, unreachable_arms
from gobetween.core.reward.mixtures import log_kt
from gobetween.logs.analysis.policies import declared_policies
from gobetween.logs.reading.counts import LogStats
from gobetween.logs.reading.options import LogOptions

SAME = 1e-9  # to so much declared shares are compared
WORK = 10_000_000  # E² C, of comparing mediators with each other: a fraction of a second
#: Ln of the odds for "one policy" against "two", both Krichevsky–Trofimov mixtures, from which on mediators are not told apart.
ALIKE = math.log(3.0)


def policy_groups_of(counts: Ints, declared: Sequence[Sequence[float] | None]) -> tuple[tuple[int, ...], ...]:
    """Mediators by the policy they have declared, or by one that their rows do not tell apart: each joins the group whose rows
    are likest to its own, those with most rows first. counts [E, C]: rows of each arm, and of silence where it counts.
    """
    by_policy: dict[bytes, list[int]] = {}
    for e, row in enumerate(declared):
        if row is not None:
            by_policy.setdefault(np.round(np.array(row) / SAME).tobytes(), []).append(e)
    others = [e for e in np.argsort(-counts.sum(axis=1), kind="stable").tolist() if declared[e] is None]
    found = [*by_policy.values(), *_alike(others, counts.astype(np.float64))]
    return tuple(sorted(tuple(sorted(group)) for group in found))


def _alike(mediators: Sequence[int], counts: Floats) -> list[list[int]]:
    """Pools of mediators whose policies are estimated; where that would be too much work, each is alone."""
    if len(mediators) ** 2 * counts.shape[1] > WORK:
        return [[e] for e in mediators]
    groups: list[list[int]] = []
    summed, own = np.zeros_like(counts), np.zeros(len(counts))  # of each group, and ln of its probability
    for e in mediators:
        odds = log_kt(summed[: len(groups)] + counts[e]) - own[: len(groups)] - log_kt(counts[e])
        at = int(np.argmax(odds)) if len(groups) and odds.max() >= ALIKE else len(groups)
        if at == len(groups):
            groups.append([])
        groups[at].append(e)
        summed[at] += counts[e]
        own[at] = log_kt(summed[at])
    return groups


class GroupedMediators(NamedTuple):
    """Mediators in groups, as they are planned with."""

    groups: tuple[tuple[int, ...], ...]
    counts: Ints  # [P, C] rows of each arm, and of silence where it counts
    said: Floats  # [P, K] as declared; NaN where a probability is not known
    policies: Floats  # [P, K] as declared, or as estimated

    @property
    def known(self) -> bool:
        """Is there a policy of everybody, and somebody for every arm?"""
        used = are_known(self.said) | (self.counts[:, : self.policies.shape[1]].sum(axis=1) > 0)
        return bool(used.all()) and not len(unreachable_arms(self.policies))

    def by_mediator(self, shares: Floats) -> Floats:
        """[E] shares of groups [P], those of a group among its members alike."""
        found = np.empty(sum(map(len, self.groups)))
        for group, share in zip(self.groups, shares.tolist(), strict=True):
            found[list(group)] = share / len(group)
        return found


def group_mediators(options: LogOptions, stats: LogStats) -> GroupedMediators:
    """The mediators of a log; shares are those of answers unless silence counts."""
    counts = np.column_stack([stats.N_ea, stats.silent]) if options.silence else stats.N_ea
    said, K = declared_policies(options, stats), len(stats.arms)
    rows = np.array([np.full(K, np.nan) if row is None else row for row in said])
    groups = policy_groups_of(counts, [row if known else None for row, known in zip(rows, are_known(rows), strict=True)])
    summed = np.array([counts[list(group)].sum(axis=0) for group in groups])
    grouped = np.array([_said_of(rows[list(group)]) for group in groups])
    estimated = summed[:, :K] / np.maximum(1, summed.sum(axis=1, keepdims=True))
    return GroupedMediators(groups, summed, grouped, np.where(are_known(grouped)[:, None], grouped, estimated))


def _said_of(rows: Floats) -> Floats:
    """[K] what is declared of a group: its policy, or else only which arms none of its members ever pulls."""
    return rows[0] if are_known(rows).all() else np.where((rows == 0.0).all(axis=0), 0.0, np.nan)
