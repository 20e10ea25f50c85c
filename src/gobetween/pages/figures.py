"""Figures of runs, plans, logs and bounds as charts; each takes values and says what is to be seen."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.bound.lower_bound import Bounds, binary_kl
from gobetween.pages.charts import Axis, Line, Lines, Mark, Rows, arm, other
from gobetween.words.numbers import amount, chance, percent

if TYPE_CHECKING:
    from gobetween.core.verdict.evidence_report import ArmReport
    from gobetween.paper.trace import Trace
    from gobetween.simulation.comparison import Comparison
    from gobetween.simulation.runs import Runs

RISK = Axis("risk δ of a wrong answer", chance, log=True, down=True)
SERIES = 6  # lines in one chart


def stopping_times(results: "Mapping[str, Runs]", bounds: Mapping[str, Sequence[float]], title: str = "") -> Rows:
    """Queries for each risk and rule: mean, 80% range, middle half; a mark: the lower bound on the mean, by name or for all."""
    marks = list[Mark]()
    for d, delta in enumerate(next(iter(results.values())).deltas):
        for i, (name, runs) in enumerate(results.items()):
            low, q1, q3, high = np.quantile(runs.tau[:, d], (0.1, 0.25, 0.75, 0.9)).tolist()
            least = bounds.get(name, bounds.get("", ()))
            bound = max(least[d], 1.0) if least else None
            range_ = f"80%: {amount(low)} to {amount(high)}"
            mean = float(runs.tau[:, d].mean())
            marks.append(Mark(name, mean, low, high, (q1, q3), bound, f"δ = {chance(delta)}", range_, other(i)))
    return Rows(title, Axis("queries until the rule stops (log scale)", log=True), marks)


def ratio_to_bound(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], T_star: float, title: str = "") -> Lines:
    """Mean τ/ln(1/δ) against δ; it falls toward T*, which no rule passes as δ → 0."""
    lines = [
        Line(name, [(delta, mean / -math.log(delta)) for delta, mean in zip(deltas, means, strict=True)], other(i))
        for i, (name, (deltas, means)) in enumerate(curves.items())
    ]
    return Lines(title, RISK, Axis("mean queries / ln(1/δ) (log scale)", log=True), lines, (T_star, f"T* = {amount(T_star)}"))


def evidence(trace: "Trace", title: str = "") -> Lines:
    """Along one run: what the paper's rule and the e-process have of what each needs to stop."""
    paper, ours = trace.Z / trace.beta, trace.log_e / trace.log_limit
    lines = [
        Line(name, list(zip(trace.t.tolist(), np.maximum(0.0, shares).tolist(), strict=True)), other(i))
        for i, (name, shares) in enumerate({"the paper's rule": paper, "e-process": ours}.items())
    ]
    stops = ((trace.stopped_glr, paper), (trace.stopped_e, ours))
    ends = [(float(at), float(np.interp(at, trace.t, shares))) for at, shares in stops if at]
    return Lines(title, Axis("queries", zero=True), NEEDED, lines, (1.0, "stops"), ends=ends)


NEEDED = Axis("evidence for the leader, of what is needed", percent, zero=True)


def evidence_trail(trail: Sequence[tuple[int, float, float]], title: str = "", x_name: str = "counted answers") -> Lines:
    """Along a live study or a log: the rule's statistic as a share of its threshold."""
    points = [(0.0, 0.0), *((float(n), max(0.0, z / limit)) for n, z, limit in trail if limit > 0.0)]
    return Lines(title, Axis(x_name, zero=True), NEEDED, [Line("evidence", points, "accent")], (1.0, "sure"))


def mediator_shares(names: Sequence[str], shares: ArrayLike, omega: ArrayLike, title: str = "") -> Rows:
    """How often each mediator was asked; a mark: the share that is best."""
    return _shares(names, shares, omega, ["m0"] * len(names), title)


def arm_shares(names: Sequence[str], shares: ArrayLike, weights: ArrayLike, title: str = "", places: ArrayLike = ()) -> Rows:
    """How often each arm was pulled; a mark: πᵀω*, by mediators asked as is best. `places`: of the arms among all."""
    indices = np.asarray(places, np.int64).tolist() or list(range(len(names)))
    return _shares(names, shares, weights, [arm(a) for a in indices], title)


def _shares(names: Sequence[str], shares: ArrayLike, best: ArrayLike, colours: Sequence[str], title: str) -> Rows:
    rows = zip(names, np.asarray(shares).tolist(), np.asarray(best).tolist(), colours, strict=True)
    marks = [Mark(name, share, target=plan, more=f"best: {percent(plan)}", colour=tone) for name, share, plan, tone in rows]
    return Rows(title, Axis("share of queries", percent, zero=True), marks, bars=True)


