"""Mediators that break their declared policies: queries against those of the same rule that was told nothing of that mediator.

`python benchmarks/deviations.py [RUNS]` prints the table of docs/sampling.md; seed 3, all of it from compiled runs.
"""

import sys

import numpy as np

import gobetween as gb
from gobetween.core.ground.jit import index
from gobetween.core.problem.cast import ladder
from gobetween.core.run.loops import NONE, runs
from gobetween.core.run.streams import seeded
from gobetween.simulation.engine import Job, _workbench, new_job

MEANS, DELTAS, MOST = [1.5, 1.0, 0.7, 0.5], [0.1, 0.01], 1_000_000
DECLARED = [0.6, 0.2, 0.1, 0.1]
OTHERS = [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.2, 0.0, 0.4, 0.4]]
ACTS = {
    "2/2/94/2 (a lot)": [0.02, 0.02, 0.94, 0.02],
    "30/30/30/10": [0.3, 0.3, 0.3, 0.1],
    "50/20/20/10 (a little)": [0.5, 0.2, 0.2, 0.1],
    "65/20/15/0": [0.65, 0.2, 0.15, 0.0],
    "0/0/0/100": [0.0, 0.0, 0.0, 1.0],
    "60/20/10/10 (not at all)": DECLARED,
}
CHANGES = (0, 50, 150)  # queries after which it begins


def queries(acts: list[float], told: list[float] | None, change: int, most: int) -> np.ndarray:
    """[runs, δ] how long runs take where the first mediator acts as declared up to the change, and then otherwise."""
    before, after = (gb.Problem(MEANS, [row, *OTHERS], family=gb.Gaussian(1.0)) for row in (DECLARED, acts))
    job = new_job(before, "pursuit", "e-process", DELTAS, 3, MOST, [told, *OTHERS])
    return np.array([_one(job, before, after, change, run) for run in range(most)])


def _one(job: Job, before: gb.Problem, after: gb.Problem, change: int, run: int) -> list[int]:
    """One run, in two parts."""
    bench, D = _workbench(job), len(job.deltas)
    world = seeded(bench.world, job.seed, range(run, run + 1))
    tau, stopped, named = np.zeros((1, D), np.int64), np.zeros((1, D), np.bool_), np.zeros((1, D, before.K), np.bool_)
    N_e, N_a = np.zeros((1, D, before.E), np.int64), np.zeros((1, D, before.K), np.int64)
    found, first = np.zeros(D, np.int64), 0
    for problem, begin, end in ((before, 0, change), (after, change, job.max_steps)):
        if begin == end:
            continue
        fresh = begin == 0
        runs(
            bench.family, bench.means, ladder(problem.policies, False), bench.sampler, bench.stopper, bench.constants[first:],
            bench.state, bench.available, job.halt, fresh, index(begin), NONE, index(end), world, tau[:, first:],
            stopped[:, first:], named[:, first:], N_e[:, first:], N_a[:, first:],
        )  # fmt: skip
        found, first = tau[0].copy(), int(stopped[0].sum())
        if first == D:
            break
    return [int(found[d]) for d in bench.back]


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    print("| it acts | from query | δ | declared | told nothing | ratio |\n|---|---|---|---|---|---|")
    for name, acts in ACTS.items():
        for change in CHANGES:
            one, other = (queries(acts, told, change, most) for told in (DECLARED, None))
            for d, delta in enumerate(DELTAS):
                a, b = one[:, d], other[:, d]
                error = np.hypot(a.std() / a.mean(), b.std() / b.mean()) / np.sqrt(most)
                ratio = a.mean() / b.mean()
                print(
                    f"| {name} | {change} | {delta:g} | {a.mean():.0f} | {b.mean():.0f} | {ratio:.3f} ± {ratio * error:.3f} |"
                )


if __name__ == "__main__":
    main()
