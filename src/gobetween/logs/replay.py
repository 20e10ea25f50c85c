"""Replay: what a sampling rule would have needed, on logged rows and without throwing any away.

Asking mediator e consumes e's next row. Rows of one mediator are independent draws of its fixed policy and its arms' rewards:
any order of them is as good as the logged one, and each run permutes them anew.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gobetween.core.bound import binary_kl
from gobetween.core.families import Bernoulli
from gobetween.core.family import Family
from gobetween.core.loops import replay_run
from gobetween.core.registry import as_sampling, as_stopping
from gobetween.core.rule import SamplingRule, StoppingRule
from gobetween.core.sampling import Tracking
from gobetween.core.state import new_state
from gobetween.core.stopping import EProcess
from gobetween.core.types import Bools, Floats, Ints
from gobetween.errors import LogError
from gobetween.logs.batch import Columns, batches
from gobetween.logs.reading import BadLogError, Reading, Task
from gobetween.simulation.engine import stream
from gobetween.simulation.summary import mean_and_half_width


@dataclass(frozen=True)
class LoggedRows:
    """Rows by mediator, in order: those of mediator e stand at starts[e] … starts[e+1]−1."""

    arms: tuple[str, ...]
    mediators: tuple[str, ...]
    starts: Ints
    pulled: Ints
    rewards: Floats


@dataclass(frozen=True)
class Replay:
    """Outcomes of replayed runs."""

    delta: float
    tau: Ints
    """[runs] queries until the rule stopped, or until the log ran out."""
    named: tuple[str, ...]
    """The arm named; empty where the log ran out."""
    ran_out: Bools
    exhausted: dict[str, int]
    """Mediator → runs that ended because its log had no more rows."""
    N_e: Ints
    """[runs, E]"""
    rows: int
    """In the log."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe summary; the mean is over replays that stopped."""
        stopped = self.tau[~self.ran_out]
        mean, half_width = mean_and_half_width(stopped) if len(stopped) else (None, math.inf)
        return {
            "stopped": len(stopped),
            "mean": mean,
            "half_width": half_width if math.isfinite(half_width) else None,
            "quantiles": np.quantile(stopped, (0.1, 0.9)).tolist() if len(stopped) else None,
            "named": {name: self.named.count(name) for name in sorted(set(self.named)) if name},
            "ran_out": int(self.ran_out.sum()),
            "exhausted": self.exhausted,
        }


def read_rows(task: Task, sources: tuple[Any, ...], skip_bad: bool) -> LoggedRows:
    """All rows, by mediator; a replay needs them in memory."""
    reading = Reading(task, watching=False)
    found: list[tuple[Ints, Ints, Floats]] = []
    for source in sources:
        for batch in batches(source, task.columns, explicit=task.explicit):
            coded = reading.take(batch)
            if coded is not None:
                found.append(coded)
    stats = reading.stats
    if stats.bad_count and not skip_bad:
        raise BadLogError(stats)
    if not stats.rows:
        raise LogError("the log holds no row that can be used")
    e, a, x = (np.concatenate([part[i] for part in found]) for i in range(3))
    order = np.argsort(e, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(e, minlength=len(stats.mediators)))]).astype(np.int64)
    return LoggedRows(tuple(stats.arms), tuple(stats.mediators), starts, a[order].astype(np.int64), x[order].astype(np.float64))


def replay(
    rows: LoggedRows,
    family: Family,
    sampling: SamplingRule | str = Tracking(policies="unknown"),  # noqa: B008 - an immutable value
    stopping: StoppingRule | str = EProcess(),  # noqa: B008 - an immutable value
    delta: float = 0.05,
    runs: int = 200,
    seed: int = 0,
    policies: Floats | None = None,
) -> Replay:
    """Replay a sampling rule `runs` times; policies [E, K] if they are known."""
    K, E = len(rows.arms), len(rows.mediators)
    if K < 2:
        raise LogError("a replay needs a log with at least two arms")
    sampling, stopping = as_sampling(sampling), as_stopping(stopping)
    if not sampling.live:
        raise LogError(f"a log does not know the true means that the {sampling.name} follows: choose another sampling rule")
    declared = np.full(E, policies is not None)
    known = np.zeros((E, K)) if policies is None else policies
    sampler = sampling.at_work(known, declared, np.ones(E))
    stopper, state = stopping.at_work(K, family), new_state(K, E)
    constants, everyone = np.array([stopping.threshold(K, delta, family)]), np.ones(E, np.bool_)
    tau, named, out, N_e = np.zeros(runs, np.int64), [], np.zeros(runs, np.bool_), np.zeros((runs, E), np.int64)
    exhausted = dict.fromkeys(rows.mediators, 0)
    for run in range(runs):
        shuffle, own = stream(seed, run, 0), stream(seed, run, 1)
        places = np.concatenate([rows.starts[e] + shuffle.permutation(rows.starts[e + 1] - rows.starts[e]) for e in range(E)])
        t, best, empty = replay_run(
            family, rows.pulled[places], rows.rewards[places], rows.starts, sampler, stopper, constants, state, everyone, own
        )
        if empty < -1:
            raise LogError(f"{type(sampling).__name__}.choose named a mediator who cannot be asked: take an available one")
        tau[run], out[run], N_e[run] = t, best < 0, state.N_e
        named.append(rows.arms[best] if best >= 0 else "")
        if empty >= 0:
            exhausted[rows.mediators[empty]] += 1
    return Replay(delta, tau, tuple(named), out, exhausted, N_e, int(rows.starts[-1]))


def replay_logs(
    *sources: Any,
    family: Family = Bernoulli(),  # noqa: B008 - an immutable tuple
    delta: float = 0.05,
    mediator: str | None = None,
    arm: str = "arm",
    reward: str = "reward",
    order: str | None = None,
    declared: Mapping[str, Sequence[float] | None] | None = None,
    arms: Sequence[str] | None = None,
    skip_bad: bool = False,
    sampling: SamplingRule | str = Tracking(policies="unknown"),  # noqa: B008 - an immutable value
    stopping: StoppingRule | str = EProcess(),  # noqa: B008 - an immutable value
    runs: int = 200,
    seed: int = 0,
) -> Replay:
    """Replay rules on logs; sources and columns as in `analyse_logs`. Declared policies are used where all are given."""
    binary_kl(delta)
    columns = Columns(mediator or "mediator", arm, reward, order)
    task = Task(family, columns, mediator is not None or bool(declared), tuple(arms or ()), tuple(declared or ()), delta)
    rows = read_rows(task, sources, skip_bad)
    policies = None
    if declared and all(row is not None for row in declared.values()):
        places = [task.arms.index(name) for name in rows.arms]
        policies = np.array([np.asarray(declared[name], dtype=np.float64)[places] for name in rows.mediators])
    return replay(rows, family, sampling, stopping, delta, runs, seed, policies)
