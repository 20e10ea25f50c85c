import csv
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import child
from strategies import WILD

import gobetween as gb
from gobetween.simulation.executors import open_executor
from gobetween.simulation.grid import parse_experiment
from gobetween.simulation.results_file import COLUMNS

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
GRID = """
title = "grid"
delta = [0.4, 0.1]
runs = 20
seed = 5
max_steps = 60
sampling = ["tracking", "uniform"]
stopping = ["e-process", { name = "mine", rule = "glr", rate = "paper", C = 2.0 }]

[[problems]]
name = "one"
family = "bernoulli"
arms = [{ mean = 0.9 }, { mean = 0.1 }]
mediators = [{ policy = [0.5, 0.5] }, { policy = [0.2, 0.8], cost = 2.0 }]

[[problems]]
name = "two"
file = "other.toml"
"""
OTHER = """
[[arms]]
mean = 1.0
[[arms]]
mean = 0.0
"""


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    (tmp_path / "grid.toml").write_text(GRID, encoding="utf-8")
    (tmp_path / "other.toml").write_text(OTHER, encoding="utf-8")
    return tmp_path / "grid.toml"


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gobetween", *map(str, arguments)]
    environment = os.environ | {"GOBETWEEN_JIT": "off"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, **options)


def exported(path: Path) -> str:
    done = run("experiment", "export", path, "--csv", "-")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_cell_is_a_simulation(grid: Path) -> None:
    experiment = gb.read_experiment(grid)
    assert [(c.problem, c.sampling, c.stopping) for c in experiment.cells[:3]] == [
        ("one", "tracking", "e-process"),
        ("one", "tracking", "mine"),
        ("one", "uniform", "e-process"),
    ]
    assert len(experiment.cells) == 8
    out = grid.with_name("r.sqlite")
    gb.run_experiment(experiment, out)
    table = gb.load_results(out).to_frame()
    for cell in experiment.cells[1], experiment.cells[6]:
        job = cell.job
        runs = gb.simulate(job.problem, job.sampling, job.stopping, [0.4, 0.1], 20, seed=5, max_steps=60)
        rows = table[(table.problem == cell.problem) & (table.sampling == cell.sampling) & (table.stopping == cell.stopping)]
        for d, delta in enumerate((0.4, 0.1)):
            part = rows[rows.delta == delta]
            assert part.run.tolist() == list(range(20))
            assert (part.tau.to_numpy() == runs.tau[:, d]).all()
            assert (part.correct.to_numpy() == runs.correct[:, d]).all()
            assert (part.censored.to_numpy() == runs.censored[:, d]).all()
            assert (np.array(part.N_e.tolist()) == runs.N_e[:, d]).all()


def test_more_runs_add_to_the_file_and_the_order_does_not_matter(grid: Path) -> None:
    experiment = gb.read_experiment(grid)
    grown, fresh = grid.with_name("grown.sqlite"), grid.with_name("fresh.sqlite")
    for runs in (3, 11, 20):
        gb.run_experiment(experiment, grown, runs=runs)
    with ThreadPoolExecutor(3) as executor:
        gb.run_experiment(experiment, fresh, executor, in_flight=1)
    assert exported(grown) == exported(fresh)
    told: list[int] = []
    gb.run_experiment(experiment, fresh, progress=told.append)
    assert told == [20 * 8]  # nothing was run again
    with pytest.raises(gb.ResultsError, match="was begun for 20 runs of each cell, more than 5; name another file"):
        gb.run_experiment(experiment, grown, runs=5)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["processes", "dask"])
def test_every_executor_finds_the_same(grid: Path, kind: str) -> None:
    experiment = gb.read_experiment(grid)
    one, other = grid.with_name("one.sqlite"), grid.with_name("other.sqlite")
    gb.run_experiment(experiment, one)
    with open_executor(kind, 2) as workers:
        assert workers.number == 2
        gb.run_experiment(experiment, other, workers.executor)
    assert exported(one) == exported(other)


def rows_in(path: Path) -> int:
    """Rows that a results file holds; 0 while there is none."""
    if not path.exists():
        return 0
    with sqlite3.connect(path, timeout=60) as database:
        known = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'rows'").fetchone()
        found = int(database.execute("SELECT count(*) FROM rows").fetchone()[0]) if known else 0
    database.close()
    return found


