"""Answers that are told, told again, told wrongly, corrected, withdrawn."""

import json
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_store import Memory
from study_parts import SPEC, Clock, answer

import gobetween as gb
from gobetween.study.journal.snapshot import snapshot_of
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study


def test_repeated_and_contradictory_tells(new: Callable[..., Study]) -> None:
    study = new()
    (query,) = study.ask()
    assert study.tell(query, arm="b", reward=1, accept_surprise=True).recorded
    before = snapshot_of(study.look()[0])
    assert not study.tell(query, arm="b", reward=1.0).recorded  # the same again
    with pytest.raises(
        gb.ConflictError, match=r"query 0 was answered before with arm 'b', reward 1; correct\(0, …\) changes that"
    ):
        study.tell(query, arm="b", reward=0)
    with pytest.raises(gb.ConflictError, match="answered before"):
        study.tell(query, silent=True)
    assert snapshot_of(study.look()[0]) == before
    first = study.tell(mediator="x", arm="a", reward=1, key="k1")
    assert first.recorded
    assert not study.tell(mediator="x", arm="a", reward=1, key="k1").recorded  # the key tells
    with pytest.raises(gb.ConflictError, match="key 'k1' was used before for something else"):
        study.tell(mediator="x", arm="a", reward=0, key="k1")
    assert study.tell(mediator="x", arm="a", reward=1, again=True).recorded  # without a key it is another answer
    asked = study.ask(2, key="k2")
    assert [query.id for query in study.ask(2, key="k2")] == [query.id for query in asked]
    assert study.status().mediators[0]["unasked"] == 2
    assert study.doctor() == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"arm": "d", "reward": 1}, "arm 'd' is not known: choose one of 'a', 'b', 'c'"),
        ({"arm": "a", "reward": 0.5}, "a bernoulli reward is 0 or 1"),
        ({"arm": "a", "reward": math.nan}, "a bernoulli reward is 0 or 1"),
        ({"arm": "a", "reward": math.inf}, "a bernoulli reward is 0 or 1"),
        ({"arm": "a", "reward": 10**400}, "a bernoulli reward is 0 or 1"),
        ({"arm": "a", "reward": "1"}, "a bernoulli reward is 0 or 1"),
        ({"arm": "a"}, "an answer needs arm"),
        ({"arm": "a", "reward": 1, "silent": True}, "leave out arm and reward"),
        ({"arm": "c", "reward": 1}, "was declared never to pull 'c'"),
        ({"arm": "a", "reward": 1, "mediator": "y"}, "query 0 was for mediator 'x', not for 'y'"),
        ({"arm": "a", "reward": 1, "query": 7}, "query 7 was never asked in this study"),
        ({"arm": "a", "reward": 1, "query": -1}, "query -1 was never asked in this study"),
        ({"arm": "a", "reward": 1, "query": 10**30}, "was never asked in this study"),
        ({"arm": "a", "reward": 1, "query": "0"}, "queries are known by whole numbers"),
        ({"arm": "a", "reward": 1, "query": None}, "name the query that is answered, or the mediator"),
        ({"arm": "a", "reward": 1, "key": "x" * 20_000}, "key: must be a text of at most 500 characters"),
        ({"arm": "a", "reward": 1, "key": "\x00"}, "without NUL"),
    ],
)
def test_bad_tells_change_nothing(new: Callable[..., Study], fields: dict[str, Any], message: str) -> None:
    study = new()
    study.away("y")
    study.away("z")
    (query,) = study.ask()
    before, events = json.dumps(snapshot_of(study.look()[0])), list(study.events())
    with pytest.raises(gb.GoBetweenError, match=message):
        study.tell(fields.get("query", query.id), **{key: value for key, value in fields.items() if key != "query"})
    assert json.dumps(snapshot_of(study.look()[0])) == before
    assert list(study.events()) == events


