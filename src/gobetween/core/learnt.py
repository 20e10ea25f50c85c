"""A family at work that learns how far rewards spread: how it is filled, copied, widened and planned with."""

import math
from typing import Any

import numpy as np

from gobetween.core.families import Gaussian
from gobetween.core.family import Family
from gobetween.core.spread import add_spread
from gobetween.core.student import precision_of
from gobetween.core.types import Floats, Ints
from gobetween.core.unknown import Student
from gobetween.errors import ProblemError


def plug_in(family: Family) -> Family:
    """A family to plan with: that of the estimated spread where none is known."""
    return Gaussian(math.sqrt(0.5 / family.plug[0])) if isinstance(family, Student) else family


def with_arms(family: Family, K: int) -> Family:
    """A family at work, with room for K arms; a further one has paid nothing yet."""
    if not isinstance(family, Student):
        return family
    more = K - family.sums.shape[1]
    return family._replace(sums=np.pad(family.sums, ((0, 0), (0, more)))) if more else family


def copied_family(family: Family) -> Family:
    """A family at work, with arrays of its own."""
    return family._replace(sums=family.sums.copy(), plug=family.plug.copy()) if isinstance(family, Student) else family


def restore_sums(family: Family, sums: Any) -> None:
    """Have a family at work go on from sums [4, K]."""
    if isinstance(family, Student):
        family.sums[:] = sums
        family.plug[0] = precision_of(family.sums)


def absorb_moments(family: Family, N_a: Ints, spread: Floats | None) -> None:
    """Have a family that learns from rewards count N_a of them, with these second moments; others have no use for them."""
    if not isinstance(family, Student) or not N_a.any():
        return
    if spread is None:
        raise ProblemError("sigma is not known, and what was collected before has no second moments: pass spread")
    n = family.sums[0].astype(np.int64)
    both = np.where(n > 0, family.sums[1], np.nan), family.sums[2], family.sums[3]
    added = np.array(both)
    add_spread(added, spread[:3], N_a)
    family.sums[:] = np.vstack([n + N_a, np.nan_to_num(added[0]), added[1:]])
    family.plug[0] = precision_of(family.sums)


def playable(family: Family) -> Family:
    """A family whose rewards can be drawn: with the spread that was seen where none is known."""
    return family._replace(sigma=math.sqrt(0.5 / family.plug[0])) if isinstance(family, Student) else family


def sums_of(*families: Family) -> dict[str, Any]:
    """What families at work have counted, JSON-safe; nothing of those that count nothing."""
    found = [family.sums.tolist() for family in families if isinstance(family, Student)]
    return {"sums": found} if found else {}
