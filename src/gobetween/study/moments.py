"""What a learner has counted at the splits of `core/drift.py`, kept as answers are counted, corrected as they are corrected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gobetween.core.drift import Course, Moment, moderate, split_after, split_at
from gobetween.core.state import Tally
from gobetween.core.types import Ints
from gobetween.study.answers import Answer


@dataclass
class Moments:
    """Those so far, and what is needed for the next."""

    ordered: bool
    """Are answers counted in the order of their numbers?"""
    N_ea: Ints | None
    """[E, K + 1] counted answers of each mediator; None where that is too much to keep, or no longer known."""
    kept: list[Moment] = field(default_factory=list)
    j: int = 0
    """The next split."""
    waiting: dict[int, int] = field(default_factory=dict)
    """Who gave the answers that are told and not counted yet."""

    def counted(self, number: int, a: int, t: int, tally: Tally) -> None:
        """The answer to a query, arm a or with K silence, is the t-th that is counted."""
        e = self.waiting.pop(number)
        if self.N_ea is not None:
            self.N_ea[e, a] += 1
        if t >= split_at(self.j):
            self.kept.append(self._now(self.j, number, tally))
            self.j = max(self.j + 1, split_after(t))

    def _now(self, j: int, last: int, tally: Tally) -> Moment:
        return Moment(j, last, tally.N_a.copy(), tally.S_a.copy(), None if self.N_ea is None else self.N_ea.copy())

    def absorbed(self, N_ea: Ints, kept: Sequence[Moment], silent: bool) -> None:
        """What was collected before, with what had been counted on the way, where that is known. Where mediators may be silent
        policies are watched no more: when they were so before is not known.
        """
        self.j, self.kept = split_after(int(N_ea.sum())), list(kept)
        if self.N_ea is not None:
            self.N_ea[:, :-1] += N_ea
        if self.N_ea is None or silent or any(moment.N_ea is None for moment in kept):
            self._forget_policies()

    def _forget_policies(self) -> None:
        self.N_ea, self.kept = None, [moment._replace(N_ea=None) for moment in self.kept]

    def replaced(self, number: int, e: int, before: Answer, after: Answer | None = None) -> None:
        """A counted answer was another, or is taken out.

        Where answers are not counted in the order of their numbers it is not known at which splits it had been counted: then
        these are forgotten, and those to come are kept.
        """
        if not self.ordered:
            self.kept = []
        for (a, x), step in ((before, -1), *(((after, 1),) if after is not None else ())):
            if self.N_ea is not None:
                self.N_ea[e, a] += step
            for moment in self._with(number):
                if a < len(moment.N_a):
                    moment.N_a[a] += step
                    moment.S_a[a] = moment.S_a[a] + step * x if moment.N_a[a] else 0.0
                if moment.N_ea is not None:
                    moment.N_ea[e, a] += step

    def moved(self, number: int | None, e: int, other: int, a: int) -> None:
        """An answer of one mediator was another's; where nobody says which answer, policies are watched no more."""
        if number is None:
            self._forget_policies()
        elif number in self.waiting:
            self.waiting[number] = other
        elif self.N_ea is not None:
            self.kept = self.kept if self.ordered else []
            for counts in (self.N_ea, *(moment.N_ea for moment in self._with(number))):
                if counts is not None:
                    counts[e, a] -= 1
                    counts[other, a] += 1

    def _with(self, number: int) -> list[Moment]:
        """Those at which the answer to a query had been counted."""
        return [moment for moment in self.kept if moment.last >= number]

    def course(self, tally: Tally, silent: bool) -> Course:
        """What alarms look at; where nobody may be silent there is no such outcome."""
        found = [*self.kept, self._now(-1, -1, tally)]
        if not silent:
            found = [one if one.N_ea is None else one._replace(N_ea=one.N_ea[:, :-1]) for one in found]
        return Course(found[:-1], found[-1])

    def recast(self, left: Sequence[int], more: int) -> "Moments":
        """The same for the arms at these places, and for so many mediators more; what another arm was is silence."""

        def rows(N_ea: Ints | None) -> Ints | None:
            if N_ea is None or not moderate(len(N_ea) + more, len(left)):
                return None
            out = [a for a in range(N_ea.shape[1]) if a not in left]
            made = np.column_stack([N_ea[:, list(left)], N_ea[:, out].sum(axis=1)])
            return np.vstack([made, np.zeros((more, len(left) + 1), np.int64)])

        kept = [one._replace(N_a=one.N_a[list(left)], S_a=one.S_a[list(left)], N_ea=rows(one.N_ea)) for one in self.kept]
        return Moments(self.ordered, rows(self.N_ea), kept, self.j, dict(self.waiting))

    def saved(self) -> dict[str, Any]:
        """JSON-safe, matrices by themselves."""
        N_ea = [] if self.N_ea is None else [*(one.N_ea for one in self.kept), self.N_ea]  # all of them, or none
        kept = [[one.j, one.last] for one in self.kept]
        return {
            "drift": {"next": self.j, "kept": kept, "waiting": [list(item) for item in self.waiting.items()]},
            "drift_N_a": [one.N_a.tolist() for one in self.kept],
            "drift_S_a": [one.S_a.tolist() for one in self.kept],
            "drift_N_ea": [one.tolist() for one in N_ea if one is not None],
        }

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> "Moments | None":
        """What `saved` wrote; None for a learner of a version that kept none of this."""
        if data.get("drift") is None:
            return None
        drift = data["drift"]
        found: list[Ints | None] = [np.array(one, np.int64) for one in data["drift_N_ea"]]
        *rows, N_ea = found or [None] * (1 + len(drift["kept"]))
        columns = zip(drift["kept"], data["drift_N_a"], data["drift_S_a"], rows, strict=True)
        kept = [
            Moment(int(j), int(last), np.array(N_a, np.int64), np.array(S_a, np.float64), counts)
            for (j, last), N_a, S_a, counts in columns
        ]
        waiting = {int(number): int(e) for number, e in drift["waiting"]}
        return cls(data["order"] == "issue", N_ea, kept, int(drift["next"]), waiting)


def new_moments(K: int, E: int, order: str) -> Moments:
    """Nothing counted."""
    return Moments(order == "issue", np.zeros((E, K + 1), np.int64) if moderate(E, K) else None)


def as_moments(rows: Any) -> list[Moment]:
    """What was counted on the way through a log, where nobody is silent, from JSON."""
    return [
        Moment(
            j, -1, np.array(N_a, np.int64), np.array(S_a, np.float64), None if N_ea is None else np.pad(N_ea, ((0, 0), (0, 1)))
        )
        for j, N_a, S_a, N_ea in rows or ()
    ]
