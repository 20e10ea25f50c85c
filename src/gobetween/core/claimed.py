"""An answer that could be named, and what has spoken against it since."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gobetween.core.family import Family
from gobetween.core.opposed import opposition
from gobetween.core.question import Question
from gobetween.core.questions import BestArm
from gobetween.core.state import Tally

BEST = BestArm()


@dataclass(frozen=True)
class Claimed:
    """An answer that could be named, and the strongest evidence since that it is wrong."""

    arm: int
    """The one that was named or, of several, the one that the evidence is about."""
    since: int
    """Answers counted when it could be named."""
    rival: int = -1
    """The arm that is better; the arm itself where a level decides. −1: there was no evidence against it."""
    at: int = 0
    log_e: float = 0.0
    answer: tuple[int, ...] | None = None
    """The arms that could be named, where the question is not which is the best."""

    @classmethod
    def of(cls, question: Question, answer: tuple[int, ...], since: int) -> "Claimed":
        """An answer that can be named now."""
        return cls(answer[0] if answer else 0, since, answer=None if question == BEST else answer)

    @property
    def named(self) -> tuple[int, ...]:
        """The arms that could be named."""
        return (self.arm,) if self.answer is None else self.answer

    def placed(self, places: Sequence[int]) -> "Claimed":
        """The same where arm i stands at places[i]."""
        answer = None if self.answer is None else tuple(sorted(places[a] for a in self.answer))
        return replace(self, arm=places[self.arm], rival=places[self.rival] if self.rival >= 0 else -1, answer=answer)

    def seen(self, question: Question, family: Family, tally: Tally, t: int) -> "Claimed":
        """The same after a look at what t answers say: do they speak against it?"""
        found = opposition(question, family, tally, self.named) if t > self.since else None
        if found is None or not found[0] > self.log_e:
            return self
        return replace(self, arm=found[1], rival=found[2], at=t, log_e=found[0])

    def saved(self) -> list[Any]:
        """JSON-safe."""
        kept = [self.arm, self.since, self.rival, self.at, self.log_e]
        return kept if self.answer is None else [*kept, list(self.answer)]

    @classmethod
    def restored(cls, values: Sequence[Any]) -> "Claimed":
        """What `saved` wrote."""
        *kept, answer = values if len(values) > 5 else (*values, None)
        return replace(cls(*kept), answer=None if answer is None else tuple(answer))
