"""The developer's loop: targets that explain themselves, hooks that fetch nothing, a quick suite that leaves out what it says."""

import re
import shlex
import subprocess
from pathlib import Path

import conftest
import pytest
import quick
import yaml

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
    """`make test` leaves nothing out, and .ci/run calls nothing weaker."""
    recipe = MAKEFILE.split("\ntest: lint parts")[1].split("\n\n")[0].splitlines()[1:]
    assert recipe == [
        "\t$(BIN)/python tests/warm.py",
        "\t$(BIN)/python -m pytest -m 'not alone' $(BESIDE)",
        "\t$(BIN)/python -m pytest -m alone",
        "\tGOBETWEEN_JIT=off $(BIN)/python -m pytest $(BESIDE) $(PLAIN)",
    ]
    assert "\nBESIDE := --numprocesses 2 --dist loadfile --no-loadscope-reorder\n" in MAKEFILE  # how, not which
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1] == "CI=true make test"
    named = re.search(r"^PLAIN := (.+)$", MAKEFILE, re.MULTILINE)
    assert named is not None
    for place in named[1].split():
        file, _, test = place.partition("::")
        assert (ROOT / file).exists(), place
        assert not test or f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), place


def test_files_that_run_alone_or_first_are_there() -> None:
    for place in (*conftest.ALONE, *conftest.LONG):
        assert (ROOT / "tests" / place).is_file(), place


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
    assert not quick.OUTSIDE & set(quick.used_by(test_tests_that_are_called_slow_are_there))


def test_quick_tests_need_no_server_and_no_browser(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        if item.get_closest_marker("quick"):
            assert "[postgres]" not in item.nodeid, item.nodeid
            assert not {"postgres", "report"} & set(getattr(item, "fixturenames", ())), item.nodeid


def test_tests_that_are_called_slow_are_there() -> None:
    for file, tests in quick.SLOW.items():
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        for name in tests:
            assert f"def {name}(" in text, f"{file}: {name} is gone: strike it off tests/quick.py"
