"""What is small is answered by plain Python, what is work by compiled code, whatever the size of files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gobetween as gb
from gobetween.cli.work import ARMS, ROWS, small_log, small_problem


def log(path: Path, rows: int, arms: int, wide: str = "") -> str:
    lines = [f"a{i % arms},{i % 2},{wide}" for i in range(rows)]
    path.write_text("\n".join(["arm,reward,note", *lines]) + "\n")
    return str(path)


def test_a_log_is_small_if_its_rows_and_arms_are_few(tmp_path: Path) -> None:
    assert small_log([log(tmp_path / "few.csv", ROWS - 1, ARMS)], "arm")
    assert small_log([log(tmp_path / "wide.csv", 100, 2, "x" * 1000)], "arm")  # 100 kB
    assert not small_log([log(tmp_path / "rows.csv", ROWS, 2)], "arm")  # 12 kB
    assert not small_log([log(tmp_path / "arms.csv", 100, ARMS + 1)], "arm")
    half = [log(tmp_path / f"{i}.csv", ROWS // 2, 2) for i in range(2)]
    assert not small_log(half, "arm")


@pytest.mark.parametrize("name", ["nothing.csv", "folder.csv", "nul\0.csv", "log.parquet", "field.csv"])
def test_what_cannot_be_looked_at_is_not_small(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "log.parquet").write_bytes(b"PAR1")
    (tmp_path / "field.csv").write_text("arm,reward\n" + '"' + "x" * 150_000)
    assert not small_log([str(tmp_path / name)], "arm")


def test_a_study_is_small_by_its_arms_and_mediators() -> None:
    few, many = [{"name": str(i)} for i in range(4)], [{"name": str(i)} for i in range(40)]
    assert small_problem({"arms": few, "mediators": few, "title": "x" * 100_000})
    assert not small_problem({"arms": many, "mediators": few})
    assert not small_problem({"arms": few, "mediators": [{}] * 100})
    assert small_problem({"arms": 3})  # no file that can be used: whoever reads it will say so


def test_the_first_compilation_is_announced_once(tmp_path: Path) -> None:
    code = "from gobetween.core.tracking import exploration_floor as f; f(3, 4); f(3.0, 4)"
    environment = os.environ | {"GOBETWEEN_CACHE_DIR": str(tmp_path), "GOBETWEEN_JIT": "on"}
    said = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stderr
        for _ in range(2)
    ]
    assert said == ["gobetween: compiling for this machine, once; this takes about half a minute …\n", ""]


def large_study(folder: Path, size: int = 300) -> gb.Study:
    names = {
        what: str([{"name": f"{what[0]}{i}"} for i in range(size)]).replace("'name':", "name =")
        for what in ("arms", "mediators")
    }
    (folder / "study.toml").write_text(f'family = "bernoulli"\narms = {names["arms"]}\nmediators = {names["mediators"]}\n')
    return gb.Study.create(folder / "study.toml")


def gobetween(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if key != "GOBETWEEN_JIT"} | environment
    return subprocess.run(
        [sys.executable, "-m", "gobetween", *arguments], cwd=folder, capture_output=True, text=True, check=True, env=clean
    )


def test_one_query_and_one_answer_of_a_large_study_need_no_compiled_code(tmp_path: Path) -> None:
    large_study(tmp_path)
    kernels = tmp_path / "kernels"
    for i in range(2):
        assert gobetween(tmp_path, "ask", GOBETWEEN_CACHE_DIR=str(kernels)).stdout == f"query {i}: ask m{i}\n"
        told = gobetween(tmp_path, "tell", str(i), "--arm", "a5", "--reward", "1", GOBETWEEN_CACHE_DIR=str(kernels))
        assert (told.stdout, told.stderr) == (f"recorded for query {i}\n", "")
    assert not kernels.exists()


def test_a_command_that_takes_long_has_not_happened_and_begins_anew_with_compiled_code(tmp_path: Path) -> None:
    """Near its verdict one more answer looks at every pair of arms."""
    study = large_study(tmp_path, 30)
    rows = "".join(f"m0,a{i},{int(i == 7)}\n" for _ in range(12) for i in range(30))
    (tmp_path / "answers.csv").write_text("mediator,arm,reward\n" + rows)
    code = (
        "import os, sys, gobetween.core.jit as jit; from gobetween.cli import main; jit.ALLOWANCE = 500;"
        "os.execve = lambda *given: print(given[1] == sys.orig_argv, given[2]['GOBETWEEN_JIT']) or sys.exit(7);"
        "main(['tell', '--csv', 'answers.csv', '--again'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"GOBETWEEN_JIT": "brief"}
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "True on\n", "")
    assert list(study.events()) == []
