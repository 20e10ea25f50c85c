"""What to do about an alarm, beside its own sentence: in messages of a study, in JSON, and where it is about a log."""

from collections.abc import Sequence

from gobetween.core.alarm.alarm import Alarm

PERIODS = "Find out what changed and when, and analyse each period on its own (--where selects its rows)."
#: Kind of alarm → what to do about it in a log.
OF_A_LOG = {
    "policy": "Correct its policy in the file that --declared names, or leave it out there.",
    "policy-drift": "If the change lasts, analyse the rows since then on their own (--where selects them).",
    "confounding": "Analyse each group that mediators can see on its own (--where selects its rows).",
    "drift": PERIODS,
    "contradiction": PERIODS,
    "scale": "Analyse again with a --family that allows for this spread, such as gaussian:sigma=unknown or bounded.",
}


def remedies_of(alarm: Alarm, log: bool = False) -> list[dict[str, str]]:
    """What to do about an alarm that was raised: a sentence, and the command that does it."""
    if not alarm.raised:
        return []
    if log:
        return [{"words": OF_A_LOG.get(alarm.kind, PERIODS), "command": ""}]
    from gobetween.words.remedies import REMEDIES

    found = REMEDIES.get(alarm.kind, REMEDIES["drift"])(alarm)
    return [{"words": found.words, "command": found.command}]


def alarms_to_dict(alarms: Sequence[Alarm], log: bool = False) -> list[dict[str, object]]:
    """Alarms for programs, each with its remedies."""
    return [alarm.to_dict() | {"remedies": remedies_of(alarm, log)} for alarm in alarms]
