"""Evidence for drift alarms, at full size: `make validity` writes docs/validity-drift.md. False alarms, and late ones."""

import math
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from drift_streams import MEANS, delay, most_evidence, most_evidence_of_policies, policy_delay, thompson_delay
from page import write

import gobetween as gb
from gobetween.core.reward.family import Family
from gobetween.simulation.summary import exact_interval

FAMILIES: tuple[Family, ...] = (gb.Bernoulli(), gb.Gaussian(1.0), gb.Poisson())
LEVELS = (0.05, 0.01)


def level_rows(name: str, evidence: list[float], shared: int) -> list[str]:
    """A line for each level, which so many arms or mediators share."""
    rows = []
    for level in LEVELS:
        raised = sum(value >= math.log(shared / level) for value in evidence)
        low, high = exact_interval(raised, len(evidence))
        assert high <= level, (name, level, raised)
        rows.append(f"| {name} | {level:g} | {len(evidence):,} | {raised} | {low:.3%}–{high:.3%} |")
    return rows


def rewards(pool: ProcessPoolExecutor, runs: int = 10_000) -> list[str]:
    lines = ["| rewards | level | runs | raised | 95% interval |", "|---|---|---|---|---|"]
    for family in FAMILIES:
        for n, by_rule in ((400, True), (2000, False)):
            work = partial(most_evidence, family, n, limit=math.log(3 / max(LEVELS)), by_rule=by_rule)
            name = f"{family.name}, {n:,} answers, {'default rule' if by_rule else 'arms drawn evenly'}"
            lines += level_rows(name, list(pool.map(partial(_by_seed, work), range(runs), chunksize=100)), 3)
    return lines


def _by_seed(work: Callable[..., float], seed: int) -> float:
    return work(seed=seed)


def policies(pool: ProcessPoolExecutor, runs: int = 10_000, n: int = 1000) -> list[str]:
    lines = ["| arms | level | runs | raised | 95% interval |", "|---|---|---|---|---|"]
    for K in (2, 3, 8):
        work = partial(most_evidence_of_policies, n, K)
        lines += level_rows(str(K), list(pool.map(partial(_by_seed, work), range(runs), chunksize=100)), 1)
    return lines


def _shown(name: str, when: str, found: list[float]) -> str:
    share = np.isfinite(found).mean()
    middle, late = (f"{q:,.0f}" if math.isfinite(q) else "–" for q in np.sort(found)[[len(found) // 2, int(0.95 * len(found))]])
    return f"| {name} | {when} | {share:.0%} | {middle} | {late} |"


def _jump(old: float, new: float, change: int) -> Callable[[int], float]:
    return lambda t: new if t >= change else old


def _trend(old: float, new: float, n: int) -> Callable[[int], float]:
    return lambda t: old + (new - old) * t / n


def delays(runs: int = 200, n: int = 4000) -> list[str]:
    lines = ["| rewards | change | raised within 4,000 | answers later: median | 95% |", "|---|---|---|---|---|"]
    for family, jump in zip(FAMILIES, (0.4, 1.0, 2.0), strict=True):
        old = MEANS[family.name][1]
        for change in (1000, 2000):
            jumped = [delay(family, _jump(old, old + jump, change), change, n, seed) for seed in range(runs)]
            lines.append(_shown(family.name, f"by {jump:g} at answer {change:,}", jumped))
        slow = [delay(family, _trend(old, old + jump, n), 0, n, seed) for seed in range(runs)]
        lines.append(_shown(family.name, "by as much, evenly over 4,000 answers", slow))
    return lines


def policy_delays(runs: int = 200, n: int = 4000) -> list[str]:
    lines = ["| mediator | change | raised within 4,000 | answers later: median | 95% |", "|---|---|---|---|---|"]
    for share in (0.6, 0.5):
        for change in (1000, 2000):
            found = [policy_delay(_jump(0.4, share, change), change, n, seed) for seed in range(runs)]
            lines.append(_shown("one share of three", f"from 40% to {share:.0%} at answer {change:,}", found))
    slow = [policy_delay(_trend(0.4, 0.6, n), 0, n, seed) for seed in range(runs)]
    lines.append(_shown("one share of three", "from 40% to 60%, evenly over 4,000 answers", slow))
    lines.append(_shown("Thompson sampling", "two arms that pay 0.6 and 0.4", [thompson_delay(n, s) for s in range(runs)]))
    return lines


def main() -> None:
    with ProcessPoolExecutor(2) as pool:
        false = rewards(pool), policies(pool)
    write(
        "validity-drift.md",
        "alarms about drift",
        "## False alarms: rewards",
        "",
        "Three arms, a world that does not change, looked at 12 times; with the default rule through two mediators.",
        "",
        *false[0],
        "",
        "## False alarms: policies",
        "",
        "A mediator who gives about every other of 1,000 answers, by a policy that does not change and is drawn evenly for",
        "each run, looked at 12 times.",
        "",
        *false[1],
        "",
        "## How late drift of rewards is found",
        "",
        "Three arms, pulled equally often, of which the first drifts: level 0.01, shared by three arms, looked at after every",
        "tenth answer of all arms. Means before are 0.4, 0 (σ = 1) and 4: jumps are by about one σ.",
        "",
        *delays(),
        "",
        "## How late drift of a policy is found",
        "",
        "Level 0.01, shared by two mediators; for Thompson sampling by one. Answers of that mediator.",
        "",
        *policy_delays(),
    )


if __name__ == "__main__":
    main()