def pulled(names: Sequence[str], shares: Sequence[float], K: int) -> Rows:
    """How often arms would be pulled; after the K arms perhaps no answer."""
    rows = [
        Mark(name, part, colour=arm(a) if a < K else "m1") for a, (name, part) in enumerate(zip(names, shares, strict=True))
    ]
    return Rows("", Axis("share of queries", percent, zero=True), rows, bars=True)


def estimates(
    arms: "Sequence[ArmReport]", means: Sequence[float] | None = None, title: str = "", text: Axis | None = None,
    places: Sequence[int] = (),
) -> Rows:  # fmt: skip
    """Estimated means with intervals that hold at all times together; a mark: the true mean."""
    axis = text or Axis("mean reward")
    marks = [
        Mark(
            one.arm, one.estimate, one.low, one.high, target=None if means is None else means[i], note=f"n = {one.pulls:,}",
            more="" if one.estimate is None else interval_words(one.low, one.high, axis), colour=arm(a),
        )
        for i, (a, one) in enumerate(zip(places or range(len(arms)), arms, strict=True))
    ]  # fmt: skip
    return Rows(title, axis, marks)


def interval_words(low: float, high: float, axis: Axis) -> str:
    """Both ends of an interval; of one that is not known three dots."""
    return " to ".join(axis.text(end) if math.isfinite(end) else "…" for end in (low, high))


def mediation_price(x: Sequence[float], curves: Mapping[str, Sequence[float]], x_name: str, title: str = "") -> Lines:
    """T*(μ, π)/T*(μ), how many times the queries of pulling arms directly, against something, for some cases."""
    lines = [Line(name, list(zip(x, ratios, strict=True)), other(i)) for i, (name, ratios) in enumerate(curves.items())]
    return Lines(title, Axis(x_name, percent), Axis("times the queries of pulling arms directly"), lines)


def mediator_worths(names: Sequence[str], without: Sequence[float], now: float, unit: str, title: str = "") -> Rows:
    """The least cost without each mediator; the line: with all. A hatched bar: some arm would never be pulled."""
    marks = [
        Mark(name, cost, said="impossible" if math.isinf(cost) else "", more="" if math.isinf(cost) else more(cost / now))
        for name, cost in zip(names, without, strict=True)
    ]
    return Rows(title, Axis(f"least expected {unit} without this mediator", zero=True), marks, bars=True, goal=now)


def more(ratio: float) -> str:
    """How much more or less something is: +14%, −2%."""
    return "no change" if abs(ratio - 1.0) < 5e-4 else f"{'+' if ratio > 1.0 else '−'}{percent(abs(ratio - 1.0))}"


def cost_by_risk(curves: Mapping[str, float], deltas: Sequence[float], unit: str, title: str = "", here: float = 0.0) -> Lines:
    """kl(δ, 1−δ) T* against δ, for each T*; a dot at the risk that is `here`."""
    lines = [
        Line(name, [(delta, binary_kl(delta) * T_star) for delta in deltas], other(i) if len(curves) > 1 else "accent")
        for i, (name, T_star) in enumerate(curves.items())
    ]
    ends = [(here, binary_kl(here) * next(iter(curves.values())))] if here else []
    return Lines(title, RISK, Axis(f"least expected {unit}", zero=len(curves) == 1, log=len(curves) > 1), lines, ends=ends)


def bound(found: Bounds, titled: bool = False) -> Rows:
    """Whom an optimal plan asks how often; a mark: its share of the cost, where mediators have costs."""
    costs = found.cost_shares.tolist() if found.unit == "cost" else [None] * found.problem.E
    marks = [
        Mark(name, share, target=cost, more="" if cost is None else f"{percent(cost)} of cost")
        for name, share, cost in zip(found.problem.mediators, found.omega.tolist(), costs, strict=True)
    ]
    title = f"T* = {amount(found.T_star)} {found.unit}" if titled else ""
    return Rows(title, Axis("share of queries", percent, zero=True), marks, bars=True)


def rule_comparison(comparison: "Comparison", title: str = "") -> Rows:
    """Queries of each pair of rules over those of the baseline, with 95% intervals; left of the line a rule needs fewer."""
    several, deltas = len(comparison.problems) > 1, list(dict.fromkeys(row.delta for row in comparison.differences))
    marks = []
    for row in comparison.differences:
        ratio, half = row.queries.ratio, row.queries.ratio_half_width
        name = f"{row.problem}: {row.rules}" if several else row.rules
        shown, note = f"± {amount(half)}" if math.isfinite(half) else "", f"δ = {chance(row.delta)}"
        marks.append(
            Mark(name, ratio, ratio - half, ratio + half, note=note, more=shown, colour=other(deltas.index(row.delta)))
        )
    return Rows(title, Axis(f"queries, as a multiple of those of {', '.join(comparison.baseline)}"), marks, goal=1.0)
