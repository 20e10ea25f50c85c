"""`gobetween reproduce`: the paper's tables beside ours, and a report to look at."""

import time
from pathlib import Path

import click

from gobetween.cli.plugins import ready
from gobetween.cli.terminal import show_page
from gobetween.errors import ResultsError


@click.command("reproduce")
@click.argument("tables", nargs=-1, metavar="[table1] [table2]")
@click.option("--runs", type=int, help="Runs of each column [default: 2500 for table1, 2000 for table2].")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="One seed gives one result.")
@click.option("--out", type=click.Path(), default="reproduction", show_default=True, help="Folder for report.html and CSV.")
def command(tables: tuple[str, ...], runs: int | None, seed: int, out: str) -> None:
    """Run the paper's experiments; every cell beside the paper's number, and what our default rules need."""
    ready()
    from gobetween.pages.html import write_report
    from gobetween.pages.reproduction import sections, write_csv
    from gobetween.paper.reproduction import check, count_runs, reproduce
    from gobetween.paper.tables import TABLES
    from gobetween.simulation.progress import bar
    from gobetween.words.reproduction import TITLE

    names, folder = tables or tuple(TABLES), Path(out)
    check(names, runs)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"--out {out}: cannot be made ({error.strerror})") from None
    start = time.perf_counter()
    with bar(count_runs(names, runs)) as advance:
        found = reproduce(names, runs, seed, advance)
    page = sections(found, seed, time.perf_counter() - start)
    write_csv(found, folder / "cells.csv")
    path = write_report(folder, TITLE, page)
    show_page("", page)
    click.echo(f"\nThe report is {path}; all numbers are in {folder / 'cells.csv'}.")
