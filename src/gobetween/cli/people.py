"""The verbs of those who run a study: who is away, pausing and going on, names and the file, notes."""

from typing import Any

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


@verb("add-mediator")
@click.argument("mediator")
@click.option("--policy", help="How often it pulls each arm: 0.8,0.2 in their order [default: the file's, or not known].")
@click.option("--support", multiple=True, metavar="ARM", help="An arm that it may pull, if only these are known; repeat.")
@click.option("--cost", type=float, help="Of a query [default: the file's, or 1].")
@click.option("--contact", help="Whom to write to [default: the file's].")
@click.option("--key", help="Makes the command safe to repeat.")
def add_mediator(call: Call, mediator: str, key: str | None, **said: Any) -> None:
    """Take in one mediator more, also after the study has begun; what the study file says of it is taken from there.

    The guarantee is as before: it is about arms, and holds whoever is asked. Write the mediator into the study file too, as the
    last one.
    """
    study, known = call.quietly(), _in_file(call, mediator)
    support = said.pop("support")
    if said["policy"] is not None and support:
        raise StudyError("--support: the policy says already which arms it may pull: leave out one of the two")
    if said["policy"] is not None:
        said["policy"] = [_number("--policy", part) for part in said["policy"].split(",")]
    if support:
        said["policy"] = set(support)
    given = {"policy": None, "cost": 1.0, "contact": ""} | (known or {}) | {k: v for k, v in said.items() if v is not None}
    receipt = study.add_mediator(mediator, **given, key=key)
    call.done(receipt, f"{mediator} can be asked from now on; the guarantee is as before, it holds whoever is asked")
    if call.where.endswith(".toml") and known is None and not call.as_json:
        click.echo(printable(f"{call.where} does not name {mediator!r}: write it there too, as the last of the mediators"))


def _in_file(call: Call, mediator: str) -> dict[str, Any] | None:
    """What the study file says of a mediator; None where it does not name it."""
    if not call.where.endswith(".toml"):
        return None
    from gobetween.study.spec import StudySpec

    spec = StudySpec.from_toml(call.where)
    if mediator not in spec.mediators:
        return None
    e = spec.mediators.index(mediator)
    row = spec.policies[e]
    return {"policy": None if row is None else list(row), "cost": spec.costs[e], "contact": spec.contacts[e]}


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise StudyError(f"{option}: {text!r} is no number: write one for each arm, in their order, such as 0.8,0.2") from None


@verb("retire")
@click.argument("who")
@click.option("--arm", is_flag=True, help="It is an arm.")
@click.option("--key", help="Makes the command safe to repeat.")
def retire(call: Call, who: str, arm: bool, key: str | None) -> None:
    """Ask a mediator no more, for good; with --arm, leave an arm out of the question. The study file keeps both.

    A mediator's open queries stay open until they are told, cancelled or expired, and the guarantee is as before. Without an
    arm the question is which of the others is best: the answer holds for whatever reason it was retired, and says
    nothing of it.
    """
    receipt = call.open().retire(who, what="arm" if arm else "mediator", key=key)
    asked = f"{who} is asked no more; its open queries stay open, and the guarantee is as before"
    left_out = f"the question is now which of the other arms is best; the answer will say nothing of {who}"
    call.done(receipt, left_out if arm else asked)


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
