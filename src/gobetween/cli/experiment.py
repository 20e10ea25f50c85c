"""`gobetween experiment`: run a grid of problems and rules, resume it, export it."""

import csv
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gobetween.cli.plugins import ready
from gobetween.cli.terminal import bar, print_json, show_page, target
from gobetween.errors import ResultsError

if TYPE_CHECKING:
    from gobetween.simulation.runner import Cell, Experiment
    from gobetween.simulation.summary import Summary


class _RunByDefault(click.Group):
    """`experiment FILE` is `experiment run FILE`."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["run", *args])


@click.group("experiment", cls=_RunByDefault)
def command() -> None:
    """Run a grid of problems × sampling × stopping rules; `gobetween experiment FILE.toml` is enough.

    Its options are those of `gobetween experiment run --help`.
    """


@command.command("run")
@click.argument("file", type=click.Path())
@click.option("--out", type=click.Path(), help="The results file [default: FILE with .sqlite, in this folder].")
@click.option(
    "--runs", type=int, help="How many runs of each cell [default: the file's, or 1000]; more than before adds to them."
)
@click.option("--executor", type=click.Choice(["threads", "processes", "dask"]), default="threads", show_default=True)
@click.option("--address", help="Of a Dask scheduler; without it --executor dask starts processes on this machine.")
@click.option("--workers", type=int, help="How many [default: one for each core].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/experiment.md).")
def run(
    file: str, out: str | None, runs: int | None, executor: str, address: str | None, workers: int | None, as_json: bool
) -> None:
    """Run FILE, or what is left of it; results do not depend on executor, workers or interruptions."""
    ready()
    from gobetween.simulation.executors import open_executor
    from gobetween.simulation.runner import read_experiment, run_experiment

    experiment = read_experiment(file)
    wanted = experiment.runs if runs is None else runs
    path = Path(out or Path(file).with_suffix(".sqlite").name)
    with open_executor(executor, workers, address) as crew:
        try:
            with bar(wanted * len(experiment.cells), as_json) as advance:
                run_experiment(experiment, path, crew.executor, runs=runs, in_flight=4 * crew.workers, progress=advance)
        except KeyboardInterrupt:
            click.echo(f"gobetween: stopped; what was finished is in {path}, run the same again to go on", err=True)
            if executor == "threads":
                os._exit(130)  # threads cannot be called back; the file is whole at every moment
            sys.exit(130)
    _report(path, experiment, as_json)


def _report(path: Path, experiment: "Experiment", as_json: bool) -> None:
    from gobetween.simulation.results import Results
    from gobetween.simulation.summary import summarise

    with Results.read(path) as results:
        cells = [
            (cell, summarise(cell.job.problem, results.runs(i, experiment.deltas))) for i, cell in enumerate(experiment.cells)
        ]
    if as_json:
        rows = [
            {"problem": cell.problem, "sampling": cell.sampling, "stopping": cell.stopping, **row.to_dict()}
            for cell, found in cells
            for row in found
        ]
        about = {"title": experiment.title, "format": 1, "file": str(path), "seed": experiment.seed, "results": rows}
        print_json(about)
    else:
        _show(path, experiment.title, cells)


def _show(path: Path, title: str, cells: "Sequence[tuple[Cell, list[Summary]]]") -> None:
    from gobetween.pages.blocks import Section
    from gobetween.pages.runs import summary_grid

    sections = [
        Section(
            f"{cell.problem}: sampling {cell.sampling}, stopping {cell.stopping}, {rows[0].runs} runs",
            [summary_grid(rows, cell.job.problem.costs is not None)],
        )
        for cell, rows in cells
    ]
    show_page(title or "Experiment", sections, ruled=True)
    click.echo(f"\nAll runs are in {path}; gobetween experiment export {path} --csv FILE writes them as a table.")


@command.command("export")
@click.argument("results", type=click.Path())
@click.option("--csv", "to_csv", type=click.Path(), help="Write CSV; - is standard output.")
@click.option("--parquet", type=click.Path(), help="Write Parquet.")
def export(results: str, to_csv: str | None, parquet: str | None) -> None:
    """Write the rows of a RESULTS file, one for each cell, run and delta."""
    ready()
    from gobetween.simulation.results import COLUMNS, Results, load_results

    if not to_csv and not parquet:
        raise ResultsError("name at least one of --csv FILE and --parquet FILE")
    if to_csv:
        with Results.read(results) as held, target(to_csv) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(held.rows())
        if to_csv != "-":
            click.echo(f"wrote {to_csv}", err=True)
    if parquet:
        _write_parquet(load_results(results), parquet)
        click.echo(f"wrote {parquet}", err=True)


def _write_parquet(columns: Mapping[str, Sequence[object]], path: str) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ResultsError("--parquet needs pyarrow: pip install 'gobetween[logs]'") from None
    try:
        parquet.write_table(pyarrow.table({name: list(columns[name]) for name in columns}), path)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror or error})") from None
