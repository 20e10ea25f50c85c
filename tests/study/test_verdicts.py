"""When a study stops, what its verdict says, and how it goes on."""

import random
from collections.abc import Callable

import pytest
from study_parts import SPEC, Clock, answer

import gobetween as gb
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study


def test_a_budget_is_a_verdict_of_its_own(new: Callable[..., Study]) -> None:
    study, rng = new(budget={"queries": 5}), random.Random(4)
    queries = study.ask(9)
    assert len(queries) == 5
    with pytest.raises(gb.StudyError, match="the budget is used up; 5 open queries"):
        study.ask()
    for query in queries[:4]:
        assert answer(study, query, rng, (0.5, 0.5, 0.5)).stopped is None
    receipt = answer(study, queries[4], rng, (0.5, 0.5, 0.5))
    assert receipt.stopped["verdict"] == "budget"
    assert 0.1 < receipt.stopped["p_value"] <= 1.0
    assert study.status().sentence.startswith("The budget is used up; '")
    with pytest.raises(gb.StudyError, match=r"the budget is used up; call edit\(spec\) with a larger budget, then resume\(\)"):
        study.resume()
    study.edit(parse_study(SPEC | {"budget": {"queries": 8}}, "test"))
    study.resume()
    assert len(study.ask(5)) == 3
    costly = new(budget={"cost": 3.0})
    spent = 0.0
    while True:
        try:
            spent += {"x": 1.0, "y": 2.0, "z": 1.0}[costly.ask()[0].mediator]
        except gb.StudyError:
            break
    assert 2.0 < spent <= 3.0
    assert study.doctor() == []


def test_a_verdict_carries_the_evidence_of_its_moment(new: Callable[..., Study]) -> None:
    study = new(mediators=[{"name": "z"}], arms=[{"name": "a"}, {"name": "b"}])
    first, *rest = study.ask(201)
    for i, query in enumerate(rest):
        favoured = "ab"[i >= 40]
        arm = "ab"[i % 2]
        study.tell(query, arm=arm, reward=int(arm == favoured))
    stopped = study.tell(first, arm="a", reward=1).stopped
    assert stopped is not None
    assert stopped["arm"] == "a"
    assert stopped["counted"] < 40
    assert 0.05 < stopped["p_value"] <= 0.1
    assert stopped["statistic"] >= stopped["threshold"]


def test_an_expiry_may_bring_the_verdict_before_anything_is_asked(new: Callable[..., Study], clock: Clock) -> None:
    study = new(mediators=[{"name": "z"}], arms=[{"name": "a"}, {"name": "b"}])
    _, *rest = study.ask(41)
    for i, query in enumerate(rest):
        study.tell(query, arm="ab"[i % 2], reward=int(i % 2 == 0), again=True)
    clock.now += 4000
    with pytest.raises(gb.StudyError, match="the study has stopped"):
        study.ask(key="k")
    assert [event["kind"] for event in study.events(after=41 + 40)] == ["expired", "stopped"]
    study.resume()
    assert len(study.ask(key="k")) == 1  # a refusal does not use up the key
    assert study.doctor() == []


def test_at_the_end_of_a_budget_the_study_says_how_sure_it_is(new: Callable[..., Study]) -> None:
    study, rng = new(budget={"queries": 60}), random.Random(4)
    for _ in range(60):
        for query in study.ask():
            answer(study, query, rng, (0.75, 0.7, 0.02))
    status = study.status()
    assert status.sentence.startswith("The budget is used up; '")
    assert (f"p = {status.p_value:.2g}" if status.p_value < 1.0 else "no evidence for it yet") in status.sentence
    assert sorted(status.in_play) == ["a", "b"]
    assert status.how_far.startswith(
        "Still in play: 'a' and 'b'; the other arm is ruled out (wrong with probability at most 10%)."
    )
    assert "more queries" in status.how_far
    assert "Expected cost: about" in status.how_far
    assert status.resolution is not None
    assert status.resolution.twice is not None
    assert status.resolution.now is None or status.resolution.twice < status.resolution.now
    assert f", twice as many {float(f'{status.resolution.twice:.2g}'):g}." in status.how_far
    told = status.to_dict()
    assert told["in_play"] == status.in_play
    assert set(told["resolution"]) == {"leader", "rival", "gap", "now", "twice", "near"}


def test_budgets_and_mediators_that_are_not_needed(new: Callable[..., Study]) -> None:
    twins = [
        {"name": "x", "policy": [0.5, 0.5]},
        {"name": "y", "policy": [0.2, 0.8]},
        {"name": "p", "policy": [0.35, 0.65], "cost": 1.5},
    ]
    study = new(arms=[{"name": "a"}, {"name": "b"}], mediators=twins, sampling="pruned", budget={"cost": 2.5})
    assert study.look()[0].learner.state.planner.sampler.members.tolist() == [0, 1]
    first, second = study.ask(5)
    study.tell(first, silent=True)
    stopped = study.tell(second, silent=True).stopped
    assert stopped is not None
    assert stopped["verdict"] == "budget"


