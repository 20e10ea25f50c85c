"""The page of a plan: what an experiment needs at least, whom to ask, who is not needed."""

import math

from gobetween.core.voice import family_words, question_words
from gobetween.export import listed, numbered
from gobetween.pages import design
from gobetween.pages.blocks import Block, Grid, Section, Text
from gobetween.simulation.plan import Plan, QuestionPlan

BAR = 16
MOST_DELTAS = 3  # columns of expected queries


def title_of(title: str, plan: Plan | QuestionPlan) -> str:
    """The file's title, or the size of the problem."""
    return title or f"{numbered(plan.problem.K, 'arm')}, {numbered(plan.problem.E, 'mediator')}"


def sections(plan: Plan, drawn: bool = False) -> list[Section]:
    """Facts, targets, mediators, arms, what would change the cost, remarks; with figures where a report is written."""
    if plan.bound.status == "tie":
        names = " and ".join(plan.best_arms)
        return [Section("", [Text(f"{names} share the best mean: no number of queries can tell which is best (T* = ∞).")])]
    parts = [Section("", _facts(plan)), _targets(plan), _mediators(plan), _arms(plan)]
    return [part for part in (*parts, *design.sections(plan, drawn), Section("", _notes(plan))) if part.blocks]


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
    parts = [Section("", [Grid((), facts)]), _targets(plan), _mediators(plan), _arms(plan), Section("", _supported(plan))]
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
    blocks: list[Block] = [Grid((), facts)]
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
        rows.append([f"{delta:g}", *cost, f"{plan.bound.queries(delta):,.1f}"])
    columns = ["cost", "queries it pays for"] if costly else ["queries"]
    return Section(heading, [Grid(["delta (risk of a wrong answer)", *columns], rows)])


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
    return Section("Whom to ask, and how often for each delta", [Grid(["mediator", *columns, ""], rows)])


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
            "duplicate": f"the same as {others[0][0] if others else 'nobody'}",
            "mixture": f"the same as {mixture}",
            "dominated": f"a query is worth no more than {mixture}, which costs no more" if others else "never pulls an arm",
        }[item.reason]
        lines.append(f"Not needed, whatever the means: {names[item.mediator]} ({why})")
    if not needless and not plan.problem.direct:
        lines.append("No mediator is superfluous for all means.")
    return [*(Text(line) for line in lines), *_supported(plan)]


def _supported(plan: Plan | QuestionPlan) -> list[Block]:
    """What is not known where a support alone is declared, and what it can make of T*."""
    found, problem = plan.supported, plan.problem
    if found is None:
        return []
    one, who = len(found.mediators) == 1, listed([problem.mediators[e] for e in found.mediators])
    pulls, it = ("pulls the arms of its support", "it") if one else ("pull the arms of their supports", "them")
    without = f"at most {found.T_without:.6g}, as without {it}"
    if math.isinf(found.T_without):
        without = "may be any number above that, for others do not pull all arms"
    words = f"How often {who} {pulls} is not known, and the plan takes equal shares: whatever they are, T* is at least"
    return [Text(f"{words} {found.T_best:.6g}, with the shares that suit best, and {without}.")]


def _bar(share: float) -> str:
    return "█" * round(BAR * share)
