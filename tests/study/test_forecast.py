"""How many more queries a learner says that it needs, and whether that is so."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from forecast_runs import asked_on_the_way
from memory_store import Memory
from own_rules import Stubborn
from strategies import here

import gobetween as gb
from gobetween.core.ground.jit import ENABLED
from gobetween.core.run.loops import pull
from gobetween.simulation.worlds import WORLDS
from gobetween.study.learner import forecast as forecasting
from gobetween.study.learner.forecast import _play, _start, _world
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study


@pytest.mark.parametrize("name", ["Table 1", "direct", "twelve arms"])
def test_the_range_holds_the_truth_about_eight_times_of_ten(name: str) -> None:
    """docs/validity-forecast.md has the same of more runs and instances."""
    found = asked_on_the_way(name, range(50 if ENABLED else 2))
    said = [one for one in found if one.forecast is not None]
    held = [one.forecast.low <= one.truth <= one.forecast.high for one in said if one.forecast is not None]
    assert len(said) > 0.9 * len(found) if ENABLED else said
    assert 0.7 <= np.mean(held) <= 0.9 if ENABLED else any(held)


def told(family: gb.Family | str, rewards: dict[str, list[float]], **options: object) -> gb.Learner:
    one = gb.Learner(list(rewards), 2, family=family, delta=1e-4, **options)  # type: ignore[arg-type]  # whatever is tested
    for arm, values in rewards.items():
        for i, reward in enumerate(values):
            one.tell(mediator=one.mediators[i % 2], arm=arm, reward=reward)
    return one


@pytest.mark.parametrize("sampling", ["pursuit", "tracking", "uniform"])
@pytest.mark.parametrize("stopping", ["e-process", "paper"])
def test_one_state_has_one_forecast(sampling: str, stopping: str) -> None:
    one = told("bernoulli", {"a": [1, 1, 0, 1], "b": [0, 0, 1, 0]}, sampling=sampling, stopping=stopping, seed=3)
    found = one.forecast()
    assert found is not None
    assert 0 < found.low < found.median < found.high
    assert found == one.forecast() == gb.Learner.from_dict(one.to_dict()).forecast()


CASES: list[tuple[gb.Family, dict[str, list[float]]]] = [
    (gb.Gaussian(2.0), {"a": [4.0, 5.5, 6.0], "b": [0.0, -1.0, 1.0], "c": [1.0, 1.5, 0.0]}),
    (gb.Poisson(), {"a": [4, 6, 7], "b": [0, 0, 0], "c": [1, 2, 1]}),
    (gb.Exponential(), {"a": [4.0, 6.0, 9.0], "b": [0.1, 0.3, 0.1], "c": [1.0, 1.5, 0.3]}),
    (gb.Bounded(-1.0, 3.0), {"a": [3.0, 2.5, 3.0], "b": [-1.0, -1.0, -1.0], "c": [1.0, 1.5, 0.0]}),
    (gb.Bernoulli(), {"a": [1, 1, 1], "b": [0, 0, 0], "c": [0, 1, 0]}),
]


@pytest.mark.parametrize(
    ("family", "rewards"),
    [case for case in CASES if here([case[0]])],
    ids=lambda value: value.name if isinstance(value, gb.Family) else "",
)
def test_every_family_has_one(family: gb.Family, rewards: dict[str, list[float]]) -> None:
    found = told(family, rewards).forecast()
    assert found is not None
    assert 0 < found.low <= found.median <= found.high


@pytest.mark.parametrize(
    ("sampling", "stopping"),
    [
        *((sampling, "e-process") for sampling in ("pursuit", "tracking", "tracking-d", "cyclic")),
        pytest.param("frank-wolfe", "e-process", marks=pytest.mark.plain),
        ("cyclic", "garivier-kaufmann"),  # whose threshold grows with all that was counted
    ],
)
@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("family", [gb.Gaussian(1.0), gb.Bernoulli()], ids=lambda family: family.name)
def test_a_world_is_played_as_the_learner_itself_would_go_on(
    sampling: str, stopping: str, unknown: bool, family: gb.Family
) -> None:
    """With open queries, answers that wait, a correction and what was collected before."""
    policies = {"x": [0.6, 0.3, 0.1], "y": None if unknown else [0.1, 0.4, 0.5]}
    one = gb.Learner(["a", "b", "c"], policies, family=family, delta=0.1, sampling=sampling, stopping=stopping, seed=2)
    one.absorb([[3, 2, 2], [1, 2, 3]], [3.0, 2.0, 1.0])
    for i in range(12):
        one.tell(one.ask(), arm="abc"[i % 3], reward=float(i % 3 == 0 or i == 7))
    asked = one.ask()
    one.tell(asked, arm="b", reward=0.0)
    one.correct(asked.id, asked.mediator, ("b", 0.0), ("b", 1.0))
    late, soon = one.ask(), one.ask()
    one.tell(soon, arm="a", reward=1.0)
    state = one.state
    start = _start(state)
    for w in range(4):
        world = _world(state, start, w)
        assert _play(state, start, world, 1_000_000)
        other, rng = gb.Learner.from_dict(one.to_dict()), _world(state, start, w).rng
        other.cancel(late)
        other.state.queries.issued -= 1  # an open query is asked anew: there was none
        other.state.queries.prefix -= 1
        assert played(other, world.means, world.ladder, rng) == world.tau[0] - start.t
        assert other.state.decision.stopper.to_dict() == world.stopper.to_dict()
        assert (other.state.counted.tally.N_a == world.state.tally.N_a).all()


def played(one: gb.Learner, means: Any, ladder: Any, rng: np.random.Generator) -> int:
    """How many queries a learner asks in a world until it is done."""
    for t in range(1, 1_000_000):
        query = one.ask()
        a = pull(ladder, one.mediators.index(query.mediator), rng.random())
        one.tell(query, arm=one.arms[a], reward=one.design.family.draw(means[a], rng), accept_surprise=True)
        if one.done:
            return t
    raise AssertionError


def test_work_is_bounded_and_less_is_said_rather_than_more_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    one = told("bernoulli", {"a": [1, 1, 0, 1] * 6, "b": [0, 0, 1, 0] * 6}, sampling="cyclic")
    said = one.forecast()
    assert said is not None
    assert math.isfinite(said.high)
    step = forecasting.STEP + one.state.seen.N_ea.size
    monkeypatch.setattr(forecasting, "WORK", int(WORLDS * said.median * 1.2 * step))
    less = one.forecast()
    assert less is not None
    assert less[:2] == said[:2]
    assert math.isinf(less.high)
    monkeypatch.setattr(forecasting, "WORK", int(WORLDS * said.low * step))
    assert one.forecast() is None
    monkeypatch.setattr(forecasting, "WORK", 0)
    assert one.forecast() is None


def test_what_cannot_be_drawn_or_would_have_to_be_compiled_first_has_none() -> None:
    one = told("bernoulli", {"a": [1, 1, 0, 1], "b": [0, 0, 1, 0]})
    assert one.forecast() is not None
    one.state.design = replace(one.design, family=Undrawn())
    assert one.forecast() is None
    one.state.design = replace(one.design, family=gb.Bernoulli(), stopping=Stubborn())
    assert one.forecast() is None


class Undrawn(NamedTuple("Undrawn", []), gb.Family):
    """Nobody says what an arm pays."""

    name, rewards, low, high = "undrawn", "0 or 1", 0.0, 1.0


def test_more_evidence_means_fewer_queries() -> None:
    few, many = (told(gb.Gaussian(1.0), {"a": [1.5, 2.5] * n, "b": [0.0, 1.0] * n}).forecast() for n in (3, 7))
    assert few is not None
    assert many is not None
    assert many.median < few.median
    assert many.high / many.low < few.high / few.low


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert gb.Learner(2, 2).forecast() is None
    assert told("bernoulli", {"a": [1, 1, 1], "b": []}).forecast() is None
    assert told("bernoulli", {"a": [1, 0], "b": [1, 0]}).forecast() is None
    done = told(gb.Gaussian(0.01), {"a": [1.0] * 9, "b": [0.0] * 9})
    assert done.done
    assert done.forecast() == (0.0, 0.0, 0.0)


def test_a_study_says_so() -> None:
    spec = {"family": "bernoulli", "delta": 1e-4, "arms": [{"name": "a"}, {"name": "b"}], "mediators": [{"name": "z"}]}
    store = Memory()
    store.create("s", parse_study(spec, "test").to_dict(), {})
    study = Study(store, "s")
    for i in range(20):
        study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 4 != 1), again=True)
    status = study.status()
    assert status.queries_to_go is not None
    assert status.queries_range is not None
    low, high = status.queries_range
    assert low is not None
    assert high is not None
    assert 0 < low < status.queries_to_go < high
    assert status.to_dict()["queries_range"] == [low, high]
    assert f"(80% range: {math.ceil(low)}–" in status.how_far
