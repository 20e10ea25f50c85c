"""A log by mediator and arm: how often each arm was pulled and what it paid, with intervals; all of it as rows of a table."""

import csv
import math
from collections.abc import Mapping, Sequence
from typing import Any, TextIO, TypedDict

import numpy as np

from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.reward.family import Family
from gobetween.core.verdict.evidence_report import ArmReport, mean_intervals
from gobetween.simulation.summary import exact_intervals


class PolicyShare(TypedDict):
    """How often a mediator pulled an arm."""

    mediator: str
    arm: str | None  # none: silence
    rows: int
    share: float
    low: float
    high: float


class MeanCell(TypedDict):
    """What an arm paid with one mediator."""

    mediator: str
    arm: str
    rows: int
    mean: float
    low: float
    high: float


def policy_shares(mediators: Sequence[str], names: Sequence[str | None], counts: Ints) -> list[PolicyShare]:
    """Shares with exact 95% intervals (Clopper–Pearson) of counts [E, names]."""
    n = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
    low, high = exact_intervals(counts, n)
    shares = counts / np.maximum(n, 1)
    return [
        {"mediator": mediator, "arm": name, "rows": k, "share": share, "low": down, "high": up}
        for mediator, *row in zip(mediators, counts.tolist(), shares.tolist(), low.tolist(), high.tolist(), strict=True)
        for name, k, share, down, up in zip(names, *row, strict=True)
    ]


def mean_cells(
    family: Family, mediators: Sequence[str], arms: Sequence[str], N_ea: Ints, S_ea: Floats, delta: float, shown: Ints
) -> list[MeanCell]:
    """Means of the cells (e, a) [n, 2] that have rows; all E · K intervals hold together with probability 1 − δ."""
    e, a = shown[N_ea[shown[:, 0], shown[:, 1]] > 0].T
    n, S = N_ea[e, a], S_ea[e, a]
    ends = mean_intervals(family, n, S, math.log(N_ea.size / delta))
    rows = zip(e.tolist(), a.tolist(), n.tolist(), (S / n).tolist(), ends.tolist(), strict=True)
    return [
        {"mediator": mediators[i], "arm": arms[j], "rows": k, "mean": mean, "low": low, "high": high}
        for i, j, k, mean, (low, high) in rows
    ]


COLUMNS = (
    *("mediator", "arm", "rows", "share", "share_low", "share_high", "mean", "mean_low", "mean_high", "in_play"),
    *("ask", "agree", "any_of"),
)


Asked = tuple[float, float | None, str]
"""Of a mediator: how often it or those like it are to be asked, how many resamples agree, and all of them."""


def write_cells(
    stream: TextIO,
    arms: Sequence[ArmReport],
    in_play: Sequence[str],
    shares: Sequence[PolicyShare],
    means: Sequence[MeanCell],
    asked: Mapping[str, Asked],
) -> None:
    """All arms as CSV, first of all mediators together (no name in the first column), then of each; silence has no arm."""
    writer, total, still = csv.writer(stream), max(1, sum(arm.pulls for arm in arms)), set(in_play)
    paid = {(cell["mediator"], cell["arm"]): (cell["mean"], cell["low"], cell["high"]) for cell in means}
    writer.writerow(COLUMNS)
    for arm in arms:
        paid_all = (arm.estimate, arm.low, arm.high)
        writer.writerow(
            _line("", arm.arm, arm.pulls, arm.pulls / total, "", "", *paid_all, _word(arm.arm in still), "", "", "")
        )
    for cell in shares:
        mean = paid.get((cell["mediator"], cell["arm"] or ""), ("", "", ""))
        said = "" if cell["arm"] is None else _word(cell["arm"] in still)
        part = cell["mediator"], cell["arm"] or "", cell["rows"], cell["share"], cell["low"], cell["high"]
        writer.writerow(_line(*part, *mean, said, *asked.get(cell["mediator"], ("", "", ""))))


def _line(*cells: Any) -> list[Any]:
    return ["" if cell is None or (isinstance(cell, float) and not math.isfinite(cell)) else cell for cell in cells]


def _word(value: bool) -> str:
    return "yes" if value else "no"
