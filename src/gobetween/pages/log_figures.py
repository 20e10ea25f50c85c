"""A log over time: what its first arms paid, and what its mediators chose, from one stretch of rows to the next."""

import math

import numpy as np

from gobetween.core.verdict.evidence_report import mean_intervals
from gobetween.logs.analysis.report import LogReport
from gobetween.logs.analysis.timeline import Stretch
from gobetween.pages.blocks import Block, Picture
from gobetween.pages.charts import Axis, Line, Lines, arm
from gobetween.pages.figures import SERIES
from gobetween.words import log_page as words
from gobetween.words.numbers import means_of, percent

MEDIATORS = 6  # that get a figure of their own
ROWS = Axis("row of the log", zero=True)


def over_time(found: LogReport) -> list[Block]:
    """Figures over time; none where rows are not in order, or so few that there is but one stretch."""
    if len(found.stretches) < 2:
        return []
    pictures: list[Block] = [Picture("means-over-time", _means(found, _first_arms(found)), words.means_caption(found))]
    for e in np.argsort(-found.N_ea.sum(axis=1), kind="stable")[:MEDIATORS].tolist():
        if all(stretch.N_ea is not None for stretch in found.stretches):
            pictures.append(Picture(f"shares-over-time-{e}", _shares(found, e), words.SHARES_OVER_TIME))
    return pictures


def _first_arms(found: LogReport) -> list[int]:
    """Arms that drift, then those with the highest estimates among those that can still be the best."""
    drifting = {alarm.subject for alarm in found.alarms if alarm.kind == "drift" and alarm.raised}
    still = set(found.in_play)
    seen = [a for a, one in enumerate(found.arms) if one.estimate is not None]
    heights = {a: float(found.arms[a].estimate or 0.0) for a in seen}
    order = sorted(seen, key=lambda a: (found.arms[a].arm not in drifting, found.arms[a].arm not in still, -heights[a]))
    return order[:SERIES]


def _middle(stretch: Stretch) -> float:
    return 0.5 * (stretch.since + stretch.until)


def _means(found: LogReport, arms: list[int]) -> Lines:
    lines, limit = [], math.log(len(arms) * len(found.stretches) / found.delta)
    for a in arms:
        n, S = np.array([s.N_a[a] for s in found.stretches]), np.array([s.S_a[a] for s in found.stretches])
        seen = np.flatnonzero(n)
        mean, ends = S[seen] / n[seen], mean_intervals(found.law, n[seen], S[seen], limit)
        ranges = np.where(np.isfinite(ends), ends, mean[:, None]).tolist()
        points = [(_middle(found.stretches[k]), float(mean[i])) for i, k in enumerate(seen)]
        lines.append(Line(found.arms[a].arm, points, arm(a), [(low, high) for low, high in ranges]))
    marks = sorted({alarm.at for alarm in found.alarms if alarm.kind == "drift" and alarm.raised and alarm.at is not None})
    return Lines("Means over time", ROWS, Axis("mean reward", means_of(found.law)), lines, at=marks)


def _shares(found: LogReport, e: int) -> Lines:
    rows = [np.asarray(stretch.N_ea)[e] for stretch in found.stretches]
    places = [k for k, counts in enumerate(rows) if counts.sum()]
    lines = [
        Line(found.arms[a].arm, [(_middle(found.stretches[k]), float(rows[k][a] / rows[k].sum())) for k in places], arm(a))
        for a in np.argsort(-found.N_ea[e], kind="stable")[:SERIES].tolist()
    ]
    own = [alarm for alarm in found.alarms if alarm.kind == "policy-drift" and alarm.subject == found.mediators[e]]
    y = Axis("share of its rows", percent, zero=True)
    return Lines(f"What {found.mediators[e]} chose over time", ROWS, y, lines, at=[a.at for a in own if a.raised and a.at])
