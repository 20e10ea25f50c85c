"""How many more rows a log will need, with a range: the log goes on in worlds that its counts leave possible.

Rows come in stretches: how often each arm is pulled in one is drawn, what it pays in sum is normal with the family's variance,
and at its end the verdict is looked for. Each stretch adds 15% to the rows that came before it, of many arms and of long logs
40%. How far worlds are played is a matter of work, never of the clock: one log, one forecast. Where the work is too much, less
is said.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gobetween.core.evidence.lift_table import MANY
from gobetween.core.ground.jit import ENABLED, Floats, index
from gobetween.core.ground.tally import Tally, fill, new_tally
from gobetween.core.ground.value import copied
from gobetween.core.question.question import Question
from gobetween.core.reward.family import Family
from gobetween.core.stopping.rules import BY_COUNTS
from gobetween.core.stopping.stopper import AnyStopper
from gobetween.simulation.worlds import LOG, WORLDS, Forecast, forecast_from, shrunk_means, stream

STRETCH, LONGER = 0.15, 0.4  # the second of many arms, each of which takes its time, and of long logs, which do not
LONG = 100_000  # rows
FARTHEST = 1000  # times as many rows as there are
#: What may be spent: arms that are looked at.
WORK = 1_000_000 if ENABLED else 20_000
LEAST_LOOKS = 30  # at each world: with fewer it is not begun

Shares = Callable[[np.random.Generator], Floats]
"""[K] how often a row pulls each arm, in a world of this stream; what they leave is silence."""


class LogStart(NamedTuple):
    """Where every world begins."""

    question: Question
    delta: float
    law: Family  # what rewards are
    family: Family  # the same at work, with what it has counted
    tally: Tally
    rows: int  # silence is among them

    def rule(self) -> tuple[AnyStopper, Floats]:
        """What says that the verdict is reached, and its threshold."""
        K = len(self.tally.N_a)
        constant = BY_COUNTS.threshold_for(self.question, K, self.delta, self.law)
        return BY_COUNTS.stopper_for(self.question, K, self.law), np.array([constant])


class LogWorld(NamedTuple):
    """What may be true, and what has been counted in it by now."""

    means: Floats
    variances: Floats
    shares: Floats
    family: Family
    tally: Tally
    rng: np.random.Generator


def forecast(start: LogStart, shares: Shares) -> Forecast | None:
    """What is to be expected of a log that goes on like this; None where that is too much work. The median is ∞ where most
    worlds take more than FARTHEST times the rows.
    """
    if LEAST_LOOKS * WORLDS * len(start.tally.N_a) > WORK:
        return None
    running, (stopper, constants) = {w: _world(start, shares, w) for w in range(WORLDS)}, start.rule()
    waits, work, more, now = [(math.inf, math.inf)] * WORLDS, WORK, 0, max(1, start.rows // 50)
    stretch = STRETCH if len(start.tally.N_a) <= MANY and start.rows <= LONG else LONGER
    while WORLDS - len(running) < LOG.enough and work >= 0 and now <= FARTHEST * start.rows:
        work -= len(running) * len(start.tally.N_a)
        for w, world in list(running.items()):
            _go_on(start, world, now - more)
            if stopper.judge(world.family, world.tally, index(start.rows + now), constants, index(0))[1]:
                waits[w] = float(max(1, more)), float(now)
                del running[w]
        more, now = now, max(now + 1, math.ceil((1.0 + stretch) * now))
    found, end = _within(waits), FARTHEST * start.rows
    if found is None and now > end:  # that most worlds take longer is known then
        return Forecast(math.inf, min(min(waits)[0], float(end)), math.inf)
    return found


def _within(waits: Sequence[tuple[float, float]]) -> Forecast | None:
    """What worlds come to that end somewhere in these stretches: the range begins and ends with a stretch."""
    begun, ended = zip(*sorted(waits), strict=True)
    parts = begun, [math.sqrt(one * other) for one, other in waits], ended
    first, middle, last = (forecast_from(part, LOG) for part in parts)
    return None if first is None or middle is None or last is None else Forecast(middle.median, first.low, last.high)


def _world(start: LogStart, shares: Shares, w: int) -> LogWorld:
    rng, family = stream(0, w), start.family.planned()
    means = shrunk_means(family, (start.law.low, start.law.high), start.tally, rng)
    variances = np.array([max(0.0, family.variance(mean)) for mean in means.tolist()])
    tally = fill(new_tally(len(means)), start.tally.N_a, start.tally.S_a)
    return LogWorld(means, variances, shares(rng), copied(start.family), tally, rng)


def _go_on(start: LogStart, world: LogWorld, rows: int) -> None:
    """A stretch of rows."""
    shares = np.append(world.shares, max(0.0, 1.0 - world.shares.sum()))
    n = world.rng.multinomial(rows, shares / shares.sum())[:-1]
    noise = np.sqrt(n * world.variances) * world.rng.standard_normal(len(n))
    N_a = world.tally.N_a + n
    fill(world.tally, N_a, np.clip(world.tally.S_a + n * world.means + noise, start.law.low * N_a, start.law.high * N_a))
    if not start.family.sums_suffice:
        squares = world.variances * world.rng.chisquare(np.maximum(n - 1, 1e-9)) + noise**2 / np.maximum(1, n)
        world.family.absorb_moments(n, np.array([world.means, noise, np.where(n > 0, squares, 0.0)]))
