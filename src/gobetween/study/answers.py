"""Answers as the learner counts them: the place of the arm, and the reward; checked before anything changes."""

from gobetween.errors import Fix, ProblemError
from gobetween.export import choices
from gobetween.study.setup import Setup

Answer = tuple[int, float]
"""The arm's place (K: silence) and its reward."""


class TellError(ProblemError):
    """An answer that cannot be taken; nothing has changed."""


def place(name: object, names: tuple[str, ...], what: str) -> int:
    """Where a name stands; unknown ones are refused."""
    if name not in names:
        raise TellError(f"{what} {name!r} is not known: choose one of {choices(name, names)}")
    return names.index(str(name))


def coded(
    setup: Setup,
    arms: tuple[str, ...],
    mediators: tuple[str, ...],
    e: int,
    arm: str | None,
    reward: float | None,
    silent: bool,
    accept_surprise: bool,
) -> Answer:
    """An answer of mediator e; refused when it cannot be, or when what was declared says so and it is not accepted."""
    if silent:
        if arm is not None or reward is not None:
            raise TellError("silent=True means that no arm was pulled: leave out arm and reward")
        return len(arms), 0.0
    if arm is None or reward is None:
        raise TellError("an answer needs arm and reward, or that the mediator was silent")
    a, x = place(arm, arms, "arm"), setup.family.check_reward(reward)
    if setup.policies[e, a] == 0.0 and not accept_surprise:
        raise TellError(f"mediator {mediators[e]!r} was declared never to pull {arm!r}", fix=Fix("surprise"))
    return a, x
