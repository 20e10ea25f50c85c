"""Rules side by side: paired differences with honest intervals, a results file as one value, the page of an experiment."""

import csv
import json
import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from parts import browser_page
from test_experiment import GRID, OTHER, exported, run

import gobetween as gb
from gobetween.pages.comparison import comparison_sections, sections
from gobetween.pages.drawing import drawn
from gobetween.pages.figures import rule_comparison
from gobetween.simulation.comparison import contrast, paired
from gobetween.simulation.results import load_results

HOSTILE = "</script><script>alert(1)</script> =cmd()"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "grid.toml").write_text(GRID, encoding="utf-8")
    (folder / "other.toml").write_text(OTHER, encoding="utf-8")
    done = run("experiment", folder / "grid.toml", "--out", folder / "r.sqlite", "--report", folder / "page")
    assert done.returncode == 0, done.stderr
    (folder / "printed").write_text(done.stdout, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def results(made: Path) -> gb.Results:
    return gb.load_results(made / "r.sqlite")


def test_a_contrast_by_hand() -> None:
    ours, theirs = np.array([3, 5, 4, 8]), np.array([1, 2, 3, 4])
    found = contrast(ours, theirs)
    assert (found.mean, found.baseline, found.difference, found.ratio) == (5.0, 2.5, 2.5, 2.0)
    spread = math.sqrt((0.25 + 0.25 + 2.25 + 2.25) / 3 / 4)
    assert found.half_width == pytest.approx(3.182446305 * spread)  # Student's t with 3 degrees of freedom
    rest = ours - 2.0 * theirs
    assert found.ratio_half_width == pytest.approx(3.182446305 * math.sqrt(rest @ rest / 3 / 4) / 2.5)
    assert contrast(ours[:1], theirs[:1]).half_width == math.inf


def test_intervals_hold_the_truth() -> None:
    rng, hits = np.random.default_rng(0), 0
    for _ in range(1000):
        shared = rng.normal(size=240)
        ours, theirs = shared + rng.normal(size=240), shared + rng.normal(size=240)
        found = contrast(100 + ours, 100 + theirs)
        hits += abs(found.difference) <= found.half_width
    assert 0.93 <= hits / 1000 <= 0.97


def test_a_results_file_is_one_value(results: gb.Results, made: Path) -> None:
    assert repr(results) == "Results('grid', 8 cells, 20 runs of each)"
    assert results.cells[0].name == ("one", "tracking", "e-process")
    experiment = gb.read_experiment(made / "grid.toml")
    for cell, held in zip(experiment.cells, results.cells, strict=True):
        problem, again = cell.job.problem, held.runs.problem
        assert again is not None
        for name in ("means", "policies", "costs", "query_costs", "arms", "mediators", "family", "silent"):
            assert np.all(getattr(problem, name) == getattr(again, name)), name
    job = experiment.cells[1].job
    runs = results.runs("one", "tracking", "mine")
    again_run = gb.simulate(job.problem, job.sampling, job.stopping, [0.4, 0.1], 20, seed=5, max_steps=60)
    for name in ("tau", "correct", "censored", "N_e", "N_a"):
        assert (getattr(runs, name) == getattr(again_run, name)).all()
    assert results.summary()["one", "tracking", "mine"] == again_run.summary()
    assert results.runs(problem="two", sampling="uniform", stopping="mine") is results.cells[-1].runs
    with pytest.raises(
        gb.ResultsError, match="2 cells have these names: name one of one, uniform, e-process; one, uniform, mine"
    ):
        results.runs("one", "uniform")
    with pytest.raises(gb.ResultsError, match="0 cells have these names: name one of one, tracking, e-process; one, "):
        results.runs("three")


def test_its_frame_has_the_rows_of_the_export(results: gb.Results, made: Path) -> None:
    frame = results.to_frame()
    rows = list(csv.reader(exported(made / "r.sqlite").splitlines()))
    assert list(frame) == rows[0]
    order = frame.sort_values("delta", ascending=False, kind="stable")
    mine = {(r.problem, r.sampling, r.stopping, r.run, r.delta): (r.tau, r.N_e) for r in order.itertuples()}
    assert len(mine) == len(rows) - 1
    for problem, sampling, stopping, number, delta, tau, _, _, N_e, _ in rows[1:]:
        assert mine[problem, sampling, stopping, int(number), float(delta)] == (int(tau), json.loads(N_e))


def test_every_rule_against_the_first(results: gb.Results) -> None:
    comparison = results.compare()
    assert comparison.baseline == ("tracking", "e-process")
    assert repr(comparison) == "Comparison(12 differences from tracking, e-process)"
    assert comparison.problems == ("one", "two")
    row = next(row for row in comparison.differences if row.sampling == "uniform" and row.stopping == "mine")
    ours, base = results.runs("one", "uniform", "mine"), results.runs("one", "tracking", "e-process")
    assert (row.problem, row.delta, row.runs) == ("one", 0.4, 20)
    assert row.queries.difference == pytest.approx(ours.tau[:, 0].mean() - base.tau[:, 0].mean())
    assert row.cost.mean == pytest.approx((ours.N_e[:, 0] @ [1.0, 2.0]).mean())
    assert row.queries.half_width > 0.0
    assert row.censored == int((ours.censored | base.censored)[:, 0].sum())
    other = results.compare(("uniform", "mine"))
    back = next(row for row in other.differences if (row.sampling, row.stopping) == ("tracking", "e-process"))
    assert back.queries.difference == -row.queries.difference
    assert back.queries.ratio == pytest.approx(1.0 / row.queries.ratio)
    with pytest.raises(
        gb.ResultsError, match="no cell has the rules 'uniform, theirs': choose one of 'tracking, e-process', 'tracking, m"
    ):
        results.compare(("uniform", "theirs"))
    frame = comparison.to_frame()
    assert frame.queries_ratio.tolist() == [row.queries.ratio for row in comparison.differences]
    assert json.loads(json.dumps(comparison.to_dict(), allow_nan=False))["baseline"]["sampling"] == "tracking"


def test_runs_that_do_not_fit_are_not_compared(results: gb.Results) -> None:
    runs, few = results.cells[0].runs, gb.simulate(results.cells[0].runs.played, deltas=0.4, runs=2, workers=1, max_steps=60)
    with pytest.raises(gb.ProblemError, match="the same risks and the same number of runs"):
        paired("one", few, runs)


def test_notebooks_show_names_as_they_are(results: gb.Results) -> None:
    assert "<th>rules</th><th>delta</th>" in results._repr_html_()
    page = results.compare()._repr_html_()
    assert "<td>one</td><td>tracking, mine</td><td>0.4</td>" in page
    assert page.count("<tr>") == 13
    assert "<th>problem</th>" not in results.compare().on("two")._repr_html_()
    assert "<th>cost</th>" not in results.compare().on("two")._repr_html_()


def test_an_interrupted_experiment_is_compared_on_the_runs_that_both_have(made: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.sqlite"
    cut.write_bytes((made / "r.sqlite").read_bytes())
    with sqlite3.connect(cut) as database:
        database.execute("DELETE FROM rows WHERE cell = 1 AND run < 8")
        database.execute("DELETE FROM chunks WHERE cell = 1 AND chunk = 0")
        database.execute("DELETE FROM rows WHERE cell IN (2, 4)")
        database.execute("DELETE FROM chunks WHERE cell IN (2, 4)")
    database.close()
    results, whole = load_results(cut), load_results(made / "r.sqlite")
    assert repr(results) == "Results('grid', 6 cells, 12 to 20 runs of each)"
    assert results.cells[1].numbers.tolist() == list(range(8, 20))
    comparison = results.compare()
    assert comparison.problems == ("one",)  # the other problem's baseline is not there
    row = comparison.differences[0]
    ours, base = whole.runs("one", "tracking", "mine").tau, whole.runs("one", "tracking", "e-process").tau
    assert (row.stopping, row.runs) == ("mine", 12)
    assert row.queries.difference == pytest.approx((ours - base)[8:, 0].mean())
    assert results.to_frame().run.min() == 0
    with sqlite3.connect(cut) as database:
        database.execute("DELETE FROM rows")
        database.execute("DELETE FROM chunks")
    database.close()
    assert repr(load_results(cut)) == "Results('grid', 0 cells, 0 runs of each)"
    with pytest.raises(gb.ResultsError, match="no run is finished: run the experiment first"):
        load_results(cut).compare()


def test_the_terminal_and_json_show_the_comparison(made: Path) -> None:
    printed = (made / "printed").read_text(encoding="utf-8")
    assert "one: against tracking, e-process" in printed
    assert "two: against tracking, e-process" in printed
    assert f"The report is {made}/page/report.html" in printed.replace("\n", "")
    data = json.loads(run("experiment", "run", made / "grid.toml", "--out", made / "r.sqlite", "--json").stdout)
    found = data["comparison"]
    assert found["baseline"] == {"sampling": "tracking", "stopping": "e-process"}
    assert list(found["differences"][0]) == ["problem", "sampling", "stopping", "delta", "runs", "queries", "cost", "censored"]
    assert list(found["differences"][0]["cost"]) == [
        "mean",
        "baseline",
        "difference",
        "half_width",
        "ratio",
        "ratio_half_width",
    ]


def test_the_page_of_an_experiment_opens(made: Path) -> None:
    assert [path.name for path in (made / "page").iterdir()] == ["report.html"]
    with browser_page() as page:
        page.goto((made / "page" / "report.html").as_uri())
        shown = page.eval_on_selector_all("figure", "figures => figures.map(figure => figure.id)")
        assert {name.removeprefix("figure-") for name in shown} == {"times-1", "times-2", "ratios-1", "ratios-2"}
        assert page.locator(".headline h2").inner_text().startswith("Least cost: tracking, e-process")
        assert page.locator("table").count() == 3
        assert page.locator("#figure-ratios-1 circle").count() > 3
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_the_figure_tells_risks_apart_and_shows_names_as_they_are(results: gb.Results) -> None:
    figure = rule_comparison(results.compare(), HOSTILE)
    assert [mark.note for mark in figure.marks[:2]] == ["δ = 40%", "δ = 10%"]
    assert len({mark.colour for mark in figure.marks}) == 2
    assert figure.axis.name.endswith("tracking, e-process")
    assert figure.marks[0].name == "one: tracking, mine"
    (axes,) = results.compare().on("two").plot().axes
    assert axes.get_yticklabels()[0].get_text() == "tracking, mine (δ = 40%)"
    (axes,) = results.plot().axes
    assert len(axes.get_yticklabels()) == 2 * len(results.cells)
    assert "<script>" not in drawn(figure)
    assert [section.title for section in comparison_sections(results.compare())] == [
        "one: against tracking, e-process",
        "two: against tracking, e-process",
        "",
    ]


def test_each_mark_of_the_figure_is_a_ratio_with_its_interval(results: gb.Results) -> None:
    comparison = results.compare()
    shown = {(mark.name, mark.note): (mark.value, mark.low, mark.high) for mark in rule_comparison(comparison).marks}
    assert len(shown) == len(comparison.differences)
    for row in comparison.differences:
        of = row.queries
        ends = of.ratio - of.ratio_half_width, of.ratio + of.ratio_half_width
        assert shown[f"{row.problem}: {row.rules}", f"δ = {100 * row.delta:g}%"] == (of.ratio, *ends)


def test_one_cell_alone_has_nothing_to_compare(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(OTHER + "\n", encoding="utf-8")
    gb.run_experiment(tmp_path / "one.toml", tmp_path / "r.sqlite", runs=3)
    results = gb.load_results(tmp_path / "r.sqlite")
    assert results.compare().differences == ()
    assert len(results.compare().to_frame()) == 0
    assert [section.title for section in sections(results)] == ["", "", "Every cell"]
    assert results.runs() is results.cells[0].runs


def test_a_report_that_cannot_be_written_is_refused_before_the_work(made: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("experiment", made / "grid.toml", "--out", tmp_path / "r.sqlite", "--report", tmp_path / "file" / "x")
    assert done.returncode == 2
    assert "--report" in done.stderr
    assert "cannot be made" in done.stderr
    assert not (tmp_path / "r.sqlite").exists()
