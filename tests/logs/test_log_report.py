"""What a log says, in every form: one line, a table for notebooks, JSON, a data frame, a page."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from log_tables import table, write_csv

import gobetween as gb
from gobetween.words.logs import sentences


def certain() -> gb.LogReport:
    return gb.analyse_logs(table(300, means=(0.9, 0.3, 0.3)))


def test_the_answer_in_one_line() -> None:
    found = certain()
    assert found.claim is not None
    assert repr(found) == f"<LogReport: the best arm is 'a', certain since row {found.claim.row} of 300, δ = 0.05>"
    found = gb.analyse_logs(table(60, seed=1, means=(0.6, 0.5, 0.5)))
    assert repr(found) == f"<LogReport: {found.leader!r} leads after 60 rows, not certain, δ = 0.05, p = {found.p_value:.2g}>"


def test_tables_that_are_read_once_have_no_first_claim_in_parallel() -> None:
    log = table(300, means=(0.9, 0.3, 0.3))
    with ThreadPoolExecutor(1) as executor:
        once, again = (gb.analyse_logs(source, executor=executor) for source in (iter([log]), log))
    assert repr(once) == "<LogReport: the best arm is 'a', certain after 300 rows, δ = 0.05>"
    assert (once.ordered, once.claim, once.headline) == (False, None, again.headline)
    assert any("were not looked for" in line for line in sentences(once))
    assert repr(again) == repr(certain())


def test_a_lone_arm_is_never_certain() -> None:
    found = gb.analyse_logs({"arm": ["a"] * 500, "reward": [1] * 500})
    assert (found.leader, found.identified, found.statistic, found.p_value) == ("a", False, 0.0, 1.0)
    assert (found.in_play, found.omega, found.trail) == (("a",), None, ())


def test_a_notebook_shows_a_table_and_no_markup_of_names() -> None:
    shown = gb.analyse_logs({"arm": ["<b>", "c"], "reward": [1, 0]}, arms=["<b>", "c", "d"])._repr_html_()
    assert "<b>" not in shown
    assert "<td>&lt;b&gt;</td><td>1</td><td>1</td>" in shown
    assert "<td>d</td><td>0</td><td></td><td>0</td><td>1</td>" in shown


def test_json_knows_no_infinite_numbers() -> None:
    data = gb.analyse_logs({"arm": ["a", "b"], "reward": [1, 0]}, arms=["a", "b", "c"]).to_dict()
    json.dumps(data, allow_nan=False)
    assert (data["rows_to_go"], data["never_pulled"]) == (None, ["c"])
    assert not {"N_ea", "trail", "sources"} & set(data)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_arms_as_a_frame(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if library == "polars":
        monkeypatch.setitem(sys.modules, "pandas", None)
    found = certain()
    frame: Any = found.to_frame()
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == ["arm", "pulls", "estimate", "low", "high"]
    assert frame["pulls"].to_list() == [arm.pulls for arm in found.arms]


def test_a_page(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "x.csv", table(300, means=(0.9, 0.3, 0.3)))
    found = gb.analyse_logs(path, table(10, seed=1))
    assert found.sources == (str(path), "table")
    page = found.report(tmp_path / "page")
    assert page == tmp_path / "page" / "report.html"
    text = page.read_text(encoding="utf-8")
    assert f"{path}, table</td>" in text
    assert "already certain at row" in text
