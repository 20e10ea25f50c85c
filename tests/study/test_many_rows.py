"""More events and queries than one page of them holds: all are read, wherever, each once and in order."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from service_parts import running
from study_parts import SPEC, answer

import gobetween as gb
from gobetween.study import client
from gobetween.study.find_study import backup_study, restore_study
from gobetween.study.spec.spec import parse_study
from gobetween.study.store import copies, database_record


@pytest.fixture(autouse=True, params=[1, 3, 1000])
def pages_are_short(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    for module in (client, copies, database_record):
        monkeypatch.setattr(module, "PAGE", request.param)
    return int(request.param)


def lived(study: gb.Study) -> gb.Study:
    """12 queries, of which 9 are answered, and a note: as many events as pages end with, and one more."""
    rng = random.Random(1)
    for query in study.ask(12)[:9]:
        answer(study, query, rng)
    return study


def whole(study: gb.Study, rows: int) -> None:
    """All of it, in order, in each way to read it; from anywhere, and as much as is asked for."""
    events = list(study.events())
    assert [event["seq"] for event in events] == list(range(1, 22 + 1))
    assert [json.loads(line)["seq"] for line in study.lines()] == list(range(1, 22 + 1))
    assert [row["query"] for row in study.export()] == list(range(rows))
    for after in (0, 2, 3, 20, 21, 22):
        for limit in (0, 1, 3, 4, 100):
            assert list(study.events(after, limit)) == events[after : after + limit], (after, limit)
    assert study.doctor() == []


def test_all_are_read_from_a_store(new: Callable[..., gb.Study]) -> None:
    study = lived(new(delta=1e-9))
    study.note("the last")
    whole(study, 12)


def test_all_come_back_from_a_backup(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.sqlite", tmp_path / "copy.sqlite"
    with gb.Study.create(path, parse_study(SPEC | {"delta": 1e-9}, "test")) as study:
        lived(study).note("the last")
    assert backup_study(path, copy) == {"study": 22}
    restore_study(copy, tmp_path / "restored.sqlite")
    for file in (copy, tmp_path / "restored.sqlite"):
        with gb.Study.open(file) as study:
            whole(study, 12)


def test_all_are_read_from_a_server(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with gb.Study.create(path, parse_study(SPEC | {"delta": 1e-9}, "test")) as study:
        lived(study).note("the last")
        events = list(study.events())
    with running(str(path)) as server:
        far = gb.Client(server.base, server.access.first)
        assert list(far.events()) == events
        assert [list(far.events(after, limit)) for after, limit in ((0, 4), (3, 6), (21, 9))] == [
            events[:4],
            events[3:9],
            events[21:],
        ]
        far.close()
