"""The verbs that only look: status, events, export, report, doctor."""

import sys
from itertools import islice
from pathlib import Path
from shlex import quote

import click

from gobetween.cli.terminal import check_target, json_line, print_json, show, show_page, show_screen, target
from gobetween.cli.verb import Call, leave, study_command, utc_option
from gobetween.errors import StudyError
from gobetween.export import numbered

EVENTS = 100  # that are looked through for the last answer of each mediator
KEEP = (
    "keep a copy of the store (of a SQLite file with its -wal and -shm) before anything else, and pause the study; "
    "the log is the record that counts"
)
COPY = "to copy it use gobetween backup: a .sqlite file alone may miss what was recorded last"


@study_command("status")
@click.option("--all", "everything", is_flag=True, help="Evidence, all alarms, counts, open queries and conditions, too.")
@utc_option
def status(call: Call, everything: bool, utc: bool) -> None:
    """The state of the study, the answer so far, how far it is from being sure, and what to do.

    Exit status 3 if an alarm breaks its guarantee, or its verdict is under review.
    """
    view = call.open(view=True).view(0 if call.as_json else EVENTS)
    found = view.status
    if call.as_json:
        print_json(found.to_dict())
    else:
        from gobetween.pages.study.page import study_page
        from gobetween.pages.study.status import SHOWN, first_screen, sections

        page = study_page(view, utc)
        title = " · ".join([page.title, *(chip for chip, _ in page.chips)])
        if everything:
            show_page(title, sections(page, view, utc))
            if len(found.pending) > SHOWN:
                click.echo("gobetween pending lists all open queries")
        else:
            show_screen(title, first_screen(page, found), "gobetween status --all shows everything")
    leave(found.unsafe)


@study_command("events")
@click.option("--after", type=click.IntRange(0, 2**62), default=0, help="Only events after this number.")
@click.option("--limit", type=click.IntRange(1, 2**62), help="At most that many [default: all].")
@utc_option
def events(call: Call, after: int, limit: int | None, utc: bool) -> None:
    """The log, one event on a line."""
    study = call.open(view=True)
    from gobetween.words.events import event_line

    for event in study.events(after, limit):
        if call.as_json:
            click.echo(json_line(event))
        else:
            show(None, False, event_line(event, utc))


@study_command("export")
@click.option("--csv", "to_csv", type=click.Path(), help="Write one row for each query; - is standard output.")
@click.option("--jsonl", type=click.Path(), help="Write one event on a line; - is standard output.")
def export(call: Call, to_csv: str | None, jsonl: str | None) -> None:
    """Write the queries as CSV, the events as JSON lines, or both."""
    if not to_csv and not jsonl:
        raise StudyError("name at least one of --csv FILE and --jsonl FILE")
    for option, path in (("--csv", to_csv), ("--jsonl", jsonl)):
        check_target(path, option, call.where)
    study, written = call.open(view=True), {}
    from gobetween.study.query_export import csv_blocks

    if to_csv:
        with target(to_csv, "--csv", 0o600) as stream:
            written["csv"] = 0
            for rows, text in csv_blocks(study.export()):
                stream.write(text)
                written["csv"] += rows
    if jsonl:
        with target(jsonl, "--jsonl", 0o600) as stream:
            written["jsonl"] = 0
            lines = study.lines()
            while block := [f"{line}\n" for line in islice(lines, 1000)]:
                stream.write("".join(block))
                written["jsonl"] += len(block)
    if "-" not in (to_csv, jsonl):
        said = [f"{numbered(n, 'line')} of {kind}" for kind, n in written.items()]
        call.show({"written": written}, f"written: {', '.join(said)}")


@study_command("report")
@click.option("--out", type=click.Path(), default="study-report", show_default=True, help="Folder for report.html.")
@utc_option
def report(call: Call, out: str, utc: bool) -> None:
    """A page with the answer, the figures and what was recorded."""
    study = call.open(view=True)
    from gobetween.pages.html import write_report
    from gobetween.pages.study.report import report as made

    path = write_report(Path(out), *made(study, utc))
    call.show({"report": str(path)}, f"the report is {path}")
    leave(study.status().unsafe)


@study_command("doctor")
@click.option("--migrate", is_flag=True, help="First bring the store's tables up to date.")
def doctor(call: Call, migrate: bool) -> None:
    """Check the store, replay the log and compare; says what to do."""
    if migrate:
        call.prepare()
        from gobetween.study.find_study import migrate_study

        migrate_study(call.where)
    study = call.open(view=True)
    complaints, undelivered = study.doctor(), study.undelivered()
    healthy = "all is well: the log, the snapshot and the queries agree"
    messages = [] if undelivered is None else [f"messages: {undelivered}"]
    if (file := getattr(study.store, "path", None)) is not None and file.stat().st_mode & 0o077:
        messages.append(f"others on this computer can read {file}, which holds contacts: chmod 600 {quote(str(file))}")
    lines = [*complaints, KEEP] if complaints else [healthy, COPY]
    call.show({"complaints": complaints, "undelivered": undelivered}, *lines, *messages)
    if complaints:
        sys.exit(1)
