"""The tables of a log: all of what is little, the top of what is much, with how much more there is."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from gobetween.core.ground.jit import Ints
from gobetween.core.verdict.evidence_report import ArmReport
from gobetween.export import numbered
from gobetween.logs.analysis.breakdown import MeanCell, PolicyShare, policy_shares
from gobetween.logs.analysis.report import LogReport
from gobetween.pages.blocks import Block, Grid, Text
from gobetween.words.log_page import ELSEWHERE
from gobetween.words.logs import any_of
from gobetween.words.numbers import means_of, percent, rate

TOP, TOP_MEDIATORS, TOP_ARMS = 25, 12, 8  # arms in a table, mediators in one, and arms of each of them


def top_arms(found: LogReport) -> Sequence[ArmReport]:
    """All of a few arms, in their order; of many those that can still be the best, then others, by their estimates."""
    if len(found.arms) <= TOP:
        return found.arms
    still = set(found.in_play)
    return sorted(found.arms, key=lambda arm: (arm.arm not in still, -_height(arm)))[:TOP]


def _height(arm: ArmReport) -> float:
    return -math.inf if arm.estimate is None else arm.estimate


def arm_blocks(found: LogReport) -> list[Block]:
    """Arms with estimates and intervals; of many the first."""
    still, rows, text = set(found.in_play), [], means_of(found.law)
    for arm in top_arms(found):
        estimate = "" if arm.estimate is None else text(arm.estimate)
        rows.append(
            (arm.arm, f"{arm.pulls:,}", estimate, _interval(arm.low, arm.high, text), "yes" if arm.arm in still else "")
        )
    header = ("arm", "rows", "estimate", "interval, always valid", "in play")
    if len(found.arms) <= TOP:
        return [Grid(header[:4], [row[:4] for row in rows])]
    left = len(still) - sum(bool(row[4]) for row in rows)
    words = f"and {numbered(len(found.arms) - len(rows), 'more arm')}, {left:,} of them in play, {ELSEWHERE}"
    return [Grid(header, rows, words=("in play",)), Text(words, "note")]


def _interval(low: float, high: float, text: Callable[[float], str]) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""  # nothing is known
    return " to ".join("…" if not math.isfinite(end) else text(end) for end in (low, high))


def advice_blocks(found: LogReport) -> list[Block]:
    """Whom to ask, with what resamples say; of many the first."""
    if len(found.advice) < 2:
        return []
    rows = [
        (any_of(one.mediators), percent(one.share), *_resampled(one.low, one.high, one.agree))
        for one in found.advice[:TOP_MEDIATORS]
    ]
    header = ("whom to ask", "share of queries", "80% range", "agree")
    left = len(found.advice) - len(rows)
    more: list[Block] = [Text(f"and {left:,} more, {ELSEWHERE}", "note")] if left else []
    return [Grid(header, rows, words=("80% range",)), *more]


def _resampled(low: float | None, high: float | None, agree: float | None) -> tuple[str, str]:
    return ("", "") if low is None or high is None or agree is None else (f"{percent(low)}–{percent(high)}", percent(agree))


def policy_blocks(found: LogReport) -> list[Block]:
    """How often each mediator pulls each arm, and what that paid; of many arms or mediators those with most rows."""
    counts = found.N_ea if found.silent is None else np.column_stack([found.N_ea, [found.silent[m] for m in found.mediators]])
    busy = sorted(np.argsort(-counts.sum(axis=1), kind="stable")[:TOP_MEDIATORS].tolist())
    cells = [(e, a) for e in busy for a in _pulled(counts[e])]
    names = [*(arm.arm for arm in found.arms), None][: counts.shape[1]]
    shares = {(cell["mediator"], cell["arm"]): cell for cell in policy_shares(found.mediators, names, counts)}
    paying = np.array([cell for cell in cells if cell[1] < len(found.arms)], np.int64).reshape(-1, 2)
    means: dict[tuple[str, str | None], MeanCell] = {(cell["mediator"], cell["arm"]): cell for cell in found.means(paying)}
    keys = [(found.mediators[e], names[a]) for e, a in cells]
    rows = [_cell(shares[key], means.get(key), means_of(found.law)) for key in keys]
    grid = Grid(("mediator", "arm", "rows", "share of its rows", "mean", "interval, always valid"), rows, words=("arm",))
    left = int((counts > 0).sum() - sum(counts[cell] > 0 for cell in cells))
    if not left:
        return [grid]
    return [grid, Text(f"and {numbered(left, 'more pair')} of mediator and arm, {ELSEWHERE}", "note")]


def _cell(share: PolicyShare, mean: MeanCell | None, text: Callable[[float], str]) -> tuple[str, ...]:
    part = f"{rate(share['share'])} ({rate(share['low'])}–{rate(share['high'])})"
    paid = ("", "") if mean is None else (text(mean["mean"]), _interval(mean["low"], mean["high"], text))
    return share["mediator"], share["arm"] or "(silence)", f"{share['rows']:,}", part, *paid


def _pulled(counts: Ints) -> list[int]:
    """The columns that are shown: all of a few, otherwise those with most rows."""
    if len(counts) <= TOP_ARMS:
        return list(range(len(counts)))
    return [a for a in np.argsort(-counts, kind="stable")[:TOP_ARMS].tolist() if counts[a]]
