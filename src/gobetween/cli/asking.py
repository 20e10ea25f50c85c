"""The verbs of asking and answering: ask, tell, correct, void, cancel, pending."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

import click

from gobetween.cli.verb import Call, leave, query_words, receipt_lines, utc_option, verb
from gobetween.errors import StudyError
from gobetween.export import numbered

F = TypeVar("F", bound=Callable[..., None])


def answer(function: F) -> F:
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


@verb("ask")
@click.option("-n", type=int, help="That many new queries.")
@click.option("--worker", help="One query for a worker that names itself; the same again until it is told.")
@click.option("--key", help="Makes the command safe to repeat.")
def ask(call: Call, n: int | None, worker: str | None, key: str | None) -> None:
    """Whom to ask next."""
    asked = call.open().ask(n, worker=worker, key=key)
    lines = [query_words(query) for query in asked] or ["nothing new to ask now"]
    call.show({"queries": [asdict(query) for query in asked]}, *lines)


@verb("tell")
@click.argument("query", type=int, required=False)
@answer
@click.option("--mediator", help="Who answered unasked, when there is no query.")
@click.option("--again", is_flag=True, help="It is another answer, though the same came unasked a moment ago.")
@click.option("--csv", "file", type=click.Path(), help="Record all rows of a file, or none.")
@click.option("--dry-run", is_flag=True, help="With --csv: only try, and change nothing.")
def tell(call: Call, query: int | None, mediator: str | None, file: str | None, dry_run: bool, **answered: Any) -> None:
    """Record an answer: tell QUERY --arm … --reward …, or --silent, or --mediator … --arm … --reward … (unasked).

    tell --csv FILE records many at once; its columns are of query, mediator, arm, reward, silent and key.
    """
    if file is not None:
        _tell_file(call, file, dry_run, query, mediator, answered)
        return
    if dry_run:
        raise StudyError("--dry-run goes with --csv FILE")
    receipt = call.open().tell(query, mediator=mediator, **answered)
    call.done(receipt, f"recorded for query {receipt.query}")


def _tell_file(call: Call, file: str, dry_run: bool, query: int | None, mediator: str | None, answered: dict[str, Any]) -> None:
    flags = {name: answered.pop(name) for name in ("accept_surprise", "again")}
    if query is not None or mediator is not None or any(answered.values()) or answered["reward"] is not None:
        raise StudyError("--csv FILE says all answers: leave out the query, --arm, --reward, --silent, --mediator and --key")
    receipts = call.open(brief=False).tell_csv(file, dry_run=dry_run, **flags)
    new = sum(receipt.recorded for receipt in receipts)
    lines = [f"{'would record' if dry_run else 'recorded'} {new:,} of {numbered(len(receipts), 'row')}"]
    lines += [f"already recorded: {len(receipts) - new:,}"] if new < len(receipts) else []
    lines += [line for receipt in receipts if receipt.recorded and not dry_run for line in receipt_lines(receipt, "")[1:]]
    value = {"dry_run": dry_run, "rows": [asdict(receipt) for receipt in receipts]}
    call.show(value, *lines)
    leave(next((receipt.alarm for receipt in receipts if receipt.alarm is not None), None))


@verb("correct")
@click.argument("query", type=int)
@answer
@click.option("--mediator", help="Who really gave it; alone, the answer stays.")
@click.option("--reason", required=True, help="Why; it is kept.")
def correct(call: Call, query: int, **answered: Any) -> None:
    """Replace an answer that was wrong, or the mediator who gave it; all stays in the log."""
    call.done(call.open().correct(query, **answered), f"corrected query {query}")


@verb("void")
@click.argument("query", type=int)
@click.option("--reason", required=True, help="Why; it is kept, and must have nothing to do with rewards.")
@click.option("--key", help="Makes the command safe to repeat.")
def void(call: Call, query: int, reason: str, key: str | None) -> None:
    """Take an answer out of the count, for reasons that have nothing to do with rewards; it stays in the log."""
    call.done(call.open().void(query, reason=reason, key=key), f"took out the answer to query {query}")


@verb("cancel")
@click.argument("query", type=int)
@click.option("--reason", default="", help="Why; it must have nothing to do with rewards.")
@click.option("--key", help="Makes the command safe to repeat.")
def cancel(call: Call, query: int, reason: str, key: str | None) -> None:
    """Withdraw an open query, for reasons that have nothing to do with rewards."""
    call.done(call.open().cancel(query, reason=reason, key=key), f"cancelled query {query}")


@verb("pending")
@click.option("--overdue", is_flag=True, help="Only those whose lease has ended, with the text of a reminder for each contact.")
@utc_option
def pending(call: Call, overdue: bool, utc: bool) -> None:
    """Queries that wait for an answer, oldest first: how old they are, and when their lease ends."""
    study = call.open(view=True)
    state, now, _ = study.look()
    from gobetween.pages.pending import is_late, pending_words, reminders
    from gobetween.study.transaction import shown

    queries = [shown(state, number, new=False) for number in (state.late() if overdue else state.open)]
    lines = [f"{query_words(query).removesuffix(' (already asked)')}, {pending_words(query, now, utc)}" for query in queries]
    texts = reminders(state.spec.title, queries, utc) if overdue else []
    found = [asdict(query) | {"age": max(0.0, now - query.asked), "overdue": is_late(query, now)} for query in queries]
    none = "no query is late" if overdue else "no query is open"
    call.show(
        {"queries": found} | ({"reminders": texts} if overdue else {}), *(lines or [none]), *(f"\n{text}" for text in texts)
    )
