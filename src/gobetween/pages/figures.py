"""Figures, the same in notebooks, reports and pages: each takes values and returns a Plotly figure.

Readable in grey: series differ in dash, marker or pattern as well as in tone.
"""

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.evidence import ArmReport
from gobetween.errors import GoBetweenError
from gobetween.paper.trace import Trace
from gobetween.simulation.runs import Runs

TONES = ("#14344f", "#a8571b", "#6d93ad", "#d3a76b", "#3f3f3f", "#9a9a9a")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKS = ("circle", "square", "diamond", "triangle-up", "x", "cross")
PATTERNS = ("", "/", ".", "x", "\\", "-")
INK, GRID = "#222222", "#e3e3e3"


def stopping_times(results: Mapping[str, Runs], bounds: Mapping[str, Sequence[float]], title: str = "") -> Any:
    """Distributions of τ for each risk: box = middle half, whiskers = 10% and 90%, a bar = the lower bound kl(δ, 1−δ)T*."""
    go = graph_objects()
    figure = go.Figure()
    for i, (name, runs) in enumerate(results.items()):
        low, q1, median, q3, high = np.quantile(runs.tau, (0.1, 0.25, 0.5, 0.75, 0.9), axis=0)
        figure.add_box(
            name=shown(name), y=[delta_words(delta) for delta in runs.deltas], q1=q1, median=median, q3=q3, lowerfence=low,
            upperfence=high, mean=runs.tau.mean(axis=0), orientation="h", line={"color": TONES[i % 6], "width": 1.5},
            offsetgroup=str(i), legendgroup=str(i),
        )  # fmt: skip
    for i, (name, values) in enumerate(bounds.items()):
        runs = next(iter(results.values()))
        figure.add_scatter(
            name=f"lower bound {shown(name)}".strip(), x=[max(v, 1.0) for v in values], y=[delta_words(d) for d in runs.deltas],
            mode="markers", marker={"symbol": "line-ns", "size": 22, "line": {"width": 3, "color": (INK, "#888888")[i % 2]}},
        )  # fmt: skip
    figure.update_layout(boxmode="group")
    figure.update_yaxes(autorange="reversed")
    return dress(
        figure, title, "queries until the rule stops (log scale)", "risk δ of a wrong answer", x={"type": "log", "dtick": "D2"}
    )


def ratio_to_bound(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], T_star: float, title: str = "") -> Any:
    """Mean τ/ln(1/δ) against δ; it falls toward T*, which no rule passes as δ → 0."""
    go = graph_objects()
    figure = go.Figure()
    for i, (name, (deltas, means)) in enumerate(curves.items()):
        ratios = [mean / -math.log(delta) for delta, mean in zip(deltas, means, strict=True)]
        figure.add_scatter(x=list(deltas), y=ratios, name=shown(name), mode="lines+markers", **_line(i))
    ends = [1.0, min(min(deltas) for deltas, _ in curves.values())]
    line = {"color": INK, "dash": "dot", "width": 2}
    figure.add_scatter(x=ends, y=[T_star, T_star], name=f"T* = {T_star:.4g}", mode="lines", line=line)
    decades = -math.log10(ends[1])
    x = {"type": "log", "range": [0.0, -decades - 0.2], "dtick": 1 if decades < 6 else 3, "exponentformat": "power"}
    y = {"type": "log", "dtick": "D2"}
    return dress(figure, title, "risk δ of a wrong answer", "mean queries / ln(1/δ) (log scale)", x=x, y=y)


def evidence(trace: Trace, title: str = "") -> Any:
    """Along one run: Z(t) against the paper's threshold, and ln E against ln((K−1)/δ)."""
    go = graph_objects()
    figure = go.Figure()
    figure.add_scatter(x=trace.t, y=trace.Z, name="Z(t), likelihood ratio", **_line(0, marks=False))
    figure.add_scatter(x=trace.t, y=trace.beta, name="its threshold (the paper's)", **_line(0, marks=False, dash="dot"))
    figure.add_scatter(x=trace.t, y=trace.log_e, name="ln E(t), e-process", **_line(1, marks=False))
    limit = [trace.log_limit] * len(trace.t)
    figure.add_scatter(x=trace.t, y=limit, name="its threshold (proven)", **_line(1, marks=False, dash="dot"))
    for stopped, values, i in ((trace.stopped_e, trace.log_e, 1), (trace.stopped_glr, trace.Z, 0)):
        if stopped:
            figure.add_scatter(
                x=[stopped], y=[np.interp(stopped, trace.t, values)], mode="markers+text", text=[f"stops after {stopped:,}"],
                textposition=("top left", "bottom right")[i], showlegend=False,
                marker={"size": 11, "symbol": MARKS[i], "color": TONES[i]},
            )  # fmt: skip
    return dress(figure, title, "queries t", "evidence for the leader (nats)")


def evidence_trail(trail: Sequence[tuple[int, float, float]], title: str = "") -> Any:
    """Along a live study: counted answers, the rule's statistic and its threshold."""
    go = graph_objects()
    figure = go.Figure()
    counted, statistic, threshold = zip(*trail, strict=True)
    figure.add_scatter(x=counted, y=statistic, name="evidence", **_line(0, marks=False))
    figure.add_scatter(x=counted, y=threshold, name="threshold", **_line(0, marks=False, dash="dot"))
    return dress(figure, title, "counted answers", "evidence for the leader (nats)")


