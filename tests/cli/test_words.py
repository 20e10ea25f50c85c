"""The command line speaks its own words, and nobody else does."""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from gobetween import errors
from gobetween.cli import commands, gobetween
from gobetween.cli.words import told, words_of
from gobetween.words.fixes import FILE, INBOX, PYTHON, SERVICE, SHELL

SOURCE = Path(__file__).parent.parent.parent / "src" / "gobetween"
SPOKEN = re.compile(rf"gobetween ({'|'.join(commands())})\b|(?<![\w-])--[a-z]")


def test_there_are_words_for_every_fix() -> None:
    assert set(PYTHON) == set(SHELL) == set(SERVICE) == set(INBOX)
    assert set(FILE) < set(PYTHON)
    assert [name for name, words in SHELL.items() if words == PYTHON[name]] == ["mend-rows", "other-file"]


def test_an_error_is_told_in_words_of_the_command_line() -> None:
    error = errors.StudyError("query 3 was answered before", fix=errors.Fix("correct", "3"))
    assert str(error) == "query 3 was answered before; correct(3, …) changes that"
    assert told(error) == "query 3 was answered before; gobetween correct 3 changes that"


def sentences(path: Path) -> Iterator[str]:
    """The strings of a module that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.value


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted(SOURCE.rglob("*.py"))
        if "cli" not in path.parts and path.name not in ("remedies.py", "alarms.py", "fixes.py")  # the words of all readers
    ],
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
