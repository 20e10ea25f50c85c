"""Ctrl-C is held back where it would break what is under way."""

import subprocess
import sys

import pytest
from children import child

STORM = """
import random, signal
import numpy as np
import gobetween as gb
from gobetween.logs.analysis.replay import LoggedRows, replay
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(1)
rows = LoggedRows(("a", "b"), ("m",), np.array([0, 40]), rng.integers(0, 2, 40), rng.random(40).round())
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
def once():
    replay(rows, gb.Bernoulli(), gb.UniformSampling(), gb.GLR(), 0.1, 100_000)
replay(rows, gb.Bernoulli(), gb.UniformSampling(), gb.GLR(), 0.1, 2)
heard = 0
while heard < 300:
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 1e-3))
        once()
    except KeyboardInterrupt:
        heard += 1
print(heard)
"""


@pytest.mark.compiled
def test_interrupts_never_crash_what_takes_a_generator() -> None:
    with child([sys.executable, "-c", STORM], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        told, errors = process.communicate(timeout=120)
    assert (process.returncode, told) == (0, "300\n"), errors[-500:]
