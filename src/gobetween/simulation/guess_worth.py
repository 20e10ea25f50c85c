"""What a guess is worth: mean queries without it, and with it if it is right, a little off, or wrong, by simulation."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gobetween.core.evidence.guess import Guess
from gobetween.simulation.runs import Runs


@dataclass(frozen=True)
class GuessWorth:
    """Mean queries at one risk δ, the means being those of the file."""

    delta: float
    without: float
    right: float
    off: float
    """Each mean is off by its spread, the best one down and the others up."""
    reversed: float
    """The best arm is guessed to be the worst, and so on."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return asdict(self)


def guess_worth(guess: Guess, right: Runs, play: Callable[[Guess | None], Runs]) -> tuple[GuessWorth, ...]:
    """For each risk of `right`, runs in which the guess was right; `play` makes as many with another guess or none."""
    means, spread = np.array(guess.means), np.array(guess.spread)
    off = means + np.where(np.arange(len(means)) == means.argmax(), -spread, spread)
    order = np.empty(len(means))
    order[np.argsort(means)] = np.sort(means)[::-1]
    others = (None, replaced(guess, off), replaced(guess, order))
    found = [play(other).tau.mean(axis=0).tolist() for other in others]
    rows = zip(right.deltas, found[0], right.tau.mean(axis=0).tolist(), *found[1:], strict=True)
    return tuple(GuessWorth(*row) for row in rows)


def replaced(guess: Guess, means: Any) -> Guess:
    """The same guess of other means."""
    return Guess(means.tolist(), guess.spread, guess.stake)
