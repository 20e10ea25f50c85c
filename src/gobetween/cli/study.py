"""The verbs of a live study: each is one transaction on its store. `--json` prints one object (shapes: docs/live.md)."""

import csv
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from gobetween.errors import StudyError

VARIABLE = "GOBETWEEN_STUDY"
SMALL = 40_000  # bytes of a study.toml up to which plain Python answers before compiled code is even loaded


def verb(name: str) -> Callable[[Any], click.Command]:
    """A command on a study: found by --study, the environment or ./study.toml."""

    def wrap(function: Any) -> click.Command:
        command = click.command(name)(function)
        for option in (
            click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/live.md)."),
            click.option("--actor", help="Who does this [default: the user's name]."),
            click.option("--name", help="Which study of a store that holds several."),
            click.option("--study", help=f"study.toml, a SQLite file or a URL [default: ${VARIABLE}, or ./study.toml]."),
        ):
            command = option(command)
        return command

    return wrap


def opened(study: str | None, name: str | None, actor: str | None, *, view: bool = False) -> Any:
    """The study that is meant; a view does not take over changes of study.toml."""
    where = study or os.environ.get(VARIABLE) or "study.toml"
    if where == "study.toml" and not Path(where).exists():
        raise StudyError("there is no study.toml here: gobetween init makes one, --study names another place")
    if not where.endswith(".toml") or not Path(where).is_file() or Path(where).stat().st_size < SMALL:
        os.environ.setdefault("GOBETWEEN_JIT", "off")
    from gobetween.study.opening import open_study

    found = open_study(where, name, actor, take_over=not view)
    if found.unsaved:
        fields = ", ".join(found.unsaved)
        click.echo(
            f"note: {where} differs from the stored study ({fields}); the next ask or tell takes that over or refuses", err=True
        )
    return found


def show(value: Any, as_json: bool, *lines: str) -> None:
    """Print one JSON object, or lines for people."""
    from gobetween.cli import printable

    if as_json:
        click.echo(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))
    else:
        for line in lines:
            click.echo("\n".join(printable(part) for part in line.split("\n")))


def query_words(query: Any) -> str:
    """A query for the one who carries it out."""
    contact = f" ({query.contact})" if query.contact else ""
    again = f", instead of query {query.reissue_of}" if query.reissue_of is not None else ""
    return f"query {query.id}: ask {query.mediator}{contact}{again}{'' if query.new else ' (already asked)'}"


def receipt_lines(receipt: Any, done: str) -> list[str]:
    """What a command has brought about."""
    lines = [done if receipt.recorded else "already recorded, nothing changed"]
    if receipt.late:
        lines.append("it came after its lease had ended; it counts, and is marked as late")
    if receipt.stopped is not None:
        from gobetween.study.transaction import verdict_words

        lines.append(f"the study has stopped: {verdict_words(receipt.stopped)}")
    return lines + [query_words(query) for query in receipt.asked]


