"""The doctor replays the log and finds what does not agree with it."""

import itertools
import json
import random
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import pytest
from study_parts import answer

import gobetween as gb
from gobetween.core.evidence import next_look
from gobetween.study.record import Store
from gobetween.study.state import _queries
from gobetween.study.study import Study


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


def test_the_doctor_compares_rows_and_survives_nonsense(store: Store, new: Callable[..., Study]) -> None:
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


def test_the_doctor_compares_workers_too(store: Store, new: Callable[..., Study]) -> None:
    study = new()
    study.ask(worker="w")
    with store.writing(study.name) as record:
        row = record.query(0)
        assert row is not None
        event = {"seq": 2, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
        record.write([event], [replace(row, worker="v")], record.snapshot or {})
    (complaint,) = study.doctor()
    assert complaint.endswith("'v') in its table, ('open', 0, None, None, None, 'w') by the log")


def as_pairs(snapshot: dict[str, Any]) -> dict[str, Any]:
    """As formats before 4 kept open queries."""
    return snapshot | {"open": [[number, asdict(query)] for number, query in _queries(snapshot["open"]).items()]}


def test_a_snapshot_of_format_3_with_open_queries_is_read(store: Store, new: Callable[..., Study]) -> None:
    study = new()
    study.ask(3)
    study.tell(1, silent=True)
    pending = study.pending()
    with store.writing(study.name) as record:
        snapshot = as_pairs(json.loads(json.dumps(record.snapshot))) | {"format": 3}
        for later in ("lost", "jumps", "first_format", "seq"):
            del snapshot[later]
        event = {"seq": record.seq + 1, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
        record.write([event], [], snapshot)
    assert study.pending() == pending
    assert study.doctor() == []
    study.tell(0, silent=True)
    assert [query.id for query in study.pending()] == [2]
    assert study.doctor() == []


def test_a_snapshot_of_format_1_is_read_and_followed_up(store: Store, new: Callable[..., Study]) -> None:
    study, rng = new(delta=1e-6), random.Random(6)
    for _ in range(60):
        answer(study, study.ask()[0], rng, (0.5, 0.5, 0.5))
    held = study.look()[0]
    with store.writing(study.name) as record:
        snapshot = as_pairs(json.loads(json.dumps(record.snapshot))) | {"format": 1, "stride": 2}
        del snapshot["old_trail"]
        snapshot["trail"] = snapshot["trail"][::2]
        event = {"seq": record.seq + 1, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
        record.write([event], [], snapshot)
    assert study.doctor() == []
    assert study.look()[0].trail == held.trail[::2]
    for _ in range(5):
        answer(study, study.ask()[0], rng, (0.5, 0.5, 0.5))
    assert study.look()[0].to_dict()["format"] == 4
    assert study.doctor() == []


def test_a_snapshot_of_format_2_is_read_and_followed_up(store: Store, new: Callable[..., Study]) -> None:
    study, rng = new(), random.Random(6)
    answer(study, study.ask()[0], rng)
    with store.writing(study.name) as record:
        snapshot = as_pairs(json.loads(json.dumps(record.snapshot))) | {"format": 2}
        for counts in snapshot["counts"].values():
            del counts["voided"]
        event = {"seq": record.seq + 1, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
        record.write([event], [], snapshot)
    assert study.doctor() == []
    study.void(0, reason="not ours")
    assert sum(row["voided"] for row in study.status().mediators) == 1
    assert study.doctor() == []


def test_a_snapshot_of_a_later_format_is_refused(store: Store, new: Callable[..., Study]) -> None:
    study = new()
    study.ask()
    with store.writing(study.name) as record:
        event = {"seq": 2, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
        record.write([event], [], {**(record.snapshot or {}), "format": 6})
    words = r"a later version has kept this study \(snapshot format 6, not 5\): use a newer gobetween"
    for act in (study.ask, study.status, study.pending):
        with pytest.raises(gb.StudyError, match=words):
            act()
    assert any("use a newer gobetween" in line for line in study.doctor())


def test_the_trail_stays_short(new: Callable[..., Study]) -> None:
    study = new(delta=1e-9, mediators=[{"name": "z"}], arms=[{"name": "a"}, {"name": "b"}])
    for query in study.ask(150):
        study.tell(query, arm="ab"[query.id % 2], reward=query.id // 2 % 2)
    looks = [t for t, _, _ in study.look()[0].trail]
    assert looks[:26] == list(range(1, 27))
    assert all(later == next_look(t) for t, later in itertools.pairwise(looks))
    assert len(looks) < 70
