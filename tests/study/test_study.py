"""A live study behaves the same over every store: memory, SQLite, PostgreSQL."""

import json
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gobetween as gb
from gobetween.study.record import Store
from gobetween.study.spec import parse_study
from gobetween.study.store.database import Database
from gobetween.study.store.memory import Memory
from gobetween.study.study import Study

SPEC: dict[str, Any] = {
    "title": "three arms",
    "family": "bernoulli",
    "delta": 0.1,
    "lease": "1h",
    "arms": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
    "mediators": [
        {"name": "x", "policy": [0.5, 0.5, 0.0], "contact": "x@example.org"},
        {"name": "y", "policy": [0.1, 0.1, 0.8], "cost": 2.0},
        {"name": "z"},
    ],
}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    made: Store
    if request.param == "memory":
        made = Memory(clock)
    elif request.param == "sqlite":
        made = Database.open(str(tmp_path / "s.sqlite"), create=True, clock=clock)
    else:
        made = Database.open(request.getfixturevalue("postgres").database(), create=True, clock=clock)
    yield made
    made.close()


@pytest.fixture
def new(store: Store) -> Callable[..., Study]:
    def make(**changes: Any) -> Study:
        name = f"study {len(store.names())}"
        store.create(name, parse_study(SPEC | changes, "test").to_dict(), {})
        return Study(store, name, "tester")

    return make


def answer(study: Study, query: Any, rng: random.Random, means: Any = (0.9, 0.2, 0.3)) -> Any:
    weights = {"x": [0.5, 0.5, 0.0], "y": [0.1, 0.1, 0.8], "z": [0.3, 0.3, 0.4]}[query.mediator]
    a = rng.choices(range(3), weights)[0]
    return study.tell(query, arm="abc"[a], reward=int(rng.random() < means[a]))


def test_from_the_first_query_to_the_answer(new: Callable[..., Study]) -> None:
    study, rng = new(), random.Random(1)
    receipt = None
    while receipt is None or receipt.stopped is None:
        (query,) = study.ask()
        assert query.until == 1000.0 + 3600.0
        receipt = answer(study, query, rng)
    assert receipt.stopped["verdict"] == "identified"
    assert receipt.stopped["arm"] == "a"
    status = study.status()
    assert status.state == "stopped"
    assert status.sentence == "The best arm is 'a'; this is wrong with probability at most 0.1."
    with pytest.raises(gb.StudyError, match=r"the study has stopped \(the answer is 'a'\); resume\(\) asks on all the same"):
        study.ask()
    assert study.doctor() == []
    study.resume()
    assert study.ask()[0].mediator in "xyz"
    kinds = [event["kind"] for event in study.events()]
    assert kinds.count("stopped") == 1
    assert kinds[-2:] == ["reopened", "asked"]
    assert study.doctor() == []


def test_a_study_asks_what_a_learner_asks_even_if_restarted_at_every_step(new: Callable[..., Study]) -> None:
    study = new()
    learner = study.spec.new_learner()
    one, other = random.Random(5), random.Random(5)
    for _ in range(40):
        again = Study(study.store, study.name)  # as after a restart
        (query,) = again.ask()
        expected = learner.ask(go_on=True)
        assert (query.id, query.mediator) == (expected.id, expected.mediator)
        answer(again, query, one, (0.6, 0.5, 0.5))
        weights = {"x": [0.5, 0.5, 0.0], "y": [0.1, 0.1, 0.8], "z": [0.3, 0.3, 0.4]}[query.mediator]
        a = other.choices(range(3), weights)[0]
        learner.tell(expected, arm="abc"[a], reward=int(other.random() < (0.6, 0.5, 0.5)[a]))
        if learner.done:
            break
    state, _, _ = study.look()
    assert state.learner.to_dict() == learner.to_dict()


