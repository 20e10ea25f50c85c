"""Statistical evidence for the rules, at full size: `make validity` writes docs/validity.md and docs/asymptotics.svg.

Wrong answers at δ = 0.1 on easy, tied-rivals, rare-arm and wrongly declared instances; batches, shuffled and reward-dependent
delays; the e-process at ties under hostile sampling; τ/ln(1/δ) down to δ = 1e-30.
"""

import math
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from disorder import DELTA, SETTINGS, live
from page import DOCS, write

import gobetween as gb
from gobetween.core.evidence.eprocess import PRODUCT, Pairing, evidence, log_evalue
from gobetween.core.ground.jit import leaf
from gobetween.core.ground.tally import Tally, count, new_tally
from gobetween.core.reward.family import Family, draw
from gobetween.simulation.summary import exact_interval

POLICIES = [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]]
EXPERIMENT_1 = gb.Problem([1.5, 1.0, 0.7, 0.5], POLICIES, family=gb.Gaussian(1.0))
EXPERIMENT_2 = gb.Problem([5.0, 1.0], [[0.01, 0.99]] + [[0.0, 1.0]] * 9, family=gb.Gaussian(1.0))


def instances(family: Family) -> dict[str, tuple[gb.Problem, Any, int]]:
    """Name → problem, declared policies, runs."""
    three = [[0.6, 0.2, 0.2], [0.1, 0.45, 0.45]]
    wrong = [[0.2, 0.2, 0.6], [0.45, 0.45, 0.1]]
    levels = {"gaussian": (1.0, 0.0, 0.0), "bernoulli": (0.8, 0.3, 0.3), "poisson": (2.0, 1.0, 1.0)}[family.name]
    close = {"gaussian": (0.05, 0.0), "bernoulli": (0.55, 0.5), "poisson": (1.05, 1.0)}[family.name]
    return {
        "easy": (gb.Problem(levels[:2], [[0.5, 0.5]], family=family), None, 10_000),
        "tied rivals": (gb.Problem(levels, three, family=family), None, 10_000),
        "rare arm": (gb.Problem(levels[:2], [[0.02, 0.98], [0.0, 1.0]], family=family), None, 10_000),
        "wrongly declared": (gb.Problem(levels, three, family=family), wrong, 10_000),
        "gap 0.05": (gb.Problem(close, [[0.5, 0.5]], family=family), None, 2_000),
    }


def wrong_answers() -> list[str]:
    """The table of wrong answers."""
    lines = ["| family | instance | rule | runs | mean τ | wrong | at most (95%, exact) |", "|---|---|---|---|---|---|---|"]
    for family in (gb.Gaussian(1.0), gb.Bernoulli(), gb.Poisson()):
        for name, (problem, declared, runs) in instances(family).items():
            for rule in (gb.EProcess(), gb.GLR()):
                result = gb.simulate(problem, gb.Tracking(), rule, DELTA, runs, seed=2026, declared=declared)
                wrong = int((~result.correct).sum())
                assert not result.censored.any()
                high = exact_interval(wrong, runs)[1]
                assert high <= DELTA, (family, name, rule, wrong)
                label = "e-process" if isinstance(rule, gb.EProcess) else "GLR, paper"
                lines.append(
                    f"| {family.name} | {name} | {label} | {runs:,} | {result.tau.mean():,.0f} | {wrong} | {high:.2%} |"
                )
    return lines


