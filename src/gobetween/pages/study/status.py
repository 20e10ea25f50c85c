"""How a study stands in the terminal: the page of the study in words, a screen of it or all; the report has its tables."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gobetween.pages.blocks import Block, Grid, Section, Text
from gobetween.pages.study.page import StudyPage
from gobetween.pages.study.rows import rewards_of
from gobetween.pages.svg import Row
from gobetween.study.status.status import ArmStatus, Status
from gobetween.study.study import StudyMoment
from gobetween.words import study_page as words
from gobetween.words.alarms import MOST_ALARMS, Remedy, no_signs, raised_words
from gobetween.words.numbers import amount, duration, moment, p_value_words, percent
from gobetween.words.verdict import in_play_words

SHOWN = 20  # open queries that are listed
FEW = 1  # remedies on the first screen
MOST_ARMS, MOST_MEDIATORS = 8, 6  # on the first screen
BAR = 24  # characters
RARE = ("silent", "cancelled", "expired", "late", "unasked", "corrected", "voided")
#: Counts → their headings.
HEADINGS = {"told": "answers", "unasked": "not requested", "voided": "taken out"}
#: Tone of a check → what it is called, the worst first.
MARKS = {"bad": "PROBLEM", "warn": "NOTE", "good": "OK"}


def first_screen(page: StudyPage, status: Status) -> list[Section]:
    """State, answer, progress, checks, what to do, then the tables as far as they matter."""
    tables = [_ranked(page.arms, "arm", MOST_ARMS), _ranked(page.mediators, "mediator", MOST_MEDIATORS)] if status.told else []
    first = Section("", [*_answer(page, status), _facts(page, status)])
    return [first, *_to_do(page, FEW), *(Section("", part) for part in tables)]


def sections(page: StudyPage, view: StudyMoment, utc: bool = False) -> list[Section]:
    """The same with all that is known: every alarm and remedy, evidence, intervals, counts, open queries, conditions."""
    status = view.status
    first = [*_answer(page, status), _facts(page, status), *(Text(line) for line in evidence_words(status))]
    told = {one.value for one in page.remedies}
    others = [alarm for alarm in status.alarms if alarm.subject not in told]  # that no remedy is about
    alarms = [Text(line, "alarm") for line in raised_words(others, status.broken)]
    tables: list[list[Block]] = [arms(status, rewards_of(view.state.spec.design.family)), [mediator_grid(status)]]
    tables += [pending(status, utc)] if status.pending else []
    parts = [Section("", first), Section("", alarms), *_to_do(page, MOST_ALARMS), *(Section("", part) for part in tables)]
    return [part for part in (*parts, Section("", notes(status))) if part.blocks]


def _answer(page: StudyPage, status: Status) -> list[Block]:
    """The headline, and what it means, unless the facts say it."""
    return [Text(page.headline, "lead"), *(Text(line) for line in page.texts if line and line != words.expected(status))]


def _facts(page: StudyPage, status: Status) -> Grid:
    """Progress, the tiles but for the leader, whom the headline names, and the checks."""
    facts = [("Progress", _progress(status))] if status.told else []
    facts += [(tile.key.removesuffix(" for answers"), f"{tile.value} · {tile.note}".strip(" ·")) for tile in page.tiles[1:]]
    return Grid((), [*facts, ("Checks", _checks(page))])


def _progress(status: Status) -> str:
    """Answers so far of those that are expected, with a bar where that is known."""
    if status.queries_to_go is None or status.verdict is not None:
        return words.progress(status)
    done = round(BAR * status.told / (status.told + max(1.0, status.queries_to_go)))
    return f"{'█' * done}{'░' * (BAR - done)} {words.progress(status)}"


def _checks(page: StudyPage) -> str:
    """What is wrong first, what is in order last; nothing of what cannot be told yet."""
    parts = []
    for tone, mark in MARKS.items():
        found = [one for one in page.checks if one.tone == tone]
        named = [f"{one.title} ({one.note})" if tone == "bad" and one.note else one.title for one in found]
        parts += [f"{mark}: {', '.join(named)}"] if named else []
    return "; ".join(parts) or "too few answers to tell"


def _to_do(page: StudyPage, most: int) -> list[Section]:
    """What is wrong, what to do about it and the command that does it."""
    parts = [Section(one.what, [Text(line) for line in remedy_lines(one)]) for one in page.remedies[:most]]
    more = _rest(len(page.remedies) - most, "thing to do", "things to do")
    return [*parts[:-1], Section(parts[-1].title, [*parts[-1].blocks, *more])] if parts else []


def remedy_lines(one: Remedy) -> list[str]:
    """A remedy, and under it the command."""
    return [one.words, *([f"  {one.command}"] if one.command else [])]


def _ranked(rows: Sequence[Row], what: str, most: int) -> list[Block]:
    """The rows of the page, the first ones."""
    shown = [[row.name, row.value, row.more, row.note] for row in rows[:most]]
    header = (what, *(("estimate", "interval") if what == "arm" else ("share", "plan")), "")
    return [Grid(header, shown), *_rest(len(rows) - most, what, f"{what}s")]


def _rest(n: int, one: str, many: str) -> list[Block]:
    return [Text(f"and {n:,} more {one if n == 1 else many}")] if n > 0 else []


def _called(row: Mapping[str, Any]) -> str:
    return str(row["mediator"]) + (" (retired)" if row["retired"] else " (away)" if row["away"] else "")


def _shares(row: Mapping[str, Any]) -> list[str]:
    return [f"{row['share']:.0%}", "" if row["target"] is None else f"{row['target']:.0%}"]


def _arm(arm: ArmStatus, text: Callable[[float], str]) -> list[str]:
    estimate = "" if arm["estimate"] is None else text(arm["estimate"])
    low, high = ("…" if end is None else text(end) for end in (arm["low"], arm["high"]))
    return [arm["arm"], f"{arm['pulls']:,}", estimate, f"{low} to {high}"]


def evidence_words(status: Status) -> list[str]:
    """How strong the evidence is, and what may still be the answer."""
    lines = [] if status.state == "budget used" or status.broken is not None else [status.how_far]
    if status.leader is not None:
        best = status.names_leader
        lines.append(f"{p_value_words(status.p_value, f'{status.leader!r} is the best' if best else 'this answer is right')}.")
    if status.verdict is None and len(status.in_play) < len(status.arms):
        lines.append(in_play_words(status.in_play, len(status.arms), status.delta))
    return lines


def arms(status: Status, text: Callable[[float], str] = amount) -> list[Block]:
    """Estimates, and what their intervals mean."""
    rows = [_arm(arm, text) for arm in status.arms]
    note = Text(words.INTERVALS.format(percent(1.0 - status.delta)), "note")
    return [Grid(("arm", "answers", "estimate", "interval"), rows), note]


def mediator_grid(status: Status) -> Grid:
    """Whom it asked and what became of it; what never happened has no column."""
    table: list[dict[str, Any]] = [dict(row) for row in status.mediators]
    shown = ["asked", "told", *(key for key in RARE if any(row[key] for row in table))]
    rows = [[_called(row), *(f"{row[key]:,}" for key in shown), *_shares(row)] for row in table]
    return Grid(("mediator", *(HEADINGS.get(key, key) for key in shown), "share", "plan"), rows)


def pending(status: Status, utc: bool = False, most: int = SHOWN) -> list[Block]:
    """The oldest open queries."""
    rows = []
    for row in status.pending[:most]:
        until = "no lease" if row["until"] is None else "overdue" if row["expired"] else moment(row["until"], utc)
        rows.append([str(row["query"]), row["mediator"], duration(row["age"]), until])
    header = ("open query", "mediator", "open for", "due")
    grid, more = Grid(header, rows, words=("mediator",)), len(status.pending) - most
    return [grid, Text(f"and {more:,} more")] if more > 0 else [grid]


def notes(status: Status) -> Sequence[Block]:
    """What must hold for the guarantee, and what was looked for and not found."""
    could = [one for one in status.alarms if one.raised or one.detectable is not None]  # a young study has shown nothing
    undelivered = [] if status.undelivered is None else [status.undelivered]
    return [*(Text(f"Note: {line}") for line in [*undelivered, *status.assumptions]), *(Text(line) for line in no_signs(could))]
