"""Who can be asked now: a rule planned around those who are away, and handed back when they return.

A sampler at work on everyone stays the one that learns. While one of its members is away another takes its place, made for
those who are there: ω*, coverage, the exploration floor, forced exploration and pruning are theirs alone, as if there were no
others. It begins without a point, because the old one may rest on someone absent; where those who are there do not reach
every arm, there is no ω* and they get equal shares. While all members are there nothing of this is used.

Σω of C-tracking is what must not be lost between the two. One who is away keeps the lag Σω − N_e with which it left: its Σω
grows no more, for the shares of those queries were others', and a debt for them would be paid back in a burst when it returns.
In the long run N_e/t → ω* nevertheless, as the average of the ω that were followed. D-tracking and fixed shares follow shares
of all queries so far, without memory: among those who are there "all" is what these were asked, and one who returns is caught
up with, as these rules say. No guarantee depends on any of this: the verdict holds for every choice of mediators.
"""

from typing import Any

import numpy as np

from gobetween.core.bound.geometry import needed_mediators
from gobetween.core.ground.jit import Bools, Floats, Ints
from gobetween.core.ground.tally import State
from gobetween.core.problem.cast import are_known
from gobetween.core.sampling.sampler import BOXES, C_TRACKING, FIXED, AnySampler, Sampler, new_sampler

SUMMED = (C_TRACKING, BOXES)  # these follow Σω


def among(full: AnySampler, present: Bools, policies: Floats, costs: Floats, N_e: Ints) -> AnySampler:
    """The rule at work on those present [E], or `full` itself, which is at work on everyone, if it misses none of its members.

    Pursuit and a rule of one's own see who is available, and plan for themselves.
    """
    plan = full.planner()
    if plan is None or not present.any() or present[plan.members].all():
        return full
    known = are_known(policies)
    known[plan.members] = ~plan.unknown
    members = _needed(plan, present, policies, costs)
    return new_sampler(plan.kind, policies, known, costs, members, _target(plan, members, N_e), plan.tol)


def _needed(full: Sampler, present: Bools, policies: Floats, costs: Floats) -> Ints:
    """Those present; without the needless ones if the rule prunes. One needless among some is needless among more: if none was
    left out of everyone, none is left out of some.
    """
    there = np.flatnonzero(present)
    if len(full.members) == len(present):
        return there
    return there[needed_mediators(policies[there], are_known(policies[there]), costs[there])]


def _target(full: Sampler, members: Ints, N_e: Ints) -> Floats:
    """Σω of each member, without lag for one that pruning had left out; fixed shares, scaled to one."""
    if full.kind == FIXED:
        shares = full.target[members]
        return shares / shares.sum() if shares.any() else np.full(len(members), 1.0 / len(members))
    whole = N_e.astype(np.float64)
    whole[full.members] = full.target
    return whole[members]


def follow(part: AnySampler, full: AnySampler, state: State) -> None:
    """Before a choice: what `full` has learnt of unknown policies, or what the counts say of someone that it leaves out."""
    plan, whole = part.planner(), full.planner()
    if plan is None or whole is None or plan is whole:
        return
    ours = np.isin(plan.members, whole.members)
    theirs = np.searchsorted(whole.members, plan.members[ours])
    plan.unknown[ours] = whole.unknown[theirs]
    plan.R[:, ours] = whole.R[:, theirs]
    for e in plan.members[~ours & plan.unknown].tolist():
        plan.reestimate(state, e)


def hand_back(part: AnySampler, full: AnySampler) -> None:
    """The plan is not for these any more: their Σω goes back to everyone's."""
    plan, whole = part.planner(), full.planner()
    if plan is None or whole is None or plan is whole or whole.kind not in SUMMED:
        return
    target = np.zeros(max(plan.members.max(), whole.members.max()) + 1)
    target[whole.members] = whole.target
    target[plan.members] = plan.target
    whole.target[:] = target[whole.members]


def time_of(part: AnySampler, full: AnySampler, N_e: Ints, t: int) -> int:
    """The time by which a plan goes: t, but where shares of all queries are followed those of its members."""
    plan = part.planner()
    return t if plan is None or plan is full or plan.kind in SUMMED else int(N_e[plan.members].sum())


def plan_to_dict(part: AnySampler, full: AnySampler) -> dict[str, Any] | None:
    """A plan around those away; None when it is for everyone. Rates are kept once, with everyone's."""
    return None if part is full else {name: value for name, value in part.to_dict().items() if name != "R"}


def restore_plan(part: AnySampler, data: dict[str, Any]) -> None:
    """Take up what `plan_to_dict` wrote."""
    plan = part.planner()
    if plan is not None:
        plan.restore(data | {"R": plan.R})
