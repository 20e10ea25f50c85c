"""Who is there: arms and mediators, with what is known of each mediator's policy.

One row [K] says it: probabilities; NaN for every arm that it may pull, with a probability that is not known, and 0 for those
that it never pulls; NaN everywhere where nothing is known.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.ground.jit import Bools, Floats, Ints
from gobetween.core.reward.family import LARGEST, SMALLEST
from gobetween.errors import Fix, ProblemError
from gobetween.export import choose, is_whole, meant_number, short, some
from gobetween.names import as_declared, check_look, normal

Policy = ArrayLike | Sequence[float | None] | Mapping[str, float] | AbstractSet[str] | None
"""Probabilities in the order of the arms or by name; a set with the names of the arms that it may pull; or None."""
ROW_TOLERANCE = 1e-9
MOST_PAIRS = 25_000_000  # of arms with arms or mediators: 5,000 of each


def check_policy(row: Floats, e: int, arms: Sequence[str], mediator: str, silent: bool) -> None:
    """Refuse a row of policies that is not a distribution over the arms (with silent: less than one)."""
    fine = (row == 0.0) | ((row >= SMALLEST) & (row <= 1.0 + ROW_TOLERANCE))
    if not fine.all():
        a = int(np.argmin(fine))
        p = float(row[a])
        what, where = f"= {p:g} (mediator {mediator!r}, arm {arms[a]!r})", ("policies", e, a)
        if 0.0 < p < SMALLEST:
            raise ProblemError(f"{what} is too small for double precision: write 0", where=where)
        hint = "; divide percentages by 100" if 1.0 < p <= 100.0 else ""
        raise ProblemError(f"{what}: a probability is a number from 0 to 1{hint}", where=where)
    total = float(row.sum())
    if total > 1.0 + ROW_TOLERANCE or (total < 1.0 - ROW_TOLERANCE and not silent):
        hint = "at most 1" if silent else "1 (to 1e-9: give enough digits)"
        what = f"(mediator {mediator!r}) sums to {total:.12g}: it must sum to {hint}"
        raise ProblemError(what, where=("policies", e), fix=Fix("silent") if total < 1.0 else None)


def in_order(values: Mapping[str, float], names: Sequence[str], what: str, missing: float) -> list[float]:
    """Values by name in the order of the names."""
    found, known = dict(zip(as_declared(values, names), values.values(), strict=True)), set(names)
    for name in found:
        if name not in known:
            raise ProblemError(f"{what} names {name!r}: {choose(name, names)}")
    return [found.get(name, missing) for name in names]


def policy_row(given: Any, e: int, arms: Sequence[str], mediator: str, silent: bool) -> Floats:
    """A policy as a row [K]. A list may say None of arms that are pulled with an unknown probability, if it says 0 of
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
    if isinstance(given, str):
        what = f"the policy of mediator {mediator!r} is the text {given!r}"
        raise ProblemError(f"{what}: to name mediators, write a dict from name to policy, such as {{{given!r}: None}}")
    if isinstance(given, Mapping):
        given = in_order(given, arms, f"the policy of mediator {mediator!r}", 0.0)
    try:
        row = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.empty(0)
    if row.shape != (len(arms),):
        found = f", not {row.size}" if row.ndim == 1 and row.size else ""
        raise ProblemError(f"the policy of mediator {mediator!r} needs {len(arms)} probabilities, one for each arm{found}")
    return row


def _check_support(row: Floats, arms: Sequence[str], mediator: str) -> None:
    """Refuse a row of which only some probabilities are known, beside those that are 0."""
    said, unsaid = np.flatnonzero(~np.isnan(row) & (row != 0.0)), np.flatnonzero(np.isnan(row))
    if len(said):
        raise ProblemError(
            f"mediator {mediator!r} has a probability of {arms[said[0]]!r} and none of {arms[unsaid[0]]!r}: give all of them, "
            "or only the set of arms that it may pull"
        )


def support_row(names: Any, arms: Sequence[str], what: str) -> Floats:
    """[K] NaN for the arms that are named, 0 for others."""
    named, known = dict.fromkeys(as_declared(names, arms)), set(arms)
    for name in named:
        if name not in known:
            raise ProblemError(f"{what} names {name!r}: {choose(name, arms)}")
    if not named:
        raise ProblemError(f"{what} is empty: name the arms that it may pull, or leave it out")
    return np.array([np.nan if arm in named else 0.0 for arm in arms])


def are_known(policies: Floats) -> Bools:
    """[E] the rows that hold probabilities."""
    return np.asarray(~np.isnan(policies).any(axis=1))


