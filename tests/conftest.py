import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from postgres import Cluster, cluster
from quick import is_quick

pytest_plugins = ["study_parts"]

# fixed seeds: a failure today is a failure tomorrow
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("wild", deadline=None, max_examples=2000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


#: Files that measure time, or end processes after a time: `make test` runs them when nothing else runs.
ALONE = ("simulation/test_interrupt.py", "study/test_store_waiting.py")
#: Files that take longest, first: two processes that share the others end at about the same time.
LONG = (
    "core/test_doors.py",
    "test_docs.py",
    "core/test_narrow.py",
    "cli/test_cli.py",
    "core/test_ranks.py",
    "simulation/test_experiment.py",
    "study/test_store.py",
    "paper/test_reproduction.py",
    "service/test_browser.py",
    "core/test_student.py",
    "core/test_scales.py",
    "cli/test_third_party.py",
    "study/test_forecast.py",
    "study/test_snapshots.py",
    "logs/test_log_questions.py",
    "service/test_processes.py",
    "cli/test_study_cli.py",
    "core/test_drift.py",
    "core/test_bound.py",
    "study/test_near_ties.py",
    "core/test_literature.py",
    "study/test_missing_answers.py",
    "core/test_questions.py",
    "service/test_access.py",
    "service/test_accessible.py",
    "study/test_study_machine.py",
    "logs/test_log_cli.py",
)
os.environ["GOBETWEEN_TRACEBACK"] = "1"  # no command hides a bug from a test


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make quick` runs and what runs alone, and let slow files come first."""
    for item in items:
        if isinstance(item, pytest.Function) and is_quick(item):
            item.add_marker("quick")
        if place(item) in ALONE:
            item.add_marker("alone")
    items.sort(key=lambda item: LONG.index(place(item)) if place(item) in LONG else len(LONG))  # stable


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """For `-m alone` no other file need be read."""
    here = Path(__file__).parent
    if config.getoption("markexpr") != "alone" or collection_path.suffix != ".py" or here not in collection_path.parents:
        return None
    return collection_path.relative_to(here).as_posix() not in ALONE or None


def place(item: pytest.Item) -> str:
    """The file of a test, from here."""
    return item.path.relative_to(Path(__file__).parent).as_posix()


@pytest.fixture(autouse=True)
def the_jit_is_chosen_anew() -> Iterator[None]:
    """A command that runs in this process may have chosen plain Python: later ones, in processes of their own, choose again."""
    before = os.environ.get("GOBETWEEN_JIT")
    yield
    if before is None:
        os.environ.pop("GOBETWEEN_JIT", None)
    else:
        os.environ["GOBETWEEN_JIT"] = before


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    with cluster() as made:
        yield made


@pytest.fixture(scope="session")
def report() -> Iterator[Callable[[str, float, str], None]]:
    """For `make stress`: collects what was done and writes docs/stress.md; what is not run again keeps its line."""
    page = Path(__file__).parent.parent / "docs" / "stress.md"
    held = page.read_text(encoding="utf-8").splitlines()[6:] if page.exists() else []
    rows = {line.split("|")[1].strip(): line for line in held if line.startswith("|")}

    def add(what: str, since: float, found: str) -> None:
        rows[what] = f"| {what} | {found} | {time.perf_counter() - since:.0f} s |"

    yield add
    head = ["# Stress", "", "Written by `make stress`: faults at full size, on a shared machine with two cores.", ""]
    head += ["| what was done | found | took |", "|---|---|---|"]
    page.write_text("\n".join([*head, *rows.values(), ""]), encoding="utf-8")