def test_repeated_and_contradictory_tells(new: Callable[..., Study]) -> None:
    study = new()
    (query,) = study.ask()
    assert study.tell(query, arm="b", reward=1, accept_surprise=True).recorded
    before = study.look()[0].to_dict()
    assert not study.tell(query, arm="b", reward=1.0).recorded  # the same again
    with pytest.raises(
        gb.ConflictError, match=r"query 0 was answered before with arm 'b', reward 1; correct\(0, …\) changes that"
    ):
        study.tell(query, arm="b", reward=0)
    with pytest.raises(gb.ConflictError, match="answered before"):
        study.tell(query, silent=True)
    assert study.look()[0].to_dict() == before
    first = study.tell(mediator="x", arm="a", reward=1, key="k1")
    assert first.recorded
    assert not study.tell(mediator="x", arm="a", reward=1, key="k1").recorded  # the key tells
    with pytest.raises(gb.ConflictError, match="key 'k1' was used before for something else"):
        study.tell(mediator="x", arm="a", reward=0, key="k1")
    assert study.tell(mediator="x", arm="a", reward=1).recorded  # without a key it is another answer
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
    before, events = json.dumps(study.look()[0].to_dict()), list(study.events())
    with pytest.raises(gb.GoBetweenError, match=message):
        study.tell(fields.get("query", query.id), **{key: value for key, value in fields.items() if key != "query"})
    assert json.dumps(study.look()[0].to_dict()) == before
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
    assert any("corrections are not chosen by their reward" in line for line in study.status().assumptions)
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


def test_leases_expire_inside_ask_and_queries_are_issued_anew(new: Callable[..., Study], clock: Clock) -> None:
    study = new()
    first, _ = study.ask(2)
    clock.now += 3599
    (third,) = study.ask()
    assert third.reissue_of is None
    clock.now += 2
    assert [query.id for query in study.pending()] == [0, 1, 2]  # looking expires nothing
    fourth, fifth = study.ask(2)
    assert (fourth.reissue_of, fifth.reissue_of) == (0, 1)
    assert [query.id for query in study.pending()] == [2, 3, 4]
    late = study.tell(first, arm="a", reward=1, accept_surprise=True)
    assert (late.recorded, late.late) == (True, True)
    assert not study.tell(first, arm="a", reward=1).recorded
    with pytest.raises(gb.ConflictError, match="answered before"):
        study.tell(first, arm="a", reward=0)
    row = study.status().mediators[0]
    assert sum(m["expired"] for m in study.status().mediators) == 2
    assert sum(m["late"] for m in study.status().mediators) == 1
    assert row["asked"] >= 1
    assert any("2 expired" in line and "1 late" in line for line in study.status().assumptions)
    assert study.look()[0].learner.progress.told == 1
    assert study.doctor() == []


def test_the_verdict_can_wait_for_late_answers(new: Callable[..., Study], clock: Clock) -> None:
    study = new(wait_for="answer")
    first, second = study.ask(2)
    study.tell(second, arm="b", reward=1, accept_surprise=True)
    clock.now += 4000
    (again,) = study.ask()
    assert again.reissue_of == 0
    status = study.status()
    assert (status.counted, status.waiting_for) == (0, 0)
    assert any("waits for query 0" in line for line in status.assumptions)
    assert study.tell(first, arm="a", reward=1, accept_surprise=True).late
    assert study.status().counted == 2  # in the order of issue
    assert study.doctor() == []


def test_workers_get_their_open_query_back(new: Callable[..., Study], clock: Clock) -> None:
    study = new()
    (one,) = study.ask(worker="w1")
    (two,) = study.ask(worker="w2")
    assert one.id != two.id
    assert study.ask(worker="w1")[0].id == one.id
    assert not study.ask(worker="w1")[0].new
    study.tell(one, silent=True)
    assert study.ask(worker="w1")[0].id == 2
    clock.now += 4000
    (fresh,) = study.ask(worker="w2")
    assert fresh.reissue_of == 1
    with pytest.raises(gb.StudyError, match="one query at a time"):
        study.ask(3, worker="w3")


def test_in_flight_is_topped_up_by_tells(new: Callable[..., Study]) -> None:
    study, rng = new(in_flight=3), random.Random(3)
    assert [query.id for query in study.ask()] == [0, 1, 2]
    assert [(query.id, query.new) for query in study.ask()] == [(0, False), (1, False), (2, False)]
    receipt = answer(study, study.pending()[0], rng)
    assert [query.id for query in receipt.asked] == [3]
    assert len(study.pending()) == 3
    (taken,) = study.ask(worker="w")
    assert taken.id == 1
    study.pause()
    assert answer(study, study.pending()[0], rng).asked == ()
    with pytest.raises(gb.StudyError, match=r"the study is paused; resume\(\) goes on"):
        study.ask(1)
    assert [query.id for query in study.resume().asked] == [4]
    assert study.doctor() == []


