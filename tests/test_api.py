"""The reference is what the sources say, it has every public name, and its examples run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import make_api

import gobetween as gb

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "api.md"
#: What people begin with: each of these shows how.
SHOWN = [
    "Problem", "lower_bound", "make_plan", "simulate", "run_experiment", "Learner", "StudySpec", "Study", "analyse_logs",
    "replay_logs", "register", "Family", "SamplingRule", "StoppingRule",
]  # fmt: skip


def entries() -> dict[str, str]:
    parts = re.split(r"^### (?:gb\.)?", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {part.split("\n")[0]: part for part in parts}


def test_the_page_is_what_the_sources_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == make_api.page(), "docs/api.md is stale: make api writes it anew"


def test_every_public_name_is_there_and_the_main_ones_have_an_example() -> None:
    found = entries()
    assert set(gb.__all__) - {"__version__"} <= found.keys()
    for name in SHOWN:
        assert ">>>" in found[name], f"the docstring of {name} has no example"


def test_examples_give_what_they_say() -> None:
    environment = os.environ | {"GOBETWEEN_JIT": "off"}
    command = [sys.executable, "-W", "error", "-m", "doctest", str(PAGE)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
