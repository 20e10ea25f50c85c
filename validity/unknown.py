"""Normal rewards whose spread nobody knows: `make validity` writes docs/validity-unknown.md.

False claims at exact ties under hostile sampling, with equal and with very unequal spreads; wrong answers at near-ties; and
what not to know σ costs on the paper's problems.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from page import AT_MOST, add, at_most, table, write
from tie_paths import MODES
from unknown_paths import false_claims

import gobetween as gb
from gobetween.paper.tables import EXPERIMENT_1, EXPERIMENT_2
from gobetween.simulation.summary import exact_interval

ALPHAS = (0.4, 0.1, 0.01)
DELTA = 0.1
TIED: tuple[tuple[list[float], list[float], tuple[int, ...]], ...] = (
    ([0.0, 0.0], [1.0, 1.0], tuple(range(len(MODES)))),
    ([0.0, 0.0], [5.0, 0.5], (0, 3, 4, 5)),
    ([0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 0.5, 4.0], (0, 5, 6)),
)
NEARLY = ([0.2, 0.0, 0.0, -0.2], [0.1, 0.0])


def ties(runs: int = 20_000, most: int = 1000) -> list[str]:
    """P(sup ≥ 1/α) at ties, which must be at most α."""
    lines = table("means", "spreads", "sampling", *(f"α = {alpha}" for alpha in ALPHAS))
    for means, spreads, modes in TIED:
        for mode in modes:
            counts = false_claims(means, spreads, mode, runs, most, ALPHAS)
            for alpha, wrong in zip(ALPHAS, counts, strict=True):
                assert exact_interval(wrong, runs, 0.999)[0] <= alpha, (means, spreads, mode, wrong)
            add(lines, means, spreads, MODES[mode], *(f"{wrong / runs:.4f}" for wrong in counts))
    return lines


def near_ties(runs: int = 10_000, most: int = 2000) -> list[str]:
    """Wrong answers of whole runs."""
    lines = table("means", "runs", "answered", "wrong", AT_MOST)
    for means in NEARLY:
        problem = gb.Problem(means, family=gb.Gaussian(sigma=None, expected=1.0))
        result = gb.simulate(problem, deltas=DELTA, runs=runs, seed=43, max_steps=most)
        wrong, answered = int((~result.correct & ~result.censored).sum()), int((~result.censored).sum())
        add(lines, means, runs, answered, wrong, at_most(wrong, runs, DELTA, means))
    return lines


def price(runs: int = 10_000) -> list[str]:
    """Mean queries with σ = 1 known and not known."""
    lines = table("problem", "δ", "σ known", "not known", "ratio", "wrong, not known")
    for name, problem in (("Experiment 1", EXPERIMENT_1), ("Experiment 2", EXPERIMENT_2)):
        without = gb.Problem(problem.means, problem.policies, family=gb.Gaussian(sigma=None, expected=1.0))
        known, unknown = (gb.simulate(one, deltas=[0.1, 0.001], runs=runs, seed=9) for one in (problem, without))
        for j, delta in enumerate((0.1, 0.001)):
            one, other = known.tau[:, j].mean(), unknown.tau[:, j].mean()
            wrong = f"{int((~unknown.correct[:, j]).sum())} of {runs:,}"
            add(lines, name, f"{delta:g}", f"{one:,.0f}", f"{other:,.0f}", f"{other / one:.2f}", wrong)
    return lines


def main() -> None:
    """Run all and write the page."""
    tied, near, cost = ties(), near_ties(), price()
    write(
        "validity-unknown.md",
        "normal rewards whose spread is not known",
        "`gb.Gaussian(sigma=None)` with `EProcess()`. Proof: [stopping.md](stopping.md#unknown-spread).",
        "",
        "## Ties: P(sup ≥ 1/α), which must be at most α",
        "",
        "How often the evidence ever said that some arm beats arm 1, one of the best, in 20,000 runs of 1,000 samples.",
        "Spreads are those of each arm; nobody knows them. *Whatever helps most* knows the means and pulls the arm whose",
        "estimate is expected to move most towards a false claim.",
        "",
        *tied,
        "",
        "## Near-ties at δ = 0.1",
        "",
        "Arms pulled directly, spread 1, up to 2,000 queries a run; *answered* counts runs that named an arm by then.",
        "",
        *near,
        "",
        "## What it costs not to know σ",
        "",
        "Mean queries of the default rules, 10,000 runs each, seed 9.",
        "",
        *cost,
    )


if __name__ == "__main__":
    main()
