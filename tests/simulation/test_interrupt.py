"""Ctrl-C ends a simulation soon, however long a run is."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gobetween as gb
from gobetween.core.jit import ENABLED
from gobetween.simulation.engine import HaltedError, halting, new_job, run_chunk

ENDLESS = gb.Problem([1.0, 1.0], family=gb.Gaussian(1.0))  # a tie never stops
SCRIPT = """
import gobetween as gb
gb.simulate(gb.Problem([1.0, 1.0]), "uniform", runs=1, workers=1, max_steps=100)
print("ready", flush=True)
gb.simulate(gb.Problem([1.0, 1.0]), "uniform", runs={runs}, workers={workers}, max_steps=10**12)
"""


def test_runs_under_way_end_when_they_are_told() -> None:
    job = new_job(ENDLESS, gb.UniformSampling(), gb.EProcess(), 0.1, 0, 10**12)
    with pytest.raises(ValueError, match="enough"), halting([job]):
        raise ValueError("enough")
    with pytest.raises(HaltedError):
        run_chunk(job, range(8))


@pytest.mark.skipif(not ENABLED, reason="plain Python hears Ctrl-C by itself")
@pytest.mark.parametrize(("runs", "workers"), [(1, 1), (32, 2)])
def test_ctrl_c_ends_a_simulation_within_two_seconds(runs: int, workers: int, tmp_path: Path) -> None:
    code = SCRIPT.format(runs=runs, workers=workers)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        time.sleep(1.0)
        os.kill(child.pid, signal.SIGINT)
        start = time.monotonic()
        child.communicate(timeout=30)
        assert time.monotonic() - start < 10.0  # two seconds on a quiet machine
        assert child.returncode in (130, -signal.SIGINT, 1)


@pytest.mark.skipif(not ENABLED, reason="plain Python hears Ctrl-C by itself")
def test_ctrl_c_at_the_command_line_is_one_word_and_130(tmp_path: Path) -> None:
    (tmp_path / "tie.toml").write_text("[[arms]]\nmean = 1.0\n[[arms]]\nmean = 1.0\n", encoding="utf-8")
    code = SCRIPT.split('gb.simulate(gb.Problem([1.0, 1.0]), "uniform", runs={runs}')[0] + "from gobetween.cli import main\n"
    code += "main(['simulate', 'tie.toml', '--sampling', 'uniform', '--runs', '4', '--max-steps', str(10**12)])\n"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        time.sleep(3.0)
        os.kill(child.pid, signal.SIGINT)
        start = time.monotonic()
        _, told = child.communicate(timeout=30)
    assert time.monotonic() - start < 10.0
    assert (child.returncode, told) == (130, b"gobetween: stopped\n")
