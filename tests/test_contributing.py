"""The recipes of CONTRIBUTING: those with code are carried out in a copy of the package, the others name files that exist."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "gobetween"
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n# to (\S+)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
ROWS = re.findall(r"^\| ([^|`]+) \| (`[^|]+`) \| (\d+) \|$", TEXT, re.MULTILINE)

PROBLEM = """
import math

import gobetween as gb
from gobetween.files.problem import parse_spec
from gobetween.testing import check_family, check_sampling, check_stopping

arms, mediators = [{"mean": 6.0}, {"mean": 2.0}], [{"policy": [0.7, 0.3]}, {"policy": [0.2, 0.8]}]
def file(**more):
    return parse_spec({"arms": arms, "mediators": mediators, **more}, "recipe.toml")
def mean(**rules):
    return gb.simulate(file(family={"name": "gaussian", "sigma": 4.0}).problem, deltas=0.1, runs=8, seed=1, **rules).tau.mean()
"""
#: File of a recipe → what must hold once it has been followed.
HOLDS = {
    "src/gobetween/core/reward/families.py": """
from gobetween.core.reward.families import Sale
density = lambda reward, mean: math.log((mean if reward else 9.5 - mean) / 9.5)
check_family(Sale(9.5), (2.0, 6.0), density, support=(0.0, 9.5), draws=4000)
runs = gb.simulate(file(family={"name": "sale", "high": 9.5}).problem, deltas=0.1, runs=8, seed=1)
assert runs.correct.all(), runs
""",
    "src/gobetween/core/sampling/rules.py": """
check_sampling("rarest-arm", runs=10)
assert file(family="poisson", sampling="rarest-arm").settings.sampling[0].name == "rarest-arm"
assert mean(sampling="rarest-arm") > 10
""",
    "src/gobetween/core/stopping/rules.py": """
check_stopping("patient", runs=10)
patient = {"rule": "patient", "least": 30}
rule = file(family="poisson", stopping=patient).settings.stopping[0].rule
assert mean(stopping=rule) > max(60, mean(stopping="patient")), mean(stopping=rule)
""",
}


def test_there_is_a_recipe_for_each_addition() -> None:
    assert [name for name, _ in BLOCKS] == list(HOLDS)
    assert len(ROWS) >= 9
    headings = re.findall(r"^### An? (.+)$", TEXT, re.MULTILINE)
    for word in (
        "family",
        "sampling rule",
        "stopping rule",
        "alarm",
        "kind of event",
        "verb of a study",
        "output column",
        "store",
    ):
        assert any(heading.startswith(word) for heading in headings), word


@pytest.mark.parametrize(("addition", "files", "number"), ROWS, ids=[row[0] for row in ROWS])
def test_an_addition_touches_as_many_files_as_is_said(addition: str, files: str, number: str) -> None:
    named = re.findall(r"`([^`]+)`", files)
    assert len(named) == int(number), addition
    for name in named:  # of a new file the folder must be there
        assert (SOURCE / name).is_file() or ("<" in name and (SOURCE / name).parent.is_dir()), name


@pytest.mark.parametrize(("file", "code"), BLOCKS, ids=[Path(file).stem for file, _ in BLOCKS])
def test_a_recipe_works_in_a_copy_of_the_package(file: str, code: str, tmp_path: Path) -> None:
    """One file is changed, and the addition is known everywhere: to files by its name, to simulation, learner and contract."""
    shutil.copytree(SOURCE, tmp_path / "src" / "gobetween", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / file).open("a", encoding="utf-8") as module:
        module.write(f"\n\n{code}")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "GOBETWEEN_JIT": "off"}
    done = subprocess.run(
        [sys.executable, "-c", PROBLEM + HOLDS[file]],
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
