"""Every kind of event, once: its fields, its words, what it counts for a mediator and what becomes of its query's row.

What an event does to the state is `StudyState._on_<kind>`, and a command makes it; all else derives from KINDS.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from gobetween.errors import StudyError
from gobetween.export import numbered, shortened
from gobetween.study.record import QueryRow

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


class Verdict(TypedDict):
    """What a `stopped` event says."""

    at: float
    actor: str
    verdict: str
    """identified or budget."""
    arm: str | None
    statistic: float
    threshold: float
    p_value: float
    counted: int


COUNTS: tuple[str, ...] = tuple(Counts.__annotations__)
MARKS = ("late", "unasked")  # of an answer


@dataclass(frozen=True)
class Kind:
    """A kind of event."""

    name: str
    fields: tuple[str, ...]
    words: Callable[[Event], str]
    counts: Callable[[Event], Sequence[tuple[str, int]]] = lambda event: ()
    """Steps of its mediator's counts."""
    counts_before: Callable[[Event], Sequence[tuple[str, int]]] = lambda event: ()
    """Steps of the counts of the mediator that it `was` before."""
    row: Callable[[Event], Mapping[str, Any]] | None = None
    """What changes in the row of its query; mediator and arm by name. None: nothing."""


def words(event: Event) -> str:
    """What has happened."""
    return kind_of(event).words(event)


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


def _plain(event: Event) -> str:
    subject = f"query {event['query']}" if "query" in event else event.get("mediator", "the study")
    return f"{subject} {event['kind']}"


def _asked(event: Event) -> str:
    again = f", instead of query {event['reissue_of']}" if event.get("reissue_of") is not None else ""
    return f"query {event['query']} to {event['mediator']}{again}"


def _told(event: Event) -> str:
    marks = "".join(f", {mark}" for mark in MARKS if event.get(mark))
    return f"query {event['query']}, {event['mediator']}: {event['arm']} paid {event['reward']:g}{marks}"


def _corrected(event: Event) -> str:
    return f"query {event['query']} corrected from {_said(event['old'])} to {_said(event['new'])}: {event['reason']}"


def _said(answer: Mapping[str, Any] | None) -> str:
    return "silence" if answer is None else f"{answer['arm']} paying {answer['reward']:g}"


def _voided(event: Event) -> str:
    return f"query {event['query']}, {event['mediator']}: {_said(event['old'])} taken out: {event['reason']}"


def _moved(event: Event) -> str:
    return f"query {event['query']}, {_said(event['answer'])}: was {event['mediator']}, not {event['was']}: {event['reason']}"


def _jumped(event: Event) -> str:
    seconds = abs(event["at"] - event["before"])
    units = (("days", 86400.0), ("hours", 3600.0), ("seconds", 1.0))
    far = next(f"{seconds / size:,.0f} {unit}" for unit, size in units if seconds >= 3 * size or unit == "seconds")
    if event["at"] < event["before"]:
        return f"the clock went back by {far}: open leases end as if they began now; some may have ended too early before"
    return f"nothing was recorded for {far}, or the clock went forward: leases that ran out have ended"


def _one(event: Event) -> list[tuple[str, int]]:
    return [(event["kind"], 1)]


def _marked(event: Event) -> list[tuple[str, int]]:
    return [(event["kind"], 1), *((mark, 1) for mark in MARKS if event.get(mark))]


def _replaced(event: Event) -> list[tuple[str, int]]:
    return [(_kind_of_answer(event["old"]), -1), (_kind_of_answer(event["new"]), 1), ("corrected", 1)]


def _taken_out(event: Event) -> list[tuple[str, int]]:
    return [(_kind_of_answer(event["old"]), -1), ("voided", 1)]


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


def _taken(event: Event) -> Mapping[str, Any]:
    return {"worker": event["worker"]}


def _answered(event: Event) -> Mapping[str, Any]:
    answer = {"arm": event.get("arm"), "reward": event.get("reward")}
    return {"status": event["kind"], "mediator": event["mediator"], "slot": event["slot"], **answer}


def _answered_anew(event: Event) -> Mapping[str, Any]:
    return {"status": _kind_of_answer(event["new"]), **(event["new"] or {"arm": None, "reward": None})}


def _emptied(event: Event) -> Mapping[str, Any]:
    return {"status": "voided", "arm": None, "reward": None}


def _given_to(event: Event) -> Mapping[str, Any]:
    return {"mediator": event["mediator"]}


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "absorbed",
            ("files", "N_ea", "S_ea", "spread", "claimed", "moments", "silent"),
            lambda event: f"began from {numbered(sum(map(sum, event['N_ea'])), 'row')} of {shortened(event['files'])}",
        ),
        Kind("asked", ("query", "mediator", "until", "worker", "top_up", "reissue_of", "around"), _asked, _one, row=_opened),
        Kind("taken", ("query", "mediator", "worker", "until"), _plain, row=_taken),
        Kind(
            "told",
            ("query", "mediator", "unasked", "arm", "reward", "surprise", "slot", "late"),
            _told,
            _marked,
            row=_answered,
        ),
        Kind("silent", ("query", "mediator", "unasked", "slot", "late"), _plain, _marked, row=_answered),
        Kind(
            "corrected",
            ("query", "mediator", "slot", "old", "new", "reason", "surprise"),
            _corrected,
            _replaced,
            row=_answered_anew,
        ),
        Kind(
            "moved",
            ("query", "mediator", "was", "slot", "answer", "counts", "reason", "surprise"),
            _moved,
            _gained,
            _lost,
            _given_to,
        ),
        Kind("voided", ("query", "mediator", "slot", "old", "reason"), _voided, _taken_out, row=_emptied),
        Kind("cancelled", ("query", "mediator", "reason"), _plain, _one, row=_ended),
        Kind("expired", ("query", "mediator"), _plain, _one, row=_ended),
        Kind("added", ("mediator", "policy", "cost", "contact"), lambda event: f"{event['mediator']} joined"),
        Kind("retired", ("mediator",), _plain),
        Kind("dropped", ("arm",), lambda event: f"arm {event['arm']} retired"),
        Kind("away", ("mediator",), _plain),
        Kind("available", ("mediator",), _plain),
        Kind("paused", (), _plain),
        Kind("resumed", (), _plain),
        Kind("reopened", (), _plain),
        Kind("clock", ("before",), _jumped),
        Kind("note", ("text",), lambda event: f"note: {event['text']}"),
        Kind(
            "stopped",
            ("verdict", "arm", "statistic", "threshold", "p_value", "counted"),
            lambda event: f"stopped ({event['verdict']}): {event['arm']}",
        ),
        Kind(
            "edited",
            ("field", "old", "new"),
            lambda event: f"{event['field']} changed from {event['old']} to {event['new']}",
        ),
    )
}
