"""What has happened: an event of a study on one line."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gobetween.export import numbered, shortened
from gobetween.study.journal.events import MARKS, Event, kind_of
from gobetween.words.numbers import moment


def event_line(event: Event, utc: bool = False) -> str:
    """One event on one line."""
    return f"{event['seq']:>5}  {moment(event['at'], utc)}  {event['actor']}: {event_words(event)}"


def event_words(event: Event) -> str:
    """What has happened."""
    return WORDS.get(kind_of(event).name, _plain)(event)


def _plain(event: Event) -> str:
    subject = f"query {event['query']}" if "query" in event else event.get("mediator", "the study")
    return f"{subject} {event['kind']}"


def _asked(event: Event) -> str:
    again = f", instead of query {event['reissue_of']}" if event.get("reissue_of") is not None else ""
    return f"query {event['query']} to {event['mediator']}{again}"


def _told(event: Event) -> str:
    marks = "".join(f", {mark}" for mark in MARKS if event.get(mark))
    return f"query {event['query']}, {event['mediator']}: {event['arm']} paid {event['reward']:g}{marks}"


def _answer(answer: Mapping[str, Any] | None) -> str:
    return "silence" if answer is None else f"{answer['arm']} paying {answer['reward']:g}"


def _policy(row: Sequence[float | None] | None) -> str:
    return "unknown" if row is None else shortened(["?" if p is None else f"{p:g}" for p in row])


def _jumped(event: Event) -> str:
    seconds = abs(event["at"] - event["before"])
    units = (("days", 86400.0), ("hours", 3600.0), ("seconds", 1.0))
    far = next(f"{seconds / size:,.0f} {unit}" for unit, size in units if seconds >= 3 * size or unit == "seconds")
    if event["at"] < event["before"]:
        return f"the clock went back by {far}: open leases end as if they began now; some may have ended too early before"
    return f"nothing was recorded for {far}, or the clock went forward: leases that ran out have ended"


#: Kind of event → its words; of others the kind itself says what has happened.
WORDS: Mapping[str, Callable[[Event], str]] = {
    "absorbed": lambda event: f"began from {numbered(sum(map(sum, event['N_ea'])), 'row')} of {shortened(event['files'])}",
    "asked": _asked,
    "told": _told,
    "corrected": lambda event: (
        f"query {event['query']} corrected from {_answer(event['old'])} to {_answer(event['new'])}: {event['reason']}"
    ),
    "moved": lambda event: (
        f"query {event['query']}, {_answer(event['answer'])}: was {event['mediator']}, not {event['was']}: {event['reason']}"
    ),
    "voided": lambda event: (
        f"query {event['query']}, {event['mediator']}: {_answer(event['old'])} taken out: {event['reason']}"
    ),
    "added": lambda event: f"{event['mediator']} joined",
    "declared": lambda event: f"policy of {event['mediator']} declared: {_policy(event['policy'])}",
    "dropped": lambda event: f"arm {event['arm']} retired",
    "clock": _jumped,
    "note": lambda event: f"note: {event['text']}",
    "stopped": lambda event: f"stopped ({event['verdict']}): {event['arm']}",
    "edited": lambda event: f"{event['field']} changed from {event['old']} to {event['new']}",
}
