"""Two arms that will not be told apart: said in words, by what a budget leaves or by many times what there is, with a way out."""

import math
from typing import Any

import numpy as np
import pytest
from memory_store import Memory

import gobetween as gb
from gobetween.core.ground.tally import fill, new_tally
from gobetween.core.stopping.rules import BY_COUNTS
from gobetween.core.verdict.evidence_report import FAR, near_tie, resolvable, weigh
from gobetween.logs.reading.counts import LogStats
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study
from gobetween.words.logs import sentences


def told(n: int, paid: tuple[int, int], family: Any = "bernoulli", **more: Any) -> Study:
    """A study in which two arms were pulled n times each, and paid so often."""
    spec = {"family": family, "sampling": "uniform", "arms": [{"name": "a"}, {"name": "b"}], "mediators": [{"name": "z"}]}
    store = Memory()
    store.create("s", parse_study(spec | more, "test").to_dict(), {})
    study = Study(store, "s")
    queries = study.ask(2 * n) if n else []
    for i, query in enumerate(queries):
        arm, k = i % 2, i // 2
        study.tell(query, arm="ab"[arm], reward=int(k * paid[arm] // n < (k + 1) * paid[arm] // n))
    return study


def test_a_budget_that_cannot_tell_two_arms_apart_says_so() -> None:
    study = told(100, (51, 50), budget={"queries": 300})
    status = study.status()
    assert status.resolution is not None
    near = status.resolution.near
    assert near is not None
    assert (near.leader, near.rival, near.more) == ("a", "b", 100)
    assert near.gap == pytest.approx(0.01)
    assert 0.1 < near.resolvable < 0.3
    assert near.eps == float(f"{near.resolvable:.2g}")
    expected = (
        "The remaining budget cannot separate 'a' and 'b': they are 0.01 apart, and 100 more answers about these two detect a gap "
        f"of {near.eps:g}. If any arm within {near.eps:g} of the best will do, ask for that (question epsilon-best, eps = "
        f"{near.eps:g}): it is faster."
    )
    assert status.how_far.endswith(expected)
    assert status.to_dict()["resolution"]["near"]["eps"] == near.eps
    assert study.look()[0].learner.resolution(more=100).near == near  # type: ignore[union-attr]
    assert study.look()[0].learner.resolution().near is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("paid", "more"),
    [
        ((51, 50), {"budget": {"queries": 10_000}}),  # plenty is left
        ((64, 50), {"budget": {"queries": 300}}),  # a gap that may well be told
        ((55, 50), {}),  # no budget, and not that far
        pytest.param(
            (51, 50),
            {"budget": {"queries": 300}, "question": {"name": "epsilon-best", "eps": 0.05}, "sampling": "pursuit"},
            marks=pytest.mark.plain,
        ),
    ],
)
def test_nothing_is_said_where_it_is_not_known(paid: tuple[int, int], more: dict[str, Any]) -> None:
    study = told(100, paid, **more)
    assert "cannot separate" not in study.status().how_far
    assert study.status().resolution is None or study.status().resolution.near is None  # type: ignore[union-attr]


def test_a_cost_is_a_budget_too() -> None:
    study = told(50, (26, 25), mediators=[{"name": "z", "cost": 2.0}], budget={"cost": 250.0})
    near = study.status().resolution.near  # type: ignore[union-attr]
    assert near is not None
    assert near.more == 25


def test_without_a_budget_it_is_said_when_many_times_as_many_would_be_needed() -> None:
    study, stats = told(0, (0, 0)), LogStats(rows=40_000)
    stats.widen(["a", "b"], ["z"])
    stats.N_ea[:], stats.S_ea[:] = 20_000, [10_001.0, 10_000.0]
    study.absorb(stats, ["x"])
    status = study.status()
    assert status.queries_to_go is not None
    assert status.queries_to_go > FAR * 40_000
    near = status.resolution.near  # type: ignore[union-attr]
    assert near is not None
    expected = "'a' and 'b' are nearly tied: they are "
    assert expected in status.how_far
    assert f"(question epsilon-best, eps = {near.eps:g})" in status.how_far


def test_at_the_end_of_a_budget_less_is_advised() -> None:
    status = told(100, (51, 50), budget={"queries": 200}).status()
    assert status.verdict is not None
    assert ", twice as many " in status.how_far
    assert "If any arm within" in status.how_far
    assert "remaining budget" not in status.how_far


def test_the_gap_is_the_smallest_that_any_split_can_tell() -> None:
    """For Gaussian rewards in closed form, and by trying every split."""
    family, tally = gb.Gaussian(2.0), fill(new_tally(2), np.array([30, 10]), np.array([30.5, 10.0]))
    near = near_tie(family, ("a", "b"), tally, (0, 1), 60, 7.0, 0.0)
    assert near is not None
    assert near.resolvable == pytest.approx(math.sqrt(2.0 * 7.0 * 4.0 * (1 / 50 + 1 / 50)), rel=1e-5)
    splits = [resolvable(family, 1.0, 30 + k, 70 - k, 7.0) for k in range(61)]
    assert near.resolvable == pytest.approx(min(gap for gap in splits if gap is not None), rel=1e-5)
    few = near_tie(family, ("a", "b"), tally, (0, 1), 10, 7.0, 0.0)  # the rarer arm gets all of them
    assert few is not None
    assert few.resolvable == pytest.approx(math.sqrt(2.0 * 7.0 * 4.0 * (1 / 30 + 1 / 20)), rel=1e-5)
    assert near_tie(family, ("a", "b"), tally, (0, 1), 60, 7.0, 3.0) is None  # it may be larger than it seems


def test_where_epsilon_is_not_offered_it_is_not_advised() -> None:
    tally = fill(new_tally(2), np.array([500, 500]), np.array([1001.0, 1000.0]))
    near = near_tie(gb.Exponential(), ("a", "b"), tally, (0, 1), 100, 7.0, 2.0)
    assert near is not None
    assert near.eps is None


def test_a_log_says_it_too() -> None:
    log: dict[str, list[Any]] = {"arm": ["a", "b"] * 1000, "reward": [1, 1, 0, 0] * 499 + [1, 0, 0, 0]}
    found = gb.analyse_logs(log)
    assert found.near_tie is not None
    assert found.rows_to_go > FAR * 2000
    assert found.near_tie.more == FAR * 2000
    said = " ".join(sentences(found))
    assert "'a' and 'b' are nearly tied: they are " in said
    assert found.to_dict()["near_tie"]["eps"] == found.near_tie.eps
    eps = found.near_tie.eps
    assert eps is not None
    assert not gb.analyse_logs(log, question=gb.EpsilonBest(eps)).identified  # not with these, but with as many as are meant:
    N_a = fill(new_tally(2), np.array([21_000, 21_000]), np.array([10_501.0, 10_500.0]))
    assert weigh(gb.Bernoulli(), BY_COUNTS, 0.05, N_a, 42_000, question=gb.EpsilonBest(eps)).reached
    assert gb.analyse_logs(log, question=gb.TopM(1)).near_tie is None
    few = {"arm": ["a", "b"] * 20, "reward": [1, 1, 0, 0] * 9 + [1, 0, 0, 0]}
    assert gb.analyse_logs(few).near_tie is None  # close by chance
