"""Who can be asked now: a rule planned around those who are away, and handed back when they return.

A sampler at work on everyone stays the one that learns. While one of its members is away another takes its place, made for
those who are there: ω*, coverage, the exploration floor, forced exploration and pruning are theirs alone, as if nobody else
existed. It begins without a point, because the old one may rest on somebody absent; where those who are there do not reach
every arm, there is no ω* and they get equal shares. While all members are there nothing of this is used.

Σω of C-tracking is what must not be lost between the two. Whoever is away keeps the lag Σω − N_e with which it left: its Σω
grows no more, for the shares of those queries were others', and a debt for them would be paid back in a burst when it returns.
In the long run N_e/t → ω* all the same, as the average of the ω that were followed. D-tracking and fixed shares follow shares
of all queries so far, without memory: among those who are there "all" is what these were asked, and whoever returns is caught
up with, as these rules say. No guarantee depends on any of this: the verdict holds for every choice of mediators.
"""

from typing import Any

import numpy as np

from gobetween.core.family import Family
from gobetween.core.policies import are_known
from gobetween.core.questions import BestArm
from gobetween.core.sampler import (
    C_TRACKING,
    FIXED,
    PURSUIT,
    AnySampler,
    OwnSampler,
    Sampler,
    kept_members,
    new_sampler,
    refresh,
)
from gobetween.core.state import State
from gobetween.core.types import Bools, Floats, Ints


def among(full: AnySampler, present: Bools, policies: Floats, costs: Floats, N_e: Ints) -> AnySampler:
    """The rule at work on those present [E], or `full` itself, which is at work on everyone, if it misses none of its members.

    Pursuit and a rule of one's own see who is available, and plan for themselves.
    """
    if isinstance(full, OwnSampler) or full.kind == PURSUIT or not present.any() or present[full.members].all():
        return full
    known = are_known(policies)
    known[full.members] = ~full.unknown
    members = _needed(full, present, policies, costs)
    return new_sampler(full.kind, policies, known, costs, members, _target(full, members, N_e), full.tol)


def _needed(full: Sampler, present: Bools, policies: Floats, costs: Floats) -> Ints:
    """Those present; without the needless ones if the rule prunes. Who is needless among some is so among more: if nobody was
    left out of everyone, nobody is left out of some.
    """
    there = np.flatnonzero(present)
    if len(full.members) == len(present):
        return there
    return there[kept_members(policies[there], are_known(policies[there]), costs[there])]


def _target(full: Sampler, members: Ints, N_e: Ints) -> Floats:
    """Σω of each member, without lag for one that pruning had left out; fixed shares, scaled to one."""
    if full.kind == FIXED:
        shares = full.target[members]
        return shares / shares.sum() if shares.any() else np.full(len(members), 1.0 / len(members))
    whole = N_e.astype(np.float64)
    whole[full.members] = full.target
    return whole[members]


def planned(plan: AnySampler, present: Bools, family: Family, state: State) -> AnySampler:
    """A sampler that knows which shares are best at the estimates: the plan, or for pursuit, which has none, one made for this
    look among those present.
    """
    if not isinstance(plan, Sampler) or plan.kind != PURSUIT or plan.question != BestArm() or not present.any():
        return plan
    members = plan.members[present[plan.members]]
    shown = new_sampler(
        C_TRACKING, np.zeros((len(present), len(plan.R))), np.ones(len(present), np.bool_), np.ones(len(present)), members
    )
    shown.R[:], shown.costs[:] = plan.R[:, members], plan.costs[members]
    refresh(family, shown, state)
    return shown


def follow(part: AnySampler, full: AnySampler, state: State) -> None:
    """Before a choice: what `full` has learnt of unknown policies, or what the counts say of someone that it leaves out."""
    if not (isinstance(part, Sampler) and isinstance(full, Sampler)) or part is full or not part.unknown.any():
        return
    ours = np.isin(part.members, full.members)
    part.R[:, ours] = full.R[:, np.searchsorted(full.members, part.members[ours])]
    for e in part.members[~ours & part.unknown].tolist():
        part.reestimate(state, e)


def hand_back(part: AnySampler, full: AnySampler) -> None:
    """The plan is not for these any more: their Σω goes back to everyone's."""
    if not (isinstance(part, Sampler) and isinstance(full, Sampler)) or part is full or full.kind != C_TRACKING:
        return
    whole = np.zeros(max(part.members.max(), full.members.max()) + 1)
    whole[full.members] = full.target
    whole[part.members] = part.target
    full.target[:] = whole[full.members]


def time_of(part: AnySampler, full: AnySampler, N_e: Ints, t: int) -> int:
    """The time by which a plan goes: t, but where shares of all queries are followed those of its members."""
    if not isinstance(part, Sampler) or part is full or part.kind == C_TRACKING:
        return t
    return int(N_e[part.members].sum())


def saved_plan(part: AnySampler, full: AnySampler, present: Bools | None) -> dict[str, Any] | None:
    """A plan around somebody, JSON-safe; None when it is for everyone. Rates are kept once, with everyone's."""
    if part is full or present is None:
        return None
    return {"present": present.tolist()} | {name: value for name, value in part.saved().items() if name != "R"}


def restore_plan(part: AnySampler, data: dict[str, Any]) -> None:
    """Take up what `saved_plan` wrote."""
    if isinstance(part, Sampler):
        part.restore(data | {"R": part.R})
