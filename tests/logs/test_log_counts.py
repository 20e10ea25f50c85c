"""Sufficient statistics: they add up, whoever counted them, and remember what could not be counted."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from log_tables import table, write_csv

import gobetween as gb
from gobetween.logs.counts import LISTED, BadLogError, BadRow, LogStats, merge
from gobetween.logs.options import LogOptions
from gobetween.logs.reading import count_logs, count_one


def test_parts_add_up_to_the_whole() -> None:
    whole, half = table(400), 170
    parts = [{key: values[:half] for key, values in whole.items()}, {key: values[half:] for key, values in whole.items()}]
    expected = count_logs(LogOptions(), [whole])
    for order in (parts, parts[::-1]):
        found = merge([count_one(LogOptions(), part) for part in order]).in_order()
        assert (found.arms, found.mediators, found.rows) == (expected.arms, expected.mediators, 400)
        assert (found.N_ea == expected.N_ea).all()
        assert (found.S_ea == expected.S_ea).all()
    assert expected.tally().N_a.tolist() == [whole["arm"].count(name) for name in "abc"]


def test_counts_in_the_order_of_a_study() -> None:
    stats = count_logs(LogOptions(), [{"mediator": ["m", "n"], "arm": ["b", "a"], "reward": [1, 0]}])
    N_ea, S_ea = stats.aligned(["c", "b", "a"], ["n", "m"])
    assert N_ea.tolist() == [[0, 0, 1], [0, 1, 0]]
    assert S_ea.tolist() == [[0, 0, 0], [0, 1, 0]]
    for arms, mediators, message in ((["a"], ["m", "n"], "has arm 'b'"), (["a", "b"], ["m"], "has mediator 'n'")):
        with pytest.raises(gb.LogError, match=message):
            stats.aligned(arms, mediators)


def test_all_bad_rows_are_counted_and_the_first_are_listed() -> None:
    parts = [LogStats(), LogStats()]
    for part in parts:
        part.refuse(BadRow("x", i, "is odd") for i in range(1, 701))
    whole = merge(parts)
    assert (whole.bad_count, len(whole.bad)) == (1400, LISTED)
    error = BadLogError(whole)
    assert (error.bad_count, len(error.bad)) == (1400, LISTED)
    places = ", ".join(map(str, range(1, 11)))
    expected = f"1,400 rows cannot be used: x rows {places}: is odd; and 1,390 more: 1,390 × is odd"
    assert str(error) == f"{expected}; skip_bad=True leaves them out"
    assert error.sentence(fixes={"skip-bad": "--skip-bad leaves them out"}) == f"{expected}; --skip-bad leaves them out"


def test_a_file_counts_once(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "x.csv", table(30))
    assert np.sum(count_logs(LogOptions(), [path]).N_ea) == 30
    with pytest.raises(gb.LogError, match="is named twice"):
        count_logs(LogOptions(), [path, str(path)])


def test_bad_rows_are_not_lost_by_those_who_count_in_parallel() -> None:
    parts: list[dict[str, list[Any]]] = [{"arm": ["a", "b"] * 20, "reward": [1, 0] * 19 + [1, odd]} for odd in (7, 8)]
    options: dict[str, Any] = {"family": gb.Bernoulli()}
    with ThreadPoolExecutor(2) as executor:
        with pytest.raises(BadLogError, match=r"2 rows cannot be used: table row 40: reward 7 .*; table row 40: reward 8"):
            gb.analyse_logs(*parts, executor=executor, **options)
        found = gb.analyse_logs(*parts, executor=executor, skip_bad=True, **options)
    alone = gb.analyse_logs(*parts, skip_bad=True, **options)
    assert (found.rows, found.bad_count, found.bad) == (alone.rows, alone.bad_count, alone.bad)
    assert (found.rows, found.bad_count, len(found.bad)) == (78, 2, 2)
