"""Wrong answers to every question at near-ties: `make validity` writes docs/validity-questions.md.

Gaps are so small that the answer is hardly ever known within the limit of queries: what is named is nearly as often wrong as
right, and must be rare.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from late_answers import SETTINGS, late
from page import write

import gobetween as gb
from gobetween.simulation.summary import exact_interval

DELTA = 0.1
LATE: tuple[tuple[list[float], gb.Question], ...] = (
    ([0.0, 0.01, -0.3, -0.6], gb.BestArm()),
    ([0.0, 0.5, 0.01, -0.3], gb.TopM(2)),
    ([0.0, 0.11, -0.1, -0.3], gb.EpsilonBest(0.1)),
    ([-0.01, 0.5, 0.01, -0.3], gb.Threshold(0.0)),
)
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
    lines = ["| family | means | question | runs | answered | wrong | at most (95 %, exact) |", "|" + "---|" * 7]
    for problem, question in instances():
        result = gb.simulate(problem, deltas=DELTA, runs=runs, seed=7, max_steps=most, question=question)
        answered = int((~result.censored).sum())
        wrong = int((~result.correct & ~result.censored).sum())
        high = exact_interval(wrong, runs)[1]
        assert high <= DELTA, (problem, question, wrong)
        means = ", ".join(f"{mean:g}" for mean in problem.means)
        lines.append(f"| {problem.family.name} | {means} | `{question!r}` | {runs:,} | {answered:,} | {wrong} | {high:.2%} |")
        print(lines[-1], flush=True)
    return lines


def late_answers(runs: int = 10_000, most: int = 300) -> list[str]:
    """The table of answers that come in batches or late."""
    lines = ["| means | question | answers | runs | answered | wrong | at most (95 %, exact) |", "|" + "---|" * 7]
    for means, question in LATE:
        problem = gb.Problem(means, POLICIES, family=gb.Gaussian(1.0))
        for setting in SETTINGS:
            answered, wrong = late(problem, question, setting == SETTINGS[1], DELTA, runs, most)
            high = exact_interval(wrong, runs)[1]
            assert high <= DELTA, (question, setting, wrong)
            shown = f"{', '.join(f'{mean:g}' for mean in means)} | `{question!r}` | {setting}"
            lines.append(f"| {shown} | {runs:,} | {answered:,} | {wrong} | {high:.2%} |")
            print(lines[-1], flush=True)
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
    write("validity-questions.md", "other questions", *words, "", *wrong_answers(), "", *slow, *late_answers())
