"""Snapshots are written now and then: what is read back is the same, and the store grows no faster than its events."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from study_parts import Clock, answer

import gobetween as gb
from gobetween.core.problem.cast import from_json_rows, json_rows
from gobetween.study.commands.command_queue import CommandQueue
from gobetween.study.journal import transaction
from gobetween.study.journal.record import Open, Store
from gobetween.study.journal.snapshot import _columns, _queries, snapshot_of
from gobetween.study.learner import serialise
from gobetween.study.study import Study


def snapshot(study: Study) -> dict[str, Any]:
    with study.store.reading(study.name) as record:
        return dict(record.snapshot or {})


def play(study: Study, clock: Clock, seed: int) -> None:
    """A course with answers out of order, late, corrected, taken out and unasked, mediators that leave, renamed things."""
    rng = random.Random(seed)
    for step in range(60):
        clock.now += rng.choice([1.0, 900.0])
        if pending := study.pending():
            answer(study, rng.choice(pending), rng, (0.5, 0.5, 0.5))
        if step % 3 == 0:
            study.ask(rng.randint(1, 3))
        if step % 10 == 5:
            study.tell(mediator="z", arm="c", reward=1, again=True)
            told = [row["query"] for row in study.export() if row["status"] == "told"]
            study.correct(rng.choice(told), silent=True, reason="r")
        if step % 15 == 7:
            study.cancel(study.ask(1)[0])
            (study.away if step % 2 else study.back)("x")
        if step == 31:
            study.rename("a", "A")
            study.rename("A", "a")


@pytest.mark.parametrize("wait_for", ["lease", "answer"])
def test_snapshots_now_and_then_are_the_same_as_always(
    new: Callable[..., Study], clock: Clock, monkeypatch: pytest.MonkeyPatch, wait_for: str
) -> None:
    courses, began = [], clock.now
    for per_event in (10**9, 100):
        monkeypatch.setattr(transaction, "PER_EVENT", per_event)
        study, clock.now = new(delta=1e-9, wait_for=wait_for), began
        play(study, clock, 5)
        events = [{key: value for key, value in event.items() if key not in ("key", "request")} for event in study.events()]
        courses.append((events, snapshot_of(study.look()[0]), study.status().to_dict() | {"name": ""}))
        assert study.doctor() == []
    assert courses[0] == courses[1]
    behind = study.status().events - snapshot(study)["seq"]
    assert study.store.place == "memory" or behind > 0


def test_a_large_snapshot_is_not_written_by_every_tell(tmp_path: Path) -> None:
    spec = gb.StudySpec(["a", "b"], ["x", "y"], family="bernoulli", delta=1e-9)
    path = tmp_path / "s.sqlite"
    with gb.Study.create(path, spec) as study:
        for _ in range(3):
            study.ask(10_000)
        large, size = len(json.dumps(snapshot(study))), path.stat().st_size
        assert large > 4 * transaction.PER_EVENT
        seen = set()
        for number in range(30_000 - 20, 30_000):
            study.tell(number, arm="a", reward=1)
            seen.add(snapshot(study)["seq"])
        assert len(seen) <= 2 + 20 * transaction.PER_EVENT // large
        study.note("the end")
    assert path.stat().st_size < size + 2 * large  # its pages are used again
    with gb.Study.open(path) as again:
        assert len(again.pending()) == 30_000 - 20
        assert again.look()[0].learner.progress.told == 20


def test_an_edit_is_always_in_the_snapshot(new: Callable[..., Study], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "PER_EVENT", 1)
    study = new()
    study.ask(2)
    study.note("later")
    study.rename("x", "X")
    assert study.spec.mediators == ("X", "y", "z")
    assert snapshot(study)["seq"] == 4
    study.queue = CommandQueue(study.store, study.name)  # as in a server, which writes snapshots more seldom
    study.add_mediator("w", policy=[0.1, 0.2, 0.7])
    for other in ("x", "y", "z"):
        study.away(other.replace("x", "X"))
    study.tell(study.ask()[0], silent=True, accept_surprise=True)
    assert snapshot(study)["seq"] == 5
    again = Study(study.store, study.name, "another")  # without a queue
    assert again.spec.mediators == ("X", "y", "z", "w")
    assert [row["mediator"] for row in again.export()][-1] == "w"
    assert study.doctor() == []


def test_an_event_that_is_missing_since_the_snapshot_is_noticed(store: Store, new: Callable[..., Study]) -> None:
    study = new()
    study.ask(2)
    with store.writing(study.name) as record:
        record.write([{"seq": 4, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}], [], None)
    if store.place != "memory":  # which has no numbers of its own
        with pytest.raises(gb.StoreError, match="the study counts 3 events, its log has 4"):
            study.status()
    assert study.doctor() != []


def test_a_snapshot_of_no_event_is_a_complaint(store: Store, new: Callable[..., Study]) -> None:
    study = new()
    study.ask(2)
    with store.writing(study.name) as record:
        note = {"seq": 3, "at": 1000.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
        record.write([note], [], snapshot(study) | {"seq": 7})
    assert "the snapshot is of event 7, the log has 3" in study.doctor()


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_queries_as_columns(n: int) -> None:
    rng = random.Random(n)
    made = {
        7 * i: Open(rng.choice("xy"), float(i), rng.choice([None, 3.0]), None, rng.choice([None, 4]), rng.random() < 0.5)
        for i in range(n)
    }
    assert _queries(json.loads(json.dumps(_columns(made)))) == made


def test_large_matrices_are_packed_and_read_back_exactly(new: Callable[..., Study], monkeypatch: pytest.MonkeyPatch) -> None:
    plain, packed = new(delta=1e-9), new(delta=1e-9)
    for study, large in ((plain, 10**6), (packed, 1)):
        monkeypatch.setattr(serialise, "LARGE", large)
        rng = random.Random(8)
        for _ in range(40):
            answer(study, study.ask()[0], rng, (0.5, 0.5, 0.5))
        assert study.doctor() == []
    other = packed.look()[0].learner.to_dict()
    assert (snapshot(plain)["learner"]["format"], snapshot(packed)["learner"]["format"]) == (1, 1)
    assert (snapshot(plain)["format"], snapshot(packed)["format"]) == (1, 1)
    assert "bytes" in snapshot(packed)["spec"]["policies"]
    assert packed.spec == plain.spec
    assert len(snapshot(packed)["learner"]["told"]["N_ea"]["bytes"]) > 10
    monkeypatch.setattr(serialise, "LARGE", 10**6)
    one = plain.look()[0].learner.to_dict()
    assert gb.Learner.from_dict(other).to_dict() == gb.Learner.from_dict(one).to_dict() == one


def test_whatever_is_known_of_policies_is_packed_exactly() -> None:
    rows = [[0.1 + 0.2, 0.7 - 1e-17, -0.0], None, [None, 0.0, None], [5e-324, 1.0, 0.0]] * 900
    packed = serialise.pack(from_json_rows(rows, 3))
    assert repr(json_rows(serialise.unpack(json.loads(json.dumps(packed))))) == repr(rows)
