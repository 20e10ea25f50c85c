"""One voice: what is certain, what speaks against it, and the sentence that says so, for learner, study and log alike."""

from dataclasses import dataclass

from gobetween.core.alarm import Alarm, Facts
from gobetween.core.alarms import alarms_of
from gobetween.core.asked import BEST
from gobetween.core.evidence import Evidence, NearTie
from gobetween.core.family import Family
from gobetween.core.question import Question
from gobetween.core.visible import about
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
    answer: tuple[str, ...] = ()
    """The arms that are named, or would be now: the leader, unless another question is asked."""
    question: Question = BEST

    @property
    def broken(self) -> Alarm | None:
        """The first alarm that breaks the guarantee: then no arm is named."""
        return broken(self.alarms)

    def headline(
        self, unit: str = "counted answer", who: str = "the learner", condition: str = "", best: str = "The best arm"
    ) -> str:
        """The answer in one sentence; what is wrong, if something is. `condition` is the end of a guarantee's sentence."""
        if self.broken is not None:
            return broken_words(self.broken)
        if self.leader is None:
            return f"Nothing is known yet: no {unit.removeprefix('counted ')} has been counted."
        if self.certain:
            named = self.question.sentence(self.answer) if self.question != BEST else f"{best} is {self.leader!r}"
            return f"{named}; this is wrong with probability at most {self.delta:g}{condition}."
        if self.question != BEST:
            seems = self.question.sentence(self.answer)
            return f"{seems}, it seems after {numbered(self.counted, unit)}; {who} is not sure yet."
        return f"{self.leader!r} leads after {numbered(self.counted, unit)}; {who} is not sure yet."


def broken_words(alarm: Alarm) -> str:
    """What is said instead of an answer."""
    return f"An assumption does not hold, and no arm is named: {alarm.words}"


def broken(alarms: tuple[Alarm, ...]) -> Alarm | None:
    """The first alarm that is raised and breaks the guarantee."""
    return next((alarm for alarm in alarms if alarm.raised and alarm.breaks), None)


def account(
    facts: Facts, evidence: Evidence, counted: int, named: tuple[int, ...] | None = None, question: Question = BEST
) -> Account:
    """What evidence after so many answers and the facts come to; `named` are the arms of a verdict that stays."""
    arms = evidence.answer if named is None else named
    best = arms[0] if question == BEST else evidence.leader
    leader = facts.arms[best] if counted or named is not None else None
    certain, answer = named is not None or evidence.reached, tuple(facts.arms[a] for a in arms)
    return Account(leader, certain, facts.delta, counted, alarms_of(facts), answer, question)


def against(question: Question, leader: str | None) -> str:
    """What a p-value speaks against."""
    return f"some other arm is strictly better than {leader!r}" if question == BEST else "this answer is wrong"


def near_words(near: NearTie | None, left: bool) -> list[str]:
    """That two arms will not be told apart, by what is `left` or by many times what there is, and what to do about it."""
    if near is None:
        return []
    both = f"{near.leader!r} and {near.rival!r}"
    told = f"the smallest gap that {near.more:,} more answers about these two can tell is about {about(near.resolvable)}"
    first = (
        f"{both} cannot be told apart with what is left"
        if left
        else f"At the present estimates {both} can hardly be told apart"
    )
    return [f"{first}: {told}, they are {about(near.gap)} apart.", *epsilon_words(near)]


def epsilon_words(near: NearTie | None) -> list[str]:
    """The advice to be content with less."""
    if near is None or near.eps is None:
        return []
    return [f"Whoever asks for the best up to ε (question epsilon-best, eps = {near.eps:g}) is done earlier."]


def question_words(question: Question) -> str:
    """A question with its parameters, for people: top-m, m = 2."""
    return ", ".join([question.name, *(f"{key} = {value:g}" for key, value in question.parameters().items())])


def family_words(family: Family) -> str:
    """A family with its parameters, for people: gaussian, σ = 2; gaussian, σ unknown."""
    shown = {key: value if isinstance(value, str) else f"= {value:g}" for key, value in family.parameters().items()}
    return ", ".join([family.name, *(f"{GREEK.get(key, key)} {value}" for key, value in shown.items())])
