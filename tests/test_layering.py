"""Imports go down only, and shell libraries stay out of the core."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "gobetween"

#: Rings from the inside out: a module may import from its own ring or from rings before it.
RINGS = [
    ["errors"],
    ["core", "executors", "files"],
    ["rules", "spec"],
    ["engine", "learner", "progress"],
    ["study_spec", "ledger"],
    ["desk"],
    ["paper", "planning", "results", "summary", "trace"],
    ["diagnostics", "log_readers", "log_scan", "log_stats"],
    ["log_reading"],
    ["experiment", "logs", "plots", "report", "reproduction"],
    ["log_replay", "log_words"],
    ["log_report"],
    ["reproduction_report", "session", "study", "study_doctor", "study_status", "study_words"],
    ["store", "study_report"],
    ["cli", "__main__"],
]
SHELL_LIBRARIES = {"click", "rich"}
UPWARDS = {  # for the reader's convenience
    ("core/problem.py", "spec"),  # Problem.from_toml
    ("study.py", "store"),  # Study.open, Study.create
}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def ring(part: str) -> int:
    return next(i for i, names in enumerate(RINGS) if part in names)


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_down_only(path: Path) -> None:
    place = path.relative_to(SOURCE)
    part = place.parts[0].removesuffix(".py")
    for name in imports(path):
        top, _, rest = name.partition(".")
        if part not in ("cli", "__main__"):
            assert top not in SHELL_LIBRARIES, f"{place} imports {name}"
        if top != "gobetween" or not rest or part == "__init__":
            continue
        target = rest.split(".")[0]
        assert (str(place), target) in UPWARDS or ring(target) <= ring(part), f"{place} imports {name}"


def test_only_one_file_knows_numba() -> None:
    knows = [
        str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if any(n.split(".")[0] == "numba" for n in imports(path))
    ]
    assert knows == ["core/jit.py"]


def test_engine_and_learner_do_not_know_each_other() -> None:
    for one, other in (("engine", "learner"), ("learner", "engine")):
        assert f"gobetween.{other}" not in set(imports(SOURCE / f"{one}.py"))
