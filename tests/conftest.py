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


os.environ["GOBETWEEN_TRACEBACK"] = "1"  # no command hides a bug from a test


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make quick` runs."""
    for item in items:
        if isinstance(item, pytest.Function) and is_quick(item):
            item.add_marker("quick")


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
