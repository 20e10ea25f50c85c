"""Replays: what a rule would have needed."""

import numpy as np
import pytest
from log_tables import POLICIES, table

import gobetween as gb
from gobetween.core.jit import ENABLED
from gobetween.logs.options import LogOptions
from gobetween.logs.replay import read_rows, replay

FAMILY = gb.Bernoulli()


@pytest.mark.skipif(not ENABLED, reason="thousands of runs are for compiled code")
def test_replays_agree_with_fresh_simulation() -> None:
    columns = table(20_000, seed=5, means=(0.8, 0.5, 0.4))
    rows = read_rows(LogOptions(), (columns,))
    for sampling in (gb.Tracking(policies="unknown"), gb.UniformSampling()):
        found = replay(rows, FAMILY, sampling, gb.EProcess(), 0.05, runs=400, seed=1)
        assert not found.ran_out.any()
        problem = gb.Problem((0.8, 0.5, 0.4), POLICIES, family=FAMILY)
        fresh = gb.simulate(problem, sampling, gb.EProcess(), 0.05, 2000, seed=2).tau[:, 0]
        error = np.hypot(found.tau.std() / 20.0, fresh.std() / np.sqrt(2000))
        slack = 0.03 * fresh.mean()  # the log's own means differ from the truth
        assert abs(found.tau.mean() - fresh.mean()) <= 3 * error + slack
    short = read_rows(LogOptions(), ({key: values[:60] for key, values in columns.items()},))
    found = replay(short, FAMILY, gb.UniformSampling(), gb.EProcess(), 1e-6, runs=20)
    assert found.ran_out.all()
    assert sum(found.exhausted.values()) == 20
    again = replay(short, FAMILY, gb.UniformSampling(), gb.EProcess(), 1e-6, runs=20)
    assert (again.tau == found.tau).all()
