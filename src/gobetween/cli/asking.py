"""The verbs of asking and answering: ask, tell, correct, void, cancel, pending."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

import click

from gobetween.cli.verb import Call, query_words, verb

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
def tell(call: Call, query: int | None, mediator: str | None, **answered: Any) -> None:
    """Record an answer: tell QUERY --arm … --reward …, or --silent, or --mediator … --arm … --reward … (unasked)."""
    receipt = call.open().tell(query, mediator=mediator, **answered)
    call.done(receipt, f"recorded for query {receipt.query}")


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
def pending(call: Call) -> None:
    """Queries that wait for an answer, oldest first."""
    queries = call.open(view=True).pending()
    lines = [query_words(query).removesuffix(" (already asked)") for query in queries] or ["no query is open"]
    call.show({"queries": [asdict(query) for query in queries]}, *lines)
