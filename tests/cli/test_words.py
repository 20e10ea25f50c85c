"""The command line speaks its own words, and nobody else does."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from gobetween import errors
from gobetween.cli import COMMANDS, gobetween
from gobetween.cli.words import FIXES, told, words_of

SOURCE = Path(__file__).parent.parent.parent / "src" / "gobetween"
SPOKEN = re.compile(rf"gobetween ({'|'.join(COMMANDS)})\b|(?<![\w-])--[a-z]")
#: TEMPORARY: rooms whose sentences still name commands. Remove it, and the line that uses it, once they are mended.


def test_there_are_words_for_every_fix() -> None:
    assert set(FIXES) == set(errors.FIXES)


def test_an_error_is_told_in_words_of_the_command_line() -> None:
    error = errors.StudyError("query 3 was answered before", fix=errors.Fix("correct", "3"))
    assert str(error) == "query 3 was answered before; correct(3, …) changes that"
    assert told(error) == "query 3 was answered before; gobetween correct 3 changes that"


def test_a_fix_that_is_new_is_told_as_python_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "FIXES", {**errors.FIXES, "new": "do {}"})
    assert told(errors.GoBetweenError("no", fix=errors.Fix("new", "this"))) == "no; do this"


def sentences(path: Path) -> Iterator[str]:
    """The strings of a module that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.value


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(SOURCE.rglob("*.py")) if "cli" not in path.parts and path.name != "look.py"],  # a style sheet
    ids=lambda p: str(p.relative_to(SOURCE)),
)
def test_no_other_room_names_commands_or_options(path: Path) -> None:
    assert [text for text in sentences(path) if SPOKEN.search(text)] == []


@pytest.mark.parametrize(
    ("command", "sides"),
    [(["simulate"], ["sampling", "stopping"]), (["logs", "analyse"], ["family"]), (["init"], ["family"])],
    ids=lambda value: " ".join(value),
)
def test_help_lists_the_rules_and_families_there_are(
    command: list[str], sides: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOBETWEEN_JIT", os.environ.get("GOBETWEEN_JIT", "on"))  # help would switch it off for this process
    shown = CliRunner().invoke(gobetween, [*command, "--help"], terminal_width=10_000).output
    for side in sides:
        words = words_of(side)
        assert len(words) >= 5
        assert f"{', '.join(words[:-1])} or {words[-1]}" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("arguments", "light"), [(["--help"], ["numba", "numpy", "rich"]), (["simulate", "--help"], ["numba", "scipy", "rich"])]
)
def test_help_is_light(arguments: list[str], light: list[str]) -> None:
    code = f"import sys; from gobetween.cli import main\ntry: main({arguments})\nexcept SystemExit: pass\n"
    clean = {key: value for key, value in os.environ.items() if key != "GOBETWEEN_JIT"}
    done = subprocess.run(
        [sys.executable, "-c", f"{code}print(sorted({set(light)} & set(sys.modules)))"],
        capture_output=True, text=True, check=True, env=clean,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"
