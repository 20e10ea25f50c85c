"""Policies that are declared beforehand, or that the propensities of a log's rows say."""

import math

import numpy as np

from gobetween.core.ground.jit import Floats
from gobetween.logs.reading.counts import LogStats
from gobetween.logs.reading.options import LogOptions

CLOSE = 1e-6  # to 1, for shares that sum to it
VARIES = 1e-9  # by how much probabilities may differ that are the same


def declared_policies(options: LogOptions, stats: LogStats) -> list[list[float] | None]:
    """What is declared or said of each mediator, in the order of the log's arms; None where nothing is, NaN for the arms of a
    support of which no more is known.

    Shares are those among answers unless silence is counted, and among the arms that are asked about.
    """
    if options.declared is None:
        return [propensity_policy(stats, name) for name in stats.mediators]
    places = [options.known_arms.index(name) for name in stats.arms]
    found: list[list[float] | None] = []
    for name in stats.mediators:
        row = options.declared_rows.get(name)
        found.append(None if row is None else _shares(row[places], options.silence))
    return found


def _shares(row: Floats, silence: bool) -> list[float] | None:
    """Shares that sum to 1, unless a mediator may stay silent or nobody knows."""
    if np.isnan(row).any():
        return None if np.isnan(row).all() else row.tolist()
    total = 1.0 if silence else math.fsum(row)
    return [share / total for share in row.tolist()] if total > 0.0 else None


def propensity_policy(stats: LogStats, mediator: str) -> list[float] | None:
    """A policy of which every row says the same; None where they say none.

    What is not said is the share of the only arm that was never chosen. Of one who was silent it is that of silence, so that
    every arm must have been chosen, and something be left.
    """
    if not stats.propensities:
        return None
    spans = [stats.propensities.get((mediator, arm)) for arm in stats.arms]
    known = [span for span in spans if span is not None]
    if not known or any(high - low > VARIES for low, high in known):
        return None
    rest, unseen = 1.0 - math.fsum(high for _, high in known), len(spans) - len(known)
    if stats.silent[stats.mediators.index(mediator)]:
        return None if unseen or rest <= CLOSE else [span[1] for span in known]
    if rest < -CLOSE or (rest > CLOSE and unseen != 1):
        return None
    shares = [max(0.0, rest) / max(1, unseen) if span is None else span[1] for span in spans]
    total = math.fsum(shares)
    return [share / total for share in shares]
