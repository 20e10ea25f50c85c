"""The step compiled into loops: simulated runs and replays of logged rows.

The step: choose → observe → verdict. A simulation runs it in a loop, a live study spreads it over days.
"""

import numpy as np

from gobetween.core.ground.jit import Bools, Floats, Ints, Randomness, index, inlined, leaf, part
from gobetween.core.ground.tally import State, Tally, clear, count
from gobetween.core.reward.family import Family, count_reward, forget_rewards
from gobetween.core.run.streams import World, begin_run, chance, reward_of
from gobetween.core.sampling.sampler import AnySampler, learn, next_mediator
from gobetween.core.stopping.stopper import AnyStopper, answer, judge, note, restart

NONE = index(0)
DONE, HALTED, LOST = 0, 1, 2


@leaf
def pull(cumulative: Floats, e: int, u: float) -> int:
    """The arm that mediator e pulls when chance says u ∈ [0, 1); K when it answers nothing."""
    K: int = cumulative.shape[1]
    for a in range(K):
        if u < cumulative[e, a]:
            return a
    return K


@part
def respond(family: Family, means: Floats, cumulative: Floats, world: World, e: int) -> tuple[int, float]:
    """The arm that mediator e pulls and what it pays; K and 0 when there is no answer."""
    K = means.shape[0]
    a = pull(cumulative, e, chance(world, K))
    return a, reward_of(world, family, means[a], a) if a < K else 0.0


@leaf
def record(state: State, t: int, tau: Ints, N_e: Ints, N_a: Ints, d: int) -> None:
    """Note in row d that an answer was named after t queries, and the counts by then."""
    tau[d] = t
    for i in range(N_e.shape[1]):
        N_e[d, i] = state.N_e[i]
    for i in range(N_a.shape[1]):
        N_a[d, i] = state.tally.N_a[i]


@leaf
def runs(
    family: Family,
    means: Floats,
    cumulative: Floats,
    sampler: AnySampler,
    stopper: AnyStopper,
    constants: Floats,
    state: State,
    available: Bools,
    halt: Bools,
    fresh: bool,
    begin: int,
    besides: int,
    most: int,
    world: World,
    tau: Ints,
    stopped: Bools,
    named: Bools,
    N_e: Ints,
    N_a: Ints,
) -> int:
    """Run after run, one for each row of `tau`: when each constant was passed, whether it was after `most` queries, the arms
    named and the counts then. Fresh runs begin from nothing; others go on from where all stands, after `begin` queries and
    `besides` more counted answers.

    DONE; HALTED soon after halt [1] was set by another thread; or LOST, when the rule chose a mediator who cannot be asked.
    """
    for run in range(tau.shape[0]):
        if fresh:
            restart(sampler)
            restart(stopper)
            clear(state)
            forget_rewards(family)
            begin_run(world, run)
        t, passed = begin, NONE
        while passed < constants.shape[0] and t < most:
            e = choose(family, sampler, state, t, available, world.own)
            if e < 0:
                return LOST
            if t & 1023 == 0 and halt[0]:
                return HALTED
            a, reward = respond(family, means, cumulative, world, e)
            t += 1
            observe(family, sampler, state, t, e, a, reward)
            best, now = verdict(family, stopper, state.tally, t + besides, a, reward, constants, passed)
            while passed < now:
                record(state, t, tau[run], N_e[run], N_a[run], passed)
                answer(stopper, best, named[run, passed])
                stopped[run, passed] = True
                passed += 1
        while passed < constants.shape[0]:
            record(state, t, tau[run], N_e[run], N_a[run], passed)
            passed += 1
    return DONE


@leaf
def replay_run(
    family: Family,
    pulled: Ints,
    rewards: Floats,
    starts: Ints,
    sampler: AnySampler,
    stopper: AnyStopper,
    constants: Floats,
    state: State,
    available: Bools,
    rng: np.random.Generator,
) -> tuple[int, int, int]:
    """One run: queries, the arm named (−1: the log ran out), and the mediator whose rows were used up (−1: none; −2: the rule
    chose a mediator who cannot be asked).
    """
    restart(sampler)
    restart(stopper)
    clear(state)
    forget_rewards(family)
    t = NONE
    while True:
        e = choose(family, sampler, state, t, available, rng)
        if e < 0:
            return t, -1, -2
        row = starts[e] + state.N_e[e] - 1
        if row >= starts[e + 1]:
            state.N_e[e] -= 1  # there was no such query
            return t, -1, e
        t += 1
        observe(family, sampler, state, t, e, pulled[row], rewards[row])
        best, passed = verdict(family, stopper, state.tally, t, pulled[row], rewards[row], constants, NONE)
        if passed > 0:
            return t, best, -1


@inlined
def choose(family: Family, sampler: AnySampler, state: State, t: int, available: Bools, rng: Randomness) -> int:
    """The mediator that is asked at time t (queries issued before), counted in N_e; −1 when the rule can ask none."""
    e = next_mediator(sampler, family, state, t, available, rng)
    if not 0 <= e < available.shape[0] or not available[e]:
        return -1
    state.N_e[e] += 1
    return e


@part
def observe(family: Family, sampler: AnySampler, state: State, t: int, e: int, a: int, reward: float) -> None:
    """Mediator e answered, after t queries: arm a paid a reward, or nothing (a = K)."""
    state.N_ea[e, a] += 1
    if a < state.tally.N_a.shape[0]:
        count(state.tally, a, reward)
        count_reward(family, a, reward, 1.0)
    learn(sampler, family, state, t, e, a, reward)


@part
def verdict(
    family: Family, stopper: AnyStopper, tally: Tally, t: int, a: int, reward: float, constants: Floats, passed: int
) -> tuple[int, int]:
    """The last of t counted answers was arm a, which paid a reward (a = K: silence): the leader, and how many of the constants
    c(δ), in increasing order, have been passed.
    """
    if a < tally.N_a.shape[0]:
        note(stopper, family, tally, t, a, reward)
    return judge(stopper, family, tally, t, constants, passed)
