"""The faults of tests/faults.py at full size."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from faults import abandoned_asks, changed_bytes, contention, kill_writers, truncated_wal
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from postgres import Cluster
from study_machine import Machine

Report = Callable[[str, float, str], None]


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    if request.param == "SQLite":
        return str(request.param), str(tmp_path / "s.sqlite")
    return str(request.param), str(request.getfixturevalue("postgres").database())


def test_64_processes(where: tuple[str, str], report: Report) -> None:
    start = time.perf_counter()
    speed = contention(where[1], processes=64, rounds=100)
    report(f"64 processes × 100 ask + tell, {where[0]}", start, f"0 errors, 0 lost, 0 doubled; {speed:,.0f} transactions/s")


def test_200_kills(where: tuple[str, str], report: Report) -> None:
    start = time.perf_counter()
    told = kill_writers(where[1], kills=200, at_a_time=4)
    report(
        f"kill -9 of 200 writing processes, {where[0]}",
        start,
        f"all {told:,} acknowledged tells there exactly once, doctor clean",
    )


def test_1000_abandoned_asks(where: tuple[str, str], report: Report) -> None:
    start = time.perf_counter()
    abandoned_asks(where[1], times=1000)
    report(
        f"a worker killed between ask and tell, 1,000 times, {where[0]}",
        start,
        "every ask issued anew after its lease, none stuck",
    )


def test_the_wal_cut_at_every_byte(tmp_path: Path, report: Report) -> None:
    start = time.perf_counter()
    cuts, size = truncated_wal(tmp_path, every=1)
    report(
        f"WAL cut at each of the {size:,} bytes of the last transaction",
        start,
        f"{cuts:,} cuts: nothing acknowledged before is lost",
    )


def test_1000_changed_bytes(tmp_path: Path, report: Report) -> None:
    start = time.perf_counter()
    altered, spoken, refused = changed_bytes(tmp_path, changes=1000)
    report(
        "single bytes of a SQLite file changed, 1,000 times",
        start,
        f"{altered} alter what is read back, all found by the doctor (which spoke {spoken} times); "
        f"{refused} times a command refused in one sentence, never a traceback",
    )


def test_any_sequence_of_commands(postgres: Cluster, report: Report) -> None:
    start = time.perf_counter()
    Machine.cluster = postgres
    chosen = settings(max_examples=400, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Machine, settings=chosen)
    report("400 random histories of up to 50 commands", start, "memory ≡ SQLite ≡ PostgreSQL, doctor clean")
