"""The page of a log."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gobetween.pages.figures import arm_shares, estimates, evidence_trail, mediator_shares
from gobetween.pages.html import Block, Picture, Section, Text
from gobetween.pages.log_words import arm_grid, policy_grid, sentences

TITLE = "What the log says"


def sections(found: Any, files: Sequence[str]) -> list[Section]:
    """The answer, the figures, the tables."""
    lines = sentences(found)
    answer: list[Block] = [
        Text(lines[0], "lead"),
        *(Text(line) for line in lines[1:]),
        Text(f"Read: {', '.join(files)}", "note"),
    ]
    pictures: list[Block] = []
    if found.trail:
        caption = "The best arm is certain once the line has met its threshold."
        pictures.append(Picture("evidence", evidence_trail(found.trail, "Evidence along the log"), caption))
    words = f"Intervals hold for all arms at all times together with probability {1 - found.delta:g}."
    pictures.append(Picture("estimates", estimates(found.arms, title="Estimated means"), words))
    if found.omega is not None:
        figure = mediator_shares(found.mediators, found.mixture, found.omega, "Who acted, and whom to ask")
        pictures.append(
            Picture("mediators", figure, "Shares of rows in the log, and the shares that would be best at the estimates.")
        )
        N_a = found.N_ea.sum(axis=0)
        policies = found.N_ea / np.maximum(1, found.N_ea.sum(axis=1, keepdims=True))
        figure = arm_shares(
            [arm.arm for arm in found.arms], N_a / N_a.sum(), policies.T @ np.array(found.omega), "What was pulled"
        )
        pictures.append(Picture("arms", figure, "Shares of arms in the log, and those that the best mediators would pull."))
    return [
        Section("", answer),
        Section("Figures", pictures),
        Section("Arms", [arm_grid(found)]),
        Section("Policies", [policy_grid(found), Text("Shares of each mediator's rows with exact 95% intervals.", "note")]),
    ]
