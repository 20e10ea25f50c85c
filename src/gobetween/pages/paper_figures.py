"""Charts for papers and notebooks, drawn by Matplotlib: `figure.savefig` writes SVG, PDF and PNG, no browser needed."""

import math
import re
from collections.abc import Sequence
from functools import cache
from textwrap import wrap
from typing import Any

from gobetween.errors import GoBetweenError
from gobetween.pages.charts import OTHERS, Axis, Chart, Lines, Rows
from gobetween.pages.templates import asset

WIDE, INK, SOFT, GRID = 6.3, "#18212b", "#566170", "#dfe4ea"  # inches of a page's text


def draw(chart: Chart) -> Any:
    """The chart as a Matplotlib figure, which is not among those that `pyplot` keeps."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise GoBetweenError("figures need matplotlib: pip install 'gobetween[plots]'") from None
    high = 1.1 + 0.34 * len(chart.marks) if isinstance(chart, Rows) else 3.6
    figure = Figure(figsize=(WIDE, high), layout="constrained")
    axes = figure.subplots()
    if isinstance(chart, Rows):
        _rows(axes, chart)
    else:
        _lines(axes, chart)
    if chart.title:
        figure.suptitle(_plain("\n".join(wrap(chart.title, 90))), x=0.01, ha="left", fontsize=10, color=INK)
    axes.grid(visible=True, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8, colors=SOFT)
    return figure


@cache
def tones() -> dict[str, str]:
    """The colours of the style sheet in the light."""
    found = re.findall(r"--([cm]\d): (#\w+)", asset("style.css"))
    return dict(reversed(found))


def _style(colour: str) -> tuple[str, str]:
    """Tone and dash: what is not an arm has three tones and two dashes, as on pages."""
    if colour.startswith("m"):
        i = int(colour[1:])
        return tones()[f"m{i % 3}"], "-" if i < OTHERS // 2 else "--"
    return tones().get(colour, INK), "-"


def _plain(name: str) -> str:
    """A name as it is: Matplotlib would read formulas."""
    return name.replace("$", r"\$")


def _dress(axes: Any, which: str, scale: Axis, marks: Sequence[float]) -> None:
    axis = getattr(axes, f"{which}axis")
    if scale.log:
        getattr(axes, f"set_{which}scale")("log")
        axis.set_ticks([], minor=True)
    axis.set_label_text(_plain(scale.name), fontsize=9, color=INK)
    axis.set_ticks(marks, [scale.text(mark) for mark in marks])
    axis.set_inverted(scale.down)


def _rows(axes: Any, chart: Rows) -> None:
    _, marks = chart.fit()
    _dress(axes, "x", chart.axis, marks)
    for i, mark in enumerate(chart.marks):
        tone, _ = _style(mark.colour)
        if chart.bars and mark.value is not None:
            endless = math.isinf(mark.value)
            axes.barh(i, marks[-1] if endless else mark.value, 0.6, color=tone, hatch="//" if endless else None)
        elif mark.value is not None:
            for low, high, width in ((mark.low, mark.high, 1.5), (*(mark.inner or (math.nan, math.nan)), 5.0)):
                axes.hlines(i, *_finite(low, high, marks), color=tone, linewidth=width)
            axes.plot(mark.value, i, "o", color=tone, markersize=5, markeredgecolor="white")
        if mark.target is not None:
            axes.plot(mark.target, i, "|", color=INK, markersize=14, markeredgewidth=2)
    if chart.goal is not None:
        axes.axvline(chart.goal, color=INK, linestyle=":", linewidth=1.2)
    names = [_plain(f"{mark.name} ({mark.note})" if mark.note else mark.name) for mark in chart.marks]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _finite(low: float, high: float, marks: Sequence[float]) -> tuple[float, float]:
    """Ends of an interval; one that is not known is as far as the axis goes."""
    return marks[0] if low == -math.inf else low, marks[-1] if high == math.inf else high


def _lines(axes: Any, chart: Lines) -> None:
    (_, x_marks), (_, y_marks) = chart.fit()
    _dress(axes, "x", chart.x, x_marks)
    _dress(axes, "y", chart.y, y_marks)
    for line in chart.lines:
        tone, dash = _style(line.colour)
        x, y = [p[0] for p in line.points], [p[1] for p in line.points]
        axes.plot(x, y, color=tone, linestyle=dash, linewidth=1.6, label=_plain(line.name))
        if line.ranges:
            low, high = zip(*line.ranges, strict=True)
            axes.fill_between(x, low, high, color=tone, alpha=0.13, linewidth=0)
    if chart.goal is not None:
        axes.axhline(chart.goal[0], color=INK, linestyle=":", linewidth=1.2, label=_plain(chart.goal[1]))
    for at in chart.at:
        axes.axvline(at, color=SOFT, linestyle="--", linewidth=1.0)
    for a, b in chart.ends:
        axes.plot(a, b, "o", color=INK, markersize=4)
    if len(chart.lines) + (chart.goal is not None) > 1:
        axes.legend(fontsize=8, frameon=False)
