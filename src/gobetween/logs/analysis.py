"""Logs: the best arm from what others have already collected, row by row, always valid."""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gobetween.core.alarms import LEVEL, Alarm, confounding_alarms, policy_alarms
from gobetween.core.bound import binary_kl, lower_bound
from gobetween.core.eprocess import log_evalue
from gobetween.core.evidence import ArmReport, arm_report, least_log_evalue
from gobetween.core.families import Bernoulli
from gobetween.core.family import Family
from gobetween.core.problem import Problem, unreachable_arms
from gobetween.core.state import Tally, seen_all
from gobetween.core.stopper import glr
from gobetween.core.stopping import EProcess
from gobetween.core.transport import evidence
from gobetween.core.types import Ints
from gobetween.errors import LogError
from gobetween.logs.batch import Columns
from gobetween.logs.counts import BadRow, LogStats, merge
from gobetween.logs.reading import LISTED, BadLogError, Claim, Reading, Task, count_one


@dataclass(frozen=True)
class LogReport:
    """What a log says."""

    rows: int
    family: str
    delta: float
    arms: tuple[ArmReport, ...]
    mediators: tuple[str, ...]
    N_ea: Ints
    claim: Claim | None
    """None when the best arm was never certain, or when parts were merged: that needs one pass in order."""
    ordered: bool
    """Was the log read in order, so that `claim` means something?"""
    identified: bool
    """Is it certain at the end of the log?"""
    leader: str | None
    statistic: float
    threshold: float
    p_value: float
    in_play: tuple[str, ...]
    """Arms that may still be the best."""
    rows_to_go: float
    """Expected, of the same mixture of mediators."""
    queries_to_go: float
    """Expected, if one could choose whom to ask."""
    mixture: tuple[float, ...]
    """[E] shares of rows."""
    omega: tuple[float, ...] | None
    """[E] whom to ask: ω̂*; None while it cannot be said."""
    never_pulled: tuple[str, ...]
    """Declared arms that nobody pulled."""
    policy_alarms: tuple[Alarm, ...]
    confounding: tuple[Alarm, ...]
    disorder: BadRow | None
    bad: tuple[BadRow, ...]
    bad_count: int
    trail: tuple[tuple[int, float, float], ...]
    """(row, statistic, threshold) along the log."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe: the shape of `gobetween logs analyse --json` (docs/logs.md)."""
        data = {key: value for key, value in self.__dict__.items() if key not in ("N_ea", "trail")}
        data |= {"arms": [asdict(arm) for arm in self.arms], "claim": self.claim and asdict(self.claim)}
        for key in ("policy_alarms", "confounding", "bad"):
            data[key] = [asdict(item) for item in getattr(self, key)]
        data["disorder"] = self.disorder and asdict(self.disorder)
        data["policies"] = self.policies()
        return {"format": 1, **_finite(data)}

    def policies(self) -> list[dict[str, Any]]:
        """Estimated policies with exact 95% intervals (Clopper–Pearson), for each mediator and arm that was pulled."""
        from gobetween.simulation.summary import exact_interval

        found = []
        for e, mediator in enumerate(self.mediators):
            n = int(self.N_ea[e].sum())
            for a, arm in enumerate(self.arms):
                k = int(self.N_ea[e, a])
                low, high = exact_interval(k, n) if n else (0.0, 1.0)
                share = k / n if n else 0.0
                found.append({"mediator": mediator, "arm": arm.arm, "rows": k, "share": share, "low": low, "high": high})
        return found


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def analyse_logs(
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
    executor: Executor | None = None,
    level: float = LEVEL,
) -> LogReport:
    """What logs say about the best arm.

    sources: paths of CSV, JSONL or Parquet files, tables (pandas, polars, Arrow, a dict of columns) or an iterable of tables,
    in the order in which they were collected. mediator, arm, reward, order: names of columns; a log without a column "mediator"
    has one mediator. arms, declared: arms and policies (in their order) known beforehand; other names are then bad rows.
    executor: count the sources in parallel; the verdict at the end is the same, but the first claim needs one pass in order.
    """
    binary_kl(delta)
    if not sources:
        raise LogError("name at least one log")
    paths = [Path(source).resolve() for source in sources if isinstance(source, (str, PathLike))]
    for path in paths:
        if paths.count(path) > 1:
            raise LogError(f"{path} is named twice: its rows would count twice")
    if declared is not None and arms is None:
        raise LogError("declared policies need the names of the arms, in their order: arms=[…]")
    columns = Columns(mediator or "mediator", arm, reward, order)
    explicit = mediator is not None or bool(declared)
    task = Task(family, columns, explicit, tuple(arms or ()), tuple(declared or ()), delta)
    if executor is None:
        reading = Reading(task)
        for source in sources:
            reading.read(source, threads=True)
        stats, claim, trail = reading.stats, reading.claim, reading.trail
    else:
        parts = [future.result() for future in [executor.submit(count_one, task, source) for source in sources]]
        stats, claim, trail = merge(parts, LISTED), None, []
        stats.widen(task.arms, task.mediators)
    if stats.bad_count and not skip_bad:
        raise BadLogError(stats)
    if not stats.rows:
        raise LogError("the log holds no row that can be used")
    return _report(task, stats.in_order(), claim, executor is None, declared, level, trail)


