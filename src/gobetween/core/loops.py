"""The step compiled into loops: simulated runs, replays of logged rows, and the verdict along a log."""

import math

import numpy as np

from gobetween.core.eprocess import pair_at
from gobetween.core.examiner import Examiner
from gobetween.core.family import Family, coordinate, divergence, draw
from gobetween.core.jit import index, leaf, part
from gobetween.core.lifts import MANY
from gobetween.core.ranks import within_reach
from gobetween.core.sampler import AnySampler
from gobetween.core.state import State, Tally, best_seen, clear, count, seen_all
from gobetween.core.step import choose, observe, verdict
from gobetween.core.stopper import AnyStopper, Stopper, answer, judge, restart
from gobetween.core.transport import evidence
from gobetween.core.types import Bools, Floats, Ints

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
    rule_rng: np.random.Generator,
    world: np.random.Generator,
    tau: Ints,
    stopped: Bools,
    named: Bools,
    N_e: Ints,
    N_a: Ints,
) -> int:
    """Run after run, one for each row of `tau`: when each constant was passed, whether it was after `most` queries, the arms
    named and the counts then. Fresh runs begin from nothing; others go on from where all stands, after `begin` queries and
    `besides` more counted answers.

    DONE; HALTED soon after halt [1] was set by another thread; or LOST, when the rule chose nobody who can be asked.
    """
    for run in range(tau.shape[0]):
        if fresh:
            restart(sampler)
            restart(stopper)
            clear(state)
        t, passed = begin, NONE
        while passed < constants.shape[0] and t < most:
            e = choose(family, sampler, state, t, available, rule_rng)
            if e < 0:
                return LOST
            if t & 1023 == 0 and halt[0]:
                return HALTED
            a = pull(cumulative, e, world.random())
            reward = draw(family, means[a], world) if a < means.shape[0] else 0.0
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
    chose nobody who can be asked).
    """
    restart(sampler)
    restart(stopper)
    clear(state)
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


@part
def count_row(N_ea: Ints, S_ea: Floats, tally: Tally, e: int, a: int, x: float) -> None:
    """One more row of a log: by mediator and arm, and by arm."""
    N_ea[e, a] += 1
    S_ea[e, a] += x
    count(tally, a, x)


@part
def due(t: int) -> bool:
    """Is row t one of those at which the verdict over many arms is looked for? Up to row 256 each is, then every 2nd, 4th, …"""
    step = 1
    while 256 * step <= t:
        step *= 2
    return t % step == 0


@leaf
def scan(
    family: Family,
    stopper: Stopper,
    constants: Floats,
    tally: Tally,
    N_ea: Ints,
    S_ea: Floats,
    mediators: Ints,
    arms: Ints,
    rewards: Floats,
    t: int,
    watching: bool,
) -> tuple[int, int]:
    """Count rows; while watching, the row at which the verdict is first reached and the arm it names, or −1.

    The verdict of every row is exact, but seldom computed. At the pooled mean m of leader and closest rival, Z and the mixtures
    bound the evidence from above; a further reward x of either arm raises that bound by at most d(x, m), those of others not at
    all. The stopper is that of `BY_COUNTS`.
    So no verdict is possible until the slack is used up or the leader changes. With many arms every 128th to 256th part of
    the rows is looked at instead (`due`).
    """
    found, named = -1, -1
    leader, rival, slack, m = -1, -1, 0.0, 0.0
    many = tally.N_a.shape[0] > MANY
    for i in range(arms.shape[0]):
        e, a, x = mediators[i], arms[i], rewards[i]
        before = tally.mu_hat[a]
        count_row(N_ea, S_ea, tally, e, a, x)
        t += 1
        if not watching:
            continue
        if many:
            if not (due(t) and seen_all(tally.N_a)):
                continue
            slack = 0.0
        else:
            best = leader
            if (
                leader < 0
                or (a == leader and tally.mu_hat[a] < before)
                or (a != leader and tally.mu_hat[a] >= tally.mu_hat[leader])
            ):
                best = best_seen(tally.mu_hat)
            if best == leader and slack > 0.0:
                if a in (leader, rival):
                    slack -= divergence(family, x, m, 1.0, 0.0)
                if slack > 0.0:
                    continue
            leader, rival, slack, m = best, -1, 0.0, 0.0
            rival = closest(family, tally, best)
            if rival < 0:
                leader = -1
                continue
            m = (tally.S_a[best] + tally.S_a[rival]) / (tally.N_a[best] + tally.N_a[rival])
            N_a, mu = tally.N_a, tally.mu_hat
            Z = evidence(family, mu[best], mu[rival], float(N_a[best]), float(N_a[rival]))[0]
            slack = constants[0] - within_reach(stopper.ranks, Z)
            if not slack > 0.0:
                value = pair_at(family, tally, stopper.ranks.pairing, best, rival, coordinate(family, m))[0]
                slack = constants[0] - stopper.ranks.base - value
        if not slack > 0.0:
            best, passed = judge(stopper, family, tally, t, constants, NONE)
            if passed > 0:
                found, named, watching = i, best, False
    return found, named


@leaf
def scan_answers(
    family: Family,
    examiner: Examiner,
    constants: Floats,
    tally: Tally,
    N_ea: Ints,
    S_ea: Floats,
    mediators: Ints,
    arms: Ints,
    rewards: Floats,
    t: int,
    watching: bool,
) -> tuple[int, int]:
    """The same for another question than the best arm, looked at in every row unless there are many arms: the leader then; the
    answer is in the examiner's mask.
    """
    found, named = -1, -1
    many = tally.N_a.shape[0] > MANY
    for i in range(arms.shape[0]):
        e, a, x = mediators[i], arms[i], rewards[i]
        count_row(N_ea, S_ea, tally, e, a, x)
        t += 1
        if watching and (due(t) or not many):
            best, passed = judge(examiner, family, tally, t, constants, NONE)
            if passed > 0:
                found, named, watching = i, best, False
    return found, named


@leaf
def closest(family: Family, tally: Tally, best: int) -> int:
    """The rival with the least evidence against it; −1 while some arm has not been seen."""
    least, found = math.inf, -1
    for b in range(tally.mu_hat.shape[0]):
        if tally.N_a[b] == 0:
            return -1
        if b != best:
            mu, N_a = tally.mu_hat, tally.N_a
            f = evidence(family, mu[best], mu[b], float(N_a[best]), float(N_a[b]))[0]
            if f < least:
                least, found = f, b
    return found
