"""Events in words, and cells that no spreadsheet takes for a formula."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def event_words(event: Mapping[str, Any]) -> str:
    """One event on one line."""
    return f"{event['seq']:>5}  {moment(event['at'])}  {event['actor']}: {_what(event)}"


def moment(at: float) -> str:
    """A time for people, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def duration(seconds: float) -> str:
    """A length of time in its largest unit."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def _what(event: Mapping[str, Any]) -> str:
    kind, query = event["kind"], event.get("query")
    if kind == "asked":
        again = f", instead of query {event['reissue_of']}" if event.get("reissue_of") is not None else ""
        return f"query {query} to {event['mediator']}{again}"
    if kind == "told":
        marks = "".join(f", {mark}" for mark in ("late", "unasked") if event.get(mark))
        return f"query {query}, {event['mediator']}: {event['arm']} paid {event['reward']:g}{marks}"
    if kind == "corrected":
        old, new = (_answer(event[key]) for key in ("old", "new"))
        return f"query {query} corrected from {old} to {new}: {event['reason']}"
    if kind == "stopped":
        return f"stopped ({event['verdict']}): {event['arm']}"
    if kind == "edited":
        return f"{event['field']} changed from {event['old']} to {event['new']}"
    if kind == "absorbed":
        return f"began from {sum(map(sum, event['N_ea'])):,} rows of {', '.join(event['files'])}"
    if kind == "note":
        return f"note: {event['text']}"
    subject = f"query {query}" if query is not None else event.get("mediator", "the study")
    return f"{subject} {kind}"


def _answer(answer: Mapping[str, Any] | None) -> str:
    return "silence" if answer is None else f"{answer['arm']} paying {answer['reward']:g}"


def csv_safe(value: Any) -> Any:
    """Text that begins like a formula gets an apostrophe in front."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