def test_absent_mediators_are_not_asked(new: Callable[..., Study]) -> None:
    study = new()
    study.away("x")
    assert not study.away("x").recorded
    assert {query.mediator for query in study.ask(10)} <= {"y", "z"}
    study.away("y")
    study.away("z")
    with pytest.raises(gb.StudyError, match="nobody can be asked: 'x', 'y', 'z' are away"):
        study.ask()
    study.back("x")
    assert study.ask()[0].mediator == "x"
    with pytest.raises(gb.StudyError, match="mediator 'w' is not known"):
        study.away("w")
    assert study.doctor() == []


def test_a_budget_is_a_verdict_of_its_own(new: Callable[..., Study]) -> None:
    study, rng = new(budget={"queries": 5}), random.Random(4)
    queries = study.ask(9)
    assert len(queries) == 5
    with pytest.raises(gb.StudyError, match="the budget is used up; 5 answers are still out"):
        study.ask()
    for query in queries[:4]:
        assert answer(study, query, rng, (0.5, 0.5, 0.5)).stopped is None
    receipt = answer(study, queries[4], rng, (0.5, 0.5, 0.5))
    assert receipt.stopped["verdict"] == "budget"
    assert 0.1 < receipt.stopped["p_value"] <= 1.0
    assert study.status().sentence.startswith("The budget is used up; '")
    with pytest.raises(gb.StudyError, match=r"the budget is used up; edit\(spec\) can raise it"):
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


def test_cancelling(new: Callable[..., Study]) -> None:
    study = new()
    first, second = study.ask(2)
    assert study.cancel(first, reason="the clinic closed").recorded
    assert not study.cancel(first).recorded
    with pytest.raises(gb.StudyError, match="query 0 was cancelled: tell it as unasked"):
        study.tell(first, arm="a", reward=1)
    study.tell(second, arm="b", reward=1, accept_surprise=True)
    with pytest.raises(gb.StudyError, match="query 1 is told: only an open query can be cancelled"):
        study.cancel(second)
    assert study.doctor() == []


def test_the_spec_freezes_at_the_first_event(new: Callable[..., Study]) -> None:
    study = new()
    study.edit(parse_study(SPEC | {"delta": 0.2}, "test"))
    assert study.spec.delta == 0.2
    study.ask()
    for changes, message in (
        ({"delta": 0.3}, "delta cannot change, the study has begun: it is 0.2, not 0.3"),
        ({"delta": 0.2, "seed": 4}, "seed cannot change"),
        ({"delta": 0.2, "family": "poisson"}, "family cannot change"),
        ({"delta": 0.2, "stopping": "paper"}, "stopping cannot change"),
        ({"delta": 0.2, "arms": [{"name": "b"}, {"name": "a"}, {"name": "c"}]}, "arms cannot change"),
        ({"delta": 0.2, "arms": SPEC["arms"][:2], "mediators": [{"name": "x"}, {"name": "y"}, {"name": "z"}]}, "cannot change"),
        ({"delta": 0.2, "wait_for": "answer"}, "wait_for cannot change"),
    ):
        with pytest.raises(gb.StudyError, match=message):
            study.edit(parse_study(SPEC | changes, "test"))
    renamed = [{**m, "name": m["name"].upper()} for m in SPEC["mediators"]]
    renamed[2]["contact"] = "z@example.org"
    changes = {"delta": 0.2, "title": "new", "mediators": renamed, "lease": "2h", "budget": {"queries": 50}, "in_flight": 2}
    study.away("y")
    study.edit(parse_study(SPEC | changes, "test"))
    edited = {event["field"] for event in study.events() if event["kind"] == "edited"}
    assert edited == {"title", "mediators", "contacts", "lease", "max_queries", "in_flight"}
    assert study.spec.mediators == ("X", "Y", "Z")
    assert study.pending()[0].mediator == "X"
    study.tell(0, arm="a", reward=1)
    assert study.look()[0].away == ["Y"]
    assert study.doctor() == []


def test_a_store_holds_many_studies(new: Callable[..., Study], store: Store) -> None:
    one, other = new(), new()
    one.ask(3)
    other.note("only here")
    assert [event["kind"] for event in other.events()] == ["note"]
    assert [event["seq"] for event in one.events(after=1)] == [2, 3]
    assert [event["seq"] for event in one.events(limit=2)] == [1, 2]
    with pytest.raises(gb.StudyError, match="already"):
        store.create(one.name, {}, {})
    with pytest.raises(gb.StudyError, match="a note needs some text"):
        one.note("  ")


