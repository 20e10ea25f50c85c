"""Answers from a CSV file: all or none, known by their keys, refused with the number of their row."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gobetween as gb
from gobetween.study.journal.snapshot import snapshot_of
from gobetween.study.study import Study


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty: its first line must name the columns, of query, mediator, arm, reward, silent, key"),
        (b"query,arm,rewrad\n", r"column 'rewrad' is not known: did you mean reward\? Choose one of query, mediator"),
        (b"arm,arm\n", "column 'arm' is there twice"),
        (b"query,arm,reward\n0,a\n", "row 1: has 2 cells, the first line 3"),
        (b"query,arm,reward\n0,a,1\n\nx,a,1\n", "row 3: query 'x' is not a whole number"),
        (b"query,arm,reward\n0,a,much\n", "row 1: reward 'much' is not a number"),
        (b"query,arm,reward\n0,a,nan\n", "row 1: reward nan is not possible: a bernoulli reward is 0 or 1"),
        (b"query,silent\n0,perhaps\n", "row 1: silent 'perhaps': write yes or no"),
        (b"arm,reward\na,1\n", "row 1: name the query that is answered, or the mediator"),
        (b"query,arm,reward\n0,a,1\n9,a,1\n", "row 2: query 9 was never asked"),
        (b"query,arm,reward,key\n0,a,1,k\n1,a,1,k\n", "row 2: its key 'k' is also that of .* row 1"),
        (b"query,arm,reward,key\n0,a,1,used\n", "row 1: key 'used' was used before for something else"),
        (b"mediator,arm,reward\nz,a,1\n", "row 1: 'z' said the same 0 s ago .*pass again=True"),
        (b"query,arm,reward\n0,\xff,1\n", "is not UTF-8"),
        (b'query,arm,reward\n0,"a,1\n', "is not CSV"),
    ],
)
def test_bad_files_change_nothing(new: Callable[..., Study], tmp_path: Path, content: bytes, message: str) -> None:
    study, file = new(), tmp_path / "answers.csv"
    study.away("x")
    study.away("y")
    study.ask(2)
    study.note("n", key="used")
    study.tell(mediator="z", arm="a", reward=1)
    before, events = snapshot_of(study.look()[0]), list(study.events())
    file.write_bytes(content)
    with pytest.raises(gb.StudyError, match=message):
        study.tell_csv(file)
    with pytest.raises(gb.StudyError, match=r"none\.csv: no such file"):
        study.tell_csv(tmp_path / "none.csv")
    assert snapshot_of(study.look()[0]) == before
    assert list(study.events()) == events


def test_a_file_is_what_its_rows_are_one_by_one(new: Callable[..., Study], tmp_path: Path) -> None:
    study, other = (new(in_flight=2, mediators=[{"name": "z"}]) for _ in range(2))
    file = tmp_path / "answers.csv"
    for each in (study, other):
        each.ask()
    rows = ["0,,a,1,,", ",z,b,0,,", ",z,b,0,,", "1,z,,,yes,mine"]
    file.write_text("Query, Mediator ,arm,reward,silent,key\n" + "\n".join(rows) + "\n", encoding="utf-8-sig")
    trial = study.tell_csv(file, dry_run=True)
    assert [receipt.recorded for receipt in trial] == [True] * 4
    assert [event["kind"] for event in study.events()] == ["asked", "asked"]
    done = study.tell_csv(file)
    assert [receipt.query for receipt in done] == [receipt.query for receipt in trial] == [0, 3, 4, 1]
    other.tell(0, arm="a", reward=1)
    for _ in range(2):
        other.tell(mediator="z", arm="b", reward=0, again=True)
    other.tell(1, silent=True)
    assert snapshot_of(study.look()[0]) == snapshot_of(other.look()[0])
    assert [receipt.recorded for receipt in study.tell_csv(file)] == [False] * 4
    assert not study.tell(1, silent=True, key="mine").recorded
    assert study.doctor() == []


def test_one_row_of_a_file_brings_the_verdict(new: Callable[..., Study], tmp_path: Path) -> None:
    """Each receipt is of its own row: it also takes no look at those of all rows before, which made long files slow."""
    study, file = new(delta=0.2), tmp_path / "answers.csv"
    file.write_text("mediator,arm,reward\n" + "".join(f"z,{'abc'[i % 3]},{int(i % 3 == 0)}\n" for i in range(120)))
    receipts = study.tell_csv(file, again=True)
    (place,) = (i for i, receipt in enumerate(receipts) if receipt.stopped is not None)
    assert 0 < place < 119
    assert [receipt.stood for receipt in receipts] == [None] * (place + 1) + ["identified"] * (119 - place)


def calls_of(study: Study, file: Path, rows: int) -> int:
    """How many functions are called to record so many rows: work, whatever the machine is doing besides."""
    lines = [f"x,{'ab'[i % 2]},{i % 3 % 2},k{i}" for i in range(rows)]
    file.write_text("\n".join(["mediator,arm,reward,key", *lines]), encoding="utf-8")
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        study.tell_csv(file)
    finally:
        sys.setprofile(None)
    return calls


def test_the_work_of_a_file_is_in_proportion_to_its_rows(tmp_path: Path) -> None:
    few, many = (
        calls_of(gb.Study.create(tmp_path / f"{n}.sqlite", gb.StudySpec(["a", "b"], {"x": None})), tmp_path / "a.csv", n)
        for n in (300, 1200)
    )
    assert many < 4.4 * few
