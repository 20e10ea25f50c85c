"""The table of queries: each with its times, its cost, how to reach its mediator, and why it was changed."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

from study_parts import Clock, clock, new, store

import gobetween as gb
from gobetween.study.query_export import COLUMNS, csv_blocks, stamp

__all__ = ["clock", "new", "store"]
New = Callable[..., gb.Study]


def test_a_row_says_when_what_it_cost_and_why(new: New, clock: Clock) -> None:
    study = new(
        arms=[{"name": "a"}, {"name": "b"}], mediators=[{"name": "x", "cost": 2.5, "contact": "=x@example.org"}, {"name": "y"}]
    )
    first, second, third = study.ask(3)
    asked = clock.now
    clock.now += 60.0
    study.tell(first, arm="a", reward=1)
    clock.now += 60.0
    study.correct(first, arm="b", reward=0, reason="misread")
    study.cancel(second, reason="closed")
    unasked = study.tell(mediator="y", arm="a", reward=1).query
    rows = list(study.export())
    assert [list(row) and row["reason"] for row in rows] == ["misread", "closed", None, None]
    assert [(row["asked_at"], row["answered_at"]) for row in rows] == [
        (asked, asked + 60.0), (asked, None), (asked, None), (None, asked + 120.0)
    ]  # fmt: skip
    costs = {"x": (2.5, "=x@example.org"), "y": (1.0, "")}
    assert all((row["cost"], row["contact"]) == costs[row["mediator"]] for row in rows)
    assert rows[third.id]["status"] == "open"
    assert rows[unasked or 0]["asked_at"] is None
    text = "".join(text for _, text in csv_blocks(study.export()))
    table = list(csv.DictReader(io.StringIO(text)))
    assert tuple(table[0]) == COLUMNS
    assert table[0]["asked_at"] == stamp(asked)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", table[0]["answered_at"])
    assert (table[1]["answered_at"], table[0]["arm"], table[0]["slot"]) == ("", "b", str(rows[0]["slot"]))
    assert {row["contact"] for row in table if row["mediator"] == "x"} <= {"'=x@example.org"}
    assert stamp(1e300) == f"{1e300:.0f}"


def test_every_column_is_documented() -> None:
    text = (Path(__file__).parent.parent.parent / "docs" / "live.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*) \|", text.split("## The table of queries")[1].split("## ")[0], re.MULTILINE)
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row)] == list(COLUMNS)
