"""A guess of the means, at full size: `make validity` writes docs/validity-guesses.md.

False claims at exact ties with guesses that an adversary chose who knows the means; wrong answers of whole runs at near-ties.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from page import AT_MOST, add, at_most, table, write
from tie_paths import MODES, false_claims

import gobetween as gb
from gobetween.simulation.summary import exact_interval

ALPHAS = (0.4, 0.1, 0.01)
DELTA = 0.1
TIED: tuple[tuple[gb.Family, list[float], list[float], float, float], ...] = (
    (gb.Gaussian(1.0), [0.0, 0.0], [-0.5, 0.0], 0.1, 0.9),
    (gb.Gaussian(1.0), [0.0, 0.0], [-0.2, 0.1], 0.02, 0.5),
    (gb.Gaussian(1.0), [0.0] * 4, [-0.5, 0.0, 0.0, 0.0], 0.1, 0.9),
    (gb.Gaussian(1.0), [0.0] * 4, [-0.3, 0.1, 0.2, 0.3], 0.3, 0.3),
    (gb.Bernoulli(), [0.3] * 3, [0.2, 0.3, 0.4], 0.05, 0.9),
    (gb.Bernoulli(), [0.3] * 3, [0.1, 0.3, 0.3], 0.02, 0.5),
)
NEARLY: tuple[tuple[gb.Family, list[float], list[float], float, float], ...] = (
    (gb.Gaussian(1.0), [0.1, 0.0, 0.0], [0.0, 0.5, 0.0], 0.1, 0.9),
    (gb.Gaussian(1.0), [0.1, 0.0, 0.0], [-0.1, 0.1, 0.0], 0.02, 0.3),
    (gb.Bernoulli(), [0.35, 0.3, 0.3], [0.25, 0.4, 0.3], 0.03, 0.9),
)


def ties(runs: int = 10_000, most: int = 2000) -> list[str]:
    """P(sup ≥ 1/α) at ties, which must be at most α."""
    lines = table("family", "means", "guess", "spread", "stake", "sampling", *(f"α = {alpha}" for alpha in ALPHAS))
    for family, means, guessed, spread, stake in TIED:
        for mode in (0, 6):
            guess, steps = gb.Guess(guessed, spread, stake), most if family.name == "gaussian" else most // 4
            counts = false_claims(family, means, mode, runs, steps, ALPHAS, guess=guess)
            for alpha, wrong in zip(ALPHAS, counts, strict=True):
                assert exact_interval(wrong, runs, 0.999)[0] <= alpha, (family, means, mode, wrong)
            shares = (f"{wrong / runs:.4f}" for wrong in counts)
            add(lines, family.name, means, guessed, f"{spread}", f"{stake}", MODES[mode], *shares)
    return lines


def near_ties(runs: int = 10_000) -> list[str]:
    """Wrong answers of whole runs."""
    lines = table("family", "means", "guess", "spread", "stake", "runs", "mean τ", "not stopped", "wrong", AT_MOST)
    for family, means, guessed, spread, stake in NEARLY:
        problem = gb.Problem(means, 0.7 * np.eye(len(means)) + 0.3 / len(means), family=family)
        guess = gb.Guess(guessed, spread, stake)
        found = gb.simulate(problem, deltas=DELTA, runs=runs, seed=43, max_steps=3000, guess=guess)
        wrong = int((~found.correct & ~found.censored).sum())
        numbers = f"{found.tau.mean():,.0f}", int(found.censored.sum()), wrong, at_most(wrong, runs, DELTA, family)
        add(lines, family.name, means, guessed, f"{spread}", f"{stake}", runs, *numbers)
    return lines


def main() -> None:
    """Run all and write the page."""
    tied, near = ties(), near_ties()
    write(
        "validity-guesses.md",
        "guesses that an adversary chose",
        "## Ties: P(sup ≥ 1/α), which must be at most α",
        "",
        "How often the evidence of `EProcess(guess=…)` ever said that some arm beats arm 1, one of the best, in 10,000",
        "runs of 2,000 samples (Gaussian) or 500 (Bernoulli). The guess says, with confidence, that arm 1 is the worst.",
        "",
        *tied,
        "",
        f"## Near-ties at δ = {DELTA}",
        "",
        "Whole runs of the default rules, of 3,000 queries at most; arm 1 is the best, and the guess names another.",
        "",
        *near,
    )


if __name__ == "__main__":
    main()
