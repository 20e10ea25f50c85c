"""Ten rooms on common ground, imports go down only, and each library has its rooms."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "gobetween"

GROUND = ("errors", "export", "names", "interrupts", "argument_errors")  # what every room stands on
#: Room → the rooms it may import from, besides itself and the ground.
BELOW = {
    "core": (),
    "files": ("core",),
    "simulation": ("core", "files"),
    "logs": ("core", "files", "simulation"),
    "paper": ("core", "files", "simulation"),
    "study": ("core", "files", "simulation", "logs"),
    "words": ("core", "files", "simulation", "logs", "paper", "study"),
    "pages": ("core", "files", "simulation", "logs", "paper", "study", "words"),
    "service": ("core", "files", "simulation", "logs", "paper", "study", "words", "pages"),
    "cli": ("core", "files", "simulation", "logs", "paper", "study", "words", "pages", "service"),
}
#: Room → its sub-rooms in reading order: each imports only from itself and those before it; what stands beside them from all.
WITHIN = {
    "core": (
        *("ground", "reward", "problem", "evidence", "question", "bound"),
        *("sampling", "stopping", "run", "alarm", "verdict"),
    ),
    "logs": ("reading", "analysis"),
    "study": ("notify", "learner", "spec", "journal", "store", "commands", "status"),
}
#: Library → where it may be imported. What is not listed may be imported anywhere.
LIBRARIES = {
    "numba": ("core/ground/jit.py",),
    "click": ("cli",),
    "rich": ("cli", "simulation/progress.py"),
    "sqlalchemy": ("study/store",),
    "alembic": ("study/store",),
    "psycopg": ("study/store",),
    "sqlite3": ("simulation/results_file.py", "cli/workload.py"),  # the size of a study, beforehand
    "matplotlib": ("pages",),
    "jinja2": ("pages",),
    "markupsafe": ("pages", "service"),
    "segno": ("service", "cli"),
    "fastapi": ("service",),
    "starlette": ("service",),
    "pydantic": ("service",),
    "uvicorn": ("service",),
    "pyarrow": ("logs", "cli"),
    "pandas": ("export.py",),
    "distributed": ("simulation/executors.py",),
}
SPEAKERS = (  # facts that know their sentence, and the fixes of errors
    *("errors.py", "files/fields.py", "core/question/question.py", "core/alarm/alarm.py", "logs/analysis/report.py"),
    *("study/journal/transaction.py", "study/notify/messages.py", "study/learner/progress.py", "study/status/status.py"),
    "study/delivery.py",
)
UPWARDS = {  # for the reader's convenience
    *((file, "words") for file in SPEAKERS),
    ("core/problem/problem.py", "files"),  # Problem.from_toml
    ("logs/analysis/report.py", "pages"),  # LogReport.report
    ("simulation/runs.py", "pages"),  # Runs.plot
    ("core/bound/lower_bound.py", "pages"),  # LowerBound.plot
    ("simulation/comparison.py", "pages"),  # Comparison.plot
    ("simulation/results.py", "pages"),  # Results.plot
    ("study/learner/learner.py", "pages"),  # Learner.plot
    ("study/study.py", "pages"),  # Study.report
}
FILES = sorted(SOURCE.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def room_of(place: Path) -> str:
    return place.parts[0] if len(place.parts) > 1 else place.stem


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_down_only(path: Path) -> None:
    place = path.relative_to(SOURCE)
    room = room_of(place)
    if room in ("__init__", "__main__", "testing"):  # the front door, and a suite over all rooms
        return
    assert room in BELOW or room in GROUND, (
        f"{place} stands in no room: move it into one of {', '.join(BELOW)}, or add a room here"
    )
    allowed = {room, *GROUND, *BELOW.get(room, ())}
    for name in imports(path):
        top, _, rest = name.partition(".")
        homes = LIBRARIES.get(top)
        assert homes is None or any(str(place).startswith(home) for home in homes), (
            f"{place} imports {name}: it belongs to {homes}"
        )
        if top == "gobetween" and rest:
            target, *inner = rest.split(".")
            if target == room in WITHIN and place.parts[1] in WITHIN[room]:
                seen = WITHIN[room][: WITHIN[room].index(place.parts[1]) + 1]
                assert inner[0] in seen, f"{place} imports {name}: {place.parts[1]} may use {seen}"
            assert target in allowed or (str(place), target) in UPWARDS, (
                f"{place} imports {name}: {room} may use {sorted(allowed)}"
            )


def test_every_file_under_a_room_says_what_it_is_for() -> None:
    for path in FILES:
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "migrations" in path.parts, path


def test_every_sub_room_is_in_order() -> None:
    for room, order in WITHIN.items():
        found = {path.parent.name for path in (SOURCE / room).glob("*/__init__.py")}
        assert found == set(order), room


def test_engine_and_learner_do_not_know_each_other() -> None:
    assert "gobetween.study.learner.learner" not in set(imports(SOURCE / "simulation" / "engine.py"))
    assert not any(name.startswith("gobetween.simulation") for name in imports(SOURCE / "study" / "learner" / "learner.py"))
