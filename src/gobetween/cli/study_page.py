"""The status of a study for the terminal."""

from typing import Any

from gobetween.pages.words import duration, moment


def show_status(status: Any) -> None:
    """Answer first, then how far, then arms, mediators and what is open."""
    from rich.markup import escape
    from rich.table import Table

    from gobetween.cli import printable
    from gobetween.cli.plan_page import page

    console = page()

    def say(text: str, style: str | None = None) -> None:
        console.print(escape(printable(text)), style=style)

    def table(*columns: str) -> Table:
        made = Table(box=None, padding=(0, 2, 0, 0))
        for i, column in enumerate(columns):
            made.add_column(column, justify="right" if i else "left")
        return made

    say(f"{status.title or status.name} ({status.state})", "bold")
    say(status.sentence)
    say(status.how_far)
    if status.leader is not None:
        say(
            f"p-value {status.p_value:.3g} against “some other arm is strictly better than {status.leader!r}”; valid whenever "
            "one looks, and not the chance that it is best."
        )
    spent = f"So far {status.queries:,} queries, cost {status.cost:,.6g}."
    limits = [] if status.max_queries is None else [f"{status.max_queries:,} queries"]
    limits += [] if status.max_cost is None else [f"cost {status.max_cost:,.6g}"]
    to_go = "" if status.cost_to_go is None or status.state == "stopped" else f" Expected cost to go: {status.cost_to_go:,.4g}."
    say(spent + (f" The budget is {' and '.join(limits)}." if limits else "") + to_go)
    arms = table("arm", "pulls", "estimate", "interval")
    for arm in status.arms:
        estimate = "" if arm["estimate"] is None else f"{arm['estimate']:.4g}"
        low, high = ("…" if arm[end] is None else f"{arm[end]:.4g}" for end in ("low", "high"))
        arms.add_row(escape(printable(arm["arm"])), f"{arm['pulls']:,}", estimate, f"{low} to {high}")
    console.print()
    console.print(arms)
    say(
        f"Intervals hold for all arms at all times together with probability {1 - status.delta:g}. They are not the stopping "
        "rule, which compares two arms at a time and is sure earlier.",
        "dim",
    )
    rare = ("silent", "cancelled", "expired", "late", "unasked", "corrected")
    shown = ["asked", "told", *(key for key in rare if any(row[key] for row in status.mediators))]
    mediators = table("mediator", *shown, "share", "target")
    for row in status.mediators:
        name = escape(printable(row["mediator"])) + (" (away)" if row["away"] else "")
        counts = (f"{row[key]:,}" for key in shown)
        mediators.add_row(name, *counts, f"{row['share']:.0%}", f"{row['target']:.0%}")
    console.print()
    console.print(mediators)
    if status.pending:
        queries = table("open query", "mediator", "age", "lease ends")
        for row in status.pending[:20]:
            until = "never" if row["until"] is None else "ended" if row["expired"] else moment(row["until"])
            queries.add_row(str(row["query"]), escape(printable(row["mediator"])), duration(row["age"]), until)
        console.print()
        console.print(queries)
        if len(status.pending) > 20:
            say(f"and {len(status.pending) - 20} more: gobetween pending")
    for line in status.assumptions:
        say(f"Note: {line}")