def mediator_shares(names: Sequence[str], shares: ArrayLike, omega: ArrayLike, title: str = "") -> Any:
    """How often each mediator was asked, against ω*."""
    return _bars(names, shares, omega, ("asked", "optimal ω*"), title, "mediator", "share of queries")


def arm_shares(names: Sequence[str], shares: ArrayLike, weights: ArrayLike, title: str = "") -> Any:
    """How often each arm was pulled, against πᵀω*."""
    return _bars(names, shares, weights, ("pulled", "optimal πᵀω*"), title, "arm", "share of queries")


def estimates(arms: Sequence[ArmReport], means: Sequence[float] | None = None, title: str = "") -> Any:
    """Estimated means with their confidence sequences, which hold at all times together; they are not the stopping rule."""
    go = graph_objects()
    seen = [arm for arm in arms if arm.estimate is not None]
    low = [_finite(arm.estimate, arm.low) for arm in seen]
    high = [_finite(arm.estimate, arm.high) for arm in seen]
    figure = go.Figure()
    figure.add_scatter(
        x=[arm.estimate for arm in seen], y=[f"{shown(arm.arm)} (n = {arm.pulls:,})" for arm in seen], mode="markers",
        name="estimate and its confidence sequence", marker={"color": TONES[0], "size": 9},
        error_x={"type": "data", "symmetric": False, "array": high, "arrayminus": low, "color": TONES[0], "thickness": 2},
    )  # fmt: skip
    if means is not None:
        figure.add_scatter(
            x=list(means), y=[f"{shown(arm.arm)} (n = {arm.pulls:,})" for arm in arms], mode="markers", name="true mean",
            marker={"symbol": "line-ns", "size": 18, "line": {"width": 3, "color": TONES[1]}},
        )  # fmt: skip
    figure.update_yaxes(autorange="reversed")
    return dress(figure, title, "mean reward", "arm")


def mediation_price(
    x: Sequence[float], y: Sequence[float], ratios: ArrayLike, x_name: str, y_name: str, title: str = ""
) -> Any:
    """T*(μ, π)/T*(μ) over a grid [y, x]: how many times the queries of pulling arms directly."""
    go = graph_objects()
    values = np.asarray(ratios, dtype=np.float64)
    contour = go.Contour(
        x=list(x), y=list(y), z=values, colorscale="Greys", contours={"showlabels": True, "labelfont": {"size": 12}},
        line={"width": 1, "color": INK}, colorbar={"title": {"text": "price of<br>mediation"}},
    )  # fmt: skip
    return dress(go.Figure(contour), title, x_name, y_name)


def _bars(
    names: Sequence[str], observed: ArrayLike, optimal: ArrayLike, words: tuple[str, str], title: str, x_name: str, y_name: str
) -> Any:
    go = graph_objects()
    figure = go.Figure()
    for i, (word, values) in enumerate(zip(words, (observed, optimal), strict=True)):
        figure.add_bar(
            x=[shown(name) for name in names], y=np.asarray(values, dtype=np.float64), name=word,
            marker={"color": TONES[(0, 3)[i]], "line": {"color": INK, "width": 1}, "pattern": {"shape": PATTERNS[i]}},
        )  # fmt: skip
    return dress(figure, title, x_name, y_name, y={"tickformat": ".0%", "rangemode": "tozero"}, x={"type": "category"})


def _line(i: int, marks: bool = True, dash: str | None = None) -> dict[str, Any]:
    style: dict[str, Any] = {"line": {"color": TONES[i % 6], "dash": dash or DASHES[i % 6], "width": 2}}
    return style | ({"marker": {"symbol": MARKS[i % 6], "size": 7}} if marks else {"mode": "lines"})


def dress(figure: Any, title: str, x_name: str, y_name: str, x: Any = None, y: Any = None) -> Any:
    """One look for all."""
    axis = {"gridcolor": GRID, "zeroline": False, "linecolor": INK, "ticks": "outside", "automargin": True}
    figure.update_layout(
        template="none", title={"text": shown(title), "x": 0, "xref": "paper", "font": {"size": 16}} if title else None,
        font={"family": "system-ui, sans-serif", "size": 13, "color": INK}, paper_bgcolor="white", plot_bgcolor="white",
        legend={"orientation": "h", "y": -0.22, "x": 0}, margin={"l": 70, "r": 20, "t": 50 if title else 20, "b": 60},
        height=430,
    )  # fmt: skip
    figure.update_xaxes(title={"text": x_name}, **axis, **(x or {}))
    figure.update_yaxes(title={"text": y_name, "standoff": 14}, **axis, **(y or {}))
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


def delta_words(delta: float) -> str:
    """A risk on an axis."""
    return f"δ = {delta:g}"


def _finite(estimate: float | None, end: float) -> float:
    return abs(end - (estimate or 0.0)) if math.isfinite(end) else 0.0
