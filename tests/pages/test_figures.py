"""Figures say what their axes are, tell series apart without colour, and show names as they are."""

import builtins
import math
from pathlib import Path
from typing import Any

import pytest
from parts import browser_page

import gobetween as gb
from gobetween.core.verdict.evidence_report import ArmReport
from gobetween.pages import figures
from gobetween.pages.blocks import Grid, Picture, Section, Text
from gobetween.pages.html import render, write_report
from gobetween.paper.trace import follow

HOSTILE = "</script><script>alert(1)</script><b>bold</b> =cmd() é"
PROBLEM = gb.Problem(
    [1.0, 0.0], [[0.5, 0.5], [0.1, 0.9]], arms=["a", HOSTILE], mediators=[HOSTILE, "m"], family=gb.Gaussian(1.0)
)


def drawn() -> dict[str, Any]:
    runs = gb.simulate(PROBLEM, deltas=[0.4, 0.1], runs=10, workers=1, max_steps=300)
    trace = follow(PROBLEM, delta=0.3, max_steps=300)
    bound = gb.lower_bound(PROBLEM)
    reports = [*trace.arms, ArmReport("unseen", 0, None, -math.inf, math.inf), ArmReport("once", 1, 0.5, -math.inf, 2.0)]
    return {
        "times": figures.stopping_times({HOSTILE: runs, "b": runs}, {"": [1.0, 2.0]}, HOSTILE),
        "ratio": figures.ratio_to_bound({HOSTILE: ([0.4, 0.1], [10.0, 20.0])}, bound.T_star, "ratio"),
        "evidence": figures.evidence(trace, "evidence"),
        "mediators": figures.mediator_shares(PROBLEM.mediators, [0.5, 0.5], bound.omega),
        "arms": figures.arm_shares(PROBLEM.arms, [0.5, 0.5], PROBLEM.policies.T @ bound.omega),
        "estimates": figures.estimates(reports),
        "worth": figures.mediator_worths(PROBLEM.mediators, [20.0, math.inf], bound.T_star, "queries"),
        "risks": figures.cost_by_risk({"as guessed": 8.0, HOSTILE: 32.0}, [0.1, 0.01], "queries"),
        "price": figures.mediation_price([0.0, 1.0], [0.0, 1.0], [[1.0, 2.0], [1.0, 3.0]], "x", "y"),
    }


def test_axes_are_named_and_series_differ_without_colour() -> None:
    for name, figure in drawn().items():
        assert figure.layout.xaxis.title.text, name
        assert figure.layout.yaxis.title.text, name
        looks = [
            str(
                (
                    t.type,
                    getattr(t, "line", None) and t.line.dash,
                    t.mode if t.type == "scatter" else t.marker and t.marker.pattern,
                )
            )
            for t in figure.data
            if t.type in ("scatter", "bar") and t.showlegend is not False
        ]
        assert len(set(looks)) == len(looks) or name == "evidence", name


def test_hostile_names_are_shown_not_run(tmp_path: Path) -> None:
    pictures = [Picture(name, figure, HOSTILE) for name, figure in drawn().items()]
    sections = [Section(HOSTILE, [Text(HOSTILE, "lead"), Grid([HOSTILE, "n"], [[HOSTILE, HOSTILE]]), *pictures])]
    path = write_report(tmp_path, HOSTILE, sections)
    with browser_page() as page:
        alerts: list[str] = []
        page.on("dialog", lambda dialog: alerts.append(dialog.message))
        page.goto(path.as_uri())
        page.wait_for_function("document.querySelectorAll('.plotly .main-svg').length >= 9")
        assert alerts == []
        assert page.complaints == []
        assert page.locator("h1").inner_text() == HOSTILE
        assert page.locator("td").first.inner_text() == HOSTILE
        assert page.locator("b").count() == 0
        assert "</script><script>alert(1)" in page.locator("#figure-mediators .yaxislayer-above").text_content()


def test_a_page_without_figures_needs_no_plotly() -> None:
    page = render("t", [Section("s", [Text("words")])])
    assert len(page) < 20_000
    assert "<script" not in page


def test_a_missing_extra_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("plotly"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(gb.GoBetweenError, match=r"figures need plotly: pip install 'gobetween\[plots\]'"):
        figures.estimates([])
