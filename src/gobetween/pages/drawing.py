"""Charts on a page: rows with a small picture each, or lines, in SVG that takes its colours from the style sheet."""

import math
from collections.abc import Callable

from markupsafe import Markup

from gobetween.pages import svg
from gobetween.pages.charts import Chart, Line, Lines, Mark, Rows
from gobetween.pages.svg import Row, across, element
from gobetween.pages.templates import environment

Scale = Callable[[float], float]


def drawn(chart: Chart) -> Markup:
    """The chart as markup."""
    return _rows(chart) if isinstance(chart, Rows) else _lines(chart)


def _rows(chart: Rows) -> Markup:
    scale, ticks = chart.fit()
    made = environment().get_template("ui.html").module
    rows = Markup().join(made.row(_row(mark, chart, scale)) for mark in chart.marks)  # type: ignore[attr-defined]  # a macro
    axis = svg.axis(ticks, scale, chart.axis.text)
    name = Markup('<p class="axis-name">{}</p>').format(chart.axis.name)
    return Markup('<ul class="rows">{}<li class="axis" aria-hidden="true">{}</li></ul>{}').format(rows, axis, name)


def _row(mark: Mark, chart: Rows, scale: Scale) -> Row:
    text = chart.axis.text
    said = mark.said or ("–" if mark.value is None else text(mark.value))
    words = f"{mark.name}: {said}" + (f", {mark.more}" if mark.more else "")
    parts = _bar(mark, scale) if chart.bars else _interval(mark, scale)
    places = [(mark.target, "plan"), (chart.goal, "goal-mark")]
    parts += [
        element("line", x1=across(scale(at)), x2=across(scale(at)), y1=1, y2=21, class_=kind)
        for at, kind in places
        if at is not None
    ]
    return Row(mark.name, mark.note, said, mark.more, svg.picture(parts, 22, words))


def _rect(low: float, high: float, y: int, height: int, kind: str) -> Markup:
    low, high = max(0.0, min(1.0, low)), max(0.0, min(1.0, high))
    return element("rect", x=across(low), width=across(high - low), y=y, height=height, rx=min(3, height / 2), class_=kind)


def _bar(mark: Mark, scale: Scale) -> list[Markup]:
    end = 0.0 if mark.value is None else 1.0 if math.isinf(mark.value) else scale(mark.value)
    kind = f"{mark.colour} hatched" if mark.value == math.inf else mark.colour
    return [_rect(0.0, 1.0, 5, 12, "rail"), _rect(0.0, end, 5, 12, kind)]


def _interval(mark: Mark, scale: Scale) -> list[Markup]:
    parts = [element("line", x1="0%", x2="100%", y1=11, y2=11, class_="thread")]
    if mark.value is None:
        return parts
    low, high = (mark.low if math.isfinite(mark.low) else -math.inf), (mark.high if math.isfinite(mark.high) else math.inf)
    if not (math.isnan(mark.low) and math.isnan(mark.high)):
        ends = 0.0 if math.isinf(low) else scale(low), 1.0 if math.isinf(high) else scale(high)
        parts.append(_rect(*ends, 8, 6, f"span {mark.colour}"))
    if mark.inner is not None:
        parts.append(_rect(scale(mark.inner[0]), scale(mark.inner[1]), 6, 10, f"span {mark.colour}"))
    at = across(scale(mark.value))
    return [
        *parts,
        element("circle", cx=at, cy=11, r=7, class_="halo"),
        element("circle", cx=at, cy=11, r=5, class_=mark.colour),
    ]


def _lines(chart: Lines) -> Markup:
    (x, x_ticks), (y, y_ticks) = chart.fit()
    drawn = [([(x(a), y(b)) for a, b in line.points], line.colour) for line in chart.lines]
    bands = [([(x(a), y(b)) for a, b in _band(line)], f"band {line.colour}") for line in chart.lines if line.ranges]
    marks = [([(x(at), 0.0), (x(at), 1.0)], "dash ink") for at in chart.at]
    goal = None if chart.goal is None else (y(chart.goal[0]), chart.goal[1])
    ends = [(x(a), y(b)) for a, b in chart.ends]
    free = [tick for tick in y_ticks if 0.0 <= y(tick) < 0.97 and (goal is None or abs(y(tick) - goal[0]) > 0.07)]
    words = f"{chart.y.name} by {chart.x.name}: " + "; ".join(
        f"{line.name} ends at {chart.y.text(line.points[-1][1])}" for line in chart.lines if line.points
    )
    picture = svg.chart(
        [*bands, *drawn, *marks],
        [(x(tick), chart.x.text(tick)) for tick in x_ticks if -0.01 <= x(tick) <= 1.01],
        [(y(tick), chart.y.text(tick)) for tick in free],
        words, goal, ends=ends,
    )  # fmt: skip
    names = Markup('<p class="axis-name">{}</p>').format
    keys = svg.keys([(line.name, line.colour) for line in chart.lines]) if len(chart.lines) > 1 else Markup()
    return keys + names(chart.y.name) + picture + names(chart.x.name)


def _band(line: Line) -> list[tuple[float, float]]:
    """Around an interval at each point: the upper ends there, the lower ends back."""
    places = [p[0] for p in line.points]
    upper = [(at, high) for at, (_, high) in zip(places, line.ranges, strict=True)]
    return upper + [(at, low) for at, (low, _) in zip(places, line.ranges, strict=True)][::-1]
