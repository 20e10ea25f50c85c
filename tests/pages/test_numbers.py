"""What tables, figures, notebooks and CSV show are the numbers that JSON has, each beside its own name."""

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import gobetween as gb
from gobetween.core.bound.lower_bound import binary_kl
from gobetween.pages import log as log_page
from gobetween.pages import log_tables
from gobetween.pages import plan as plan_page
from gobetween.pages.blocks import Grid, Picture, Section
from gobetween.simulation.plan import make_plan
from gobetween.words.numbers import amount, chance, percent, rate


def table(sections: Sequence[Section], header: Sequence[str]) -> dict[str, list[str]]:
    """The rows of the table whose headings begin like this, by their first cells."""
    grids = [block for part in sections for block in part.blocks if isinstance(block, Grid)]
    (grid,) = (grid for grid in grids if list(grid.header[: len(header)]) == list(header))
    assert len({row[0] for row in grid.rows}) == len(grid.rows)
    return {row[0]: list(row[1:]) for row in grid.rows}


def picture(sections: Sequence[Section], name: str) -> Any:
    (figure,) = (
        block.figure for part in sections for block in part.blocks if isinstance(block, Picture) and block.name == name
    )
    return figure


def bars(figure: Any) -> tuple[dict[str, float], dict[str, float]]:
    """Name → length of the bar, and name → place of the mark."""
    return {mark.name: mark.value for mark in figure.marks}, {mark.name: mark.target for mark in figure.marks}


@pytest.mark.parametrize("costs", [None, [4.0, 3.0, 2.5]])
def test_a_plan(costs: list[float] | None) -> None:
    arms, mediators, priced = ["d", "a", "c", "b"], ["z", "x", "y"], costs is not None
    policies = [[0.1, 0.6, 0.1, 0.2], [0.5, 0.2, 0.2, 0.1], [0.25, 0.1, 0.6, 0.05]]
    problem = gb.Problem([0.3, 0.8, 0.6, 0.5], policies, costs=costs, arms=arms, mediators=mediators, family=gb.Bernoulli())
    plan = make_plan(problem, (0.2, 0.03))
    data, parts = plan.to_dict(), plan_page.sections(plan, drawn=True)
    targets = {target["delta"]: (target["cost"], target["queries"]) for target in data["targets"]}
    assert all((cost != queries) == priced for cost, queries in targets.values())
    rows = table(parts, ["risk of a wrong answer"])
    for delta, (cost, queries) in targets.items():
        assert rows[chance(delta)] == [*([amount(cost)] if priced else []), amount(queries)]
    rows = table(parts, ["mediator", "share of queries"])
    shown = [re.findall("<td>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", plan._repr_html_())[1:]]
    notebook = {name: cells for name, *cells in shown}
    assert any(0.0 < one["query_share"] < 1.0 for one in data["mediators"])
    for one in data["mediators"]:
        counts = [f"{one['query_share'] * queries:,.1f}" for _, queries in targets.values()]
        share, asked = f"{one['query_share']:.2%}", [amount(one["query_share"] * queries) for _, queries in targets.values()]
        both = [percent(one["query_share"]), *([percent(one["cost_share"])] if priced else [])]
        assert rows[one["mediator"]] == [*both, *asked]
        assert notebook[one["mediator"]] == [*([f"{one['cost']:g}"] if priced else []), share, *counts]
    rows = table(parts, ["arm", "mean"])
    for one in data["arms"]:
        assert rows[one["arm"]] == [rate(one["mean"]), percent(one["pull_share"])]
    rows, (without, _) = table(parts, ["mediator", f"{data['unit']} without it"]), bars(picture(parts, "worth"))
    scale = binary_kl(0.2)
    for one in data["what_if"]["mediators"]:
        changed = [one["T_half_cost"], one["T_twice_cost"]] if rows[one["mediator"]][1] else []
        for cell, value in zip(rows[one["mediator"]], [one["T_without"], *changed], strict=False):
            assert float(cell.replace(",", "")) == pytest.approx(scale * value, rel=0.01)
        assert rows[one["mediator"]][-1] == amount(one["query_worth"])
        assert without[one["mediator"]] == pytest.approx(scale * one["T_without"])


