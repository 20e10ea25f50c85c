"""The page of a plan: what an experiment needs at least, whom to ask, who is not needed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gobetween.export import listed, numbered
from gobetween.pages import svg, what_if
from gobetween.pages.blocks import Block, Grid, Section, Text
from gobetween.pages.svg import Row
from gobetween.simulation.plan import Plan, QuestionPlan
from gobetween.words.numbers import amount, chance, rough
from gobetween.words.verdict import family_words, question_words

BAR = 16
MOST_DELTAS = 3  # columns of expected queries


def title_of(title: str, plan: Plan | QuestionPlan) -> str:
    """The file's title, or the size of the problem."""
    return title or f"{numbered(plan.problem.K, 'arm')}, {numbered(plan.problem.E, 'mediator')}"


def sections(plan: Plan | QuestionPlan, drawn: bool = False) -> list[Section]:
    """Facts, targets, mediators, arms, what would change the cost, notes; with figures where a report is written."""
    if isinstance(plan, QuestionPlan):
        return question_sections(plan)
    if plan.bound.status == "tie":
        names = " and ".join(plan.best_arms)
        return [Section("", [Text(f"{names} share the best mean: no number of queries can tell which is best (T* = ∞).")])]
    parts = [Section("", _facts(plan)), _targets(plan), _mediators(plan), _arms(plan)]
    return [part for part in (*parts, *what_if.sections(plan, drawn), Section("", _notes(plan))) if part.blocks]


def question_sections(plan: QuestionPlan) -> list[Section]:
    """The same for another question than the best arm."""
    bound = plan.bound
    if bound.status == "tie":
        return [Section("", [Text(f"Means tie where the question {question_words(bound.question)} asks: T* = ∞.")])]
    facts = [
        ("Rewards", family_words(plan.problem.family)),
        ("Question", question_words(bound.question)),
        ("Answer", f"{bound.question.sentence(plan.answer)} (by the means in the file)"),
        ("Hardest", " against ".join(plan.hardest)),
        ("T*", f"{bound.T_star:.6g} {plan.unit} for each unit of kl(δ, 1−δ) ≈ ln(1/δ)"),
    ]
    first = Section("", [Grid((), facts), *map(Text, _supported(plan))])
    parts = [first, _targets(plan), _mediators(plan), _arms(plan)]
    return [part for part in parts if part.blocks]


def _facts(plan: Plan) -> list[Block]:
    bound = plan.bound
    facts = [
        ("Rewards", family_words(plan.problem.family)),
        ("Best arm", f"{plan.best_arms[0]} (by the means in the file)"),
        ("Hardest rival", plan.problem.arms[plan.hardest_rival]),
        ("T*", f"{bound.T_star:.6g} {plan.unit} for each unit of kl(δ, 1−δ) ≈ ln(1/δ)"),
        ("Price of mediation", _price(plan)),
    ]
    blocks: list[Block] = [Grid((), facts), *map(Text, _supported(plan))]
    if bound.is_proxy:
        blocks.append(Text("Rewards are only known to be bounded: T* is a proxy that guides planning, not a lower bound."))
    if bound.status == "inexact":
        blocks.append(Text(f"T* lies between {bound.T_lower:.9g} and {bound.T_upper:.9g}: true, but wider than asked for."))
    return blocks


def _price(plan: Plan) -> str:
    aside = "" if plan.problem.costs is None else " (costs aside)"
    if plan.problem.direct:
        return "none: arms are pulled directly"
    if plan.price.is_free:
        return f"none: the mediators can play the best direct allocation{aside}"
    return f"{plan.price.ratio:.4g} times the queries of pulling arms directly{aside}"


