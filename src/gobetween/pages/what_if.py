"""What would change the cost of a plan: each mediator's worth, a new mediator, other gaps; tables, sentences and figures."""

import math
from collections.abc import Sequence

from gobetween.core.bound.lower_bound import binary_kl
from gobetween.core.bound.what_if import Newcomer
from gobetween.pages import figures
from gobetween.pages.blocks import Block, Grid, Picture, Section, Text
from gobetween.simulation.plan import Plan

MOST_DELTAS = 3  # columns of the table of gaps
SHOWN = 20  # mediators in the table and the figure


def sections(plan: Plan, drawn: bool = False) -> list[Section]:
    """Mediators, a new one, gaps; with figures where a report is written."""
    parts = [_worths(plan, drawn), Section("A new mediator", _newcomers(plan)), _gaps(plan, drawn), _tolerances(plan)]
    return [part for part in parts if part.blocks]


def _worths(plan: Plan, drawn: bool) -> Section:
    """T* without each mediator, and at other costs."""
    most_first = sorted(plan.what_if.worths, key=lambda worth: -worth.T_without)
    rows = []
    for worth in most_first[:SHOWN]:
        asked = plan.bound.omega[worth.mediator] > 0.0
        changed = [_number(worth.T_half), _number(worth.T_twice)] if asked else ["", ""]
        without = "impossible" if worth.T_without == math.inf else _number(worth.T_without)
        rows.append([plan.problem.mediators[worth.mediator], without, *changed, f"{worth.query:.4g}"])
    if not rows:
        return Section("", [])
    header = ("mediator", "T* without it", "at half its cost", "at twice its cost", "a query is worth")
    blocks: list[Block] = [Grid(header, rows), Text(_aside(plan), "note")]
    if drawn:
        names = [plan.problem.mediators[worth.mediator] for worth in most_first[:SHOWN]]
        figure = figures.mediator_worths(names, [worth.T_without for worth in most_first[:SHOWN]], plan.bound.T_star, plan.unit)
        blocks.append(Picture("worth", figure, "T* without each mediator; a bar to the edge: an arm is then never pulled."))
    return Section("What each mediator is worth", blocks)


def _aside(plan: Plan) -> str:
    rest = len(plan.what_if.worths) - SHOWN
    more = f" The other {rest:,} change T* no more than the last one shown." if rest > 0 else ""
    return (
        "A query is worth what it costs where the plan asks for it. A mediator whom the plan does not ask would be asked only "
        f"at a cost below what its query is worth.{more}"
    )


def _newcomers(plan: Plan) -> list[Block]:
    """Which policy lowers T* most, and which one halves it."""
    best, halving, T_star = plan.what_if.best, plan.what_if.halving, plan.bound.T_star
    if plan.problem.direct:
        return []
    if best is None:
        words = [f"No new mediator lowers T* while a query costs {_price(plan, None)}."]
    else:
        what = f"The best policy of a new mediator{_price(plan, best)} is {_policy(plan, best)}"
        words = [f"{what}: T* falls to {_fall(best, T_star)}."]
    if halving is not None and best is not None and halving.cost == best.cost:
        words.append(f"To halve T*, {_policy(plan, halving)} is enough.")
    elif halving is not None:
        cost = f"{halving.cost:.4g}" if plan.problem.costs is not None else f"{halving.cost:.4g} of what one costs now"
        words.append(f"To halve T*, its queries would have to cost {cost} or less, with the policy {_policy(plan, halving)}.")
    return [Text(line) for line in words]


def _price(plan: Plan, newcomer: Newcomer | None) -> str:
    """What its query costs, as a part of the sentence."""
    costly = plan.problem.costs is not None
    if newcomer is None:
        return "as much as one of the plan does on average" if costly else "as much as now"
    return f" at a cost of {newcomer.cost:.4g} (as a query of this plan on average)" if costly else ""


def _policy(plan: Plan, newcomer: Newcomer) -> str:
    parts = [(name, float(p)) for name, p in zip(plan.problem.arms, newcomer.policy, strict=True) if p >= 0.0005]
    shown = sorted(parts, key=lambda part: -part[1])[:6]
    rest = [f"{len(parts) - len(shown)} more arms"] if len(parts) > len(shown) else []
    return ", ".join([*(f"{name} {p:.1%}" for name, p in shown), *rest])


def _fall(newcomer: Newcomer, T_star: float) -> str:
    return f"{_number(newcomer.T_star)}, {newcomer.T_star / T_star:.1%} of what it is"


def _gaps(plan: Plan, drawn: bool) -> Section:
    """T* and the least cost for each δ, if all means are closer to the best or farther from it."""
    some, known = plan.deltas[:MOST_DELTAS], [(factor, T) for factor, T in plan.what_if.gaps if not math.isnan(T)]
    rows = [[_times(factor), _number(T), *(f"{binary_kl(delta) * T:,.1f}" for delta in some)] for factor, T in known]
    blocks: list[Block] = [Grid(("gaps to the best", "T*", *(f"{plan.unit} at {delta:g}" for delta in some)), rows)]
    if drawn:
        curves = {_times(factor): T for factor, T in known}
        caption = "The least expected cost for each risk of a wrong answer, with the means as guessed and other gaps."
        blocks.append(Picture("risks", figures.cost_by_risk(curves, _risks(plan.deltas), plan.unit), caption))
    return Section("If the means are closer together or farther apart", blocks)


def _tolerances(plan: Plan) -> Section:
    """T* and the least cost for each δ, if any arm up to ε below the best will do."""
    some = plan.deltas[:MOST_DELTAS]
    rows = [
        [f"{eps:.4g}", f"{T:,.4g}", *(f"{binary_kl(delta) * T:,.1f}" for delta in some)] for eps, T in plan.what_if.tolerances
    ]
    header = ("ε", "T*", *(f"{plan.unit} at {delta:g}" for delta in some))
    return Section("If an arm at most ε below the best will do (epsilon-best)", [Grid(header, rows)] if rows else [])


def _times(factor: float) -> str:
    return "as guessed" if factor == 1.0 else f"{factor:g} times"


def _risks(deltas: Sequence[float]) -> list[float]:
    """Risks from 0.3 down to the smallest that was asked for, or 0.001."""
    low = min(0.001, *deltas)
    return [0.3 * (low / 0.3) ** (i / 24) for i in range(25)]


def _number(T: float) -> str:
    return "" if math.isnan(T) else f"{T:,.6g}" if T < 1e6 else f"{T:.6g}"