def disorder(runs: int = 2000, most: int = 300) -> list[str]:
    """How often live learners name an arm that is not better, when answers come in batches, shuffled, or late when they are bad
    for arm 1. In a tie either arm is named wrongly, and each claim has its δ: one e-process against each.
    """
    lines = ["| means | answers | runs | arm 1 named | at most (95%, exact) | arm 2 named |", "|---|---|---|---|---|---|"]
    for gap in (0.0, 0.02):
        for setting in SETTINGS:
            with ProcessPoolExecutor() as pool:
                named = list(pool.map(partial(live, setting, gap, most), range(runs), chunksize=50))
            counts = [named.count(f"arm {a}") for a in (1, 2)]
            for wrong in counts if gap == 0.0 else counts[:1]:
                assert exact_interval(wrong, runs)[1] <= DELTA, (setting, gap, counts)
            high = exact_interval(counts[0], runs)[1]
            lines.append(f"| 0.5, {0.5 + gap:g} | {setting} | {runs:,} | {counts[0]} | {high:.2%} | {counts[1]} |")
    return lines


DISORDER = (
    "Two arms that pay alike, or of which the second pays a little more: every claim that arm 1 is better is wrong. Five new",
    "queries at each step, 300 in all; *bad news is slow* delays eightfold what speaks against arm 1.",
)


@leaf
def hostile(family: Family, pairing: Pairing, means: Any, mode: int, most: int, limits: Any, tally: Tally, rng: Any) -> int:
    """Sample two arms to provoke a false claim that arm 0 beats arm 1; how many limits did ln E_{0>1} ever pass?"""
    passed = 0
    for t in range(most):
        a = t % 2
        if t >= 2:
            ahead = 0 if tally.mu_hat[0] > tally.mu_hat[1] else 1
            if mode == 1:
                a = ahead
            elif mode == 2:
                a = 1 - ahead
            elif mode == 3:
                a = 0 if t % 50 else 1
            elif mode == 4:
                a = 1 if t % 50 else 0
        count(tally, a, draw(family, means[a], rng))
        if t >= 1 and tally.mu_hat[0] > tally.mu_hat[1]:
            Z = evidence(family, tally.mu_hat[0], tally.mu_hat[1], float(tally.N_a[0]), float(tally.N_a[1]))[0]
            while (
                passed < limits.shape[0]
                and limits[passed] <= Z
                and log_evalue(family, tally, pairing, 0, 1, limits[passed]) >= limits[passed]
            ):
                passed += 1
        if passed == limits.shape[0]:
            break
    return passed


def ties() -> list[str]:
    """P(sup E ≥ 1/α) where it should be at most α."""
    alphas = (0.4, 0.1, 0.01)
    limits = np.array([-math.log(alpha) for alpha in alphas])
    lines = [
        "| family | means | sampling | " + " | ".join(f"α = {alpha}" for alpha in alphas) + " |",
        "|---|---|---|---|---|---|",
    ]
    modes = ("alternate", "the leader", "the laggard", "arm 1 mostly", "arm 2 mostly")
    for family, level, runs, most in (
        (gb.Gaussian(1.0), 0.0, 4000, 10_000),
        (gb.Bernoulli(), 0.3, 1000, 3000),
        (gb.Poisson(), 1.0, 1000, 3000),
    ):
        for gap in (0.0, 0.01):
            for mode, name in enumerate(modes):
                passed = []
                for run in range(runs):
                    rng = np.random.default_rng([11, mode, run])
                    passed.append(
                        hostile(family, PRODUCT, np.array([level, level + gap]), mode, most, limits, new_tally(2), rng)
                    )
                rates = [sum(p > i for p in passed) for i in range(len(alphas))]
                for rate, alpha in zip(rates, alphas, strict=True):
                    assert exact_interval(rate, runs, 0.999)[0] <= alpha, (family, name, rate)
                cells = " | ".join(f"{rate / runs:.4f}" for rate in rates)
                lines.append(f"| {family.name} | {level:g}, {level + gap:g} | {name} | {cells} |")
    return lines


