"""The doctor replays the log and finds what does not agree with it."""

import itertools
import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text
from study_parts import SPEC, answer

import gobetween as gb
from gobetween.core.verdict.evidence_report import next_look
from gobetween.study.journal.record import Store
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study


def test_the_doctor_finds_damage(store: Store, new: Callable[..., Study]) -> None:
    study, rng = new(), random.Random(6)
    for _ in range(5):
        answer(study, study.ask()[0], rng)
    assert study.doctor() == []
    with store.writing(study.name) as record:
        snapshot = json.loads(json.dumps(record.snapshot))
        snapshot["learner"]["told"]["S_a"][0] += 1e-3
        snapshot["learner"]["queries"]["N_e"][0] += 1
        event = {"seq": record.seq + 1, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
        record.write([event], [], snapshot)
    complaints = study.doctor()
    assert any(line.startswith("snapshot.learner.told.S_a[0] is") for line in complaints)
    assert any(line.startswith("snapshot.learner.queries.N_e[0] is") for line in complaints)


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


def test_the_doctor_finds_rows_that_are_missing_or_too_many(where: str) -> None:
    with Study.create(where, parse_study(SPEC, "test")) as study:
        study.ask(3)
        study.tell(0, silent=True)
        database: Any = study.store
        with database._engine.begin() as connection:
            connection.execute(text("DELETE FROM queries WHERE query = 2"))
        (complaint,) = study.doctor()
        assert complaint.startswith("query 2 is None in its table, ('open', ")
        with study.store.writing(study.name) as record:
            row = record.query(1)
            assert row is not None
            event = {"seq": 5, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
            record.write([event], [replace(row, query=7)], record.snapshot or {})
        assert any(line.startswith("query 7 is ('open', ") and line.endswith("None by the log") for line in study.doctor())


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


def test_a_snapshot_of_a_later_format_is_refused(store: Store, new: Callable[..., Study]) -> None:
    study = new()
    study.ask()
    with store.writing(study.name) as record:
        event = {"seq": 2, "at": 0.0, "actor": "t", "kind": "note", "text": "", "key": "q", "part": 0}
        record.write([event], [], {**(record.snapshot or {}), "format": 2})
    words = r"a later version has kept this study \(snapshot format 2, not 1\): use a newer gobetween"
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
