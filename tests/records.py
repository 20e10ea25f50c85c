"""How long tests took, and which ran at all: `pytest --record PART` writes it, so that nobody keeps lists of slow tests.

    python tests/records.py            after all parts of `make test`: fails when a test was skipped in each of them
    python tests/records.py --write    `make durations`: what they took becomes tests/durations.json

Files that took longest start first (conftest.py), and tests that took long are not in `make quick` (quick.py).
"""

import json
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
FOLDER = TESTS.parent / ".records"
DURATIONS = TESTS / "durations.json"
LONG = 1.0  # seconds of a test, with all its parameters, that `make quick` leaves out
MISSING = "not here: "  # begins the reason of tests that may be skipped everywhere: this machine lacks something


class Recorder:
    """Collects the reports of a run and writes them at its end."""

    def __init__(self, part: str) -> None:
        self.path = FOLDER / f"{part}.json"
        self.seconds: dict[str, float] = defaultdict(float)
        self.skipped: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.skipped:
            self.skipped[report.nodeid] = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)

    def pytest_sessionfinish(self) -> None:
        FOLDER.mkdir(exist_ok=True)
        self.path.write_text(json.dumps({"seconds": self.seconds, "skipped": self.skipped}, indent=0), encoding="utf-8")


def nowhere(parts: list[dict[str, Any]]) -> dict[str, str]:
    """Tests that were skipped wherever they were collected, with the reason; none if this machine lacks what they need."""
    ran = {test for part in parts for test in part["seconds"] if test not in part["skipped"]}
    skipped = {test: reason for part in parts for test, reason in part["skipped"].items()}
    return {test: reason for test, reason in skipped.items() if test not in ran and MISSING not in reason}


def durations(parts: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Seconds of each file in each part, and of the tests that take long."""
    files: dict[str, dict[str, float]] = {part: defaultdict(float) for part in parts}
    tests: dict[str, float] = defaultdict(float)
    for part, found in parts.items():
        for test, seconds in found["seconds"].items():
            name = test.removeprefix("tests/").split("[")[0]
            files[part][name.split("::")[0]] += seconds
            tests[name] += seconds if part != "plain" else 0.0
    long = {name: seconds for name, seconds in tests.items() if seconds > LONG}
    return {part: _rounded(found) for part, found in {**files, "long": long}.items()}


def _rounded(seconds: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 1) for name, value in sorted(seconds.items()) if value >= 0.1}


@cache
def recorded() -> dict[str, dict[str, float]]:
    """What tests/durations.json holds."""
    found: dict[str, dict[str, float]] = json.loads(DURATIONS.read_text(encoding="utf-8"))
    return found


def main(words: list[str]) -> int:
    """Check, or write."""
    parts = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
    if "--write" in words:
        DURATIONS.write_text(json.dumps(durations(parts), indent=1) + "\n", encoding="utf-8")
        return 0
    left = nowhere(list(parts.values()))
    for test, reason in left.items():
        print(f"{test} ran nowhere: {reason}")
    return 1 if left or not parts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
