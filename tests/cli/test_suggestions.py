"""Commands that a sentence suggests can be copied: quoted, and about the study that was meant; every refusal names its fix."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from launcher import gobetween

import gobetween as gb

STUDY = '[[arms]]\nname = "a"\nmean = 0.6\n[[arms]]\nname = "b"\nmean = 0.4\n[[mediators]]\nname = "N"\npolicy = {}\n{}'


def said(folder: Path, *arguments: str) -> str:
    done = gobetween(folder, *arguments, GOBETWEEN_JIT="off")
    assert done.returncode == 2, done.stdout
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my st.toml").write_text(STUDY.format("[0.5, 0.5]", ""))
    assert gobetween(tmp_path, "init", "my st.toml", GOBETWEEN_JIT="off").returncode == 0
    (tmp_path / "my log.csv").write_text("arm,reward\na,1\n")
    return tmp_path


def test_paths_are_quoted_and_the_study_is_named(folder: Path) -> None:
    assert "gobetween logs analyse 'my log.csv' reads logs" in said(folder, "plan", "my log.csv")
    here = ("--study", "my st.toml")
    assert gobetween(folder, "archive", *here, GOBETWEEN_JIT="off").returncode == 0
    assert "gobetween archive --study 'my st.toml' --undo brings it back" in said(folder, "ask", *here)
    assert gobetween(folder, "archive", "--undo", *here, GOBETWEEN_JIT="off").returncode == 0
    for arguments in (("ask",), ("tell", "0", "--arm", "a", "--reward", "1")):
        assert gobetween(folder, *arguments, *here, GOBETWEEN_JIT="off").returncode == 0
    again = said(folder, "tell", "0", "--arm", "a", "--reward", "0", *here)
    assert "gobetween correct --study 'my st.toml' 0 changes that" in again


@pytest.mark.parametrize("name", ["x.xlsx", "a.parquet", "a.csv.gz", "my st.sqlite"])
def test_what_is_no_text_is_called_what_it_is(name: str, folder: Path) -> None:
    starts = {"x.xlsx": b"PK\3\4\0\0", "a.parquet": b"PAR1\0\0", "a.csv.gz": gzip.compress(b"query,arm,reward\n")}
    kinds = {"x.xlsx": "a workbook", "a.parquet": "Parquet", "a.csv.gz": "packed by gzip", "my st.sqlite": "a SQLite file"}
    if name in starts:
        (folder / name).write_bytes(starts[name])
    found = said(folder, "tell", "--csv", name, "--study", "my st.toml")
    assert f"{name}: is {kinds[name]}" in found
    assert "and no text: name a text file" in found
    if name == "my st.sqlite":
        assert "is a SQLite file, such as a store, and no text" in said(folder, "plan", name)


@pytest.mark.parametrize(
    ("arguments", "content", "words"),
    [
        (("plan", "x.toml"), STUDY.format("[0.5, 0.5]", "cost = 2\ncost = 3\n"), "it is there twice, leave out one of the two"),
        (("plan", "x.toml"), STUDY.format("[50%,50%]", ""), "; write 0.5"),
        (("status", "--study", "x.csv"), "a,b\n" * 100, "name a study.toml, the SQLite file of a store or its URL"),
        (("declare", "N", "--policy", "50%,50%", "--study", "my st.toml"), "", "'50%' is not a number; write 0.5"),
        (("backup", "nodir/x.sqlite", "--study", "my st.toml"), "", "nodir/x.sqlite: its folder does not exist"),
    ],
)
def test_a_refusal_names_its_fix(arguments: tuple[str, ...], content: str, words: str, folder: Path) -> None:
    for name in ("x.toml", "x.csv"):
        (folder / name).write_text(content)
    assert words in said(folder, *arguments)


def test_risks_in_python() -> None:
    problem = gb.Problem([0.6, 0.4], [[0.5, 0.5]], family="bernoulli")
    assert gb.make_plan(problem, 0.05).deltas == (0.05,)
    wrong: Any
    for wrong in ("5%", ["5%"]):
        for act in (gb.make_plan, lambda p, d: gb.simulate(p, deltas=d, runs=1)):
            with pytest.raises(gb.GoBetweenError, match=r"write 0\.05"):
                act(problem, wrong)
