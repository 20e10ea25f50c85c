"""A problem: arms with means, mediators with policies and costs. Validated once, then read-only."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.families import DEFAULT
from gobetween.core.family import LARGEST, SMALLEST, Family
from gobetween.core.registry import as_family
from gobetween.core.types import Floats, Ints
from gobetween.core.unknown import UnknownSigma
from gobetween.errors import Fix, ProblemError
from gobetween.export import choices, html_table, some

ROW_TOLERANCE = 1e-9
SHOWN = 20  # arms and mediators in a notebook


class Problem:
    """Means μ [K], policies π [E, K], a reward family and, if wanted, costs [E] of asking each mediator.

    `policies=None` is direct control (the identity: classical best-arm identification). π_e(a) is the probability that e pulls
    *and reports* arm a: rows sum to 1, or to less when `silent=True` (a mediator may then answer nothing).

    Mappings give names: means={"letter": 0.62, …}, policies={"North": [0.8, …] or {"letter": 0.8, …}, …}, costs={"North": 4.0};
    an arm that a policy does not name is never pulled, a mediator without a cost costs 1. A family may be a word.

    >>> gb.Problem({"letter": 0.62, "call": 0.74}, {"North": [0.8, 0.2], "South": [0.3, 0.7]}, family="bernoulli")
    Problem(2 arms, 2 mediators, Bernoulli())
    """

    __slots__ = ("arms", "costs", "direct", "family", "means", "mediators", "policies", "silent")

    means: Floats
    policies: Floats
    family: Family
    costs: Floats | None
    silent: bool
    direct: bool
    arms: tuple[str, ...]
    mediators: tuple[str, ...]

    def __init__(
        self,
        means: ArrayLike | Mapping[str, float],
        policies: ArrayLike | Mapping[str, ArrayLike | Mapping[str, float]] | None = None,
        *,
        family: Family | str = DEFAULT,
        costs: ArrayLike | Mapping[str, float] | None = None,
        silent: bool = False,
        arms: Sequence[str] | None = None,
        mediators: Sequence[str] | None = None,
    ) -> None:
        self._put(family=as_family(family), silent=bool(silent), direct=policies is None)
        if isinstance(self.family, UnknownSigma) and not self.family.expected:
            raise ProblemError(
                "a plan needs the sigma that is expected; a study will learn it from rewards", fix=Fix("expected")
            )
        arms, guesses = _names_apart(arms, means, "arms", "means")
        self._put(means=_array(guesses, "means", 1))
        K = len(self.means)
        if K < 2:
            raise ProblemError(f"a problem needs at least two arms, but means has {K}")
        self._put(arms=check_names(arms, K, "arm"))
        self._check_means()
        mediators, rows = _names_apart(mediators, policies, "mediators", "policies")
        self._put(policies=np.eye(K) if rows is None else _array(_rows(rows, self.arms), "policies", 2))
        self._check_shape(K)
        self._put(mediators=check_names(mediators, len(self.policies), "mediator", self.arms if self.direct else None))
        self._check_rows()
        missing = unreachable_arms(self.policies)
        if len(missing):
            raise nobody_pulls([self.arms[a] for a in missing])
        if isinstance(costs, Mapping):
            costs = in_order(costs, self.mediators, "costs", 1.0)
        self._put(costs=None if costs is None else check_costs(costs, self.mediators))

    def _put(self, **values: object) -> None:
        """Set what nobody else may: attributes once, arrays read-only."""
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Problem is read-only, so that {name!r} cannot be set: make another one with gb.Problem(…)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Problem is read-only, so that {name!r} cannot be deleted: make another one with gb.Problem(…)")

    def __setstate__(self, state: tuple[None, dict[str, object]]) -> None:
        self._put(**state[1])  # copies and pickles are read-only too

    def __repr__(self) -> str:
        K, E = self.K, self.E
        how = "direct control" if self.direct else f"{E} mediators"
        return f"Problem({K} arms, {how}, {self.family!r})"

    def _repr_html_(self) -> str:
        names = () if self.direct else self.mediators[:SHOWN]
        rows: list[list[str]] = [
            [arm, f"{self.means[a]:g}", *(f"{self.policies[e, a]:g}" for e in range(len(names)))]
            for a, arm in enumerate(self.arms[:SHOWN])
        ]
        if self.costs is not None:
            rows.append(["cost of a query", "", *(f"{cost:g}" for cost in self.costs[: len(names)])])
        rest = "" if max(self.K, len(names) and self.E) <= SHOWN else f", the first {SHOWN} of them"
        return html_table(f"{self!r}{rest}", ["arm", "mean", *names], rows)

    @property
    def K(self) -> int:
        """Number of arms."""
        return len(self.arms)

    @property
    def E(self) -> int:
        """Number of mediators."""
        return len(self.mediators)

    @property
    def query_costs(self) -> Floats:
        """[E] what a query of each mediator costs: 1 where the problem has no costs."""
        return np.ones(self.E) if self.costs is None else self.costs

    @property
    def rates(self) -> Floats:
        """R [K, E] = π_e(a)/c_e: how often a unit of cost spent on e buys a pull of a."""
        return np.ascontiguousarray((self.policies / self.query_costs[:, None]).T)

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> "Problem":
        """Read a problem from a file in the one TOML shape (docs/plan.md)."""
        from gobetween.files.problem import read_spec  # the one import upwards, for the reader's convenience

        return read_spec(path).problem

    def _check_means(self) -> None:
        for a, mean in enumerate(self.means):
            if not self.family.has_mean(float(mean)):
                default = ", the default" if self.family.unless_said else ""
                raise ProblemError(
                    f"= {mean:g} ({self.arms[a]!r}) is not a mean of the {self.family.name} family{default}: "
                    f"it must lie in {self.family.domain()}",
                    where=("means", a),
                    fix=self.family.another(),
                )

    def _check_shape(self, K: int) -> None:
        E, columns = self.policies.shape
        if E < 1 or columns != K:
            raise ProblemError(
                f"policies has shape {E}×{columns}: it needs one row for each mediator and one column for each of the {K} arms"
            )

    def _check_rows(self) -> None:
        for e, row in enumerate(self.policies):
            check_policy(row, e, self.arms, self.mediators[e], self.silent)


def _names_apart(names: Sequence[str] | None, values: Any, called: str, what: str) -> tuple[Sequence[str] | None, Any]:
    """The names and values of a mapping; what is no mapping stays as it is."""
    if not isinstance(values, Mapping):
        return names, values
    if names is not None:
        raise ProblemError(f"{what} has names already: leave out {called}")
    return tuple(values), list(values.values())


def _rows(policies: Any, arms: Sequence[str]) -> Any:
    """Policies whose rows may be mappings from arm to probability."""
    if not isinstance(policies, list):
        return policies
    return [in_order(row, arms, f"policies[{e}]", 0.0) if isinstance(row, Mapping) else row for e, row in enumerate(policies)]


def in_order(values: Mapping[str, float], names: Sequence[str], what: str, missing: float) -> list[float]:
    """Values by name in the order of the names."""
    for name in values:
        if name not in names:
            raise ProblemError(f"{what} names {name!r}: choose from {choices(name, names)}")
    return [values.get(name, missing) for name in names]


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


def check_costs(costs: ArrayLike, mediators: Sequence[str]) -> Floats:
    """Costs as an array, one positive number for each mediator."""
    values = _array(costs, "costs", 1)
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
    return np.flatnonzero(_array(policies, "policies", 2).max(axis=0) <= 0.0).astype(np.int64)


def nobody_pulls(arms: Sequence[str]) -> ProblemError:
    """Of arms that no mediator ever pulls."""
    return ProblemError(f"no mediator ever pulls {some(arms)}: drop these arms or add a mediator who can pull them")


def _array(values: ArrayLike, what: str, ndim: int) -> Floats:
    shape = "a list of numbers" if ndim == 1 else "a matrix: one row of numbers for each mediator, all of one length"
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ProblemError(f"{what} must be {shape}") from None
    if array.ndim != ndim or 0 in array.shape:
        raise ProblemError(f"{what} must be {shape}, not an array of shape {array.shape}")
    return array


def check_names(names: Any, count: int, what: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Names as a tuple of different, non-empty strings; numbered ones by default."""
    if names is None:
        return default or tuple(f"{what} {i + 1}" for i in range(count))
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ProblemError(f"{what}s must be a list of names, not {names!r}")
    given = tuple(names)
    if len(given) != count:
        raise ProblemError(f"{what}s has {len(given)} names for {count} {what}s")
    for i, name in enumerate(given):
        if not isinstance(name, str) or not name.strip():
            raise ProblemError(f"{what}s[{i}] = {name!r}: a name is a non-empty string")
        if "\x00" in name or any("\ud800" <= c <= "\udfff" for c in name):
            raise ProblemError(f"{what}s[{i}] = {name!a}: a name has no NUL and no broken characters")
        if given.index(name) < i:
            raise ProblemError(f"{what}s[{i}] = {name!r} is also the name of {what}s[{given.index(name)}]: names must differ")
    return given
