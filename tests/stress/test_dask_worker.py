"""A Dask worker killed in the midst of an experiment: its blocks are run elsewhere, and the table is the same."""

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import gobetween as gb
from gobetween.simulation.results_file import ResultsFile

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "comparison.toml"


def test_a_killed_worker_changes_nothing(tmp_path: Path, report: Callable[[str, float, str], None]) -> None:
    from distributed import Client, LocalCluster

    start = time.perf_counter()

    experiment = replace(gb.read_experiment(EXAMPLE), runs=4000)
    gb.run_experiment(experiment, tmp_path / "whole.sqlite")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        client.get_executor(pure=False) as executor,
    ):
        killed: list[int] = []

        def kill() -> None:
            for _ in range(3):
                time.sleep(2.0)
                pid = next(iter(client.run(os.getpid).values()))
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

        killer = threading.Thread(target=kill)
        killer.start()
        gb.run_experiment(experiment, tmp_path / "broken.sqlite", executor)
        killer.join()
    assert len(set(killed)) == 3
    with ResultsFile.read(tmp_path / "whole.sqlite") as whole, ResultsFile.read(tmp_path / "broken.sqlite") as broken:
        assert list(whole.rows()) == list(broken.rows())
    report("Dask workers killed three times in an experiment of 32,000 runs", start, "the same table as without")
