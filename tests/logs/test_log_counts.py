"""Sufficient statistics: they add up, whoever counted them, and remember what could not be counted."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from log_tables import count_logs, table, write_csv

import gobetween as gb
from gobetween.logs.reading.counts import LISTED, BadLogError, BadRow, LogStats, merge
from gobetween.logs.reading.options import LogOptions
from gobetween.logs.reading.reading import Reading, count_one
from gobetween.words.fixes import PYTHON, SHELL


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


def rows_of_all_kinds(rows: int, seed: int) -> dict[str, list[Any]]:
    """Good rows, and some without reward, silent, with a word, with what is no reward, of an arm that is not asked about."""
    made, rng = table(rows, seed), np.random.default_rng(seed)
    reward: list[Any] = [str(x) for x in made["reward"]]
    for i, kind in enumerate(rng.integers(0, 8, rows).tolist()):
        if kind < 4:
            reward[i] = ["", "yes", "7", "x"][kind]
        if kind == 4:
            made["arm"][i], reward[i] = "", ""
        if kind == 5:
            made["arm"][i] = "other"
    return made | {"reward": reward, "p": rng.uniform(0.1, 0.9, rows).tolist()}


@pytest.mark.parametrize(
    "more", [{"silence": True}, {"only": ("a", "b")}, {"where": "p < 0.6"}, {"rename": {"a": "A"}}], ids=list
)
def test_all_that_is_kept_of_parts_is_that_of_the_whole(more: dict[str, Any]) -> None:
    """Counted apart, and read as sources that are merged by their order."""
    options = LogOptions(skip_bad=True, propensity="p", **more)
    whole = rows_of_all_kinds(600, 3)
    parts = [{key: values[begin : begin + 200] for key, values in whole.items()} for begin in (0, 200, 400)]
    turns = [{key: values[k::2] for key, values in whole.items()} for k in range(2)]
    merging = Reading(replace(options, order="at"))
    merging.read_all(turns)
    expected = count_logs(options, [whole])
    for found in (merge([count_one(options, part) for part in parts]).in_order(), merging.stats.in_order()):
        assert (found.arms, found.mediators, found.rows) == (expected.arms, expected.mediators, expected.rows)
        for name in ("N_ea", "S_ea", "silent"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
        for name in ("bad_count", "kinds", "missing", "left_out", "words", "renamed", "propensities"):
            assert getattr(found, name) == getattr(expected, name), name
    assert expected.words
    assert expected.missing
    assert expected.bad_count > 50
    assert bool(expected.silent.any()) == ("silence" in more)
    assert (expected.left_out > 0) == bool({"only", "where"} & more.keys())
    assert bool(expected.renamed) == ("rename" in more)


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
    assert str(error) == f"{expected}; {PYTHON['skip-if-unrelated']}"
    assert error.sentence(fixes=SHELL) == f"{expected}; {SHELL['skip-if-unrelated']}"


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
