"""Nine rooms on common ground, imports go down only, and each library has its rooms."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "gobetween"

GROUND = ("errors", "export")  # what every room stands on
#: Room → the rooms it may import from, besides itself and the ground.
BELOW = {
    "core": (),
    "files": ("core",),
    "simulation": ("core", "files"),
    "logs": ("core", "files", "simulation"),
    "paper": ("core", "files", "simulation"),
    "study": ("core", "files", "simulation", "logs"),
    "pages": ("core", "files", "simulation", "logs", "paper", "study"),
    "service": ("core", "files", "simulation", "logs", "paper", "study", "pages"),
    "cli": ("core", "files", "simulation", "logs", "paper", "study", "pages", "service"),
}
#: Library → where it may be imported. What is not listed may be imported anywhere.
LIBRARIES = {
    "numba": ("core/jit.py", "core/kernels.py"),
    "llvmlite": ("core/kernels.py",),
    "click": ("cli",),
    "rich": ("cli",),
    "sqlalchemy": ("study/store",),
    "alembic": ("study/store",),
    "psycopg": ("study/store",),
    "sqlite3": ("simulation/results_file.py",),
    "plotly": ("pages", "service"),
    "fastapi": ("service",),
    "starlette": ("service",),
    "pydantic": ("service",),
    "uvicorn": ("service",),
    "pyarrow": ("logs", "cli"),
    "pandas": ("export.py",),
    "distributed": ("simulation/executors.py",),
}
UPWARDS = {  # for the reader's convenience
    ("core/problem.py", "files"),  # Problem.from_toml
    ("logs/report.py", "pages"),  # LogReport.report
    ("simulation/runs.py", "pages"),  # Runs.plot
    ("simulation/comparison.py", "pages"),  # Comparison.plot
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
            target = rest.split(".")[0]
            assert target in allowed or (str(place), target) in UPWARDS, (
                f"{place} imports {name}: {room} may use {sorted(allowed)}"
            )


def test_every_file_under_a_room_says_what_it_is_for() -> None:
    for path in FILES:
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "migrations" in path.parts, path


def test_engine_and_learner_do_not_know_each_other() -> None:
    assert "gobetween.study.learner" not in set(imports(SOURCE / "simulation" / "engine.py"))
    assert not any(name.startswith("gobetween.simulation") for name in imports(SOURCE / "study" / "learner.py"))
