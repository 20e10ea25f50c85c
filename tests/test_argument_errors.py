"""Arguments that do not fit, at every public name: one sentence that names them, never what they break inside."""

import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gobetween as gb

P = gb.Problem([0.9, 0.2], [[0.7, 0.3], [0.3, 0.7]], family="bernoulli")


def learner() -> gb.Learner:
    return gb.Learner(["a", "b"], {"N": [0.5, 0.5]}, family=gb.Bernoulli(), delta=0.05)


def study(folder: Path) -> gb.Study:
    return gb.Study.create(folder / "s.sqlite", gb.StudySpec(["a", "b"], {"x": None}, family="bernoulli"))


SAID: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = [
    (gb.lower_bound, ([0.1, 0.2],), {}, "problem = [0.1, 0.2]: lower_bound takes a gb.Problem (gb.Problem(["),
    (gb.simulate, (P,), {"delta": 0.1}, "simulate takes no 'delta': did you mean deltas? Choose one of problem"),
    (gb.simulate, (P,), {"deltas": "5%"}, "delta = '5%': must be a number; write 0.05"),
    (gb.simulate, (), {}, "simulate needs problem: simulate(problem, sampling"),
    (gb.simulate, (P,), {"runs": "10"}, "runs = '10': must be a whole number, 1 or more"),
    (gb.what_if, (P,), {}, "bound = Problem(2 arms, 2 mediators, Bernoulli()): what_if takes a gb.LowerBound (gb.lower_bound(problem))"),
    (learner().tell, ("N",), {"arm": "a", "reward": 1}, "query = 'N': Learner.tell takes a gb.Query (learner.ask() returns one)"),
    (learner().tell, ("N", "a", 1), {}, "Learner.tell takes query by position; name the others: arm=…, reward=…"),
    (learner().tell, (0.5,), {"arm": "a", "reward": 1}, "query 0.5 was never asked"),
    (gb.Learner, (["a", "b"], ["x", "y"]), {}, "the policy of mediator 'mediator 1' is the text 'x': to name mediators, write a dict from name to policy, such as {'x': None}"),
    (gb.Learner, (2, None), {}, "mediators = None: Learner takes a whole number, a dict, a list"),
    (gb.Learner, (2, 2), {"deltas": 0.1}, "Learner takes no 'deltas': did you mean delta?"),
    (gb.Learner.from_dict, ({"format": 1},), {}, "data lacks 'policies': pass what to_dict() returned"),
    (gb.Gaussian, (), {"sgma": 1}, "Gaussian takes no 'sgma': did you mean sigma?"),
    (gb.Poisson, (3,), {}, "Poisson takes nothing by position"),
    (gb.lower_bound(P).queries, (), {}, "LowerBound.queries needs delta: LowerBound.queries(delta)"),
    (gb.analyse_logs, ("examples/log.csv",), {"armm": "x"}, "analyse_logs takes no 'armm': did you mean arm?"),
    (gb.analyse_logs, ("examples/log.csv",), {"arm": 3}, "arm = 3: analyse_logs takes a text or a list of texts"),
    (gb.question_bound, (P, "top-m"), {}, "question = 'top-m': question_bound takes a gb.Question (gb.TopM(2), for one)"),
    (gb.make_plan, ("study.toml",), {}, "problem = 'study.toml': make_plan takes a gb.Problem"),
    (gb.Static, ("x",), {}, "omega of Static must be a list of numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "args", "kwargs", "said"), SAID, ids=lambda x: x[:40] if isinstance(x, str) else "")
def test_what_does_not_fit_is_named(call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], said: str) -> None:
    with pytest.raises(gb.GoBetweenError) as caught:
        call(*args, **kwargs)
    assert str(caught.value).startswith(said)


def test_verbs_of_a_study_say_how_they_are_called(tmp_path: Path) -> None:
    made = study(tmp_path)
    with pytest.raises(gb.GoBetweenError, match=r"^Study\.tell takes no 'rewrad': did you mean reward\?"):
        made.tell(0, arm="a", rewrad=1)  # type: ignore[call-arg]
    with pytest.raises(gb.GoBetweenError, match=r"^Study\.retire takes name by position; name the others: what=…, key=…"):
        made.retire("a", "arm")  # type: ignore[call-arg]
    assert list(made.events()) == []


def public() -> list[str]:
    """Public functions and classes, but for exceptions and what others inherit from."""
    bases = gb.Family, gb.SamplingRule, gb.StoppingRule, gb.Question
    found = [name for name in gb.__all__ if callable(getattr(gb, name)) and getattr(gb, name) not in bases]
    return [name for name in found if not (inspect.isclass(getattr(gb, name)) and issubclass(getattr(gb, name), Exception))]


@pytest.mark.parametrize("name", public())
@pytest.mark.parametrize(
    "args", [(), (None,), (3,), ("x",), ([1],), ({},), (np.float64(2),), (P, "x"), (P, None), (1, 2, 3)], ids=repr
)
def test_nothing_but_our_own_errors_come_out(name: str, args: tuple[Any, ...], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for kwargs in ({}, {"nonsense": 1}):
        try:
            getattr(gb, name)(*args, **kwargs)
        except gb.GoBetweenError as error:
            assert str(error)


def test_numbers_of_numpy_are_numbers() -> None:
    assert len(gb.simulate(P, runs=np.int64(2), deltas=np.float64(0.1)).tau) == 2  # type: ignore[arg-type]
    assert gb.Learner(np.int64(2), np.int64(3)).ask().mediator == "mediator 1"  # type: ignore[arg-type]


def test_what_is_public_can_be_pickled_and_is_documented() -> None:
    assert pickle.loads(pickle.dumps(gb.simulate)) is gb.simulate
    assert pickle.loads(pickle.dumps(gb.Gaussian(2.0))) == gb.Gaussian(2.0)
    assert list(inspect.signature(gb.lower_bound).parameters) == ["problem", "tol", "without"]
    assert "Run a sampling and a stopping rule" in (gb.simulate.__doc__ or "")


def test_a_mistake_inside_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gobetween.core.bound.lower_bound._check_range", lambda *_: dict[str, int]()["a bug"])
    with pytest.raises(KeyError, match="a bug"):
        gb.lower_bound(P)
