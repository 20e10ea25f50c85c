"""One voice: what is certain, what speaks against it, and the sentence that says so, for learner, study and log alike."""

from dataclasses import dataclass

from gobetween.core.alarms import Alarm, Facts, alarms_of
from gobetween.core.evidence import Evidence
from gobetween.core.family import Family
from gobetween.export import numbered

GREEK = {"sigma": "σ"}


@dataclass(frozen=True)
class Account:
    """What counted answers come to, with the alarms about them."""

    leader: str | None
    """The arm that leads, or that a verdict has named; None while nothing is known."""
    certain: bool
    """By the stopping rule; an alarm may still break it."""
    delta: float
    counted: int
    alarms: tuple[Alarm, ...]
    """All checks, raised or not, the worst first."""

    @property
    def broken(self) -> Alarm | None:
        """The first alarm that breaks the guarantee: then no arm is named."""
        return broken(self.alarms)

    def headline(
        self, unit: str = "counted answer", who: str = "the learner", condition: str = "", best: str = "The best arm"
    ) -> str:
        """The answer in one sentence; what is wrong, if something is. `condition` is the end of a guarantee's sentence."""
        if self.broken is not None:
            return f"An assumption does not hold, and no arm is named: {self.broken.words}"
        if self.leader is None:
            return f"Nothing is known yet: no {unit.removeprefix('counted ')} has been counted."
        if self.certain:
            return f"{best} is {self.leader!r}; this is wrong with probability at most {self.delta:g}{condition}."
        return f"{self.leader!r} leads after {numbered(self.counted, unit)}; {who} is not sure yet."


def broken(alarms: tuple[Alarm, ...]) -> Alarm | None:
    """The first alarm that is raised and breaks the guarantee."""
    return next((alarm for alarm in alarms if alarm.raised and alarm.breaks), None)


def account(facts: Facts, evidence: Evidence, counted: int, named: int | None = None) -> Account:
    """What evidence after so many answers and the facts come to; `named` is the arm of a verdict that stays."""
    best = evidence.leader if named is None else named
    leader = facts.arms[best] if counted or named is not None else None
    return Account(leader, named is not None or evidence.reached, facts.delta, counted, alarms_of(facts))


def family_words(family: Family) -> str:
    """A family with its parameters, for people: gaussian, σ = 2."""
    return ", ".join([family.name, *(f"{GREEK.get(key, key)} = {value:g}" for key, value in family.parameters().items())])
