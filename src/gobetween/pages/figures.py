"""Figures, the same in notebooks, reports and pages: each takes values and returns a Plotly figure.

Readable in grey: series differ in dash, marker or pattern as well as in tone.
"""

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.bound.lower_bound import binary_kl
from gobetween.errors import GoBetweenError

if TYPE_CHECKING:
    from gobetween.core.verdict.evidence_report import ArmReport
    from gobetween.paper.trace import Trace
    from gobetween.simulation.runs import Runs

TONES = ("#14344f", "#a8571b", "#6d93ad", "#d3a76b", "#3f3f3f", "#9a9a9a")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKS = ("circle", "square", "diamond", "triangle-up", "x", "cross")
PATTERNS = ("", "/", ".", "x", "\\", "-")
INK, GRID, FAINT, GREY = "#222222", "#e3e3e3", "#f2f2f2", "#888888"
#: What tones become on a dark page.
DARK = dict(
    zip(
        (*TONES, INK, GRID, FAINT, GREY),
        ("#9cc4e4", "#f0a35e", "#6f9fc0", "#c79550", "#d0d0d0", "#9a9a9a", "#e6e6e6", "#3a3f46", "#24282d", "#a5a5a5"),
        strict=True,
    )
)
LINE, LINES = 22, 3  # letters on a line of a name beside an axis, and lines
SERIES = 6  # that differ in tone and dash


def stopping_times(results: "Mapping[str, Runs]", bounds: Mapping[str, Sequence[float]], title: str = "") -> Any:
    """Distributions of τ for each risk: box = middle half, whiskers = 10% and 90%, a bar = the lower bound kl(δ, 1−δ)T*."""
    go = graph_objects()
    figure = go.Figure()
    spread = [max(v, 1.0) for values in bounds.values() for v in values]
    for i, (name, runs) in enumerate(results.items()):
        low, q1, median, q3, high = np.quantile(runs.tau, (0.1, 0.25, 0.5, 0.75, 0.9), axis=0)
        figure.add_box(
            name=label(name), y=[delta_words(delta) for delta in runs.deltas], q1=q1, median=median, q3=q3, lowerfence=low,
            upperfence=high, mean=runs.tau.mean(axis=0), orientation="h", line={"color": TONES[i % 6], "width": 1.5},
            offsetgroup=str(i), legendgroup=str(i),
        )  # fmt: skip
        spread += [float(low.min()), float(high.max())]
    for i, (name, values) in enumerate(bounds.items()):
        runs = next(iter(results.values()))
        figure.add_scatter(
            name=f"lower bound {label(name)}".strip(), x=[max(v, 1.0) for v in values], y=[delta_words(d) for d in runs.deltas],
            mode="markers", marker={"symbol": "line-ns", "size": 22, "line": {"width": 3, "color": (INK, GREY)[i % 2]}},
        )  # fmt: skip
    figure.update_layout(boxmode="group")
    figure.update_yaxes(autorange="reversed")
    rows = len(results) * max((len(runs.deltas) for runs in results.values()), default=0)
    names = "queries until the rule stops (log scale)", "risk δ of a wrong answer"
    return dress(figure, title, *names, x=log_axis(spread), rows=rows)


def ratio_to_bound(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], T_star: float, title: str = "") -> Any:
    """Mean τ/ln(1/δ) against δ; it falls toward T*, which no rule passes as δ → 0."""
    go = graph_objects()
    figure = go.Figure()
    spread = [T_star]
    for i, (name, (deltas, means)) in enumerate(curves.items()):
        ratios = [mean / -math.log(delta) for delta, mean in zip(deltas, means, strict=True)]
        figure.add_scatter(x=list(deltas), y=ratios, name=label(name), mode="lines+markers", **line_style(i))
        spread += ratios
    ends = [1.0, min(min(deltas) for deltas, _ in curves.values())]
    line = {"color": INK, "dash": "dot", "width": 2}
    figure.add_scatter(x=ends, y=[T_star, T_star], name=f"T* = {T_star:.4g}", mode="lines", line=line)
    x = log_axis(ends)
    x["range"].reverse()
    return dress(figure, title, "risk δ of a wrong answer", "mean queries / ln(1/δ) (log scale)", x=x, y=log_axis(spread))


