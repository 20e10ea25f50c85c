"""What is loaded when: heavy libraries and other rooms only for what uses them, so that short commands stay short."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
LOG = str(EXAMPLES / "log.csv")
TABLES = ("pandas", "polars", "matplotlib", "distributed")
NUMBERS = ("numpy", "numba", "scipy", "gobetween.core")
STORES = ("sqlalchemy", "alembic", "psycopg")
NO_STUDY = (*STORES, "gobetween.study", "gobetween.service", "gobetween.pages.study")
NO_LOG = ("pyarrow", "gobetween.logs.analysis", "gobetween.logs.reading.reading", "gobetween.words.logs")
OF_A_STUDY = (
    *("numba", "scipy", "alembic", "psycopg", "sqlalchemy.dialects.postgresql", "sqlalchemy.orm"),
    *(*TABLES, *NO_LOG, "gobetween.simulation.engine", "gobetween.paper", "gobetween.service"),
)


def loaded(code: str, folder: Path) -> set[str]:
    """The modules that are there after some code, in a process of its own."""
    ending = "\nimport sys\nprint('\\n' + ' '.join(sys.modules))"
    clean = {name: value for name, value in os.environ.items() if name != "GOBETWEEN_JIT"}
    done = subprocess.run(
        [sys.executable, "-c", code + ending], capture_output=True, text=True, check=True, env=clean, cwd=folder, timeout=120
    )
    return set(done.stdout.splitlines()[-1].split())


def found_of(left_out: tuple[str, ...], modules: set[str]) -> list[str]:
    return sorted(name for name in modules if any(name == out or name.startswith(f"{out}.") for out in left_out))


def command(*arguments: str) -> str:
    return (
        f"from gobetween.cli import main\ntry: main({list(arguments)})\nexcept SystemExit as end: assert not end.code, end.code"
    )


@pytest.mark.parametrize(
    ("code", "left_out"),
    [
        ("import gobetween", (*NUMBERS, *STORES, *TABLES, "click", "rich", "gobetween.errors")),
        ("import gobetween.cli", (*NUMBERS, *STORES, *TABLES, "rich", "gobetween.study", "gobetween.logs")),
        ("import gobetween; gobetween.Client", (*NUMBERS, *STORES, *TABLES, "click", "rich", "gobetween.logs")),
        (command("--version"), (*NUMBERS, *STORES, *TABLES, "rich", "gobetween.study")),
        (command("--help"), (*NUMBERS, *STORES, *TABLES, "rich", "gobetween.study.study")),
        (command("simulate", "--help"), ("numba", "scipy", "rich", *STORES, *TABLES)),
        (command("plan", str(EXAMPLES / "clinics.toml")), ("numba", *NO_STUDY, *TABLES, *NO_LOG, "gobetween.paper")),
        (command("logs", "analyse", LOG), (*NO_STUDY, *TABLES, "gobetween.paper")),
        (command("logs", "analyse", LOG, "--report", "page"), (*NO_STUDY, "pandas", "gobetween.paper")),
    ],
    ids=["package", "shell", "Client", "version", "help", "help-of-simulate", "plan", "logs", "logs-report"],
)
def test_what_is_not_used_is_not_loaded(code: str, left_out: tuple[str, ...], tmp_path: Path) -> None:
    assert found_of(left_out, loaded(code, tmp_path)) == []


def test_commands_on_a_small_study_load_little(tmp_path: Path) -> None:
    loaded(command("init"), tmp_path)
    for arguments in (["ask"], ["tell", "0", "--arm", "letter", "--reward", "1"], ["pending"]):
        assert found_of((*OF_A_STUDY, "rich", "gobetween.pages.study"), loaded(command(*arguments), tmp_path)) == []
    assert found_of(OF_A_STUDY, loaded(command("status"), tmp_path)) == []
