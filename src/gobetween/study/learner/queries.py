"""Queries and answers: what is open, what waits for an earlier answer before it is counted, and what cannot be an answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.ground.jit import Ints
from gobetween.core.problem.cast import Cast
from gobetween.core.reward.family import Family
from gobetween.errors import Fix, ProblemError
from gobetween.export import choose, is_whole
from gobetween.names import as_declared

Reply = tuple[str, float] | None  # an arm and its reward, by name; None is silence


class TellError(ProblemError):
    """An answer that cannot be taken; nothing has changed."""


class Answer(NamedTuple):
    """What a mediator answered, by places."""

    e: int  # the mediator
    a: int  # the arm; K: silence
    x: float  # its reward


@dataclass(frozen=True)
class Query:
    """Ask this mediator; answer with `tell(query, arm=…, reward=…)`."""

    id: int
    mediator: str


@dataclass
class Queries:
    """All queries of a learner. Answers that were not asked for have numbers too."""

    in_order: bool  # are answers counted in the order of their numbers, or as they come?
    N_e: Ints  # [E] queries of each mediator, open ones included, cancelled ones not
    issued: int = 0  # how many numbers have been given
    prefix: int = 0  # all numbers below this one are counted or cancelled
    open: dict[int, int] = field(default_factory=dict)  # number → the mediator who was asked, oldest first
    waiting: dict[int, Answer | None] = field(default_factory=dict)
    """Number → an answer that is not counted yet, because an earlier query is open; None: it counts for nothing."""

    def issue(self, e: int) -> int:
        """The number of the next query of mediator e, or of an answer that was not asked for."""
        self.N_e[e] += 1
        self.issued += 1
        return self.issued - 1

    def find(self, query: Query | int) -> tuple[int, int]:
        """The number of an open query, and who was asked."""
        number = query.id if isinstance(query, Query) else query
        if number not in self.open:
            known = 0 <= number < self.issued and number == int(number)
            raise TellError(f"query {number!r} {'has already been answered or cancelled' if known else 'was never asked'}")
        return number, self.open[number]

    def answered(self, number: Any, old: Answer, N_ea: Ints | None) -> int:
        """The number of an answer that was told; refused where it cannot have been."""
        if not is_whole(number) or not 0 <= number < self.issued or number in self.open:
            raise TellError(
                f"query {number!r} {'is still open' if is_whole(number) and number in self.open else 'was never asked'}"
            )
        if (N_ea is not None and N_ea[old.e, old.a] < 1) or self.waiting.get(int(number), old) != old:
            raise TellError(f"query {number} was not answered so: name the answer that was told before")
        return int(number)

    def resolve(self, number: int, answer: Answer | None) -> list[tuple[int, Answer]]:
        """Take an answer, or None for a cancelled query; what can be counted now, with its numbers."""
        if not self.in_order:
            return [] if answer is None else [(number, answer)]
        self.waiting[number], found = answer, []
        while self.prefix in self.waiting:
            ready = self.waiting.pop(self.prefix)
            if ready is not None:
                found.append((self.prefix, ready))
            self.prefix += 1
        return found

    def to_dict(self) -> dict[str, Any]:
        waiting = [[number, *(answer or ())] for number, answer in self.waiting.items()]
        opened = [list(item) for item in self.open.items()]
        return {"N_e": self.N_e, "issued": self.issued, "prefix": self.prefix, "open": opened, "waiting": waiting}

    @classmethod
    def from_dict(cls, in_order: bool, data: Mapping[str, Any]) -> "Queries":
        waiting = {number: Answer(*rest) if rest else None for number, *rest in data["waiting"]}
        N_e = np.array(data["N_e"], np.int64)
        return cls(in_order, N_e, data["issued"], data["prefix"], dict(data["open"]), waiting)


def place(name: object, names: tuple[str, ...], what: str) -> int:
    """Where a name stands; unknown ones are refused."""
    if name not in names:
        (name,) = as_declared([name], names)
    if name not in names:
        raise TellError(f"{what} {name!r} is not known: {choose(name, names)}")
    return names.index(str(name))


def replied(cast: Cast, family: Family, mediator: str, reply: Reply, accept_surprise: bool = True) -> Answer:
    """The answer that a mediator gave; None is silence."""
    if reply is not None and len(reply) != 2:
        raise TellError(f"{reply!r} is no answer: give a pair of arm and reward, or None for silence")
    arm, reward = reply or (None, None)
    return answer_of(cast, family, place(mediator, cast.mediators, "mediator"), arm, reward, reply is None, accept_surprise)


def answer_of(
    cast: Cast, family: Family, e: int, arm: str | None, reward: float | None, silent: bool, accept_surprise: bool
) -> Answer:
    """An answer of mediator e; refused when it cannot be, or when what was declared says so and it is not accepted."""
    if silent:
        if arm is not None or reward is not None:
            raise TellError("silent=True means that no arm was pulled: leave out arm and reward")
        return Answer(e, len(cast.arms), 0.0)
    if arm is None or reward is None:
        raise TellError("an answer needs arm and reward, or that the mediator was silent")
    a, x = place(arm, cast.arms, "arm"), family.check_reward(reward)
    if cast.policies[e, a] == 0.0 and not accept_surprise:
        raise TellError(f"mediator {cast.mediators[e]!r} was declared never to pull {arm!r}", fix=Fix("surprise"))
    return Answer(e, a, x)
