"""Processes that tests start: each ends with its test, and all of them with the run of the tests, even when that is killed.

Every process inherits a mark in its environment. A watcher beside the run waits for the run's end and kills what still has it.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

MARK = "GOBETWEEN_TEST_RUN"
MEMORY = Path("/dev/shm")
#: Children that stay until the end of a run: the servers of launcher.py, and what multiprocessing keeps.
STAYING = ("launcher.py", "multiprocessing")


@contextmanager
def child(command: list[str], **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """A process in a group of its own, of which nothing is left afterwards."""
    with subprocess.Popen(command, text=True, start_new_session=True, **options) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def line_of(process: "subprocess.Popen[str]") -> str:
    """The next line that a process prints."""
    assert process.stdout is not None
    return process.stdout.readline()


def own() -> dict[int, str]:
    """Children of this process that should not outlive the tests of a file, with their commands."""
    numbers = [number for task in Path("/proc/self/task").glob("*/children") for number in task.read_text().split()]
    found = {int(number): _read(Path("/proc") / number / "cmdline").replace("\0", " ") for number in numbers}
    return {pid: command for pid, command in found.items() if not any(word in command for word in STAYING)}


def hear_signals() -> None:
    """Children inherit that SIGINT is ignored (by nohup or `&`), as no terminal does it: here it is not."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def watch() -> None:
    """Start the watcher of this run and mark what will be started; without pidfd and /proc (not Linux) nothing is watched."""
    if not hasattr(os, "pidfd_open"):
        return
    run = str(os.getpid())
    plain = {name: value for name, value in os.environ.items() if name != MARK}
    os.posix_spawn(sys.executable, [sys.executable, "-I", __file__, run], plain, setsid=True)
    os.environ[MARK] = run


def marked(run: str) -> list[int]:
    """Processes that were started by a run, at whatever remove."""
    sign = f"{MARK}={run}"
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if sign in _read(entry / "environ").split("\0")]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended, or belongs to someone else
        return ""


def sweep(run: str) -> None:
    """Wait until a run has ended, then end what it left, and remove its databases."""
    with suppress(ProcessLookupError):
        select.select([os.pidfd_open(int(run))], [], [])
    deadline = time.monotonic() + 10.0
    while (left := marked(run)) and time.monotonic() < deadline:
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
    for place in (MEMORY, Path(tempfile.gettempdir())):
        for folder in place.glob(f"gobetween-pg-{run}-*"):
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sweep(sys.argv[1])
