"""Small pictures in SVG for pages that work without scripts: bars, interval rows, lines. Colours come from the style sheet.

Lengths across are shares of the width: a picture fits a phone and a wide screen. No inline style, which a live page forbids.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

HIGH, NARROW = 190, 300  # pixels: the height of a chart without the labels under it; the width of a picture on a phone
Point = tuple[float, float]


@dataclass(frozen=True)
class Row:
    """An arm or a mediator in a list, with its picture."""

    name: str
    note: str
    value: str
    more: str
    picture: Markup
    kind: str = ""  # lead, out or late
    colour: int | None = None
    link: str = ""  # under the address of its study


def element(name: str, content: Markup | str = "", /, **attributes: object) -> Markup:
    """An element; `class_` is its class, an underscore stands for a hyphen."""
    said = "".join(f' {key.strip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{said}>{escape(content)}</{name}>")


def picture(parts: Iterable[Markup], height: int, words: str) -> Markup:
    """A drawing as wide as its place; `words` tell what is to be seen to those who do not see it."""
    drawn = Markup().join(parts)
    hidden = {"role": "img", "aria_label": words} if words else {"aria_hidden": "true"}
    return element("svg", drawn, width="100%", height=height, **hidden)


def across(share: float) -> str:
    """A place between the left edge (0) and the right one (1)."""
    return f"{100.0 * min(1.0, max(0.0, share)):.2f}%"


def _rect(left: float, right: float, y: int, height: int, kind: str) -> Markup:
    width = across(max(0.0, min(1.0, right) - max(0.0, left)))
    return element("rect", x=across(left), width=width, y=y, height=height, rx=height / 2, class_=kind)


def _upright(share: float, top: int, bottom: int, kind: str) -> Markup:
    return element("line", x1=across(share), x2=across(share), y1=top, y2=bottom, class_=kind)


def bar(
    share: float,
    words: str,
    tone: str = "",
    spread: tuple[float, float] | None = None,
    mark: float | None = None,
    cut: bool = False,
) -> Markup:
    """How far something is; `spread`: between which places it will end, and most likely at the `mark`; `cut`: or after it."""
    parts = [_rect(0.0, 1.0, 3, 10, "rail"), _rect(0.0, share, 3, 10, f"fill {tone}".strip())]
    if spread is not None:
        low, high = spread
        parts += [_rect(low, high, 1, 14, "range"), _upright(low, 0, 16, "tick")]
        end = _upright(min(high, 0.998), 0, 16, "tick")
        parts += [_rect(1.0 - k / 40.0, 1.0, 1, 14, "fade") for k in range(1, 6)] if cut else [end]
    parts += [] if mark is None else [_upright(min(mark, 0.998), 0, 16, "plan")]
    return picture(parts, 16, words)


def interval(low: float, at: float | None, high: float, colour: int, out: bool, words: str) -> Markup:
    """An estimate and its interval, as shares of the axis; one that is ruled out is a ring."""
    kind = f"c{colour % 8}"
    parts = [element("line", x1="0%", x2="100%", y1=11, y2=11, class_="thread"), _rect(low, high, 8, 6, f"span {kind}")]
    if at is not None:
        parts.append(element("circle", cx=across(at), cy=11, r=8, class_="halo"))
        parts.append(element("circle", cx=across(at), cy=11, r=5 if out else 6, class_=f"{kind} open" if out else kind))
    return picture(parts, 22, words)


def share(now: float, plan: float | None, most: float, words: str) -> Markup:
    """A share beside the planned one, both of the most that any row has."""
    parts = [_rect(0.0, 1.0, 5, 12, "rail"), _rect(0.0, now / most, 5, 12, "fill")]
    return picture(parts + ([] if plan is None else [_upright(min(0.998, plan / most), 1, 21, "plan")]), 22, words)


def axis(ticks: Sequence[float], scale: Callable[[float], float], text: Callable[[float], str]) -> Markup:
    """The numbers under interval rows, as many as a phone has room for."""
    shown = list(ticks)
    while len(shown) > 2 and sum(8 * len(text(tick)) + 12 for tick in shown) > NARROW:
        shown = shown[::2]
    return picture([_label(scale(tick), 13, text(tick)) for tick in shown], 16, "")


def _label(place: float, y: float, text: str, kind: str = "") -> Markup:
    anchor = "start" if place < 0.04 else "end" if place > 0.96 else "middle"
    return element("text", text, x=across(place), y=y, text_anchor=anchor, class_=kind)


def chart(
    lines: Sequence[tuple[Sequence[Point], str]],
    x_ticks: Sequence[tuple[float, str]],
    y_ticks: Sequence[tuple[float, str]],
    words: str,
    goal: tuple[float, str] | None = None,
    end: Point | None = None,
    ends: Sequence[Point] = (),
) -> Markup:
    """Lines through points whose coordinates are shares of the plot, each with the class that colours it."""
    parts = [element("line", x1="0%", x2="100%", y1=_down(y), y2=_down(y), class_="thread") for y, _ in y_ticks]
    if goal is not None:
        y = _down(goal[0])
        parts.append(element("line", x1="0%", x2="100%", y1=y, y2=y, class_="dash goal"))
        parts.append(element("text", goal[1], x="0%", y=y - 6, class_="goal"))
    paths = (element("polyline", points=_points(points), class_=f"line {kind}") for points, kind in lines)
    plot = {"width": "100%", "height": HIGH, "viewBox": f"0 0 1000 {HIGH}", "preserveAspectRatio": "none"}
    parts.append(element("svg", Markup().join(paths), **plot))
    for place in [*([] if end is None else [end]), *ends]:
        parts.append(element("circle", cx=across(place[0]), cy=_down(place[1]), r=5, class_="accent"))
    parts += [element("text", text, x="0%", y=_down(y) - 5) for y, text in y_ticks if text]
    parts += [_label(x, HIGH + 18, text) for x, text in x_ticks]
    return picture(parts, HIGH + 24, words)


def _down(share: float) -> float:
    return round(HIGH * (1.0 - share), 1)


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{1000.0 * x:.1f},{_down(y)}" for x, y in points)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from at or below the lowest value to at or above the highest."""
    if not high > low:
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    rough = (high - low) / most
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * k for k in (1.0, 2.0, 2.5, 5.0, 10.0) if size * k >= rough * (1.0 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def keys(names: Sequence[tuple[str, str]]) -> Markup:
    """Which line is whose: names and the classes that colour them."""
    drawn = [
        (element("svg", element("line", x1=0, x2=20, y1=5, y2=5, class_=f"line {kind}"), width=20, height=10), name)
        for name, kind in names
    ]
    found = (Markup("<span>{}{}</span> ").format(line, name) for line, name in drawn)
    return Markup('<p class="keys">{}</p>').format(Markup().join(found))