def test_corrections(new: Callable[..., Study]) -> None:
    study, rng = new(), random.Random(2)
    queries = [study.ask()[0] for _ in range(6)]
    for query in queries:
        answer(study, query, rng)
    clean = new()
    learner = clean.spec.new_learner()
    rows = list(study.export())
    changed = study.correct(queries[2], arm="b", reward=1, reason="misread", accept_surprise=True)
    assert changed.recorded
    assert not study.correct(queries[2], arm="b", reward=1, reason="misread").recorded
    learner.ask(len(rows))
    for row in rows:
        arm, reward = ("b", 1) if row["query"] == 2 else (row["arm"], row["reward"])
        learner.tell(row["query"], arm=arm, reward=reward, accept_surprise=True)
    counts = study.look()[0].learner.to_dict()
    for name in ("told", "counted"):
        assert counts[name]["N_a"] == learner.to_dict()[name]["N_a"]
        assert counts[name]["S_a"] == pytest.approx(learner.to_dict()[name]["S_a"])
    event = next(event for event in study.events() if event["kind"] == "corrected")
    assert event["old"] == {"arm": rows[2]["arm"], "reward": rows[2]["reward"]}
    assert event["new"] == {"arm": "b", "reward": 1.0}
    assert (event["reason"], event["actor"]) == ("misread", "tester")
    assert any("corrections were made regardless of the outcome" in line for line in study.status().assumptions)
    study.correct(queries[3], silent=True, reason="nobody acted")
    study.correct(queries[3], arm="a", reward=0, reason="somebody did", accept_surprise=True)
    for fields, message in (
        ({"query": 99, "arm": "a", "reward": 1, "reason": "r"}, "query 99 was never asked"),
        ({"query": 0, "arm": "a", "reward": 1, "reason": " "}, "a correction needs a reason"),
        ({"query": 0, "arm": "a", "reward": 3, "reason": "r"}, "a bernoulli reward is 0 or 1"),
        ({"query": 0, "arm": "a", "reason": "r"}, "needs the right arm and reward"),
    ):
        with pytest.raises(gb.StudyError, match=message):
            study.correct(**fields)  # type: ignore[arg-type]  # mistakes are the point
    (late,) = study.ask()
    with pytest.raises(gb.StudyError, match=f"query {late.id} is open: there is no answer to correct"):
        study.correct(late, silent=True, reason="r")
    assert study.doctor() == []


def test_a_voided_answer_counts_as_a_cancelled_query(new: Callable[..., Study]) -> None:
    """In the count and out of it (told, but waiting for an earlier one), and for the budget."""
    changes: dict[str, Any] = {"family": {"name": "gaussian", "sigma": 1.0}, "budget": {"queries": 8}}
    study, other = new(**changes), new(**changes)
    for each in (study, other):
        each.ask(6)
        each.tell(mediator="z", arm="c", reward=7)
        for number, arm, reward in ((0, "a", 3), (1, "b", 10**16), (4, "c", 5)):
            if each is study or number == 0:
                each.tell(number, arm=arm, reward=reward, accept_surprise=True)
    for number in (1, 4):
        assert study.void(number, reason="not ours").recorded
        assert not study.void(number, reason="not ours").recorded
        other.cancel(number)
    one, two = (each.look()[0] for each in (study, other))
    for state in (one, two):
        assert state.spent[0] == 5
    left, right = one.learner.to_dict(), two.learner.to_dict()
    assert left["queries"] == right["queries"]
    for ledger in ("told", "counted"):
        for part in ("n", "N_a", "S_a", "N_ea", "S_ea"):
            assert left[ledger][part] == right[ledger][part], part
    for number in (2, 3, 5):
        for each in (study, other):
            each.tell(number, arm="a", reward=1, accept_surprise=True)
    assert study.status().arms == other.status().arms
    assert study.status().counted == other.status().counted == 5
    rows = {row["query"]: row for row in study.export()}
    assert (rows[1]["status"], rows[1]["arm"], rows[1]["reward"]) == ("voided", None, None)
    (event, _) = (event for event in study.events() if event["kind"] == "voided")
    assert event["old"] == {"arm": "b", "reward": 1e16}
    with pytest.raises(gb.StudyError, match="the answer to query 1 was taken out: tell it without a query number"):
        study.tell(1, arm="b", reward=1)
    with pytest.raises(gb.StudyError, match="query 1 is voided: there is no answer to correct"):
        study.correct(1, silent=True, reason="r")
    assert any("Answers taken out: 2." in line for line in study.status().assumptions)
    assert study.doctor() == other.doctor() == []


def test_what_cannot_be_taken_out(new: Callable[..., Study]) -> None:
    study = new()
    study.ask(2)
    study.cancel(1)
    before = list(study.events())
    for number, reason, message in (
        (0, "r", r"query 0 is open: there is no answer to take out; cancel\(0\) withdraws it"),
        (1, "r", "query 1 is cancelled: there is no answer to take out"),
        (7, "r", "query 7 was never asked"),
        (0, " ", "taking an answer out needs a reason"),
    ):
        with pytest.raises(gb.StudyError, match=message):
            study.void(number, reason=reason)
    assert list(study.events()) == before
    study.tell(0, silent=True)
    study.void(0, reason="it was asked in error")
    assert study.status().counted == 0
    assert study.doctor() == []