@verb("ask")
@click.option("-n", type=int, help="That many new queries.")
@click.option("--worker", help="One query for a worker that names itself; the same again until it is told.")
@click.option("--key", help="Makes the command safe to repeat.")
def ask(n: int | None, worker: str | None, key: str | None, study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """Whom to ask next."""
    asked = opened(study, name, actor).ask(n, worker=worker, key=key)
    lines = [query_words(query) for query in asked] or ["nothing new to ask now"]
    show({"format": 1, "queries": [asdict(query) for query in asked]}, as_json, *lines)


def answer(function: Any) -> Any:
    """Options that say what a mediator answered."""
    for option in (
        click.option("--key", help="Makes the command safe to repeat."),
        click.option("--accept-surprise", is_flag=True, help="Record an arm that the declared policy never pulls."),
        click.option("--silent", is_flag=True, help="The mediator did not act."),
        click.option("--reward", type=float, help="What it paid."),
        click.option("--arm", help="The arm that was pulled."),
    ):
        function = option(function)
    return function


@verb("tell")
@click.argument("query", type=int, required=False)
@answer
@click.option("--mediator", help="Who answered unasked, when there is no query.")
def tell(query: int | None, mediator: str | None, study: Any, name: Any, actor: Any, as_json: bool, **answered: Any) -> None:
    """Record an answer: tell QUERY --arm … --reward …, or --silent, or --mediator … --arm … --reward … (unasked)."""
    receipt = opened(study, name, actor).tell(query, mediator=mediator, **answered)
    show({"format": 1, **asdict(receipt)}, as_json, *receipt_lines(receipt, f"recorded for query {receipt.query}"))


@verb("correct")
@click.argument("query", type=int)
@answer
@click.option("--reason", required=True, help="Why; it is kept.")
def correct(query: int, reason: str, study: Any, name: Any, actor: Any, as_json: bool, **answered: Any) -> None:
    """Replace an answer that was wrong; both stay in the log."""
    receipt = opened(study, name, actor).correct(query, reason=reason, **answered)
    show({"format": 1, **asdict(receipt)}, as_json, *receipt_lines(receipt, f"corrected query {query}"))


@verb("cancel")
@click.argument("query", type=int)
@click.option("--reason", default="", help="Why; it must have nothing to do with rewards.")
@click.option("--key", help="Makes the command safe to repeat.")
def cancel(query: int, reason: str, key: str | None, study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """Withdraw an open query, for reasons that have nothing to do with rewards."""
    receipt = opened(study, name, actor).cancel(query, reason=reason, key=key)
    show({"format": 1, **asdict(receipt)}, as_json, *receipt_lines(receipt, f"cancelled query {query}"))


@verb("away")
@click.argument("mediator")
def away(mediator: str, study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """Ask a mediator no more until it is back."""
    receipt = opened(study, name, actor).away(mediator)
    show({"format": 1, **asdict(receipt)}, as_json, *receipt_lines(receipt, f"{mediator} is away"))


@verb("back")
@click.argument("mediator")
def back(mediator: str, study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """A mediator can be asked again."""
    receipt = opened(study, name, actor).back(mediator)
    show({"format": 1, **asdict(receipt)}, as_json, *receipt_lines(receipt, f"{mediator} is back"))


@verb("pause")
def pause(study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """Issue no more queries until `resume`; answers are still taken."""
    receipt = opened(study, name, actor).pause()
    show({"format": 1, **asdict(receipt)}, as_json, *receipt_lines(receipt, "paused"))


@verb("resume")
def resume(study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """Go on after a pause, or after the study has stopped."""
    receipt = opened(study, name, actor).resume()
    show({"format": 1, **asdict(receipt)}, as_json, *receipt_lines(receipt, "the study goes on"))


@verb("note")
@click.argument("text")
def note(text: str, study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """Write something into the log."""
    receipt = opened(study, name, actor).note(text)
    show({"format": 1, **asdict(receipt)}, as_json, *receipt_lines(receipt, "noted"))


@verb("pending")
def pending(study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """Queries that wait for an answer, oldest first."""
    queries = opened(study, name, actor, view=True).pending()
    lines = [f"{query_words(query).removesuffix(' (already asked)')}" for query in queries] or ["no query is open"]
    show({"format": 1, "queries": [asdict(query) for query in queries]}, as_json, *lines)


@verb("status")
def status(study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """The answer so far, and how far the study is from being sure."""
    found = opened(study, name, actor, view=True).status()
    if as_json:
        show(found.to_dict(), True)
    else:
        from gobetween.cli.study_page import show_status

        show_status(found)


@verb("events")
@click.option("--after", type=click.IntRange(0, 2**62), default=0, help="Only events after this number.")
@click.option("--limit", type=click.IntRange(1, 2**62), help="At most that many [default: all].")
def events(after: int, limit: int | None, study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """The log, one event on a line."""
    from gobetween.pages.words import event_words

    for event in opened(study, name, actor, view=True).events(after, limit):
        if as_json:
            click.echo(json.dumps(event, ensure_ascii=False, allow_nan=False))
        else:
            show(None, False, event_words(event))


@verb("export")
@click.option("--csv", "to_csv", type=click.Path(), help="Write one row for each query; - is standard output.")
@click.option("--jsonl", type=click.Path(), help="Write one event on a line; - is standard output.")
def export(to_csv: str | None, jsonl: str | None, study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """Write the queries as CSV, the events as JSON lines, or both."""
    from gobetween.cli.experiment import _target
    from gobetween.pages.words import csv_safe

    if not to_csv and not jsonl:
        raise StudyError("name at least one of --csv FILE and --jsonl FILE")
    this = opened(study, name, actor, view=True)
    written = {}
    try:
        if to_csv:
            columns = ("query", "mediator", "status", "arm", "reward", "slot", "worker")
            with _target(to_csv) as stream:
                writer = csv.writer(stream, lineterminator="\n")
                writer.writerow(columns)
                rows = [[csv_safe(row[column]) for column in columns] for row in this.export()]
                writer.writerows(rows)
            written["csv"] = len(rows)
        if jsonl:
            with _target(jsonl) as stream:
                for n, event in enumerate(this.events(), start=1):
                    stream.write(json.dumps(event, ensure_ascii=False, allow_nan=False) + "\n")
                    written["jsonl"] = n
    except OSError as error:
        raise StudyError(f"{to_csv or jsonl}: cannot be written ({error.strerror or error})") from None
    if "-" not in (to_csv, jsonl):
        show(
            {"format": 1, "written": written}, as_json, f"written: {', '.join(f'{n} lines of {k}' for k, n in written.items())}"
        )


@verb("report")
@click.option("--out", type=click.Path(), default="study-report", show_default=True, help="Folder for report.html.")
def report(out: str, study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """A page with the answer, the figures and what was recorded."""
    from gobetween.pages.html import write_report
    from gobetween.pages.study import sections

    this = opened(study, name, actor, view=True)
    title, page = sections(this)
    path = write_report(Path(out), title, page)
    show({"format": 1, "report": str(path)}, as_json, f"the report is {path}")


@verb("doctor")
@click.option("--migrate", is_flag=True, help="First bring the store's tables up to date.")
def doctor(migrate: bool, study: Any, name: Any, actor: Any, as_json: bool) -> None:
    """Check the store, replay the log and compare; says what to do."""
    if migrate:
        from gobetween.study.opening import migrate_study

        migrate_study(study or os.environ.get(VARIABLE) or "study.toml")
    complaints = opened(study, name, actor, view=True).doctor()
    lines = ["all is well: the log, the snapshot and the queries agree"]
    if complaints:
        lines = [
            *complaints,
            "keep a copy of the store before anything else, and pause the study; the log is the record that counts",
        ]
    show({"format": 1, "complaints": complaints}, as_json, *lines)
    if complaints:
        sys.exit(1)
