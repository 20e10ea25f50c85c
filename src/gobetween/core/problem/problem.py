"""A problem: arms with means, mediators with policies and costs. Validated once, then read-only."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.ground.jit import Floats
from gobetween.core.problem.cast import Cast, as_array, check_names, check_size, in_order, new_cast
from gobetween.core.reward.families import DEFAULT
from gobetween.core.reward.family import Family, as_family
from gobetween.errors import ProblemError
from gobetween.export import html_table

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

    __slots__ = ("cast", "direct", "family", "means", "priced")

    means: Floats
    family: Family
    cast: Cast
    """Arms and mediators; every policy is known."""
    direct: bool
    """Are arms pulled directly?"""
    priced: bool
    """Are costs given?"""

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
        self._put(family=as_family(family), direct=policies is None, priced=costs is not None)
        self.family.planned()  # refuses what no plan can be made for
        arms, guesses = _names_apart(arms, means, "arms", "means")
        self._put(means=as_array(guesses, "means", 1))
        K = len(self.means)
        if K < 2:
            raise ProblemError(f"a problem needs at least two arms, but means has {K}")
        check_size(K, K)
        names = check_names(arms, K, "arm")
        self._check_means(names)
        who, rows = _names_apart(mediators, policies, "mediators", "policies")
        matrix = np.eye(K) if rows is None else _matrix(rows, names)
        who = names if self.direct and who is None else who
        self._put(cast=new_cast(names, matrix, costs, bool(silent), who).within_reach().checked())

    def _put(self, **values: object) -> None:
        """Set attributes once, with arrays read-only."""
        for name, value in values.items():
            for array in (value.policies, value.costs) if isinstance(value, Cast) else (value,):
                if isinstance(array, np.ndarray):
                    array.setflags(write=False)
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
    def arms(self) -> tuple[str, ...]:
        """Their names."""
        return self.cast.arms

    @property
    def mediators(self) -> tuple[str, ...]:
        """Their names."""
        return self.cast.mediators

    @property
    def policies(self) -> Floats:
        """π [E, K]."""
        return self.cast.policies

    @property
    def costs(self) -> Floats | None:
        """[E] where they are given."""
        return self.cast.costs if self.priced else None

    @property
    def silent(self) -> bool:
        """May a mediator answer nothing?"""
        return self.cast.silent

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
        return self.cast.costs

    @property
    def rates(self) -> Floats:
        """R [K, E] = π_e(a)/c_e: how often a unit of cost spent on e buys a pull of a."""
        return np.ascontiguousarray((self.policies / self.query_costs[:, None]).T)

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> "Problem":
        """Read a problem from a file in the one TOML shape (docs/plan.md)."""
        from gobetween.files.problem import read_spec  # the one import upwards, for the reader's convenience

        return read_spec(path).problem

    def _check_means(self, arms: Sequence[str]) -> None:
        for a, mean in enumerate(self.means):
            if not self.family.has_mean(float(mean)):
                default = ", the default" if self.family.unless_said else ""
                raise ProblemError(
                    f"= {mean:g} ({arms[a]!r}) is not a mean of the {self.family.name} family{default}: "
                    f"it must lie in {self.family.domain()}",
                    where=("means", a),
                    fix=self.family.another(),
                )


def _names_apart(names: Sequence[str] | None, values: Any, called: str, what: str) -> tuple[Sequence[str] | None, Any]:
    """The names and values of a mapping; what is no mapping stays as it is."""
    if not isinstance(values, Mapping):
        return names, values
    if names is not None:
        raise ProblemError(f"{what} has names already: leave out {called}")
    return tuple(values), list(values.values())


def _matrix(rows: Any, arms: Sequence[str]) -> Floats:
    """Policies [E, K], of which rows may be mappings from arm to probability."""
    if isinstance(rows, list):
        rows = [in_order(row, arms, f"policies[{e}]", 0.0) if isinstance(row, Mapping) else row for e, row in enumerate(rows)]
    found = as_array(rows, "policies", 2)
    E, columns = found.shape
    if E < 1 or columns != len(arms):
        raise ProblemError(
            f"policies has shape {E}×{columns}: it needs one row for each mediator and one column for each of the "
            f"{len(arms)} arms"
        )
    return found
