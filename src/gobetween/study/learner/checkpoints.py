"""What a learner has counted at the splits of `core/alarm/drift.py`: grows with each counted answer, follows corrections."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gobetween.core.alarm.drift import Checkpoint, Trajectory, split_after, split_at
from gobetween.study.learner.ledger import Ledger, roster_counts
from gobetween.study.learner.queries import Answer


@dataclass
class Checkpoints:
    """Those so far."""

    kept: list[Checkpoint] = field(default_factory=list)
    j: int = 0  # the next split

    def follow(self, number: int, counted: Ledger) -> None:
        """The answer to a query was counted, the last of these."""
        if counted.n >= split_at(self.j):
            self.kept.append(_copied(self.j, number, counted))
            self.j = max(self.j + 1, split_after(counted.n))

    def replace(self, number: int, old: Answer, new: Answer | None) -> None:
        """An answer was another, or is taken out, where answers are counted in the order of their numbers."""
        for checkpoint in self.kept:
            if checkpoint.last >= number:
                _change(checkpoint, old, -1)
                if new is not None:
                    _change(checkpoint, new, 1)

    def forget_policies(self) -> None:
        """Keep arms apart, and mediators no more."""
        self.kept = [checkpoint._replace(N_ea=None) for checkpoint in self.kept]

    def trajectory(self, counted: Ledger, silent: bool) -> Trajectory:
        """What alarms look at; where mediators may not be silent there is no such outcome."""
        found = [*self.kept, _copied(-1, -1, counted)]
        if not silent:
            found = [one if one.N_ea is None else one._replace(N_ea=one.N_ea[:, :-1]) for one in found]
        return Trajectory(found[:-1], found[-1])

    def for_roster(self, left: list[int], more: int) -> "Checkpoints":
        """The same for the arms at these places, and for more mediators."""
        kept = [
            Checkpoint(j, last, N_a[left], S_a[left], roster_counts(N_ea, left, more)) for j, last, N_a, S_a, N_ea in self.kept
        ]
        return Checkpoints(kept, self.j)

    def to_dict(self) -> dict[str, Any]:
        N_ea = [one.N_ea for one in self.kept if one.N_ea is not None]  # all of them, or none
        return {
            "next": self.j,
            "kept": [[one.j, one.last] for one in self.kept],
            "N_a": np.array([one.N_a for one in self.kept]),
            "S_a": np.array([one.S_a for one in self.kept]),
            "N_ea": np.array(N_ea) if N_ea else None,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Checkpoints":
        kept, rows = data["kept"], data["N_ea"]
        N_ea = [None] * len(kept) if rows is None else [np.array(row, np.int64) for row in rows]
        columns = zip(kept, data["N_a"], data["S_a"], N_ea, strict=True)
        found = [
            Checkpoint(j, last, np.array(N, np.int64), np.array(S, np.float64), counts) for (j, last), N, S, counts in columns
        ]
        return cls(found, data["next"])


def _copied(j: int, last: int, counted: Ledger) -> Checkpoint:
    tally, N_ea = counted.tally, counted.N_ea
    return Checkpoint(j, last, tally.N_a.copy(), tally.S_a.copy(), None if N_ea is None else N_ea.copy())


def _change(checkpoint: Checkpoint, answer: Answer, step: int) -> None:
    """Count an answer, or take it out."""
    e, a, x = answer
    if a < len(checkpoint.N_a):
        checkpoint.N_a[a] += step
        checkpoint.S_a[a] = checkpoint.S_a[a] + step * x if checkpoint.N_a[a] else 0.0
    if checkpoint.N_ea is not None:
        checkpoint.N_ea[e, a] += step


def as_checkpoints(rows: Sequence[Any] | None) -> list[Checkpoint]:
    """What was counted on the way through a log, where none is silent, from JSON."""
    found = [(j, np.array(N_a), np.array(S_a, np.float64), N_ea) for j, N_a, S_a, N_ea in rows or ()]
    return [Checkpoint(j, -1, N_a, S_a, N_ea and np.pad(N_ea, ((0, 0), (0, 1)))) for j, N_a, S_a, N_ea in found]
