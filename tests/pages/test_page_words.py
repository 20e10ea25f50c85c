"""Times with their zone, numbers with their nouns."""

import time

import pytest

from gobetween.core.alarm.alarm import Alarm, Sentence
from gobetween.export import numbered
from gobetween.study.journal.receipts import StudyQuery
from gobetween.words.alarms import CHECKS, KINDS, kind_of, remedies_of
from gobetween.words.events import event_line
from gobetween.words.messages import reminders
from gobetween.words.numbers import at_least, chance, moment
from gobetween.words.study_page import check


def test_times_are_local_and_say_their_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        assert moment(0.0) == "1970-01-01 01:00:00 CET"
        assert moment(1_750_000_000.0) == "2025-06-15 17:06:40 CEST"
        assert moment(1_750_000_000.0, utc=True) == "2025-06-15 15:06:40 UTC"
        event = {"seq": 3, "at": 0.0, "actor": "me", "kind": "note", "text": "t"}
        assert event_line(event) == "    3  1970-01-01 01:00:00 CET  me: note: t"
        assert event_line(event, utc=True) == "    3  1970-01-01 00:00:00 UTC  me: note: t"
    finally:
        monkeypatch.undo()
        time.tzset()
    assert moment(1e20) == "100000000000000000000 s after 1970"


def test_numbers_agree_with_their_nouns() -> None:
    assert [numbered(n, "query", "queries") for n in (0, 1, 2000)] == ["0 queries", "1 query", "2,000 queries"]
    assert numbered(1, "row") == "1 row"
    assert numbered(3, "row") == "3 rows"


@pytest.mark.parametrize(
    ("delta", "risk", "sure"),
    [(0.05, "5%", "95%"), (1e-3, "0.1%", "99.9%"), (1e-4, "0.01%", "99.99%"), (1e-6, "1 in 1,000,000", "99.9999%")],
)
def test_no_risk_is_rounded_away(delta: float, risk: str, sure: str) -> None:
    assert chance(delta) == risk
    assert at_least(delta) == f"with probability at least {sure}"


def test_a_reminder_for_each_contact() -> None:
    queries = [
        StudyQuery(number, mediator, contact, 0.0, 1.0, None, None)
        for number, mediator, contact in ((0, "North", "n@example.org"), (1, "South", ""), (2, "North", "n@example.org"))
    ]
    south, north = reminders("Reminders", queries, utc=True)
    assert south.startswith("To South:\nDear South, an answer is still missing for “Reminders”:\n- query 1, asked 1970")
    assert north.startswith("To n@example.org:\nDear North, 2 answers are still missing")
    assert "- query 0, asked 1970-01-01 00:00:00 UTC\n- query 2" in north


def test_one_contact_of_two_mediators_gets_one_text_for_each() -> None:
    """Their queries were asked in turn."""
    queries = [
        StudyQuery(number, ("North", "South")[number % 2], "both@example.org", 0.0, 1.0, None, None) for number in range(6)
    ]
    found = reminders("", queries, utc=True)
    assert [text.splitlines()[1] for text in found] == [
        "Dear North, 3 answers are still missing:", "Dear South, 3 answers are still missing:"
    ]  # fmt: skip
    assert [[number for number in range(6) if f"- query {number}," in text] for text in found] == [[0, 2, 4], [1, 3, 5]]


def test_an_alarm_of_a_kind_of_which_nothing_is_said_is_told_and_advised_on() -> None:
    assert {kind.check for kind in KINDS.values()} | {"other"} == set(CHECKS)
    alarm = Alarm("made-up", "the clock", 9.0, 2.0, True, True, Sentence("The clock runs backwards."))
    assert check(CHECKS[kind_of(alarm).check], [alarm]) == ("bad", "Another assumption is violated", "the clock")
    assert remedies_of(alarm) == [{"words": "Find out what happened before you rely on this.", "command": "gobetween pause"}]
    assert remedies_of(alarm, log=True)[0]["words"].startswith("Find out what happened, and analyse rows")
