"""The page of a log: its tiles, and what is under its figures and tables."""

import math

from gobetween.export import numbered
from gobetween.logs.analysis.report import LogReport
from gobetween.words.numbers import between, certainty, percent, rough
from gobetween.words.verdict import question_words

EVIDENCE = "The answer is certain once the line has reached the dashed one."
ASKED = "Bars: shares of rows in the log. Marks: the shares that would be best at the estimates."
PULLED = "Bars: shares of arms in the log. Marks: what the best mediators would pull."
SHARES_OVER_TIME = (
    "Shares of its rows in each stretch, of the arms it pulled most. A dashed line: where an alarm puts a change."
)
ELSEWHERE = "which JSON and CSV have"


def means_caption(found: LogReport) -> str:
    """What the figure of means over time shows."""
    return (
        f"Means of each stretch of rows by itself; the bands hold for all together with probability {certainty(found.delta)}. "
        "A dashed line: where an alarm puts a change."
    )


def intervals(found: LogReport) -> str:
    """What the intervals of arms mean."""
    return f"Intervals hold for all arms at all times together with probability {certainty(found.delta)}."


def cells_words(found: LogReport) -> str:
    """What the intervals by mediator and arm mean."""
    means = f"those of means hold for all mediators and arms at all times together with probability {certainty(found.delta)}"
    return f"Shares of each mediator's rows have exact 95% intervals; {means}."


def answer_tile(found: LogReport) -> tuple[str, str, str]:
    """Name, value and note of the answer."""
    if found.broken is not None:
        return "Recommended", "none", "an assumption is violated"
    asked = "" if found.question.names_leader else question_words(found.question)
    if found.identified:
        return "Recommended", ", ".join(found.answer) or "none", asked or f"{percent(found.delta)} risk at most"
    left = f"{len(found.in_play):,} of {len(found.arms):,} arms can still be the best"
    return "Leading", ", ".join(found.answer) or found.leader, asked or left


def certain_tile(found: LogReport) -> tuple[str, str, str]:
    """Since when it is certain, or how much is missing."""
    claim, forecast = found.claim, found.rows_forecast
    if found.broken is None and found.identified:
        row = found.rows if claim is None else claim.row
        return "Certain since row", f"{row:,}", f"of {found.rows:,}"
    if found.broken is not None or (forecast is None and math.isinf(found.rows_to_go)):
        return "To go", "open", "no forecast"
    if forecast is None:
        return "To go", numbered(rough(found.rows_to_go), "row"), "like these"
    if math.isinf(forecast.median):
        return "To go", "open", between(forecast.low, forecast.high)
    return "To go", numbered(rough(forecast.median), "row"), f"like these; {between(forecast.low, forecast.high)}"


def rows_tile(found: LogReport) -> tuple[str, str, str]:
    """How much was read."""
    of = f"{numbered(len(found.arms), 'arm')}, {numbered(len(found.mediators), 'mediator')}"
    return "Rows", f"{found.rows:,}", of + (f"; {found.bad_count:,} left out" if found.bad_count else "")


def alarm_tile(found: LogReport) -> tuple[str, str, str]:
    """How many alarms are raised."""
    raised = sum(alarm.raised for alarm in found.alarms)
    note = "no problem found" if found.alarms else "nothing could be checked"
    return "Alarms", f"{raised:,}" if raised else "none", "see above" if raised else note
