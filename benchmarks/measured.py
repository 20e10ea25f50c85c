"""The mean queries that README, docs/sampling.md, docs/stopping.md and docs/experiment.md quote of the default rules.

python benchmarks/measured.py            # everything
python benchmarks/measured.py guesses    # one table: defaults, guesses, pairs
"""

import sys
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from instances import MEANS, PAPER, instances

import gobetween as gb
from gobetween.simulation.comparison import contrast

SEED = 9
DELTAS = (0.4, 0.1, 0.01, 0.001, 1e-11)
ONE, TWO = instances()["Table 1"], instances()["Table 2"]


def row(name: str, numbers: np.ndarray) -> str:
    """Cells of mean queries."""
    return f"| {name} | " + " | ".join(f"{number:,.0f}" for number in numbers) + " |"


def defaults() -> Iterator[str]:
    """Known and unknown policies, both experiments; the largest standard error last."""
    worst = 0.0
    for name, problem, runs in (("Experiment 1", ONE, (40_000, 40_000)), ("Experiment 2", TWO, (40_000, 20_000))):
        for policies, sampling, count in (("known", "pursuit", runs[0]), ("unknown", "pursuit-unknown", runs[1])):
            tau = gb.simulate(problem, sampling, "e-process", DELTAS, count, SEED).tau
            worst = max(worst, float((tau.std(axis=0) / tau.mean(axis=0)).max()) / count**0.5)
            yield row(f"{name}, {policies}", tau.mean(axis=0))
    yield f"standard errors at most {100 * worst:.1f}%"


def guesses() -> Iterator[str]:
    """What a guess is worth on Experiment 1, s = 0.1; differences are of pairs of runs."""
    cases: Mapping[str, gb.Guess | None] = {
        "none": None,
        "the true means, stake 0.3": gb.Guess(MEANS, 0.1, 0.3),
        "the true means, stake 0.5": gb.Guess(MEANS, 0.1, 0.5),
        "in reverse order, stake 0.3": gb.Guess(MEANS[::-1], 0.1, 0.3),
        "absurd (100, −50, 3, 7), stake 0.3": gb.Guess([100.0, -50.0, 3.0, 7.0], 0.1, 0.3),
    }
    none = np.array([])
    for name, guess in cases.items():
        tau = gb.simulate(ONE, "pursuit", "e-process", DELTAS[:4], 12_000, SEED, guess=guess).tau
        none = tau if guess is None else none
        pairs = [contrast(tau[:, d], none[:, d]) for d in range(4)]
        yield row(name, tau.mean(axis=0)) + "".join(
            f" {100 * p.ratio - 100:+.1f} ± {100 * p.ratio_half_width:.1f}%" for p in pairs
        )


def pairs() -> Iterator[str]:
    """Half-widths of paired differences at δ = 0.1 over those of as many independent runs."""
    for name, one, other in (
        ("known against unknown policies", ("pursuit", "e-process"), ("pursuit-unknown", "e-process")),
        ("Pursuit against Tracking", ("pursuit", "e-process"), ("tracking", "e-process")),
        ("the e-process against the paper's rule", ("tracking", "e-process"), ("tracking", "paper")),
    ):
        ours, theirs = (
            gb.simulate(gb.Problem(MEANS, PAPER, family=gb.Gaussian(1.0)), *rules, 0.1, 8000, 1).tau[:, 0]
            for rules in (one, other)
        )
        apart = np.hypot(ours.std(), theirs.std())
        yield f"{name}: {(ours - theirs).std() / apart:.2f}"


TABLES: Mapping[str, Callable[[], Iterator[str]]] = {"defaults": defaults, "guesses": guesses, "pairs": pairs}

if __name__ == "__main__":
    for table in sys.argv[1:] or TABLES:
        print(f"\n{table}")
        for line in TABLES[table]():
            print(line, flush=True)
