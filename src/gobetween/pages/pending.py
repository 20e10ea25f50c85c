"""Open queries in words, and reminders for those that are late."""

from collections.abc import Sequence
from itertools import groupby

from gobetween.pages.words import duration, moment
from gobetween.study.transaction import StudyQuery


def is_late(query: StudyQuery, now: float) -> bool:
    """Has its lease ended?"""
    return query.until is not None and query.until <= now


def pending_words(query: StudyQuery, now: float, utc: bool = False) -> str:
    """Since when a query waits, and until when it may."""
    verb = "ended" if is_late(query, now) else "ends"
    ends = "no lease" if query.until is None else f"lease {verb} {moment(query.until, utc)}"
    return f"open for {duration(max(0.0, now - query.asked))}, {ends}"


def reminders(title: str, queries: Sequence[StudyQuery], utc: bool = False) -> list[str]:
    """A text for each contact with all that it owes."""
    ordered = sorted(queries, key=lambda query: (query.contact, query.mediator, query.id))
    texts = []
    for (contact, mediator), owed in groupby(ordered, key=lambda query: (query.contact, query.mediator)):
        lines = [f"- query {query.id}, asked {moment(query.asked, utc)}" for query in owed]
        what = "an answer is" if len(lines) == 1 else f"{len(lines)} answers are"
        about = f" for “{title}”" if title else ""
        texts.append(
            f"To {contact or mediator}:\nDear {mediator}, {what} still missing{about}:\n"
            + "\n".join(lines)
            + "\nPlease say which option was used and what came of it, or that nothing was done."
        )
    return texts
