"""Rules side by side: paired differences between runs that share random numbers.

Run i of every cell of one problem meets the same world: the k-th reward of an arm is the same whatever a rule asks. Runs are
independent of each other.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from gobetween.core.ground.jit import Floats, Ints
from gobetween.errors import ProblemError
from gobetween.export import data_frame, html_table, json_safe
from gobetween.simulation.runs import Runs


@dataclass(frozen=True)
class PairedQuantity:
    """One quantity under a rule and under the baseline."""

    mean: float
    baseline: float
    difference: float  # mean − baseline
    half_width: float
    """Of a 95% interval around the difference, by Student's t; infinite if there is only one run."""
    ratio: float  # mean / baseline
    ratio_half_width: float  # of a 95% interval around the ratio, likewise (to first order in the deviations)


@dataclass(frozen=True)
class Difference:
    """A rule against the baseline, on one problem at one δ."""

    problem: str
    sampling: str
    stopping: str
    delta: float
    runs: int  # how many pairs of runs
    queries: PairedQuantity
    cost: PairedQuantity  # without costs the same as queries
    censored: int  # pairs of which at least one run had not stopped: they count as long as they lasted

    @property
    def rules(self) -> str:
        """Both rules in one name."""
        return f"{self.sampling}, {self.stopping}"


@dataclass(frozen=True)
class Comparison:
    """All rules of an experiment against a baseline."""

    baseline: tuple[str, str]
    """Sampling and stopping rule."""
    differences: tuple[Difference, ...]

    def __repr__(self) -> str:
        return f"Comparison({len(self.differences)} differences from {', '.join(self.baseline)})"

    def _repr_html_(self) -> str:
        return html_table(repr(self), *self.table())

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems on which rules were compared."""
        return tuple(dict.fromkeys(row.problem for row in self.differences))

    def on(self, problem: str) -> "Comparison":
        """The comparison on one problem."""
        return replace(self, differences=tuple(row for row in self.differences if row.problem == problem))

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """For people: the header and a row for each difference; the problem is named where there are several."""
        priced = any(row.cost != row.queries for row in self.differences)
        kinds = ("queries", "cost") if priced else ("queries",)
        several = ("problem",) if len(self.problems) > 1 else ()
        rows = [
            (*(row.problem for _ in several), row.rules, f"{row.delta:g}", *(c for k in kinds for c in _cells(getattr(row, k))))
            for row in self.differences
        ]
        return (*several, "rules", "delta", *(name for kind in kinds for name in (kind, "difference", "ratio"))), rows

    def plot(self) -> Any:
        """Ratios to the baseline with their intervals, as a Matplotlib figure."""
        from gobetween.pages.figures import rule_comparison
        from gobetween.pages.paper_figures import draw

        return draw(rule_comparison(self))

    def to_frame(self) -> Any:
        """One row for each difference, as a data frame of pandas or polars."""
        rows = [_flat(row) for row in self.differences]
        return data_frame({name: [row[name] for row in rows] for name in rows[0]} if rows else {})

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; infinite numbers are null."""
        baseline = dict(zip(("sampling", "stopping"), self.baseline, strict=True))
        return {"baseline": baseline, "differences": [json_safe(asdict(row)) for row in self.differences]}


def paired(problem: str, runs: Runs, baseline: Runs) -> list[Difference]:
    """One difference for each δ; row i of both is the same run."""
    if runs.deltas != baseline.deltas or len(runs.tau) != len(baseline.tau):
        raise ProblemError("runs can be compared that have the same risks and the same number of runs")
    costs = runs.played.query_costs
    return [
        Difference(
            problem=problem,
            sampling=runs.sampling,
            stopping=runs.stopping,
            delta=delta,
            runs=len(runs.tau),
            queries=contrast(runs.tau[:, d], baseline.tau[:, d]),
            cost=contrast(runs.N_e[:, d] @ costs, baseline.N_e[:, d] @ costs),
            censored=int((runs.censored[:, d] | baseline.censored[:, d]).sum()),
        )
        for d, delta in enumerate(runs.deltas)
    ]


def contrast(ours: Ints | Floats, theirs: Ints | Floats) -> PairedQuantity:
    """Two rows of numbers, paired."""
    x, y = ours.astype(np.float64), theirs.astype(np.float64)
    mean, baseline = float(x.mean()), float(y.mean())
    ratio = mean / baseline
    return PairedQuantity(
        mean=mean,
        baseline=baseline,
        difference=mean - baseline,
        half_width=_half_width(x - y),
        ratio=ratio,
        ratio_half_width=_half_width(x - ratio * y) / baseline,
    )


def _half_width(values: Floats) -> float:
    """Half of the 95% interval of the mean."""
    from scipy.stats import t

    n = len(values)
    return float(t.ppf(0.975, n - 1) * values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf


def _cells(of: PairedQuantity) -> Sequence[str]:
    difference = f"{of.difference:+,.0f} ± {of.half_width:,.0f}"
    return f"{of.mean:,.0f}", difference, f"{of.ratio:.2f} ± {of.ratio_half_width:.2f}"


def _flat(row: Difference) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in asdict(row).items():
        found |= {f"{key}_{name}": part for name, part in value.items()} if isinstance(value, dict) else {key: value}
    return found
