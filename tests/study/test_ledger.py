"""What is told and what is counted, when answers are corrected, moved or taken out, before they are counted and after."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gobetween as gb
from gobetween.export import json_safe
from gobetween.study.learner.ledger import Ledger, new_ledgers
from gobetween.study.learner.queries import Answer

ARMS, MEDIATORS = ["a", "b", "c"], ["x", "y"]


def learner(**changes: Any) -> gb.Learner:
    options: dict[str, Any] = {"family": gb.Gaussian(1.0), "delta": 1e-9} | changes
    return gb.Learner(ARMS, dict.fromkeys(MEDIATORS), **options)


def kept(one: gb.Learner) -> dict[str, Any]:
    """All that counts of both ledgers, and of the checkpoints."""
    data = json.loads(json.dumps(one.to_dict()))
    return {part: {key: data[part][key] for key in ("n", "N_a", "S_a", "N_ea", "S_ea")} for part in ("told", "counted")}


@pytest.mark.parametrize("saved", [False, True])
def test_the_correction_of_an_answer_that_waits_is_counted_once_its_turn_comes(saved: bool) -> None:
    one, right = learner(), learner()
    first, second = one.ask(2)
    one.tell(second, arm="a", reward=5.0)
    one.correct(second.id, second.mediator, ("a", 5.0), ("b", 2.0))
    if saved:
        one = gb.Learner.from_dict(json.loads(json.dumps(one.to_dict())))
    one.tell(first, arm="c", reward=1.0)
    right.ask(2)
    right.tell(first, arm="c", reward=1.0)
    right.tell(second, arm="b", reward=2.0)
    assert [arm.estimate for arm in one.progress.arms] == [None, 2.0, 1.0]
    assert kept(one) == kept(right)


def test_an_answer_that_waits_is_moved_and_taken_out() -> None:
    one, right = learner(), learner()
    first, second, third = one.ask(3)
    one.tell(second, arm="a", reward=5.0)
    one.tell(third, arm="b", reward=2.0)
    other = MEDIATORS[1 - MEDIATORS.index(second.mediator)]
    one.move(second.id, second.mediator, other, ("a", 5.0))
    one.void(third.id, third.mediator, ("b", 2.0))
    one.tell(first, arm="c", reward=1.0)
    for mediator, arm, reward in ((first.mediator, "c", 1.0), (other, "a", 5.0)):
        right.tell(mediator=mediator, arm=arm, reward=reward)
    assert kept(one) == kept(right)
    assert one.queries == right.queries
    assert one.counted == 2


@pytest.mark.parametrize("order", ["issue", "arrival"])
def test_a_move_keeps_verdict_claim_and_contrasts(order: str) -> None:
    one = learner(delta=0.1, order=order)
    for i in range(60):
        one.tell(mediator="x", arm="abc"[i % 3], reward=float(i % 3 == 0) * 3.0)
    assert one.done
    before = one.to_dict()["decision"]
    one.move(3, "x", "y", ("a", 3.0))
    assert one.to_dict()["decision"] == before
    assert one.queries == (59, 1)
    one.correct(3, "y", ("a", 3.0), ("a", 2.0))
    assert one.to_dict()["decision"] != before


@pytest.mark.parametrize("sampling", ["pursuit", "tracking"])
def test_after_a_move_a_correction_or_a_void_all_policies_are_those_that_were_seen(sampling: str) -> None:
    """Whoever is planned with: the mediator that gives an answer away, and the one that gets it."""
    one, right = learner(sampling=sampling), learner(sampling=sampling)
    told = [("x", "a"), ("y", "b"), ("x", "b"), ("x", "c"), ("y", "a"), ("x", "a"), ("y", "c")]
    for mediator, arm in told:
        one.tell(mediator=mediator, arm=arm, reward=1.0)
    one.move(2, "x", "y", ("b", 1.0))
    one.correct(3, "x", ("c", 1.0), ("a", 1.0))
    one.void(5, "x", ("a", 1.0))
    for mediator, arm in [("x", "a"), ("y", "b"), ("y", "b"), ("x", "a"), ("y", "a"), ("y", "c")]:
        right.tell(mediator=mediator, arm=arm, reward=1.0)
    for e in range(2):
        right.state.planner.sampler.reestimate(right.state.seen, e)  # once all arms are seen pursuit estimates otherwise
    assert one.state.planner.sampler.to_dict()["R"].tolist() == right.state.planner.sampler.to_dict()["R"].tolist()


answers = st.builds(Answer, st.integers(0, 1), st.integers(0, 3), st.floats(-1e9, 1e9, width=32))


@settings(max_examples=60, deadline=None)
@given(st.lists(answers, max_size=12), st.lists(answers, max_size=6), st.sampled_from([gb.Gaussian(2.0), gb.Gaussian(None)]))
def test_what_is_removed_was_never_there(left: list[Answer], wrong: list[Answer], family: gb.Family) -> None:
    one, other = new_ledgers(family, 3, 2)[0], new_ledgers(family, 3, 2)[0]
    for answer in (*left, *wrong):
        one.add(answer)
    for answer in left:
        other.add(answer)
    for i, answer in enumerate(wrong):
        one.replace(answer, Answer(1, 0, float(i)))
        one.remove(Answer(1, 0, float(i)))
    assert one.n == other.n
    for mine, theirs in ((one.N_ea, other.N_ea), (one.tally.N_a, other.tally.N_a)):
        assert mine is not None and theirs is not None and (mine == theirs).all()  # noqa: PT018
    assert np.allclose(one.tally.mu_hat, other.tally.mu_hat, rtol=1e-12)
    again = Ledger.from_dict(family.at_work(3), one.to_dict())
    assert again.to_dict().keys() == one.to_dict().keys()
    assert (again.tally.S_a == one.tally.S_a).all()
    assert again.exact == one.exact


@settings(max_examples=60, deadline=None)
@given(st.lists(answers, max_size=20), st.integers(0, 2), st.sampled_from([gb.Gaussian(2.0), gb.Gaussian(None), gb.Poisson()]))
def test_without_an_arm_a_ledger_is_as_if_its_answers_had_been_silence(
    told: list[Answer], gone: int, family: gb.Family
) -> None:
    left = [a for a in range(3) if a != gone]
    told = [one._replace(x=abs(round(one.x))) for one in told]
    for old, new in zip(new_ledgers(family, 3, 2), new_ledgers(family, 2, 2), strict=True):
        for one in told:
            old.add(one)
            new.add(one._replace(a=left.index(one.a) if one.a in left else 2))
        kept = old.for_roster(family.at_work(2), left, 0)
        assert json.dumps(json_safe(kept.to_dict())) == json.dumps(json_safe(new.to_dict()))


def test_what_cannot_be_absorbed_changes_nothing() -> None:
    one = learner(family=gb.Gaussian(None))
    before = json.dumps(one.to_dict())
    with pytest.raises(gb.ProblemError, match="has no second moments: pass spread"):
        one.absorb([[1, 1, 1], [0, 0, 1]], [0.0, 1.0, 2.0])
    assert json.dumps(one.to_dict()) == before
    one.ask()
    with pytest.raises(gb.ProblemError, match="must be counted before the first query"):
        one.absorb([[1, 1, 1], [0, 0, 1]], [0.0, 1.0, 2.0])


def test_a_learner_of_another_format_is_refused() -> None:
    with pytest.raises(gb.ProblemError, match="format = 3: this version reads learners of format 1"):
        gb.Learner.from_dict(learner().to_dict() | {"format": 3})
