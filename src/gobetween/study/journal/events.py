"""Every kind of event, once: its fields, what it counts for a mediator and what becomes of its query's row.

What an event does to the state is `StudyState._on_<kind>`, and a command makes it; all else derives from KINDS.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from gobetween.errors import StudyError
from gobetween.study.journal.record import QueryRow

Event = dict[str, Any]
#: Fields that the store gives every event; `request` is with the first event of a command.
OWN = ("seq", "at", "actor", "kind", "key", "part", "request")


class Counts(TypedDict):
    """What is counted for each mediator."""

    asked: int
    told: int
    silent: int
    cancelled: int
    expired: int
    late: int
    unasked: int
    corrected: int
    voided: int


COUNTS: tuple[str, ...] = tuple(Counts.__annotations__)
MARKS = ("late", "unasked")  # of an answer


@dataclass(frozen=True)
class Kind:
    """A kind of event."""

    name: str
    fields: tuple[str, ...]
    counts: Callable[[Event], Sequence[tuple[str, int]]] = lambda event: ()  # steps of its mediator's counts
    counts_before: Callable[[Event], Sequence[tuple[str, int]]] = lambda event: ()
    """Steps of the counts of the mediator that it `was` before."""
    row: Callable[[Event], Mapping[str, Any]] | None = None
    """What changes in the row of its query; mediator and arm by name. None: nothing."""


def kind_of(event: Event) -> Kind:
    """The kind of an event."""
    if event["kind"] not in KINDS:
        raise StudyError(f"events of the kind {event['kind']!r} are not known: use a newer gobetween")
    return KINDS[event["kind"]]


def row_after(event: Event, old: QueryRow | None, arms: Sequence[str], mediators: Sequence[str]) -> QueryRow | None:
    """The row of an event's query after it, when it was `old` before (None: there was none)."""
    change = kind_of(event).row
    if change is None:
        return old
    changes = dict(change(event))
    for field, names in (("mediator", mediators), ("arm", arms)):
        if changes.get(field) is not None:
            changes[field] = names.index(changes[field])
    if old is not None:
        return replace(old, **changes)
    return QueryRow(**({"slot": None, "arm": None, "reward": None, "worker": None, "query": event["query"]} | changes))


def _one(event: Event) -> list[tuple[str, int]]:
    return [(event["kind"], 1)]


def _marked(event: Event) -> list[tuple[str, int]]:
    return [(event["kind"], 1), *((mark, 1) for mark in MARKS if event.get(mark))]


def _replaced(event: Event) -> list[tuple[str, int]]:
    return [(_kind_of_answer(event["old"]), -1), (_kind_of_answer(event["new"]), 1), ("corrected", 1)]


def _gained(event: Event) -> list[tuple[str, int]]:
    return [(_kind_of_answer(event["answer"]), 1), ("corrected", 1), *event.get("counts", {}).items()]


def _lost(event: Event) -> list[tuple[str, int]]:
    return [(_kind_of_answer(event["answer"]), -1), *((what, -n) for what, n in event.get("counts", {}).items())]


def marks_of(events: Iterable[Event]) -> dict[str, int]:
    """What the events of one query count for its mediator besides the answer: that it was asked, came late and so on."""
    steps = [step for event in events if event["kind"] != "moved" for step in kind_of(event).counts(event)]
    return {what: sum(n for word, n in steps if word == what) for what in ("asked", "expired", *MARKS) if (what, 1) in steps}


def _kind_of_answer(answer: Mapping[str, Any] | None) -> str:
    return "silent" if answer is None else "told"


def _ended(event: Event) -> Mapping[str, Any]:
    return {"status": event["kind"]}


def _opened(event: Event) -> Mapping[str, Any]:
    return {"status": "open", "mediator": event["mediator"], "worker": event["worker"]}


def _answered(event: Event) -> Mapping[str, Any]:
    answer = {"arm": event.get("arm"), "reward": event.get("reward")}
    return {"status": event["kind"], "mediator": event["mediator"], "slot": event["slot"], **answer}


def _corrected(event: Event) -> Mapping[str, Any]:
    return {"status": _kind_of_answer(event["new"]), **(event["new"] or {"arm": None, "reward": None})}


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("absorbed", ("files", "N_ea", "S_ea", "spread", "claim", "checkpoints", "silent")),
        Kind("asked", ("query", "mediator", "until", "worker", "top_up", "reissue_of"), _one, row=_opened),
        Kind("taken", ("query", "mediator", "worker", "until"), row=lambda event: {"worker": event["worker"]}),
        Kind("told", ("query", "mediator", "unasked", "arm", "reward", "surprise", "slot", "late"), _marked, row=_answered),
        Kind("silent", ("query", "mediator", "unasked", "slot", "late"), _marked, row=_answered),
        Kind("corrected", ("query", "mediator", "slot", "old", "new", "reason", "surprise"), _replaced, row=_corrected),
        Kind(
            "moved",
            ("query", "mediator", "was", "slot", "answer", "counts", "reason", "surprise"),
            _gained,
            _lost,
            row=lambda event: {"mediator": event["mediator"]},
        ),
        Kind(
            "voided",
            ("query", "mediator", "slot", "old", "reason"),
            lambda event: [(_kind_of_answer(event["old"]), -1), ("voided", 1)],
            row=lambda event: {"status": "voided", "arm": None, "reward": None},
        ),
        Kind("cancelled", ("query", "mediator", "reason"), _one, row=_ended),
        Kind("expired", ("query", "mediator"), _one, row=_ended),
        Kind("added", ("mediator", "policy", "cost", "contact")),
        Kind("declared", ("mediator", "policy")),
        Kind("retired", ("mediator",)),
        Kind("dropped", ("arm",)),
        Kind("away", ("mediator",)),
        Kind("available", ("mediator",)),
        Kind("archived", ()),
        Kind("unarchived", ()),
        Kind("paused", ()),
        Kind("resumed", ()),
        Kind("reopened", ()),
        Kind("clock", ("before",)),
        Kind("note", ("text",)),
        Kind("stopped", ("verdict", "arm", "statistic", "threshold", "p_value", "counted")),
        Kind("edited", ("field", "old", "new")),
    )
}
