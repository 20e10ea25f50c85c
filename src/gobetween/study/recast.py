"""Another cast: a learner with one mediator more, or with one arm less; a new one, with what the old one has seen carried over.

Nothing is asked or counted anew. The verdict is about arms, whoever pulls them and however mediators are chosen, so that one
mediator more changes nothing in it. The rule plans for the new cast from the same estimates; Σω of C-tracking goes with each.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gobetween.core.absence import hand_back
from gobetween.core.asked import BEST
from gobetween.core.learnt import restore_sums
from gobetween.core.policies import Policy, json_row
from gobetween.core.sampler import FIXED, OwnSampler, Sampler
from gobetween.core.state import fill
from gobetween.core.stopping import AllPairs
from gobetween.core.unknown import Student
from gobetween.errors import ProblemError
from gobetween.study.answers import Answer, place
from gobetween.study.setup import new_setup
from gobetween.study.watched import Watched

if TYPE_CHECKING:
    from gobetween.study.learner import Learner


def joined(learner: "Learner", name: str, policy: Policy, cost: float) -> "Learner":
    """With one mediator more."""
    if name in learner.mediators:
        raise ProblemError(f"mediator {name!r} is there already: names must differ")
    made = _made(learner, list(range(len(learner.arms))), {name: policy}, [cost], learner.setup.silent)
    made._stopper.restore(dict(learner._stopper.saved()))
    return _carried(learner, made, list(range(len(learner.arms))))


def without_arm(learner: "Learner", name: str) -> "Learner":
    """Without one of the arms: a mediator who pulls it is as good as silent."""
    a, K = place(name, learner.arms, "arm"), len(learner.arms)
    if K < 3:
        raise ProblemError(f"without {name!r} one arm would remain: there is nothing to compare it with")
    if learner.setup.question != BEST:
        raise ProblemError(f"{name!r} cannot be left out: the question {learner.setup.question.name} is about all arms")
    before = max(K, learner.stopping.arms) if isinstance(learner.stopping, AllPairs) else K
    left = [i for i in range(K) if i != a]
    made = _carried(learner, _made(learner, left, {}, [], True, AllPairs(before)), left)
    made._look((len(left), 0.0))
    return made


def _made(
    learner: "Learner",
    left: list[int],
    more: dict[str, Policy],
    costs: Sequence[float],
    silent: bool,
    stopping: AllPairs | None = None,
) -> "Learner":
    """A learner of this cast that has seen nothing."""
    setup = learner.setup
    rows: dict[str, Policy] = {name: json_row(setup.policies[e, left]) for e, name in enumerate(learner.mediators)}
    made = new_setup(
        [learner.arms[a] for a in left],
        rows | more,
        setup.family,
        setup.delta,
        [*setup.costs, *costs],
        setup.sampling,
        stopping or setup.stopping,
        setup.seed,
        silent,
        setup.order,
        setup.question,
    )
    return type(learner).begun(made)


def _carried(old: "Learner", new: "Learner", left: list[int]) -> "Learner":
    """What the old learner has seen, for the new one; `left` are the places of its arms among the old ones."""
    E, K = len(old.mediators), len(left)
    out = [a for a in range(len(old.arms)) if a not in left]
    before, state = old._state, new._state
    state.N_ea[:E, :K], state.N_ea[:E, K] = before.N_ea[:, left], before.N_ea[:, [*out, -1]].sum(axis=1)
    state.N_e[:E] = before.N_e
    for mine, theirs in ((state.tally, before.tally), (new._counted, old._counted)):
        fill(mine, theirs.N_a[left], theirs.S_a[left])
    for family, theirs_at_work in zip(new.families, old.families, strict=True):
        if isinstance(theirs_at_work, Student):
            restore_sums(family, theirs_at_work.sums[:, left])
    new._exact = ([list(old._exact[0][a]) for a in left], [list(old._exact[1][a]) for a in left])
    new._rng.bit_generator.state = old._rng.bit_generator.state
    new._asked, new._count, new._issued, new._next = old._asked, old._count, old._issued, old._next
    places = {a: i for i, a in enumerate(left)}
    new._open = dict(old._open)
    new._resolved = {number: found and _placed(found, places) for number, found in old._resolved.items()}
    if old._named is not None and all(a in places for a in old._named):
        new._named, new._verdict = tuple(places[a] for a in old._named), old._verdict
    new._watched = _watched(old._watched, left, len(new.mediators) - E, places)
    _replan(old, new, left)
    return new


def _placed(answer: Answer, places: dict[int, int]) -> Answer:
    """The same answer among the arms that are left; one about another arm is silence."""
    return (places[answer[0]], answer[1]) if answer[0] in places else (len(places), 0.0)


def _watched(old: Watched, left: list[int], more: int, places: dict[int, int]) -> Watched:
    S_ea = None if old.S_ea is None else np.vstack([old.S_ea[:, left], np.zeros((more, len(left)))])
    spread, claimed = None if old.spread is None else old.spread[:, left].copy(), old.claimed
    if claimed is not None and claimed.arm not in places:
        claimed = None
    elif claimed is not None and (claimed.rival < 0 or claimed.rival in places):
        claimed = replace(claimed, arm=places[claimed.arm], rival=places.get(claimed.rival, -1))
    elif claimed is not None:  # what was better is no rival any more
        claimed = replace(claimed, arm=places[claimed.arm], rival=-1, at=0, log_e=0.0)
    return Watched(S_ea, spread, claimed, None if old.moments is None else old.moments.recast(left, more))


def _replan(old: "Learner", new: "Learner", left: list[int]) -> None:
    """What the sampling rule has learnt, for the new cast; `left` are the places of its arms among the old ones."""
    for e in range(len(new.mediators)):
        new._sampler.reestimate(new._state, e)
    ours, theirs = new._sampler, old._sampler
    if isinstance(ours, OwnSampler) and isinstance(theirs, OwnSampler):
        if ours.memory.shape != theirs.memory.shape:
            rule = type(new.sampling).__name__
            raise ProblemError(f"{rule} cannot go on with another cast: its memory is made for the cast it had")
        ours.memory[:] = theirs.memory
    elif isinstance(ours, Sampler) and isinstance(theirs, Sampler):
        hand_back(old._plan, theirs)
        ours.most[0] = theirs.most[0]
        if ours.little.share > 0.0:  # then theirs was kept too
            ours.little.sums[:] = theirs.little.sums[:, left]
        if ours.kind != FIXED:
            whole = new._state.N_e.astype(np.float64)
            whole[theirs.members] = theirs.target
            ours.target[:] = whole[ours.members]
