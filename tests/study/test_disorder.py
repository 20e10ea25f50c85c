"""Answers in disorder do not make a learner err, where it could."""

import pytest
from disorder import DELTA, SETTINGS, live

from gobetween.simulation.summary import exact_interval

pytestmark = pytest.mark.compiled
RUNS, MOST = 150, 100


def wrong(setting: str, gap: float, order: str = "issue") -> int:
    """Runs that name arm 1, although it is not better."""
    return sum(live(setting, gap, MOST, seed, order) == "arm 1" for seed in range(RUNS))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("gap", [0.0, 0.02])
def test_disorder_makes_no_more_errors_than_delta(setting: str, gap: float) -> None:
    """Small here; thousands of runs in `make validity`."""
    assert exact_interval(wrong(setting, gap), RUNS, 0.998)[0] <= DELTA


def test_a_tie_can_show_errors() -> None:
    """Counted as they arrive, answers that are late when they are bad make a learner err in most runs."""
    assert wrong("bad news is slow", 0.0, "arrival") > 0.3 * RUNS
