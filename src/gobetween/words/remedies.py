"""What to do about an alarm or a study that cannot go on: a sentence, and the command or button that does it."""

from collections.abc import Callable
from dataclasses import dataclass
from shlex import quote as quoted

from gobetween.core.alarm.alarm import Alarm
from gobetween.study.status.status import Status


@dataclass(frozen=True)
class Remedy:
    """What to do: in words, by a button of the page (verb, its value and what stands on it), in the shell."""

    words: str
    button: str = ""
    verb: str = ""
    value: str = ""
    command: str = ""


def _policy(alarm: Alarm) -> list[Remedy]:
    name = alarm.subject
    return [
        Remedy(
            f"{name} does not choose as it declared. The answer stays valid, and plans use what was seen of {name} instead. "
            "Declare its policy unknown, or, if you know how it chooses, its right policy.",
            f"Declare {name} unknown", "declare", name, f"gobetween declare {quoted(name)} --unknown",
        )
    ]  # fmt: skip


def _changed(alarm: Alarm) -> list[Remedy]:
    name = quoted(alarm.subject)
    return [
        Remedy(
            f"{alarm.subject} has changed how it chooses. The answer stays valid, but plans use an average. "
            "If the change lasts, retire it and add it again under another name: plans then use its new answers alone.",
            command=f"gobetween add-mediator {quoted(f'{alarm.subject} 2')} && gobetween retire {name}",
        )
    ]  # fmt: skip


def _confounding(alarm: Alarm) -> list[Remedy]:
    return [
        Remedy(
            f"Something that mediators see before they choose probably decides both the arm and the reward of {alarm.subject}. "
            "Pause, find out what it is, and begin a new study within each group, or with mediators who cannot see it.",
            "Pause the study", "pause", "", "gobetween pause",
        ),
    ]  # fmt: skip


def _drift(alarm: Alarm) -> list[Remedy]:
    return [
        Remedy(
            "Pause, find out what changed and when, and begin a new study with the answers from after the change.",
            "Pause the study", "pause", "", "gobetween pause",
        )
    ]  # fmt: skip


def _scale(alarm: Alarm) -> list[Remedy]:
    return [
        Remedy(
            "Pause, and begin a new study with a family that allows for this spread, such as gaussian with sigma unknown, or "
            "bounded.",
            "Pause the study", "pause", "", "gobetween pause",
        )
    ]  # fmt: skip


#: Kind of alarm → what to do about it.
REMEDIES: dict[str, Callable[[Alarm], list[Remedy]]] = {
    "policy": _policy,
    "policy-drift": _changed,
    "confounding": _confounding,
    "drift": _drift,
    "contradiction": _drift,
    "scale": _scale,
}


def remedies(status: Status) -> list[Remedy]:
    """Of each kind of alarm that was raised, the one that breaks the guarantee first; of a budget that is used up."""
    if status.state == "budget used":
        command = "raise the budget in study.toml, then gobetween resume"
        return [Remedy("Raise the budget to go on.", "Raise the budget and go on", "budget", "", command)]
    raised = sorted((alarm for alarm in status.alarms if alarm.raised), key=lambda alarm: not alarm.breaks)
    gone = {row["mediator"] for row in status.mediators if row["retired"]}
    found = [remedy for alarm in raised if alarm.subject not in gone for remedy in REMEDIES.get(alarm.kind, _drift)(alarm)]
    unique = list({(remedy.verb, remedy.value or remedy.command): remedy for remedy in reversed(found)}.values())[::-1]
    return [one for one in unique if one.verb != "pause" or status.verdict is None] or unique[:1]
