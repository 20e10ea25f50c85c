"""Answers that never came: leases end whoever looks, and a verdict says on what condition it holds and whether it needs to."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from study_parts import Clock

from gobetween.study.study import Study

TWO: dict[str, Any] = {"arms": [{"name": "a"}, {"name": "b"}], "mediators": [{"name": "z"}]}
BEST = "The best arm is 'a'; this is wrong with probability at most 10%"


def finish(study: Study, more: int = 0) -> None:
    """Tell that a pays and b does not until the study stops, and some more."""
    i = 0
    while study.status().verdict is None or i % 2 or more > 0:
        more -= study.status().verdict is not None
        study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 2 == 0), again=True)
        i += 1


@pytest.mark.parametrize(("expired", "words"), [(1, "the answer that expired did not depend on its reward"),
                                                (12, "the 12 answers that expired did not depend on their rewards")])  # fmt: skip
def test_a_verdict_says_how_many_answers_expired(new: Callable[..., Study], clock: Clock, expired: int, words: str) -> None:
    study = new(**TWO)
    study.ask(expired)
    clock.now += 3600
    finish(study)
    status = study.status()
    assert status.sentence == f"{BEST}, if {words}."
    assert status.missing is not None
    assert (status.missing["answers"], status.missing["stands"]) == (expired, False)
    assert status.missing["threshold"] == pytest.approx(math.log(10))
    line = next(line for line in status.assumptions if "worst" in line)
    assert line.endswith(f"worst it would not stand yet: evidence {status.missing['statistic']:.1f} of the 2.3 needed.")
    finish(study, 3 * expired + 30)
    status = study.status()
    assert status.missing is not None
    assert status.missing["stands"]
    wanted = "the missing answer" if expired == 1 else "all 12 missing answers"
    assert f"Even if {wanted} had gone against it, the verdict would stand." in status.assumptions
    assert status.to_dict()["missing"]["stands"]
    assert study.doctor() == []


def test_cancelled_and_voided_answers_are_in_the_condition_too(new: Callable[..., Study], clock: Clock) -> None:
    study = new(**TWO)
    study.ask(3)
    study.cancel(0)
    clock.now += 3600
    study.tell(2, arm="a", reward=1)  # late, but there
    study.tell(mediator="z", arm="b", reward=1)
    study.void(4, reason="another study's")
    finish(study)
    both = "the 2 answers that expired or were cancelled and the answer that was taken out did not depend on rewards"
    assert study.status().sentence == f"{BEST}, if {both}."
    assert study.doctor() == []


def test_with_answers_waited_for_only_cancelled_ones_are_missing(new: Callable[..., Study], clock: Clock) -> None:
    study = new(**TWO, wait_for="answer")
    first, second = study.ask(2)
    clock.now += 3600
    finish_by_hand = [study.tell(mediator="z", arm="ab"[i % 2], reward=1 - i % 2, again=True) for i in range(40)]
    assert all(receipt.stopped is None for receipt in finish_by_hand)
    assert study.status().missing is None
    study.tell(first, arm="a", reward=1)
    assert study.cancel(second).stopped is not None
    assert study.status().sentence == f"{BEST}, if the answer that was cancelled did not depend on its reward."
    assert study.status().missing == {"answers": 1, "supports": False, "stands": True, "threshold": pytest.approx(math.log(10)), "statistic": pytest.approx(19.2, abs=2.0)}  # fmt: skip


def test_rewards_without_ends_have_no_worst(new: Callable[..., Study], clock: Clock) -> None:
    study = new(**TWO, family={"name": "gaussian", "sigma": 1.0})
    study.ask()
    clock.now += 3600
    finish(study)
    found = study.status()
    assert found.missing is not None
    assert (found.missing["answers"], found.missing["statistic"], found.missing["stands"]) == (1, None, None)
    assert not any("worst" in line or "Even if" in line for line in found.assumptions)


def test_who_cannot_pull_the_arms_in_question_does_no_harm(new: Callable[..., Study], clock: Clock) -> None:
    found = []
    for policy in ([0.5, 0.5, 0.0], [0.0, 0.0, 1.0]):
        study = new(mediators=[{"name": "w", "policy": policy}, {"name": "z"}])
        study.away("z")
        study.ask(5)
        clock.now += 3600
        for i in range(90):
            study.tell(mediator="z", arm="abc"[i % 3], reward=int(i % 3 == 0), again=True)
        found.append(study.status().missing)
    assert [one["answers"] for one in found if one] == [5, 5]
    assert found[0]["statistic"] < found[1]["statistic"] - 1.0  # type: ignore[index, operator]


@pytest.mark.parametrize("command", ["tell", "note", "away", "cancel"])
def test_leases_end_whoever_comes_and_the_next_write_records_it(new: Callable[..., Study], clock: Clock, command: str) -> None:
    study = new()
    first, second, third = study.ask(3)
    clock.now += 3599
    assert study.overdue() == []
    study.ask()
    clock.now += 1
    seen = study.status()
    assert [row["query"] for row in seen.pending] == [3]
    assert sum(row["expired"] for row in seen.mediators) == 3
    assert [event["kind"] for event in study.events()] == ["asked"] * 4
    if command == "tell":
        assert study.tell(second, arm="a", reward=1, accept_surprise=True, key="k").late
        again = study.tell(second, arm="a", reward=1, accept_surprise=True, key="k")
        assert (again.query, again.late) == (second.id, True)
    elif command == "note":
        study.note("nothing")
    elif command == "away":
        study.away("x")
    else:
        study.cancel(3)
    assert [event["kind"] for event in study.events()][4:7] == ["expired"] * 3
    late = [first.id, third.id] if command == "tell" else [first.id, second.id, third.id]
    assert [query.id for query in study.overdue()] == late
    assert study.doctor() == []


def test_a_lease_that_ends_can_bring_the_verdict_and_a_look_shows_it(new: Callable[..., Study], clock: Clock) -> None:
    study = new(**TWO)
    study.ask()
    for i in range(60):
        assert study.tell(mediator="z", arm="ab"[i % 2], reward=1 - i % 2, again=True).stopped is None
    assert study.status().waiting_for == 0
    clock.now += 3600
    seen = study.status()
    assert (seen.state, seen.sentence) == ("sure", f"{BEST}, if the answer that expired did not depend on its reward.")
    study.note("hello")
    kinds = [event["kind"] for event in study.events()]
    assert kinds[-3:] == ["expired", "stopped", "note"]
    assert study.status().sentence == seen.sentence
    assert study.doctor() == []


def test_overdue_until_it_or_one_instead_is_answered(new: Callable[..., Study], clock: Clock) -> None:
    study = new()
    first, second = study.ask(2)
    clock.now += 3600
    again, other = study.ask(2)
    assert (again.reissue_of, other.reissue_of) == (first.id, second.id)
    clock.now += 3600
    (third,) = study.ask()
    assert third.reissue_of == again.id
    assert [query.id for query in study.overdue()] == [0, 1, 2, 3]
    assert study.rename("x", "X").recorded
    assert {query.mediator for query in study.overdue()} <= {"X", "y", "z"}
    study.tell(third, silent=True)  # instead of again, which was instead of first
    assert [query.id for query in study.overdue()] == [1, 3]
    study.tell(second, silent=True)
    assert [query.id for query in study.overdue()] == [3]
    assert study.doctor() == []


def test_overdue_with_answers_waited_for(new: Callable[..., Study], clock: Clock) -> None:
    study = new(wait_for="answer")
    study.ask(2)
    clock.now += 3600
    assert [query.id for query in study.overdue()] == [query.id for query in study.pending()] == [0, 1]
    study.tell(0, silent=True)
    assert [query.id for query in study.overdue()] == [1]


def test_the_status_says_that_the_clock_has_jumped(new: Callable[..., Study], clock: Clock) -> None:
    study = new()
    clock.now = 1.8e9
    study.ask()
    assert not any("clock" in line for line in study.status().assumptions)
    clock.now -= 86400 * 10
    (line,) = (line for line in study.status().assumptions if "clock" in line)
    assert line.startswith(
        "The clock of the store has jumped 1 time; the last time the clock went back by 10 days: open leases"
    )
    study.note("now it is recorded")
    clock.now += 86400 * 400
    study.note("and once more")
    (line,) = (line for line in study.status().assumptions if "clock" in line)
    assert line.startswith("The clock of the store has jumped 2 times; the last time nothing was recorded for 400 days")
    assert study.doctor() == []


@pytest.mark.parametrize("wait_for", ["lease", "answer"])
def test_all_that_is_counted_for_a_query_goes_with_it_to_another_mediator(
    new: Callable[..., Study], clock: Clock, wait_for: str
) -> None:
    study = new(mediators=[{"name": "y"}, {"name": "z"}], wait_for=wait_for)
    study.away("z")
    study.ask(2)
    study.tell(0, arm="a", reward=1)
    clock.now += 3600
    study.tell(1, arm="b", reward=0)  # late
    study.tell(mediator="y", arm="c", reward=1)
    before = study.status().mediators
    for row in study.export():
        if row["status"] == "told":
            study.correct(row["query"], mediator="z", reason="the other line")
    after = study.status().mediators
    names = ("asked", "told", "expired", "late", "unasked")
    assert [before[0][key] for key in names] == [after[1][key] for key in names] == [2, 3, 1, 1, 1]  # type: ignore[literal-required]
    assert [after[0][key] for key in names] == [0] * 5  # type: ignore[literal-required]
    study.correct(0, mediator="y", reason="no, it was right")
    assert study.status().mediators[0]["asked"] == 1
    assert study.doctor() == []
