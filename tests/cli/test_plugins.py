"""Modules of the user are imported before anything of the core, whatever the command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gobetween.cli import commands, gobetween

#: Every command, as it is called on an example.
CALLS = {
    "reproduce": ["table1"],
    "plan": ["example.toml"],
    "simulate": ["example.toml"],
    "experiment": ["run", "example.toml"],
    "logs": ["analyse", "log.csv"],
    "demo": [],
    "init": ["new.toml"],
    "ask": [],
    "tell": ["0", "--silent"],
    "correct": ["0", "--silent", "--reason", "r"],
    "status": [],
    "pending": [],
    "cancel": ["0"],
    "away": ["North"],
    "back": ["North"],
    "pause": [],
    "resume": [],
    "note": ["text"],
    "events": [],
    "export": ["--csv", "-"],
    "report": [],
    "doctor": ["--migrate"],
    "void": ["1", "--reason", "r"],
    "rename": ["a", "b"],
    "add-mediator": ["East"],
    "declare": ["North", "--unknown"],
    "retire": ["North"],
    "archive": [],
    "rename-study": ["another"],
    "delete": ["study"],
    "check": [],
    "backup": ["copy.sqlite"],
    "restore": ["copy.sqlite"],
    "serve": [],
    "deliver": [],
    "token": ["list"],
}
CASES = [
    *([name, *rest] for name, rest in CALLS.items()),
    ["logs", "replay", "log.csv"],
    ["experiment", "export", "r.sqlite", "--csv", "-"],
    ["simulate", "--help"],
]
EXAMPLE = "[[arms]]\nmean=1\n[[arms]]\nmean=0\n"


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if key != "GOBETWEEN_JIT"} | environment
    command = [sys.executable, "-m", "gobetween", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=clean, timeout=120)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("example.toml", "study.toml"):
        (tmp_path / name).write_text(EXAMPLE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("GOBETWEEN_JIT", os.environ.get("GOBETWEEN_JIT", "on"))
    return tmp_path


def test_every_command_is_called_here() -> None:
    assert set(CALLS) == set(commands())


@pytest.mark.parametrize("arguments", CASES, ids=lambda case: " ".join(case[:2]))
def test_every_command_loads_plugins(folder: Path, arguments: list[str]) -> None:
    before = sorted(folder.iterdir())
    done = CliRunner().invoke(gobetween, ["--plugin", "nowhere", *arguments])
    assert str(done.exception) == "--plugin nowhere: cannot be imported (ModuleNotFoundError: No module named 'nowhere')"
    assert sorted(folder.iterdir()) == before


def test_a_module_of_this_folder_comes_before_the_core_decides(folder: Path) -> None:
    (folder / "mine.py").write_text("from gobetween.core.ground import jit\nprint('mine', jit.ENABLED)\n")
    (folder / "second.py").write_text("print('second')\n")
    done = run(folder, "--plugin", "mine", "--plugin", "second", "plan", "example.toml", GOBETWEEN_PLUGINS="second, mine")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:3] == ["second", "mine False", "2 arms, 2 mediators"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("broken", "def\n", "--plugin broken: cannot be imported (SyntaxError: invalid syntax"),
        ("angry", "raise RuntimeError('two\\nlines')\n", "--plugin angry: cannot be imported (RuntimeError: two\\nlines)"),
    ],
)
def test_what_cannot_be_imported_is_one_sentence(folder: Path, name: str, text: str, message: str) -> None:
    (folder / f"{name}.py").write_text(text)
    done = run(folder, "--plugin", name, "plan", "example.toml")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"gobetween: {message}")
    assert done.stderr.count("\n") == 1


def test_the_variable_is_named_when_it_is_wrong(folder: Path) -> None:
    done = run(folder, "plan", "example.toml", GOBETWEEN_PLUGINS="nowhere")
    assert done.returncode == 2
    assert "gobetween: GOBETWEEN_PLUGINS: nowhere: cannot be imported (ModuleNotFoundError" in done.stderr
