"""Experiments: a grid of problems × sampling rules × stopping rules, run in blocks by any executor, kept in one file.

A cell of the grid is `simulate(problem, sampling, stopping, deltas, runs, seed)`: the same numbers, whoever computes them, in
whatever order, and however often the work was interrupted.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from os import PathLike, cpu_count
from pathlib import Path
from typing import Any

from gobetween.core.problem import Problem
from gobetween.errors import GoBetweenError, ResultsError, SpecError
from gobetween.files.fields import naming, only, tables, typed
from gobetween.files.problem import KEYS, PROBLEM_KEYS, parse_problem, parse_settings, read_spec
from gobetween.files.rules import Named, default, rule_to_dict
from gobetween.files.toml import read_toml
from gobetween.simulation.engine import CHUNK, MAX_STEPS, RUNS, Job, Runs, check_whole, new_job, run_chunk, together
from gobetween.simulation.plan import DELTAS
from gobetween.simulation.results import Results

BLOCKS, LONGEST = 32, 256  # a cell is handed out in blocks of runs: what a kill can cost, against what handing out costs


@dataclass(frozen=True)
class Cell:
    """One combination of the grid."""

    problem: str
    sampling: str
    stopping: str
    job: Job

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe: all that decides the numbers."""
        job = self.job
        return {
            "problem": self.problem,
            "sampling": self.sampling,
            "stopping": self.stopping,
            "rules": {"sampling": rule_to_dict(job.sampling), "stopping": rule_to_dict(job.stopping)},
            "family": job.problem.family.to_dict(),
            "means": job.problem.means.tolist(),
            "policies": job.problem.policies.tolist(),
            "costs": None if job.problem.costs is None else job.problem.costs.tolist(),
            "silent": job.problem.silent,
            "arms": list(job.problem.arms),
            "mediators": list(job.problem.mediators),
        }


@dataclass(frozen=True)
class Experiment:
    """A grid; every cell has the same risks, runs and seed."""

    title: str
    cells: tuple[Cell, ...]
    deltas: tuple[float, ...]
    runs: int
    seed: int
    max_steps: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe: all that decides the numbers, but for how many runs there are."""
        return {
            "title": self.title,
            "deltas": list(self.deltas),
            "seed": self.seed,
            "max_steps": self.max_steps,
            "cells": [cell.to_dict() for cell in self.cells],
        }


def read_experiment(path: str | PathLike[str]) -> Experiment:
    """Read and check a file; problems that it names are looked for beside it."""
    return parse_experiment(read_toml(path), str(path))


def parse_experiment(data: Mapping[str, Any], source: str) -> Experiment:
    """Check nested dicts: one problem as in a plan, or [[problems]]; `sampling` and `stopping` may be lists."""
    with naming(source):
        only(data, (*KEYS, "problems"), "")
        title = typed(data.get("title", ""), str, "title", "a string")
        settings = parse_settings(data)
        problems = _problems(data, Path(source).parent)
        deltas = settings.delta or DELTAS
        seed, most = settings.seed or 0, settings.max_steps or MAX_STEPS
        sampling, stopping = settings.sampling or (default("sampling"),), settings.stopping or (default("stopping"),)
        cells = tuple(
            Cell(name, who.name, when.name, _job(name, problem, who, when, deltas, seed, most))
            for name, problem in problems.items()
            for who in sampling
            for when in stopping
        )
        return Experiment(title, cells, deltas, settings.runs or RUNS, seed, most)


def _job(name: str, problem: Problem, who: Named, when: Named, deltas: tuple[float, ...], seed: int, most: int) -> Job:
    try:
        return new_job(problem, who.rule, when.rule, deltas, seed, most)
    except GoBetweenError as error:
        raise SpecError(f"sampling {who.name!r} on problem {name!r}: {error}") from None


def _problems(data: Mapping[str, Any], folder: Path) -> dict[str, Problem]:
    """Problems by name: the file's own, or those of [[problems]], written out there or in files of their own."""
    if "problems" not in data:
        return {str(data.get("title") or "problem"): parse_problem(data)}
    for key in PROBLEM_KEYS:
        if key in data:
            raise SpecError(f"{key} stands beside problems: move it into one of them")
    found: dict[str, Problem] = {}
    for i, table in enumerate(tables(data, "problems")):
        path = f"problems[{i}]"
        only(table, ("name", "file", *PROBLEM_KEYS), f"{path}.")
        name = typed(table.get("name", table.get("file", f"problem {i + 1}")), str, f"{path}.name", "a string")
        if name in found:
            raise SpecError(f"{path}.name = {name!r} is taken: names must differ")
        found[name] = _problem(table, path, folder)
    return found


def _problem(table: Mapping[str, Any], path: str, folder: Path) -> Problem:
    if "file" not in table:
        with naming(path):
            return parse_problem(table)
    file = typed(table["file"], str, f"{path}.file", "the name of a file")
    beside = [key for key in PROBLEM_KEYS if key in table]
    if beside:
        raise SpecError(f"{path}.{beside[0]} stands beside {path}.file: write the problem here or there")
    try:
        return read_spec(folder / file).problem
    except GoBetweenError as error:
        raise SpecError(f"{path}.file: {error}") from None


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
    progress: Callable[[int], None] | None = None,
) -> None:
    """Run what the results file does not hold yet; each block is there wholly or not at all.

    executor: any `concurrent.futures.Executor` (Dask: `client.get_executor()`); by default threads, one for each core.
    in_flight: how many blocks may be handed out at a time, which bounds memory. progress is told how many runs were finished.
    """
    grid = experiment if isinstance(experiment, Experiment) else read_experiment(experiment)
    if runs is not None:
        check_whole({"runs": (runs, 1)})
        grid = replace(grid, runs=runs)
    if executor is None:
        with ThreadPoolExecutor(cpu_count()) as threads:
            return run_experiment(grid, out, threads, in_flight=in_flight, progress=progress)
    with Results.open(out, grid.to_dict(), grid.runs) as results:
        tell = progress or (lambda n: None)
        tell(sum(sum(results.chunks(cell).values()) for cell in range(len(grid.cells))))
        _run(grid, results, executor, in_flight or 4 * (cpu_count() or 1), tell)
    return None


def _run(grid: Experiment, results: Results, executor: Executor, in_flight: int, tell: Callable[[int], None]) -> None:
    flying: dict[Future[Runs], tuple[int, range]] = {}

    def collect(at_most: int) -> None:
        while len(flying) > at_most:
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                cell, block = flying.pop(future)
                results.add(cell, block, future.result())
                tell(len(block))

    try:
        for cell, block in _missing(grid, results):
            flying[executor.submit(run_block, grid.cells[cell].job, block)] = (cell, block)
            collect(in_flight - 1)
        collect(0)
    except BrokenExecutor as error:
        raise ResultsError(f"a worker died ({error}): what was finished is kept, run the same again to go on") from None
    finally:
        for future in flying:
            future.cancel()


def _missing(grid: Experiment, results: Results) -> Iterator[tuple[int, range]]:
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
