"""Evidence for logs, at full size: `make validity` writes docs/validity-logs.md. Wrong claims, false and true alarms."""

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from drift_streams import shuffled_evidence
from log_claims import false_drifting, lost_best, wrong_claims
from page import write
from spread_streams import counts_until_raised, false_alarms, false_count_alarms, rows_until_raised

import gobetween as gb
from gobetween.core.alarm.confounding import confounding_alarms
from gobetween.core.alarm.policy import policy_alarms
from gobetween.logs.analysis.notes import log_uneven
from gobetween.simulation.summary import exact_interval

PARTS = 20  # of what takes long, in two processes
POLICIES = np.array([[0.4, 0.3, 0.3], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])


def claims(logs: int = 10_000, delta: float = 0.1) -> list[str]:
    lines = [
        "| family | behaviour policies | best by | rows | logs | claims | wrong | at most (95%, exact) |",
        "|" + "---|" * 8,
    ]
    for family, gaps in ((gb.Bernoulli(), (0.0, 0.02, 0.12)), (gb.Gaussian(1.0), (0.0, 0.05, 0.25))):
        for mediators in (1, 3):
            for gap in gaps[1:]:
                made, wrong = wrong_claims(family, mediators, logs, 1000, delta, gap)
                high = exact_interval(wrong, logs)[1]
                assert high <= delta, (family, mediators, gap, wrong)
                lines.append(f"| {family.name} | {mediators} | {gap:g} | 1,000 | {logs:,} | {made} | {wrong} | {high:.2%} |")
    return lines


def alarms(logs: int = 10_000, level: float = 0.05) -> list[str]:
    lines = ["| alarm | the world | logs | raised | 95% interval |", "|---|---|---|---|---|"]
    rng = np.random.default_rng(7)
    for family in (gb.Bernoulli(), gb.Gaussian(1.0)):
        for effect in (0.0, 0.15):
            raised = {"declared policy": 0, "confounding": 0}
            for _ in range(logs):
                N_ea = np.array([rng.multinomial(300, row + effect * (POLICIES[0] - row)) for row in POLICIES])
                means = 0.5 + effect * np.array([1.0, 0.0, -1.0])[:, None] * np.ones(3)
                S_ea = rng.binomial(N_ea, means).astype(float)
                if family.name == "gaussian":
                    S_ea = rng.normal(N_ea * means, np.sqrt(N_ea))
                declared = policy_alarms(["x", "y", "z"], N_ea, [row.tolist() for row in POLICIES], level)
                mixed = confounding_alarms(["a", "b", "c"], family, N_ea, S_ea, level)
                raised["declared policy"] += any(alarm.raised for alarm in declared)
                raised["confounding"] += any(alarm.raised for alarm in mixed)
            for name, count in raised.items():
                low, high = exact_interval(count, logs)
                assert effect > 0 or low <= level, (name, count)
                world = "as it should be" if effect == 0.0 else "off by 0.15"
                lines.append(f"| {name}, {family.name} | {world} | {logs:,} | {count / logs:.2%} | {low:.2%}–{high:.2%} |")
    return lines


def gaps(streams: int = 10_000, level: float = 0.01) -> list[str]:
    """Rewards that are missing evenly with each mediator, or more often with one arm; looked at 20 times in 960 rows."""
    lines = ["| missing, by arm | logs | raised | 95% interval |", "|---|---|---|---|"]
    for name, chances in (
        ("10% each", (0.1, 0.1, 0.1)),
        ("50% each", (0.5, 0.5, 0.5)),
        ("5%, 10%, 15%", (0.05, 0.1, 0.15)),
        ("5%, 10%, 30%", (0.05, 0.1, 0.3)),
    ):
        rng, raised, even = np.random.default_rng(11), 0, len(set(chances)) == 1
        for _ in range(streams):
            n = np.cumsum([[rng.multinomial(16, row) for row in POLICIES] for _ in range(20)], axis=0)
            new = np.diff(n, axis=0, prepend=np.zeros((1, 3, 3), np.int64))
            m = np.cumsum(rng.binomial(new, chances), axis=0)
            raised += any(log_uneven(*look) >= -np.log(level) for look in zip(m, n, strict=True))
        low, high = exact_interval(raised, streams)
        assert not even or high <= level, (name, raised)
        lines.append(f"| {name} | {streams:,} | {raised / streams:.2%} | {low:.2%}–{high:.2%} |")
    return lines


def scales(streams: int = 10_000, level: float = 0.01) -> list[str]:
    lines = ["| rewards | streams | raised | 95% interval |", "|---|---|---|---|"]
    for coin, name in ((False, "normal"), (True, "−1 or 1")):
        raised = false_alarms(streams, 1000, level, coin)
        low, high = exact_interval(raised, streams)
        assert high <= level, (name, raised)
        lines.append(f"| {name} | {streams:,} | {raised / streams:.2%} | {low:.2%}–{high:.2%} |")
    lines += ["", "| spread, in units of the declared σ | rows until it is raised: median | 95% |", "|---|---|---|"]
    for ratio in (26.0, 3.0, 2.0, 1.5, 1.25):
        rows = rows_until_raised(ratio, 200, 3000)
        lines.append(f"| {ratio:g} | {np.median(rows):,.0f} | {np.quantile(rows, 0.95):,.0f} |")
    return lines


