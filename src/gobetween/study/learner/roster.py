"""Another roster: a learner with one mediator more, another policy or one arm less; a new one, with what the old one has seen.

Nothing is asked or counted again. The verdict is about arms, no matter who pulls them and how mediators are chosen, so that one
mediator more changes nothing in it. The rule plans for the new roster from the same estimates; Σω of C-tracking goes with each.
"""

from dataclasses import replace

import numpy as np

from gobetween.core.alarm.contradiction import Claim
from gobetween.core.alarm.drift import moderate
from gobetween.core.problem.cast import Cast
from gobetween.core.sampling.availability import hand_back
from gobetween.errors import ProblemError
from gobetween.study.learner.design import Design
from gobetween.study.learner.queries import Queries, place
from gobetween.study.learner.rules import Decision
from gobetween.study.learner.state import LearnerState


def with_mediators(old: LearnerState, cast: Cast) -> LearnerState:
    """With one mediator more, or with another policy declared of one."""
    new = _changed(old, cast, old.design, list(range(len(cast.arms))))
    new.decision.stopper.restore(old.decision.stopper.to_dict())
    return new


def without_arm(old: LearnerState, name: str) -> LearnerState:
    """Without one of the arms: a mediator who pulls it is as good as silent."""
    cast, design = old.cast, old.design
    a, K = place(name, cast.arms, "arm"), len(cast.arms)
    if K < 3:
        raise ProblemError(f"without {name!r} one arm would remain: there is nothing to compare it with")
    if not design.question.names_leader:
        raise ProblemError(f"{name!r} cannot be left out: the question {design.question.name} is about all arms")
    left = [i for i in range(K) if i != a]
    new = _changed(old, cast.with_arms(left), replace(design, stopping=design.stopping.without_arm(K)), left)
    new.decision.look(len(left), 0.0)
    return new


def _changed(old: LearnerState, cast: Cast, design: Design, left: list[int]) -> LearnerState:
    """What the old learner has seen, for a new one; `left` are the places of its arms among the old ones."""
    more, places = len(cast.mediators) - len(old.cast.mediators), {a: i for i, a in enumerate(left)}
    told, counted = (one.for_roster(design.family.at_work(len(left)), left, more) for one in (old.told, old.counted))
    new = LearnerState(cast, design, told, counted, _queries(old.queries, more, places), old.checkpoints.for_roster(left, more))
    if not moderate(len(cast.mediators), len(left)):
        new.forget_policies()
    _carry_decision(old.decision, new.decision, places)
    _carry_plan(old, new, left)
    return new


def _queries(old: Queries, more: int, places: dict[int, int]) -> Queries:
    """The same queries; an answer about another arm is silence."""
    waiting = {n: answer and answer._replace(a=places.get(answer.a, len(places))) for n, answer in old.waiting.items()}
    return replace(old, N_e=np.pad(old.N_e, (0, more)), open=dict(old.open), waiting=waiting)


def _carry_decision(old: Decision, new: Decision, places: dict[int, int]) -> None:
    """A verdict stays if its arms do."""
    if old.named is not None and all(a in places for a in old.named):
        new.named, new.verdict, new.doubted = tuple(places[a] for a in old.named), old.verdict, old.doubted
    new.claim = None if old.claim is None or old.claim.arm not in places else _claim(old.claim, places)


def _claim(old: Claim, places: dict[int, int]) -> Claim:
    if old.rival < 0 or old.rival in places:
        return replace(old, arm=places[old.arm], rival=places.get(old.rival, -1))
    return replace(old, arm=places[old.arm], rival=-1, at=0, log_e=0.0)  # what was better is no rival any more


def _carry_plan(old: LearnerState, new: LearnerState, left: list[int]) -> None:
    """What the sampling rule has learnt, for the new roster; `left` are the places of its arms among the old ones."""
    new.planner.rng.bit_generator.state = old.planner.rng.bit_generator.state
    ours, theirs, N_e = new.planner.sampler, old.planner.sampler, new.queries.N_e
    for e in range(len(N_e)):
        ours.reestimate(new.seen, e)
    hand_back(old.planner.plan, theirs)
    ours.take_over(theirs.to_dict(), theirs.members, left, N_e)
