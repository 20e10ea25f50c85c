"""What somebody guesses of the means before the first answer, and how much of the risk is staked on it (docs/stopping.md)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gobetween.core.ground.registry import classes
from gobetween.core.ground.types import Floats, Ints
from gobetween.core.ground.value import is_number
from gobetween.core.reward.family import LARGEST, SMALLEST, Family
from gobetween.errors import ProblemError

STAKE = 0.3
#: Weight on "any arm may be the best" beside the chances that the guess gives.
DOUBT = 0.1


@dataclass(frozen=True)
class Guess:
    """A guess of each arm's mean, made before the first answer, that saves queries if it is about right.

    **Safe**: a wrong guess costs queries, never the guarantee (docs/stopping.md). means: one for each arm. spread: how far off
    they may be, as a standard deviation: one number for all arms, or one for each. stake: the share of the risk that is staked
    on the guess; the rest proceeds as without one, so that even a guess far off costs at most −ln(1 − stake) nats of evidence.

    >>> gb.EProcess(guess=gb.Guess([1.5, 1.0, 0.7, 0.5], spread=0.1)).guess.stake
    0.3
    """

    means: tuple[float, ...]
    spread: tuple[float, ...]
    stake: float

    def __init__(self, means: Iterable[float], spread: float | Iterable[float], stake: float = STAKE) -> None:
        values = _numbers(means, "means", -LARGEST)
        spreads = (spread,) * len(values) if is_number(spread) else spread
        for name, value in (("means", values), ("spread", _numbers(spreads, "spread", SMALLEST)), ("stake", stake)):
            object.__setattr__(self, name, value)
        if len(self.spread) != len(self.means):
            raise ProblemError(
                f"spread has {len(self.spread)} entries for {len(self.means)} means: give one number, or one for each"
            )
        if not (is_number(stake) and 0.0 < stake < 1.0):
            raise ProblemError(f"stake = {stake!r}: must be a number between 0 and 1, such as {STAKE}")

    @classmethod
    def from_counts(cls, family: Family, N_a: Ints, S_a: Floats, shift: float = 0.0, stake: float = STAKE) -> "Guess":
        """What N_a earlier rewards with sums S_a suggest, which must not be counted: their means, with spread √(V/n + shift²).

        shift: by how much means may have changed since. Means at an end of what is possible are moved half a reward inside.
        """
        n, low, high = np.asarray(N_a, float), family.low, family.high
        if not (n > 0).all():
            raise ProblemError(f"arm {int(np.argmin(n))} has no rewards: a guess from counts needs some of each arm")
        inside = 0.5 * (min(high - low, 1.0) if np.isfinite(low) else 0.0) / (n + 1.0)
        means = np.clip(np.asarray(S_a, float) / n, low + inside, high - inside).tolist()
        own = [family.variance(mean) / count + shift * shift for mean, count in zip(means, n.tolist(), strict=True)]
        return cls(means, np.sqrt(own).tolist(), stake)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return {"means": list(self.means), "spread": list(self.spread), "stake": self.stake}

    def shares(self) -> Floats:
        """[K, K] u_ab: how the stake is shared among the arms a if b is the best; Σ over a ≠ b is 1."""
        q = (1.0 - DOUBT) * chances(self) + DOUBT / len(self.means)
        u = q[:, None] / np.array([np.delete(q, b).sum() for b in range(len(q))])
        np.fill_diagonal(u, 0.0)
        return np.asarray(u)


def as_guess(value: Any) -> Guess | None:
    """A guess, or what a file says of one."""
    if value is None or isinstance(value, Guess):
        return value
    if not (isinstance(value, Mapping) and {"means", "spread"} <= set(value) <= {"means", "spread", "stake"}):
        raise ProblemError("guess: give means and spread, and stake if you like: gb.Guess(means, spread, stake=0.3)")
    return Guess(**value)


def fitting(guess: Guess, K: int, family: Family) -> Guess:
    """The guess, if it is one of the means of K arms of a family that can have one."""
    if family.prior(guess.means[0], guess.spread[0]) is None:
        known = ", ".join(kind.name for kind in classes("family").values() if kind.prior is not Family.prior)
        raise ProblemError(f"a guess needs a family for which it has a closed form: {known}; {family.name} has none")
    if len(guess.means) != K:
        raise ProblemError(f"the guess has {len(guess.means)} means for {K} arms: give one for each")
    low, high = family.low, family.high
    for a, mean in enumerate(guess.means):
        if not low < mean < high:
            raise ProblemError(f"means[{a}] of the guess = {mean:g}: must lie between {low:g} and {high:g}, not at an end")
    return guess


def chances(guess: Guess) -> Floats:
    """[K] the chance of each arm to be the best if means are normal around the guess."""
    from scipy.special import ndtr

    means, spread = np.array(guess.means), np.array(guess.spread)
    z = np.linspace(-8.0, 8.0, 2001)
    found = np.empty(len(means))
    for a in range(len(means)):
        at = means[a] + spread[a] * z
        others = np.ones_like(z)
        for c in range(len(means)):
            if c != a:
                others *= ndtr((at - means[c]) / spread[c])
        found[a] = (np.exp(-0.5 * z * z) * others).sum()
    return np.asarray(found / found.sum())


def _numbers(values: Any, what: str, least: float) -> tuple[float, ...]:
    """Several finite numbers."""
    listed = list(values) if isinstance(values, (Iterable, Sequence)) and not isinstance(values, str) else None
    if not listed:
        raise ProblemError(f"{what} of a guess = {values!r}: give one number for each arm")
    for i, value in enumerate(listed):
        if not (is_number(value) and least <= value <= LARGEST):
            kind = "a positive number" if least > 0.0 else "a finite number"
            raise ProblemError(f"{what}[{i}] of a guess = {value!r}: must be {kind}")
    return tuple(map(float, listed))