def evidence(trace: "Trace", title: str = "") -> Any:
    """Along one run: Z(t) against the paper's threshold, and ln E against ln((K−1)/δ)."""
    go = graph_objects()
    figure = go.Figure()
    figure.add_scatter(x=trace.t, y=trace.Z, name="Z(t), likelihood ratio", **line_style(0, marks=False))
    figure.add_scatter(x=trace.t, y=trace.beta, name="its threshold (the paper's)", **line_style(0, marks=False, dash="dot"))
    figure.add_scatter(x=trace.t, y=trace.log_e, name="ln E(t), e-process", **line_style(1, marks=False))
    limit = [trace.log_limit] * len(trace.t)
    figure.add_scatter(x=trace.t, y=limit, name="its threshold (proven)", **line_style(1, marks=False, dash="dot"))
    for stopped, values, i in ((trace.stopped_e, trace.log_e, 1), (trace.stopped_glr, trace.Z, 0)):
        if stopped:
            figure.add_scatter(
                x=[stopped], y=[np.interp(stopped, trace.t, values)], mode="markers+text", text=[f"stops after {stopped:,}"],
                textposition=("top left", "bottom right")[i], showlegend=False,
                marker={"size": 11, "symbol": MARKS[i], "color": TONES[i]},
            )  # fmt: skip
    return dress(figure, title, "queries t", "evidence for the leader (nats)")


def evidence_trail(trail: Sequence[tuple[int, float, float]], title: str = "", x_name: str = "counted answers") -> Any:
    """Along a live study or a log: counted answers, the rule's statistic and its threshold."""
    go = graph_objects()
    figure = go.Figure()
    place, statistic, threshold = zip(*trail, strict=True)
    figure.add_scatter(x=place, y=statistic, name="evidence", **line_style(0, marks=False))
    figure.add_scatter(x=place, y=threshold, name="threshold", **line_style(0, marks=False, dash="dot"))
    return dress(figure, title, x_name, "evidence for the leader (nats)", x={"dtick": 1} if max(place) < 10 else {})


def mediator_shares(names: Sequence[str], shares: ArrayLike, omega: ArrayLike, title: str = "") -> Any:
    """How often each mediator was asked, against ω*."""
    return _bars(names, shares, omega, ("asked", "optimal ω*"), title, "mediator", "share of queries")


def arm_shares(names: Sequence[str], shares: ArrayLike, weights: ArrayLike, title: str = "") -> Any:
    """How often each arm was pulled, against πᵀω*."""
    return _bars(names, shares, weights, ("pulled", "optimal πᵀω*"), title, "arm", "share of queries")


def estimates(arms: "Sequence[ArmReport]", means: Sequence[float] | None = None, title: str = "") -> Any:
    """Estimated means with their confidence sequences, which hold at all times together; they are not the stopping rule."""
    go = graph_objects()
    seen = [arm for arm in arms if arm.estimate is not None]
    low = [_finite(arm.estimate, arm.low) for arm in seen]
    high = [_finite(arm.estimate, arm.high) for arm in seen]
    figure = go.Figure()
    places = {arm.arm: i for i, arm in enumerate(arms)}
    figure.add_scatter(
        x=[arm.estimate for arm in seen], y=[places[arm.arm] for arm in seen], mode="markers",
        hovertext=[shown(arm.arm) for arm in seen],
        name="estimate and its confidence sequence", marker={"color": TONES[0], "size": 9},
        error_x={"type": "data", "symmetric": False, "array": high, "arrayminus": low, "color": TONES[0], "thickness": 2},
    )  # fmt: skip
    if means is not None:
        figure.add_scatter(
            x=list(means), y=list(range(len(arms))), mode="markers", name="true mean",
            marker={"symbol": "line-ns", "size": 18, "line": {"width": 3, "color": TONES[1]}},
        )  # fmt: skip
    names = [label(arm.arm, f" (n\u00a0=\u00a0{arm.pulls:,})") for arm in arms]
    return dress(figure, title, "mean reward", "arm", y=named_axis(names), rows=_lines(names))


