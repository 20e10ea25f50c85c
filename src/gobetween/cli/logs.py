"""`gobetween logs`: the best arm from data that others have collected; sampling rules replayed on it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gobetween.errors import LogError

SMALL = 1_000_000  # bytes of logs up to which plain Python is done before compiled code is even loaded


@click.group("logs")
def command() -> None:
    """Logs of (mediator, arm, reward): what they say, and what other rules would have needed."""


def source(function: Any) -> Any:
    """Options that say what a log is."""
    for option in (
        click.option("--skip-bad", is_flag=True, help="Leave out rows that cannot be used, and report them."),
        click.option(
            "--declared", type=click.Path(), help="A plan or study file: arms, mediators, policies, family and delta."
        ),
        click.option("--delta", type=float, help="Risk of a wrong answer [default: the file's, or 0.05]."),
        click.option("--family", help="bernoulli, poisson, exponential, gaussian:sigma=2, bounded:low=0,high=5 [bernoulli]."),
        click.option("--order", help="Column of time or row order, to be checked."),
        click.option("--reward", default="reward", show_default=True, help="Column of rewards."),
        click.option("--arm", default="arm", show_default=True, help="Column of arms."),
        click.option("--mediator", help="Column of mediators [default: mediator; without it the log has one mediator]."),
        click.argument("files", nargs=-1, required=True, type=click.Path()),
    ):
        function = option(function)
    return function


def settings(family: str | None, delta: float | None, declared: str | None, **columns: Any) -> dict[str, Any]:
    """The options above as those of analyse_logs; a file of declared policies says what the options do not."""
    found = columns
    if declared is not None:
        from gobetween.study.spec import StudySpec

        spec = StudySpec.from_toml(declared)
        policies = dict(zip(spec.mediators, spec.policies, strict=True))
        found |= {"family": spec.family, "delta": spec.delta, "arms": spec.arms, "declared": policies}
    if family is not None:
        found["family"] = parse_family_option(family)
    if delta is not None:
        found["delta"] = delta
    return found


def parse_family_option(text: str) -> Any:
    """gaussian:sigma=2 as a family."""
    from gobetween.errors import GoBetweenError
    from gobetween.files.rules import parse_family

    name, _, rest = text.partition(":")
    table: dict[str, Any] = {"name": name}
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        try:
            table[key.strip()] = float(value)
        except ValueError:
            raise LogError(f"--family {text}: write it as name:key=number,key=number") from None
    try:
        return parse_family(table)
    except GoBetweenError as error:
        raise LogError(f"--family {text}: {error}") from None


@command.command("analyse")
@source
@click.option("--workers", type=click.IntRange(min=1), help="Count files in parallel; the first claim then is not looked for.")
@click.option("--report", "report_to", type=click.Path(), help="Folder for report.html.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/logs.md).")
def analyse(files: tuple[str, ...], workers: int | None, report_to: str | None, as_json: bool, **given: Any) -> None:
    """Is the best arm certain, and since which row? If not, what is missing?"""
    if sum(Path(file).stat().st_size for file in files if Path(file).is_file()) < SMALL:
        os.environ.setdefault("GOBETWEEN_JIT", "off")
    from gobetween.logs.analysis import analyse_logs
    from gobetween.pages.log_words import sentences
    from gobetween.simulation.executors import open_executor

    options = settings(**given)

    def work(executor: Any) -> Any:
        return analyse_logs(*files, **options, executor=executor)

    found = _with_workers(work, workers, open_executor)
    if report_to:
        path = found.report(report_to)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2, allow_nan=False, ensure_ascii=False))
        return
    from gobetween.cli import printable

    for line in sentences(found):
        click.echo(printable(line))
    _tables(found)
    if report_to:
        click.echo(f"\nThe report is {path}.")


def _with_workers(work: Callable[[Any], Any], workers: int | None, open_executor: Any) -> Any:
    if workers is None:
        return work(None)
    with open_executor("processes", workers) as crew:
        return work(crew.executor)


def _tables(found: Any) -> None:
    from rich.markup import escape
    from rich.table import Table

    from gobetween.cli import printable
    from gobetween.cli.plan_page import page
    from gobetween.pages.log_words import arm_grid, policy_grid

    console = page()
    for grid in (arm_grid(found), policy_grid(found)):
        table = Table(box=None, padding=(0, 2, 0, 0))
        for i, name in enumerate(grid.header):
            table.add_column(escape(printable(name)), justify="right" if i else "left")
        for row in grid.rows:
            table.add_row(*(escape(printable(cell)) for cell in row))
        console.print()
        console.print(table)


@command.command("replay")
@source
@click.option("--sampling", metavar="RULE", default="unknown", show_default=True, help="As in gobetween simulate.")
@click.option("--stopping", metavar="RULE", default="e-process", show_default=True, help="As in gobetween simulate.")
@click.option(
    "--runs", type=click.IntRange(min=1), default=200, show_default=True, help="Replays, each with the rows permuted."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="One seed gives one result.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/logs.md).")
def replay(files: tuple[str, ...], sampling: str, stopping: str, runs: int, seed: int, as_json: bool, **given: Any) -> None:
    """How many rows a rule would have needed: asking a mediator consumes its next logged row."""
    from gobetween.cli import printable
    from gobetween.files.rules import parse_rule
    from gobetween.logs.replay import replay_logs
    from gobetween.pages.log_words import replay_sentences

    who, when = parse_rule(sampling, "sampling", "--sampling"), parse_rule(stopping, "stopping", "--stopping")
    found = replay_logs(*files, **settings(**given), sampling=who.rule, stopping=when.rule, runs=runs, seed=seed)
    if as_json:
        about = {"format": 1, "rows": found.rows, "sampling": who.name, "stopping": when.name, "delta": found.delta}
        click.echo(json.dumps(about | {"runs": runs, "seed": seed} | found.to_dict(), indent=2, ensure_ascii=False))
        return
    click.echo(f"{runs} replays of {found.rows:,} rows, sampling {who.name}, stopping {when.name}")
    for line in replay_sentences(found):
        click.echo(printable(line))
