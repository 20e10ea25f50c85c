"""Commands that are interrupted at random moments, as by Ctrl-C in a terminal, where all processes of a command hear it."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from children import child

from gobetween import Study, StudySpec

EXPERIMENT1 = Path(__file__).parent.parent / "examples" / "experiment1.toml"
LOG = Path(__file__).parent.parent / "examples" / "log.csv"
#: Name → command and the seconds within which it is interrupted.
COMMANDS = {
    "simulate": (["simulate", str(EXPERIMENT1), "--runs", "200000"], 6.0),
    "simulate, one thread": (["simulate", str(EXPERIMENT1), "--runs", "200000", "--workers", "1"], 6.0),
    "experiment": (["experiment", str(EXPERIMENT1), "--runs", "200000", "--out", "r.sqlite"], 6.0),
    "experiment by processes": (
        ["experiment", str(EXPERIMENT1), "--runs", "200000", "--out", "r.sqlite", "--executor", "processes"],
        15.0,
    ),
    "experiment by Dask": (
        ["experiment", str(EXPERIMENT1), "--runs", "200000", "--out", "r.sqlite", "--executor", "dask"],
        20.0,
    ),
    "reproduce": (["reproduce", "--runs", "100000"], 6.0),
    "logs analyse": (["logs", "analyse", str(LOG), "--workers", "2"], 6.0),
    "logs replay": (["logs", "replay", str(LOG), "--runs", "100000"], 6.0),
    "plan": (["plan", str(EXPERIMENT1)], 1.0),
    "serve": (["serve", "s.sqlite", "--port", "0"], 3.0),
}
SOON = 20.0  # on a machine under load: a first Ctrl-C has its way after 4 at most
#: SIGINT is as in a terminal, also when the tests run under nohup; main is what `python -m gobetween` runs.
CODE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from gobetween.__main__ import run
run()
"""


class Ended(NamedTuple):
    """How an interrupted command ended."""

    status: int
    took: float  # seconds from the (last) Ctrl-C
    told: str


def interrupted(name: str, after: float, twice: float | None = None, **environment: str) -> Ended:
    """Interrupt a command so many seconds after it began, and perhaps again so many seconds later; nothing of it is left."""
    command, _ = COMMANDS[name]
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "told").open("w+", encoding="utf-8") as told:
        if command[0] == "serve":
            Study.create(Path(folder) / "s.sqlite", StudySpec(["a", "b"], {"x": None}, family="bernoulli"))
        with child(
            [sys.executable, "-c", CODE, *command],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=told,
            env=os.environ | environment,
        ) as process:
            try:
                process.wait(after)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT)
            if twice is not None and process.poll() is None:
                time.sleep(twice)
                os.killpg(process.pid, signal.SIGINT)
            start = time.monotonic()
            status = process.wait(SOON)
            took = time.monotonic() - start
        told.seek(0)
        return Ended(status, took, told.read())


def campaign(name: str, times: int, seed: int = 0) -> list[Ended]:
    """Interrupt a command at random moments."""
    rng = random.Random(f"{name} {seed}")
    return [interrupted(name, rng.uniform(0.0, COMMANDS[name][1])) for _ in range(times)]


def in_order(ended: Ended) -> bool:
    """Did it end as it should: before, or stopped with one sentence? What Python says until it knows of us does not count."""
    if ended.status == -signal.SIGINT:
        return "in run" not in ended.told
    return ended.status == 0 or (ended.status == 130 and "Traceback" not in ended.told and "gobetween: stopped" in ended.told)