def mediation_price(
    x: Sequence[float], y: Sequence[float], ratios: ArrayLike, x_name: str, y_name: str, title: str = ""
) -> Any:
    """T*(μ, π)/T*(μ) over a grid [y, x]: how many times the queries of pulling arms directly."""
    go = graph_objects()
    values = np.asarray(ratios, dtype=np.float64)
    contour = go.Contour(
        x=list(x), y=list(y), z=values, colorscale="Greys",
        contours={"showlabels": True, "labelfont": {"size": 12, "color": "#000000"}},
        line={"width": 1, "color": "#333333"},
        colorbar={"title": {"text": "price of<br>mediation"}, "thickness": 18, "exponentformat": "none"},
    )  # fmt: skip
    return dress(go.Figure(contour), title, x_name, y_name)


def mediator_worths(names: Sequence[str], T_without: Sequence[float], T_star: float, unit: str, title: str = "") -> Any:
    """T* without each mediator, beside T* with all; a bar to the edge where an arm is then never pulled."""
    go = graph_objects()
    known = [T for T in T_without if math.isfinite(T)]
    edge = 1.5 * max([T_star, *known])
    figure = go.Figure()
    figure.add_bar(
        y=list(range(len(names))), x=[min(T, edge) for T in T_without], name="T* without it", orientation="h",
        text=["impossible" if math.isinf(T) else "" for T in T_without], textposition="inside",
        hovertext=[shown(name) for name in names],
        marker={"color": TONES[3], "line": {"color": INK, "width": 1},
                "pattern": {"shape": ["/" if math.isinf(T) else "" for T in T_without]}},
    )  # fmt: skip
    line = {"color": INK, "dash": "dash", "width": 2}
    ends = [-0.5, len(names) - 0.5]
    figure.add_scatter(x=[T_star, T_star], y=ends, name="T* with all mediators", mode="lines", line=line)
    labels = [label(name) for name in names]
    x = {"range": [0.0, edge]}
    return dress(
        figure, title, f"T* ({unit})", "mediator", x=x, y=named_axis(labels), rows=max(_lines(labels), 2 * len(labels))
    )


def cost_by_risk(curves: Mapping[str, float], deltas: Sequence[float], unit: str, title: str = "") -> Any:
    """kl(δ, 1−δ) T* against δ, for each T*."""
    go = graph_objects()
    figure = go.Figure()
    for i, (name, T_star) in enumerate(curves.items()):
        least = [binary_kl(delta) * T_star for delta in deltas]
        figure.add_scatter(x=list(deltas), y=least, name=label(name), **line_style(i, marks=False))
    x = log_axis(deltas)
    x["range"].reverse()
    spread = [binary_kl(delta) * T for T in curves.values() for delta in (min(deltas), max(deltas))]
    return dress(figure, title, "risk δ of a wrong answer", f"least expected {unit} (log scale)", x=x, y=log_axis(spread))


def _bars(
    names: Sequence[str], observed: ArrayLike, optimal: ArrayLike, words: tuple[str, str], title: str, x_name: str, y_name: str
) -> Any:
    go = graph_objects()
    figure = go.Figure()
    for i, (word, values) in enumerate(zip(words, (observed, optimal), strict=True)):
        figure.add_bar(
            y=list(range(len(names))), x=np.asarray(values, dtype=np.float64), name=word, orientation="h",
            hovertext=[shown(name) for name in names],
            marker={"color": TONES[(0, 3)[i]], "line": {"color": INK, "width": 1}, "pattern": {"shape": PATTERNS[i]}},
        )  # fmt: skip
    figure.update_layout(bargap=0.35, legend={"traceorder": "normal"})
    labels = [label(name) for name in names]
    x = {"tickformat": ".0%", "rangemode": "tozero"}
    return dress(figure, title, y_name, x_name, x=x, y=named_axis(labels), rows=max(_lines(labels), 2 * len(labels)))


def line_style(i: int, marks: bool = True, dash: str | None = None) -> dict[str, Any]:
    """How the i-th series is drawn: by tone, dash and marker."""
    style: dict[str, Any] = {"line": {"color": TONES[i % 6], "dash": dash or DASHES[i % 6], "width": 2}}
    return style | ({"marker": {"symbol": MARKS[i % 6], "size": 7}} if marks else {"mode": "lines"})


