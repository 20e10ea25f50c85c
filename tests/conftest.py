"""What holds for all tests: fixed seeds, the order of files, which part of `make test` runs what, and that nothing is left behind."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import children
import pytest
import records
from hypothesis import HealthCheck, settings
from postgres import Cluster, cluster
from quick import is_quick
from strategies import WILD

from gobetween.core.ground.jit import ENABLED
from gobetween.study.learner import forecast

pytest_plugins = ["study_parts"]
FOLDER = Path(__file__).parent

# fixed seeds: a failure today is a failure tomorrow
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("wild", deadline=None, max_examples=2000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


os.environ["GOBETWEEN_TRACEBACK"] = "1"  # no command hides a bug from a test


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", metavar="PART", help="write what ran and how long it took to .records/PART.json")


def pytest_configure(config: pytest.Config) -> None:
    """In every process let children hear signals; beside the first one watch that nothing is left, and record."""
    children.hear_signals()
    if hasattr(config, "workerinput"):
        return
    children.watch()
    if part := config.getoption("record"):
        config.pluginmanager.register(records.Recorder(part))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make quick` runs and what runs with and without the JIT, skip what does not run here, and let slow files come first."""
    for item in items:
        if isinstance(item, pytest.Function) and is_quick(item):
            item.add_marker("quick")
        if place(item).startswith("core/"):
            item.add_marker("core")
        for mark, elsewhere in (("plain", ENABLED and not WILD), ("compiled", not ENABLED)):
            if elsewhere and item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=f"{mark}: runs in another part of make test"))
    seconds = records.recorded()["compiled" if ENABLED else "plain"]
    items.sort(key=lambda item: -seconds.get(place(item), 0.0))  # stable


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """For `-m alone` no other file need be read."""
    if config.getoption("markexpr") != "alone" or collection_path.suffix != ".py" or FOLDER not in collection_path.parents:
        return None
    return "pytest.mark.alone" not in collection_path.read_text(encoding="utf-8") or None


def place(item: pytest.Item) -> str:
    """The file of a test, from here."""
    return item.path.relative_to(FOLDER).as_posix()


@pytest.fixture(autouse=True, scope="module")
def processes_end_with_their_tests() -> Iterator[None]:
    before = children.own()
    yield
    left = {pid: command for pid, command in children.own().items() if pid not in before}
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, f"left running: {left}"


@pytest.fixture(autouse=True)
def the_jit_is_chosen_anew() -> Iterator[None]:
    """A command that runs in this process may have chosen plain Python: later ones, in processes of their own, choose again."""
    before = os.environ.get("GOBETWEEN_JIT")
    yield
    if before is None:
        os.environ.pop("GOBETWEEN_JIT", None)
    else:
        os.environ["GOBETWEEN_JIT"] = before


@pytest.fixture(autouse=True, scope="session")
def forecasts_start_no_process() -> None:
    """Without the JIT a long forecast is left to a process that compiles: here for every family, which would take minutes."""
    if not ENABLED:
        forecast.WORK = forecast.PLAIN


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
