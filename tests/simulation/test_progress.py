"""A bar for those who watch, nothing for the others, numbers for a function."""

import io
import sys
from pathlib import Path

import pytest

import gobetween as gb

PROBLEM = gb.Problem([0.9, 0.2], [[0.7, 0.3], [0.3, 0.7]], family=gb.Bernoulli())


class Watched(io.StringIO):
    """Standard error that someone watches."""

    def isatty(self) -> bool:
        return True


def run(folder: Path, **more: object) -> None:
    experiment = folder / "one.toml"
    experiment.write_text(
        'family = "bernoulli"\ndelta = 0.2\nruns = 3\n[[arms]]\nname = "a"\nmean = 0.9\n[[arms]]\nname = "b"\nmean = 0.1\n'
        '[[mediators]]\nname = "m"\npolicy = [0.5, 0.5]\n',
        encoding="utf-8",
    )
    gb.run_experiment(str(experiment), str(folder / f"{len(list(folder.iterdir()))}.sqlite"), **more)  # type: ignore[arg-type]


def test_a_bar_is_shown_where_someone_watches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for watched in (True, False):
        stream = Watched() if watched else io.StringIO()
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("TTY_COMPATIBLE", "1" if watched else "0")
        gb.simulate(PROBLEM, deltas=0.2, runs=2, progress=True)
        run(tmp_path, progress=True)
        monkeypatch.undo()
        assert ("100%" in stream.getvalue()) == watched
        assert watched or not stream.getvalue()


def test_a_function_is_told_how_many_runs_are_there(tmp_path: Path) -> None:
    told: list[int] = []
    gb.simulate(PROBLEM, deltas=0.2, runs=11, progress=told.append)
    assert sum(told) == 11
    told.clear()
    run(tmp_path, progress=told.append)
    assert sum(told) == 3
