"""What a log says, as a page: a card, then alarms, figures, tables and conditions."""

from collections.abc import Sequence

import numpy as np

from gobetween.export import numbered, shortened
from gobetween.logs.analysis.report import LogReport
from gobetween.pages import figures
from gobetween.pages.blocks import Block, Card, Grid, Picture, Section, Text, Tile
from gobetween.pages.charts import Axis
from gobetween.pages.log_figures import over_time
from gobetween.pages.log_tables import advice_blocks, arm_blocks, policy_blocks, top_arms
from gobetween.words import log_page as words
from gobetween.words.alarms import raised_words
from gobetween.words.logs import answer_texts, conditions, to_do
from gobetween.words.numbers import chance, means_of
from gobetween.words.verdict import question_words

TITLE = "What the log says"


def sections(found: LogReport, files: Sequence[str]) -> list[Section]:
    """The answer, what is wrong, the figures, the tables, what it rests on."""
    raised: list[Block] = [Text(line, "alarm") for line in raised_words(found.alarms, found.broken)]
    raised += map(Text, to_do(found))
    rests: list[Block] = [*map(Text, conditions(found)), Grid((), _about(found, files))]
    parts = [
        Section("", [_card(found)]),
        Section("", raised),
        Section("Arms", [_estimates(found), *(arm_blocks(found) if len(top_arms(found)) < len(found.arms) else ())]),
        Section("Whom to ask", [*_asked(found), *advice_blocks(found)]),
        Section("Evidence along the log", _evidence(found)),
        *(Section("", [picture]) for picture in over_time(found)),
        Section("Mediators and arms", [*policy_blocks(found), Text(words.cells_words(found), "note")]),
        Section("What this rests on", rests),
    ]
    return [part for part in parts if part.blocks]


def _card(found: LogReport) -> Card:
    raised = any(alarm.raised for alarm in found.alarms)
    tone = "bad" if found.broken is not None else "warn" if raised else "good" if found.identified else ""
    key, value, note = words.answer_tile(found)
    names = [arm.arm for arm in found.arms]
    answer = Tile(key, value, note, "bad" if value == "none" else "", colour=names.index(value) if value in names else None)
    alarms = Tile(*words.alarm_tile(found), tone="bad" if found.broken is not None else "warn" if raised else "")
    tiles = [answer, Tile(*words.certain_tile(found)), Tile(*words.rows_tile(found)), alarms]
    return Card(found.headline, answer_texts(found), tiles, tone)


def _estimates(found: LogReport) -> Picture:
    shown = top_arms(found)
    axis = Axis("mean reward", means_of(found.law))
    return Picture("estimates", figures.estimates(shown, text=axis, places=_places(found)), words.intervals(found))


def _places(found: LogReport) -> list[int]:
    """Where the arms that are shown stand among all."""
    place = {arm.arm: a for a, arm in enumerate(found.arms)}
    return [place[arm.arm] for arm in top_arms(found)]


def _evidence(found: LogReport) -> list[Block]:
    return [Picture("evidence", figures.evidence_trail(found.trail, x_name="rows"), words.EVIDENCE)] if found.trail else []


def _asked(found: LogReport) -> list[Block]:
    """What mediators did and whom to ask; what was pulled and what would be."""
    if found.omega is None:
        return []
    asked = figures.mediator_shares(found.mediators, found.mixture, found.omega, "Mediators: what they did, and whom to ask")
    places, N_a = _places(found), found.N_ea.sum(axis=0)
    policies = found.N_ea / np.maximum(1, found.N_ea.sum(axis=1, keepdims=True))
    best, names = policies.T @ np.array(found.omega), [arm.arm for arm in top_arms(found)]
    pulled = figures.arm_shares(names, (N_a / N_a.sum())[places], best[places], "What was pulled", places)
    return [Picture("mediators", asked, words.ASKED), Picture("arms", pulled, words.PULLED)]


def _about(found: LogReport, files: Sequence[str]) -> list[tuple[str, str]]:
    return [
        ("Read", shortened(files)),
        *([] if found.silent is None else [("Silence", numbered(sum(found.silent.values()), "row"))]),
        ("Rows", f"{found.rows:,}" + (f", and {found.bad_count:,} left out" if found.bad_count else "")),
        ("Rewards", found.family),
        *([] if found.question.names_leader else [("Question", question_words(found.question))]),
        ("Risk δ of a wrong answer", chance(found.delta)),
        ("Evidence", f"{found.statistic:.2f} of {found.threshold:.2f} nats"),
    ]
