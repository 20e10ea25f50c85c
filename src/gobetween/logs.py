"""Logs: the best arm from what others have already collected, row by row, always valid."""

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gobetween.core.bound import binary_kl, lower_bound
from gobetween.core.eprocess import at_common_mean, log_evalue
from gobetween.core.families import LARGEST, SMALLEST, Bernoulli, Family, coordinate, divergence
from gobetween.core.jit import leaf
from gobetween.core.problem import Problem, unreachable_arms
from gobetween.core.round import verdict
from gobetween.core.state import Tally, count, new_tally, seen_all
from gobetween.core.stopping import EProcess, Stopper, best_seen, constant, glr, new_stopper
from gobetween.core.transport import evidence
from gobetween.core.types import Bools, Floats, Ints
from gobetween.diagnostics import LEVEL, Alarm, confounding_alarms, policy_alarms
from gobetween.errors import LogError
from gobetween.log_readers import Batch, Columns, Names, batches
from gobetween.log_stats import BadRow, LogStats, merge
from gobetween.progress import ArmReport, arm_report, least_log_evalue

LISTED = 1000  # bad rows that are listed; all are counted


@leaf
def scan(
    family: Family,
    stopper: Stopper,
    constants: Floats,
    tally: Tally,
    N_ea: Ints,
    S_ea: Floats,
    mediators: Ints,
    arms: Ints,
    rewards: Floats,
    t: int,
    watching: bool,
) -> tuple[int, int]:
    """Count rows; while watching, the row at which the verdict is first reached and the arm it names, or −1.

    The verdict of every row is exact, but seldom computed. At the pooled mean m of leader and closest rival, Z and the mixtures
    bound ln E from above; a further reward x of either arm raises that bound by at most d(x, m), those of others not at all.
    So no verdict is possible until the slack is used up or the leader changes.
    """
    found, named = -1, -1
    leader, rival, slack, m = -1, -1, 0.0, 0.0
    for i in range(arms.shape[0]):
        e, a, x = mediators[i], arms[i], rewards[i]
        N_ea[e, a] += 1
        S_ea[e, a] += x
        before = tally.mu_hat[a]
        count(tally, a, x)
        t += 1
        if not watching:
            continue
        best = leader
        if (
            leader < 0
            or (a == leader and tally.mu_hat[a] < before)
            or (a != leader and tally.mu_hat[a] >= tally.mu_hat[leader])
        ):
            best = best_seen(tally.mu_hat)
        if best == leader and slack > 0.0:
            if a in (leader, rival):
                slack -= divergence(family, x, m, 1.0, 0.0)
            if slack > 0.0:
                continue
        leader, rival, slack, m = best, -1, 0.0, 0.0
        rival = closest(family, tally, best)
        if rival < 0:
            leader = -1
            continue
        m = (tally.S_a[best] + tally.S_a[rival]) / (tally.N_a[best] + tally.N_a[rival])
        N_a, mu = tally.N_a, tally.mu_hat
        slack = constants[0] - evidence(family, mu[best], mu[rival], float(N_a[best]), float(N_a[rival]))[0]
        if not slack > 0.0:
            slack = constants[0] - at_common_mean(family, tally, best, rival, coordinate(family, m))[0]
        if not slack > 0.0:
            best, passed = verdict(family, stopper, tally, t, constants, 0)
            if passed > 0:
                found, named, watching = i, best, False
    return found, named


@leaf
def closest(family: Family, tally: Tally, best: int) -> int:
    """The rival with the least evidence against it; −1 while some arm has not been seen."""
    least, found = math.inf, -1
    for b in range(tally.mu_hat.shape[0]):
        if tally.N_a[b] == 0:
            return -1
        if b != best:
            mu, N_a = tally.mu_hat, tally.N_a
            f = evidence(family, mu[best], mu[b], float(N_a[best]), float(N_a[b]))[0]
            if f < least:
                least, found = f, b
    return found


@dataclass(frozen=True)
class Claim:
    """Where the best arm could first have been named."""

    arm: str
    row: int
    """Of the whole log, from 1."""
    source: str
    source_row: int


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
        from gobetween.summary import exact_interval

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
        parts = [future.result() for future in [executor.submit(_count_one, task, source) for source in sources]]
        stats, claim, trail = merge(parts, LISTED), None, []
        stats.widen(task.arms, task.mediators)
    if stats.bad_count and not skip_bad:
        raise BadLogError(stats)
    if not stats.rows:
        raise LogError("the log holds no row that can be used")
    return _report(task, stats.in_order(), claim, executor is None, declared, level, trail)