def _report(
    task: Task,
    stats: LogStats,
    claim: Claim | None,
    ordered: bool,
    declared: Mapping[str, Sequence[float] | None] | None,
    level: float,
    trail: list[tuple[int, float, float]],
) -> LogReport:
    family, tally, K = task.family, stats.tally(), len(stats.arms)
    threshold = EProcess().threshold(max(K, 2), task.delta, family)
    best, Z = glr(family, tally) if K >= 2 else (0, 0.0)
    best, everything = int(best), bool(seen_all(tally.N_a)) and K >= 2
    if not everything and tally.N_a.any():
        best = int(np.argmax(np.where(tally.N_a > 0, tally.mu_hat, -np.inf)))
    least = least_log_evalue(family, tally, best) if everything and Z > 0.0 else -math.inf
    lack = max(0.0, threshold - max(least, 0.0))
    rate, bound = _rates(family, tally, stats, best) if everything else (0.0, None)
    policies = None if declared is None else [_sorted(declared.get(name), task.arms, stats.arms) for name in stats.mediators]
    return LogReport(
        rows=stats.rows,
        family=family.name,
        delta=task.delta,
        arms=tuple(arm_report(family, name, tally, a, task.delta) for a, name in enumerate(stats.arms)),
        mediators=tuple(stats.mediators),
        N_ea=stats.N_ea,
        claim=claim,
        ordered=ordered,
        identified=bool(least >= threshold),
        leader=stats.arms[best] if tally.N_a.any() else None,
        statistic=max(least, 0.0),
        threshold=threshold,
        p_value=min(1.0, (K - 1) * math.exp(-least)) if least > -700.0 else 1.0,
        in_play=tuple(
            name for b, name in enumerate(stats.arms)
            if b == best or not everything or log_evalue(family, tally, best, b, -math.inf) < threshold
        ),
        rows_to_go=0.0 if least >= threshold else lack / rate if rate > 0.0 else math.inf,
        queries_to_go=0.0 if least >= threshold else lack * bound.T_upper if bound is not None else math.inf,
        mixture=tuple((stats.N_ea.sum(axis=1) / stats.rows).tolist()),
        omega=None if bound is None or bound.status == "tie" else tuple(bound.omega.tolist()),
        never_pulled=tuple(name for a, name in enumerate(stats.arms) if not tally.N_a[a]),
        policy_alarms=() if policies is None else tuple(
            policy_alarms(stats.mediators, stats.N_ea, policies, level)
        ),
        confounding=tuple(confounding_alarms(stats.arms, family, stats.N_ea, stats.S_ea, level)),
        disorder=stats.disorder,
        bad=tuple(stats.bad),
        bad_count=stats.bad_count,
        trail=tuple(trail),
    )  # fmt: skip


def _sorted(row: Sequence[float] | None, given: Sequence[str], wanted: Sequence[str]) -> list[float] | None:
    """A policy in another order of the arms."""
    if row is None:
        return None
    total = math.fsum(row)  # under 1 where a mediator may stay silent, of which a log knows nothing
    return [float(row[given.index(name)]) / total for name in wanted]


def _rates(family: Family, tally: Tally, stats: LogStats, best: int) -> tuple[float, Any]:
    """Evidence for each further row of the same mixture, and the bound for the best choice of mediators."""
    shares = tally.N_a / max(1, int(tally.N_a.sum()))
    mu = tally.mu_hat
    rivals = [b for b in range(len(mu)) if b != best]
    rate = min(float(evidence(family, mu[best], mu[b], shares[best], shares[b])[0]) for b in rivals)
    policies = stats.N_ea / np.maximum(1, stats.N_ea.sum(axis=1, keepdims=True))
    used = stats.N_ea.sum(axis=1) > 0
    if not used.all() or len(unreachable_arms(policies)) or not all(family.has_mean(float(m)) for m in mu):
        return rate, None
    try:
        return rate, lower_bound(Problem(mu, policies / policies.sum(axis=1, keepdims=True), family=family), tol=1e-6)
    except ValueError:
        return rate, None
