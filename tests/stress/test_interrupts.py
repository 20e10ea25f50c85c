"""200 interrupts at random moments, of commands with threads, processes and Dask, and while kernels are compiled."""

import time
from collections.abc import Callable
from pathlib import Path

from interrupts import COMMANDS, campaign, in_order, interrupted

Report = Callable[[str, float, str], None]


def test_200_interrupts(report: Report) -> None:
    start = time.perf_counter()
    ended = [found for name in COMMANDS for found in campaign(name, 200 // len(COMMANDS))]
    assert all(map(in_order, ended)), [found for found in ended if not in_order(found)]
    stopped = [found.took for found in ended if found.status == 130]
    report(
        f"{len(ended)} times Ctrl-C at random moments, {len(COMMANDS)} commands",
        start,
        f"{len(stopped)} stopped with one sentence, all within {max(stopped):.1f} s; none hung",
    )


def test_20_interrupts_while_kernels_are_compiled(report: Report, tmp_path: Path) -> None:
    start, took = time.perf_counter(), []
    for i in range(20):
        ended = interrupted("simulate", 2.0 + i, 0.05 if i % 2 else None, GOBETWEEN_CACHE_DIR=str(tmp_path / str(i)))
        assert ended.status == 130, ended
        took.append(ended.took)
    report("20 times Ctrl-C while kernels are compiled, every other twice", start, f"all ended within {max(took):.1f} s")
