"""Who takes part, where the command line looks into the study file as well: add-mediator, declare, rename; and check."""

from typing import Any

import click

from gobetween.cli.terminal import printable
from gobetween.cli.verb import Call, study_command
from gobetween.cli.verbs import verb_command
from gobetween.errors import StudyError
from gobetween.export import meant_number
from gobetween.study.commands.verbs import AddMediator, Declare, Rename

POLICY = click.option("--policy", help="How often it pulls each arm: 0.8,0.2 in their order.")
SUPPORT = click.option(
    "--support", multiple=True, metavar="ARM", help="An arm that it may pull, if only these are known; repeat."
)


@verb_command(AddMediator, without=("policy",))
@POLICY
@SUPPORT
def add_mediator(call: Call, mediator: str, support: tuple[str, ...], policy: str | None = None, **given: Any) -> None:
    """What is not given is taken from the study file, where it names the mediator. Write it there too, as the last one."""
    study, known = call.quietly(), _in_file(call, mediator)
    verb = AddMediator(mediator, **(known or {}) | _policy(policy, support) | given)
    call.done(study.do(verb), verb)
    if call.where.endswith(".toml") and known is None and not call.as_json:
        click.echo(printable(f"{call.where} does not name {mediator!r}: write it there too, as the last of the mediators"))


@verb_command(Declare, without=("policy",))
@click.option("--unknown", is_flag=True, help="It is not known how it chooses.")
@POLICY
@SUPPORT
def declare(
    call: Call, mediator: str, unknown: bool, support: tuple[str, ...], policy: str | None = None, **given: Any
) -> None:
    """Without any of these options the study file says it. Write it there too."""
    study, known, said = call.quietly(), _in_file(call, mediator), _policy(policy, support)
    if unknown and said:
        raise StudyError("--unknown: a policy or a support is given too: leave out one of the two")
    if not unknown and not said and known is None:
        raise StudyError(f"the study file does not name {mediator!r}: say --unknown, --policy or --support")
    wanted = {"policy": None} if unknown else said or {"policy": (known or {})["policy"]}
    verb = Declare(mediator, **wanted, **given)
    call.done(study.do(verb), verb)
    if known is not None and not call.as_json and study.spec.cast.policies_by_name().get(mediator) != known["policy"]:
        click.echo(printable(f"{call.where} declares {mediator!r} differently: change it there too"))


def _policy(policy: str | None, support: tuple[str, ...]) -> dict[str, Any]:
    """What the options say of it; nothing where none is given."""
    if policy is not None and support:
        raise StudyError("--support: the policy says already which arms it may pull: leave out one of the two")
    if policy is not None:
        return {"policy": [_number("--policy", part) for part in policy.split(",")]}
    return {"policy": set(support)} if support else {}


def _in_file(call: Call, mediator: str) -> dict[str, Any] | None:
    """What the study file says of a mediator; None where it does not name it."""
    if not call.where.endswith(".toml"):
        return None
    from gobetween.study.spec.spec import StudySpec

    spec = StudySpec.from_toml(call.where)
    if mediator not in spec.mediators:
        return None
    e = spec.mediators.index(mediator)
    return {"policy": spec.cast.policies_by_name()[mediator], "cost": float(spec.cast.costs[e]), "contact": spec.contacts[e]}


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        each = ": write one for each arm, in their order, such as 0.8,0.2"
        raise StudyError(f"{option}: {text!r} is not a number{meant_number(text) or each}") from None


@verb_command(Rename)
def rename(call: Call, **given: Any) -> None:
    """Write the new name into the study file too."""
    verb = Rename(**given)
    call.done(call.quietly().do(verb), verb)
    if call.where.endswith(".toml") and not call.as_json:
        from gobetween.study.spec.spec import StudySpec

        spec = StudySpec.from_toml(call.where)
        if verb.new not in (*spec.arms, *spec.mediators):
            click.echo(printable(f"{call.where} still says {verb.old!r}: write {verb.new!r} there too"))


@study_command("check")
def check(call: Call) -> None:
    """Check an edited study file against the stored study: says what would be taken over or refused, and changes nothing."""
    if not call.where.endswith(".toml"):
        raise StudyError(f"{call.where}: is not a study file: name a study.toml")
    changes = call.would_change()
    if changes is None:
        call.show({"changes": None}, f"{call.where} is valid; it has no store yet: gobetween init makes one")
        return
    from gobetween.words.study import change_words

    lines = [f"would update {line}" for line in change_words(changes)] or ["the file and the stored study agree"]
    call.show({"changes": {field: list(pair) for field, pair in changes.items()}}, *lines)