@dataclass(frozen=True)
class Task:
    """How a log is to be read."""

    family: Family
    columns: Columns
    explicit: bool
    arms: tuple[str, ...]
    mediators: tuple[str, ...]
    delta: float


class BadLogError(LogError):
    """Rows that cannot be used, listed."""

    def __init__(self, stats: LogStats) -> None:
        self.bad, self.bad_count = stats.bad, stats.bad_count
        reasons: dict[str, list[str]] = {}
        for row in stats.bad:
            reasons.setdefault(row.reason, []).append(f"{row.source} row {row.row}" if row.row else row.source)
        listed = "; ".join(
            f"{', '.join(places[:5])}{f' and {len(places) - 5} more' if len(places) > 5 else ''}: {reason}"
            for reason, places in list(reasons.items())[:20]
        )
        more = f"; {stats.bad_count - len(stats.bad):,} more are not listed" if stats.bad_count > len(stats.bad) else ""
        super().__init__(f"{stats.bad_count} rows cannot be used: {listed}{more} (--skip-bad leaves them out)")


class Reading:
    """A log being read in order."""

    def __init__(self, task: Task, watching: bool = True) -> None:
        self.task, self.watching = task, watching
        self.stats, self.claim, self.trail = LogStats(), None, []  # type: tuple[LogStats, Claim | None, list[tuple[int, float, float]]]
        self.stats.widen(task.arms, task.mediators)
        self._tally = new_tally(len(self.stats.arms))
        self._before: float | str = -math.inf
        self._mark = 10
        """The row at which the evidence is next looked at, for the figure."""
        self._stopper = new_stopper(EProcess(), task.family)

    def read(self, source: Any, threads: bool) -> None:
        """Take in a source."""
        task = self.task
        for batch in batches(source, task.columns, explicit=task.explicit, threads=threads):
            self.take(batch)

    def _bad(self, rows: Iterable[BadRow]) -> None:
        for row in rows:
            self.stats.bad_count += 1
            if len(self.stats.bad) < LISTED:
                self.stats.bad.append(row)

    def take(self, batch: Batch) -> tuple[Ints, Ints, Floats] | None:
        """Count a batch; its usable rows as codes of mediators and arms and rewards."""
        self._bad(batch.bad)
        if not len(batch.rewards):
            return None
        good = self._good(batch)
        everything = bool(good.all())
        mediators, arms, rewards = (
            (batch.mediators.codes, batch.arms.codes, batch.rewards)
            if everything
            else (batch.mediators.codes[good], batch.arms.codes[good], batch.rewards[good])
        )
        self._order(batch)
        seen_arms = [batch.arms.values[i] for i in np.unique(arms).tolist()]
        seen_mediators = [batch.mediators.values[i] for i in np.unique(mediators).tolist()]
        if self.stats.widen(seen_arms, seen_mediators):
            self.claim = None  # a claim needs every arm to have been seen
            self._tally = self.stats.tally()
        e, a = _coded(batch.mediators, mediators, self.stats.mediators), _coded(batch.arms, arms, self.stats.arms)
        K = len(self.stats.arms)
        watching = self.watching and K >= 2
        constants = np.array([constant(EProcess(), max(K, 2), self.task.delta, self.task.family)])
        x, start = np.ascontiguousarray(rewards), 0
        while start < len(x):
            stop = min(len(x), start + max(1, self._mark - self.stats.rows)) if watching else len(x)
            found, named = scan(
                self.task.family, self._stopper, constants, self._tally, self.stats.N_ea, self.stats.S_ea,
                e[start:stop], a[start:stop], x[start:stop], self.stats.rows, watching and self.claim is None,
            )  # fmt: skip
            if found >= 0:
                index = start + found if everything else int(np.flatnonzero(good)[start + found])
                self.claim = Claim(self.stats.arms[named], self.stats.rows + found + 1, batch.source, _row(batch, index))
            self.stats.rows += stop - start
            start = stop
            if watching and self.stats.rows >= self._mark:
                self._follow(float(constants[0]))
        return e, a, x

    def _good(self, batch: Batch) -> Bools:
        """Rows that can be used; the others are listed."""
        good = accepted(self.task.family, batch.rewards) & (batch.arms.codes >= 0) & (batch.mediators.codes >= 0)
        for names, known in ((batch.arms, self.task.arms), (batch.mediators, self.task.mediators)):
            allowed = np.array([bool(value.strip()) and (not known or value in known) for value in names.values] + [False])
            good &= allowed[names.codes]
        for i in np.flatnonzero(~good).tolist():
            self._bad([BadRow(batch.source, _row(batch, i), self._reason(batch, i))])
        return good

    def _reason(self, batch: Batch, i: int) -> str:
        for what, names, known in (("arm", batch.arms, self.task.arms), ("mediator", batch.mediators, self.task.mediators)):
            code = int(names.codes[i])
            if code < 0 or not names.values[code].strip():
                return f"has no {what}"
            if known and names.values[code] not in known:
                return f"{what} {names.values[code]!r} is not known"
        x = float(batch.rewards[i])
        if math.isnan(x):
            return "its reward is missing or no number"
        return f"reward {x:g} is not possible: a {self.task.family.name} reward is {self.task.family.rewards}"

    def _order(self, batch: Batch) -> None:
        if batch.order is None or self.stats.disorder is not None or not len(batch.order):
            return
        texts = isinstance(batch.order, list)
        present = (
            [i for i, text in enumerate(batch.order) if text] if texts else np.flatnonzero(~np.isnan(batch.order)).tolist()
        )
        if not present:
            return
        if isinstance(batch.order, list):
            here = [batch.order[i] for i in present]
            pairs = zip([self._before if isinstance(self._before, str) else "", *here], here, strict=False)
            falls = next((i for i, (above, now) in enumerate(pairs) if now < above), -1)
            self._before = here[-1]
        else:
            values = batch.order[present]
            found = np.flatnonzero(
                np.diff(values, prepend=self._before if isinstance(self._before, float) else -math.inf) < 0.0
            )
            falls = int(found[0]) if len(found) else -1
            self._before = float(values[-1])
        if falls >= 0:
            self.stats.disorder = BadRow(batch.source, _row(batch, present[falls]), "comes before the row above it")

    def _follow(self, threshold: float) -> None:
        best, Z = glr(self.task.family, self._tally)
        statistic = least_log_evalue(self.task.family, self._tally, int(best)) if Z > 0.0 else 0.0
        self.trail.append((self.stats.rows, max(0.0, statistic), threshold))
        self._mark = max(self.stats.rows + 1, math.ceil(1.04 * self.stats.rows))


