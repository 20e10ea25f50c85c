"""The paper's two experiments, decoded, and its printed numbers (docs/reproduction.md says how they were decoded)."""

from dataclasses import dataclass

from gobetween.core.problem.problem import Problem
from gobetween.core.reward.families import Gaussian
from gobetween.core.sampling.rules import Pursuit, Tracking, UniformSampling
from gobetween.core.sampling.sampling_rule import SamplingRule

DIRECT = Problem([1.5, 1.0, 0.7, 0.5], family=Gaussian(1.0))
EXPERIMENT_1 = Problem(
    [1.5, 1.0, 0.7, 0.5],
    [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]],
    family=Gaussian(1.0),
)
EXPERIMENT_2 = Problem([5.0, 1.0], [[0.01, 0.99]] + [[0.0, 1.0]] * 9, family=Gaussian(1.0))


@dataclass(frozen=True)
class Column:
    """A column of a table; printed means and half-widths follow the table's risks, None where no row is printed."""

    name: str
    problem: Problem
    sampling: SamplingRule
    means: tuple[float | None, ...]
    half_widths: tuple[float | None, ...]
    beside: str = ""  # the paper's column that one of ours is compared with; its own name if empty


@dataclass(frozen=True)
class Table:
    """A table of the paper."""

    name: str
    title: str
    deltas: tuple[float, ...]
    runs: int  # how many runs the paper says that it made
    columns: tuple[Column, ...]
    ours: tuple[Column, ...]  # our own sampling rule, which the paper does not have

    @property
    def again(self) -> tuple[Column, ...]:
        """The paper's own method, which is also run under our stopping rule."""
        return tuple(column for column in self.columns if column.name.startswith("TaS-MF"))


def _ours(problem: Problem, rows: int) -> tuple[Column, ...]:
    nothing = (None,) * rows
    return (
        Column("Pursuit", problem, Pursuit(), nothing, nothing, "TaS-MF-k"),
        Column("Pursuit-u", problem, Pursuit(policies="unknown"), nothing, nothing, "TaS-MF-u"),
    )


TABLE_1 = Table(
    "table1",
    "Experiment 1: four arms, four mediators",
    (0.4, 0.1, 0.01, 0.001),
    100,
    (
        Column("TaS", DIRECT, Tracking(tracking="D"), (389.12, 450.12, 553.02, 655.03), (3.79, 3.45, 3.45, 3.97)),
        Column("TaS-MF-k", EXPERIMENT_1, Tracking(), (863.87, 990.27, 1179.11, 1376.72), (13.14, 14.11, 13.59, 15.94)),
        Column(
            "TaS-MF-u",
            EXPERIMENT_1,
            Tracking(policies="unknown"),
            (883.52, 1013.14, 1205.61, 1378.14),
            (18.44, 15.89, 16.95, 18.91),
        ),
        Column("Uniform", EXPERIMENT_1, UniformSampling(), (1689.71, 1891.62, 2245.46, 2619.26), (25.98, 29.76, 33.03, 37.53)),
    ),
    _ours(EXPERIMENT_1, 4),
)
TABLE_2 = Table(
    "table2",
    "Experiment 2: one useful mediator among ten",
    (0.4, *(float(f"1e-{k}") for k in range(1, 13))),
    1000,
    (
        Column(
            "TaS-MF-k",
            EXPERIMENT_2,
            Tracking(prune=True),
            (254.75, 277.83, 307.87, 343.43, 395.66, 405.05, 408.33, 484.49, 493.63, 506.81, 569.99, 609.26, None),
            (15.01, 14.63, 14.01, 16.66, 16.21, 14.89, 15.33, 17.70, 16.10, 16.94, 18.65, 17.10, None),
        ),
        Column(
            "TaS-MF-u",
            EXPERIMENT_2,
            Tracking(policies="unknown"),
            (1120.97, 1105.42, 1154.54, 1121.26, 1219.50, 1228.79, 1264.96, 1330.48, 1366.83, 1347.70, 1514.64, 1434.92, None),
            (63.77, 60.53, 65.54, 56.74, 60.55, 63.32, 60.18, 61.40, 61.08, 62.64, 67.12, 59.57, None),
        ),
    ),
    _ours(EXPERIMENT_2, 13),
)
TABLES = {table.name: table for table in (TABLE_1, TABLE_2)}
