"""Wrong answers to every question at near-ties: `make validity` writes docs/validity-questions.md.

Gaps are so small that the answer is hardly ever known within the limit of queries: what is named is nearly as often wrong as
right, and must be rare.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from late_answers import SETTINGS, late
from page import AT_MOST, add, at_most, table, write

import gobetween as gb

DELTA = 0.1
LOOSE = 0.4
"""A risk at which nearly every run ends, and errors have their chance."""
LATE: tuple[tuple[list[float], gb.Question], ...] = (
    ([0.0, 0.01, -0.3, -0.6], gb.BestArm()),
    ([0.0, 0.5, 0.01, -0.3], gb.TopM(2)),
    ([0.0, 0.11, -0.1, -0.3], gb.EpsilonBest(0.1)),
    ([-0.01, 0.5, 0.01, -0.3], gb.Threshold(0.0)),
)
ENDING: tuple[tuple[gb.Family, float, float], ...] = (
    (gb.Gaussian(1.0), 0.0, 0.15),
    (gb.Bernoulli(), 0.4, 0.07),
    (gb.Binomial(5), 2.0, 0.15),
    (gb.NegativeBinomial(1.5), 1.0, 0.2),
    (gb.Geometric(), 3.0, 0.35),
    (gb.Gamma(2.0), 1.0, 0.1),
    (gb.Poisson(), 1.0, 0.15),
    (gb.Exponential(), 1.0, 0.15),
    (gb.Bounded(0.0, 1.0), 0.4, 0.07),
)
"""Families with a mean, and a gap that can be told."""
LATE_ENDING: tuple[tuple[gb.Family, float, float], ...] = ENDING[:2]
POLICIES = [[0.5, 0.2, 0.2, 0.1], [0.1, 0.5, 0.2, 0.2], [0.2, 0.1, 0.3, 0.4]]


def instances() -> list[tuple[gb.Problem, gb.Question]]:
    """Problems with a question whose answer hangs on a gap of 0.01 or so."""
    levels: list[tuple[gb.Family, float]] = [(gb.Gaussian(1.0), 0.0), (gb.Bernoulli(), 0.4), (gb.Poisson(), 1.0)]
    found: list[tuple[gb.Problem, gb.Question]] = []
    for family, base in levels:
        found += [
            (gb.Problem([base + 0.5, base + 0.01, base, base - 0.3], POLICIES, family=family), gb.TopM(2)),
            (gb.Problem([base + 0.11, base, base - 0.1, base - 0.3], POLICIES, family=family), gb.EpsilonBest(0.1)),
            (gb.Problem([base + 0.5, base + 0.01, base - 0.01, base - 0.3], POLICIES, family=family), gb.Threshold(base)),
        ]
    return found


def wrong_answers(runs: int = 10_000, most: int = 1500) -> list[str]:
    """The table."""
    lines = table("family", "means", "question", "runs", "answered", "wrong", AT_MOST)
    for problem, question in instances():
        result = gb.simulate(problem, deltas=DELTA, runs=runs, seed=7, max_steps=most, question=question)
        answered, wrong = counts(result)
        high = at_most(wrong, runs, DELTA, problem, question)
        add(lines, problem.family.name, problem.means, f"`{question!r}`", runs, answered, wrong, high)
    return lines


def counts(result: gb.Runs) -> tuple[int, int]:
    """How many runs named an answer, and how many a wrong one."""
    return int((~result.censored).sum()), int((~result.correct & ~result.censored).sum())


def asked_near(family: gb.Family, base: float, gap: float) -> list[tuple[gb.Problem, gb.Question]]:
    """Every question that the family knows, with an answer that hangs on the gap; in the last two problems the best two tie."""
    low, lower = base - 2.0 * gap, base - 3.0 * gap
    found: list[tuple[gb.Problem, gb.Question]] = [
        (gb.Problem([base, base + gap, low, lower], POLICIES, family=family), gb.BestArm()),
        (gb.Problem([base, base + 3.0 * gap, base + gap, lower], POLICIES, family=family), gb.TopM(2)),
        (gb.Problem([base - gap / 2, base + 3.0 * gap, base + gap / 2, lower], POLICIES, family=family), gb.Threshold(base)),
        (gb.Problem([base, base + gap, base + gap, lower], POLICIES, family=family), gb.TopM(2)),
    ]
    try:
        gb.EpsilonBest(gap).check(4, family)
    except gb.ProblemError:
        return found
    return [
        *found,
        (gb.Problem([base, base + 2.0 * gap, base + 2.0 * gap, lower], POLICIES, family=family), gb.EpsilonBest(gap)),
    ]


def endings(runs: int = 10_000, most: int = 3000, worlds: Sequence[tuple[gb.Family, float, float]] = ENDING) -> list[str]:
    """Every family with every question that it knows, with gaps and a risk at which runs end."""
    lines = table("family", "means", "question", "runs", "answered", "mean τ", "wrong", AT_MOST)
    for family, base, gap in worlds:
        for problem, question in asked_near(family, base, gap):
            result = gb.simulate(problem, deltas=LOOSE, runs=runs, seed=8, max_steps=most, question=question)
            answered, wrong = counts(result)
            high = at_most(wrong, runs, LOOSE, problem, question)
            tau = f"{result.tau.mean():,.0f}"
            add(lines, family.name, problem.means, f"`{question!r}`", runs, answered, tau, wrong, high)
    return lines


def late_endings(runs: int = 10_000, most: int = 1500) -> list[str]:
    """Answers that come in batches or late, with gaps and a risk at which runs end."""
    asked = [one for world in LATE_ENDING for one in asked_near(*world)]
    return delayed(asked, LOOSE, runs, most)


def late_answers(runs: int = 10_000, most: int = 300) -> list[str]:
    """Answers that come in batches or late, where hardly any run ends."""
    asked = [(gb.Problem(means, POLICIES, family=gb.Gaussian(1.0)), question) for means, question in LATE]
    return delayed(asked, DELTA, runs, most)


def delayed(asked: Sequence[tuple[gb.Problem, gb.Question]], delta: float, runs: int, most: int) -> list[str]:
    """The table of answers that come in batches or late."""
    lines = table("family", "means", "question", "answers", "runs", "answered", "wrong", AT_MOST)
    for problem, question in asked:
        for setting in SETTINGS:
            answered, wrong = late(problem, question, setting == SETTINGS[1], delta, runs, most)
            high = at_most(wrong, runs, delta, question, setting)
            add(lines, problem.family.name, problem.means, f"`{question!r}`", setting, runs, answered, wrong, high)
    return lines


if __name__ == "__main__":
    words = (
        f"δ = {DELTA:g}, three mediators, up to 1,500 queries a run; *answered* counts runs that named an answer by then.",
        "Proofs: [questions.md](questions.md).",
    )
    slow = (
        "## Batches and delays",
        "",
        "Gaussian rewards, σ = 1, five new queries at a time, up to 300 in all. *Bad news is slow*: what is under its mean for",
        "arm 1, and above for another, takes eight times as long on average. Answers are counted in the order of issue.",
        "",
    )
    ended = (
        "## Runs that end",
        "",
        f"δ = {LOOSE:g} and gaps that can be told, so that runs name an answer; up to 3,000 queries. In the fourth problem",
        "of a family the best two tie, in the last two arms do.",
        "",
    )
    late_ended = ("## Batches and delays in runs that end", "", f"δ = {LOOSE:g}, up to 1,500 queries, otherwise as above.", "")
    write(
        "validity-questions.md", "other questions", *words, "", *wrong_answers(), "", *ended, *endings(), "", *slow,
        *late_answers(), "", *late_ended, *late_endings(),
    )  # fmt: skip
