"""Runs and plans as people meet them in Python: short, with a table, a figure and a data frame."""

import pickle
from dataclasses import replace

import pytest

import gobetween as gb
from gobetween.simulation.runs import together
from gobetween.simulation.summary import summarise

PROBLEM = gb.Problem({"<a>": 1.0, "b": 0.0}, {"m": [0.5, 0.5], "n": [0.1, 0.9]}, family=gb.Gaussian(1.0))
PRICED = gb.Problem({"<a>": 1.0, "b": 0.0}, {"m": [0.5, 0.5], "n": [0.1, 0.9]}, costs={"m": 3.0}, family=gb.Gaussian(1.0))


@pytest.fixture(scope="module")
def runs() -> gb.Runs:
    return gb.simulate(PROBLEM, gb.Tracking(prune=True), gb.GLR(), [0.4, 0.1], runs=11, workers=1, max_steps=500)


def test_runs_know_what_was_played(runs: gb.Runs) -> None:
    assert runs.problem is PROBLEM
    assert (runs.sampling, runs.stopping) == ("pruned", "paper")
    first, second = (f"{mean:,.0f}" for mean in runs.tau.mean(axis=0))
    assert repr(runs) == f"Runs(11 of pruned, paper; mean queries {first} at δ = 0.4, {second} at δ = 0.1)"
    again = pickle.loads(pickle.dumps(runs))
    assert (again.tau == runs.tau).all()


def test_a_summary_needs_no_argument(runs: gb.Runs) -> None:
    found = runs.summary()
    assert found == summarise(PROBLEM, runs)
    assert isinstance(found[0], gb.Summary)
    assert found[0].to_dict()["delta"] == 0.4
    assert replace(found[0], half_width=float("inf")).to_dict()["half_width"] is None
    with pytest.raises(gb.ProblemError, match="these runs have no problem: use runs from simulate or load_results"):
        replace(runs, problem=None).summary()


def test_a_notebook_shows_runs(runs: gb.Runs) -> None:
    page = runs._repr_html_()
    assert "Runs(11 of pruned, paper; " in page
    assert "<th>10–90%</th>" in page
    priced = gb.simulate(PRICED, deltas=0.4, runs=4, workers=1, max_steps=500)
    assert "<th>cost</th>" in priced._repr_html_()


def test_runs_as_a_frame(runs: gb.Runs) -> None:
    frame = runs.to_frame()
    assert list(frame) == ["run", "delta", "tau", "correct", "censored", "N_e", "N_a"]
    assert len(frame) == 22
    assert frame.tau.tolist() == runs.tau.ravel().tolist()
    assert frame.delta.tolist()[:3] == [0.4, 0.1, 0.4]
    assert frame.run.tolist()[:3] == [0, 0, 1]
    assert frame.N_e[3] == runs.N_e[1, 1].tolist()


def drawn_bounds(runs: gb.Runs) -> list[float]:
    """Where a figure has its marks."""
    return [float(line.get_xdata()[0]) for line in runs.plot().axes[0].lines if line.get_marker() == "|"]


def test_runs_draw_themselves_with_the_bound_on_queries(runs: gb.Runs) -> None:
    bounds = [max(gb.lower_bound(PROBLEM).queries(delta), 1.0) for delta in (0.4, 0.1)]
    assert drawn_bounds(runs) == bounds
    names = [label.get_text() for label in runs.plot().axes[0].get_yticklabels()]
    assert names == ["pruned, paper (δ = 40%)", "pruned, paper (δ = 10%)"]
    priced = gb.simulate(PRICED, deltas=[0.4, 0.1], runs=4, workers=1, max_steps=500)
    assert drawn_bounds(priced) == bounds  # a figure of queries: costs set aside
    for unbounded in (gb.Problem([0.9, 0.1], family="bounded"), gb.Problem([1.0, 1.0], family=gb.Gaussian(1.0))):
        assert drawn_bounds(replace(runs, problem=unbounded)) == []  # an envelope's T* bounds nothing, a tie's is infinite


def test_blocks_are_put_together(runs: gb.Runs) -> None:
    both = together([runs, runs])
    assert both.tau.tolist() == 2 * runs.tau.tolist()
    assert both.sampling == "pruned"


def test_a_plan_shows_itself() -> None:
    plan = gb.make_plan(PROBLEM, [0.1])
    assert isinstance(plan, gb.Plan)
    assert repr(plan) == f"Plan(T* = 8; expected queries ≥ {plan.bound.queries(0.1):.1f} at δ = 0.1)"
    page = plan._repr_html_()
    assert "<th>queries at δ = 0.1</th>" in page
    assert "<td>m</td><td>100.00%</td>" in page
    assert "cost of a query" not in page
    priced = gb.make_plan(PRICED)
    assert "expected cost ≥" in repr(priced)
    assert "<th>cost of a query</th>" in priced._repr_html_()
    tied = gb.make_plan(gb.Problem([1.0, 1.0], family=gb.Gaussian(1.0)), [0.1])
    assert repr(tied) == "Plan(T* = inf; expected queries ≥ inf at δ = 0.1)"
    assert tied.to_dict()["T_star"] is None
    assert "<td>" not in tied._repr_html_()


@pytest.mark.plain
def test_a_plan_of_bounded_rewards_is_about_so_much() -> None:
    assert "about" in repr(gb.make_plan(gb.Problem([0.9, 0.1], family="bounded")))