def may_pull(policies: Floats) -> Bools:
    """[E, K] the arms that mediators of unknown policy may pull: all, but where a support is declared; all of those that are
    known, for a rule that takes them for unknown.
    """
    return np.isnan(policies) | are_known(policies)[:, None]


def ladder(policies: Floats, silent: bool) -> Floats:
    """[E, K] cumulative policies, for `pull`."""
    cumulative: Floats = np.cumsum(policies, axis=1)
    if not silent:
        cumulative[:, -1] = np.inf  # rows sum to 1 only up to rounding
    return cumulative


def never_pulled(policies: Floats) -> list[int]:
    """The arms that no mediator may pull."""
    return np.flatnonzero((policies == 0.0).all(axis=0)).tolist()


def json_row(row: Floats) -> list[float | None] | None:
    """A row for JSON, where null is not known; None where nothing is."""
    if np.isnan(row).all():
        return None
    return [None if np.isnan(p) else p for p in row.tolist()] if np.isnan(row).any() else row.tolist()


def json_rows(policies: Floats) -> list[list[float | None] | None]:
    """All of them for JSON."""
    known, rows = are_known(policies), policies.tolist()
    return [row if known[e] else json_row(policies[e]) for e, row in enumerate(rows)]


def from_json_rows(rows: Any, K: int) -> Floats:
    """[E, K] what `json_rows` wrote, or the matrix itself."""
    return np.array([[np.nan] * K if row is None else row for row in rows], dtype=np.float64)


Mediators = int | Mapping[str, Policy] | Sequence[Policy] | ArrayLike
"""Policies by name, a matrix of them, or how many mediators there are, of whom nothing is known."""


@dataclass(frozen=True, eq=False)
class Cast:
    """Arms and mediators, checked: names differ, policies are distributions, costs are positive."""

    arms: tuple[str, ...]
    mediators: tuple[str, ...]
    policies: Floats
    """[E, K]; NaN where a probability is not known: of all arms, or of those of a declared support, and 0 of the others."""
    costs: Floats  # [E] of a query
    silent: bool = False  # may a mediator answer nothing? Then its policy may sum to less than 1

    @cached_property
    def declared(self) -> Bools:
        """[E] the mediators whose policy is known."""
        return are_known(self.policies)

    def policies_by_name(self) -> dict[str, list[float | None] | None]:
        """Mediator → its policy as files and JSON say it: None where nothing is known, or of an arm that it may pull."""
        return dict(zip(self.mediators, json_rows(self.policies), strict=True))

    def within_reach(self) -> "Cast":
        """The same, unless there are arms that no mediator ever pulls: nothing could be learnt about them."""
        missing = never_pulled(self.policies)
        if missing:
            raise nobody_pulls([self.arms[a] for a in missing])
        return self

    def checked(self) -> "Cast":
        """The same, unless a name cannot be told from another by its looks: for what is new, not for what was kept before."""
        check_look(self.arms, "arm")
        check_look(self.mediators, "mediator")
        return self

    def joined(self, name: str, policy: Policy, cost: float) -> "Cast":
        """With one mediator more, the last."""
        if name in self.mediators:
            raise ProblemError(f"mediator {name!r} is there already: names must differ")
        names = check_names([*self.mediators, name], len(self.mediators) + 1, "mediator")
        check_look(names, "mediator", names[-1])
        row = policy_row(policy, len(self.mediators), self.arms, name, self.silent)
        costs = check_costs([*self.costs, cost], names)
        return Cast(self.arms, names, np.vstack([self.policies, row]), costs, self.silent)

    def declaring(self, name: str, policy: Policy) -> "Cast":
        """With another policy declared of a mediator."""
        e, rows = self.mediators.index(name), self.policies.copy()
        rows[e] = policy_row(policy, e, self.arms, name, self.silent)
        return replace(self, policies=rows).within_reach()

    def with_arms(self, left: Sequence[int]) -> "Cast":
        """With these arms only: a mediator who pulls another is as good as silent."""
        return Cast(tuple(self.arms[a] for a in left), self.mediators, self.policies[:, list(left)], self.costs, True)


