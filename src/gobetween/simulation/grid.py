"""Experiments as values: a grid of problems × sampling rules × stopping rules, and the file that describes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from gobetween.core.evidence.guess import Guess
from gobetween.core.problem.problem import Problem
from gobetween.errors import GoBetweenError, SpecError
from gobetween.files.fields import naming, only, tables, text, typed
from gobetween.files.problem import KEYS, NO_BUDGET, PROBLEM_KEYS, Budget, parse_problem, parse_settings, read_spec
from gobetween.files.rules import NamedRule, default, guessing, rule_to_dict
from gobetween.files.toml import read_toml
from gobetween.simulation.engine import MAX_STEPS, RUNS, Job, new_job
from gobetween.simulation.plan import DELTAS


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
    budget: Budget = NO_BUDGET
    """Within which it is counted how many runs were decided; it decides no number of a run."""

    def __repr__(self) -> str:
        return f"Experiment({self.title!r}, {len(self.cells)} cells, {self.runs} runs of each)"

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
        title = text(data.get("title", ""), "title")
        settings = parse_settings(data)
        problems = _problems(data, Path(source).parent)
        deltas = settings.delta or DELTAS
        seed, most = settings.seed or 0, settings.max_steps or MAX_STEPS
        sampling, stopping = settings.sampling or (default("sampling"),), settings.stopping or (default("stopping"),)
        cells = tuple(
            Cell(name, who.name, when.name, _job(name, problem, who, guessing(when, guess), deltas, seed, most))
            for name, (problem, guess) in problems.items()
            for who in sampling
            for when in stopping
        )
        return Experiment(title, cells, deltas, settings.runs or RUNS, seed, most, settings.budget)


def _job(name: str, problem: Problem, who: NamedRule, when: NamedRule, deltas: tuple[float, ...], seed: int, most: int) -> Job:
    try:
        return new_job(problem, who.rule, when.rule, deltas, seed, most)
    except GoBetweenError as error:
        raise SpecError(f"sampling {who.name!r} on problem {name!r}: {error}") from None


def _problems(data: Mapping[str, Any], folder: Path) -> dict[str, tuple[Problem, Guess | None]]:
    """Problems by name: the file's own, or those of [[problems]], written out there or in files of their own."""
    if "problems" not in data:
        return {str(data.get("title") or "problem"): parse_problem(data)}
    for key in PROBLEM_KEYS:
        if key in data:
            raise SpecError(f"{key} stands beside problems: move it into one of them")
    found: dict[str, tuple[Problem, Guess | None]] = {}
    for i, table in enumerate(tables(data, "problems")):
        path = f"problems[{i}]"
        only(table, ("name", "file", *PROBLEM_KEYS), f"{path}.")
        name = typed(table.get("name", table.get("file", f"problem {i + 1}")), str, f"{path}.name", "a string")
        if name in found:
            raise SpecError(f"{path}.name = {name!r} is taken: names must differ")
        found[name] = _problem(table, path, folder)
    return found


def _problem(table: Mapping[str, Any], path: str, folder: Path) -> tuple[Problem, Guess | None]:
    if "file" not in table:
        with naming(path):
            return parse_problem(table)
    file = typed(table["file"], str, f"{path}.file", "the name of a file")
    beside = [key for key in PROBLEM_KEYS if key in table]
    if beside:
        raise SpecError(f"{path}.{beside[0]} stands beside {path}.file: write the problem here or there")
    try:
        spec = read_spec(folder / file)
        return spec.problem, spec.guess
    except GoBetweenError as error:
        raise SpecError(f"{path}.file: {error}") from None
