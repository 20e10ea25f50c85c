"""How many more queries a learner will need: the study played on in worlds that its answers leave possible.

A world has means drawn from what the counts leave open, and policies likewise where they are not declared. In it the study goes
on by the very step that it is made of (core/loops.py), from copies of all that the learner has, until the verdict. Open queries
are asked anew and count as queries to go; answers that wait for an earlier one are counted.

An even prior makes more of near-ties than is seen in practice: worlds take longer than the study. Which of them bound the range
was therefore measured, once for all problems (docs/validity-forecast.md). How many worlds are played, and how far, is a matter
of work, never of the clock: with one state there is one forecast. Where the work is too much, less is said.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gobetween.core.absence import follow, time_of
from gobetween.core.asked import BEST
from gobetween.core.family import Family
from gobetween.core.jit import ENABLED, index
from gobetween.core.learnt import playable
from gobetween.core.loops import DONE, runs
from gobetween.core.posterior import possible_means
from gobetween.core.sampler import AnySampler
from gobetween.core.state import State, count
from gobetween.core.stopper import AnyStopper, glr
from gobetween.core.types import Bools, Floats, Ints
from gobetween.simulation.engine import ladder

if TYPE_CHECKING:
    from gobetween.study.learner import Learner

#: How many worlds are played. More would make a range steadier, not truer.
WORLDS = 13
#: The shares of worlds, by how long they take, that are under the ends of the range and its middle.
LOW, MIDDLE, HIGH = 0.07, 0.325, 0.775
#: What may be spent, under a second for every family: a step takes STEP + K·E.
WORK = 100_000_000 if ENABLED else 1_000_000
STEP = 300


class Forecast(NamedTuple):
    """Queries to go, open ones included: as often more than the median as fewer, 8 times of 10 between low and high."""

    median: float
    low: float
    high: float
    """∞ where that is too far to be played."""


class Start(NamedTuple):
    """Where every world begins."""

    family: Family
    sampler: AnySampler
    stopper: AnyStopper
    state: State
    t: int  # queries so far, as the plan counts them
    besides: int  # counted answers beyond these


class World(NamedTuple):
    """What may be true, and how the study has gone on in it."""

    means: Floats  # [K]
    ladder: Floats  # [E, K] cumulative policies
    family: Family
    sampler: AnySampler
    stopper: AnyStopper
    state: State
    rng: np.random.Generator
    tau: Ints  # [1, 1] queries by now
    stopped: Bools  # [1, 1] has the verdict been reached?


def forecast(learner: "Learner") -> Forecast | None:
    """What is to be expected of a learner; None where that cannot be said. One state, one forecast."""
    if learner.done:
        return Forecast(0.0, 0.0, 0.0)
    if not _can_be_played(learner) or not learner._state.tally.N_a.all():
        return None  # what an arm pays that was never seen nobody knows
    if learner.setup.question == BEST and not glr(learner.families[0], learner._state.tally)[1] > 0.0:
        return None  # nor who wins a tie
    told = max(1, int(learner._state.tally.N_a.sum()))
    steps = WORK // (STEP + learner._state.N_ea.size)
    if 4 * steps < WORLDS * told:
        return None  # not even a quarter of the way so far could be played
    waits = _waits(learner, told, steps)
    low, median, high = (_quantile(waits, share) for share in (LOW, MIDDLE, HIGH))
    return Forecast(median, low, high) if math.isfinite(median) else None


def _can_be_played(learner: "Learner") -> bool:
    """Can rewards be drawn, and the step be played at once? What is not ours would be compiled for it, in every process."""
    parts = (learner.family, learner.sampling, learner.stopping)
    ours = all(type(part).__module__.startswith("gobetween.") for part in parts)
    return (ours or not ENABLED) and type(learner.family).draw is not Family.draw


def _quantile(waits: list[float], share: float) -> float:
    """The wait that a further world has this chance to stay under: between two of n, geometrically."""
    place, part = divmod(max(1.0, share * (len(waits) + 1)), 1.0)
    one, next_one = waits[int(place) - 1], waits[int(place)]
    return one ** (1.0 - part) * next_one**part if part > 0.0 else one


def _waits(learner: "Learner", told: int, steps: int) -> list[float]:
    """How long each world goes on, in increasing order; ∞ where that is not known."""
    start, waits = _start(learner), [math.inf] * WORLDS
    running, until = {w: _world(learner, start, w) for w in range(WORLDS)}, start.t
    while WORLDS - len(running) < math.ceil(HIGH * (WORLDS + 1)):
        far = min(max(8, told if until == start.t else (until - start.t) // 2), steps // len(running))
        if far == 0:
            break
        until, steps = until + far, steps - far * len(running)
        for w, world in list(running.items()):
            if not _play(learner, start, world, until):
                return [math.inf] * WORLDS
            if world.stopped[0, 0]:
                waits[w] = float(world.tau[0, 0] - start.t)
                del running[w]
    return sorted(waits)


def _play(learner: "Learner", start: Start, world: World, until: int) -> bool:
    """Play a world on; is there always somebody to be asked?"""
    E, K = world.ladder.shape
    found = runs(
        world.family, world.means, world.ladder, world.sampler, world.stopper, learner._constant, world.state,
        learner._present, np.zeros(1, np.bool_), False, index(int(world.tau[0, 0])), index(start.besides), index(until),
        world.rng, world.rng, world.tau, world.stopped, np.zeros((1, 1, K), np.bool_), np.zeros((1, 1, E), np.int64),
        np.zeros((1, 1, K), np.int64),
    )  # fmt: skip
    return bool(found == DONE)


def _start(learner: "Learner") -> Start:
    sampler, stopper, state = copied(learner._plan), copied(learner._stopper), copied(learner._state)
    full = learner._sampler if learner.around else sampler
    follow(sampler, full, state)
    tally, counted = copied(learner._counted), learner.counted
    for _, outcome in sorted(learner._resolved.items()):
        if outcome is not None:
            counted += 1
            if outcome[0] < len(learner.arms):
                count(tally, *outcome)
                stopper.note(learner.family, tally, index(counted), *outcome)
    for e in learner._open.values():
        state.N_e[e] -= 1
    t = time_of(sampler, full, state.N_e, learner._asked - len(learner._open))
    return Start(playable(learner.families[0]), sampler, stopper, state, t, counted - t)


def _world(learner: "Learner", start: Start, w: int) -> World:
    """The w-th world, from a stream of its own, the same at every look: answers shall move a forecast, not chance."""
    setup, tally = learner.setup, start.state.tally
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(setup.seed, spawn_key=(w,))))
    means, r = np.empty(len(learner.arms)), rng.standard_normal(len(learner.arms))
    possible_means(start.family, float(setup.family.low), float(setup.family.high), tally, r, means)
    policies = _policies(setup.policies, setup.declared, start.state.N_ea[:, : len(means) + setup.silent], rng)
    sampler, stopper, state = copied(start.sampler), copied(start.stopper), copied(start.state)
    tau, stopped = np.array([[start.t]]), np.zeros((1, 1), np.bool_)
    return World(means, ladder(policies, setup.silent), copied(start.family), sampler, stopper, state, rng, tau, stopped)


def _policies(policies: Floats, declared: Bools, N_ea: Ints, rng: np.random.Generator) -> Floats:
    """[E, K] policies, drawn where they are not declared; N_ea has a further column where mediators may be silent."""
    drawn = policies.copy()
    for e in np.flatnonzero(~declared):
        may = (N_ea[e] > 0) | (np.pad(policies[e], (0, N_ea.shape[1] - len(policies[e])), constant_values=np.nan) != 0.0)
        shares = np.zeros(len(may))
        shares[may] = rng.dirichlet(N_ea[e, may] + 0.5)
        drawn[e] = shares[: drawn.shape[1]]
    return drawn


def copied(value: Any) -> Any:
    """A named tuple with arrays of its own, all the way down."""
    if isinstance(value, np.ndarray):
        return value.copy()
    return type(value)._make(map(copied, value)) if hasattr(value, "_make") else value
