"""Alarms about the world, as e-values: whenever one looks, a false alarm at level α has probability at most α.

What an alarm is, what it looks at, and all that are raised: the checks of the files of this folder. Then what several of them
need: which sample differs most from the others, which share is farthest from its policy, and how large a difference would have
been detected.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import numpy as np

from gobetween.core.evidence.policy_evidence import LEVEL as LEVEL
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.question.question import Question
from gobetween.core.question.questions import BEST
from gobetween.core.reward.family import Family

if TYPE_CHECKING:
    from gobetween.core.alarm.contradiction import Claim
    from gobetween.core.alarm.drift import Trajectory


@dataclass(frozen=True, kw_only=True)
class Details:
    """What the sentence of an alarm needs besides its numbers; each kind has its own."""

    unit: str = "answer"  # what is counted: answers, or rows
    looked: bool = False  # of an alarm that was not raised: was it looked how large a difference would have shown?


@dataclass(frozen=True)
class Sentence(Details):
    """A sentence that was made elsewhere, such as by a service."""

    words: str


@dataclass(frozen=True)
class Alarm:
    """One check, raised or not."""

    kind: str  # policy, confounding, scale, contradiction, drift or policy-drift
    subject: str
    """The mediator (policy, policy-drift), the arm (confounding, contradiction, drift) or what was declared (scale)."""
    log_e: float  # evidence in nats; under the limit an upper bound of it; ∞ after what was declared impossible
    limit: float
    raised: bool
    breaks: bool  # does it break the guarantee, once raised? A wrong policy only costs queries
    details: Details = field(compare=False)  # what else its sentence tells
    detectable: float | None = None
    """The smallest difference that would have shown by now: between means (confounding, drift), of a share (policy). None: none
    would, or it was not computed."""
    size: float | None = None
    """Once raised, by how much and in which direction: how much more an arm pays with the mediator that stands out than with
    others (confounding), or later than before (drift); how much larger a share is than declared (policy), or than before
    (policy-drift)."""
    at: int | None = None  # of drift that was found: after about how many answers or rows

    @property
    def words(self) -> str:
        """One sentence."""
        from gobetween.words.alarms import sentence

        return sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """With its sentence instead of the details."""
        return {name: getattr(self, name) for name in SHOWN}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Alarm":
        """What `to_dict` described; JSON knows no ∞."""
        held = {name: data[name] for name in SHOWN if name != "words"}
        return cls(**held | {"log_e": math.inf if data["log_e"] is None else data["log_e"]}, details=Sentence(data["words"]))


SHOWN = ("kind", "subject", "log_e", "limit", "raised", "breaks", "words", "detectable", "size", "at")


@dataclass(frozen=True)
class Facts:
    """What alarms look at; what was not kept is None, and not looked at."""

    family: Family
    arms: Sequence[str]
    mediators: Sequence[str]
    N_ea: Ints  # [E, K], or [E, K+1] with a last column for silence
    declared: Sequence[Sequence[float] | None]
    """Of each mediator its policy; one that sums to less than 1 leaves the rest to silence. NaN and 0 are a support."""
    delta: float
    S_ea: Floats | None = None  # [E, K] sums of rewards
    spread: Floats | None = None  # [3 or more, K] second moments
    claim: "Claim | None" = None
    question: Question = BEST
    trajectory: "Trajectory | None" = None  # what was counted on the way, in order
    unit: str = "answer"  # what is counted: answers, or rows
    detectable: bool = True
    """Shall what was not found say how large it would have had to be? That takes longer than to look for it."""
    hasty: bool = False  # is what was not found of no interest? Then nothing is looked at closely that cannot be raised


@dataclass(frozen=True)
class Check:
    """Looks for alarms of one kind."""

    rank: int  # of several alarms that break the guarantee, that of the check with the lowest rank is the headline
    breaks: bool  # can what it finds break the guarantee?
    find: Callable[[Facts], list[Alarm]]


def check(rank: int, breaks: bool = True) -> Callable[[Callable[[Facts], list[Alarm]]], Check]:
    """Makes a check of a function; `checks` finds it."""
    return partial(Check, rank, breaks)


@cache
def checks() -> tuple[Check, ...]:
    """Those of all files of this folder; of several alarms the first one that breaks the guarantee is the headline."""
    modules = [import_module(f"{__package__}.{found.name}") for found in iter_modules([str(Path(__file__).parent)])]
    found = (one for module in modules for one in vars(module).values() if isinstance(one, Check))
    return tuple(sorted(found, key=attrgetter("rank")))


def alarms_of(facts: Facts) -> tuple[Alarm, ...]:
    """All alarms, raised or not."""
    return tuple(alarm for one in checks() for alarm in one.find(facts))


def broken_by(facts: Facts) -> Alarm | None:
    """The first alarm that is raised and breaks the guarantee; others are not even looked at."""
    facts = replace(facts, detectable=False, hasty=True)
    return broken(alarm for one in checks() if one.breaks for alarm in one.find(facts))


def broken(alarms: Iterable[Alarm]) -> Alarm | None:
    """The first alarm that is raised and breaks the guarantee."""
    return next((alarm for alarm in alarms if alarm.raised and alarm.breaks), None)


def alarm_of(kind: str, subject: str, log_e: float, limit: float, details: Details, breaks: bool = True) -> Alarm:
    """An alarm, raised if the evidence reaches its limit."""
    return Alarm(kind, subject, float(log_e), limit, bool(log_e >= limit), breaks, details)


def most_different(family: Family, n: Ints, S: Floats) -> tuple[int, float, float]:
    """Of samples with counts n > 0 and sums S the one that differs most from all others together; its mean and theirs."""
    common, rest_n, rest_S = float(S.sum() / n.sum()), n.sum() - n, S.sum() - S
    rest = np.clip(rest_S / rest_n, family.low, family.high)  # what rounding has left may be impossible
    told = [
        k * family.kl(float(total / k), common) + m * family.kl(float(mean), common)
        for k, total, m, mean in zip(n.tolist(), S.tolist(), rest_n.tolist(), rest.tolist(), strict=True)
    ]
    one = int(np.argmax(told))
    return one, float(S[one] / n[one]), float(rest[one])


def most_off(counts: Ints, policy: Floats) -> tuple[int, float, float]:
    """The outcome whose share differs from its probability by most standard errors; the share and the probability."""
    shares, error = counts / counts.sum(), np.sqrt(np.maximum(policy * (1.0 - policy), 1e-12) / counts.sum())
    one = int(np.argmax(np.abs(shares - policy) / error))
    return one, float(shares[one]), float(policy[one])


MARGIN = 0.5  # in standard errors


def least_detectable(evidence: Callable[[float], float], error: float, room: float, limit: float) -> float | None:
    """The difference, up to `room`, that would have been detected in about two cases of three; None: none would.

    Half a standard error more than that at which the evidence of data as they are expected reaches its limit, to 1%. Evidence
    grows about as d²/(2 · error²), from below the limit at d = 0: the first steps take it to be c·d², the others bisect.
    """
    if not room > 0.0:
        return None
    base, most = evidence(0.0), room * (1.0 - 1e-6)  # an end itself may not be a mean
    low, high = 0.0, math.inf
    d = min(most, error * math.sqrt(2.0 * max(0.0, limit - base)))
    for step in range(60):
        gained = evidence(d) - base
        factor = math.sqrt((limit - base) / gained) if gained > 0.0 else math.inf
        if factor > 1.0 and d >= most:
            return None
        low, high = (d, high) if factor > 1.0 else (low, d)
        if abs(factor - 1.0) < 0.01 or high - low < 0.01 * high:
            break
        guess = d * min(4.0, max(0.25, factor))
        d = min(most, guess if high == math.inf or (step < 4 and low < guess < high) else 0.5 * (low + high))
    return min(most, d + MARGIN * error)