def counts(streams: int = 10_000, level: float = 0.01) -> list[str]:
    lines = ["| means | streams | raised | 95% interval |", "|---|---|---|---|"]
    for mean in (0.5, 5.0, 200.0):
        raised = false_count_alarms(mean, streams, 1000, level)
        low, high = exact_interval(raised, streams)
        assert high <= level, (mean, raised)
        lines.append(f"| {mean:g} and {2 * mean:g} | {streams:,} | {raised / streams:.2%} | {low:.2%}–{high:.2%} |")
    lines += ["", "| variance over mean | mean | rows until it is raised: median | 95% |", "|---|---|---|---|"]
    for ratio in (4.0, 2.0, 1.5, 1.2):
        for mean in (0.5, 5.0, 200.0):
            rows = counts_until_raised(ratio, mean, 200, 6000)
            lines.append(f"| {ratio:g} | {mean:g} | {np.median(rows):,.0f} | {np.quantile(rows, 0.95):,.0f} |")
    return lines


def shuffled(logs: int = 10_000) -> list[str]:
    found = np.array([shuffled_evidence(seed) for seed in range(logs)])
    lines = ["| level | logs | raised | 95% interval |", "|---|---|---|---|"]
    for level in (0.05, 0.01):
        raised = int((found >= np.log(3 / level)).sum())
        low, high = exact_interval(raised, logs)
        assert high <= level, (level, raised)
        lines.append(f"| {level:g} | {logs:,} | {raised} | {low:.3%}–{high:.3%} |")
    return lines


def sets(logs: int = 10_000, delta: float = 0.1) -> list[str]:
    lines = ["| arms | best by | logs | best arm left out | at most (95%, exact) | arms in play at the end |", "|" + "---|" * 6]
    for K, gap in ((2, 0.02), (2, 0.3), (20, 0.02), (20, 0.3)):
        parts = 1 if K == 2 else PARTS
        with ProcessPoolExecutor(2) as pool:
            found = list(
                pool.map(lost_best, *zip(*((K, gap, logs // parts, delta, part) for part in range(parts)), strict=True))
            )
        lost, left = sum(lost for lost, _ in found), sum(left for _, left in found) / parts
        high = exact_interval(lost, logs)[1]
        assert high <= delta, (K, gap, lost)
        lines.append(f"| {K} | {gap:g} | {logs:,} | {lost} | {high:.2%} | {left:.1f} |")
    return lines


def replays(logs: int = 10_000, level: float = 0.05) -> list[str]:
    raised = false_drifting(logs, level)
    low, high = exact_interval(raised, logs)
    assert high <= level, raised
    lines = ["| level | logs | raised | 95% interval |", "|---|---|---|---|"]
    return [*lines, f"| {level:g} | {logs:,} | {raised} | {low:.3%}–{high:.3%} |"]


def main() -> None:
    write(
        "validity-logs.md",
        "claims and alarms from logs",
        "## First claims at δ = 0.1",
        "",
        "Three arms, the first better than the others by a little; the claim is the first one that the log allows at any row.",
        "",
        *claims(),
        "",
        "## Alarms at level 0.05",
        "",
        "Three mediators with 300 rows each. *Off by 0.15*: policies moved 15% of the way to the first one's, and each",
        "mediator's means shifted by 0.15, 0 or −0.15. What is raised in a world as it should be is a false alarm: at most 5%.",
        "",
        *alarms(),
        "",
        "## The alarm about σ at level 0.01",
        "",
        "Two arms, 1,000 rewards, σ = 1 declared and right (rewards −1 or 1 are 1-sub-Gaussian), looked at 40 times:",
        "",
        *scales(),
        "",
        "## The alarm about Poisson counts at level 0.01",
        "",
        "Two arms, 1,000 Poisson counts, looked at 40 times; and negative binomial counts of two arms, looked at after each:",
        "",
        *counts(),
        "",
        "## The remark about missing rewards at level 0.01",
        "",
        "Three mediators with 320 rows each, looked at 20 times. Where all arms' rewards are missing as often, it is false:",
        "",
        *gaps(),
        "",
        "## The set of arms that can still be the best, at δ = 0.1",
        "",
        "Bernoulli rewards of mean 0.5, one arm better; 32 rows of each arm on average, drawn evenly first, then among those",
        "in play; looked at four times. *Left out*: the best arm was out of the set at any of these looks.",
        "",
        *sets(),
        "",
        "## Shuffled rows of a drifting log",
        "",
        "Three arms in 600 rows; one pays 0.2 in the first half and 0.7 in the second. Rows are shuffled: what is raised is",
        "a false alarm, for nothing drifts in that order.",
        "",
        *shuffled(),
        "",
        "## Mediators whose rows are said not to be permutable",
        "",
        "Two mediators with 120 and 80 rows of a policy that does not change.",
        "",
        *replays(),
    )


if __name__ == "__main__":
    main()