def new_cast(
    arms: int | Sequence[str],
    mediators: Mediators,
    costs: ArrayLike | Mapping[str, float] | None = None,
    silent: bool = False,
    who: Sequence[str] | None = None,
) -> Cast:
    """Check who is there. arms, mediators: names or how many; `who` names mediators whose policies come without names."""
    arms = int(arms) if is_whole(arms) else arms
    mediators = int(mediators) if is_whole(mediators) else mediators
    K = arms if isinstance(arms, int) else len(tuple(arms))
    if K < 2:
        raise ProblemError(f"at least two arms are needed, not {K}")
    check_size(K, mediators if isinstance(mediators, int) else 1)
    names = check_names(None if isinstance(arms, int) else arms, K, "arm")
    if isinstance(mediators, int):
        rows: list[Policy] = [None] * mediators
    else:
        rows = list(mediators.values() if isinstance(mediators, Mapping) else cast(Sequence[Policy], mediators))
    if not rows:
        raise ProblemError("at least one mediator is needed")
    check_size(K, len(rows))
    who = check_names(list(mediators) if isinstance(mediators, Mapping) else who, len(rows), "mediator")
    policies = np.array([policy_row(row, e, names, who[e], silent) for e, row in enumerate(rows)])
    if isinstance(costs, Mapping):
        costs = in_order(costs, who, "costs", 1.0)
    return Cast(names, who, policies, np.ones(len(who)) if costs is None else check_costs(costs, who), silent)


def check_names(names: Any, count: int, what: str) -> tuple[str, ...]:
    """Names as a tuple of different, non-empty strings; numbered ones by default."""
    if names is None:
        return tuple(f"{what} {i + 1}" for i in range(count))
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ProblemError(f"{what}s must be a list of names, not {names!r}")
    given = tuple(normal(name) if isinstance(name, str) else name for name in names)
    if len(given) != count:
        raise ProblemError(f"{what}s has {len(given)} names for {count} {what}s")
    first: dict[str, int] = {}
    for i, name in enumerate(given):
        if not isinstance(name, str) or not name.strip():
            raise ProblemError(f"{what}s[{i}] = {name!r}: a name is a non-empty string")
        if "\x00" in name or any("\ud800" <= c <= "\udfff" for c in name):
            raise ProblemError(f"{what}s[{i}] = {name!a}: a name has no NUL and no broken characters")
        if first.setdefault(name, i) < i:
            raise ProblemError(f"{what}s[{i}] = {name!r} is also the name of {what}s[{first[name]}]: names must differ")
    return given


def too_many(K: int, E: int) -> str:
    """What is said of more arms and mediators than fit in memory; empty where they do."""
    if K * max(K, E) <= MOST_PAIRS:
        return ""
    most = f"at most {MOST_PAIRS:,} pairs of two arms, or of an arm and a mediator, are held in memory"
    return f"{K:,} arms and {E:,} mediators are too many: {most}"


def check_size(K: int, E: int) -> None:
    """Refuse more arms and mediators than fit in memory, before any work."""
    if words := too_many(K, E):
        raise ProblemError(f"{words}; leave out arms that cannot be the best")


def check_costs(costs: ArrayLike, mediators: Sequence[str]) -> Floats:
    """Costs as an array, one positive number for each mediator."""
    values = as_array(costs, "costs", 1)
    if len(values) != len(mediators):
        raise ProblemError(f"costs has {len(values)} entries: it needs one for each of the {len(mediators)} mediators")
    for e, cost in enumerate(values):
        if not SMALLEST <= cost <= LARGEST:
            raise ProblemError(
                f"= {cost:g} (mediator {mediators[e]!r}): a cost is a positive number (1e-50 to 1e50)", where=("costs", e)
            )
    return values


def unreachable_arms(policies: ArrayLike) -> Ints:
    """The arms (columns) that no mediator (row) ever pulls: with any of them, no strategy can succeed (Assumption 1)."""
    return np.flatnonzero(as_array(policies, "policies", 2).max(axis=0) <= 0.0).astype(np.int64)


def nobody_pulls(arms: Sequence[str]) -> ProblemError:
    """Of arms that no mediator ever pulls."""
    return ProblemError(f"no mediator ever pulls {some(arms)}: drop these arms or add a mediator who can pull them")


def as_array(values: ArrayLike, what: str, ndim: int) -> Floats:
    """Numbers as an array of so many dimensions."""
    shape = "a list of numbers" if ndim == 1 else "a matrix: one row of numbers for each mediator, all of one length"
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        wrong = (
            next(((i, x) for i, x in enumerate(values) if isinstance(x, str)), None)
            if isinstance(values, (list, tuple))
            else None
        )
        seen = "" if wrong is None else f"; {what}[{wrong[0]}] is {short(wrong[1])}{meant_number(wrong[1])}"
        raise ProblemError(f"{what} must be {shape}{seen}") from None
    if array.ndim != ndim or 0 in array.shape:
        raise ProblemError(f"{what} must be {shape}, not an array of shape {array.shape}")
    return array