def _targets(plan: Plan | QuestionPlan) -> Section:
    costly = plan.unit == "cost"
    what = "cost" if costly else "number of queries"
    heading = f"Expected {what}, roughly" if plan.bound.is_proxy else f"Least expected {what}: no method does better on average"
    rows = []
    for delta in plan.deltas:
        cost = [f"{plan.bound.cost(delta):,.2f}"] if costly else []
        rows.append([f"{delta:g}", *cost, f"{plan.bound.queries(delta):,.1f}", *_ends(plan, delta)])
    columns = ["cost", "queries it pays for"] if costly else ["queries"]
    ends = [f"{what}, best case", "worst case"] if plan.supported else []
    return Section(heading, [Grid(["delta (risk of a wrong answer)", *columns, *ends], rows)])


def _ends(plan: Plan | QuestionPlan, delta: float) -> list[str]:
    """The least and the largest expected cost that unknown policies leave possible; none where all are known."""
    if plan.supported is None:
        return []
    scale = plan.bound.cost(delta) / plan.bound.T_star
    ends = scale * plan.supported.T_best, scale * plan.supported.T_without
    return [f"{end:,.1f}" if math.isfinite(end) else "no limit" for end in ends]


def _mediators(plan: Plan | QuestionPlan) -> Section:
    if plan.problem.direct:
        return Section("", [])
    costly, some = plan.problem.costs is not None, plan.deltas[:MOST_DELTAS]
    rows = []
    for e, name in enumerate(plan.problem.mediators):
        share = float(plan.bound.omega[e])
        cost = [f"{plan.bound.cost_shares[e]:.2%}"] if costly else []
        counts = [f"{share * plan.bound.queries(delta):,.1f}" for delta in some]
        rows.append([name, f"{share:.2%}", *cost, *counts, _bar(share)])
    columns = ["share of queries", *(["share of cost"] if costly else []), *(f"at {delta:g}" for delta in some)]
    return Section("How often to ask each mediator", [Grid(["mediator", *columns, ""], rows)])


def _arms(plan: Plan | QuestionPlan) -> Section:
    rows = []
    for a, name in enumerate(plan.problem.arms):
        share = float(plan.bound.arm_weights[a])
        rows.append([name, f"{plan.problem.means[a]:.10g}", f"{share:.2%}", _bar(share)])
    if plan.problem.silent:
        share = max(0.0, 1.0 - float(plan.bound.arm_weights.sum()))
        rows.append(["(no answer)", "", f"{share:.2%}", _bar(share)])
    heading = "What to pull" if plan.problem.direct else "What they will pull"
    return Section(heading, [Grid(("arm", "mean", "share of queries", ""), rows)])


def _notes(plan: Plan) -> list[Block]:
    names, needless = plan.problem.mediators, {item.mediator for item in plan.redundant}
    lines: list[str] = []
    if any(plan.bound.omega[e] == 0.0 for e in range(plan.problem.E) if e not in needless):
        lines.append("A mediator at 0% is not asked if the means are as in the file; with other means it may be.")
    for item in plan.redundant:
        others = [(names[e], float(w)) for e, w in enumerate(item.weights) if w > 0.0]
        mixture = " + ".join(f"{w:.3g} × {name}" for name, w in others)
        why = {
            "duplicate": f"the same as {others[0][0] if others else 'none'}",
            "mixture": f"the same as {mixture}",
            "dominated": f"a query is worth no more than {mixture}, which costs no more" if others else "never pulls an arm",
        }[item.reason]
        lines.append(f"Not needed, whatever the means: {names[item.mediator]} ({why})")
    if not needless and not plan.problem.direct:
        lines.append("No mediator is superfluous for all means.")
    return [Text(line) for line in lines]


