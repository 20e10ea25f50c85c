"""What was collected before a learner began, as somebody hands it over: whole counts, and sums that such rewards can have."""

from typing import Any

import numpy as np

from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.problem.cast import Cast
from gobetween.core.reward.family import Family
from gobetween.errors import ProblemError
from gobetween.export import is_number

MOST = 2**53  # answers: every count is exact
SLACK = 1e-9  # of a sum, which was rounded


def counts_of(given: Any, what: str, shape: tuple[int, ...], about: str) -> Ints:
    """Whole numbers, none negative, in that shape."""
    found = _numbers(given, what, shape, about)
    if (found < 0).any() or (found != np.floor(found)).any() or found.sum() > MOST:
        raise ProblemError(f"{what} must hold whole numbers, 0 or more")
    return found.astype(np.int64)


def sums_of(given: Any, N_a: Ints, cast: Cast, family: Family) -> Floats:
    """The sum [K] of each arm's rewards: between what so many rewards come to at least and at most."""
    found = _numbers(given, "S_a", (len(cast.arms),), "a sum for each arm")
    for arm, n, total in zip(cast.arms, N_a.tolist(), found.tolist(), strict=True):
        low, high = (n * end if n else 0.0 for end in (family.low, family.high))
        slack = SLACK * max(1.0, abs(total))
        if not low - slack <= total <= high + slack:
            raise ProblemError(f"S_a: {n:,} rewards of {arm!r} cannot come to {total:g}: rewards are {family.rewards}")
    return found


def _numbers(given: Any, what: str, shape: tuple[int, ...], about: str) -> Floats:
    try:
        found = np.asarray(given)
    except (TypeError, ValueError):
        found = np.array(None)
    if found.dtype.kind not in "iufb" and not all(map(is_number, found.ravel().tolist())):
        raise ProblemError(f"{what} must be numbers: {about}")
    if found.shape != shape:
        raise ProblemError(f"{what} has shape {found.shape}: it must be {shape}, {about}")
    found = found.astype(np.float64)
    if not np.isfinite(found).all():
        raise ProblemError(f"{what} must be finite numbers: {about}")
    return found


def check_moments(given: Any, K: int) -> Floats:
    """Second moments [3 or more, K] of each arm's rewards."""
    rows = np.shape(given)[0] if np.ndim(given) == 2 else 3
    return _numbers(given, "spread", (max(3, rows), K), "second moments of each arm")
