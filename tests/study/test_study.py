"""A live study behaves the same over every store: asking, waiting, workers, absences."""

import random
from collections.abc import Callable

import pytest
from study_parts import SPEC, Clock, answer

import gobetween as gb
from gobetween.study.journal.record import Store
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study


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
    assert status.verdict is not None
    assert status.sentence == "The best arm is 'a'; this is wrong with probability at most 10%."
    with pytest.raises(gb.StudyError, match=r"the study has stopped \(the answer is 'a'\); call resume\(\) to keep asking"):
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


def test_leases_expire_inside_ask_and_queries_are_issued_anew(new: Callable[..., Study], clock: Clock) -> None:
    study = new()
    first, _ = study.ask(2)
    clock.now += 3599
    (third,) = study.ask()
    assert third.reissue_of is None
    clock.now += 2
    events = list(study.events())
    assert [query.id for query in study.pending()] == [2]  # leases end whoever looks
    assert [query.id for query in study.overdue()] == [0, 1]
    assert list(study.events()) == events  # and looking writes nothing
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
    assert any("2 queries expired" in line and "1 answer was late" in line for line in study.status().assumptions)
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
    with pytest.raises(gb.StudyError, match=r"the study is paused; call resume\(\) to continue"):
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
    with pytest.raises(gb.StudyError, match="no mediator can be asked: 'x', 'y' and 'z' are away"):
        study.ask()
    study.back("x")
    assert study.ask()[0].mediator == "x"
    with pytest.raises(gb.StudyError, match="mediator 'w' is not known"):
        study.away("w")
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
    with pytest.raises(gb.StudyError, match="no mediator can be asked"):
        study.ask(worker="w2")


def test_an_ask_that_was_refused_may_be_repeated_under_its_key(new: Callable[..., Study]) -> None:
    """Also where something else had to be recorded: here that the study has stopped."""
    study = new(budget={"queries": 5})
    study.tell(study.ask()[0], silent=True)
    less, more = (parse_study(SPEC | {"budget": {"queries": n}}, "test") for n in (1, 5))
    study.edit(less)
    with pytest.raises(gb.StudyError, match="budget is used up"):
        study.ask(key="k")
    assert study.status().state == "budget used"
    study.edit(more)
    study.resume()
    assert [query.id for query in study.ask(key="k")] == [1]
    assert [query.id for query in study.ask(key="k")] == [1]
    assert study.doctor() == []


@pytest.mark.parametrize("wait_for", ["lease", "answer"])
@pytest.mark.parametrize("worker", [None, "w"])
def test_no_worker_gets_a_query_whose_lease_has_ended(
    new: Callable[..., Study], clock: Clock, wait_for: str, worker: str | None
) -> None:
    """Neither one that nobody has taken, nor its own."""
    study = new(in_flight=1, wait_for=wait_for)
    assert [query.id for query in study.ask(worker=worker)] == [0]
    clock.now += 4000
    (fresh,) = study.ask(worker="w")
    assert fresh.id == 1
    assert fresh.reissue_of == 0
    assert fresh.until == clock.now + 3600


@pytest.mark.parametrize("wait_for", ["lease", "answer"])
def test_a_lease_ends_at_its_moment(new: Callable[..., Study], clock: Clock, wait_for: str) -> None:
    study = new(wait_for=wait_for)
    (query,) = study.ask()
    assert query.until is not None
    clock.now = query.until - 0.001
    assert study.ask()[0].reissue_of is None
    clock.now = query.until
    assert study.ask()[0].reissue_of == query.id
    assert study.doctor() == []


@pytest.mark.parametrize("wait_for", ["lease", "answer"])
@pytest.mark.parametrize("end", ["told", "silent", "cancelled"])
def test_what_has_come_to_an_end_is_not_asked_anew(new: Callable[..., Study], clock: Clock, wait_for: str, end: str) -> None:
    """Three leases end and one query is issued anew; one of the others is then settled, so that only the third is left."""
    study = new(wait_for=wait_for)
    first, second, third = study.ask(3)
    clock.now += 4000
    assert study.ask()[0].reissue_of == first.id
    if end == "told":
        assert study.tell(second, arm="a", reward=1, accept_surprise=True).late
    elif end == "silent":
        assert study.tell(second, silent=True).late
    elif wait_for == "answer":
        assert study.cancel(second, reason="closed").recorded
    else:
        return  # with leases an expired query is not open any more
    assert [query.reissue_of for query in study.ask(2)] == [third.id, None]
    assert study.doctor() == []
