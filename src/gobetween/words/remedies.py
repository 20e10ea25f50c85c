"""What to do about an alarm or a study that cannot go on: a sentence, and the command or button that does it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from shlex import quote as quoted

from gobetween.core.alarm.alarm import Alarm
from gobetween.core.alarm.policy import PolicyDetails
from gobetween.export import numbered
from gobetween.study.status.status import Status
from gobetween.words.numbers import percent
from gobetween.words.study_page import held_up, short_of


@dataclass(frozen=True)
class Remedy:
    """What to do: in words, by a button of the page (verb, its value and what stands on it), in the shell."""

    words: str
    what: str = "What to do"
    """What it is about."""
    button: str = ""
    verb: str = ""
    value: str = ""
    command: str = ""


MOST = 3  # alarms that are told one by one
PAUSE = {"button": "Pause the study", "verb": "pause", "command": "gobetween pause"}


def _policy(alarm: Alarm) -> Remedy:
    name, details = alarm.subject, alarm.details
    seen = ""
    if isinstance(details, PolicyDetails) and details.outside is None and alarm.size is not None:
        seen = f"{details.arm or 'silence'} {percent(details.share)} of the time instead of {percent(details.declared)}. "
    advice = "Declare its policy unknown, or, if you know how it chooses, its right policy."
    return Remedy(
        f"{seen[:1].upper()}{seen[1:]}The answer stays valid, and plans use what was seen. {advice}",
        f"{name} deviates from its declared policy",
        f"Declare {name} unknown", "declare", name, f"gobetween declare {quoted(name)} --unknown",
    )  # fmt: skip


def _changed(alarm: Alarm) -> Remedy:
    name = alarm.subject
    return Remedy(
        "The answer stays valid, but plans use an average of before and after. If the change lasts, let it begin again under "
        "another name: plans then use its new answers alone.",
        f"{name} has changed how it chooses",
        f"Begin again with {name}", "succeed", name,
        f"gobetween add-mediator {quoted(f'{name} 2')} && gobetween retire {quoted(name)}",
    )  # fmt: skip


def _confounding(alarm: Alarm) -> Remedy:
    found = f"Find out what mediators see before they choose {alarm.subject}."
    return Remedy(f"{found} Then begin a new study within each group, or with mediators who cannot see it.", **PAUSE)


def _drift(alarm: Alarm) -> Remedy:
    return Remedy("Find out what changed and when. Then begin a new study with the answers from after the change.", **PAUSE)


def _scale(alarm: Alarm) -> Remedy:
    family = "a family that allows for this spread, such as gaussian with sigma unknown, or bounded"
    return Remedy(f"Begin a new study with {family}.", **PAUSE)


#: Kind of alarm → what to do about it.
REMEDIES: dict[str, Callable[[Alarm], Remedy]] = {
    "policy": _policy,
    "policy-drift": _changed,
    "confounding": _confounding,
    "drift": _drift,
    "contradiction": _drift,
    "scale": _scale,
}


def remedies(status: Status, paused: bool = False) -> list[Remedy]:
    """Of each kind of alarm that was raised, the one that breaks the guarantee first; of a verdict that is in doubt, a budget
    that is used up or will not do, and answers that wait. `paused`: then there is nothing to pause.
    """
    raised = sorted((alarm for alarm in status.alarms if alarm.raised), key=lambda alarm: not alarm.breaks)
    gone = {row["mediator"] for row in status.mediators if row["retired"]}
    found = [REMEDIES.get(alarm.kind, _drift)(alarm) for alarm in raised if alarm.subject not in gone]
    unique = list({(remedy.verb, remedy.value or remedy.words): remedy for remedy in found}.values())
    if paused or status.verdict is not None:
        unique = [replace(one, button="", verb="", command="") if one.verb == "pause" else one for one in unique]
    rest = [Remedy("See Checks.", numbered(len(unique) - MOST, "more alarm"))] if len(unique) > MOST else []
    return [*unique[:MOST], *rest, *_of_state(status), *_held_up(status)]


def _of_state(status: Status) -> list[Remedy]:
    """What the state asks for."""
    used = status.max_queries is not None and status.queries >= status.max_queries
    used = used or (status.max_cost is not None and status.cost >= status.max_cost)
    if status.state == "budget used" or (status.state == "under review" and used):
        command = "raise the budget in study.toml, then gobetween resume"
        return [Remedy("Raise the budget to go on.", button="Raise the budget and go on", verb="budget", command=command)]
    if status.state == "under review":
        words = "Go on until an answer is certain again."
        return [Remedy(words, button="Go on asking", verb="resume", command="gobetween resume")]
    if short := short_of(status):
        needed, limit, surely = short
        words, what = f"Expect to need {needed}; {limit}.", f"The budget {'will hardly' if surely else 'may not'} suffice"
        return [Remedy(words, what, "Change the budget", "budget", "", "raise the budget in study.toml")]
    return []


def _held_up(status: Status) -> list[Remedy]:
    """A query that many answers wait for."""
    if not held_up(status):
        return []
    number = status.waiting_for
    words = f"Ask for the answer to query {number}. If it will never come, whatever it would have been, cancel the query."
    what = f"Answers wait for query {number}"
    return [Remedy(words, what, f"Cancel query {number}", "cancel", str(number), f"gobetween cancel {number}")]