@pytest.fixture
def crowd(monkeypatch: pytest.MonkeyPatch) -> tuple[gb.LogReport, dict[str, list[Any]]]:
    """A log of more arms than a table shows, so that they are sorted there, from mediators who differ."""
    monkeypatch.setattr(log_tables, "TOP", 5)
    rng, K = np.random.default_rng(3), 8
    arms = [f"arm {i}" for i in rng.permutation(K)]
    shares = rng.dirichlet(np.full(K, 0.7), 3)
    e = rng.choice(3, 800, p=[0.5, 0.3, 0.2])
    a = np.array([rng.choice(K, p=shares[i]) for i in e])
    rewards = rng.random(800) < rng.uniform(0.2, 0.7, K)[a]
    log = {"mediator": [f"m{i}" for i in e], "arm": [arms[i] for i in a], "reward": rewards.astype(float).tolist()}
    return gb.analyse_logs(log), log


def test_a_log(crowd: tuple[gb.LogReport, dict[str, list[Any]]]) -> None:
    found, log = crowd
    data, parts = found.to_dict(), log_page.sections(found, ["a table"])
    arms = {one["arm"]: one for one in data["arms"]}
    shown = table(parts, ["arm"])
    assert len(shown) == 5
    assert list(shown) != [one["arm"] for one in data["arms"]][:5], "they are sorted"
    for name, (rows, estimate, _, still) in shown.items():
        assert (rows, estimate) == (f"{arms[name]['pulls']:,}", rate(arms[name]["estimate"]))
        assert (still == "yes") == (name in data["in_play"])
        assert arms[name]["pulls"] == log["arm"].count(name)
    pulled, best = bars(picture(parts, "arms"))
    assert list(pulled) == list(best) == list(shown)
    colours = [{mark.name: mark.colour for mark in picture(parts, name).marks} for name in ("arms", "estimates")]
    assert colours[0] == colours[1], "an arm has one colour on a page"
    policies = {(one["mediator"], one["arm"]): one["share"] for one in data["policies"]}
    omega = dict(zip(data["mediators"], data["omega"], strict=True))
    for name in shown:
        assert pulled[name] == pytest.approx(arms[name]["pulls"] / data["rows"])
        assert best[name] == pytest.approx(sum(omega[m] * policies.get((m, name), 0.0) for m in omega))
    acted, asked = bars(picture(parts, "mediators"))
    assert asked == pytest.approx(omega)
    assert acted == pytest.approx(dict(zip(data["mediators"], data["mixture"], strict=True)))
    for mark in picture(parts, "estimates").marks:
        assert (mark.value, mark.low, mark.high) == tuple(arms[mark.name][key] for key in ("estimate", "low", "high"))
        assert mark.colour == f"c{data['arms'].index(arms[mark.name])}"


def test_the_csv_of_a_log(crowd: tuple[gb.LogReport, dict[str, list[Any]]]) -> None:
    found, stream = crowd[0], io.StringIO()
    data = found.to_dict()
    found.to_csv(stream)
    lines = list(csv.DictReader(io.StringIO(stream.getvalue())))
    cells = {(line["mediator"], line["arm"]): line for line in lines}
    assert len(cells) == len(lines) == len(data["arms"]) + len(data["policies"])

    def shows(key: tuple[str, str], **values: float) -> None:
        assert {name: float(cells[key][name]) for name in values} == values, key

    for one in data["arms"]:
        means = {"mean": one["estimate"], "mean_low": one["low"], "mean_high": one["high"]}
        shows(("", one["arm"]), rows=one["pulls"], share=one["pulls"] / data["rows"], **means)
        assert (cells["", one["arm"]]["in_play"] == "yes") == (one["arm"] in data["in_play"])
    for one in data["policies"]:
        shows((one["mediator"], one["arm"]), rows=one["rows"], share=one["share"], share_low=one["low"], share_high=one["high"])
    for one in data["means"]:
        shows((one["mediator"], one["arm"]), mean=one["mean"], mean_low=one["low"], mean_high=one["high"])
    for group in data["advice"]:
        for name in group["mediators"]:
            shows((name, data["arms"][0]["arm"]), ask=group["share"], agree=group["agree"])
