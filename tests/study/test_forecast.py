"""How many more queries a learner says that it needs, and whether that is so."""

import math

import numpy as np
import pytest
from forecast_runs import asked_on_the_way

import gobetween as gb
from gobetween.core.jit import ENABLED
from gobetween.study import forecast
from gobetween.study.spec import parse_study
from gobetween.study.store.memory import Memory
from gobetween.study.study import Study


@pytest.mark.parametrize("name", ["Table 1", "direct", "near tie"])
def test_the_range_holds_the_truth_about_eight_times_of_ten(name: str) -> None:
    """docs/validity-forecast.md has the same of more runs and instances."""
    found = asked_on_the_way(name, range(50 if ENABLED else 4))
    said = [one for one in found if one.forecast is not None]
    held = [one.forecast.low <= one.truth <= one.forecast.high for one in said if one.forecast is not None]
    assert len(said) > 0.9 * len(found)
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


@pytest.mark.parametrize(
    ("family", "rewards"),
    [
        (gb.Gaussian(2.0), {"a": [4.0, 5.5, 6.0], "b": [0.0, -1.0, 1.0], "c": [1.0, 1.5, 0.0]}),
        (gb.Poisson(), {"a": [4, 6, 7], "b": [0, 0, 0], "c": [1, 2, 1]}),
        (gb.Exponential(), {"a": [4.0, 6.0, 9.0], "b": [0.1, 0.3, 0.1], "c": [1.0, 1.5, 0.3]}),
        (gb.Bounded(-1.0, 3.0), {"a": [3.0, 2.5, 3.0], "b": [-1.0, -1.0, -1.0], "c": [1.0, 1.5, 0.0]}),
        (gb.Bernoulli(), {"a": [1, 1, 1], "b": [0, 0, 0], "c": [0, 1, 0]}),
        (gb.Gamma(2.0), {"a": [4.0, 6.0, 9.0], "b": [0.1, 0.3, 0.1], "c": [1.0, 1.5, 0.3]}),
        (gb.Binomial(3), {"a": [3, 3, 3], "b": [0, 0, 0], "c": [0, 1, 2]}),
        (gb.Geometric(), {"a": [7, 5, 9], "b": [1, 1, 1], "c": [1, 3, 2]}),
        (gb.NegativeBinomial(1.5), {"a": [4, 6, 7], "b": [0, 0, 0], "c": [1, 2, 1]}),
    ],
    ids=lambda value: value.name if isinstance(value, gb.Family) else "",
)
def test_every_family_has_one(family: gb.Family, rewards: dict[str, list[float]]) -> None:
    found = told(family, rewards).forecast()
    assert found is not None
    assert 0 < found.low <= found.median <= found.high


def test_more_evidence_means_fewer_queries() -> None:
    few, many = (told(gb.Gaussian(1.0), {"a": [1.0, 2.0] * n, "b": [0.0, 1.0] * n}).forecast() for n in (3, 7))
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
    assert f"to be expected (8 times of 10 between {math.ceil(low)} and " in status.how_far


@pytest.mark.parametrize("family", [gb.Gamma(2.5), gb.Binomial(12), gb.Geometric(), gb.NegativeBinomial(0.7)], ids=repr)
def test_worlds_are_of_the_family(family: gb.Family) -> None:
    """Divergences are the family's; sums have its mean and variance; means that a long series leaves possible are close to it."""
    mu, x = np.array([2.0, 5.0, 7.5]), np.array([3.0, 4.0, 7.4])
    exact = [family.kl(one, other) for one, other in zip(mu, x, strict=True)]
    assert forecast._divergences(family, mu, x) == pytest.approx(exact, rel=1e-9)
    rng, n = np.random.default_rng(5), 40
    sums = forecast._sums(family, np.full(40_000, n), np.full(40_000, 5.0), rng)
    assert sums.mean() == pytest.approx(5.0 * n, abs=5.0 * math.sqrt(n * family.variance(5.0) / 40_000))
    assert sums.var() == pytest.approx(n * family.variance(5.0), rel=0.1)
    means = forecast._means(family, 10_000.0, 50_000.0, rng)
    assert means == pytest.approx(np.full(len(means), 5.0), abs=6.0 * math.sqrt(family.variance(5.0) / 10_000))
    assert means.std() == pytest.approx(math.sqrt(family.variance(5.0) / 10_000), rel=0.3)