def test_an_answer_can_be_given_to_another_mediator(new: Callable[..., Study]) -> None:
    study = new()
    study.tell(mediator="z", arm="c", reward=1)
    study.tell(mediator="z", arm="b", reward=0)
    with pytest.raises(gb.StudyError, match="mediator 'x' was declared never to pull 'c'"):
        study.correct(0, mediator="x", reason="wrong line")
    with pytest.raises(gb.StudyError, match="mediator 'w' is not known"):
        study.correct(0, mediator="w", reason="wrong line")
    assert not study.correct(0, mediator="z", reason="wrong line").recorded
    assert study.correct(0, mediator="y", reason="wrong line").recorded
    assert study.correct(1, mediator="x", arm="a", reward=1, reason="wrong line").recorded
    assert [(row["mediator"], row["arm"], row["reward"]) for row in study.export()] == [("y", "c", 1.0), ("x", "a", 1.0)]
    other = new()
    other.tell(mediator="y", arm="c", reward=1)
    other.tell(mediator="x", arm="a", reward=1)
    one, two = study.look()[0], other.look()[0]
    assert one.spent == two.spent == (2, 3.0)
    left, right = one.learner.to_dict(), two.learner.to_dict()
    assert left["queries"] == right["queries"]
    for ledger in ("told", "counted"):
        for part in ("n", "N_a", "S_a", "N_ea", "S_ea"):
            assert left[ledger][part] == right[ledger][part], part
    assert [row["told"] for row in study.status().mediators] == [1, 1, 0]
    assert [event["kind"] for event in study.events()] == ["told", "told", "moved", "moved", "corrected"]
    study.void(0, reason="after all")
    assert [row["voided"] for row in study.status().mediators] == [0, 1, 0]
    assert study.doctor() == []


def test_the_same_unasked_answer_soon_after_is_asked_about(new: Callable[..., Study], clock: Clock) -> None:
    study = new()
    study.tell(mediator="z", arm="a", reward=1)
    clock.now += 60
    message = r"'z' said the same 60 s ago \(query 0, arm 'a', reward 1\); if it is another answer, pass again=True"
    with pytest.raises(gb.ConflictError, match=message):
        study.tell(mediator="z", arm="a", reward=1)
    for other in ({"mediator": "z", "arm": "a", "reward": 0}, {"mediator": "y", "arm": "a", "reward": 1}):
        assert study.tell(**other).recorded  # type: ignore[arg-type]
    assert study.tell(mediator="z", arm="a", reward=1, key="k").recorded
    assert study.tell(mediator="z", arm="a", reward=1, again=True).recorded
    assert study.tell(mediator="z", silent=True).recorded
    with pytest.raises(gb.ConflictError, match="silent"):
        study.tell(mediator="z", silent=True)
    study.void(5, reason="typo")
    assert study.tell(mediator="z", silent=True).recorded
    clock.now += 601
    assert study.tell(mediator="z", arm="a", reward=1).recorded
    assert study.doctor() == []


def test_cancelling(new: Callable[..., Study]) -> None:
    study = new()
    first, second = study.ask(2)
    assert study.cancel(first, reason="the clinic closed").recorded
    assert not study.cancel(first).recorded
    with pytest.raises(gb.StudyError, match="query 0 was cancelled: tell the answer without a query number"):
        study.tell(first, arm="a", reward=1)
    study.tell(second, arm="b", reward=1, accept_surprise=True)
    with pytest.raises(gb.StudyError, match="query 1 is told: only an open query can be cancelled"):
        study.cancel(second)
    assert study.doctor() == []


@pytest.mark.plain
def test_corrections_are_exact(new: Callable[..., Study]) -> None:
    study = new(family="poisson")
    for _ in range(10):
        study.tell(mediator="z", arm="a", reward=3, again=True)
    receipt = study.tell(mediator="z", arm="a", reward=10**17)
    assert receipt.query is not None
    study.correct(receipt.query, arm="a", reward=3, reason="typo")
    assert study.status().arms[0]["estimate"] == 3.0
    study.correct(receipt.query, silent=True, reason="nothing at all")
    assert study.status().arms[0]["estimate"] == 3.0
    assert study.status().mediators[2]["silent"] == 1
    assert study.doctor() == []


