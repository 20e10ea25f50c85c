"""Alarms: for each kind its sentence, what to do about it in a study and in a log, and its line among the checks of a page;
what was looked for and not found.

A kind that says nothing here but its sentence is told and advised on like any other (`OTHER`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from shlex import quote as quoted
from typing import NamedTuple

from gobetween.core.alarm.alarm import Alarm, Details, Sentence
from gobetween.core.alarm.confounding import ConfoundingDetails
from gobetween.core.alarm.contradiction import ContradictionDetails
from gobetween.core.alarm.dispersion import OverdispersionDetails, SigmaDetails
from gobetween.core.alarm.drift import DriftDetails, PolicyDriftDetails
from gobetween.core.alarm.policy import PolicyDetails
from gobetween.core.ground.value import NotDefinedError
from gobetween.export import numbered, some
from gobetween.words.numbers import about, percent
from gobetween.words.verdict import opposite_words

BROKEN = "the guarantee does not hold"
OVERSTATED = f"the evidence is overstated, and {BROKEN}"
ANSWER_VALID = "the answer stays valid"
PLANNED = f"{ANSWER_VALID}, and plans use what was seen"
MOST_ALARMS = 5  # of a kind that are told
#: Kind → what was found in order, the unit of what is detectable with its scale, and what cannot be detected.
LOOKED_FOR = {
    "confounding": ("Same reward across mediators", "", 1.0, " A bias shared by all mediators cannot be detected."),
    "policy": ("Declared policies", " percentage points", 100.0, ""),
    "drift": ("Same reward over time", "", 1.0, ""),
}


class Parts(NamedTuple):
    """What a sentence is made of."""

    clause: str  # what is the case, or is not
    meaning: str  # what that means for the answer, once raised
    found: str = ""  # once raised, what stands out in numbers
    shown: str = ""  # otherwise, what is detectable
    fine: str = ""  # otherwise, a sentence of its own


@singledispatch
def parts(details: Details, alarm: Alarm) -> Parts:
    """What the sentence of an alarm with these details is made of."""
    raise NotDefinedError(f"there are no words for alarms of the kind {alarm.kind!r}")


def sentence(alarm: Alarm) -> str:
    """An alarm in one sentence."""
    details = alarm.details
    if isinstance(details, Sentence):
        return details.words
    said = parts(details, alarm)
    if alarm.raised:
        clause = f"{said.clause[:1].upper()}{said.clause[1:]}{f' ({said.found})' if said.found else ''}"
        return f"{clause}: {said.meaning}."
    if said.fine:
        return said.fine
    few = f"too few {details.unit}s to tell"
    shown = f" ({few if alarm.detectable is None else f'detectable: {said.shown}'})" if details.looked else ""
    return f"No sign that {said.clause}{shown}."


@parts.register
def _(details: SigmaDetails, alarm: Alarm) -> Parts:
    return Parts(f"rewards vary more than {alarm.subject} says", OVERSTATED, f"standard deviation about {details.found:.3g}")


@parts.register
def _(details: OverdispersionDetails, alarm: Alarm) -> Parts:
    declared = "" if alarm.subject == details.family.name else f" with {alarm.subject}"
    found = f"variance about {details.times:,.2f} times what their mean implies"
    return Parts(f"rewards vary more than {details.family.plural}{declared} do", OVERSTATED, found)


@parts.register
def _(details: ContradictionDetails, alarm: Alarm) -> Parts:
    question, since = details.question, numbered(details.since, details.unit)
    rival = "another arm" if details.rival is None else repr(details.rival)
    opposite = opposite_words(question, details.answer, alarm.subject, rival)
    said = question.sentence(details.answer)
    certain = f"it was certain after {since} that {said[:1].lower()}{said[1:]}"
    if question.names_leader:
        certain = f"{alarm.subject!r} was certain to be the best after {since}"
    meaning = (
        f"something changed over time, rewards vary more than declared, or {details.unit}s are not in the order in which they "
        f"were collected, and {BROKEN}"
    )
    return Parts(f"{opposite} after {details.at:,}, while {certain}", meaning, fine=f"Nothing contradicts that {certain}.")


@parts.register
def _(details: DriftDetails, alarm: Alarm) -> Parts:
    when, unit = f"about {details.unit} {details.split:,}", details.unit
    meaning = f"rewards changed over time (drift), or {unit}s are not in the order in which they were collected, and {BROKEN}"
    found = f"{details.before:.4g} until {when}, {details.since:.4g} since"
    shown = f"a change of {about(alarm.detectable or 0.0)} or more at {when}"
    return Parts(f"the mean reward of {alarm.subject!r} has changed", meaning, found, shown)


@parts.register
def _(details: ConfoundingDetails, alarm: Alarm) -> Parts:
    others = "the others" if details.other is None else repr(details.other)
    between = f" between {details.mediator!r} and the others" if details.other is None else ""
    meaning = f"something else affects both the choice of arm and the reward (confounding), and {BROKEN}"
    found = f"{details.mean:.4g} with {details.mediator!r}, {details.rest:.4g} with {others}" if details.mediator else ""
    shown = f"a difference of {about(alarm.detectable or 0.0)} or more{between}"
    return Parts(f"{alarm.subject!r} pays differently with different mediators", meaning, found, shown)


@parts.register
def _(details: PolicyDetails, alarm: Alarm) -> Parts:
    if details.outside is not None:
        shown = "any arm outside its support"
        return Parts(f"{alarm.subject!r} pulls arms outside its declared support", PLANNED, some(details.outside), shown)
    found = f"{_outcome(details.arm)} {details.share:.1%} of the time instead of {details.declared:.1%}"
    share = f"a share that differs by {about(100.0 * (alarm.detectable or 0.0))} percentage points or more"
    return Parts(
        f"{alarm.subject!r} deviates from its declared policy",
        PLANNED,
        "" if alarm.size is None else found,
        share if alarm.detectable else "any other arm",
    )


@parts.register
def _(details: PolicyDriftDetails, alarm: Alarm) -> Parts:
    when = f"about {details.unit} {alarm.at or 0:,}"
    found = f"{_outcome(details.arm)} {details.before:.0%} of the time until {when}, {details.since:.0%} since"
    meaning = (
        f"{ANSWER_VALID}; plans use an average of its policy, so they cost more queries. A mediator that learns looks like this"
    )
    return Parts(f"{alarm.subject!r} has changed how it chooses", meaning, found)


def _outcome(arm: str | None) -> str:
    return "silence" if arm is None else repr(arm)


def raised_words(alarms: Sequence[Alarm], told: Alarm | None) -> list[str]:
    """The alarms that were raised, five of a kind, but for one that is told elsewhere."""
    raised, lines = [alarm for alarm in alarms if alarm.raised and alarm is not told], []
    for kind in dict.fromkeys(alarm.kind for alarm in raised):
        words = [alarm.words for alarm in raised if alarm.kind == kind]
        lines += words[:MOST_ALARMS]
        if len(words) > MOST_ALARMS:
            lines.append(f"{numbered(len(words) - MOST_ALARMS, 'more alarm')} of this kind ({kind}).")
    return lines


def no_signs(found: Sequence[Alarm], unit: str = "answer") -> list[str]:
    """What was looked for and not found, and how small a difference is detectable."""
    lines = []
    for kind, (what, of, scale, end) in LOOKED_FOR.items():
        alarms = [alarm for alarm in found if alarm.kind == kind]
        if alarms and not any(alarm.raised for alarm in alarms):
            lines.append(f"{what}: no problem found ({_detectable(alarms, unit, of, scale)}).{end}")
    return lines


def _detectable(found: Sequence[Alarm], unit: str, of: str, scale: float) -> str:
    """How small a difference would have been found, for the arm or mediator of which most is known and of which least is."""
    sizes = sorted((scale * alarm.detectable, alarm.subject) for alarm in found if alarm.detectable is not None)
    few = [alarm.subject for alarm in found if alarm.detectable is None]
    if not sizes:
        return f"too few {unit}s to tell"
    texts = list(dict.fromkeys(about(size) for size, _ in (sizes[0], sizes[-1])))
    if len(texts) == 2:
        texts = [f"{text} ({subject!r})" for text, (_, subject) in zip(texts, (sizes[0], sizes[-1]), strict=True)]
    lack = f"; too few {unit}s for {some(few)}" if few else ""
    return f"detectable: {' to '.join(texts)}{of} or more{lack}"


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


def _other(alarm: Alarm) -> Remedy:
    return Remedy("Find out what happened before you rely on this.", **(PAUSE if alarm.breaks else {}))


PERIODS = "Find out what changed and when, and analyse each period on its own (--where selects its rows)."


@dataclass(frozen=True)
class Kind:
    """What is said of a kind of alarm beside its sentence."""

    check: str
    """To which of the checks of a page it belongs."""
    remedy: Callable[[Alarm], Remedy]
    """What to do about it in a study."""
    in_log: str
    """What to do about it in a log."""


KINDS = {
    "policy": Kind("policy", _policy, "Correct its policy in the file that --declared names, or leave it out there."),
    "policy-drift": Kind(
        "policy", _changed, "If the change lasts, analyse the rows since then on their own (--where selects them)."
    ),
    "confounding": Kind(
        "confounding", _confounding, "Analyse each group that mediators can see on its own (--where selects its rows)."
    ),
    "drift": Kind("drift", _drift, PERIODS),
    "contradiction": Kind("drift", _drift, PERIODS),
    "scale": Kind(
        "spread",
        _scale,
        "Analyse again with a --family that allows for this spread, such as gaussian:sigma=unknown or bounded.",
    ),
}
OTHER = Kind("other", _other, "Find out what happened, and analyse rows that it does not concern (--where selects them).")


class Check(NamedTuple):
    """A line among the checks of a page."""

    holds: str
    fails: str
    limit: str = ""  # what is detectable; without it the line is there only if an alarm is
    scale: float = 1.0  # of what is detectable


CHECKS = {
    "policy": Check(
        "Mediators follow their declared policies",
        "A mediator deviates from its policy",
        "Detectable: a share {} points or more off",
        100.0,
    ),
    "confounding": Check(
        "Same reward across mediators",
        "Rewards differ between mediators",
        "Detectable: a difference of {} or more. A bias shared by all mediators cannot be detected",
    ),
    "drift": Check("No change over time", "Rewards changed over time", "Detectable: a change of {} or more"),
    "spread": Check("Rewards spread as declared", "Rewards spread more than declared"),
    "other": Check("Other assumptions hold", "Another assumption is violated"),
}


def kind_of(alarm: Alarm) -> Kind:
    """What is said of its kind."""
    return KINDS.get(alarm.kind, OTHER)


def remedies_of(alarm: Alarm, log: bool = False) -> list[dict[str, str]]:
    """What to do about an alarm that was raised: a sentence, and the command that does it."""
    if not alarm.raised:
        return []
    kind = kind_of(alarm)
    found = Remedy(kind.in_log) if log else kind.remedy(alarm)
    return [{"words": found.words, "command": found.command}]


def alarms_to_dict(alarms: Sequence[Alarm], log: bool = False) -> list[dict[str, object]]:
    """Alarms for programs, each with its remedies."""
    return [alarm.to_dict() | {"remedies": remedies_of(alarm, log)} for alarm in alarms]
