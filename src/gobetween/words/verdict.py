"""The answer to a question: what is certain or seems so, what speaks against it, and two arms that will not be told apart."""

from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING

from gobetween.core.alarm.alarm import Alarm
from gobetween.core.question.question import Question
from gobetween.core.question.questions import BestArm, EpsilonBest, Threshold, TopM
from gobetween.core.reward.family import Family
from gobetween.core.verdict.evidence_report import Account, NearTie
from gobetween.export import listed, numbered, some
from gobetween.words.numbers import about, at_most

if TYPE_CHECKING:
    from gobetween.simulation.guess_worth import GuessWorth

GREEK = {"sigma": "σ"}
MOST_NAMES = 8
REVIEW = "Since then answers were corrected or taken out, and the evidence is no longer enough for it."


@singledispatch
def answer_words(question: Question, names: Sequence[str]) -> str:
    """An answer, without its guarantee."""
    return f"The answer is {listed(names)}"


@answer_words.register
def _(question: BestArm, names: Sequence[str]) -> str:
    return f"The best arm is {names[0]!r}"


@answer_words.register
def _(question: TopM, names: Sequence[str]) -> str:
    return f"The best {question.m} arms are {listed(names)}" if question.m > 1 else f"The best arm is {names[0]!r}"


@answer_words.register
def _(question: EpsilonBest, names: Sequence[str]) -> str:
    return f"No arm is better than {names[0]!r} by more than {question.eps:g}"


@answer_words.register
def _(question: Threshold, names: Sequence[str]) -> str:
    if not names:
        return f"No arm has a mean above {question.theta:g}"
    if len(names) == 1:
        return f"The only arm with a mean above {question.theta:g} is {names[0]!r}"
    return f"Only these arms have a mean above {question.theta:g}: {listed(names)}"


def opposite_words(question: Question, answer: Sequence[str], arm: str, rival: str) -> str:
    """What was certain instead of an answer, about an arm and a rival."""
    if question.names_leader:
        return f"{rival} is certain to be better"
    if question.level() is not None:
        return f"the mean of {arm!r} is certain to lie {'below' if arm in answer else 'above'} {question.level():g}"
    by = f" by more than {question.shift():g}" if question.shift() > 0.0 else ""
    return f"{rival} is certain to be better than {arm!r}{by}"


def headline(
    found: Account, unit: str = "counted answer", who: str = "the learner", condition: str = "", best: str = "The best arm"
) -> str:
    """The answer in one sentence; what is wrong, if something is. `condition` is the end of a guarantee's sentence."""
    if found.broken is not None:
        return broken_words(found.broken)
    if found.leader is None:
        return f"Nothing is known yet: no {unit.removeprefix('counted ')} has been counted."
    said = f"{best} is {found.leader!r}" if found.question.names_leader else found.question.sentence(found.answer)
    if found.doubted:
        return f"Under review: the verdict was “{said}”. {REVIEW}"
    if found.certain:
        return f"{said}; this is {at_most(found.delta)}{condition}."
    seems = f"{found.leader!r} leads" if found.question.names_leader else f"{said}, it seems"
    return f"{seems} after {numbered(found.counted, unit)}; {who} is not sure yet."


def broken_words(alarm: Alarm) -> str:
    """What is said instead of an answer."""
    return f"No recommendation, because an assumption is violated: {alarm.words}"


def against(question: Question, leader: str | None) -> str:
    """What a p-value speaks against."""
    return f"some other arm is strictly better than {leader!r}" if question.names_leader else "this answer is wrong"


def in_play_words(names: Sequence[str], K: int, delta: float) -> str:
    """Which of K arms can still be best, and at which risk the others were left out."""
    out = K - len(names)
    if not out:
        return "Every arm can still be the best."
    rest = "the other arm is" if out == 1 else f"the other {out:,} arms are"
    return f"Still in play: {some(names, MOST_NAMES)}; {rest} ruled out ({at_most(delta)})."


def near_words(near: NearTie | None, left: bool) -> list[str]:
    """That two arms will not be told apart, by what is `left` or by many times what there is, and what to do about it."""
    if near is None:
        return []
    both = f"{near.leader!r} and {near.rival!r}"
    first = f"The remaining budget cannot separate {both}" if left else f"{both} are nearly tied"
    needs = f"{near.more:,} more answers about these two detect a gap of {about(near.resolvable)}"
    return [f"{first}: they are {about(near.gap)} apart, and {needs}.", *epsilon_words(near)]


def epsilon_words(near: NearTie | None) -> list[str]:
    """The advice to be content with less."""
    if near is None or near.eps is None:
        return []
    question = f"question epsilon-best, eps = {near.eps:g}"
    return [f"If any arm within {near.eps:g} of the best will do, ask for that ({question}): it is faster."]


def question_words(question: Question) -> str:
    """A question with its parameters: top-m, m = 2."""
    return ", ".join([question.name, *(f"{key} = {value:g}" for key, value in question.parameters().items())])


def family_words(family: Family) -> str:
    """A family with its parameters: gaussian, σ = 2; gaussian, σ unknown."""
    shown = {key: value if isinstance(value, str) else f"= {value:g}" for key, value in family.parameters().items()}
    return ", ".join([family.name, *(f"{GREEK.get(key, key)} {value}" for key, value in shown.items())])


def guess_words(worth: "GuessWorth") -> str:
    """What a guess is worth, in queries."""
    right, off, wrong = (_saves(worth.without - mean) for mean in (worth.right, worth.off, worth.reversed))
    cases = f"{right} if it is right, {off} if each mean is off by its spread, and {wrong} if the order is reversed"
    return f"Your guess at {worth.delta:g}: it {cases}; the answer is as safe either way."


def _saves(queries: float) -> str:
    if abs(queries) < 1.0:
        return "changes nothing"
    n = round(abs(queries))
    return f"{'saves' if queries > 0.0 else 'costs'} about {about(n)} {'query' if n == 1 else 'queries'}"
