"""Pursuit: whom to ask without a solver. Exponential weights on the rivals against the best mediator, on the counts there are.

With leader i, rivals b and the evidence Z_b = f_b(N; μ̂), whose slopes in the counts are d_i(b) and d_b (eprocess.py):

    q_b ∝ e^(−η (Z_b − min Z)),    ask the mediator e with the largest Σ_b q_b (π_e(i) d_i(b) + π_e(b) d_b)/c_e

Every such query adds at least 1/T* to min Z for each unit of cost, up to what η costs, which falls (docs/sampling.md).
"""

import math
from typing import TYPE_CHECKING

from gobetween.core.ground.jit import Bools, Floats, Ints, part
from gobetween.core.ground.tally import State, seen_all
from gobetween.core.question.question import gather
from gobetween.core.reward.family import Family
from gobetween.core.sampling.tracking import least_asked

if TYPE_CHECKING:
    from gobetween.core.sampling.sampler import Sampler

#: A mediator of unknown policy is asked for its own sake while it has had under STRANGE · √t − n/2 queries.
STRANGE = 0.5
#: Answers of each arm that are added to a mediator's own when its policy is estimated.
PRIOR = 0.5


@part
def unseen_gains(N_a: Ints, N_e: Ints, R: Floats, members: Ints, costs: Floats, gains: Floats) -> None:
    """What a pull of each arm is worth while some have not been seen: e^(−expected pulls so far) of those, nothing of others.

    This balances the pulls to be expected of all unseen arms, as the largest min over them of (πᵀω)_a would.
    """
    least = math.inf
    for a in range(N_a.shape[0]):
        gains[a] = math.inf
        if N_a[a] == 0:
            gains[a] = 0.0
            for i in range(members.shape[0]):
                gains[a] += N_e[members[i]] * R[a, i] * costs[i]
            least = min(least, gains[a])
    for a in range(N_a.shape[0]):
        gains[a] = math.exp(-2.0 * (gains[a] - least)) if N_a[a] == 0 else 0.0


@part
def expected_pulls(state: State, R: Floats, members: Ints, costs: Floats, t: int, pulls: Floats) -> None:
    """The pulls of each arm [K], with those to be expected from open queries."""
    K, counted = pulls.shape[0], 0
    for a in range(K):
        pulls[a] = float(state.tally.N_a[a])
        counted += state.tally.N_a[a]
    if counted == t:  # nothing is open, no mediator was silent and nothing came from elsewhere
        return
    for i in range(members.shape[0]):
        e = members[i]
        out = state.N_e[e]
        for a in range(K + 1):
            out -= state.N_ea[e, a]
        if out > 0:
            for a in range(K):
                pulls[a] += out * R[a, i] * costs[i]


@part
def scarcest(pulls: Floats, R: Floats, costs: Floats, members: Ints, available: Bools, t: int) -> int:
    """The arm that is furthest below p_a √(t/K) pulls, −1 when none is; p_a is what its cheapest mediator pulls of it."""
    found, least = -1, 1.0
    root = math.sqrt(t / pulls.shape[0])
    for a in range(pulls.shape[0]):
        if pulls[a] < root:
            most, reach = 0.0, 0.0
            for i in range(members.shape[0]):
                if available[members[i]] and R[a, i] > most:
                    most, reach = R[a, i], R[a, i] * costs[i]
            if pulls[a] < least * reach * root:
                found, least = a, pulls[a] / (reach * root)
    return found


@part
def hopes(
    gains: Floats, unknown: Bools, may: Bools, sizes: Floats, N_e: Ints, members: Ints, costs: Floats, scores: Floats
) -> None:
    """Add to the scores [n] what mediators of unknown policy may bring of arms that have not been pulled yet: ½ of n_e + m/2
    each, of the m that may be pulled.
    """
    K, total = gains.shape[0], 0.0
    for a in range(K):
        total += gains[a]
    for i in range(members.shape[0]):
        if unknown[i]:
            hoped = total
            if sizes[i] < K:
                hoped = 0.0
                for a in range(K):
                    if may[a, i]:
                        hoped += gains[a]
            scores[i] += 0.5 * hoped / ((N_e[members[i]] + 0.5 * sizes[i]) * costs[i])


@part
def add_gains(gains: Floats, R: Floats, scores: Floats) -> None:
    """Write to the scores [n] what a query to each member is expected to gain, for each unit of cost."""
    scores[:] = 0.0
    for a in range(gains.shape[0]):
        if gains[a] > 0.0:
            for i in range(scores.shape[0]):
                scores[i] += gains[a] * R[a, i]


@part
def highest(scores: Floats, members: Ints, available: Bools, N_e: Ints) -> int:
    """The available member with the highest score, among equals the one asked least; −1 when no score is above 0."""
    best = -1
    for i in range(members.shape[0]):
        e = members[i]
        if available[e] and scores[i] > 0.0:
            better = best < 0 or scores[i] > scores[best]
            if better or (scores[i] == scores[best] and N_e[e] < N_e[members[best]]):
                best = i
    return int(members[best]) if best >= 0 else -1


@part
def stranger(unknown: Bools, members: Ints, available: Bools, N_e: Ints, t: int) -> int:
    """The available member of unknown policy that was asked least, while it has under STRANGE · √t − n/2 queries, else −1."""
    best = -1
    for i in range(members.shape[0]):
        e = members[i]
        if unknown[i] and available[e] and (best < 0 or N_e[e] < N_e[best]):
            best = e
    return best if best >= 0 and N_e[best] < STRANGE * math.sqrt(t) - 0.5 * members.shape[0] else -1


@part
def pursue(family: Family, sampler: "Sampler", state: State, t: int, available: Bools) -> int:
    """Whom pursuit asks: for arms that were not seen, mediators who are not known, arms seldom seen, then against rivals."""
    members, R, costs, N_e, scores = sampler.members, sampler.R, sampler.costs, state.N_e, sampler.omega
    pulls, gains = sampler.arms[0], sampler.arms[2]
    if not seen_all(state.tally.N_a):
        unseen_gains(state.tally.N_a, N_e, R, members, costs, gains)
        add_gains(gains, R, scores)
        hopes(gains, sampler.unknown, sampler.may, sampler.sizes, N_e, members, costs, scores)
        e = highest(scores, members, available, N_e)
        if e >= 0:
            return e
    e = stranger(sampler.unknown, members, available, N_e, t)
    if e >= 0:
        return e
    expected_pulls(state, R, members, costs, t, pulls)
    a = scarcest(pulls, R, costs, members, available, t)
    if a >= 0:
        gains[:] = 0.0
        gains[a] = 1.0
    else:
        evidence = sampler.arms[1]
        gather(sampler.question, family, state.tally, pulls, sampler.bernstein, evidence, sampler.mask, sampler.most, gains)
    add_gains(gains, R, scores)
    e = highest(scores, members, available, N_e)
    return e if e >= 0 else least_asked(N_e, members, available)
