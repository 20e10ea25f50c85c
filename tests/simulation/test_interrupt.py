"""Ctrl-C ends a simulation soon, however long a run is."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from children import child, line_of
from interrupts import COMMANDS, campaign, in_order
from interrupts import interrupted as interrupted_command

import gobetween as gb
from gobetween.simulation.engine import HaltedError, halting, new_job, run_chunk
from gobetween.simulation.executors import work_through

pytestmark = pytest.mark.alone  # it measures time
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


def interrupted(code: str, folder: Path, after: float = 1.0) -> tuple[int, str]:
    """The status and last words of a script that is interrupted some seconds after it is ready; it ends soon."""
    with child([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder) as process:
        assert line_of(process) == "ready\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        _, told = process.communicate(timeout=30)
        assert time.monotonic() - start < 10.0  # two seconds on a quiet machine
        return process.returncode, told


@pytest.mark.compiled
@pytest.mark.parametrize(("runs", "workers"), [(1, 1), (32, 2)])
def test_ctrl_c_ends_a_simulation_within_two_seconds(runs: int, workers: int, tmp_path: Path) -> None:
    status, _ = interrupted(SCRIPT.format(runs=runs, workers=workers), tmp_path)
    assert status in (130, -signal.SIGINT, 1)


@pytest.mark.compiled
def test_ctrl_c_at_the_command_line_is_one_word_and_130(tmp_path: Path) -> None:
    (tmp_path / "tie.toml").write_text("[[arms]]\nmean = 1.0\n[[arms]]\nmean = 1.0\n", encoding="utf-8")
    code = SCRIPT.split('gb.simulate(gb.Problem([1.0, 1.0]), "uniform", runs={runs}')[0] + "from gobetween.cli import main\n"
    code += "main(['simulate', 'tie.toml', '--sampling', 'uniform', '--runs', '4', '--max-steps', str(10**12)])\n"
    assert interrupted(code, tmp_path, after=3.0) == (130, "gobetween: stopped\n")


@pytest.fixture
def heard() -> Iterator[None]:
    """SIGINT as in a terminal, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("where", ["submit", "take"])
def test_ctrl_c_is_heard_between_two_tasks(where: str) -> None:
    submitted, taken = [], []

    def submit(task: int) -> Future[int]:
        if where == "submit" and task == 5:
            signal.raise_signal(signal.SIGINT)
        submitted.append(task)  # a worker would wait for good for what is left locked here
        return pool.submit(abs, task)

    def take(task: int, found: int) -> None:
        if where == "take" and found == 5:
            signal.raise_signal(signal.SIGINT)
        taken.append(task)

    with pytest.raises(KeyboardInterrupt), ThreadPoolExecutor(2) as pool:
        work_through(submit, range(100), 4, take)
    assert 5 in (submitted if where == "submit" else taken)
    assert len(submitted) < 20
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("heard")
def test_ctrl_c_with_the_last_result_is_not_lost() -> None:
    with pytest.raises(KeyboardInterrupt), ThreadPoolExecutor(1) as pool:
        work_through(lambda task: pool.submit(abs, task), [1], 1, interrupt)


def interrupt(task: int, found: int) -> None:
    signal.raise_signal(signal.SIGINT)


def test_whoever_handles_ctrl_c_still_does() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        with ThreadPoolExecutor(1) as pool:
            work_through(lambda task: pool.submit(abs, task), [1, 2], 1, interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT] * 2


STUCK = """
import signal, threading
from gobetween.interrupts import watch
deaf = lambda *_: None
deaf.__module__ = "gobetween"
signal.signal(signal.SIGINT, deaf)
watch()
lock = threading.Lock()
lock.acquire()
print("ready", flush=True)
lock.acquire()
"""


def test_what_never_ends_is_ended(tmp_path: Path) -> None:
    assert interrupted(STUCK, tmp_path, after=0.0) == (130, "gobetween: stopped\n")


def test_a_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    code = STUCK.replace("watch()", "import gobetween.interrupts as e; e.GRACE = e.OTHERS = 1000; watch()")
    with child([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        assert line_of(process) == "ready\n"
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130


@pytest.mark.compiled
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_ends_whenever_it_is_interrupted(name: str) -> None:
    for ended in campaign(name, 2):
        assert in_order(ended), ended
        assert ended.took < 10.0


@pytest.mark.compiled
def test_ctrl_c_while_kernels_are_compiled(tmp_path: Path) -> None:
    ended = interrupted_command("simulate", 4.0, GOBETWEEN_CACHE_DIR=str(tmp_path))
    assert in_order(ended), ended
    assert ended.took < 10.0
