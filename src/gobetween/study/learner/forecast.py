"""How many more queries a learner will need: the study played on in worlds that its answers leave possible.

In a world (simulation/worlds.py) the study goes on by its own step (core/run/loops.py), from copies of all the learner has,
until the verdict. Open queries are asked again and count as queries to go; answers that wait for an earlier one are counted.

How many worlds are played, and how far, is a matter of work, never of the clock or of how kernels run: with one state there is
one forecast. Where the work is too much, less is said; what plain Python would be long about a compiled process does for it.
"""

import json
import math
import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np

from gobetween.core.ground.jit import ENABLED, Bools, Floats, Ints, index
from gobetween.core.ground.tally import State, count
from gobetween.core.ground.value import copied
from gobetween.core.problem.cast import ladder
from gobetween.core.reward.family import Family
from gobetween.core.run.loops import DONE, runs
from gobetween.core.run.streams import one_stream
from gobetween.core.sampling.availability import follow, time_of
from gobetween.core.sampling.sampler import AnySampler
from gobetween.core.stopping.stopper import AnyStopper, glr
from gobetween.interrupts import held
from gobetween.simulation.worlds import STUDY, WORLDS, drawn_means, drawn_policies, forecast_from, stream
from gobetween.simulation.worlds import Forecast as Forecast
from gobetween.study.learner.serialise import load, save
from gobetween.study.learner.state import LearnerState

#: What may be spent, under a second of compiled code for every family: a step takes STEP + K·E.
WORK = 100_000_000
STEP = 300
#: What plain Python spends by itself, a third of a second.
PLAIN = 1_000_000


class LearnerStart(NamedTuple):
    """Where every world begins."""

    family: Family
    sampler: AnySampler
    stopper: AnyStopper
    state: State
    t: int  # queries so far, as the plan counts them
    besides: int  # counted answers beyond these


class LearnerWorld(NamedTuple):
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


def forecast(learner: LearnerState) -> Forecast | None:
    """What is to be expected of a learner; None where that cannot be said. One state, one forecast."""
    if learner.decision.sure:
        return Forecast(0.0, 0.0, 0.0)
    family, tally = learner.told.family, learner.told.tally
    if not _can_be_played(learner) or not tally.N_a.all():
        return None  # what an unseen arm pays is not known
    if learner.design.question.names_leader and not glr(family, tally)[1] > 0.0:
        return None  # nor who wins a tie
    told = max(1, int(tally.N_a.sum()))
    steps = WORK // (STEP + learner.seen.N_ea.size)
    if 4 * steps < WORLDS * told:
        return None  # not even a quarter of the way so far could be played
    with held():
        waits = _waits(learner, told, steps, steps if ENABLED else PLAIN // (STEP + learner.seen.N_ea.size))
    if waits is not None:
        return forecast_from(waits, STUDY)
    found = _compiled(learner)
    with held():
        return forecast_from(found or _waits(learner, told, steps, steps) or [], STUDY)


def _compiled(learner: LearnerState) -> list[float] | None:
    """How long each world goes on, from a process that compiles; None if there can be none."""
    code = "import gobetween.study.learner.forecast as f; f.answer()"
    own = os.environ | {"GOBETWEEN_JIT": "on"}
    call = [sys.executable or "python", "-P", "-c", code]
    try:
        done = subprocess.run(call, input=json.dumps(save(learner)), stdout=subprocess.PIPE, text=True, env=own, check=True)
        return list(map(float, json.loads(done.stdout)))
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def answer() -> None:
    """That process: from a learner on standard input."""
    learner = load(json.load(sys.stdin))
    steps = WORK // (STEP + learner.seen.N_ea.size)
    json.dump(_waits(learner, max(1, int(learner.told.tally.N_a.sum())), steps, steps), sys.stdout)


def _can_be_played(learner: LearnerState) -> bool:
    """Can rewards be drawn, and the step be played at once? What is not ours would be compiled for it, in every process."""
    design = learner.design
    parts = (design.family, design.sampling, design.stopping)
    ours = all(type(part).__module__.startswith("gobetween.") for part in parts)
    return ours and type(design.family).draw is not Family.draw


def _waits(learner: LearnerState, told: int, steps: int, most: int) -> list[float] | None:
    """How long each world goes on; ∞ where that is not known. None if that needs more than `most` of the steps."""
    start, waits = _start(learner), [math.inf] * WORLDS
    running, until = {w: _world(learner, start, w) for w in range(WORLDS)}, start.t
    while WORLDS - len(running) < STUDY.enough:
        far = min(max(8, told if until == start.t else (until - start.t) // 2), steps // len(running))
        if far == 0:
            break
        until, steps, most = until + far, steps - far * len(running), most - far * len(running)
        if most < 0:
            return None
        for w, world in list(running.items()):
            if not _play(learner, start, world, until):
                return [math.inf] * WORLDS
            if world.stopped[0, 0]:
                waits[w] = float(world.tau[0, 0] - start.t)
                del running[w]
    return waits


def _play(learner: LearnerState, start: LearnerStart, world: LearnerWorld, until: int) -> bool:
    """Play a world on; is there always someone to ask?"""
    E, K = world.ladder.shape
    found = runs(
        world.family, world.means, world.ladder, world.sampler, world.stopper, learner.decision.constant, world.state,
        learner.planner.present, np.zeros(1, np.bool_), False, index(int(world.tau[0, 0])), index(start.besides), index(until),
        one_stream(world.rng), world.tau, world.stopped, np.zeros((1, 1, K), np.bool_), np.zeros((1, 1, E), np.int64),
        np.zeros((1, 1, K), np.int64),
    )  # fmt: skip
    return bool(found == DONE)


def _start(learner: LearnerState) -> LearnerStart:
    planner, queries = learner.planner, learner.queries
    sampler, stopper, state = copied(planner.plan), copied(learner.decision.stopper), copied(learner.seen)
    full = sampler if planner.plan is planner.sampler else planner.sampler
    follow(sampler, full, state)
    tally, counted, family = copied(learner.counted.tally), learner.counted.n, learner.design.family
    for _, answer in sorted(queries.waiting.items()):
        if answer is not None:
            counted += 1
            if answer.a < len(tally.N_a):
                count(tally, answer.a, answer.x)
                stopper.note(family, tally, index(counted), answer.a, answer.x)
    for e in queries.open.values():
        state.N_e[e] -= 1
    t = time_of(sampler, full, state.N_e, queries.issued - len(queries.open))
    return LearnerStart(learner.told.family.playable(), sampler, stopper, state, t, counted - t)


def _world(learner: LearnerState, start: LearnerStart, w: int) -> LearnerWorld:
    """The w-th world."""
    cast, family, rng = learner.cast, learner.design.family, stream(learner.design.seed, w)
    means = drawn_means(start.family, (family.low, family.high), start.state.tally, rng)
    policies = drawn_policies(learner.planner.believed, start.state.N_ea[:, : len(means) + cast.silent], rng)
    sampler, stopper, state = copied(start.sampler), copied(start.stopper), copied(start.state)
    tau, stopped = np.array([[start.t]]), np.zeros((1, 1), np.bool_)
    return LearnerWorld(means, ladder(policies, cast.silent), copied(start.family), sampler, stopper, state, rng, tau, stopped)