def asymptotics(runs: int = 1000) -> tuple[list[str], dict[str, tuple[float, list[tuple[float, float]]]]]:
    """τ/ln(1/δ) of the default pair against T*."""
    deltas = [10.0**-k for k in (1, 2, 3, 5, 7, 10, 15, 20, 25, 30)]
    curves: dict[str, tuple[float, list[tuple[float, float]]]] = {}
    for name, problem in (("Experiment 1", EXPERIMENT_1), ("Experiment 2", EXPERIMENT_2)):
        result = gb.simulate(problem, gb.Pursuit(), gb.EProcess(), deltas, runs, seed=5)
        ratios = [float(result.tau[:, d].mean()) / -math.log(delta) for d, delta in enumerate(deltas)]
        curves[name] = (gb.lower_bound(problem).T_star, list(zip(deltas, ratios, strict=True)))
    lines = ["| δ | " + " | ".join(curves) + " |", "|---|" + "---|" * len(curves)]
    for d, delta in enumerate(deltas):
        lines.append(f"| {delta:.0e} | " + " | ".join(f"{curve[d][1]:.2f}" for _, curve in curves.values()) + " |")
    lines.append("| T\\* | " + " | ".join(f"{T:.2f}" for T, _ in curves.values()) + " |")
    return lines, curves


def picture(curves: dict[str, tuple[float, list[tuple[float, float]]]]) -> str:
    """τ/(T* ln(1/δ)) against ln(1/δ), both experiments, as SVG readable in grey."""
    width, height, left, bottom = 640, 360, 60, 50
    top = 6.0

    def at(delta: float, ratio: float) -> tuple[float, float]:
        x = left + (width - left - 20) * -math.log10(delta) / 30
        return x, height - bottom - (height - bottom - 20) * min(ratio, top) / top

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">']
    parts.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    for k in range(0, 31, 5):
        x, y = at(10.0**-k, 0.0)
        parts.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">1e-{k}</text>')
    for r in range(int(top) + 1):
        x, y = at(1.0, r)
        parts.append(f'<line x1="{x:.1f}" x2="{width - 20}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{r}</text>')
    one = at(1.0, 1.0)[1]
    parts.append(f'<line x1="{left}" x2="{width - 20}" y1="{one:.1f}" y2="{one:.1f}" stroke="black" stroke-dasharray="2 3"/>')
    for (name, (T, curve)), dash in zip(curves.items(), ("", "7 4"), strict=True):
        points = [at(delta, ratio / T) for delta, ratio in curve]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="black" stroke-width="2" stroke-dasharray="{dash}"/>')
        x, y = points[3]
        parts.append(f'<text x="{x + 8:.1f}" y="{y - 8:.1f}">{name}</text>')
    parts.append(f'<text x="{(width + left) / 2}" y="{height - 10}" text-anchor="middle">risk δ</text>')
    parts.append(f'<text x="{left + 6}" y="16">mean queries / (T* ln(1/δ)); dotted: the limit</text></svg>')
    return "\n".join(parts)


def main() -> None:
    """Run all and write the page."""
    table, curves = asymptotics()
    (DOCS / "asymptotics.svg").write_text(picture(curves) + "\n", encoding="utf-8")
    write(
        "validity.md",
        "are the rules right, and how far from the bound?",
        f"## Wrong answers at δ = {DELTA}, Track-and-Stop sampling",
        "",
        *wrong_answers(),
        "",
        f"## Live learners whose answers come in disorder, δ = {DELTA}, e-process",
        "",
        *DISORDER,
        "",
        *disorder(),
        "",
        "## Ties and near-ties under hostile sampling: P(sup E ≥ 1/α), which must be at most α",
        "",
        "How often the e-process ever claimed that arm 1 beats arm 2 although it does not, within 10,000 samples in 4,000 runs",
        "(Gaussian) and within 3,000 samples in 1,000 runs (the others).",
        "",
        *ties(),
        "",
        "## τ/ln(1/δ) falls toward T\\*, Pursuit and e-process (the default pair), 1,000 runs",
        "",
        *table,
        "",
        "![Mean queries over T* ln(1/δ)](asymptotics.svg)",
    )


if __name__ == "__main__":
    main()
