"""What `gobetween plan` shows to a person."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gobetween.cli import printable
from gobetween.planning import Plan

BAR = 24


def show(title: str, plan: Plan) -> None:
    """Print the plan."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(printable(title or repr(plan.problem)), style="bold")
    if plan.bound.status == "tie":
        names = " and ".join(printable(name) for name in plan.best_arms)
        console.print(f"{names} share the best mean: no number of queries can tell which is best (T* = ∞).")
        return
    for line in _facts(plan):
        console.print(line)
    for table in (_targets(plan), _mediators(plan), _arms(plan)):
        console.print()
        console.print(table)
    notes = _not_needed(plan)
    if notes:
        console.print()
    for line in notes:
        console.print(line)


def _facts(plan: Plan) -> list[str]:
    bound = plan.bound
    lines = [
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
    if plan.problem.direct:
        return "none: arms are pulled directly"
    if plan.price.is_free:
        return "none: the mediators can play the best direct allocation"
    return f"{plan.price.ratio:.4g} times the queries of pulling arms directly"


def _targets(plan: Plan) -> Table:
    heading = "Expected, roughly" if plan.bound.is_proxy else "No method needs less on average"
    table = _table(heading, "delta", "queries")
    costly = plan.unit == "cost"
    if costly:
        table.add_column("cost", justify="right")
    for delta in plan.deltas:
        cells = [f"{delta:g}", f"{plan.bound.queries(delta):,.1f}"]
        table.add_row(*cells, *([f"{plan.bound.cost(delta):,.2f}"] if costly else []))
    return table


def _mediators(plan: Plan) -> Table:
    costly = plan.problem.costs is not None
    table = _table("Whom to ask", "mediator", "share of queries", *(["share of cost"] if costly else []))
    table.add_column("")
    for e, name in enumerate(plan.problem.mediators):
        share = float(plan.bound.omega[e])
        cost = [f"{plan.bound.cost_shares[e]:.2%}"] if costly else []
        table.add_row(Text(printable(name)), f"{share:.2%}", *cost, _bar(share))
    return table


def _arms(plan: Plan) -> Table:
    table = _table("What they will pull", "arm", "mean", "share of queries")
    table.add_column("")
    for a, name in enumerate(plan.problem.arms):
        share = float(plan.bound.arm_weights[a])
        table.add_row(Text(printable(name)), f"{plan.problem.means[a]:g}", f"{share:.2%}", _bar(share))
    if plan.problem.silent:
        share = max(0.0, 1.0 - float(plan.bound.arm_weights.sum()))
        table.add_row("(no answer)", "", f"{share:.2%}", _bar(share))
    return table


def _not_needed(plan: Plan) -> list[str]:
    names = plan.problem.mediators
    lines = []
    for item in plan.redundant:
        others = [(printable(names[e]), float(w)) for e, w in enumerate(item.weights) if w > 0.0]
        mixture = " + ".join(f"{w:.3g} × {name}" for name, w in others)
        why = {
            "duplicate": f"the same as {others[0][0] if others else 'nobody'}",
            "mixture": f"the same as {mixture}",
            "dominated": f"{mixture or 'nobody'} gives as much for less",
        }[item.reason]
        lines.append(f"Not needed: {printable(names[item.mediator])} ({why})")
    return lines


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_edge=False, pad_edge=False)
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _bar(share: float) -> str:
    return "█" * round(BAR * share)
