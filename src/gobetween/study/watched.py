"""What a learner keeps for its alarms, beside the compiled state: sums, second moments, a claim, counts on the way."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gobetween.core.claimed import Claimed
from gobetween.core.family import Family
from gobetween.core.question import Question
from gobetween.core.spread import add_reward, add_spread, new_spread, scale_of
from gobetween.core.state import Tally
from gobetween.core.types import Floats, Ints
from gobetween.study.moments import Moments, new_moments


@dataclass
class Watched:
    """None stands for what was not kept: by an earlier version, or of what was collected before."""

    S_ea: Floats | None
    """[E, K] sums of the rewards that were told."""
    spread: Floats | None
    """[3 or more, K] their second moments, where the family declares how far rewards spread."""
    claimed: Claimed | None = None
    moments: Moments | None = None

    def told(self, family: Family, e: int, a: int, x: float, step: int = 1) -> None:
        """An answer came or, with step −1, is taken out; the arm K is silence."""
        if self.S_ea is not None and a < self.S_ea.shape[1]:
            self.S_ea[e, a] += step * x
        sigma = scale_of(family)
        if sigma is not None and self.spread is not None and a < self.spread.shape[1]:
            add_reward(self.spread, a, x / sigma, step, family)

    def absorbed(self, N_a: Ints, S_ea: Floats | None, spread: Floats | None, claimed: Claimed | None) -> None:
        """What was collected before."""
        if N_a.any():
            self.S_ea = None if self.S_ea is None or S_ea is None else self.S_ea + S_ea
            if self.spread is not None and spread is not None:
                add_spread(self.spread, spread, N_a)
            else:
                self.spread = None
        self.claimed = claimed

    def looked(self, question: Question, family: Family, counted: Tally, t: int, certain: tuple[int, ...] | None) -> None:
        """After each counted answer: is an answer certain, or what contradicts the one that was?"""
        if self.claimed is None and certain is not None:
            self.claimed = Claimed.of(question, certain, t)
        elif self.claimed is not None:
            self.claimed = self.claimed.seen(question, family, counted, t)

    def saved(self) -> dict[str, Any]:
        """JSON-safe."""
        spread = None if self.spread is None else [[None if np.isnan(x) else x for x in row] for row in self.spread.tolist()]
        claimed = None if self.claimed is None else self.claimed.saved()
        kept = {"S_ea": None if self.S_ea is None else self.S_ea.tolist(), "spread": spread, "claimed": claimed}
        return kept | ({"drift": None} if self.moments is None else self.moments.saved())

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> "Watched":
        """What `saved` wrote; an earlier version kept the verdict alone."""
        S_ea, claimed = data.get("S_ea"), data.get("claimed")
        if "claimed" not in data and data["named"] is not None:
            claimed = [data["named"], int(data["verdict"]["counted"])]
        return cls(
            None if S_ea is None else np.array(S_ea, dtype=np.float64).reshape(len(S_ea), -1),
            as_spread(data.get("spread")),
            as_claimed(claimed),
            Moments.restored(data),
        )


def new_watched(family: Family, K: int, E: int, order: str) -> Watched:
    """Nothing seen."""
    spread = None if scale_of(family) is None else new_spread(K, family)
    return Watched(np.zeros((E, K)), spread, moments=new_moments(K, E, order))


def as_spread(rows: Any) -> Floats | None:
    """Second moments [3 or more, K] from JSON, where an origin may be null."""
    return None if rows is None else np.array([[np.nan if x is None else x for x in row] for row in rows], dtype=np.float64)


def as_claimed(values: Any) -> Claimed | None:
    """A claim from JSON."""
    return None if values is None else Claimed.restored(values)
