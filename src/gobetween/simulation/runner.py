"""Running a grid: blocks of runs, by any executor, kept in one file.

A cell of the grid is `simulate(problem, sampling, stopping, deltas, runs, seed)`: the same numbers, whoever computes them, in
whatever order, and however often the work was interrupted.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from os import PathLike, cpu_count

from gobetween.errors import ResultsError
from gobetween.simulation.engine import CHUNK, Job, check_runs, halting, run_chunk
from gobetween.simulation.executors import work_through
from gobetween.simulation.grid import Experiment, read_experiment
from gobetween.simulation.progress import Told, telling
from gobetween.simulation.results_file import ResultsFile
from gobetween.simulation.runs import Runs, together

BLOCKS, LONGEST = 32, 256  # a cell is handed out in blocks of runs: what a kill can cost, against what handing out costs


def run_block(job: Job, block: range) -> Runs:
    """Some of a cell's runs; executors call this, perhaps on another machine."""
    chunks = range(block.start, block.stop, CHUNK)
    return together(run_chunk(job, range(first, min(first + CHUNK, block.stop))) for first in chunks)


def run_experiment(
    experiment: Experiment | str | PathLike[str],
    out: str | PathLike[str],
    executor: Executor | None = None,
    *,
    runs: int | None = None,
    in_flight: int | None = None,
    progress: Told = None,
) -> None:
    """Run what the results file does not hold yet; each block is there wholly or not at all.

    executor: any `concurrent.futures.Executor` (Dask: `client.get_executor()`); by default threads, one for each core.
    in_flight: how many blocks may be handed out at a time, which bounds memory. progress: True
    shows a bar in a terminal, a function is told how many runs were finished.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     gb.run_experiment("examples/experiment2.toml", f"{folder}/results.sqlite", runs=8)
    ...     gb.load_results(f"{folder}/results.sqlite")
    Results('Experiment 2: one useful mediator among ten', 1 cells, 8 runs of each)
    """
    grid = experiment if isinstance(experiment, Experiment) else read_experiment(experiment)
    if runs is not None:
        check_runs(runs)
        grid = replace(grid, runs=runs)
    for cell in grid.cells:
        check_runs(grid.runs, len(cell.job.deltas) * (cell.job.problem.K + cell.job.problem.E))
    if executor is None:
        with ThreadPoolExecutor(cpu_count()) as threads:
            return run_experiment(grid, out, threads, in_flight=in_flight, progress=progress)
    with ResultsFile.open(out, grid.to_dict(), grid.runs) as results, telling(progress, grid.runs * len(grid.cells)) as tell:
        tell(sum(sum(results.chunks(cell).values()) for cell in range(len(grid.cells))))
        with halting([cell.job for cell in grid.cells]):
            _run(grid, results, executor, in_flight or 4 * (cpu_count() or 1), tell)
    return None


def _run(grid: Experiment, results: ResultsFile, executor: Executor, in_flight: int, tell: Callable[[int], None]) -> None:
    def submit(task: tuple[int, range]) -> Future[Runs]:
        cell, block = task
        return executor.submit(run_block, grid.cells[cell].job, block)

    def take(task: tuple[int, range], found: Runs) -> None:
        results.add(*task, found)
        tell(len(task[1]))

    try:
        work_through(submit, _missing(grid, results), in_flight, take)
    except BrokenExecutor as error:
        raise ResultsError(f"a worker died ({error}): what was finished is kept, run the same again to go on") from None


def _missing(grid: Experiment, results: ResultsFile) -> Iterator[tuple[int, range]]:
    """Blocks of runs that are still to be made, cell after cell: neighbouring chunks that the file does not hold in full."""
    longest = min(max(CHUNK, grid.runs // BLOCKS), LONGEST)
    for cell in range(len(grid.cells)):
        held = results.chunks(cell)
        block = range(0)
        for first in range(0, grid.runs, CHUNK):
            last = min(first + CHUNK, grid.runs)
            if held.get(first // CHUNK, 0) >= last - first:
                continue
            if first == block.stop and last - block.start <= longest:
                block = range(block.start, last)
                continue
            if block:
                yield cell, block
            block = range(first, last)
        if block:
            yield cell, block
