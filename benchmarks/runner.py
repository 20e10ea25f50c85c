"""The experiment runner against the bare engine, and two Dask worker processes against one, in one run."""

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import gobetween as gb
from gobetween.simulation.executors import open_executor
from gobetween.simulation.grid import Experiment, parse_experiment
from gobetween.simulation.runner import run_block

TOML = {
    "delta": [0.4, 0.1, 0.01, 0.001],
    "stopping": "paper",
    "seed": 1,
    "arms": [{"mean": mean} for mean in (1.5, 1.0, 0.7, 0.5)],
    "mediators": [
        {"policy": row} for row in ([0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4])
    ],
}


def bare(experiment: Experiment) -> float:
    job = experiment.cells[0].job
    start = time.perf_counter()
    gb.simulate(job.problem, job.sampling, job.stopping, job.deltas, experiment.runs, job.seed)
    return time.perf_counter() - start


def runner(experiment: Experiment, kind: str = "threads", workers: int | None = None) -> float:
    with tempfile.TemporaryDirectory() as folder, open_executor(kind, workers) as pool:
        for future in [pool.executor.submit(run_block, experiment.cells[0].job, range(8)) for _ in range(4 * pool.number)]:
            future.result()  # everyone has loaded the kernels
        start = time.perf_counter()
        gb.run_experiment(experiment, Path(folder) / "r.sqlite", pool.executor, in_flight=4 * pool.number)
        return time.perf_counter() - start


def main() -> None:
    experiment = replace(parse_experiment(TOML, "benchmark"), runs=8000)
    bare(replace(experiment, runs=16))
    pairs = [(bare(experiment), runner(experiment)) for _ in range(5)]
    base, ours = (sorted(column)[2] for column in zip(*pairs, strict=True))
    print(f"one cell of 8,000 runs: engine {base:.2f} s, runner {ours:.2f} s (medians of 5): {ours / base - 1:+.1%}")
    one, two = (sorted(runner(experiment, "dask", n) for _ in range(3))[1] for n in (1, 2))
    print(f"Dask: one worker process {one:.2f} s, two {two:.2f} s (medians of 3): {one / two:.2f} ×")


if __name__ == "__main__":
    main()
