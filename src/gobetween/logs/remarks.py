"""What an analyst should know about how a log was read: words, names, gaps, policies."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from gobetween.core.gaps import log_gap_evidence
from gobetween.core.types import Ints
from gobetween.export import numbered
from gobetween.logs.counts import NOT_PAID, NOT_TOGETHER, LogStats
from gobetween.logs.names import look_alikes
from gobetween.logs.options import LogOptions
from gobetween.logs.policies import CLOSE, VARIES, said_policy
from gobetween.logs.style import WORDS

SHOWN = 10
LEVEL = 0.01  # of the remark that rewards are missing unevenly


def remarks(stats: LogStats, options: LogOptions) -> tuple[str, ...]:
    """Sentences, the ones that may change the answer first."""
    return tuple(
        (
            *_impossible(stats, options),
            *_gaps(stats),
            *_alike(stats, options),
            *_unused(stats, options),
            *_propensities(stats),
            *_read(stats),
        )
    )


def _read(stats: LogStats) -> Iterator[str]:
    if stats.words:
        told = ", ".join(f"{word} as {WORDS[word]:g}" for word in sorted(stats.words))
        yield f"Some rewards are words, which are read as numbers: {told}."
    if stats.left_out:
        yield f"{numbered(stats.left_out, 'row was', 'rows were')} not asked for and left out."


def _alike(stats: LogStats, options: LogOptions) -> Iterator[str]:
    for what, names in (("Arms", stats.arms), ("Mediators", stats.mediators)):
        groups = look_alikes(names)
        if groups and not options.fold:
            told = "; ".join(" and ".join(map(repr, group)) for group in groups[:SHOWN]) + _rest(groups)
            yield f"{what} whose names differ by case, spaces or spelling alone are counted apart (fold joins them): {told}."


def _unused(stats: LogStats, options: LogOptions) -> Iterator[str]:
    unused = sorted(set(options.rename or {}) - stats.renamed)
    if unused:
        yield f"Names that were to be renamed and are not in the log: {', '.join(map(repr, unused[:SHOWN]))}{_rest(unused)}."


def _impossible(stats: LogStats, options: LogOptions) -> Iterator[str]:
    """Rows that were left out because of what they paid: what is left was chosen by its rewards."""
    out = sum(stats.kinds.get(kind, 0) for kind in (NOT_PAID, NOT_TOGETHER))
    if out:
        yield (
            f"{numbered(out, 'row was', 'rows were')} left out for rewards that are not possible in the {options.family.name} "
            "family: what is left is chosen by its rewards, so that the guarantee does not hold. Is the family right?"
        )


def _gaps(stats: LogStats) -> Iterator[str]:
    """Missing rewards by arm and by mediator, and whether they are missing more often with some."""
    if not stats.missing:
        return
    total = sum(stats.missing.values())
    shares = [_shares(stats, side) for side in (1, 0)]
    by_arm, by_mediator = (", ".join(f"{name!r} {m / n:.1%}" for name, m, n in part[:SHOWN]) + _rest(part) for part in shares)
    yield f"Rewards are missing in {numbered(total, 'row')}: by arm {by_arm}; by mediator {by_mediator}."
    limit = -math.log(LEVEL)
    if _by_arm(stats) >= limit:
        yield (
            "They are missing more often with some arms than with others (said falsely with probability at most "
            f"{LEVEL:g}): if that depends on what was paid, estimates are off and the guarantee does not hold."
        )
    elif log_gap_evidence(*_columns(shares[1])) >= limit:
        yield f"They are missing more often with some mediators than with others (falsely: at most {LEVEL:g})."


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
    found = [log_gap_evidence(lacking[rows > 0], rows[rows > 0]) for lacking, rows in zip(m, n, strict=True)]
    return float(np.logaddexp.reduce(found)) - math.log(len(found))


def _columns(shares: Iterable[tuple[str, int, int]]) -> tuple[Ints, Ints]:
    m, n = zip(*((m, n) for _, m, n in shares), strict=True)
    return np.array(m, np.int64), np.array(n, np.int64)


def _propensities(stats: LogStats) -> Iterator[str]:
    """Do the probabilities of a mediator vary, or not make a policy?"""
    said = stats.propensities
    varying = sorted({e for (e, _), (low, high) in said.items() if high - low > VARIES})
    if varying:
        told = ", ".join(map(repr, varying[:SHOWN])) + _rest(varying)
        yield f"Propensities of {told} vary from row to row: their policies are averages, estimated from what they did."
    others = {e: total for e, total in _totals(said).items() if e not in varying and said_policy(stats, e) is None}
    for name, total in sorted(others.items())[:SHOWN]:
        why = _why(stats, name, total)
        yield f"Propensities of {name!r} sum to {total:.4g} over its arms{why}: they are no policy, and not used."


def _why(stats: LogStats, mediator: str, total: float) -> str:
    """What is wrong with a sum."""
    if total <= 1.0 + CLOSE and stats.silent[stats.mediators.index(mediator)]:
        return (
            ", which leaves no room for its silence" if total >= 1.0 - CLOSE else ", and some arm it was never seen to choose"
        )
    return "" if total > 1.0 else ", and what it does otherwise is not said"


def _totals(said: Mapping[tuple[str, str], tuple[float, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for (e, _), (_, high) in said.items():
        found[e] = found.get(e, 0.0) + high
    return found


def _rest(items: Sequence[object]) -> str:
    return f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
