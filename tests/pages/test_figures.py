"""Figures say what their axes are, tell series apart without colour, show names as they are, and can be saved for papers."""

import builtins
import math
import re
from pathlib import Path
from typing import Any

import pytest
from parts import browser_page

import gobetween as gb
from gobetween.core.verdict.evidence_report import ArmReport
from gobetween.pages import figures
from gobetween.pages.blocks import Grid, Picture, Section, Text
from gobetween.pages.charts import Axis, Chart, Line, Lines, Mark, Rows, arm, other
from gobetween.pages.drawing import drawn
from gobetween.pages.html import render, write_report
from gobetween.pages.paper_figures import draw, tones
from gobetween.paper.trace import follow

HOSTILE = "</script><script>alert(1)</script><b>bold</b> =cmd() é $x$"
PROBLEM = gb.Problem(
    [1.0, 0.0], [[0.5, 0.5], [0.1, 0.9]], arms=["a", HOSTILE], mediators=[HOSTILE, "m"], family=gb.Gaussian(1.0)
)


def charts() -> dict[str, Chart]:
    runs = gb.simulate(PROBLEM, deltas=[0.4, 0.1], runs=10, workers=1, max_steps=300)
    trace = follow(PROBLEM, delta=0.3, max_steps=300)
    bound = gb.lower_bound(PROBLEM)
    reports = [*trace.arms, ArmReport("unseen", 0, None, -math.inf, math.inf), ArmReport("once", 1, 0.5, -math.inf, 2.0)]
    return {
        "times": figures.stopping_times({HOSTILE: runs, "b": runs}, {"": [1.0, 2.0]}, HOSTILE),
        "ratio": figures.ratio_to_bound({HOSTILE: ([0.4, 0.1], [10.0, 20.0]), "b": ([0.1], [9.0])}, bound.T_star, "ratio"),
        "evidence": figures.evidence(trace, "evidence"),
        "trail": figures.evidence_trail([(10, 0.5, 3.0), (20, 4.0, 3.0)]),
        "mediators": figures.mediator_shares(PROBLEM.mediators, [0.5, 0.5], bound.omega),
        "arms": figures.arm_shares(PROBLEM.arms, [0.5, 0.5], PROBLEM.policies.T @ bound.omega),
        "estimates": figures.estimates(reports),
        "worth": figures.mediator_worths(PROBLEM.mediators, [20.0, math.inf], bound.T_star, "queries"),
        "risks": figures.cost_by_risk({"as guessed": 8.0, HOSTILE: 32.0}, [0.1, 0.01], "queries"),
        "price": figures.mediation_price([0.0, 1.0], {"one": [1.0, 2.0], "two": [1.0, 3.0]}, "x"),
        "bound": figures.bound(bound),
    }


def test_axes_are_named_and_series_differ_without_colour() -> None:
    for name, chart in charts().items():
        if isinstance(chart, Rows):
            assert chart.axis.name, name
            assert len({(mark.name, mark.note) for mark in chart.marks}) == len(chart.marks)
        else:
            assert chart.x.name
            assert chart.y.name
            assert len({line.colour for line in chart.lines}) == len(chart.lines), name
    assert [arm(i) for i in (0, 8)] == ["c0", "c0"]
    assert len({other(i) for i in range(6)}) == 6