def test_a_verdict_on_a_typo_can_be_taken_up_again(new: Callable[..., Study]) -> None:
    study = new(mediators=[{"name": "z"}], arms=[{"name": "a"}, {"name": "b"}])
    for i in range(40):
        if study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 2 == 0), again=True).stopped:
            break
    for row in list(study.export()):
        study.correct(row["query"], arm=row["arm"], reward=1, reason="all were 1")
    status = study.status()
    assert (status.state, status.verdict is None) == ("under review", False)
    study.resume()
    assert study.status().sentence.endswith("the study is not sure yet.")
    while (
        study.tell(mediator="z", arm="b", reward=1, again=True).stopped is None
        and study.tell(mediator="z", arm="a", reward=0, again=True).stopped is None
    ):
        pass
    assert dict(study.status().verdict or {})["arm"] == "b"
    assert study.doctor() == []


def test_a_verdict_says_on_what_condition_it_holds_where_answers_were_taken_out(new: Callable[..., Study]) -> None:
    study = new(mediators=[{"name": "z"}], arms=[{"name": "a"}, {"name": "b"}])
    study.tell(mediator="z", arm="b", reward=1)
    study.void(0, reason="typed into the wrong study")
    i = 0
    while study.status().verdict is None:
        study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 2 == 0), again=True)
        i += 1
    sentence = "The best arm is 'a'; this is wrong with probability at most 10%, if the {} taken out did not depend on rewards."
    assert study.status().sentence == sentence.format("answer that was")
    for row in list(study.export())[1:]:
        study.void(row["query"], reason="the clinic made them up")
    status = study.status()
    assert status.sentence.startswith("Under review: the verdict was “The best arm is 'a'”.")
    assert any(line.startswith(f"Answers taken out: {i + 1}.") for line in status.assumptions)
    study.resume()
    assert study.status().sentence == "Nothing is known yet: no answer has been counted."
    assert study.doctor() == []


def test_an_identification_supersedes_a_budget(new: Callable[..., Study]) -> None:
    study = new(mediators=[{"name": "z"}], arms=[{"name": "a"}, {"name": "b"}], budget={"queries": 1})
    study.tell(study.ask()[0], silent=True)
    assert dict(study.status().verdict or {})["verdict"] == "budget"
    receipt = None
    for i in range(60):
        receipt = study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 2 == 0), again=True)
        if receipt.stopped:
            break
    assert receipt is not None
    assert receipt.stopped is not None
    assert receipt.stopped["verdict"] == "identified"
    with pytest.raises(gb.StudyError, match=r"the budget is used up; call edit\(spec\) with a larger budget, then resume\(\)"):
        study.resume()
    assert dict(study.status().verdict or {})["verdict"] == "identified"


def test_what_ask_advises_after_a_stop_works(new: Callable[..., Study]) -> None:
    """A budget that is used up is raised first: resume alone would refuse."""
    two = {"mediators": [{"name": "z"}], "arms": [{"name": "a"}, {"name": "b"}]}
    study = new(**two, budget={"queries": 1})
    (query,) = study.ask()
    advice = r"call edit\(spec\) with a larger budget, then resume\(\)"
    with pytest.raises(gb.StudyError, match=f"the budget is used up; 1 open query; {advice}"):
        study.ask()
    study.tell(query, silent=True)
    with pytest.raises(gb.StudyError, match=rf"the study has stopped \(the budget is used up.*\); {advice}"):
        study.ask()
    assert study.status().how_far.endswith("answers that still arrive are counted and may settle it.")
    receipt = study.tell(mediator="z", arm="a", reward=1)
    assert receipt.stood == "budget"
    i = 0
    while (receipt := study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 2 == 0), again=True)).stopped is None:
        i += 1
    assert receipt.stood is None
    assert study.tell(mediator="z", arm="b", reward=1).stood == "identified"
    with pytest.raises(gb.StudyError, match=rf"the study has stopped \(the answer is 'a'\); {advice}"):
        study.ask()
    study.edit(parse_study(SPEC | two | {"budget": {"queries": 1000}}, "test"))
    with pytest.raises(gb.StudyError, match=r"call resume\(\) to keep asking"):
        study.ask()
    study.resume()
    assert study.ask()


def test_an_arm_that_nobody_has_seen_does_not_lead(new: Callable[..., Study]) -> None:
    study = new(family={"name": "gaussian", "sigma": 1.0})
    study.tell(mediator="z", arm="b", reward=-5.0)
    assert study.status().leader == "b"
