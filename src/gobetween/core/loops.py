"""The verdict along a log: exact at every row, computed at few."""

import math

from gobetween.core.eprocess import at_common_mean
from gobetween.core.families import Family, coordinate, divergence
from gobetween.core.jit import leaf
from gobetween.core.state import Tally, count
from gobetween.core.step import verdict
from gobetween.core.stopping import Stopper, best_seen
from gobetween.core.transport import evidence
from gobetween.core.types import Floats, Ints


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
    bound ln E from above; a further reward x of either arm raises that bound by at most d(x, m), those of others not at all.
    So no verdict is possible until the slack is used up or the leader changes.
    """
    found, named = -1, -1
    leader, rival, slack, m = -1, -1, 0.0, 0.0
    for i in range(arms.shape[0]):
        e, a, x = mediators[i], arms[i], rewards[i]
        N_ea[e, a] += 1
        S_ea[e, a] += x
        before = tally.mu_hat[a]
        count(tally, a, x)
        t += 1
        if not watching:
            continue
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
        slack = constants[0] - evidence(family, mu[best], mu[rival], float(N_a[best]), float(N_a[rival]))[0]
        if not slack > 0.0:
            slack = constants[0] - at_common_mean(family, tally, best, rival, coordinate(family, m))[0]
        if not slack > 0.0:
            best, passed = verdict(family, stopper, tally, t, constants, 0)
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
