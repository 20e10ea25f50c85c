"""`gobetween experiment`: run a grid of problems and rules, resume it, export it."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from gobetween.cli.plugins import ready
from gobetween.cli.simulate import BUDGET, budget_of
from gobetween.cli.terminal import check_target, print_json, show_page, target
from gobetween.errors import GoBetweenError, ResultsError
from gobetween.export import numbered
from gobetween.files.output import replacing
from gobetween.interrupts import last_words, stop

if TYPE_CHECKING:
    from gobetween.files.problem import Budget
    from gobetween.simulation.executors import Workers
    from gobetween.simulation.results import Results


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
@click.option("--budget", type=float, help=f"{BUDGET} [default: the file's].")
@click.option("--report", "report_to", type=click.Path(), help="Also write a page with tables and figures to this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/experiment.md).")
def run(
    file: str,
    out: str | None,
    runs: int | None,
    executor: str,
    address: str | None,
    workers: int | None,
    budget: float | None,
    report_to: str | None,
    as_json: bool,
) -> None:
    """Run FILE, or what is left of it; results do not depend on executor, workers or interruptions."""
    if executor == "dask" and find_spec("distributed") is None:
        raise ResultsError("--executor dask needs Dask: pip install 'gobetween[dask]'")
    ready()
    from gobetween.simulation.grid import read_experiment
    from gobetween.simulation.progress import bar
    from gobetween.simulation.runner import run_experiment

    experiment = read_experiment(file)
    limit = budget_of(budget, experiment.budget)
    wanted = experiment.runs if runs is None else runs
    path = Path(out or Path(file).with_suffix(".sqlite").name)
    if report_to:
        _check_folder(report_to)
    kept = f"what was finished is in {path}, run the same again to go on"
    with (
        _workers(executor, workers, address) as found,
        last_words(kept),
        bar(wanted * len(experiment.cells), as_json) as advance,
    ):
        try:
            run_experiment(experiment, path, found.executor, runs=runs, in_flight=4 * found.number, progress=advance)
        except KeyboardInterrupt:
            stop()  # the file is whole at every moment
    _show(path, limit, report_to, as_json)


@contextmanager
def _workers(kind: str, workers: int | None, address: str | None) -> "Iterator[Workers]":
    """An executor; what is wrong with it is told in the words of the options."""
    from gobetween.simulation.executors import open_executor

    try:
        with open_executor(kind, workers, address) as found:
            yield found
    except GoBetweenError as error:
        if not error.where:
            raise
        raise GoBetweenError(error.sentence(lambda where: f"--{where[0]}")) from None


def _check_folder(report_to: str) -> None:
    """Before hours of work: can the page be written?"""
    if find_spec("jinja2") is None:
        raise ResultsError("--report needs jinja2: pip install 'gobetween[plots]'")
    try:
        Path(report_to).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"--report {report_to}: cannot be made ({error.strerror})") from None


def _show(path: Path, budget: "Budget", report_to: str | None, as_json: bool) -> None:
    from gobetween.simulation.results import load_results

    results = load_results(path).within(queries=budget.queries, cost=budget.cost)
    if report_to:
        from gobetween.pages.comparison import sections
        from gobetween.pages.html import write_report

        page = write_report(Path(report_to), results.title or "Experiment", sections(results))
    if as_json:
        print_json(_to_dict(results))
        return
    _show_page(results)
    click.echo(f"\nAll runs are in {path}; gobetween experiment export {quote(str(path))} --csv FILE writes them as a table.")
    if report_to:
        click.echo(f"The report is {page}.")


def _to_dict(results: "Results") -> dict[str, object]:
    rows = [
        {**dict(zip(("problem", "sampling", "stopping"), cell.name, strict=True)), **row.to_dict(), "family": family}
        for cell in results.cells
        for family in (cell.runs.played.family.to_dict(),)
        for row in cell.runs.summary()
    ]
    about = {"title": results.title, "format": 1, "file": results.path, "seed": results.seed, "results": rows}
    return about | {"comparison": results.compare().to_dict()}


def _show_page(results: "Results") -> None:
    from gobetween.pages.blocks import Section
    from gobetween.pages.comparison import comparison_sections
    from gobetween.pages.runs import rewards_text, summary_grid

    cells = [
        Section(
            f"{cell.name[0]}: sampling {cell.name[1]}, stopping {cell.name[2]}, {numbered(len(cell.numbers), 'run')}",
            [rewards_text(cell.runs.played), summary_grid(cell.runs.summary(), cell.runs.played.costs is not None)],
        )
        for cell in results.cells
    ]
    show_page(results.title or "Experiment", [*cells, *comparison_sections(results.compare())], ruled=True)


@command.command("export")
@click.argument("results", type=click.Path())
@click.option("--csv", "to_csv", type=click.Path(), help="Write CSV; - is standard output.")
@click.option("--parquet", type=click.Path(), help="Write Parquet.")
def export(results: str, to_csv: str | None, parquet: str | None) -> None:
    """Write the rows of a RESULTS file, one for each cell, run and delta."""
    ready()
    from gobetween.simulation.results_file import COLUMNS, ResultsFile

    if not to_csv and not parquet:
        raise ResultsError("name at least one of --csv FILE and --parquet FILE")
    if to_csv:
        with ResultsFile.read(results) as held, target(to_csv, "--csv") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(held.rows())
        if to_csv != "-":
            click.echo(f"wrote {to_csv}", err=True)
    if parquet:
        with ResultsFile.read(results) as held:
            _write_parquet(held.columns(), parquet)
        click.echo(f"wrote {parquet}", err=True)


def _write_parquet(columns: dict[str, list[Any]], path: str) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ResultsError("--parquet needs pyarrow: pip install 'gobetween[logs]'") from None
    check_target(path, "--parquet")
    try:
        with replacing(path) as part:
            parquet.write_table(pyarrow.table(columns), part)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror or error})") from None
