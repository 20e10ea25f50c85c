"""Whatever a door accepts, a store gives back as it was written, and the doctor has no complaint."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gobetween as gb
from gobetween.study.journal.record import Store
from gobetween.study.study import Study

NUMBERS = st.one_of(
    st.floats(), st.integers(), st.booleans(), st.floats(width=32).map(np.float32), st.integers(0, 9).map(np.int64)
)
TEXTS = st.one_of(
    st.text(max_size=20), st.sampled_from(["e\u0301", "\u00e9", "a\u2028b", "\ufeffa", " a ", "\ud800", "\x00", "1e5"])
)
DOORS: dict[str, Callable[[Study, Any, str], object]] = {
    "tell": lambda study, number, text: study.tell(0, arm="a", reward=number),
    "unasked": lambda study, number, text: study.tell(mediator="z", arm="b", reward=number, key=text),
    "correct": lambda study, number, text: study.correct(1, arm="a", reward=number, reason=text),
    "void": lambda study, number, text: study.void(2, reason=text),
    "cancel": lambda study, number, text: study.cancel(3, reason=text),
    "worker": lambda study, number, text: study.ask(worker=text),
    "note": lambda study, number, text: study.note(text),
    "actor": lambda study, number, text: Study(study.store, study.name, text).note("by another"),
    "mediator": lambda study, number, text: study.add_mediator(text, cost=number, contact=text),
    "policy": lambda study, number, text: study.add_mediator("policy", policy={"a": number, "b": 1.0}),
    "rename": lambda study, number, text: study.rename("c", text, what="arm"),
}

#: The field of its event that holds the text.
TEXT_OF = {
    "unasked": "key",
    "correct": "reason",
    "void": "reason",
    "cancel": "reason",
    "worker": "worker",
    "note": "text",
}
REWARDED = ("tell", "unasked", "correct")


def begun(new: Callable[..., Study]) -> Study:
    study = new(family={"name": "gaussian", "sigma": 1.0}, mediators=[{"name": "z"}])
    for query in study.ask(4)[1:3]:
        study.tell(query, arm="a", reward=1.0)
    return study


@given(number=NUMBERS, text=TEXTS)
@example(number=-0.0, text="a")
@settings(max_examples=25)
def test_what_a_door_accepts_is_read_back(store: Store, new: Callable[..., Study], number: Any, text: str) -> None:
    study = begun(new)
    said = {door: event for door, act in DOORS.items() if (event := last_event(study, act, number, text)) is not None}
    assert study.doctor() == []
    for door, field in TEXT_OF.items():
        assert door not in said or said[door][field] == text
    with store.reading(study.name) as record:
        rows = {row.query: row.reward for row in record.rows()}
    rewards = {event["query"]: (event.get("new") or event)["reward"] for door, event in said.items() if door in REWARDED}
    assert repr({query: rows[query] for query in rewards}) == repr(rewards)  # one zero, and no whole numbers
    assert not any(repr(reward) == "-0.0" or type(reward) is not float for reward in rewards.values())


def last_event(study: Study, act: Callable[[Study, Any, str], object], number: Any, text: str) -> dict[str, Any] | None:
    """What the log says of it; None if it was refused."""
    before = study.look()[2]
    with suppress(gb.GoBetweenError):
        act(study, number, text)
    return next((event for event in study.events(before) if event["kind"] not in ("stopped", "expired")), None)