def test_the_doctor_finds_damage(store: Store, new: Callable[..., Study]) -> None:
    study, rng = new(), random.Random(6)
    for _ in range(5):
        answer(study, study.ask()[0], rng)
    assert study.doctor() == []
    with store.writing(study.name) as record:
        snapshot = json.loads(json.dumps(record.snapshot))
        snapshot["learner"]["told"]["S_a"][0] += 1e-3
        snapshot["learner"]["N_e"][0] += 1
        event = {"seq": record.seq + 1, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
        record.write([event], [], snapshot)
    complaints = study.doctor()
    assert any(line.startswith("snapshot.learner.told.S_a[0] is") for line in complaints)
    assert any(line.startswith("snapshot.learner.N_e[0] is") for line in complaints)


def test_bad_specs() -> None:
    for changes, message in (
        ({"lease": "soon"}, "lease = 'soon': write a time such as '30m', '12h' or '3d'"),
        ({"lease": -1}, "lease = -1: must be a positive time"),
        ({"in_flight": 0}, "in_flight = 0: must be a whole number, 1 or more"),
        ({"budget": {"queries": 0}}, "budget: queries = 0: must be a whole number, 1 or more"),
        ({"budget": {"money": 3}}, "budget.money is not a known key: choose from queries, cost"),
        ({"budget": 7}, "budget = 7: must be a table"),
        ({"budget": {"cost": -2}}, "budget.cost = -2: must be a positive number"),
        ({"wait_for": "godot"}, "wait_for = 'godot': choose one of lease, answer"),
        ({"delta": [0.1, 0.2]}, "a study has one risk"),
        ({"sampling": ["tracking", "uniform"]}, "sampling names 2 rules: a study follows one"),
        ({"sampling": "oracle"}, "a live learner cannot use it"),
        ({"sampling": "pruned"}, "prune=True needs the policy of every mediator"),
        ({"arms": [{"name": "a"}]}, "at least two arms"),
        ({"mediators": []}, "mediators is missing"),
        ({"leese": "1h"}, "leese is not a known key"),
    ):
        with pytest.raises(gb.SpecError) as caught:
            parse_study(SPEC | changes, "study.toml")
        assert message in str(caught.value)
        assert str(caught.value).startswith("study.toml: ")


def test_corrections_are_exact(new: Callable[..., Study]) -> None:
    study = new(family="poisson")
    for _ in range(10):
        study.tell(mediator="z", arm="a", reward=3)
    receipt = study.tell(mediator="z", arm="a", reward=10**17)
    assert receipt.query is not None
    study.correct(receipt.query, arm="a", reward=3, reason="typo")
    assert study.status().arms[0]["estimate"] == 3.0
    study.correct(receipt.query, silent=True, reason="nothing at all")
    assert study.status().arms[0]["estimate"] == 3.0
    assert study.status().mediators[2]["silent"] == 1
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
        study.tell(query, arm="ab"[i % 2], reward=int(i % 2 == 0))
    clock.now += 4000
    with pytest.raises(gb.StudyError, match="the study has stopped"):
        study.ask(key="k")
    assert [event["kind"] for event in study.events(after=41 + 40)] == ["expired", "stopped"]
    study.resume()
    assert len(study.ask(key="k")) == 1  # a refusal does not use up the key
    assert study.doctor() == []


def test_a_repeated_ask_returns_the_workers_own_query(new: Callable[..., Study]) -> None:
    study = new(in_flight=3)
    assert [query.id for query in study.ask(worker="w1", key="k")] == [0]
    assert len(study.pending()) == 3
    assert [query.id for query in study.ask(worker="w1", key="k")] == [0]
    study.pause()
    with pytest.raises(gb.StudyError, match="paused"):
        study.ask(worker="w2")
    study.resume()
    for mediator in "xyz":
        study.away(mediator)
    with pytest.raises(gb.StudyError, match="nobody can be asked"):
        study.ask(worker="w2")


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


def test_budgets_and_mediators_that_are_not_needed(new: Callable[..., Study]) -> None:
    twins = [
        {"name": "x", "policy": [0.5, 0.5]},
        {"name": "y", "policy": [0.2, 0.8]},
        {"name": "p", "policy": [0.35, 0.65], "cost": 1.5},
    ]
    study = new(arms=[{"name": "a"}, {"name": "b"}], mediators=twins, sampling="pruned", budget={"cost": 2.5})
    assert study.look()[0].learner.members == ("x", "y")
    first, second = study.ask(5)
    study.tell(first, silent=True)
    stopped = study.tell(second, silent=True).stopped
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


def test_a_verdict_on_a_typo_can_be_taken_up_again(new: Callable[..., Study]) -> None:
    study = new(mediators=[{"name": "z"}], arms=[{"name": "a"}, {"name": "b"}])
    for i in range(40):
        if study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 2 == 0)).stopped:
            break
    for row in list(study.export()):
        study.correct(row["query"], arm=row["arm"], reward=1, reason="all were 1")
    status = study.status()
    assert status.state == "stopped"
    assert any("corrected after the verdict" in line for line in status.assumptions)
    study.resume()
    assert study.status().sentence.endswith("the study is not sure yet.")
    while (
        study.tell(mediator="z", arm="b", reward=1).stopped is None
        and study.tell(mediator="z", arm="a", reward=0).stopped is None
    ):
        pass
    assert dict(study.status().verdict or {})["arm"] == "b"
    assert study.doctor() == []


