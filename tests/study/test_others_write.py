"""A long file of answers is worked through without the lock: others write meanwhile, and nothing of theirs or ours is lost."""

import time
from pathlib import Path
from typing import Any

import pytest

import gobetween as gb
from gobetween.study.commands import answer_file

SPEC = gb.StudySpec(["a", "b"], {"N": [0.5, 0.5]}, family="bernoulli", delta=1e-9)
ROWS = 40


def answers(folder: Path) -> Path:
    path = folder / "answers.csv"
    path.write_text("mediator,arm,reward\n" + "N,a,1\nN,b,1\n" * (ROWS // 2))
    return path


def test_who_writes_meanwhile_does_not_wait(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with gb.Study.create(where, SPEC, "s") as study, gb.Study.open(where, "s") as other:
        record, waits = answer_file._record, list[float]()

        def slow(*arguments: Any) -> Any:
            if not waits:
                since = time.monotonic()
                other.note("meanwhile")
                waits.append(time.monotonic() - since)
            return record(*arguments)

        monkeypatch.setattr(answer_file, "_record", slow)
        receipts = study.tell_csv(answers(tmp_path))
        assert [receipt.recorded for receipt in receipts] == [True] * ROWS
        assert waits[0] < 5.0
        kinds = [event["kind"] for event in study.events()]
        assert kinds == ["note", *["told"] * ROWS]
        assert not any(receipt.recorded for receipt in study.tell_csv(answers(tmp_path)))
        assert study.doctor() == []


def test_nothing_is_recorded_twice_or_half(where: str, tmp_path: Path) -> None:
    with gb.Study.create(where, SPEC, "s") as study:
        path = answers(tmp_path)
        study.tell_csv(path, dry_run=True)
        assert study.status().events == 0
        path.write_text(path.read_text() + "N,nothing,1\n")
        with pytest.raises(gb.StudyError, match="row 41: arm 'nothing' is not known"):
            study.tell_csv(path)
        assert study.status().events == 0
