"""Asking and answering, where the command line does more than the verb: ask, tell; and pending."""

from dataclasses import asdict
from typing import Any

import click

from gobetween.cli.verb import Call, leave, query_words, receipt_lines, study_command, utc_option
from gobetween.cli.verbs import verb_command
from gobetween.errors import StudyError
from gobetween.export import numbered
from gobetween.study.commands.verbs import Ask, Tell


@verb_command(Ask)
def ask(call: Call, **given: Any) -> None:
    """Prints a line for each query: its number, the mediator and the contact."""
    verb = Ask(**given)
    asked = call.open().do(verb)
    call.show(verb.to_json(asked), *([query_words(query) for query in asked] or ["nothing new to ask now"]))


@verb_command(Tell)
@click.option("--csv", "file", type=click.Path(), help="Record all rows of a file, or none.")
@click.option("--dry-run", is_flag=True, help="With --csv: only try, and change nothing.")
def tell(call: Call, file: str | None = None, dry_run: bool = False, **given: Any) -> None:
    """With --csv FILE many are recorded at once; its columns are of query, mediator, arm, reward, silent and key."""
    if file is not None:
        _tell_file(call, file, dry_run, given)
        return
    if dry_run:
        raise StudyError("--dry-run goes with --csv FILE")
    verb = Tell(**given)
    receipt = call.open().do(verb)
    call.done(receipt, verb, f"recorded for query {receipt.query}")


def _tell_file(call: Call, file: str, dry_run: bool, given: dict[str, Any]) -> None:
    flags = {name: given.pop(name) for name in ("accept_surprise", "again")}
    if {name for name, value in given.items() if value is not False}:
        raise StudyError("--csv FILE says all answers: leave out the query, --arm, --reward, --silent, --mediator and --key")
    receipts = call.open().tell_csv(file, dry_run=dry_run, **flags)
    new = sum(receipt.recorded for receipt in receipts)
    lines = [f"{'would record' if dry_run else 'recorded'} {new:,} of {numbered(len(receipts), 'row')}"]
    lines += [f"already recorded: {len(receipts) - new:,}"] if new < len(receipts) else []
    said = (line for receipt in receipts if receipt.recorded and not dry_run for line in receipt_lines(receipt, "")[1:])
    lines += dict.fromkeys(said)  # each once
    value = {"dry_run": dry_run, "rows": [receipt.to_dict() for receipt in receipts]}
    call.show(value, *lines)
    leave(next((receipt.alarm for receipt in receipts if receipt.alarm is not None), None))


@study_command("pending")
@click.option("--overdue", is_flag=True, help="Only those whose lease has ended, with the text of a reminder for each contact.")
@utc_option
def pending(call: Call, overdue: bool, utc: bool) -> None:
    """Queries that wait for an answer, oldest first: how old they are, and when their lease ends."""
    study = call.open(view=True)
    state, now, _ = study.look()
    from gobetween.study.journal.transaction import shown
    from gobetween.words.messages import is_late, pending_words, reminders

    queries = [shown(state, number, new=False) for number in (state.late() if overdue else state.open)]
    lines = [f"{query_words(query).removesuffix(' (already asked)')}, {pending_words(query, now, utc)}" for query in queries]
    texts = reminders(state.spec.title, queries, utc) if overdue else []
    found = [asdict(query) | {"age": max(0.0, now - query.asked), "overdue": is_late(query, now)} for query in queries]
    none = "no query is late" if overdue else "no query is open"
    call.show(
        {"queries": found} | ({"reminders": texts} if overdue else {}), *(lines or [none]), *(f"\n{text}" for text in texts)
    )
