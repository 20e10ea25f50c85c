"""The page of a study: the answer, figures, and what the reader must know about how it was reached."""

from typing import Any

import numpy as np

from gobetween.core.evidence import ArmReport
from gobetween.pages.figures import arm_shares, estimates, evidence_trail, mediator_shares
from gobetween.pages.html import Block, Grid, Picture, Section, Text
from gobetween.pages.words import event_words
from gobetween.study.events import COUNTS

LAST = 200


def sections(study: Any) -> tuple[str, list[Section]]:
    """Title and page."""
    view = study.view(last=LAST)
    status, state = view.status, view.state
    arms = [ArmReport(**(arm | {"low": _open(arm["low"], -1), "high": _open(arm["high"], 1)})) for arm in status.arms]
    answer: list[Block] = [Text(status.sentence, "lead"), Text(status.how_far)]
    if status.leader is not None:
        answer.append(Text(f"p-value {status.p_value:.3g} against “some other arm is strictly better than {status.leader}”."))
    answer += [Text(line, "note") for line in status.assumptions]
    pictures: list[Block] = []
    if state.trail:
        pictures.append(
            Picture(
                "evidence",
                evidence_trail(state.trail, "Evidence for the leader"),
                "The study stops when the line meets its threshold; after that it is history.",
            )
        )
    if any(arm.estimate is not None for arm in arms):
        words = (
            f"Intervals hold for all arms at all times together with probability {1 - status.delta:g}; not the stopping rule."
        )
        pictures.append(Picture("estimates", estimates(arms, title="Estimated means"), words))
    if state.spent[0]:
        pictures.append(
            Picture(
                "mediators",
                mediator_shares(
                    state.spec.mediators,
                    [m["share"] for m in status.mediators],
                    [m["target"] for m in status.mediators],
                    "Whom it asked",
                ),
                "Shares of queries, and what the sampling rule follows now.",
            )
        )
    pulls = np.array([arm["pulls"] for arm in status.arms], float)
    if pulls.sum() and all(row is not None for row in state.spec.policies):
        policies = np.array([row for row in state.spec.policies if row is not None])
        induced = policies.T @ np.array([m["target"] for m in status.mediators])
        figure = arm_shares(state.spec.arms, pulls / pulls.sum(), induced, "What they pulled")
        pictures.append(Picture("arms", figure, "Shares of pulls, and what the followed mediators would pull on average."))
    header = ("mediator", *COUNTS)
    rows = [[m["mediator"], *(f"{m[key]:,}" for key in header[1:])] for m in status.mediators]
    log = [[event_words(event)] for event in view.events]
    parts = [
        Section("", answer),
        Section("Figures", pictures),
        Section(
            "Mediators",
            [
                Grid(header, rows),
                Text(
                    "Silence, cancelling, expiry, answers that came unasked and corrections must not depend on rewards: "
                    "compare the mediators' shares.",
                    "note",
                ),
            ],
        ),
        Section(f"The last {len(log)} events", [Grid(["event"], log)]),
    ]
    return status.title or f"Study {status.name}", parts


def _open(end: float | None, side: int) -> float:
    return side * float("inf") if end is None else end
