"""What to do about an alarm, beside its own sentence: in messages of a study, in JSON, and where it is about a log."""

from collections.abc import Sequence
from dataclasses import replace

from gobetween.core.alarm.alarm import Alarm
from gobetween.words.remedies import REMEDIES, Remedy

PERIODS = Remedy("Find out what changed and when, and analyse each period on its own (--where selects its rows).")
#: Kind of alarm → what to do about it in a log.
OF_A_LOG = {
    "policy": Remedy("Correct its policy in the file that --declared names, or leave it out there."),
    "policy-drift": Remedy("If the change lasts, analyse the rows since then on their own (--where selects them)."),
    "confounding": Remedy("Analyse each group that mediators can see on its own (--where selects its rows)."),
    "drift": PERIODS,
    "contradiction": PERIODS,
    "scale": Remedy("Analyse again with a --family that allows for this spread, such as gaussian:sigma=unknown or bounded."),
}


def remedies_of(alarm: Alarm, log: bool = False) -> list[Remedy]:
    """What to do about an alarm that was raised."""
    if not alarm.raised:
        return []
    if log:
        return [OF_A_LOG.get(alarm.kind, PERIODS)]
    return [
        replace(one, words=one.words.removeprefix(alarm.words).lstrip())
        for one in REMEDIES.get(alarm.kind, REMEDIES["drift"])(alarm)
    ]


def alarms_to_dict(alarms: Sequence[Alarm], log: bool = False) -> list[dict[str, object]]:
    """Alarms for programs, each with its remedies: a sentence, and the command that does it."""
    return [
        alarm.to_dict() | {"remedies": [{"words": one.words, "command": one.command} for one in remedies_of(alarm, log)]}
        for alarm in alarms
    ]
