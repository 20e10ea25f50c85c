"""What is known of a mediator's policy: its probabilities, only which arms it may pull, or nothing.

One row [K] says it: probabilities; NaN for every arm that it may pull, with a probability that nobody knows, and 0 for those
that it never does; NaN everywhere.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.problem import check_policy, in_order
from gobetween.core.types import Bools, Floats
from gobetween.errors import ProblemError
from gobetween.export import choices

Policy = ArrayLike | Sequence[float | None] | Mapping[str, float] | AbstractSet[str] | None
"""Probabilities in the order of the arms or by name; a set with the names of the arms that it may pull; or None."""


def policy_row(given: Any, e: int, arms: Sequence[str], mediator: str, silent: bool) -> Floats:
    """A policy as a row [K]. A list may say None of arms that are pulled with a probability that nobody knows, if it says 0 of
    the others; a support of one arm is a policy, unless mediators may be silent.
    """
    if given is None:
        return np.full(len(arms), np.nan)
    if isinstance(given, AbstractSet):
        row = support_row(given, arms, f"the support of mediator {mediator!r}")
    else:
        row = _numbers(given, arms, mediator)
        if isinstance(given, (list, tuple)) and None in given:
            _check_support(row, arms, mediator)
        else:
            check_policy(row, e, arms, mediator, silent)
    return np.nan_to_num(row, nan=1.0) if np.isnan(row).sum() == 1 and not silent else row


def _numbers(given: Any, arms: Sequence[str], mediator: str) -> Floats:
    """A row of numbers; NaN where there is None."""
    if isinstance(given, Mapping):
        given = in_order(given, arms, f"the policy of mediator {mediator!r}", 0.0)
    try:
        row = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.empty(0)
    if row.shape != (len(arms),):
        raise ProblemError(f"the policy of mediator {mediator!r} needs {len(arms)} probabilities, one for each arm")
    return row


def _check_support(row: Floats, arms: Sequence[str], mediator: str) -> None:
    """Refuse a row of which only some probabilities are known, beside those that are 0."""
    said, unsaid = np.flatnonzero(~np.isnan(row) & (row != 0.0)), np.flatnonzero(np.isnan(row))
    if len(said):
        raise ProblemError(
            f"mediator {mediator!r} has a probability of {arms[said[0]]!r} and none of {arms[unsaid[0]]!r}: give all of them, "
            "or say only which arms it may pull"
        )


def support_row(names: Any, arms: Sequence[str], what: str) -> Floats:
    """[K] NaN for the arms that are named, 0 for others."""
    for name in names:
        if name not in arms:
            raise ProblemError(f"{what} names {name!r}: choose from {choices(name, arms)}")
    if not names:
        raise ProblemError(f"{what} is empty: name the arms that it may pull, or say nothing of it")
    return np.array([np.nan if arm in names else 0.0 for arm in arms])


def are_known(policies: Floats) -> Bools:
    """[E] the rows that hold probabilities."""
    return np.asarray(~np.isnan(policies).any(axis=1))


def may_pull(policies: Floats) -> Bools:
    """[E, K] the arms that mediators of unknown policy may pull: all, but where a support is declared; all of those that are
    known, for a rule that takes them for unknown.
    """
    return np.isnan(policies) | are_known(policies)[:, None]


def never_pulled(policies: Floats) -> list[int]:
    """The arms that nobody may pull."""
    return np.flatnonzero((policies == 0.0).all(axis=0)).tolist()


def json_row(row: Floats) -> list[float | None] | None:
    """A row for JSON, where null is not known; None where nothing is."""
    if np.isnan(row).all():
        return None
    return [None if np.isnan(p) else p for p in row.tolist()] if np.isnan(row).any() else row.tolist()