def test_killed_again_and_again_the_table_is_the_same(grid: Path) -> None:
    """kill -9 at random moments, then resumed: no row lost, doubled or different. In `make stress` twenty times."""
    moments, times = random.Random(3), 20 if WILD else 5
    runs = 40 * times
    grid.write_text(GRID.replace("runs = 20", f"runs = {runs}"), encoding="utf-8")
    whole, broken = grid.with_name("whole.sqlite"), grid.with_name("broken.sqlite")
    command = [sys.executable, "-m", "gobetween", "experiment", str(grid), "--json", "--out"]
    environment = os.environ | {"GOBETWEEN_JIT": "off"}
    held = [0]
    for _ in range(times):
        with child([*command, str(broken)], env=environment, stdout=subprocess.DEVNULL) as process:
            while rows_in(broken) <= held[-1] and process.poll() is None:
                time.sleep(0.01)
            time.sleep(moments.uniform(0.0, 0.1))
            assert process.poll() is None, "the work was done before it was killed: make it longer"
        held.append(rows_in(broken))
    assert held == sorted(held)
    assert len(set(held)) == times + 1  # every kill came in the midst of work
    one = subprocess.run([*command, str(broken)], env=environment, capture_output=True, check=True, timeout=300)
    other = subprocess.run([*command, str(whole)], env=environment, capture_output=True, check=True, timeout=300)
    assert json.loads(one.stdout)["results"] == json.loads(other.stdout)["results"]
    assert exported(broken) == exported(whole)
    assert exported(whole).count("\n") == 1 + 8 * runs * 2


def test_a_full_disk_is_said_and_nothing_is_lost(grid: Path) -> None:
    out = grid.with_name("full.sqlite")

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    done = run("experiment", grid, "--runs", 200, "--out", out, preexec_fn=little_room)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "make room and run the same again, what was finished is kept" in done.stderr
    assert "Traceback" not in done.stderr
    assert run("experiment", grid, "--runs", 200, "--out", out).returncode == 0
    gb.run_experiment(grid, grid.with_name("fresh.sqlite"), runs=200)
    assert exported(out) == exported(grid.with_name("fresh.sqlite"))


def test_a_read_only_folder(grid: Path) -> None:
    folder = grid.parent / "locked"
    folder.mkdir(mode=0o555)
    bound = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] if os.geteuid() == 0 else []
    command = [*bound, sys.executable, "-m", "gobetween", "experiment", str(grid), "--out", str(folder / "r.sqlite")]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"GOBETWEEN_JIT": "off"}, timeout=60)
    assert done.returncode == 2
    assert f"{folder / 'r.sqlite'}: cannot be used (unable to open database file)" in done.stderr
    assert list(folder.iterdir()) == []


def test_files_that_are_not_results(grid: Path) -> None:
    text = grid.with_name("text.sqlite")
    text.write_text("no database, but long enough to be read as one" * 10)
    foreign = grid.with_name("foreign.sqlite")
    with sqlite3.connect(foreign) as database:
        database.execute("CREATE TABLE mine (x)")
    for path in (text, foreign):
        before = path.read_bytes()
        with pytest.raises(gb.ResultsError, match="is not a results file of gobetween"):
            gb.run_experiment(grid, path)
        assert path.read_bytes() == before
    for path, message in (
        (grid.parent, "is a folder"),
        (grid.parent / "no" / "r.sqlite", "its folder does not exist"),
    ):
        with pytest.raises(gb.ResultsError, match=message):
            gb.run_experiment(grid, path)
    with pytest.raises(gb.ResultsError, match="no such file"):
        gb.load_results(grid.with_name("none.sqlite"))


def test_another_experiment_is_not_mixed_in(grid: Path) -> None:
    out = grid.with_name("r.sqlite")
    gb.run_experiment(grid, out, runs=2)
    grid.write_text(GRID.replace("seed = 5", "seed = 6"), encoding="utf-8")
    with pytest.raises(gb.ResultsError, match=r"holds results of another experiment \(seed differs\); name another file"):
        gb.run_experiment(grid, out, runs=2)
    grid.write_text(GRID.replace("mean = 0.9", "mean = 0.8"), encoding="utf-8")
    with pytest.raises(gb.ResultsError, match=r"\(cells differs\)"):
        gb.run_experiment(grid, out, runs=2)


