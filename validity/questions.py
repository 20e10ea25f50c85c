"""Wrong answers to every question at near-ties: `make validity` writes docs/validity-questions.md.

Gaps are so small that the answer is hardly ever known within the limit of queries: what is named is nearly as often wrong as
right, and must be rare.
"""

from page import write

import gobetween as gb
from gobetween.simulation.summary import exact_interval

DELTA = 0.1
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


if __name__ == "__main__":
    words = (
        f"δ = {DELTA:g}, three mediators, up to 1,500 queries a run; *answered* counts runs that named an answer by then.",
        "Proofs: [questions.md](questions.md).",
    )
    write("validity-questions.md", "other questions", *words, "", *wrong_answers())
