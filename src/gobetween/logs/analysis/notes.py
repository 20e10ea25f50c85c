"""What an analyst should know about how a log was read, as facts (`words/log_notes.py` has the sentences).

Are rewards missing more often in some groups of rows than in others? An e-value that may be looked at at any time. In a group
of n rows m lack their reward. If every row lacks it with the same probability p, then

    E = ∏ KT(m_g, n_g − m_g) / sup over p of p^m (1 − p)^(n − m)

is at most a martingale that begins at 1, KT being the Krichevsky–Trofimov mixture: E ever reaches 1/α with probability at
most α.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from gobetween.core.ground.jit import Ints
from gobetween.core.reward.mixtures import log_kt, log_likelihood
from gobetween.files.cells import WORDS
from gobetween.logs.analysis.policies import CLOSE, VARIES, propensity_policy
from gobetween.logs.reading.counts import NOT_PAID, NOT_TOGETHER, NOT_UTF8, LogStats
from gobetween.logs.reading.names import look_alikes
from gobetween.logs.reading.options import LogOptions

LEVEL = 0.01  # of the note that rewards are missing unevenly


class RewardWords(NamedTuple):
    """Rewards that are words, and the numbers they were read as."""

    words: tuple[tuple[str, float], ...]


class LeftOut(NamedTuple):
    """Rows that were not asked for."""

    rows: int


class LookAlikes(NamedTuple):
    """Arms or mediators whose names hardly differ."""

    what: str
    groups: tuple[tuple[str, ...], ...]


class UnusedNames(NamedTuple):
    """Names that were to be renamed and are not in the log."""

    names: tuple[str, ...]


class ImpossibleRewards(NamedTuple):
    """Rows that were left out because of what they paid: what is left was chosen by its rewards."""

    rows: int
    family: str


class OneSided(NamedTuple):
    """Rows that were left out are all of one arm or mediator, or nobody can say of which: they were not in UTF-8."""

    rows: int
    what: str
    name: str | None


class MissingRewards(NamedTuple):
    """Rows without a reward, and with what they are missing more often."""

    rows: int
    by_arm: tuple[tuple[str, int, int], ...]  # name, missing rewards and rows, those that lack most first
    by_mediator: tuple[tuple[str, int, int], ...]
    uneven: str | None  # arm or mediator, where they are certainly missing more often with some of them


class VaryingPropensities(NamedTuple):
    """Mediators whose probabilities vary from row to row."""

    mediators: tuple[str, ...]


class NoPolicies(NamedTuple):
    """Mediators whose probabilities make no policy."""

    found: tuple[tuple[str, float, str], ...]
    """Name, the sum over its arms, and why: too much, no room for silence, an arm never chosen, or the rest not said."""


Note = (
    RewardWords
    | LeftOut
    | LookAlikes
    | UnusedNames
    | ImpossibleRewards
    | OneSided
    | MissingRewards
    | VaryingPropensities
    | NoPolicies
)


def notes_of(stats: LogStats, options: LogOptions) -> tuple[Note, ...]:
    """The ones that may change the answer first."""
    return tuple(
        (
            *_impossible(stats, options),
            *_one_sided(stats),
            *_missing_rewards(stats),
            *_alike(stats, options),
            *_unused(stats, options),
            *_propensities(stats),
            *_read(stats),
        )
    )


def _read(stats: LogStats) -> Iterator[Note]:
    if stats.words:
        yield RewardWords(tuple((word, WORDS[word]) for word in sorted(stats.words)))
    if stats.left_out:
        yield LeftOut(stats.left_out)


def _alike(stats: LogStats, options: LogOptions) -> Iterator[Note]:
    for what, names in (("arms", stats.arms), ("mediators", stats.mediators)):
        groups = look_alikes(names)
        if groups and not options.fold:
            yield LookAlikes(what, tuple(map(tuple, groups)))


def _unused(stats: LogStats, options: LogOptions) -> Iterator[Note]:
    unused = sorted(set(options.rename or {}) - stats.renamed)
    if unused:
        yield UnusedNames(tuple(unused))


def _impossible(stats: LogStats, options: LogOptions) -> Iterator[Note]:
    out = sum(stats.kinds.get(kind, 0) for kind in (NOT_PAID, NOT_TOGETHER))
    if out:
        yield ImpossibleRewards(out, options.family.name)


def _one_sided(stats: LogStats) -> Iterator[Note]:
    if stats.one_sided is not None:
        yield OneSided(stats.bad_count, *stats.one_sided)
    if stats.kinds.get(NOT_UTF8):
        yield OneSided(stats.kinds[NOT_UTF8], "arm or mediator", None)


def _missing_rewards(stats: LogStats) -> Iterator[Note]:
    """Missing rewards by arm and by mediator, and whether they are missing more often with some."""
    if not stats.missing:
        return
    by_arm, by_mediator, limit = _shares(stats, 1), _shares(stats, 0), -math.log(LEVEL)
    uneven = "arm" if _by_arm(stats) >= limit else "mediator" if log_missing_evidence(*_columns(by_mediator)) >= limit else None
    yield MissingRewards(sum(stats.missing.values()), tuple(by_arm), tuple(by_mediator), uneven)


def _shares(stats: LogStats, side: int) -> list[tuple[str, int, int]]:
    """Of each mediator (side 0) or arm (1) its name, missing rewards and rows, those that lack most first."""
    names = (stats.mediators, stats.arms)[side]
    counted = dict(zip(names, stats.N_ea.sum(axis=1 - side).tolist(), strict=True))
    lacking: dict[str, int] = {}
    for pair, number in stats.missing.items():
        lacking[pair[side]] = lacking.get(pair[side], 0) + number
    every = dict.fromkeys([*names, *lacking])
    found = [(name, lacking.get(name, 0), lacking.get(name, 0) + counted.get(name, 0)) for name in every]
    return sorted((one for one in found if one[2]), key=lambda one: (-one[1] / one[2], one[0]))


def _by_arm(stats: LogStats) -> float:
    """Ln E against "whether a mediator's reward is missing does not depend on the arm"."""
    m = np.zeros_like(stats.N_ea)
    for (mediator, arm), number in stats.missing.items():
        if mediator in stats.mediators and arm in stats.arms:
            m[stats.mediators.index(mediator), stats.arms.index(arm)] = number
    return log_uneven(m, m + stats.N_ea)


def log_uneven(m: Ints, n: Ints) -> float:
    """The same from missing rewards and rows [E, K]: the mean over mediators."""
    found = [log_missing_evidence(lacking[rows > 0], rows[rows > 0]) for lacking, rows in zip(m, n, strict=True)]
    return float(np.logaddexp.reduce(found)) - math.log(len(found))


def _columns(shares: Iterable[tuple[str, int, int]]) -> tuple[Ints, Ints]:
    m, n = zip(*((m, n) for _, m, n in shares), strict=True)
    return np.array(m, np.int64), np.array(n, np.int64)


def _propensities(stats: LogStats) -> Iterator[Note]:
    """Do the probabilities of a mediator vary, or not make a policy?"""
    said = stats.propensities
    varying = sorted({e for (e, _), (low, high) in said.items() if high - low > VARIES})
    if varying:
        yield VaryingPropensities(tuple(varying))
    others = {e: total for e, total in _totals(said).items() if e not in varying and propensity_policy(stats, e) is None}
    if others:
        yield NoPolicies(tuple((name, total, _why(stats, name, total)) for name, total in sorted(others.items())))


def _why(stats: LogStats, mediator: str, total: float) -> str:
    """What is wrong with a sum."""
    if total <= 1.0 + CLOSE and stats.silent[stats.mediators.index(mediator)]:
        return "no room for silence" if total >= 1.0 - CLOSE else "an arm never chosen"
    return "too much" if total > 1.0 else "the rest not said"


def _totals(said: Mapping[tuple[str, str], tuple[float, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for (e, _), (_, high) in said.items():
        found[e] = found.get(e, 0.0) + high
    return found


def log_missing_evidence(m: Ints, n: Ints) -> float:
    """Ln E from missing rewards and rows [G] of each group; half of E is that of all groups together, half the mean over
    each of them against the rest.
    """
    G = len(n)
    if G < 2 or not m.any():
        return 0.0
    groups = np.stack([m, n - m], axis=1)
    null, each = float(log_likelihood(groups.sum(axis=0))), log_kt(groups.astype(np.float64))
    together = each.sum() - null
    if G == 2:
        return float(together)
    alone = each + log_kt((groups.sum(axis=0) - groups).astype(np.float64)) - null
    return float(np.logaddexp.reduce([together - math.log(2.0), *(alone - math.log(2.0 * G))]))
