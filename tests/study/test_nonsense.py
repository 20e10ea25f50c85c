"""What makes no sense is refused in one sentence, before anything has changed, by learners and studies alike."""

import json
from pathlib import Path
from typing import Any

import pytest
from launcher import gobetween
from memory_store import Memory

import gobetween as gb
from gobetween.study.study import Study

GUESS = gb.Guess([0.7, 0.4], [0.1, 0.1])


def learner(**more: Any) -> gb.Learner:
    return gb.Learner(["a", "b"], {"N": [0.5, 0.5]}, **{"family": "bernoulli"} | more)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([[1, -2]], [1, 1]), "N_ea must hold whole numbers, 0 or more"),
        (([[1.5, 2]], [1, 1]), "N_ea must hold whole numbers"),
        (([[1, float("nan")]], [1, 1]), "N_ea must be finite numbers"),
        (([[10**30, 1]], [1, 1]), "N_ea must hold whole numbers"),
        (([[1, 2]], [5, 1]), "1 rewards of 'a' cannot come to 5: rewards are 0 or 1"),
        (([[1, 2]], [0, -1]), "2 rewards of 'b' cannot come to -1"),
        (([[0, 2]], [1, 1]), "0 rewards of 'a' cannot come to 1"),
        (([[1, 2]], [1, float("inf")]), "S_a must be finite numbers"),
        (([[1, 2]], [1]), r"S_a has shape \(1,\): it must be \(2,\), a sum for each arm"),
        (([1, 2], [1, 1]), r"N_ea has shape \(2,\): it must be \(1, 2\)"),
        (([[1, 2], [3]], [1, 1]), "N_ea must be numbers"),
        (("x", "y"), "N_ea must be numbers"),
        ((None, None), "N_ea must be numbers"),
        (([["1", "2"]], [1, 1]), "N_ea must be numbers"),
    ],
)
def test_what_cannot_have_been_collected(given: tuple[Any, Any], words: str) -> None:
    one = learner()
    before = json.dumps(one.to_dict())
    with pytest.raises(gb.ProblemError, match=words):
        one.absorb(*given)
    assert json.dumps(one.to_dict()) == before


def test_what_was_collected_beside_counts() -> None:
    with pytest.raises(gb.ProblemError, match="silent must hold whole numbers"):
        learner(silent=True).absorb([[1, 2]], [1, 1], silent=[-1])
    with pytest.raises(gb.ProblemError, match="spread must be numbers"):
        learner(family=gb.Gaussian(1.0)).absorb([[1, 2]], [1, 1], spread="x")  # type: ignore[arg-type]
    learner(family=gb.Bounded(0.0, 0.1)).absorb([[3, 7]], [0.1 + 0.1 + 0.1, 0.7])  # rounded sums are fine


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((99, "N", ("a", 1), ("b", 1)), "query 99 was never asked"),
        ((-1, "N", ("a", 1), ("b", 1)), "query -1 was never asked"),
        (("x", "N", None, None), "query 'x' was never asked"),
        ((1, "N", ("a", 1), ("b", 1)), "query 1 is still open"),
        ((0, "N", ("b", 1), ("a", 1)), "query 0 was not answered so"),
        ((0, "N", None, ("a", 1)), "query 0 was not answered so"),
        ((0, "X", ("a", 1), ("b", 1)), "mediator 'X' is not known"),
        ((0, "N", "a", ("b", 1)), "'a' is no answer"),
        ((0, "N", ("a",), ("b", 1)), "is no answer"),
        ((0, "N", 5, ("b", 1)), "old = 5"),
    ],
)
def test_what_was_never_told_is_not_corrected(given: tuple[Any, Any, Any, Any], words: str) -> None:
    one = learner()
    one.tell(one.ask(), arm="a", reward=1)
    one.ask()
    before = json.dumps(one.to_dict())
    with pytest.raises(gb.ProblemError, match=words):
        one.correct(*given)
    with pytest.raises(gb.ProblemError):
        one.void(*given[:3])
    with pytest.raises(gb.ProblemError):
        one.move(given[0], given[1], "N", given[2])
    assert json.dumps(one.to_dict()) == before


def test_a_guess_and_the_rows_that_it_may_follow_are_not_counted_both(tmp_path: Path) -> None:
    one = learner(guess=GUESS)
    before = json.dumps(one.to_dict())
    with pytest.raises(gb.ProblemError, match=r"the guess may follow these rows; .* or leave the guess out"):
        one.absorb([[10, 10]], [7, 4])
    assert json.dumps(one.to_dict()) == before
    (tmp_path / "log.csv").write_text("mediator,arm,reward\n" + "N,a,1\nN,b,0\n" * 20)
    arms = "".join(f'[[arms]]\nname = "{name}"\nmean = {mean}\nspread = 0.1\n' for name, mean in (("a", 0.7), ("b", 0.4)))
    (tmp_path / "s.toml").write_text(f'{arms}[[mediators]]\nname = "N"\npolicy = [0.5, 0.5]\n')
    done = gobetween(tmp_path, "init", "s.toml", "--from-log", "log.csv", GOBETWEEN_JIT="off")
    assert done.returncode == 2
    assert "the guess may follow these rows; begin from the log with --as-guess and a new file, or leave" in done.stderr
    assert not (tmp_path / "s.sqlite").exists()


def test_a_study_with_a_guess_takes_no_log() -> None:
    from log_tables import count_logs

    from gobetween.logs.reading.options import LogOptions

    store = Memory()
    spec = gb.StudySpec(["a", "b"], {"N": [0.5, 0.5]}, family="bernoulli", guess=GUESS)
    store.create("s", spec.to_dict(), {})
    study = Study(store, "s")
    with pytest.raises(gb.GoBetweenError, match="the guess may follow these rows"):
        study.absorb(count_logs(LogOptions(), [{"mediator": ["N"] * 4, "arm": list("abab"), "reward": [1, 0, 1, 0]}]), ["x"])
    assert study.status().events == 0


@pytest.mark.parametrize("given", [(10**30,), ("x",), (0, "x"), (-1,), (0, -1), (1.5,), (True,), (None,), (0, 2**62)])
def test_events_of_no_number(given: tuple[Any, ...], tmp_path: Path) -> None:
    spec = gb.StudySpec(["a", "b"], {"N": [0.5, 0.5]}, family="bernoulli")
    with gb.Study.create(tmp_path / "s.sqlite", spec) as study:
        study.ask()
        with pytest.raises(gb.StudyError, match=r"= .*: must be a whole number, 0 or more"):
            study.events(*given)
        assert len(list(study.events(0))) == 1
