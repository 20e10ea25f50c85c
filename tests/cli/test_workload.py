"""What is small is answered by plain Python, what is work by compiled code, whatever the size of files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gobetween as gb
from gobetween.cli.workload import ARMS, ROWS, small_log, small_problem, small_study


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
    code = "from gobetween.core.sampling.tracking import exploration_floor as f; f(3, 4); f(3.0, 4)"
    environment = os.environ | {"GOBETWEEN_CACHE_DIR": str(tmp_path), "GOBETWEEN_JIT": "on"}
    said = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stderr
        for _ in range(2)
    ]
    assert said == [
        "gobetween: compiling what is new on this machine, which may take half a minute; it is kept for later runs …\n",
        "",
    ]


def test_a_study_is_small_whether_its_file_or_its_store_is_named(tmp_path: Path) -> None:
    for name, size in (("small", 4), ("large", 40)):
        policies = {f"m{i}": [1.0 / size] * size for i in range(size)}
        spec = gb.StudySpec([f"a{i}" for i in range(size)], policies, family="bernoulli")
        gb.Study.create(tmp_path / f"{name}.sqlite", spec, "one").close()
        assert small_study(tmp_path / f"{name}.sqlite") == (name == "small")
    assert not small_study(tmp_path / "nowhere.sqlite")
    assert not small_study(Path("postgresql://localhost/studies"))
    assert not (tmp_path / "nowhere.sqlite").exists()