def test_hostile_names_are_shown_not_run(tmp_path: Path) -> None:
    pictures = [Picture(name, chart, HOSTILE) for name, chart in charts().items()]
    sections = [Section(HOSTILE, [Text(HOSTILE, "lead"), Grid([HOSTILE, "n"], [[HOSTILE, HOSTILE]]), *pictures])]
    path = write_report(tmp_path, HOSTILE, sections)
    with browser_page() as page:
        alerts: list[str] = []
        page.on("dialog", lambda dialog: alerts.append(dialog.message))
        page.goto(path.as_uri())
        assert page.locator("figure svg").count() > 20
        assert alerts == []
        assert page.complaints == []
        assert page.locator("h1").inner_text() == HOSTILE
        assert page.locator("td").first.inner_text() == HOSTILE
        assert page.locator("script, figure b b").count() == 0
        assert page.locator("#figure-mediators .name").first.inner_text() == HOSTILE


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([290.0, 1377.0], ["500", "1,000"]),
        ([3.0], ["2", "5"]),
        ([12.0, 400_000.0], ["100", "1,000", "10,000", "100,000"]),
        ([], ["0.5", "1", "2"]),
    ],
)
def test_log_axes_say_round_numbers_in_full(values: list[float], ticks: list[str]) -> None:
    scale, marks = Axis("x", log=True).fit(values)
    assert [Axis("x").text(mark) for mark in marks] == ticks
    assert all(0.0 <= scale(value) <= 1.0 for value in [*values, *marks])


def test_a_rare_risk_is_named_without_an_exponent() -> None:
    scale, marks = figures.RISK.fit([1.0, 1e-12], 4)
    assert scale(1e-12) > scale(1.0)
    assert [figures.RISK.text(mark) for mark in marks][:2] == ["1 in 1,000,000,000,000", "1 in 100,000,000"]


def test_what_is_not_known_is_drawn_as_far_as_the_axis_goes() -> None:
    """An interval without an end, a row without a value, a cost that is infinite."""
    marks = [Mark("half", 1.0, -math.inf, 2.0), Mark("none", None), Mark("whole", 0.0, 0.0, 4.0)]
    page = drawn(Rows("", Axis("x"), marks))
    assert 'x="0.00%" width="50.00%"' in page
    assert "none: –" in page
    endless = drawn(figures.mediator_worths(["a", "b"], [10.0, math.inf], 5.0, "queries"))
    assert "impossible" in endless
    assert "hatched" in endless
    assert "+100%" in endless


def test_a_page_needs_no_script() -> None:
    page = render("t", [Section("s", [Text("words"), Picture("p", charts()["trail"], "")])])
    assert len(page) < 30_000
    assert "<script" not in page
    assert "http" not in re.sub(r'http-equiv="[^"]*"', "", page)


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_every_figure_can_be_saved_for_a_paper(kind: str, tmp_path: Path) -> None:
    for name, chart in charts().items():
        figure, path = draw(chart), tmp_path / f"{name}.{kind}"
        figure.savefig(path)
        assert path.stat().st_size > 3000, name
        (axes,) = figure.axes
        named = [axes.get_xlabel()] if isinstance(chart, Rows) else [axes.get_xlabel(), axes.get_ylabel()]
        assert named == ([chart.axis.name] if isinstance(chart, Rows) else [chart.x.name, chart.y.name])


def test_papers_have_the_colours_of_pages() -> None:
    assert len(tones()) == 8 + 3
    lines = [Line(str(i), [(0.0, float(i)), (1.0, 1.0)], colour, [(0.0, 1.0)] * 2) for i, colour in enumerate(["c1", "m3"])]
    axes = draw(Lines("t", Axis("x"), Axis("y"), lines, (1.0, "goal"), at=[0.5])).axes[0]
    assert [(line.get_color(), line.get_linestyle()) for line in axes.lines][:2] == [
        (tones()["c1"], "-"), (tones()["m0"], "--")
    ]  # fmt: skip
    assert tones()["c1"] == "#b4540a"  # that of a light page


def test_values_draw_themselves() -> None:
    runs = gb.simulate(PROBLEM, deltas=[0.4, 0.1], runs=5, workers=1, max_steps=300)
    learner = gb.Learner(["a", "b"], {"m": [0.5, 0.5]}, family=gb.Bernoulli(), delta=0.05)
    learner.tell(learner.ask(), arm="a", reward=1)
    for value, names in ((runs, 2), (gb.lower_bound(PROBLEM), 2), (learner, 2)):
        assert len(value.plot().axes[0].get_yticklabels()) == names


def test_a_missing_extra_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(gb.GoBetweenError, match=r"figures need matplotlib: pip install 'gobetween\[plots\]'"):
        draw(figures.estimates([]))
