"""What an alarm is, and all that alarms look at (`alarms.py`)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gobetween.core.claimed import BEST, Claimed
from gobetween.core.drift import Course
from gobetween.core.family import Family
from gobetween.core.question import Question
from gobetween.core.types import Floats, Ints

LEVEL = 0.01


@dataclass(frozen=True)
class Alarm:
    """One check, raised or not."""

    kind: str
    """policy, confounding, scale, contradiction, drift or policy-drift."""
    subject: str
    """The mediator (policy, policy-drift), the arm (confounding, contradiction, drift) or what was declared (scale)."""
    log_e: float
    """Evidence in nats; under the limit an upper bound of it; ∞ after what was declared impossible."""
    limit: float
    raised: bool
    breaks: bool
    """Does it break the guarantee, once raised? A wrong policy only costs queries."""
    words: str
    """One sentence."""
    visible: float | None = None
    """The smallest difference that would have shown by now: between means (confounding, drift), of a share (policy). None: none
    would, or nobody asked."""
    size: float | None = None
    """Once raised, by how much and in which direction: how much more an arm pays with the mediator that stands out than with
    others (confounding), or later than before (drift); how much larger a share is than declared (policy), or than before
    (policy-drift)."""
    at: int | None = None
    """Of drift that was found: after about how many answers or rows."""


@dataclass(frozen=True)
class Facts:
    """What alarms look at; what was not kept is None, and not looked at."""

    family: Family
    arms: Sequence[str]
    mediators: Sequence[str]
    N_ea: Ints
    """[E, K], or [E, K+1] with a last column for silence."""
    declared: Sequence[Sequence[float] | None]
    """Of each mediator its policy; one that sums to less than 1 leaves the rest to silence. NaN and 0 are a support."""
    delta: float
    S_ea: Floats | None = None
    """[E, K] sums of rewards."""
    spread: Floats | None = None
    """[3 or more, K] second moments."""
    claimed: Claimed | None = None
    question: Question = BEST
    course: Course | None = None
    """What was counted on the way, in order."""
    unit: str = "answer"
    """What is counted: answers, or rows."""
    visible: bool = True
    """Shall what was not found say how large it would have had to be? That takes longer than to look for it."""
    hasty: bool = False
    """Is what was not found of no interest? Then nothing is looked at closely that cannot be raised."""


def alarm_of(kind: str, subject: str, log_e: float, limit: float, clause: str, meaning: str, breaks: bool = True) -> Alarm:
    """An alarm, in words: what is the case, and what that means for the answer."""
    raised, numbers = bool(log_e >= limit), f"(evidence {log_e:.1f} nats, limit {limit:.1f})"
    words = f"{clause[:1].upper()}{clause[1:]} {numbers}: {meaning}." if raised else f"No sign that {clause} {numbers}."
    return Alarm(kind, subject, float(log_e), limit, raised, breaks, words)


def with_size(alarm: Alarm, what: str, size: float) -> Alarm:
    """An alarm that was raised, with what stands out in numbers."""
    return replace(alarm, size=size, words=alarm.words.replace(" (evidence", f", {what} (evidence", 1))


def with_visible(alarm: Alarm, visible: float | None, shown: str, unit: str) -> Alarm:
    """An alarm that was not raised, with the smallest difference that would have shown."""
    words = f"there are too few {unit}s for any difference to show" if visible is None else shown
    return replace(alarm, visible=visible, words=f"{alarm.words.removesuffix('.')}; {words}.")
