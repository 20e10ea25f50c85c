"""`gobetween simulate`: play a problem many times with the rules of your choice."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from gobetween.errors import SpecError
from gobetween.files.toml import read_toml


@click.command("simulate")
@click.argument("file", type=click.Path())
@click.option("--delta", metavar="D[,D…]", help="Risks of a wrong answer [default: the file's, or 0.1,0.05,0.01].")
@click.option("--runs", type=int, help="How many runs [default: the file's, or 1000].")
@click.option("--seed", type=int, help="One seed gives one result, whatever the number of workers [default: the file's, or 0].")
@click.option(
    "--sampling",
    metavar="RULE",
    help="Whom to ask: tracking, tracking-d, unknown, pruned, uniform, cyclic or oracle [default: the file's, or tracking].",
)
@click.option(
    "--stopping",
    metavar="RULE",
    help="When to stop: e-process, paper, garivier-kaufmann, kaufmann-koolen or heuristic [default: the file's, or e-process].",
)
@click.option("--max-steps", type=int, help="Runs that take longer are censored [default: the file's, or 10,000,000].")
@click.option("--workers", type=int, default=None, help="Threads [default: one for each core].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/simulate.md).")
@click.option("--csv", type=click.Path(), help="Also write one row for each run and delta to this file.")
def command(
    file: str,
    delta: str | None,
    runs: int | None,
    seed: int | None,
    sampling: str | None,
    stopping: str | None,
    max_steps: int | None,
    workers: int | None,
    as_json: bool,
    csv: str | None,
) -> None:
    """How many queries the rules really take, and how often they are wrong, if the means are as in FILE."""
    data = read_toml(file)
    from gobetween.cli.plan import deltas_of, named
    from gobetween.files.problem import parse_spec
    from gobetween.simulation.engine import MAX_STEPS, RUNS, simulate
    from gobetween.simulation.plan import DELTAS
    from gobetween.simulation.summary import summarise

    spec = parse_spec(data, file)
    settings = spec.settings
    deltas = deltas_of(delta, settings.delta) or DELTAS
    who, when = _rule("sampling", sampling, settings.sampling, file), _rule("stopping", stopping, settings.stopping, file)
    runs = first(runs, settings.runs, RUNS)
    seed, most = first(seed, settings.seed, 0), first(max_steps, settings.max_steps, MAX_STEPS)
    with bar(runs, as_json) as advance:
        result = named(file, lambda: simulate(spec.problem, who.rule, when.rule, deltas, runs, seed, workers, most, advance))
    if csv:
        _write(csv, result)
    rows = summarise(spec.problem, result)
    if as_json:
        about = {"title": spec.title, "format": 1, "sampling": who.name, "stopping": when.name, "runs": runs, "seed": seed}
        click.echo(json.dumps(about | {"results": [row.to_dict() for row in rows]}, indent=2, allow_nan=False))
    else:
        _show(spec.title, rows, who.name, when.name, spec.problem.costs is not None)


def first(*values: int | None) -> int:
    """The first that is given."""
    return next(value for value in values if value is not None)


def _rule(side: str, option: str | None, in_file: tuple[Any, ...], file: str) -> Any:
    """The option's rule, or the file's, or the default."""
    from gobetween.files.rules import default, parse_rule

    if option is not None:
        return parse_rule(option, side, f"--{side}")
    if len(in_file) > 1:
        raise SpecError(f"{file}: {side} names {len(in_file)} rules: choose one with --{side}, or run gobetween experiment")
    return in_file[0] if in_file else default(side)


@contextmanager
def bar(runs: int, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """A live bar on standard error, with the time that is left, when someone watches."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as shown:
        task = shown.add_task("runs", total=runs)
        yield lambda n: shown.advance(task, n)


def _write(path: str, result: Any) -> None:
    lines = ["run,delta,tau,correct,censored"]
    for run in range(len(result.tau)):
        for d, delta in enumerate(result.deltas):
            flags = f"{int(result.correct[run, d])},{int(result.censored[run, d])}"
            lines.append(f"{run},{delta!r},{result.tau[run, d]},{flags}")
    try:
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise SpecError(f"--csv {path}: cannot be written ({error.strerror})") from None


def _show(title: str, rows: Any, sampling: str, stopping: str, priced: bool) -> None:
    from gobetween.cli import printable
    from gobetween.cli.plan_page import page

    console = page()
    console.print(printable(title) or "Simulation", style="bold")
    console.print(f"Sampling {sampling}, stopping {stopping}, {rows[0].runs} runs")
    console.print(summary_table(rows, priced))
    console.print("± and ≤: 95% intervals, of wrong answers exact (Clopper–Pearson).", style="dim")
    for row in rows:
        if row.censored:
            console.print(f"At {row.delta:g}, {row.censored} runs had not stopped and count as long as they lasted.")


def summary_table(rows: Any, priced: bool) -> Any:
    """Summaries as a table, one row for each risk."""
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False)
    table.add_column("delta", justify="right", no_wrap=True)
    for name in ("queries", *(("cost",) if priced else ("10–90%",)), "wrong ≤", "bound", "ratio"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        low, _, high = row.quantiles
        spread = f"{row.cost:,.0f} ± {row.cost_half_width:,.0f}" if priced else f"{low:,.0f}–{high:,.0f}"
        table.add_row(
            f"{row.delta:g}", f"{row.mean:,.0f} ± {row.half_width:,.0f}", spread, f"{row.wrong:.1%} ≤ {row.wrong_high:.1%}",
            f"{row.bound:,.0f}" if row.bound >= 1000 else f"{row.bound:,.1f}", f"{row.ratio:.2f}" if row.ratio else "",
        )  # fmt: skip
    return table
