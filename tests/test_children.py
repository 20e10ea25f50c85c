"""What tests start ends with them: at the end of a block, of a file, and of a run that is killed."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from children import child, line_of, own

RUN = """
import subprocess, sys, time
import children
children.hear_signals()
children.watch()
sleeper = subprocess.Popen(["sleep", "600"], start_new_session=True)
print(sleeper.pid, flush=True)
time.sleep(600)
"""


def is_gone(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] in "ZX"


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_a_run_that_is_killed_leaves_nothing() -> None:
    with child([sys.executable, "-c", RUN], cwd=Path(__file__).parent, stdout=subprocess.PIPE) as run:
        sleeper = int(line_of(run))
        assert not is_gone(sleeper)
        run.kill()
        assert within(20.0, lambda: is_gone(sleeper))


def test_children_hear_signals_where_they_were_ignored() -> None:
    """As under nohup."""
    code = "import signal, children; children.hear_signals(); import os; os.execvp('sleep', ['sleep', '60'])"

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    with child([sys.executable, "-c", code], cwd=Path(__file__).parent, preexec_fn=ignore) as process:
        assert within(20.0, lambda: b"sleep" in Path(f"/proc/{process.pid}/cmdline").read_bytes()[:5])
        process.send_signal(signal.SIGINT)
        assert process.wait(20.0) == -signal.SIGINT


def test_a_block_ends_what_its_process_started() -> None:
    before = set(own())
    with child(["sh", "-c", "sleep 600 & echo $!; wait"], stdout=subprocess.PIPE) as process:
        inner = int(line_of(process))
        assert set(own()) - before == {process.pid}
    assert within(10.0, lambda: is_gone(inner))
    assert set(own()) == before
