"""The developer's loop: targets that explain themselves, hooks that fetch nothing, a quick suite that leaves out what it says."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import quick
import yaml
from records import MISSING, durations, nowhere, recorded

ROOT = Path(__file__).parent.parent
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_make_help_lists_every_target() -> None:
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    targets = re.search(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    assert targets is not None
    listed = [line.split()[1] for line in shown.splitlines()]
    assert listed == [name for name in targets[1].split() if name != "parts"]  # which is for other targets


def test_what_must_pass_is_everything() -> None:
    """`make test` leaves nothing out, checks that no test ran nowhere, and .ci/run calls nothing weaker."""
    recipe = MAKEFILE.split("\ntest: lint parts")[1].split("\n\n")[0].splitlines()[1:]
    assert recipe == [
        "\t$(BIN)/python tests/warm.py",
        "\t$(BIN)/python -m pytest -m 'not alone' $(BESIDE) --record compiled",
        "\t$(BIN)/python -m pytest -m alone --record alone",
        "\tGOBETWEEN_JIT=off $(BIN)/python -m pytest -m 'core or plain' $(BESIDE) --record plain",
        "\t$(BIN)/python tests/records.py",
    ]
    assert "\nBESIDE := --numprocesses 2 --dist loadfile --no-loadscope-reorder\n" in MAKEFILE  # how, not which
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1] == "CI=true make test"


def test_what_ran_nowhere_is_found() -> None:
    compiled = {
        "seconds": {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0},
        "skipped": {"b": "plain", "c": "plain", "d": MISSING + "it"},
    }
    plain = {"seconds": {"b": 1.0, "c": 0.0}, "skipped": {"c": "compiled"}}
    assert nowhere([compiled, plain]) == {"c": "compiled"}


def test_durations_are_of_files_and_of_long_tests() -> None:
    compiled = {
        "seconds": {"tests/x/test_a.py::test_b[1]": 0.9, "tests/x/test_a.py::test_b[2]": 0.2, "tests/test_c.py::test_d": 0.4}
    }
    assert durations({"compiled": compiled, "plain": {"seconds": {"tests/test_c.py::test_d": 7.0}}}) == {
        "compiled": {"test_c.py": 0.4, "x/test_a.py": 1.1}, "plain": {"test_c.py": 7.0}, "long": {"x/test_a.py::test_b": 1.1},
    }  # fmt: skip


def test_files_that_are_recorded_are_there() -> None:
    for name in {name.split("::")[0] for part in recorded().values() for name in part}:
        assert (ROOT / "tests" / name).is_file(), f"{name} is gone: make durations"


def test_whatever_is_installed_is_pinned() -> None:
    """What installs and builds the package, too."""
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()[1:]
    }
    installed = {found.name.lower().replace("_", "-") for found in distributions()}
    assert installed - pinned == {"gobetween"}
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert pinned >= {"pip", "setuptools", *built}
    assert "--constraint constraints.txt" in MAKEFILE
    assert "--build-constraint constraints.txt" in MAKEFILE


def test_hooks_are_local_and_run_what_lint_runs() -> None:
    (source,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert source["repo"] == "local"
    for hook in source["hooks"]:
        assert hook["language"] == "system"
        assert shlex.split(hook["entry"])[0].startswith(".venv/bin/")
    lint = MAKEFILE.split("\nlint:")[1].split("\n\n")[0].splitlines()[1:]
    assert [hook["entry"] for hook in source["hooks"]] == [line.strip().replace("$(BIN)", ".venv/bin") for line in lint]


def test_make_hooks_lets_git_run_lint(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    command = ["make", "-f", str(ROOT / "Makefile"), "hooks"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    hook = tmp_path / ".git" / "hooks" / "pre-commit"
    assert hook.read_text(encoding="utf-8") == "#!/bin/sh\nexec make lint\n"
    assert hook.stat().st_mode & 0o100
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode != 0
    assert "remove it first" in again.stderr


def runs_a_command() -> int:
    return subprocess.run(["true"]).returncode


def calls_what_runs_a_command() -> list[int]:
    return [runs_a_command() for _ in range(2)]


def test_what_a_test_needs_is_read_off_its_code() -> None:
    assert "subprocess" in set(quick.used_by(calls_what_runs_a_command))
    assert not quick.OUTSIDE & set(quick.used_by(test_files_that_are_recorded_are_there))


def test_quick_tests_need_no_server_and_no_browser() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-m", "quick", "tests/study/test_store_damage.py"]
    chosen = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"GOBETWEEN_JIT": "off"}).stdout
    assert "[sqlite-" in chosen
    assert "[postgres-" not in chosen
