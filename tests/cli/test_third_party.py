"""A package of someone else's with a family, a sampling rule and a stopping rule: installed, used everywhere, removed again."""

import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

NAME = "gobetween_tiny"
MODULE = '''"""Someone's own family and rules."""
import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

import gobetween as gb
from gobetween.core.evidence.eprocess import evidence


class Halves(NamedTuple("Halves", [("sigma", float)], ), gb.Family):
    """Normal rewards of a spread of their own."""

    name = "halves"
    rewards = "a number"
    low, high = -math.inf, math.inf

    def __new__(cls, sigma: float = 0.5):
        return super().__new__(cls, float(sigma))

    def divergence(self, mu, toward, step, rest):
        return 0.5 * (step * (toward - mu) / self.sigma) ** 2

    def variance(self, mu, toward=0.0, step=0.0, rest=1.0):
        return self.sigma**2

    def draw(self, mean, rng):
        return mean + self.sigma * rng.standard_normal()

    def tilt(self, n, S, x, theta):
        return theta * (S - n * x) - 0.5 * n * (self.sigma * theta) ** 2, -n * theta


@dataclass(frozen=True)
class Eager(gb.SamplingRule):
    """Whoever was asked least, with a grain of chance."""

    name: ClassVar[str] = "eager"
    grain: float = 0.5

    def memory(self, K, E):
        return np.zeros((E, 2))

    def choose(self, view, available, rng):
        best, lead = -1, math.inf
        for e in range(len(available)):
            at = view.N_e[e] + self.grain * rng.random()
            if available[e] and at < lead:
                best, lead = e, at
        return best

    def observe(self, view, e, a, reward):
        view.memory[e, 0] += 1.0
        view.memory[e, 1] += reward


@dataclass(frozen=True)
class Patient(gb.StoppingRule):
    """The likelihood ratio, against a high threshold."""

    name: ClassVar[str] = "patient"
    price: float = 5.0

    def threshold(self, K, delta, family):
        return math.log(K / delta) + self.price

    def statistic(self, view):
        least = math.inf
        for b in range(len(view.mu_hat)):
            if b != view.leader:
                mu, N = view.mu_hat, view.N_a
                least = min(least, evidence(view.family, mu[view.leader], mu[b], float(N[view.leader]), float(N[b]))[0])
        return least
'''
ENTRY = """[gobetween.family]
halves = gobetween_tiny:Halves

[gobetween.sampling]
eager = gobetween_tiny:Eager

[gobetween.stopping]
patient = gobetween_tiny:Patient
"""
PROBLEM = """
family = { name = "halves", sigma = 0.7 }
delta = 0.1
sampling = { rule = "eager", grain = 0.25 }
stopping = "patient"

arms = [{ name = "a", mean = 1.0 }, { name = "b", mean = 0.0 }]

[[mediators]]
name = "x"
policy = { a = 0.9, b = 0.1 }

[[mediators]]
name = "y"
policy = { a = 0.2, b = 0.8 }
"""
PYTHON = """
import gobetween as gb
problem = gb.Problem([1.0, 0.0], family="halves")
runs = gb.simulate(problem, "eager", "patient", runs=3, workers=1)
print(runs.correct.all(), runs.sampling, runs.stopping)
from gobetween.testing import check_sampling, check_stopping
check_sampling("eager", runs=3)
check_stopping("patient", runs=3)
learner = gb.Learner(2, 2, family="halves", sampling="eager", stopping="patient")
learner.tell(learner.ask(), arm="arm 1", reward=0.25)
print(gb.Learner.from_dict(learner.to_dict()).to_dict() == learner.to_dict())
"""


def wheel(folder: Path) -> Path:
    """A wheel, made by hand: no build tool, no network."""
    info = f"{NAME}-1.0.dist-info"
    files = {
        f"{NAME}.py": MODULE,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": ENTRY,
    }
    digests = {
        name: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        for name, text in files.items()
    }
    record = "".join(f"{name},sha256={digests[name]},{len(text.encode())}\n" for name, text in files.items())
    path = folder / f"{NAME}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            archive.writestr(name, text)
    return path


def pip(*words: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *words]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "problem.toml").write_text(PROBLEM, encoding="utf-8")
    (tmp_path / "study.toml").write_text(PROBLEM, encoding="utf-8")
    yield tmp_path
    pip("uninstall", "--yes", NAME)


