"""`gobetween simulate`: play a problem many times with the rules of your choice."""

import json
from pathlib import Path
from typing import Any

import click

from gobetween.errors import SpecError
from gobetween.files import read_toml

SAMPLING = ("tracking", "tracking-d", "unknown", "pruned", "uniform", "cyclic", "oracle")
STOPPING = ("e-process", "paper", "garivier-kaufmann", "kaufmann-koolen", "heuristic")


@click.command("simulate")
@click.argument("file", type=click.Path())
@click.option("--delta", metavar="D[,D…]", help="Risks of a wrong answer [default: the file's, or 0.1,0.05,0.01].")
@click.option("--runs", default=1000, show_default=True, help="How many runs.")
@click.option("--seed", default=0, show_default=True, help="One seed gives one result, whatever the number of workers.")
@click.option("--sampling", type=click.Choice(SAMPLING), default="tracking", show_default=True, help="Whom to ask next.")
@click.option("--stopping", type=click.Choice(STOPPING), default="e-process", show_default=True, help="When to stop.")
@click.option("--max-steps", default=10_000_000, show_default=True, help="Runs that take longer are censored.")
@click.option("--workers", type=int, default=None, help="Threads [default: one for each core].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/simulate.md).")
@click.option("--csv", type=click.Path(), help="Also write one row for each run and delta to this file.")
def command(
    file: str,
    delta: str | None,
    runs: int,
    seed: int,
    sampling: str,
    stopping: str,
    max_steps: int,
    workers: int | None,
    as_json: bool,
    csv: str | None,
) -> None:
    """How many queries the rules really take, and how often they are wrong, if the means are as in FILE."""
    data = read_toml(file)
    from gobetween.cli.plan import deltas_of, named
    from gobetween.engine import simulate
    from gobetween.planning import DELTAS
    from gobetween.spec import parse_spec
    from gobetween.summary import summarise

    spec = parse_spec(data, file)
    deltas = deltas_of(delta, spec.delta) or DELTAS
    with _Bar(runs, as_json) as advance:
        result = named(
            file,
            lambda: simulate(spec.problem, *_rules(sampling, stopping), deltas, runs, seed, workers, max_steps, advance),
        )
    if csv:
        _write(csv, result)
    rows = summarise(spec.problem, result)
    if as_json:
        about = {"title": spec.title, "format": 1, "sampling": sampling, "stopping": stopping, "runs": runs, "seed": seed}
        click.echo(json.dumps(about | {"results": [row.to_dict() for row in rows]}, indent=2, allow_nan=False))
    else:
        _show(spec.title, rows, sampling, stopping, spec.problem.costs is not None)


def _rules(sampling: str, stopping: str) -> tuple[Any, Any]:
    from gobetween.core.sampling import Oracle, Tracking, UniformSampling
    from gobetween.core.stopping import GLR, EProcess

    choices: dict[str, Any] = {
        "tracking": Tracking(),
        "tracking-d": Tracking(tracking="D"),
        "unknown": Tracking(policies="unknown"),
        "pruned": Tracking(prune=True),
        "uniform": UniformSampling(),
        "cyclic": UniformSampling(order="cyclic"),
        "oracle": Oracle(),
    }
    return choices[sampling], EProcess() if stopping == "e-process" else GLR(rate=stopping)


class _Bar:
    """A live bar on standard error, when someone watches."""

    def __init__(self, runs: int, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        self._bar = Progress(console=console, transient=True, disable=quiet or not console.is_terminal)
        self._task = self._bar.add_task("runs", total=runs)

    def __enter__(self) -> Any:
        self._bar.start()
        return lambda n: self._bar.advance(self._task, n)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


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
    from rich.table import Table

    from gobetween.cli import printable
    from gobetween.cli.plan_page import page

    console = page()
    console.print(printable(title) or "Simulation", style="bold")
    console.print(f"Sampling {sampling}, stopping {stopping}, {rows[0].runs} runs")
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("delta", justify="right")
    for name in ("queries", "10–90%", "wrong ≤", *(("cost",) if priced else ()), "bound", "ratio"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        low, _, high = row.quantiles
        table.add_row(
            f"{row.delta:g}", f"{row.mean:,.0f} ± {row.half_width:,.0f}", f"{low:,.0f}–{high:,.0f}",
            f"{row.wrong:.1%} ≤ {row.wrong_high:.1%}",
            *((f"{row.cost:,.0f} ± {row.cost_half_width:,.0f}",) if priced else ()),
            f"{row.bound:,.1f}", f"{row.ratio:.2f}" if row.ratio else "",
        )  # fmt: skip
    console.print(table)
    console.print("± and ≤: 95% intervals, of wrong answers exact (Clopper–Pearson).", style="dim")
    for row in rows:
        if row.censored:
            console.print(f"At {row.delta:g}, {row.censored} runs had not stopped and count as long as they lasted.")
