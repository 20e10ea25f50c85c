"""What `gobetween plan` shows to a person."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gobetween.cli import printable
from gobetween.simulation.plan import Plan

BAR = 16
NARROWEST = 60
MOST_DELTAS = 3  # columns of expected queries


def page() -> Console:
    """Where to print: names are shown as they are, and narrow terminals scroll."""
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    if console.width < NARROWEST:
        console.width = NARROWEST
    return console


def show(title: str, plan: Plan) -> None:
    """Print the plan."""
    console = page()
    console.print(printable(title) or f"{plan.problem.K} arms, {plan.problem.E} mediators", style="bold")
    if plan.bound.status == "tie":
        names = " and ".join(printable(name) for name in plan.best_arms)
        console.print(f"{names} share the best mean: no number of queries can tell which is best (T* = ∞).")
        return
    for line in _facts(plan):
        console.print(line)
    for table in (_targets(plan), *([] if plan.problem.direct else [_mediators(plan)]), _arms(plan)):
        console.print()
        console.print(table)
    notes = _notes(plan)
    if notes:
        console.print()
    for line in notes:
        console.print(line)


def _facts(plan: Plan) -> list[str]:
    bound, family = plan.bound, plan.problem.family
    parameters = ", ".join(f"{name} {value:g}" for name, value in family.parameters().items())
    lines = [
        f"Rewards             {family.name}{f' ({parameters})' if parameters else ''}",
        f"Best arm            {printable(plan.best_arms[0])} (by the means in the file)",
        f"Hardest rival       {printable(plan.problem.arms[plan.hardest_rival])}",
        f"T*                  {bound.T_star:.6g} {plan.unit} for each unit of kl(δ, 1−δ) ≈ ln(1/δ)",
        f"Price of mediation  {_price(plan)}",
    ]
    if bound.is_proxy:
        lines.append("Rewards are only known to be bounded: T* is a proxy that guides planning, not a lower bound.")
    if bound.status == "inexact":
        lines.append(f"T* lies between {bound.T_lower:.9g} and {bound.T_upper:.9g}: true, but wider than asked for.")
    return lines


def _price(plan: Plan) -> str:
    aside = "" if plan.problem.costs is None else " (costs aside)"
    if plan.problem.direct:
        return "none: arms are pulled directly"
    if plan.price.is_free:
        return f"none: the mediators can play the best direct allocation{aside}"
    return f"{plan.price.ratio:.4g} times the queries of pulling arms directly{aside}"


def _targets(plan: Plan) -> Table:
    costly = plan.unit == "cost"
    what = "cost" if costly else "number of queries"
    heading = f"Expected {what}, roughly" if plan.bound.is_proxy else f"Least expected {what}: no method does better on average"
    table = _table(heading, "delta (risk of a wrong answer)", *(["cost", "queries it pays for"] if costly else ["queries"]))
    for delta in plan.deltas:
        cost = [f"{plan.bound.cost(delta):,.2f}"] if costly else []
        table.add_row(f"{delta:g}", *cost, f"{plan.bound.queries(delta):,.1f}")
    return table


def _mediators(plan: Plan) -> Table:
    costly = plan.problem.costs is not None
    some = plan.deltas[:MOST_DELTAS]
    columns = ["share of queries", *(["share of cost"] if costly else []), *(f"at {delta:g}" for delta in some)]
    table = _table("Whom to ask, and how often for each delta", "mediator", *columns)
    table.add_column("")
    for e, name in enumerate(plan.problem.mediators):
        share = float(plan.bound.omega[e])
        cost = [f"{plan.bound.cost_shares[e]:.2%}"] if costly else []
        counts = [f"{share * plan.bound.queries(delta):,.1f}" for delta in some]
        table.add_row(Text(printable(name)), f"{share:.2%}", *cost, *counts, _bar(share))
    return table


def _arms(plan: Plan) -> Table:
    table = _table("What to pull" if plan.problem.direct else "What they will pull", "arm", "mean", "share of queries")
    table.add_column("")
    for a, name in enumerate(plan.problem.arms):
        share = float(plan.bound.arm_weights[a])
        table.add_row(Text(printable(name)), f"{plan.problem.means[a]:.10g}", f"{share:.2%}", _bar(share))
    if plan.problem.silent:
        share = max(0.0, 1.0 - float(plan.bound.arm_weights.sum()))
        table.add_row("(no answer)", "", f"{share:.2%}", _bar(share))
    return table


def _notes(plan: Plan) -> list[str]:
    names = plan.problem.mediators
    lines = []
    needless = {item.mediator for item in plan.redundant}
    if any(plan.bound.omega[e] == 0.0 for e in range(plan.problem.E) if e not in needless):
        lines.append("A mediator at 0% is not asked if the means are as in the file; with other means it may be.")
    for item in plan.redundant:
        others = [(printable(names[e]), float(w)) for e, w in enumerate(item.weights) if w > 0.0]
        mixture = " + ".join(f"{w:.3g} × {name}" for name, w in others)
        why = {
            "duplicate": f"the same as {others[0][0] if others else 'nobody'}",
            "mixture": f"the same as {mixture}",
            "dominated": f"a query is worth no more than {mixture}, which costs no more" if others else "never pulls an arm",
        }[item.reason]
        lines.append(f"Not needed, whatever the means: {printable(names[item.mediator])} ({why})")
    if not needless and not plan.problem.direct:
        lines.append("No mediator is superfluous for all means.")
    return lines


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_edge=False, pad_edge=False)
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _bar(share: float) -> str:
    return "█" * round(BAR * share)