def test_a_lost_acknowledgement_is_made_good(new: Callable[..., Study], monkeypatch: pytest.MonkeyPatch) -> None:
    """The transaction is committed, but the connection breaks before we hear of it: the retry finds the key."""
    from contextlib import contextmanager

    study = new(in_flight=2, budget={"queries": 3})
    study.ask()
    real, broken = study.store.writing, [True]

    @contextmanager
    def writing(name: str) -> Iterator[Any]:
        with real(name) as record:
            yield record
        if broken:
            broken.clear()
            error = gb.StoreError("the connection was lost")
            error.passing = True
            raise error

    monkeypatch.setattr(study.store, "writing", writing)
    receipt = study.tell(0, arm="a", reward=1, accept_surprise=True)
    assert receipt.recorded
    assert [query.id for query in receipt.asked] == [2]
    assert sum(event["kind"] == "told" for event in study.events()) == 1
    study.tell(1, silent=True)
    broken.append(True)
    stopped = study.tell(2, silent=True).stopped
    assert stopped is not None
    assert stopped["verdict"] == "budget"


def test_huge_rewards_do_no_harm(new: Callable[..., Study]) -> None:
    study = new(family={"name": "gaussian", "sigma": 1.0})
    for arm in "abc":
        for reward in (1e10, -1e10, 1e49):
            study.tell(mediator="z", arm=arm, reward=reward)
    assert study.status().leader in ("a", "b", "c")
    with pytest.raises(gb.StudyError, match="is not possible"):
        study.tell(mediator="z", arm="a", reward=1e60)
    tiny = new(family="exponential")
    with pytest.raises(gb.StudyError, match="is not possible"):
        tiny.tell(mediator="z", arm="a", reward=5e-324)


def test_odd_types(new: Callable[..., Study]) -> None:
    import numpy as np

    study = new()
    numpys: dict[str, Any] = {"reward": np.bool_(True), "accept_surprise": np.bool_(False)}
    assert study.tell(mediator="z", arm="a", **numpys).recorded
    assert study.tell(mediator="z", arm="b", reward=True).recorded
    for reward in (np.complex64(1), np.timedelta64(1), 10**5000, None, [1]):
        with pytest.raises(gb.GoBetweenError):
            study.tell(mediator="z", arm="a", reward=reward)  # type: ignore[arg-type]  # mistakes are the point
    for act in (
        lambda: study.note("\ud800"),
        lambda: study.note(None),  # type: ignore[arg-type]
        lambda: study.ask(worker="\ud800"),
        lambda: study.ask(worker=3),  # type: ignore[arg-type]
        lambda: study.ask("3"),  # type: ignore[arg-type]
        lambda: study.ask(1.5),  # type: ignore[arg-type]
        lambda: study.ask(math.nan),  # type: ignore[arg-type]
        lambda: study.ask(math.inf),  # type: ignore[arg-type]
        lambda: study.ask(key=""),
        lambda: study.correct(0, silent=True, reason=7),  # type: ignore[arg-type]
        lambda: Study(study.store, study.name, "\x00"),
    ):
        with pytest.raises(gb.StudyError):
            act()
    assert study.doctor() == []


@settings(max_examples=200)
@given(st.data())
def test_fuzzed_commands_are_done_or_refused_in_one_sentence(data: st.DataObject) -> None:
    anything = (
        st.none()
        | st.booleans()
        | st.integers(-2, 10**30)
        | st.floats()
        | st.text(max_size=5)
        | st.sampled_from(["a", "x", 0, 1])
    )
    store = Memory(Clock())
    store.create("s", parse_study(SPEC, "test").to_dict(), {})
    study = Study(store, "s", "me")
    study.ask(3)
    for _ in range(4):
        verb = data.draw(st.sampled_from(["ask", "tell", "correct", "void", "cancel", "rename", "away", "back", "note"]))
        draw: Any = lambda: data.draw(anything)  # noqa: E731
        arguments: dict[str, tuple[list[Any], dict[str, Any]]] = {
            "ask": ([draw()], {"worker": draw()}),
            "tell": ([draw()], {"arm": draw(), "reward": draw(), "silent": draw(), "mediator": draw(), "key": draw()}),
            "correct": ([draw()], {"arm": draw(), "reward": draw(), "silent": draw(), "mediator": draw(), "reason": draw()}),
            "void": ([draw()], {"reason": draw()}),
            "rename": ([draw(), draw()], {}),
            "cancel": ([draw()], {"reason": draw()}),
            "away": ([draw()], {}),
            "back": ([draw()], {}),
            "note": ([draw()], {}),
        }
        places, names = arguments[verb]
        try:
            getattr(study, verb)(*places, **names)
        except gb.GoBetweenError as error:
            assert str(error)
    assert study.doctor() == []
