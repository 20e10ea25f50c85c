"""What a log says: what is missing, and the report in every form."""

from pathlib import Path

import pytest
from log_tables import POLICIES, table

import gobetween as gb


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
        truth = POLICIES[int(mediator[1]), "abc".index(arm)]
        assert cell["low"] <= truth <= cell["high"]


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
