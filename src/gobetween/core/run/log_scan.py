"""The verdict along a log: rows are counted, and the first one at which it is reached is found."""

import math

from gobetween.core.evidence.eprocess import evidence, pair_at
from gobetween.core.evidence.lift_table import MANY
from gobetween.core.evidence.rank_evidence import within_reach
from gobetween.core.ground.jit import Floats, Ints, index, jit, leaf, part
from gobetween.core.ground.tally import Tally, best_seen, count
from gobetween.core.reward.family import Family, coordinate, count_reward, divergence
from gobetween.core.stopping.question_stopper import QuestionStopper
from gobetween.core.stopping.stopper import Stopper, judge

NONE = index(0)


@part
def count_row(family: Family, N_ea: Ints, S_ea: Floats, tally: Tally, e: int, a: int, x: float) -> None:
    """One more row of a log: by mediator and arm, and by arm."""
    N_ea[e, a] += 1
    S_ea[e, a] += x
    count(tally, a, x)
    count_reward(family, a, x, 1.0)


@part
def due(t: int) -> bool:
    """Is row t one of those at which the verdict over many arms is looked for? Up to row 256 each is, then every 2nd, 4th, …"""
    step = 1
    while 256 * step <= t:
        step *= 2
    return t % step == 0


@jit
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

    Block by block: where no row of a block can have brought the verdict it is only counted, else `watch` looks at its rows. The
    stopper is that of `BY_COUNTS`.
    """
    K, n, start, found, named = tally.N_a.shape[0], arms.shape[0], NONE, -1, -1
    N_a, S_a = tally.N_a.copy(), tally.S_a.copy()
    while start < n:
        size = max(64, 4 * K, (t + start) >> 12) if watching else n
        stop = min(n, start + size)
        low, high = math.inf, -math.inf
        for i in range(start, stop):
            e, a, x = mediators[i], arms[i], rewards[i]
            N_ea[e, a] += 1
            S_ea[e, a] += x
            N_a[a] += 1
            S_a[a] += x
            low = min(low, x)
            high = max(high, x)
        if watching and may_decide(family, tally, N_a, low, high, constants[0] - within_reach(stopper.ranks, 0.0)):
            some, paid = arms[start:stop], rewards[start:stop]
            row, named = watch(family, stopper, constants, tally, some, paid, t + start, low, high)
            if row >= 0:
                found, watching = start + row, False
        for a in range(K):
            tally.N_a[a], tally.S_a[a] = N_a[a], S_a[a]
            tally.mu_hat[a] = S_a[a] / N_a[a] if N_a[a] else 0.0
        start = stop
    return found, named


@leaf
def may_decide(family: Family, tally: Tally, N_a: Ints, low: float, high: float, least: float) -> bool:
    """Can a likelihood ratio Z between any leader and all its rivals reach `least` at some row of a block?

    From the tally before the block, the counts [K] after it and the lowest and highest reward in it: with n further rewards the
    estimate of an arm is at least S/N or (S + n low)/(N + n), and at most S/N or (S + n high)/(N + n). Z is largest when the
    leader is as high, its rival as low and both are seen as often as they can be. Whoever leads must beat one arm, here the
    leader before the block; that one must beat some other.
    """
    K, mu = tally.mu_hat.shape[0], tally.mu_hat
    for b in range(K):
        if N_a[b] == 0:
            return False
    best, least = best_seen(mu), least * (1.0 - 1e-9)  # of rounding
    floor, ceiling = extreme(tally, N_a, best, low, -1.0), extreme(tally, N_a, best, high, 1.0)
    beaten = False
    for b in range(K):
        if b != best:
            w_1, w_a = float(N_a[best]), float(N_a[b])
            above, under = extreme(tally, N_a, b, high, 1.0), extreme(tally, N_a, b, low, -1.0)
            if above >= floor and not evidence(family, above, floor, w_a, w_1)[0] < least:
                return True
            if not beaten:
                beaten = ceiling <= under or evidence(family, ceiling, under, w_1, w_a)[0] < least
    return not beaten


@part
def extreme(tally: Tally, N_a: Ints, a: int, x: float, side: float) -> float:
    """The highest (side 1) or lowest (−1) estimate of an arm on the way to the counts N_a, if no further reward is beyond x."""
    N = tally.N_a[a]
    mu, last = tally.mu_hat[a], (tally.S_a[a] + (N_a[a] - N) * x) / N_a[a]
    found: float = last if N == 0 or side * last > side * mu else mu
    return found


@leaf
def watch(
    family: Family,
    stopper: Stopper,
    constants: Floats,
    tally: Tally,
    arms: Ints,
    rewards: Floats,
    t: int,
    low: float,
    high: float,
) -> tuple[int, int]:
    """Count rows in the tally alone, up to the one at which the verdict is reached: that row and the arm it names, or −1.

    The verdict of every row is exact, but seldom computed. At the pooled mean m of leader and closest rival, Z and the mixtures
    bound the evidence from above; n further rewards of an arm with mean x raise that bound by at most n d(x, m), those of
    others not at all. So no verdict is possible until the slack is used up or the leader changes. What is left of the slack
    is computed when one row after another might have used it up, rewards being between low and high. With many arms every 128th
    to 256th part of the rows is looked at (`due`).
    """
    leader, rival, slack, left, most, m, top = -1, -1, 0.0, 0.0, 0.0, 0.0, math.inf
    n_1, S_1, n_2, S_2 = 0, 0.0, 0, 0.0  # of leader and rival, since the slack is known
    mu, N_a = tally.mu_hat, tally.N_a
    many = N_a.shape[0] > MANY
    for i in range(arms.shape[0]):
        a, x = arms[i], rewards[i]
        count(tally, a, x)
        t += 1
        if a == leader:
            n_1, S_1 = n_1 + 1, S_1 + x
        else:
            top = max(top, mu[a])  # no other arm is higher
            if a == rival:
                n_2, S_2 = n_2 + 1, S_2 + x
        if many:
            if not due(t):
                continue
            if slack > 0.0 and mu[leader] > top and slack > gathered(family, n_1, S_1, m) + gathered(family, n_2, S_2, m):
                continue
        elif slack > 0.0 and mu[leader] > top:
            if a not in (leader, rival):
                continue
            left -= most
            if not left > 0.0:
                left = slack - gathered(family, n_1, S_1, m) - gathered(family, n_2, S_2, m)
            if left > 0.0:
                continue
        leader, slack, n_1, S_1, n_2, S_2 = best_seen(mu), 0.0, 0, 0.0, 0, 0.0
        rival, top = closest(family, tally, leader)
        if rival < 0:
            continue
        m = (tally.S_a[leader] + tally.S_a[rival]) / (N_a[leader] + N_a[rival])
        Z = evidence(family, mu[leader], mu[rival], float(N_a[leader]), float(N_a[rival]))[0]
        slack = constants[0] - within_reach(stopper.ranks, Z)
        if not slack > 2.0:  # the mixtures know better
            value = pair_at(family, tally, stopper.ranks.pairing, leader, rival, coordinate(family, m))[0]
            slack = max(slack, constants[0] - stopper.ranks.base - value)
        left, most = slack, max(divergence(family, low, m, 1.0, 0.0), divergence(family, high, m, 1.0, 0.0))
        if not slack > 0.0:
            best, passed = judge(stopper, family, tally, t, constants, NONE)
            if passed > 0:
                return i, best
    return -1, -1


@part
def gathered(family: Family, n: int, S: float, m: float) -> float:
    """The evidence of n rewards with sum S against the mean m: n d(S/n, m)."""
    return n * divergence(family, S / n, m, 1.0, 0.0) if n > 0 else 0.0


@leaf
def scan_answers(
    family: Family,
    stopper: QuestionStopper | Stopper,
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
    """The same for another question than the best arm or where σ is not known, looked at in every row unless there are many
    arms: the leader then; the
    answer is in the stopper's mask.
    """
    found, named = -1, -1
    many = tally.N_a.shape[0] > MANY
    for i in range(arms.shape[0]):
        e, a, x = mediators[i], arms[i], rewards[i]
        count_row(family, N_ea, S_ea, tally, e, a, x)
        t += 1
        if watching and (due(t) or not many):
            best, passed = judge(stopper, family, tally, t, constants, NONE)
            if passed > 0:
                found, named, watching = i, best, False
    return found, named


@leaf
def closest(family: Family, tally: Tally, best: int) -> tuple[int, float]:
    """The rival with the least evidence against it, −1 while some arm has not been seen, and the highest estimate of rivals."""
    least, found, top = math.inf, -1, -math.inf
    for b in range(tally.mu_hat.shape[0]):
        if tally.N_a[b] == 0:
            return -1, top
        if b != best:
            mu, N_a = tally.mu_hat, tally.N_a
            top = max(top, mu[b])
            f = evidence(family, mu[best], mu[b], float(N_a[best]), float(N_a[b]))[0]
            if f < least:
                least, found = f, b
    return found, top
