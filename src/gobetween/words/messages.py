"""What people are told: messages of a study as sentences and mails, open queries, and reminders of those that are late."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

from gobetween.export import numbered
from gobetween.study.journal.events import Event
from gobetween.study.journal.receipts import StudyQuery
from gobetween.study.notify.messages import Message, Undelivered, mail_address
from gobetween.words.numbers import duration, moment
from gobetween.words.study import verdict_words

if TYPE_CHECKING:
    from gobetween.study.delivery import DeliveryResult

LATE = 300.0  # seconds after which a message that still waits is worth a word
STATE = {"waiting": "is waiting for you", "overdue": "is overdue"}


def inbox_words(said: Mapping[str, str], choices: bool) -> tuple[str, str, str, str, str]:
    """What an inbox asks: the study's own words, or the usual ones; `choices`: is there a list of what can come of it?"""
    return (
        said.get("question", "Choose as you usually would, then tell us which option and what happened."),
        said.get("option", "Which option was it?"),
        said.get("outcome", "Did it work?" if choices else "What happened?"),
        said.get("yes", "Yes"),
        said.get("no", "No"),
    )


def message_words(event: Event, broken: str | None = None) -> str:
    """What is said of a query that was asked or is overdue, or of a study that has stopped; `broken`: an alarm about it."""
    if event["kind"] == "asked":
        by = "" if event.get("until") is None else f" until {_minute(event['until'])}"
        return f"Query {event['query']} is waiting for an answer from {event['mediator']}{by}."
    if event["kind"] == "expired":
        return f"Query {event['query']} to {event['mediator']} is overdue: no answer in time."
    return f"The study has stopped: {verdict_words(event)}." if broken is None else f"The study has stopped. {broken}"


def _minute(at: float) -> str:
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):  # a clock may say anything
        return "an unknown time"


def mail_words(message: Message, study: str) -> tuple[str, str]:
    """Subject and text of a mail: to a mediator about its own query, to others about all else."""
    body = message.body
    title, text = body["title"] or study, [body["sentence"]]
    if message.address == mail_address(body.get("contact") or ""):
        text.append("Open the personal link that you were given to answer it, or to tell us that you could not.")
    text += [f"What to do: {one['words']}{_command(one)}" for one in body.get("remedies", ())]
    subject = f"{title}: {body['event']}" if "query" not in body else f"{title}: query {body['query']} {STATE[body['event']]}"
    text.append(f"This is a message of the study “{title}”, id {message.id}.")
    return subject, "\n\n".join(text) + "\n"


def _command(remedy: Mapping[str, str]) -> str:
    return f"\n    {remedy['command']}" if remedy["command"] else ""


def undelivered_words(found: Undelivered, now: float) -> str | None:
    """What people should know of messages that were not delivered, in one sentence; None where all is well."""
    late, parts = found.waiting if found.since is not None and now - found.since > LATE else 0, []
    if found.dead:
        was = "was" if found.dead == 1 else "were"
        parts.append(f"{numbered(found.dead, 'message')} could not be delivered and {was} given up ({found.why})")
    if late:
        minutes = numbered(int((now - (found.since or now)) / 60), "minute")
        parts.append(f"{numbered(late, 'message')} {'waits' if late == 1 else 'wait'} to be delivered, for {minutes} by now")
    return f"{'; '.join(parts)}." if parts else None


def round_words(done: "DeliveryResult") -> str:
    """What came of one look at a study's messages."""
    parts = [f"{numbered(done.sent, 'message')} delivered"]
    parts += [f"{done.failed} failed and will be tried again"] if done.failed else []
    parts += [f"{done.given_up} given up"] if done.given_up else []
    parts += [f"{done.moot} no longer needed"] if done.moot else []
    return ", ".join(parts) + (f" ({'; '.join(done.why)})" if done.why else "")


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
            + "\nPlease say which option was used and what happened, or that nothing was done."
        )
    return texts
