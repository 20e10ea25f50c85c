"""What would change the cost of a plan: each mediator's worth, a new mediator, other gaps; tables, sentences and figures."""

import math
from collections.abc import Sequence

from gobetween.core.bound.lower_bound import binary_kl
from gobetween.pages import figures
from gobetween.pages.blocks import Block, Grid, Picture, Section, Text
from gobetween.simulation.plan import Plan
from gobetween.words import plan as words
from gobetween.words.numbers import amount, chance

MOST_DELTAS = 3  # columns of the table of gaps
SHOWN = 20  # mediators in the table and the figure


def sections(plan: Plan, drawn: bool = False) -> list[Section]:
    """Mediators, a new one, gaps; with figures where a report is written."""
    newcomers = Section("A new mediator", [Text(line) for line in words.newcomer_words(plan)])
    return [part for part in (_worths(plan, drawn), newcomers, _gaps(plan, drawn), _tolerances(plan)) if part.blocks]


def _worths(plan: Plan, drawn: bool) -> Section:
    """The least for the first risk without each mediator, and at other costs."""
    most_first = sorted(plan.what_if.worths, key=lambda worth: -worth.T_without)
    scale, rows = binary_kl(plan.deltas[0]), []
    for worth in most_first[:SHOWN]:
        asked = plan.bound.omega[worth.mediator] > 0.0
        changed = [_number(scale * worth.T_half), _number(scale * worth.T_twice)] if asked else ["", ""]
        without = "impossible" if worth.T_without == math.inf else _number(scale * worth.T_without)
        rows.append([plan.problem.mediators[worth.mediator], without, *changed, amount(worth.query)])
    if not rows:
        return Section("", [])
    header = ("mediator", f"{plan.unit} without it", "at half its cost", "at twice its cost", "a query is worth")
    blocks: list[Block] = [Grid(header, rows), Text(words.more_worths(len(plan.what_if.worths) - SHOWN), "note")]
    if drawn:
        names = [plan.problem.mediators[worth.mediator] for worth in most_first[:SHOWN]]
        least = [scale * worth.T_without for worth in most_first[:SHOWN]]
        figure = figures.mediator_worths(names, least, plan.bound.cost(plan.deltas[0]), plan.unit)
        blocks.insert(0, Picture("worth", figure, words.WITHOUT))
    return Section(f"What each mediator is worth, for a risk of {chance(plan.deltas[0])}", blocks)


def _gaps(plan: Plan, drawn: bool) -> Section:
    """The least for each δ, if all means are closer to the best or farther from it."""
    known = [(factor, T) for factor, T in plan.what_if.gaps if not math.isnan(T)]
    rows = [[words.gap_words(factor), *_least(plan, T)] for factor, T in known]
    blocks: list[Block] = [Grid(("gaps to the best", *_columns(plan)), rows)]
    if drawn:
        curves = {words.gap_words(factor): T for factor, T in known}
        blocks.append(Picture("gaps", figures.cost_by_risk(curves, risks(plan.deltas), plan.unit), words.OTHER_GAPS))
    return Section("If the means are closer together or farther apart", blocks)


def _tolerances(plan: Plan) -> Section:
    """The least for each δ, if any arm up to ε below the best will do."""
    rows = [[amount(eps), *_least(plan, T)] for eps, T in plan.what_if.tolerances]
    title = "If an arm at most ε below the best will do (epsilon-best)"
    return Section(title, [Grid(("ε", *_columns(plan)), rows)] if rows else [])


def _columns(plan: Plan) -> list[str]:
    return [f"{plan.unit} for {chance(delta)}" for delta in plan.deltas[:MOST_DELTAS]]


def _least(plan: Plan, T_star: float) -> list[str]:
    return [amount(binary_kl(delta) * T_star) for delta in plan.deltas[:MOST_DELTAS]]


def risks(deltas: Sequence[float]) -> list[float]:
    """Risks from 0.3 down to the smallest that was asked for, or 0.001."""
    low = min(0.001, *deltas)
    return [0.3 * (low / 0.3) ** (i / 24) for i in range(25)]


def _number(least: float) -> str:
    return "" if math.isnan(least) else amount(least)
