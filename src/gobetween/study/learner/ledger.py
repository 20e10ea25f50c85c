"""A ledger: answers, counted and summed, where any of them can be replaced or removed as if it had never been there.

A learner keeps two: of all answers that were told, and of those that the verdict counts.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gobetween.core.alarm.drift import moderate
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.ground.tally import Tally, add_exactly, count, fill, new_tally
from gobetween.core.reward.family import Family
from gobetween.core.reward.second_moments import add_reward, add_spread, new_spread, scale_of
from gobetween.study.learner.queries import Answer


@dataclass
class Ledger:
    """Answers, counted and summed; what is not kept, or no longer known, is None."""

    family: Family  # at work on these answers: one that learns from rewards has learnt from these
    tally: Tally
    exact: list[list[float]]  # [K] sums of rewards, each as floats that do not overlap
    N_ea: Ints | None  # [E, K + 1] answers of each mediator by arm; the last column counts silence
    S_ea: Floats | None = None  # [E, K] sums of rewards
    spread: Floats | None = None  # [3 or more, K] second moments, where the family declares how far rewards spread
    n: int = 0  # answers, silence included; of what was collected before without it

    def add(self, answer: Answer) -> None:
        """Count one more answer."""
        e, a, x = answer
        if a < len(self.exact):
            count(self.tally, a, x)
            self.family.count_reward(a, x, 1.0)
        if self.N_ea is not None:
            self.N_ea[e, a] += 1
        self.sum_up(answer)

    def sum_up(self, answer: Answer, step: int = 1) -> None:
        """Count what `observe` has not, which the compiled step counts an answer by; step −1 takes it out."""
        e, a, x = answer
        self.n += step
        if a < len(self.exact):
            add_exactly(self.exact[a], step * x)
            if self.S_ea is not None:
                self.S_ea[e, a] += step * x
            if self.spread is not None:
                add_reward(self.spread, a, x / (scale_of(self.family) or 1.0), step, self.family)

    def remove(self, answer: Answer) -> None:
        """Take an answer out."""
        self._change(answer, -1)

    def replace(self, old: Answer, new: Answer | None) -> None:
        """Count one answer instead of another; None: nothing instead."""
        self.remove(old)
        if new is not None:
            self._change(new, 1)

    def _change(self, answer: Answer, step: int) -> None:
        """Count an answer or take it out, with exact sums."""
        e, a, x = answer
        self.sum_up(answer, step)
        if self.N_ea is not None:
            self.N_ea[e, a] += step
        if a < len(self.exact):
            N_a, S_a, mu_hat = self.tally
            N_a[a] += step
            S_a[a] = math.fsum(self.exact[a]) if N_a[a] else 0.0
            mu_hat[a] = S_a[a] / N_a[a] if N_a[a] else 0.0
            self.family.count_reward(a, x, float(step))

    def absorb(self, N_ea: Ints, S_a: Floats, S_ea: Floats | None, spread: Floats | None) -> None:
        """Count what was collected before: answers [E, K + 1], the last column silence, and sums [K] of each arm's rewards."""
        N_a = N_ea[:, :-1].sum(axis=0)
        self.family.absorb_moments(N_a, spread)  # first, for it may refuse
        fill(self.tally, self.tally.N_a + N_a, self.tally.S_a + S_a)
        for partials, total in zip(self.exact, S_a.tolist(), strict=True):
            add_exactly(partials, total)
        self.n += int(N_a.sum())
        if self.N_ea is not None:
            self.N_ea += N_ea
        if N_a.any():
            self.S_ea = None if self.S_ea is None or S_ea is None else self.S_ea + S_ea
            self.spread = None if spread is None else self.spread
            if self.spread is not None and spread is not None:
                add_spread(self.spread, spread, N_a)

    def for_roster(self, family: Family, left: list[int], more: int) -> "Ledger":
        """The same for the arms at these places, and for more mediators; an answer about another arm is silence."""
        sums = self.family.reward_sums()
        if sums is not None:
            family.restore_sums(sums[:, left])
        return Ledger(
            family,
            Tally(self.tally.N_a[left], self.tally.S_a[left], self.tally.mu_hat[left]),
            [list(self.exact[a]) for a in left],
            roster_counts(self.N_ea, left, more),
            None if self.S_ea is None else np.vstack([self.S_ea[:, left], np.zeros((more, len(left)))]),
            None if self.spread is None else self.spread[:, left].copy(),
            self.n,
        )

    def to_dict(self) -> dict[str, Any]:
        exact = [list(partials) for partials in self.exact]
        kept = {"n": self.n, "N_a": self.tally.N_a, "S_a": self.tally.S_a, "exact": exact, "sums": self.family.reward_sums()}
        return kept | {"N_ea": self.N_ea, "S_ea": self.S_ea, "spread": self.spread}

    @classmethod
    def from_dict(cls, family: Family, data: Mapping[str, Any]) -> "Ledger":
        """What `to_dict` wrote, of a family at work on as many arms."""
        if data["sums"] is not None:
            family.restore_sums(data["sums"])
        tally = fill(new_tally(len(data["N_a"])), data["N_a"], data["S_a"])
        exact = [[float(x) for x in partials] for partials in data["exact"]]
        N_ea = None if data["N_ea"] is None else np.array(data["N_ea"], np.int64)
        return cls(family, tally, exact, N_ea, as_floats(data["S_ea"]), as_floats(data["spread"]), int(data["n"]))


def new_ledgers(family: Family, K: int, E: int) -> tuple[Ledger, Ledger]:
    """Nothing told, and nothing counted; of the latter mediators are told apart if there is room for it at each checkpoint."""
    told, counted = (Ledger(family.at_work(K), new_tally(K), [[] for _ in range(K)], None) for _ in range(2))
    told.N_ea, counted.N_ea = np.zeros((E, K + 1), np.int64), np.zeros((E, K + 1), np.int64) if moderate(E, K) else None
    told.S_ea, told.spread = np.zeros((E, K)), None if scale_of(family) is None else new_spread(K, family)
    return told, counted


def roster_counts(N_ea: Ints | None, left: list[int], more: int) -> Ints | None:
    """Counts [E, K + 1] for the arms at these places and for more mediators; of another arm they count as silence."""
    if N_ea is None:
        return None
    E, K = len(N_ea), len(left)
    made = np.zeros((E + more, K + 1), np.int64)
    made[:E, :K] = N_ea[:, left]
    made[:E, K] = N_ea.sum(axis=1) - made[:E, :K].sum(axis=1)
    return made


def as_floats(rows: Any) -> Floats | None:
    """A matrix from JSON, where null is NaN; None where there is none."""
    return None if rows is None else np.array(rows, dtype=np.float64)
