"""Every kind of event stands once in `study/journal/events.py`, and everything that derives from it agrees."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from study_parts import SPEC, Clock, answer

import gobetween as gb
from gobetween.study.journal.events import COUNTS, KINDS, OWN, kind_of
from gobetween.study.journal.state import SWITCHES, StudyState
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study
from gobetween.words.events import event_words


def lived(new: Callable[..., Study], clock: Clock) -> Study:
    """A study in which everything has happened once, except that it began from a log."""
    study, rng = new(in_flight=2, budget={"queries": 8}), random.Random(1)
    study.ask(worker="w")
    study.ask(worker="v")
    study.tell(0, arm="b", reward=1, accept_surprise=True)
    study.correct(0, silent=True, reason="nobody acted")
    study.correct(0, arm="a", reward=0, reason="somebody did", accept_surprise=True)
    study.tell(1, silent=True)
    study.tell(mediator="z", arm="c", reward=1)
    study.correct(0, mediator="z", reason="the other clinic")
    study.tell(mediator="y", arm="c", reward=0)
    study.void(4, reason="not ours")
    study.cancel(2, reason="closed")
    study.away("x")
    study.back("x")
    study.pause()
    study.resume()
    study.archive()
    study.archive(undo=True)
    study.note("all quiet")
    study.edit(parse_study(SPEC | {"in_flight": 2, "budget": {"queries": 9}}, "test"))
    clock.now += 4000
    study.ask()
    study.tell(3, arm="b", reward=0, accept_surprise=True)  # late
    while study.status().state == "running":
        answer(study, study.pending()[0], rng)
    study.edit(parse_study(SPEC | {"in_flight": 2, "budget": {"queries": 12}}, "test"))
    study.resume()
    clock.now -= 7200
    study.note("before it began")
    study.add_mediator("w", policy=[0.2, 0.3, 0.5])
    study.declare("w")
    study.retire("w")
    study.retire("c", what="arm")
    return study


def test_recorded_events_have_exactly_their_fields(new: Callable[..., Study], clock: Clock) -> None:
    study = lived(new, clock)
    events = list(study.events())
    assert {event["kind"] for event in events} == set(KINDS) - {"absorbed"}
    for event in events:
        assert event.keys() - set(OWN) == set(kind_of(event).fields), event
        assert event_words(event)
    assert study.doctor() == []


def test_rows_and_counts_follow_from_the_events(new: Callable[..., Study], clock: Clock) -> None:
    study = lived(new, clock)
    rows, events = list(study.export()), list(study.events())
    assert [row["worker"] for row in rows][:2] == ["w", "v"]
    assert {"told", "silent", "cancelled", "expired"} <= {row["status"] for row in rows}
    for name in ("asked", "cancelled", "expired", "corrected", "voided"):
        happened = sum(event["kind"] == name or (event["kind"], name) == ("moved", "corrected") for event in events)
        assert sum(int(dict(row)[name]) for row in study.status().mediators) == happened  # type: ignore[call-overload]
    told = sum(row["status"] == "told" for row in rows)
    assert (
        sum(row["told"] for row in study.status().mediators)
        == told
        == study.look()[0].learner.progress.told - sum(row["silent"] for row in study.status().mediators)
    )


def test_every_kind_has_its_effect_and_every_effect_its_kind() -> None:
    effects = {name.removeprefix("_on_") for name in vars(StudyState) if name.startswith("_on_")}
    assert effects | set(SWITCHES) | {"note"} == set(KINDS)
    assert not effects & {*SWITCHES, "note"}
    state = StudyState(parse_study(SPEC, "test"))
    assert tuple(state.counts["x"]) == COUNTS
    assert tuple(list(state_row(state))[4:-2]) == COUNTS


def state_row(state: StudyState) -> Any:
    from gobetween.study.status.status import status_of

    return status_of("s", state, 0.0, 0).mediators[0]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"kind": "asked", "query": 3, "mediator": "x", "reissue_of": 1}, "query 3 to x, instead of query 1"),
        ({"kind": "told", "query": 3, "mediator": "x", "arm": "a", "reward": 1.0, "late": True}, "query 3, x: a, 1, late"),
        (
            {"kind": "corrected", "query": 3, "old": None, "new": {"arm": "a", "reward": 0.5}, "reason": "r"},
            "query 3 corrected from silence to a (0.5): r",
        ),
        ({"kind": "silent", "query": 3, "mediator": "x"}, "query 3 silent"),
        (
            {"kind": "moved", "query": 3, "mediator": "x", "was": "y", "answer": {"arm": "a", "reward": 1.0}, "reason": "r"},
            "query 3, a (1): was x, not y: r",
        ),
        ({"kind": "voided", "query": 3, "mediator": "x", "old": None, "reason": "r"}, "query 3, x: silence taken out: r"),
        ({"kind": "stopped", "verdict": "identified", "arm": "a"}, "sure: a"),
        ({"kind": "away", "mediator": "x"}, "x away"),
        ({"kind": "added", "mediator": "x"}, "x joined"),
        ({"kind": "declared", "mediator": "x", "policy": None}, "policy of x declared: unknown"),
        ({"kind": "declared", "mediator": "x", "policy": [None, 0.0]}, "policy of x declared: ?, 0"),
        ({"kind": "retired", "mediator": "x"}, "x retired"),
        ({"kind": "dropped", "arm": "a"}, "arm a retired"),
        ({"kind": "paused"}, "the study paused"),
        ({"kind": "stopped", "verdict": "budget", "arm": "a"}, "the budget is used up, a leads"),
        ({"kind": "edited", "field": "lease", "old": 1, "new": 2}, "lease changed from 1 to 2"),
        ({"kind": "absorbed", "N_ea": [[1, 2], [3, 4]], "files": ["f", "g"]}, "began from 10 rows of f, g"),
        ({"kind": "note", "text": "t"}, "note: t"),
    ],
)
def test_words(event: dict[str, Any], said: str) -> None:
    assert event_words(event) == said


def test_a_kind_from_a_later_version_is_refused() -> None:
    with pytest.raises(gb.StudyError, match="events of the kind 'merged' are not known: use a newer gobetween"):
        StudyState(parse_study(SPEC, "test")).apply({"kind": "merged"})


def test_lines_are_the_events_in_json(new: Callable[..., Study]) -> None:
    study = new()
    study.ask(2)
    study.note('“ö” \\ "\n\t…')
    study.pause()
    study.tell(0, arm="a", reward=1, accept_surprise=True)
    lines = list(study.lines())
    assert [json.loads(line) for line in lines] == list(study.events())
    assert lines == [json.dumps(event, ensure_ascii=False) for event in study.events()] or study.store.place == "memory"


def test_lines_quote_what_people_write(new: Callable[..., Study], clock: Clock) -> None:
    study = lived(new, clock)
    study.actor = 'O\'Neil "X" \\ \n\t é 💡'
    study.note("strange", key='k"\\é')
    assert list(study.lines()) == [json.dumps(event, ensure_ascii=False) for event in study.events()]
