"""A log over time: what its first arms paid, and what its mediators chose, from one stretch of rows to the next."""

import math
from typing import Any

import numpy as np

from gobetween.core.verdict.evidence_report import mean_intervals
from gobetween.logs.analysis.report import LogReport
from gobetween.logs.analysis.timeline import Stretch
from gobetween.pages.blocks import Block, Picture
from gobetween.pages.figures import INK, SERIES, dress, graph_objects, label, line_style

MEDIATORS = 6  # that get a figure of their own


def over_time(found: LogReport) -> list[Block]:
    """Figures over time; none where rows are not in order, or so few that there is but one stretch."""
    if len(found.stretches) < 2:
        return []
    arms = _first_arms(found)
    words = (
        f"Means of each stretch of rows by itself; intervals hold for all together with probability {1 - found.delta:g}. "
        "A dashed line: where an alarm puts a change."
    )
    pictures: list[Block] = [Picture("means-over-time", _means(found, arms), words)]
    for e in np.argsort(-found.N_ea.sum(axis=1), kind="stable")[:MEDIATORS].tolist():
        if all(stretch.N_ea is not None for stretch in found.stretches):
            title = f"What {found.mediators[e]} chose over time"
            picture = _shares(found, e, title)
            pictures.append(
                Picture(f"shares-over-time-{e}", picture, "Shares of its rows in each stretch, of the arms it pulled most.")
            )
    return pictures


def _first_arms(found: LogReport) -> list[int]:
    """Arms that drift, then those with the highest estimates among those that can still be the best."""
    drifting = {alarm.subject for alarm in found.alarms if alarm.kind == "drift" and alarm.raised}
    still = set(found.in_play)
    seen = [a for a, arm in enumerate(found.arms) if arm.estimate is not None]
    heights = {a: float(found.arms[a].estimate or 0.0) for a in seen}
    order = sorted(seen, key=lambda a: (found.arms[a].arm not in drifting, found.arms[a].arm not in still, -heights[a]))
    return order[:SERIES]


def _middle(stretch: Stretch) -> float:
    return 0.5 * (stretch.since + stretch.until)


def _means(found: LogReport, arms: list[int]) -> Any:
    figure, limit = graph_objects().Figure(), math.log(len(arms) * len(found.stretches) / found.delta)
    for i, a in enumerate(arms):
        n, S = np.array([s.N_a[a] for s in found.stretches]), np.array([s.S_a[a] for s in found.stretches])
        seen = np.flatnonzero(n)
        mean, ends = S[seen] / n[seen], mean_intervals(found.law, n[seen], S[seen], limit)
        up, down = (np.where(np.isfinite(length), length, 0.0) for length in (ends[:, 1] - mean, mean - ends[:, 0]))
        figure.add_scatter(
            x=[_middle(found.stretches[k]) for k in seen], y=mean, name=label(found.arms[a].arm), mode="lines+markers",
            error_y={"type": "data", "symmetric": False, "array": up, "arrayminus": down, "thickness": 1},
            **line_style(i),
        )  # fmt: skip
    marks = sorted({alarm.at for alarm in found.alarms if alarm.kind == "drift" and alarm.raised and alarm.at is not None})
    return _marked(dress(figure, "Means over time", "row of the log", "mean reward"), marks)


def _shares(found: LogReport, e: int, title: str) -> Any:
    figure, shown = graph_objects().Figure(), np.argsort(-found.N_ea[e], kind="stable")[:SERIES].tolist()
    rows = [np.asarray(stretch.N_ea)[e] for stretch in found.stretches]
    places = [k for k, counts in enumerate(rows) if counts.sum()]
    for i, a in enumerate(shown):
        shares = [float(rows[k][a] / rows[k].sum()) for k in places]
        x = [_middle(found.stretches[k]) for k in places]
        figure.add_scatter(x=x, y=shares, name=label(found.arms[a].arm), mode="lines+markers", **line_style(i))
    own = [alarm for alarm in found.alarms if alarm.kind == "policy-drift" and alarm.subject == found.mediators[e]]
    y = {"tickformat": ".0%", "rangemode": "tozero"}
    return _marked(dress(figure, title, "row of the log", "share of its rows", y=y), [a.at for a in own if a.raised and a.at])


def _marked(figure: Any, rows: list[int]) -> Any:
    for row in rows:
        figure.add_vline(x=row, line={"color": INK, "dash": "dash", "width": 1})
    return figure
