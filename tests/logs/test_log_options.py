"""How a log is to be read: one value, the same words for every function, checked once."""

from dataclasses import fields
from inspect import get_annotations

import pytest
from log_tables import POLICIES, table

import gobetween as gb
from gobetween.core.question.question import Question
from gobetween.logs.reading.columns import Columns
from gobetween.logs.reading.options import LogKeywords, LogOptions


def test_keywords_are_the_fields() -> None:
    assert get_annotations(LogKeywords) | {"family": gb.Family, "question": Question} == {
        field.name: field.type for field in fields(LogOptions)
    }
    assert gb.analyse_logs(table(5), family="bernoulli").family == "bernoulli"
    with pytest.raises(gb.ProblemError, match="takes no 'famly': did you mean family"):
        gb.analyse_logs(table(5), famly=gb.Bernoulli())  # type: ignore[call-arg]


def test_a_column_of_mediators_is_optional_unless_it_was_asked_for() -> None:
    assert LogOptions().columns == Columns("mediator", explicit=False)
    assert LogOptions(mediator="clinic", arm="a", reward="r", order="o").columns == Columns(
        "clinic", "a", "r", "o", explicit=True
    )
    assert LogOptions(arms=["a"], declared={"m": [1.0]}).columns.explicit


@pytest.mark.parametrize("use", [gb.analyse_logs, gb.replay_logs])
def test_analysis_and_replay_refuse_alike(use: type[object]) -> None:
    rows = list(POLICIES)
    for sources, options, message in (
        ((), {}, "name at least one log"),
        (("examples/log.csv", "./examples/log.csv"), {}, "log.csv is named twice: its rows would count twice"),
        ((table(5),), {"delta": 0.0}, "between 0 and 1"),
        ((table(5),), {"declared": {"m0": rows[0]}}, "declared policies need the names of the arms"),
        ((table(5),), {"arms": ["a", "b"], "declared": {"m0": rows[0]}}, r"declared\['m0'\]: .* needs 2 probabilities.*not 3"),
        (
            (table(5),),
            {"arms": [*"abc"], "declared": {"m0": [0.9, 0.9, 0]}},
            r"declared\['m0'\] .*sums to 1.8: it must sum to at",
        ),
        (
            (table(5),),
            {"arms": [*"abc"], "declared": {"m0": [1.2, 0, 0]}},
            r"declared\['m0'\] = 1.2 \(mediator 'm0', arm 'a'\)",
        ),
        ((table(5),), {"arms": [*"abc"], "declared": {"m0": ["x", 0, 1]}}, r"declared\['m0'\]: .* needs 3 probabilities"),
        ((table(5),), {"arms": [*"abc"], "declared": {"m0": [0.5, None, 0]}}, "a probability of 'a' and none of 'b'"),
        ((table(20),), {"arms": ["a", "b"]}, "arm 'c' is not known"),
        ((table(20),), {"reward": "paid"}, "has no column 'paid'"),
        (({"arm": [], "reward": []},), {}, "the log holds no row that can be used"),
    ):
        with pytest.raises(gb.GoBetweenError, match=message):
            use(*sources, **options)
