"""The page of a study: the answer, figures, and what the reader must know about how it was reached."""

from collections.abc import Sequence

import numpy as np

from gobetween.core.evidence import ArmReport
from gobetween.export import numbered
from gobetween.pages.blocks import Block, Grid, Picture, Section, Text
from gobetween.pages.figures import arm_shares, estimates, evidence_trail, mediator_shares
from gobetween.pages.status import answer, arms, mediator_grid, notes
from gobetween.pages.words import event_words
from gobetween.study.spec import StudySpec
from gobetween.study.status import Status
from gobetween.study.study import Study

LAST = 200  # events that are listed
FAIR = (
    "Silence, cancelling, expiry, answers that came unasked and corrections must not depend on rewards: compare the mediators' "
    "shares."
)


def sections(study: Study, utc: bool = False) -> tuple[str, list[Section]]:
    """Title and page."""
    view = study.view(last=LAST)
    status, state = view.status, view.state
    log = [[event_words(event, utc)] for event in view.events]
    parts = [
        Section("", [*answer(status), *notes(status)]),
        Section("Figures", _pictures(status, state.spec, state.trail)),
        Section("Arms", arms(status)),
        Section("Mediators", [mediator_grid(status), Text(FAIR, "note")]),
        Section(f"The last {numbered(len(log), 'event')}" if len(log) != 1 else "The only event", [Grid(["event"], log)]),
    ]
    return status.title or f"Study {status.name}", parts


def _pictures(status: Status, spec: StudySpec, trail: Sequence[tuple[int, float, float]]) -> list[Block]:
    """What there is to see so far."""
    target = [m["target"] or 0.0 for m in status.mediators]
    followed = any(m["target"] is not None for m in status.mediators)
    pictures: list[Block] = []
    if trail:
        figure = evidence_trail(trail, "Evidence for the leader")
        words = "The study stops when the line meets its threshold; after that it is history."
        pictures.append(Picture("evidence", figure, words))
    reports = [
        ArmReport(arm["arm"], arm["pulls"], arm["estimate"], _open(arm["low"], -1), _open(arm["high"], 1))
        for arm in status.arms
    ]
    if any(arm.estimate is not None for arm in reports):
        words = (
            f"Intervals hold for all arms at all times together with probability {1 - status.delta:g}; not the stopping rule."
        )
        pictures.append(Picture("estimates", estimates(reports, title="Estimated means"), words))
    if status.queries and followed:
        figure = mediator_shares(spec.mediators, [m["share"] for m in status.mediators], target, "Whom it asked")
        pictures.append(Picture("mediators", figure, "Shares of queries, and what the sampling rule follows now."))
    pulls = np.array([arm["pulls"] for arm in status.arms], float)
    policies = [row for row in spec.policies if row is not None]
    if pulls.sum() and followed and len(policies) == len(spec.policies):
        figure = arm_shares(spec.arms, pulls / pulls.sum(), np.array(policies).T @ np.array(target), "What they pulled")
        pictures.append(Picture("arms", figure, "Shares of pulls, and what the followed mediators would pull on average."))
    return pictures


def _open(end: float | None, side: int) -> float:
    return side * float("inf") if end is None else end
