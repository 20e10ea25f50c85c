"""A log over time: what was counted in each stretch of its rows, and mediators who learn on the way."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gobetween.core.alarm.alarm import Alarm
from gobetween.core.alarm.drift import split_at
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.reward.family import Family
from gobetween.logs.reading.counts import LogStats

MOST = 10  # stretches
LEARNS = 3.0  # standard errors by which later choices must pay more than earlier ones


@dataclass(frozen=True)
class Stretch:
    """Some rows of a log, from one of the splits at which drift is looked for to the next."""

    since: int  # the row after which it begins
    until: int  # its last row
    N_a: Ints  # [K] rows of each arm
    S_a: Floats  # [K] their rewards
    N_ea: Ints | None  # [E, K] of each mediator; None where there are too many to be kept


@dataclass(frozen=True)
class Adaptive:
    """A mediator who seems to learn: its policy moved to arms that pay more."""

    mediator: str
    row: int  # at about which row its policy changed most
    gain: float  # how much more its later choices pay than its earlier ones, at what each arm pays in the whole log


def stretches_of(stats: LogStats) -> tuple[Stretch, ...]:
    """The last stretches of a log, which make up most of it; none where rows are not in order."""
    K, E = len(stats.arms), len(stats.mediators)
    kept = [checkpoint for checkpoint in stats.checkpoints or () if split_at(checkpoint.j) < stats.rows][1 - MOST :]
    if not kept:
        return ()
    first = (0, np.zeros(K, np.int64), np.zeros(K), np.zeros((E, K), np.int64))
    marks = [first, *((split_at(m.j), m.N_a, m.S_a, m.N_ea) for m in kept)]
    whole = stats.N_ea if kept[-1].N_ea is not None else None
    marks.append((stats.rows, stats.N_ea.sum(axis=0), stats.S_ea.sum(axis=0), whole))
    return tuple(
        Stretch(row, until, N - n, S - s, None if E_now is None or e_was is None else E_now - e_was)
        for (row, n, s, e_was), (until, N, S, E_now) in pairwise(marks)
    )


def adaptive_mediators(family: Family, stats: LogStats, alarms: Sequence[Alarm]) -> tuple[Adaptive, ...]:
    """Those whose policy drifts, and towards arms that pay more. A description, not a test with a level: what a mediator
    learnt from, and whether it was from this log, cannot be seen.
    """
    paid = stats.N_ea.sum(axis=0), stats.S_ea.sum(axis=0)
    drifting = {alarm.subject: alarm.at for alarm in alarms if alarm.kind == "policy-drift" and alarm.raised}
    found = []
    for checkpoint in stats.checkpoints or ():
        for name, row in drifting.items():
            if row == split_at(checkpoint.j) and checkpoint.N_ea is not None:
                e = stats.mediators.index(name)
                gain, error = _gain(family, *paid, checkpoint.N_ea[e], stats.N_ea[e] - checkpoint.N_ea[e])
                if gain > LEARNS * error:
                    found.append(Adaptive(name, row, gain))
    return tuple(found)


def _gain(family: Family, N_a: Ints, S_a: Floats, before: Ints, since: Ints) -> tuple[float, float]:
    """How much more the choices since a split pay than those before it, and the standard error of that."""
    seen = N_a > 0
    move = (since / max(1, since.sum()) - before / max(1, before.sum()))[seen]
    mu = S_a[seen] / N_a[seen]
    spread = np.array([family.variance(float(m)) for m in mu]) + 1e-12
    return float(move @ mu), math.sqrt(float((move * move * spread / N_a[seen]).sum()))
