"""Replays: what a rule would have needed."""

from typing import Any

import numpy as np
import pytest
from log_tables import POLICIES, table

import gobetween as gb
from gobetween.logs.analysis.replay import read_rows, replay
from gobetween.logs.reading.options import LogOptions

FAMILY = gb.Bernoulli()


@pytest.mark.compiled
def test_replays_agree_with_fresh_simulation() -> None:
    columns = table(20_000, seed=5, means=(0.8, 0.5, 0.4))
    rows, _ = read_rows(LogOptions(), (columns,))
    for sampling in (gb.Tracking(policies="unknown"), gb.UniformSampling()):
        found = replay(rows, FAMILY, sampling, gb.EProcess(), 0.05, runs=400, seed=1)
        assert not found.ran_out.any()
        problem = gb.Problem((0.8, 0.5, 0.4), POLICIES, family=FAMILY)
        fresh = gb.simulate(problem, sampling, gb.EProcess(), 0.05, 2000, seed=2).tau[:, 0]
        error = np.hypot(found.tau.std() / 20.0, fresh.std() / np.sqrt(2000))
        slack = 0.03 * fresh.mean()  # the log's own means differ from the truth
        assert abs(found.tau.mean() - fresh.mean()) <= 3 * error + slack
    short, _ = read_rows(LogOptions(), ({key: values[:60] for key, values in columns.items()},))
    found = replay(short, FAMILY, gb.UniformSampling(), gb.EProcess(), 1e-6, runs=20)
    assert found.ran_out.all()
    assert sum(found.exhausted.values()) == 20
    again = replay(short, FAMILY, gb.UniformSampling(), gb.EProcess(), 1e-6, runs=20)
    assert (again.tau == found.tau).all()


def test_known_policies_are_used_where_all_are_declared() -> None:
    columns = table(300, seed=5, means=(0.9, 0.3, 0.3))
    order = [2, 0, 1]
    declared = {"m1": POLICIES[1][order], "m0": POLICIES[0][order]}
    rows, _ = read_rows(LogOptions(arms=["c", "a", "b"], declared=declared), (columns,))
    known = np.array(list(declared.values()))
    expected = replay(rows, FAMILY, gb.Tracking(), gb.EProcess(), 0.05, runs=3, policies=list(known))
    found = gb.replay_logs(columns, arms=["c", "a", "b"], declared=declared, sampling=gb.Tracking(), runs=3)
    assert (found.N_e == expected.N_e).all()
    assert list(found.exhausted) == ["m1", "m0"]


def test_replays_in_one_line_and_as_a_frame() -> None:
    columns = table(300, seed=5, means=(0.9, 0.3, 0.3))
    found = gb.replay_logs(columns, sampling=gb.UniformSampling(), runs=4)
    assert not found.ran_out.any()
    mean = f"{found.tau.mean():,.0f}"
    assert repr(found) == f"<Replay: the rule stopped in 4 of 4 replays after {mean} rows on average, δ = 0.05>"
    frame = found.to_frame()
    assert list(frame.columns) == ["queries", "named", "ran_out", "queries to m1", "queries to m0"]
    assert frame["queries"].to_list() == found.tau.tolist() == found.N_e.sum(axis=1).tolist()
    assert (frame["queries to m1"] + frame["queries to m0"]).to_list() == found.tau.tolist()
    short = gb.replay_logs({key: values[:30] for key, values in columns.items()}, delta=1e-6, runs=3)
    assert repr(short) == "<Replay: the rule stopped in 0 of 3 replays, δ = 1e-06>"
    assert short.to_dict()["mean"] is short.to_dict()["half_width"] is short.to_dict()["quantiles"] is None


def test_a_replay_believes_what_is_declared() -> None:
    """Two mediators that are the same; the declared policies say that one of them hardly shows the best arm."""
    columns = {"mediator": ["m", "n"] * 400, "arm": ["a", "a", "b", "b"] * 200, "reward": [1, 0, 0, 1, 1, 1, 0, 0] * 100}
    options: dict[str, Any] = {"family": FAMILY, "sampling": gb.Tracking(), "runs": 2, "delta": 1e-300, "arms": ["a", "b"]}
    for favoured in ("m", "n"):
        declared = {name: [0.5, 0.5] if name == favoured else [0.01, 0.99] for name in ("m", "n")}
        found = gb.replay_logs(columns, declared=declared, **options)
        assert found.ran_out.all()
        assert found.exhausted == {name: 2 * (name == favoured) for name in ("m", "n")}