def test_command_line_and_export(grid: Path) -> None:
    out = grid.with_name("r.sqlite")
    done = run("experiment", grid, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "one: sampling tracking, stopping mine, 20 runs" in done.stdout
    assert "cost" in done.stdout
    assert f"All runs are in {out}" in done.stdout.replace("\n", " ")
    data = json.loads(run("experiment", "run", grid, "--out", out, "--json").stdout)
    assert list(data) == ["title", "format", "file", "seed", "results", "comparison"]
    assert list(data["results"][0])[:5] == ["problem", "sampling", "stopping", "delta", "runs"]
    rows = list(csv.reader(exported(out).splitlines()))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 1 + 8 * 20 * 2
    assert run("experiment", "export", out, "--parquet", grid.with_name("r.parquet")).returncode == 0
    import pandas

    frame = pandas.read_parquet(grid.with_name("r.parquet"))
    assert list(frame) == list(COLUMNS)
    assert frame.tau.sum() == gb.load_results(out).to_frame().tau.sum()
    refused = run("experiment", "export", out)
    assert refused.returncode == 2
    assert "name at least one of --csv FILE and --parquet FILE" in refused.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("runs = 20", "rums = 20", "rums is not a known key: did you mean runs? Choose one of title"),
        ("runs = 20", "runs = 0", "runs = 0: must be a whole number, 1 or more"),
        ("runs = 20", 'runs = "many"', "runs = 'many': must be a whole number, 1 or more"),
        ("seed = 5", "seed = -5", "seed = -5: must be a whole number, 0 or more"),
        ("max_steps = 60", "max_steps = 1.5", "max_steps = 1.5: must be a whole number, 1 or more"),
        ('"uniform"]', '"psychic"]', "sampling[1] = 'psychic': choose one of pursuit, pursuit-unknown"),
        ('"uniform"]', '"tracking"]', "sampling[1].name = 'tracking' is also the name of sampling[0]: names must differ"),
        ('"uniform"]', "7]", "sampling[1] = 7: must be the name of a rule or a table with a rule"),
        ('rule = "glr"', 'rule = "best"', "stopping[1].rule = 'best': choose one of e-process, all-pairs, glr"),
        ('rule = "glr", ', "", "stopping[1].rule is missing: choose one of e-process, all-pairs, glr"),
        ("C = 2.0", "B = 2.0", "stopping[1].B is not a known key: choose one of rule, name, rate, C, alpha"),
        ("C = 2.0", 'C = "big"', "stopping[1].C = 'big': must be a number"),
        ("C = 2.0", "C = -1", "stopping[1]: C = -1.0: must be a positive number"),
        ('rate = "paper"', 'rate = "fast"', "stopping[1]: rate = 'fast': choose"),
        ('"uniform"]', '{ rule = "static", omega = [0.3, 0.3, 0.4] }]', "on problem 'one': omega of Static has 3 shares for 2"),
        ("mean = 0.9", "mean = 1.9", "problems[0]: arms[0].mean"),
        ('file = "other.toml"', 'file = "missing.toml"', "problems[1].file:"),
        ('file = "other.toml"', "file = 3", "problems[1].file = 3: must be the name of a file"),
        ('file = "other.toml"', 'file = "other.toml"\nsilent = true', "problems[1].silent stands beside problems[1].file"),
        ('name = "two"', 'name = "one"', "problems[1].name = 'one' is taken: names must differ"),
        ('title = "grid"', 'family = "poisson"', "family stands beside problems: move it into one of them"),
        ('title = "grid"', "title = ", "not valid TOML: Invalid value (at line 2, column 9)"),
    ],
)
def test_mistakes_are_one_sentence(grid: Path, old: str, new: str, message: str) -> None:
    assert old in GRID
    grid.write_text(GRID.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(gb.SpecError) as caught:
        gb.read_experiment(grid)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(grid))
    assert "\n" not in str(caught.value)


def test_bad_options(tmp_path: Path) -> None:
    example = EXAMPLES / "comparison.toml"
    for arguments, message in (
        (
            ["--executor", "dask", "--address", "tcp://127.0.0.1:1"],
            "--address tcp://127.0.0.1:1: no Dask scheduler answers there",
        ),
        (["--address", "tcp://127.0.0.1:1"], "--address is for dask, not for threads"),
        (["--workers", "0"], "--workers = 0: must be a whole number, 1 or more"),
        (["--runs", "0"], "runs = 0: must be a whole number, 1 or more"),
    ):
        done = run("experiment", example, *arguments, cwd=tmp_path)
        assert done.returncode == 2, done.stderr
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_interrupted_by_hand(grid: Path) -> None:
    grid.write_text(GRID.replace("runs = 20", "runs = 100000"), encoding="utf-8")
    out = grid.with_name("r.sqlite")
    command = [sys.executable, "-m", "gobetween", "experiment", str(grid), "--out", str(out)]
    with child(command, env=os.environ | {"GOBETWEEN_JIT": "off"}, stderr=subprocess.PIPE) as process:
        while rows_in(out) == 0 and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same again to go on" in errors
    assert "Traceback" not in errors


def test_a_plain_problem_is_an_experiment_too() -> None:
    data = {"arms": [{"mean": 1.0}, {"mean": 0.0}]}
    experiment = parse_experiment(data, "x.toml")
    assert [cell.problem for cell in experiment.cells] == ["problem"]
    assert (experiment.runs, experiment.seed, experiment.deltas) == (1000, 0, (0.1, 0.05, 0.01))
