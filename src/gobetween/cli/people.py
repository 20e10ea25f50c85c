"""The verbs of those who run a study: who is away, pausing and going on, notes."""

import click

from gobetween.cli.verb import Call, verb


@verb("away")
@click.argument("mediator")
def away(call: Call, mediator: str) -> None:
    """Ask a mediator no more until it is back."""
    call.done(call.open().away(mediator), f"{mediator} is away")


@verb("back")
@click.argument("mediator")
def back(call: Call, mediator: str) -> None:
    """A mediator can be asked again."""
    call.done(call.open().back(mediator), f"{mediator} is back")


@verb("pause")
def pause(call: Call) -> None:
    """Issue no more queries until `resume`; answers are still taken."""
    call.done(call.open().pause(), "paused")


@verb("resume")
def resume(call: Call) -> None:
    """Go on after a pause, or after the study has stopped."""
    call.done(call.open().resume(), "the study goes on")


@verb("note")
@click.argument("text")
def note(call: Call, text: str) -> None:
    """Write something into the log."""
    call.done(call.open().note(text), "noted")
