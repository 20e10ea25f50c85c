"""What a log says: what is missing, and the report in every form."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from log_tables import POLICIES, table
from naive import transport

import gobetween as gb
from gobetween.logs.analysis.breakdown import mean_cells


def test_what_is_missing_is_said() -> None:
    found = gb.analyse_logs(table(60, seed=1, means=(0.6, 0.5, 0.5)))
    assert not found.identified
    assert found.claim is None
    assert set(found.in_play) == {"a", "b", "c"}
    assert 0.05 < found.p_value <= 1.0
    assert 0 < found.queries_to_go <= found.rows_to_go * (1 + 1e-6)  # choosing whom to ask cannot be worse
    assert found.omega is not None
    assert sum(found.omega) == pytest.approx(1.0)
    shares = {(cell["mediator"], cell["arm"]): cell for cell in found.policies()}
    for (mediator, arm), cell in shares.items():
        truth = POLICIES[int(mediator[1]), "abc".index(arm or "")]
        assert cell["low"] <= truth <= cell["high"]


def test_the_intervals_of_all_cells_hold_together() -> None:
    """Each is that of a log with this cell alone, at its share of the risk."""
    found = gb.analyse_logs(table(400, seed=2), delta=0.1)
    E, K = found.N_ea.shape
    for cell in found.means():
        n, paid = cell["rows"], float(round(cell["rows"] * cell["mean"]))
        (own,) = mean_cells(found.law, ["m"], ["a"], np.array([[n]]), np.array([[paid]]), 0.1 / (E * K), np.array([[0, 0]]))
        assert (cell["low"], cell["high"]) == pytest.approx((own["low"], own["high"]), rel=1e-6)
        assert own["low"] < own["mean"] < own["high"]


def test_other_mistakes(tmp_path: Path) -> None:
    for sources, options, message in (
        ((), {}, "name at least one log"),
        ((tmp_path / "none.csv",), {}, "none.csv: no such file"),
        ((table(5),), {"mediator": "clinic"}, "has no column 'clinic'"),
        ((table(5),), {"delta": 2.0}, "between 0 and 1"),
        ((3,), {}, "a log is a path, a table or an iterable of tables, not int"),
        ((table(5),), {"declared": {"m0": [1.0]}}, "declared policies need the names of the arms"),
        ((table(20),), {"arms": ["a", "b"]}, "arm 'c' is not known"),
    ):
        with pytest.raises(gb.GoBetweenError, match=message):
            gb.analyse_logs(*sources, **options)


def test_who_is_out_of_play_was_excluded() -> None:
    """Against each rival by itself: only those of whom the leader is not yet certain may still be the best."""
    plenty: dict[str, list[Any]] = {
        "arm": ["a", "b", "c"] * 60,
        "reward": [1, 1, 0] * 30 + [0, 1, 0] * 5 + [1, 0, 0] * 5 + [1, 1, 0] * 20,
    }
    found = gb.analyse_logs(plenty, family=gb.Bernoulli())
    assert not found.identified
    assert found.in_play == ("a", "b")
    by_itself = {key: [v for v, arm in zip(plenty[key], plenty["arm"], strict=True) if arm != "b"] for key in plenty}
    assert gb.analyse_logs(by_itself, family=gb.Bernoulli()).in_play == ("a",)


def test_rows_to_go_are_of_the_same_mixture_as_the_log() -> None:
    """What is lacking, at the evidence per row of the log's own shares: more rows than queries of the right mediators."""
    columns: dict[str, list[Any]] = {"mediator": [], "arm": [], "reward": []}
    for mediator, arm, n, paid in (("m", "a", 6, 4), ("m", "b", 90, 45), ("n", "a", 4, 3), ("n", "b", 4, 2)):
        columns["mediator"] += [mediator] * n
        columns["arm"] += [arm] * n
        columns["reward"] += [1] * paid + [0] * (n - paid)
    found = gb.analyse_logs(columns, family=gb.Bernoulli())
    rate = float(transport(gb.Bernoulli(), 0.7, 0.5, 10 / 104, 94 / 104))
    assert found.rows_to_go == pytest.approx((found.threshold - found.statistic) / rate, rel=1e-9)
    problem = gb.Problem([0.7, 47 / 94], [[6 / 96, 90 / 96], [0.5, 0.5]], family="bernoulli")
    lack = found.threshold - found.statistic
    assert found.queries_to_go == pytest.approx(lack * gb.lower_bound(problem).T_star, rel=1e-5)
    assert found.queries_to_go < 0.6 * found.rows_to_go