def _row(batch: Batch, i: int) -> int:
    return batch.first + i if batch.numbers is None else int(batch.numbers[i])


def _coded(names: Names, codes: Ints, known: list[str]) -> Ints:
    """Codes of a batch as places in the list of all names."""
    place = {name: i for i, name in enumerate(known)}
    table = np.array([place.get(value, -1) for value in names.values], np.int64)
    found: Ints = table[codes]
    return found


def accepted(family: Family, rewards: Floats) -> Bools:
    """Which rewards the family can pay."""
    low, high = family.low, family.high
    good: Bools = np.isfinite(rewards) & (rewards >= low) & (rewards <= high) & (np.abs(rewards) <= LARGEST)
    if family.name in ("bernoulli", "poisson"):
        good &= rewards == np.floor(rewards)
    if family.name == "exponential":
        good &= rewards >= SMALLEST
    return good


def count_logs(task: Task, sources: Sequence[Any], skip_bad: bool = False) -> LogStats:
    """The statistics of logs, strictly: bad rows are refused."""
    reading = Reading(task, watching=False)
    for source in sources:
        reading.read(source, threads=True)
    if reading.stats.bad_count and not skip_bad:
        raise BadLogError(reading.stats)
    if not reading.stats.rows:
        raise LogError("the log holds no row that can be used")
    return reading.stats.in_order()


def _count_one(task: Task, source: Any) -> LogStats:
    """The statistics of one source; executors call this."""
    reading = Reading(task, watching=False)
    reading.read(source, threads=False)
    return reading.stats


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
    threshold = float(constant(EProcess(), max(K, 2), task.delta, family))
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
