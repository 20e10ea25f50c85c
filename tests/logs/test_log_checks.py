"""Rows that cannot be used, and orders that do not rise."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from log_tables import table, write_csv, write_jsonl, write_parquet

import gobetween as gb
from gobetween.logs.reading.counts import BadLogError
from gobetween.words.logs import sentences


def test_bad_rows_are_counted_and_listed(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(
        "mediator,arm,reward\nm0,a,1\nm0,a,x\nm0,,1\n,b,0\nm0,b,0.5\nm0,b\nm1,b,0\nm1,a,\nm1,a,nan\nm1,a,1e999\nm1,c,0\nm1,c,0,7\nm1,a,1"
    )
    with pytest.raises(BadLogError) as caught:
        gb.analyse_logs(path)
    listed = [(row.row, row.reason) for row in caught.value.bad]
    assert [number for number, _ in sorted(listed)] == [2, 3, 4, 5, 6, 8, 9, 10, 12]
    reasons = dict(listed)
    assert reasons[2] == "its reward 'x' is not a number"
    assert reasons[8] == reasons[9] == "its reward is missing"
    assert (reasons[3], reasons[4]) == ("has no arm", "has no mediator")
    assert reasons[5] == "reward 0.5 is not possible: a bernoulli reward is 0 or 1 (the default family: name another)"
    assert reasons[6] == "has 2 cells, the header 3"
    assert "9 rows cannot be used" in str(caught.value)
    assert f"{path} rows 8, 9: its reward is missing" in str(caught.value)
    found = gb.analyse_logs(path, skip_bad=True)
    assert (found.rows, found.bad_count) == (4, 9)


@pytest.mark.parametrize(
    "family",
    [
        *(gb.Gaussian(1.0), gb.Bernoulli(), gb.Poisson(), gb.Exponential(), gb.Bounded(0.0, 5.0)),
        *(gb.Gamma(2.0), gb.Binomial(3), gb.Geometric(), gb.NegativeBinomial(1.5)),
    ],
)
def test_rewards_are_judged_alike_one_by_one_and_together(family: Any) -> None:
    rewards = np.array([0.0, 1.0, 0.5, -1.0, 2.0, 7.0, np.nan, np.inf, 1e49, 1e-30, 1e-60])
    assert family.pays(rewards).tolist() == [bool(family.pays(float(x))) for x in rewards]


def test_an_order_that_does_not_rise_is_said() -> None:
    columns = table(100)
    assert gb.analyse_logs(columns, order="at").disorder is None
    columns["at"][40] = 3
    found = gb.analyse_logs(columns, order="at")
    assert found.disorder is not None
    assert found.disorder.row == 41
    assert "(table row 41 comes before the row above it), so the row" in " ".join(sentences(found))


@pytest.mark.parametrize("spelled", [float, "{:05d}".format])
def test_a_row_that_comes_before_those_of_the_table_above_it_is_said(spelled: Callable[[int], Any]) -> None:
    columns = table(100)
    parts = [{key: values[i : i + 50] for key, values in columns.items()} for i in (0, 50)]
    for first, row in ((50, None), (49, None), (48, 51)):  # of the second table, after 49 in the last row of the first
        for part, start in zip(parts, (0, first), strict=True):
            part["at"] = [spelled(start + i) for i in range(50)]
        found = gb.analyse_logs(iter(parts), order="at").disorder
        assert (found and found.row) == row


@pytest.mark.parametrize(("days", "hint"), [(["2026-11-15", "2026-11-14"], False), (["15 Nov", "14 Nov"], True)])
def test_texts_that_are_no_dates_are_said_to_be_texts(days: list[str], hint: bool) -> None:
    found = gb.analyse_logs({"arm": ["a", "b"], "reward": [1, 0], "day": days}, order="day")
    assert found.disorder is not None
    assert ("compared as texts" in found.disorder.reason) == hint


def test_words_that_are_no_rewards_are_said_to_be_none() -> None:
    with pytest.raises(BadLogError, match=r"'Admitted' is not a number \(of words only yes and no, true and false are read"):
        gb.analyse_logs({"arm": ["a", "b"], "reward": ["Admitted", "Rejected"]})


def test_rows_that_are_left_out_for_what_they_paid_are_a_selection() -> None:
    log = {"arm": ["a", "b"] * 20, "reward": [0, 1] * 15 + [17, -3] * 5}
    found = gb.analyse_logs(log, skip_bad=True)
    assert found.notes[0] == (
        "10 rows were left out for rewards that are impossible in the bernoulli family: rows chosen by their rewards "
        "break the guarantee. Is the family right?"
    )
    assert not gb.analyse_logs(log, family=gb.Gaussian(10.0)).notes


@pytest.mark.parametrize("values", [["09:00:00", "10:00:00", "09:30:00"], ["5", "", "3"], ["9", "", "10", "2"]])
def test_odd_orders(tmp_path: Path, values: list[str]) -> None:
    n = len(values)
    path = write_csv(tmp_path / "x.csv", {"arm": ["a", "b", "a", "b"][:n], "reward": [1, 0, 1, 0][:n], "at": values})
    found = gb.analyse_logs(path, order="at").disorder
    assert found is not None
    assert found.row == n


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "memory"])
def test_dates_are_an_order_too(tmp_path: Path, kind: str) -> None:
    columns = table(60)
    columns["at"] = [f"2026-{1 + i // 28:02d}-{1 + i % 28:02d}" for i in range(60)]
    writers = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}

    def log() -> Any:
        return columns if kind == "memory" else writers[kind](tmp_path / f"x.{kind}", columns)

    assert gb.analyse_logs(log(), order="at").disorder is None
    columns["at"][30] = "2026-01-01"
    found = gb.analyse_logs(log(), order="at").disorder
    assert found is not None
    assert found.row == 31
