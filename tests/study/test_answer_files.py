"""Answers from a CSV file: all or none, known by their keys, refused with the number of their row."""

from collections.abc import Callable
from pathlib import Path

import pytest

import gobetween as gb
from gobetween.study.study import Study


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty: its first line must name the columns, of query, mediator, arm, reward, silent, key"),
        (b"query,arm,rewrad\n", "column 'rewrad' is not known: choose from query, mediator"),
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
        (b"mediator,arm,reward\nz,a,1\n", "row 1: 'z' said the same 0 s ago .*say again=True"),
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
    before, events = study.look()[0].to_dict(), list(study.events())
    file.write_bytes(content)
    with pytest.raises(gb.StudyError, match=message):
        study.tell_csv(file)
    with pytest.raises(gb.StudyError, match="cannot be read"):
        study.tell_csv(tmp_path / "none.csv")
    assert study.look()[0].to_dict() == before
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
    assert study.look()[0].to_dict() == other.look()[0].to_dict()
    assert [receipt.recorded for receipt in study.tell_csv(file)] == [False] * 4
    assert not study.tell(1, silent=True, key="mine").recorded
    assert study.doctor() == []
