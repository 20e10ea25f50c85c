"""The verbs of those who run a study: who is away, pausing and going on, names and the file, notes."""

import click

from gobetween.cli.terminal import printable
from gobetween.cli.verb import Call, verb
from gobetween.errors import StudyError


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


@verb("rename")
@click.argument("old")
@click.argument("new")
@click.option("--arm", "what", flag_value="arm", help="It is an arm, where a mediator has the same name.")
@click.option("--mediator", "what", flag_value="mediator", help="It is a mediator, where an arm has the same name.")
def rename(call: Call, old: str, new: str, what: str | None) -> None:
    """Give an arm or a mediator another name; it stays the same, and so does all that was recorded.

    Write the new name into the study file too.
    """
    call.done(call.quietly().rename(old, new, what=what), f"{old} is called {new} now")
    if call.where.endswith(".toml") and not call.as_json:
        from gobetween.study.spec import StudySpec

        spec = StudySpec.from_toml(call.where)
        if new not in (*spec.arms, *spec.mediators):
            click.echo(printable(f"{call.where} still says {old!r}: write {new!r} there too"))


@verb("check")
def check(call: Call) -> None:
    """Check an edited study file against the stored study: says what would be taken over or refused, and changes nothing."""
    if not call.where.endswith(".toml"):
        raise StudyError(f"{call.where}: is no study file: name a study.toml")
    changes = call.would_change()
    if changes is None:
        call.show({"changes": None}, f"{call.where} is sound; it has no store yet, gobetween init makes one")
        return
    from gobetween.study.edits import change_words

    lines = [f"would take over {line}" for line in change_words(changes)] or ["the file and the stored study agree"]
    call.show({"changes": {field: list(pair) for field, pair in changes.items()}}, *lines)


@verb("note")
@click.argument("text")
def note(call: Call, text: str) -> None:
    """Write something into the log."""
    call.done(call.open().note(text), "noted")
