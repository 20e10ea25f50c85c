"""Figures as values: rows with a mark each, or lines. `drawing` shows them on pages, `paper_figures` draws them for papers."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gobetween.pages import svg
from gobetween.words.numbers import amount

Point = tuple[float, float]
OTHERS = 6  # tones and dashes of what is not an arm


@dataclass(frozen=True)
class Axis:
    """What is measured, and how its numbers are written; `down`: the largest first; `zero`: from 0 on."""

    name: str
    text: Callable[[float], str] = amount
    log: bool = False
    down: bool = False
    zero: bool = False

    def fit(self, values: Iterable[float], most: int = 5, tight: bool = False) -> tuple[Callable[[float], float], list[float]]:
        """Where numbers lie between 0 and 1, and round numbers to name; `tight`: no room beyond the numbers."""
        known = [value for value in values if math.isfinite(value) and (value > 0.0 or not self.log)] or [1.0]
        if self.log:
            return self._fit_log(known, most)
        marks = svg.ticks(min([0.0] * self.zero + known), max(known), most)
        low, high = (min([0.0] * self.zero + known), max(known)) if tight and max(known) > min(known) else (marks[0], marks[-1])
        marks = [mark for mark in marks if low <= mark <= high]
        return lambda value: self._turned((value - low) / (high - low)), marks

    def _fit_log(self, known: Sequence[float], most: int) -> tuple[Callable[[float], float], list[float]]:
        low, high = math.log10(min(known)) - 0.03, math.log10(max(known)) + 0.03
        while not (marks := _round(low, high, most)):
            low, high = low - 0.2, high + 0.2
        return lambda value: self._turned((math.log10(max(value, 1e-300)) - low) / (high - low)), marks

    def _turned(self, share: float) -> float:
        return 1.0 - share if self.down else share


def _round(low: float, high: float, most: int) -> list[float]:
    """Powers of ten between two logarithms or, where these are few, also 2 and 5 times as much; at least two."""
    first, last = math.floor(low), math.ceil(high)
    for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
        found = [m * 10.0**p for p in range(first, last + 1) for m in steps if low <= math.log10(m * 10.0**p) <= high]
        if len(found) >= 3:
            break
    if len(found) < 2:
        return []
    shown = found[:: math.ceil(len(found) / most)]
    apart = 0.17 * (high - low)
    return [mark for i, mark in enumerate(shown) if not i or math.log10(mark / shown[i - 1]) >= apart]


@dataclass(frozen=True)
class Mark:
    """A row: a value with its range, or a bar; `target`: what it is compared with."""

    name: str
    value: float | None
    low: float = math.nan
    high: float = math.nan
    inner: tuple[float, float] | None = None
    target: float | None = None
    note: str = ""
    more: str = ""
    colour: str = "m0"
    said: str = ""  # instead of the value

    def numbers(self) -> list[float]:
        """All that the axis must hold."""
        return [x for x in (self.value, self.low, self.high, self.target) if x is not None and math.isfinite(x)]


@dataclass(frozen=True)
class Rows:
    """Named rows on one axis; `bars` from zero, or dots with intervals; `goal`: a line through all of them."""

    title: str
    axis: Axis
    marks: Sequence[Mark]
    bars: bool = False
    goal: float | None = None

    def fit(self) -> tuple[Callable[[float], float], list[float]]:
        """The scale, and the numbers to name."""
        goal = [] if self.goal is None else [self.goal]
        return self.axis.fit([x for mark in self.marks for x in mark.numbers()] + goal, 4)


@dataclass(frozen=True)
class Line:
    """A series of points, perhaps with an interval around each."""

    name: str
    points: Sequence[Point]
    colour: str
    ranges: Sequence[Point] = ()


@dataclass(frozen=True)
class Lines:
    """Lines over one axis; `goal`: a level with its name; `at`: places of x that are marked; `ends`: dots."""

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line]
    goal: tuple[float, str] | None = None
    at: Sequence[float] = ()
    ends: Sequence[Point] = ()

    def fit(self) -> tuple[tuple[Callable[[float], float], list[float]], tuple[Callable[[float], float], list[float]]]:
        """Scales and numbers to name of x and y."""
        x = [p[0] for line in self.lines for p in line.points]
        y = [p[1] for line in self.lines for p in line.points] + [
            end for line in self.lines for ends in line.ranges for end in ends
        ]
        return self.x.fit(x, 4, tight=True), self.y.fit(y + ([self.goal[0]] if self.goal else []), 4)


Chart = Rows | Lines


def arm(i: int) -> str:
    """The colour of the i-th arm, the same everywhere on a page."""
    return f"c{i % 8}"


def other(i: int) -> str:
    """How the i-th mediator, rule or case is drawn: by tone and dash."""
    return f"m{i % OTHERS}"
