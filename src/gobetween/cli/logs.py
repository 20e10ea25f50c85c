"""`gobetween logs`: the best arm from data that others have collected; sampling rules replayed on it."""

from typing import TYPE_CHECKING

import click

from gobetween.cli.log_options import LogArguments, reading
from gobetween.cli.plugins import ready
from gobetween.cli.terminal import check_target, print_json, show, show_page, target
from gobetween.cli.verb import leave
from gobetween.cli.workload import small_log
from gobetween.export import numbered

if TYPE_CHECKING:
    from gobetween.logs.analysis.report import LogReport

JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/logs.md).")


@click.group("logs")
def command() -> None:
    """Logs of (mediator, arm, reward): what they say, and what other rules would have needed."""


FILES = click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True))


@command.command("analyse")
@reading(FILES)
@click.option("--workers", type=click.IntRange(min=1), help="Read files in parallel, twice; the answer is the same.")
@click.option("--report", "report_to", type=click.Path(), help="Folder for report.html.")
@click.option("--csv", "csv_to", type=click.Path(), help="File for all arms and all pairs of mediator and arm.")
@JSON
def analyse(log: LogArguments, workers: int | None, report_to: str | None, csv_to: str | None, as_json: bool) -> None:
    """Is the answer certain, and since which row? If not, what is missing? Exit status 3 if an alarm breaks the guarantee.

    FILES are CSV, JSON, Parquet or Feather, text also packed (.gz, .zst); patterns, folders, or - for standard input.
    """
    ready(plain=small_log(log.files, log.arm))
    check_target(csv_to, "--csv", *log.paths())
    from gobetween.pages.log_tables import advice_blocks, arm_blocks, policy_blocks
    from gobetween.words.logs import sentences

    found = _analysed(log, workers)
    if csv_to:
        with target(csv_to, "--csv") as stream:
            found.to_csv(stream)
    if report_to:
        path = found.report(report_to)
    if as_json:
        print_json(found.to_dict())
    else:
        from gobetween.pages.blocks import Section

        show(None, False, *sentences(found))
        click.echo()
        show_page("", [Section("", blocks(found)) for blocks in (arm_blocks, advice_blocks, policy_blocks) if blocks(found)])
        if report_to:
            click.echo(f"\nThe report is {path}.")
    leave(found.broken)


def _analysed(log: LogArguments, workers: int | None) -> "LogReport":
    from gobetween.logs.analysis.analysis import analyse_logs

    if workers is None:
        return analyse_logs(*log.files, **log.arguments())
    from gobetween.simulation.executors import open_executor

    with open_executor("processes", workers) as crew:
        return analyse_logs(*log.files, **log.arguments(), executor=crew.executor)


@command.command("replay")
@reading(FILES)
@click.option(
    "--sampling", metavar="RULE", help="As in gobetween simulate [default: unknown; for other questions than best-arm pursuit]."
)
@click.option("--stopping", metavar="RULE", default="e-process", show_default=True, help="As in gobetween simulate.")
@click.option(
    "--runs", type=click.IntRange(min=1), default=200, show_default=True, help="Replays, each with the rows permuted."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="One seed gives one result.")
@JSON
def replay(log: LogArguments, sampling: str | None, stopping: str, runs: int, seed: int, as_json: bool) -> None:
    """How many rows a rule would have needed: asking a mediator consumes its next logged row. Exit status as of analyse."""
    ready()
    from gobetween.files.rules import parse_rule, word
    from gobetween.logs.analysis.replay import default_sampling, replay_logs
    from gobetween.words.logs import replay_sentences

    said = log.arguments()
    who = parse_rule(sampling or word(default_sampling(said["question"])), "sampling", "--sampling")
    when = parse_rule(stopping, "stopping", "--stopping")
    found = replay_logs(*log.files, **said, sampling=who.rule, stopping=when.rule, runs=runs, seed=seed)
    if as_json:
        about = {"format": 1, "rows": found.rows, "sampling": who.name, "stopping": when.name, "delta": found.delta}
        print_json(about | {"question": said["question"].to_dict(), "runs": runs, "seed": seed} | found.to_dict())
    else:
        click.echo(f"{numbered(runs, 'replay')} of {numbered(found.rows, 'row')}, sampling {who.name}, stopping {when.name}")
        show(None, False, *replay_sentences(found))
    leave(None if found.log is None else found.log.broken)