def dress(figure: Any, title: str, x_name: str, y_name: str, x: Any = None, y: Any = None, rows: int = 0) -> Any:
    """One style for all; as high as so many rows of text need. Title and legend keep clear of the axes, however long."""
    axis = {
        "gridcolor": GRID, "zeroline": False, "linecolor": INK, "ticks": "outside", "automargin": True,
        "exponentformat": "none", "separatethousands": True,
    }  # fmt: skip
    heading = {"text": shown(title), "x": 0, "xref": "paper", "font": {"size": 16}, "automargin": True, "yref": "container"}
    legend = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "xref": "container"}
    figure.update_layout(
        template="none", title=heading if title else None, legend=legend, height=max(430, 150 + 19 * rows),
        font={"family": "system-ui, sans-serif", "size": 13, "color": INK}, paper_bgcolor="white", plot_bgcolor="white",
        margin={"l": 50, "r": 20, "t": 50 if title else 20, "b": 50},
    )  # fmt: skip
    figure.update_xaxes(title={"text": x_name}, **axis | (x or {}))
    figure.update_yaxes(title={"text": y_name, "standoff": 14}, **axis | (y or {}))
    return figure


def graph_objects() -> Any:
    """The part of Plotly that draws."""
    try:
        import plotly.graph_objects as go
    except ImportError:
        raise GoBetweenError("figures need plotly: pip install 'gobetween[plots]'") from None
    return go


def shown(name: str) -> str:
    """Names as they are: Plotly would read tags."""
    return html.escape(name, quote=False)


def label(name: str, more: str = "") -> str:
    """A name beside an axis or in a legend: on a few short lines, its middle left out where it is very long."""
    room = LINE * LINES - len(more)
    short = name if len(name) <= room else f"{name[: room // 2]}…{name[len(name) - room // 2 + 1 :]}"
    own = short if short.isascii() or not more else f"\u2068{short}\u2069"  # what it says of direction ends with it
    return "<br>".join(shown(line) for line in wrap(own + more, LINE)) or shown(name + more)


def _lines(labels: Sequence[str]) -> int:
    """Lines that labels take, with a space after each."""
    return sum(text.count("<br>") + 2 for text in labels)


def named_axis(labels: Sequence[str]) -> dict[str, Any]:
    """Names from top to bottom, at the places 0, 1, 2 …"""
    places = {"tickvals": list(range(len(labels))), "range": [len(labels) - 0.5, -0.5]}
    return {"tickmode": "array", "ticktext": list(labels), **places}


def log_axis(values: Iterable[float]) -> dict[str, Any]:
    """A log scale that says 10, 100, 1,000, at least two of them; the lines between have no names."""
    logs = [math.log10(value) for value in values if 0.0 < value < math.inf] or [0.0]
    low, high = min(logs) - 0.06, max(logs) + 0.06
    while math.floor(high) - math.ceil(low) < 1:
        below, above = math.ceil(low) - 1, math.floor(high) + 1
        low, high = (below, high) if low - below < above - high else (low, above)
    powers = range(math.ceil(low), math.floor(high) + 1)
    named = powers[:: math.ceil(len(powers) / 7)]
    between = [m * 10.0**p for p in range(math.floor(low), powers[-1] + 1) for m in range(2, 10)]
    return {
        "type": "log", "range": [low, high], "tickmode": "array", "tickvals": [10.0**p for p in named],
        "ticktext": [power_words(p) for p in named], "minor": {"tickvals": between, "showgrid": True, "gridcolor": FAINT},
    }  # fmt: skip


def power_words(p: int) -> str:
    """A power of ten as it is read: 0.01, 100, 1,000; far from 1 as it is typed, 1e-6."""
    return f"{10**p:,}" if 0 <= p <= 12 else f"{10.0**p:.{-p}f}" if -4 <= p < 0 else f"1e{p}"


def delta_words(delta: float) -> str:
    """A risk on an axis."""
    return f"δ = {delta:g}"


def _finite(estimate: float | None, end: float) -> float:
    return abs(end - (estimate or 0.0)) if math.isfinite(end) else 0.0
