"""What has happened: an event of a study on one line."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gobetween.export import numbered, shortened
from gobetween.study.journal.events import MARKS, Event, kind_of
from gobetween.words.numbers import moment

Result = Callable[[float], str]


def plain_result(reward: float) -> str:
    """A reward as it is."""
    return f"{reward:g}"


def result_words(choices: Sequence[float], yes: str = "yes", no: str = "no") -> Result:
    """How the reward of one answer is said, where these are the only ones there can be."""
    return (lambda reward: yes if reward else no) if tuple(choices) == (0.0, 1.0) else plain_result


def event_line(event: Event, utc: bool = False) -> str:
    """One event on one line."""
    return f"{event['seq']:>5}  {moment(event['at'], utc)}  {event['actor']}: {event_words(event)}"


def event_words(event: Event, result: Result = plain_result) -> str:
    """What has happened; `result` says a reward."""
    return WORDS.get(kind_of(event).name, _plain)(event, result)


def _plain(event: Event, result: Result) -> str:
    subject = f"query {event['query']}" if "query" in event else event.get("mediator", "the study")
    return f"{subject} {event['kind']}"


def _asked(event: Event, result: Result) -> str:
    again = f", instead of query {event['reissue_of']}" if event.get("reissue_of") is not None else ""
    return f"query {event['query']} to {event['mediator']}{again}"


def _told(event: Event, result: Result) -> str:
    marks = "".join(f", {SAID.get(mark, mark)}" for mark in MARKS if event.get(mark))
    return f"query {event['query']}, {event['mediator']}: {event['arm']}, {result(event['reward'])}{marks}"


def _answer(answer: Mapping[str, Any] | None, result: Result) -> str:
    return "silence" if answer is None else f"{answer['arm']} ({result(answer['reward'])})"


def _stopped(event: Event, result: Result) -> str:
    if event["verdict"] == "identified":
        return f"sure: {event['arm']}"
    return f"the budget is used up, {event['arm'] or 'no arm'} leads"


def _corrected(event: Event, result: Result) -> str:
    old, new = _answer(event["old"], result), _answer(event["new"], result)
    return f"query {event['query']} corrected from {old} to {new}: {event['reason']}"


def _moved(event: Event, result: Result) -> str:
    whose = f"was {event['mediator']}, not {event['was']}"
    return f"query {event['query']}, {_answer(event['answer'], result)}: {whose}: {event['reason']}"


def _absorbed(event: Event, result: Result) -> str:
    return f"began from {numbered(sum(map(sum, event['N_ea'])), 'row')} of {shortened(event['files'])}"


def _policy(row: Sequence[float | None] | None) -> str:
    return "unknown" if row is None else shortened(["?" if p is None else f"{p:g}" for p in row])


def _jumped(event: Event, result: Result) -> str:
    seconds = abs(event["at"] - event["before"])
    units = (("days", 86400.0), ("hours", 3600.0), ("seconds", 1.0))
    far = next(f"{seconds / size:,.0f} {unit}" for unit, size in units if seconds >= 3 * size or unit == "seconds")
    if event["at"] < event["before"]:
        return f"the clock went back by {far}: open leases end as if they began now; some may have ended too early before"
    return f"nothing was recorded for {far}, or the clock went forward: leases that ran out have ended"


#: Marks of an answer that are said otherwise.
SAID = {"unasked": "not requested"}
#: Kind of event → its words; of others the kind itself says what has happened.
WORDS: Mapping[str, Callable[[Event, Result], str]] = {
    "absorbed": _absorbed,
    "asked": _asked,
    "told": _told,
    "corrected": _corrected,
    "moved": _moved,
    "voided": lambda event, result: (
        f"query {event['query']}, {event['mediator']}: {_answer(event['old'], result)} taken out: {event['reason']}"
    ),
    "added": lambda event, result: f"{event['mediator']} joined",
    "declared": lambda event, result: f"policy of {event['mediator']} declared: {_policy(event['policy'])}",
    "dropped": lambda event, result: f"arm {event['arm']} retired",
    "clock": _jumped,
    "note": lambda event, result: f"note: {event['text']}",
    "stopped": _stopped,
    "edited": lambda event, result: f"{event['field']} changed from {event['old']} to {event['new']}",
}