def run(home: Path, *command: str, status: int = 0) -> str:
    env = os.environ | {"GOBETWEEN_JIT": "off"}
    words = [sys.executable, *command] if command[0] == "-c" else [sys.executable, "-m", "gobetween", *command]
    done = subprocess.run(words, cwd=home, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, (command, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    if status:
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stdout if status == 0 else done.stderr


def test_a_package_brings_a_family_and_rules_and_leaves_again(home: Path) -> None:
    pip("install", "--no-deps", "--no-index", str(wheel(home)))
    assert run(home, "-c", PYTHON).split() == ["True", "eager", "patient", "True"]
    assert "eager" in run(home, "simulate", "--help")
    found = json.loads(run(home, "simulate", "problem.toml", "--runs", "3", "--json"))
    assert (found["sampling"], found["stopping"]) == ("eager(grain=0.25)", "patient")
    assert json.loads(run(home, "plan", "problem.toml", "--json"))["family"] == {"name": "halves", "sigma": 0.7}
    run(home, "experiment", "run", "problem.toml", "--runs", "3", "--executor", "processes", "--workers", "1")
    run(home, "init", "study.toml")
    for reward in ("0.5", "-0.25"):
        query = json.loads(run(home, "ask", "--json"))["queries"][0]["id"]
        run(home, "tell", str(query), "--arm", "a", "--reward", reward)
    before = json.loads(run(home, "status", "--json"))
    assert (before["told"], before["mediators"][0]["target"]) == (2, None)
    assert "all is well" in run(home, "doctor")

    pip("uninstall", "--yes", NAME)
    for command in (["simulate", "problem.toml"], ["plan", "problem.toml"], ["status"], ["ask"], ["doctor"]):
        assert "family.name = 'halves': choose one of gaussian" in run(home, *command, status=2)
    told = run(home, "experiment", "run", "problem.toml", "--runs", "4", status=2)
    assert "sampling.rule = 'eager': choose one of pursuit" in told
    assert "or install the package that brings it" in told
    (home / "ours.toml").write_text(
        PROBLEM.replace('"halves", sigma', '"gaussian", sigma').replace('stopping = "patient"', ""), encoding="utf-8"
    )
    assert "sampling.rule = 'eager': choose one of pursuit" in run(home, "simulate", "ours.toml", status=2)
    (home / "ours.toml").write_text(
        (home / "ours.toml").read_text(encoding="utf-8").replace('{ rule = "eager", grain = 0.25 }', '"tracking"'),
        encoding="utf-8",
    )
    run(home, "simulate", "ours.toml", "--runs", "2")  # nothing else is broken

    pip("install", "--no-deps", "--no-index", str(wheel(home)))
    after = json.loads(run(home, "status", "--json"))
    assert {key: after[key] for key in before if key != "at"} == {key: before[key] for key in before if key != "at"}
    run(home, "ask")
    assert "all is well" in run(home, "doctor")


def test_a_module_brings_rules_by_the_plugin_option(home: Path) -> None:
    text = MODULE.replace("@dataclass(frozen=True)", "@gb.register\n@dataclass(frozen=True)").replace(
        "class Halves(", "@gb.register\nclass Halves("
    )
    (home / "mine.py").write_text(text, encoding="utf-8")
    found = json.loads(run(home, "--plugin", "mine", "simulate", "problem.toml", "--runs", "2", "--json"))
    assert found["stopping"] == "patient"
    run(home, "--plugin", "mine", "init", "study.toml")
    assert "query 0" in run(home, "--plugin", "mine", "ask")
    assert "choose one of gaussian" in run(home, "ask", status=2)
    assert "--plugin nowhere: cannot be imported" in run(home, "--plugin", "nowhere", "ask", status=2)
    pip("install", "--no-deps", "--no-index", str(wheel(home)))  # for the fixture, which removes it


def test_a_package_that_cannot_be_loaded_is_one_sentence(home: Path) -> None:
    broken = wheel(home)
    pip("install", "--no-deps", "--no-index", str(broken))
    place = subprocess.run(
        [sys.executable, "-c", f"import importlib.util as u; print(u.find_spec('{NAME}').origin)"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    Path(place).write_text("import a_module_that_is_not_there\n", encoding="utf-8")
    told = run(home, "simulate", "problem.toml", status=2)
    assert "'halves' of gobetween_tiny:Halves cannot be loaded (ModuleNotFoundError" in told
    run(home, "simulate", "--help")  # lists what there is