def _supported(plan: Plan | QuestionPlan, counts: str = "T*", scale: float = 1.0) -> list[str]:
    """What is not known of some mediators, what the plan takes in its place, and between what T* lies, or `scale` times T*."""
    found, problem = plan.supported, plan.problem
    if found is None:
        return []
    one, who = len(found.mediators) == 1, listed([problem.mediators[e] for e in found.mediators])
    each, theirs, it = ("it", "its policy is", "it") if one else ("each", "their policies are", "them")
    most = f"at most {scale * found.T_without:.6g} (as without {it})"
    if math.isinf(found.T_without):
        most = "has no upper limit: mediators of known policy do not pull every arm"
    least = f"{counts} is at least {scale * found.T_best:.6g} (the best case)"
    assumed = (
        f"How often {who} {'chooses' if one else 'choose'} each arm is not known: this plan is as if {each} chose uniformly"
    )
    return [f"{assumed} among the arms that it may pull. Whatever {theirs}, {least} and {most}."]


def _bar(share: float) -> str:
    return "█" * round(BAR * share)


@dataclass(frozen=True)
class CostPage:
    """What a study would cost, at a glance: for the risk that is asked for, for others, and by mediators."""

    headline: str
    texts: Sequence[str]
    curve: str = ""
    caption: str = ""
    mediators: Sequence[Row] = ()


def cost_page(plan: Plan) -> CostPage:
    """Read a plan."""
    if plan.bound.status == "tie":
        return CostPage(f"{listed(plan.best_arms)} share the best mean: no number of queries can tell which is best", [])
    delta, bound = plan.deltas[0], plan.bound
    queries, costly = bound.queries(delta), plan.unit == "cost" and bound.cost(delta) != bound.queries(delta)
    cost = f", cost {rough(bound.cost(delta)):,}" if costly else ""
    texts = ["This is the least that any method needs on average if your guesses are right; expect up to twice as much."]
    texts += _supported(
        plan, f"the least expected {'cost' if costly else 'number of queries'}", bound.cost(delta) / bound.T_star
    )
    if not plan.problem.direct and not plan.price.is_free:
        texts.append(f"Acting through mediators takes {plan.price.ratio:.2g} times the queries of choosing directly.")
    return CostPage(
        f"At least {rough(queries):,} queries{cost} for a risk of {chance(delta)}",
        texts,
        _curve(plan, delta),
        f"Least expected {plan.unit} for each risk of a wrong answer; half the risk costs little more.",
        () if plan.problem.direct else _asked(plan),
    )


def _curve(plan: Plan, delta: float) -> str:
    """The cost against δ, which falls toward the right on a logarithmic axis."""
    ends = -math.log10(0.3), max(3.0, -math.log10(delta) + 0.5)

    def cost(x: float) -> float:
        return plan.bound.cost(10.0**-x)

    top = 1.15 * cost(ends[1])
    points = [((x - ends[0]) / (ends[1] - ends[0]), cost(x) / top) for x in np.linspace(*ends, 60).tolist()]
    risks = [risk for risk in (0.2, 0.05, 0.01, 1e-3, 1e-4, 1e-6, 1e-9) if -math.log10(risk) <= ends[1]]
    x_ticks = [((-math.log10(risk) - ends[0]) / (ends[1] - ends[0]), chance(risk)) for risk in risks]
    y_ticks = [(y / top, amount(y)) for y in svg.ticks(0.0, top, 4) if 0.0 < y < 0.97 * top]
    here = ((-math.log10(delta) - ends[0]) / (ends[1] - ends[0]), cost(-math.log10(delta)) / top)
    words = f"The least expected {plan.unit} grows from {amount(cost(ends[0]))} at a risk of 30% to {amount(cost(ends[1]))}"
    return svg.chart([(points, "accent")], x_ticks, y_ticks, words, end=here)


def _asked(plan: Plan) -> list[Row]:
    """Mediators by their share of the queries."""
    shares = {name: float(plan.bound.omega[e]) for e, name in enumerate(plan.problem.mediators)}
    ranked, most = sorted(shares, key=lambda name: -shares[name]), max(shares.values())
    return [
        Row(name, "" if shares[name] else "not needed", f"{shares[name]:.0%}", "", svg.share(shares[name], None, most, ""))
        for name in ranked
    ]
