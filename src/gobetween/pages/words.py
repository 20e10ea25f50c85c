"""Events in words, and cells that no spreadsheet takes for a formula."""

from datetime import UTC, datetime
from typing import Any

from gobetween.study.events import Event, words


def event_words(event: Event, utc: bool = False) -> str:
    """One event on one line."""
    return f"{event['seq']:>5}  {moment(event['at'], utc)}  {event['actor']}: {words(event)}"


def moment(at: float, utc: bool = False) -> str:
    """A time for people with its zone: that of the reader, or UTC."""
    try:
        when = datetime.fromtimestamp(at, UTC)
        return f"{when if utc else when.astimezone():%Y-%m-%d %H:%M:%S %Z}"
    except (OverflowError, OSError, ValueError):  # a clock that was far off
        return f"{at:.0f} s after 1970"


def on_axis(at: float, utc: bool = False) -> str | None:
    """A time as an axis of dates takes it, in the reader's zone or UTC; None where no calendar has it."""
    try:
        when = datetime.fromtimestamp(at, UTC)
        return f"{(when if utc else when.astimezone()).replace(tzinfo=None).isoformat(' ', 'milliseconds')}"
    except (OverflowError, OSError, ValueError):
        return None


def zone(at: float, utc: bool = False) -> str:
    """The zone in which a time is shown; it has to be one of a calendar."""
    return "UTC" if utc else f"{datetime.fromtimestamp(at, UTC).astimezone():%Z}"


def duration(seconds: float) -> str:
    """A length of time in its largest unit."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def csv_safe(value: Any) -> Any:
    """Text that begins like a formula gets an apostrophe in front."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
