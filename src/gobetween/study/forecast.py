"""How many more queries a learner will need: the study played on in worlds that its answers leave possible.

In a world (simulation/worlds.py) the study goes on by the very step that it is made of (core/loops.py), from copies of all that
the learner has, until the verdict. Open queries are asked anew and count as queries to go; answers that wait for an earlier one
are counted.

How many worlds are played, and how far, is a matter of work, never of the clock: with one state there is one forecast. Where
the work is too much, less is said.
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
from gobetween.core.sampler import AnySampler
from gobetween.core.state import State, count
from gobetween.core.stopper import AnyStopper, glr
from gobetween.core.types import Bools, Floats, Ints
from gobetween.simulation.engine import ladder
from gobetween.simulation.worlds import STUDY, WORLDS, drawn_means, drawn_policies, forecast_from, world_stream
from gobetween.simulation.worlds import Forecast as Forecast

if TYPE_CHECKING:
    from gobetween.study.learner import Learner

#: What may be spent, under a second for every family: a step takes STEP + K·E.
WORK = 100_000_000 if ENABLED else 1_000_000
STEP = 300


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
    return forecast_from(_waits(learner, told, steps), STUDY)


def _can_be_played(learner: "Learner") -> bool:
    """Can rewards be drawn, and the step be played at once? What is not ours would be compiled for it, in every process."""
    parts = (learner.family, learner.sampling, learner.stopping)
    ours = all(type(part).__module__.startswith("gobetween.") for part in parts)
    return (ours or not ENABLED) and type(learner.family).draw is not Family.draw


def _waits(learner: "Learner", told: int, steps: int) -> list[float]:
    """How long each world goes on; ∞ where that is not known."""
    start, waits = _start(learner), [math.inf] * WORLDS
    running, until = {w: _world(learner, start, w) for w in range(WORLDS)}, start.t
    while WORLDS - len(running) < STUDY.enough:
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
    return waits


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
    """The w-th world."""
    setup, rng = learner.setup, world_stream(learner.setup.seed, w)
    means = drawn_means(start.family, (setup.family.low, setup.family.high), start.state.tally, rng)
    policies = drawn_policies(setup.policies, start.state.N_ea[:, : len(means) + setup.silent], rng)
    sampler, stopper, state = copied(start.sampler), copied(start.stopper), copied(start.state)
    tau, stopped = np.array([[start.t]]), np.zeros((1, 1), np.bool_)
    return World(means, ladder(policies, setup.silent), copied(start.family), sampler, stopper, state, rng, tau, stopped)


def copied(value: Any) -> Any:
    """A named tuple with arrays of its own, all the way down."""
    if isinstance(value, np.ndarray):
        return value.copy()
    return type(value)._make(map(copied, value)) if hasattr(value, "_make") else value
