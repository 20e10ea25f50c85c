"""The tables of a log: all of what is little, the top of what is much, with how much more there is."""

import math
from collections.abc import Sequence

import numpy as np

from gobetween.core.ground.types import Ints
from gobetween.core.verdict.evidence_report import ArmReport
from gobetween.export import numbered
from gobetween.logs.analysis.breakdown import MeanCell, PolicyShare, policy_shares
from gobetween.logs.analysis.report import LogReport
from gobetween.pages.blocks import Block, Grid, Text
from gobetween.words.logs import any_of

TOP, TOP_MEDIATORS, TOP_ARMS = 25, 12, 8  # arms in a table, mediators in one, and arms of each of them
ELSEWHERE = "which JSON and CSV have"


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
    still, rows = set(found.in_play), []
    for arm in top_arms(found):
        estimate = "" if arm.estimate is None else f"{arm.estimate:.4g}"
        rows.append((arm.arm, f"{arm.pulls:,}", estimate, _interval(arm.low, arm.high), "yes" if arm.arm in still else ""))
    header = ("arm", "rows", "estimate", "interval, always valid", "in play")
    if len(found.arms) <= TOP:
        return [Grid(header[:4], [row[:4] for row in rows])]
    left = len(still) - sum(bool(row[4]) for row in rows)
    words = f"and {numbered(len(found.arms) - len(rows), 'more arm')}, {left:,} of them in play, {ELSEWHERE}"
    return [Grid(header, rows, words=("in play",)), Text(words, "note")]


def _interval(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""  # nothing is known
    return " to ".join("…" if not math.isfinite(end) else f"{end:.4g}" for end in (low, high))


def advice_blocks(found: LogReport) -> list[Block]:
    """Whom to ask, with what resamples say; of many the first."""
    if len(found.advice) < 2:
        return []
    rows = [
        (any_of(one.mediators), f"{one.share:.1%}", *_resampled(one.low, one.high, one.agree))
        for one in found.advice[:TOP_MEDIATORS]
    ]
    header = ("whom to ask", "share of queries", "8 of 10 resamples", "agree")
    left = len(found.advice) - len(rows)
    more: list[Block] = [Text(f"and {left:,} more, {ELSEWHERE}", "note")] if left else []
    return [Grid(header, rows, words=("8 of 10 resamples",)), *more]


def _resampled(low: float | None, high: float | None, agree: float | None) -> tuple[str, str]:
    return ("", "") if low is None or high is None or agree is None else (f"{low:.1%}–{high:.1%}", f"{agree:.0%}")


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
    rows = [_cell(shares[key], means.get(key)) for key in keys]
    grid = Grid(("mediator", "arm", "rows", "share of its rows", "mean", "interval, always valid"), rows, words=("arm",))
    left = int((counts > 0).sum() - sum(counts[cell] > 0 for cell in cells))
    if not left:
        return [grid]
    return [grid, Text(f"and {numbered(left, 'more pair')} of mediator and arm, {ELSEWHERE}", "note")]


def _cell(share: PolicyShare, mean: MeanCell | None) -> tuple[str, ...]:
    part = f"{share['share']:.1%} ({share['low']:.1%}–{share['high']:.1%})"
    paid = ("", "") if mean is None else (f"{mean['mean']:.4g}", _interval(mean["low"], mean["high"]))
    return share["mediator"], share["arm"] or "(silence)", f"{share['rows']:,}", part, *paid


def _pulled(counts: Ints) -> list[int]:
    """The columns that are shown: all of a few, otherwise those with most rows."""
    if len(counts) <= TOP_ARMS:
        return list(range(len(counts)))
    return [a for a in np.argsort(-counts, kind="stable")[:TOP_ARMS].tolist() if counts[a]]


def cells_words(found: LogReport) -> str:
    """What the intervals by mediator and arm mean."""
    means = f"those of means hold for all mediators and arms at all times together with probability {1 - found.delta:g}"
    return f"Shares of each mediator's rows have exact 95% intervals; {means}."