def test_an_identification_supersedes_a_budget(new: Callable[..., Study]) -> None:
    study = new(mediators=[{"name": "z"}], arms=[{"name": "a"}, {"name": "b"}], budget={"queries": 1})
    study.tell(study.ask()[0], silent=True)
    assert dict(study.status().verdict or {})["verdict"] == "budget"
    receipt = None
    for i in range(60):
        receipt = study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 2 == 0))
        if receipt.stopped:
            break
    assert receipt is not None
    assert receipt.stopped is not None
    assert receipt.stopped["verdict"] == "identified"
    with pytest.raises(gb.StudyError, match=r"the budget is used up; edit\(spec\) can raise it"):
        study.resume()
    assert dict(study.status().verdict or {})["verdict"] == "identified"


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
        lambda: study.ask(key=""),
        lambda: study.correct(0, silent=True, reason=7),  # type: ignore[arg-type]
        lambda: Study(study.store, study.name, "\x00"),
    ):
        with pytest.raises(gb.StudyError):
            act()
    assert study.doctor() == []


def test_the_doctor_compares_rows_and_survives_nonsense(store: Store, new: Callable[..., Study]) -> None:
    from dataclasses import replace

    study = new()
    study.tell(mediator="z", arm="a", reward=1)
    with store.writing(study.name) as record:
        row = record.query(0)
        assert row is not None
        event = {"seq": 2, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
        record.write([event], [replace(row, reward=0.0)], record.snapshot or {})
    assert any("query 0 is ('told', 2, 0, 0, 0.0) in its table" in line for line in study.doctor())
    with store.writing(study.name) as record:
        record.write([event | {"seq": 3, "key": "r", "kind": "told"}], [], record.snapshot or {})
    assert any("event 3 (told) cannot be replayed: KeyError" in line for line in study.doctor())


def test_contacts_may_be_shared_and_swapped(new: Callable[..., Study]) -> None:
    study = new()
    study.ask()
    mediators = [dict(m) for m in SPEC["mediators"]]
    mediators[1]["contact"], mediators[0]["contact"] = "x@example.org", ""
    study.edit(parse_study(SPEC | {"mediators": mediators}, "test"))
    assert study.spec.contacts == ("", "x@example.org", "")


def test_an_arm_that_nobody_has_seen_does_not_lead(new: Callable[..., Study]) -> None:
    study = new(family={"name": "gaussian", "sigma": 1.0})
    study.tell(mediator="z", arm="b", reward=-5.0)
    assert study.status().leader == "b"


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
        verb = data.draw(st.sampled_from(["ask", "tell", "correct", "cancel", "away", "back", "note"]))
        draw: Any = lambda: data.draw(anything)  # noqa: E731
        arguments: dict[str, tuple[list[Any], dict[str, Any]]] = {
            "ask": ([draw()], {"worker": draw()}),
            "tell": ([draw()], {"arm": draw(), "reward": draw(), "silent": draw(), "mediator": draw(), "key": draw()}),
            "correct": ([draw()], {"arm": draw(), "reward": draw(), "silent": draw(), "reason": draw()}),
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
