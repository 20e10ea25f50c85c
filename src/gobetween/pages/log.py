"""What a log says, as a page of sentences, figures and tables."""

from collections.abc import Sequence

import numpy as np

from gobetween.export import numbered, shortened
from gobetween.logs.analysis.report import LogReport
from gobetween.pages.blocks import Block, Grid, Picture, Section, Text
from gobetween.pages.log_figures import over_time
from gobetween.pages.log_tables import advice_blocks, arm_blocks, cells_words, policy_blocks, top_arms
from gobetween.words.alarms import raised_words
from gobetween.words.logs import ALARM, sentences
from gobetween.words.verdict import question_words

TITLE = "What the log says"


def sections(found: LogReport, files: Sequence[str]) -> list[Section]:
    """The answer, the figures, the tables."""
    from gobetween.pages.figures import arm_shares, estimates, evidence_trail, mediator_shares

    lines = [line for line in sentences(found) if not line.startswith(ALARM)]
    answer: list[Block] = [
        *(Text(line, "alarm") for line in raised_words(found.alarms, found.broken)),
        Text(lines[0], "lead" if found.broken is None else "alarm"),
        *(Text(line) for line in lines[1:]),
        Text(f"Read: {shortened(files)}", "note"),
    ]
    pictures: list[Block] = []
    if found.trail:
        caption = "The answer is certain once the line has met its threshold."
        pictures.append(Picture("evidence", evidence_trail(found.trail, "Evidence along the log", "rows"), caption))
    words = f"Intervals hold for all arms at all times together with probability {1 - found.delta:g}."
    pictures += over_time(found)
    shown = top_arms(found)
    pictures.append(Picture("estimates", estimates(shown, title="Estimated means"), words))
    if found.omega is not None:
        figure = mediator_shares(found.mediators, found.mixture, found.omega, "Mediators: what they did, and whom to ask")
        pictures.append(
            Picture("mediators", figure, "Shares of rows in the log, and the shares that would be best at the estimates.")
        )
        N_a = found.N_ea.sum(axis=0)
        policies = found.N_ea / np.maximum(1, found.N_ea.sum(axis=1, keepdims=True))
        places, best = [found.arms.index(arm) for arm in shown], policies.T @ np.array(found.omega)
        figure = arm_shares([arm.arm for arm in shown], (N_a / N_a.sum())[places], best[places], "What was pulled")
        pictures.append(Picture("arms", figure, "Shares of arms in the log, and those that the best mediators would pull."))
    return [
        Section("", answer),
        Section("Figures", pictures),
        Section("Arms", arm_blocks(found)),
        Section("Mediators", [*advice_blocks(found), *policy_blocks(found), Text(cells_words(found), "note")]),
        Section("About this log", [Grid((), _about(found))]),
    ]


def _about(found: LogReport) -> list[tuple[str, str]]:
    return [
        *([] if found.silent is None else [("Silence", numbered(sum(found.silent.values()), "row"))]),
        ("Rows", f"{found.rows:,}" + (f", and {found.bad_count:,} left out" if found.bad_count else "")),
        ("Rewards", found.family),
        *([] if found.question.names_leader else [("Question", question_words(found.question))]),
        ("Risk δ of a wrong answer", f"{found.delta:g}"),
        ("Evidence", f"{found.statistic:.2f} of {found.threshold:.2f} nats"),
    ]
