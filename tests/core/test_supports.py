"""Declared supports: of a mediator nothing is known but which arms it may pull, and that is used everywhere."""

import json
import math
from typing import Any

import numpy as np
import pytest
from memory_store import Memory

import gobetween as gb
from gobetween.core.bound.geometry import needless_mediators, support_range, surely_redundant
from gobetween.core.problem.cast import policy_row
from gobetween.files.problem import parse_spec
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study
from gobetween.testing import same_steps

ARMS = ["a", "b", "c", "d"]
PROBLEM = gb.Problem(
    [0.2, 0.8, 0.4, 0.3],
    [[0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.3, 0.7], [0.25, 0.25, 0.25, 0.25]],
    family="bernoulli",
    arms=ARMS,
)
DECLARED: list[Any] = [[0.6, 0.4, 0.0, 0.0], {"c", "d"}, None]


def learner(**options: Any) -> gb.Learner:
    cast = dict(zip(["x", "y", "z"], DECLARED, strict=True))
    return gb.Learner(ARMS, cast, family="bernoulli", **options)


def play(one: gb.Learner, steps: int, seed: int = 0) -> list[str]:
    rng, asked = np.random.default_rng(seed), []
    for _ in range(steps):
        query = one.ask(go_on=True)
        asked.append(query.mediator)
        a = int(rng.choice(4, p=PROBLEM.policies["xyz".index(query.mediator)]))
        one.tell(query, arm=ARMS[a], reward=int(rng.random() < PROBLEM.means[a]))
    return asked


def test_rows() -> None:
    def row(given: Any, silent: bool = False) -> list[float | None]:
        return [None if math.isnan(p) else p for p in policy_row(given, 0, ARMS, "x", silent).tolist()]

    assert row({"a", "c"}) == row([None, 0.0, None, 0.0]) == [None, 0.0, None, 0.0]
    assert row({"b"}) == [0.0, 1.0, 0.0, 0.0]  # that is a policy
    assert row({"b"}, silent=True) == [0.0, None, 0.0, 0.0]  # how often it is silent is not known
    assert row({"a": 0.5, "d": 0.5}) == [0.5, 0.0, 0.0, 0.5]
    for bad, words in (
        ({"a", "e"}, "the support of mediator 'x' names 'e': choose one of 'a', 'b', 'c', 'd'"),
        (set(), "the support of mediator 'x' is empty"),
        ([None, 0.5, 0.5, 0.0], "mediator 'x' has a probability of 'b' and none of 'a'"),
        ([math.nan, 0.0, 0.0, 1.0], "= nan .mediator 'x', arm 'a'.: a probability is a number from 0 to 1"),
        ([None, 0.0], "needs 4 probabilities"),
        ("abcd", "is the text 'abcd': to name mediators, write a dict"),
    ):
        with pytest.raises(gb.ProblemError, match=words):
            row(bad)


@pytest.mark.parametrize("sampling", [gb.Pursuit(), gb.Tracking(), gb.Tracking(tracking="D")], ids=repr)
def test_engine_and_learner_take_the_same_steps(sampling: gb.SamplingRule) -> None:
    same_steps(PROBLEM, sampling, gb.EProcess(), delta=1e-4, most=400, declared=DECLARED)


def test_estimates_have_no_mass_outside() -> None:
    one = learner()
    play(one, 60)
    R, counts = one.state.planner.sampler.R, one.state.seen.N_ea  # type: ignore[union-attr]
    assert (R[:2, 1] == 0.0).all()
    n = counts[1].sum()
    assert R[2:, 1] == pytest.approx((counts[1, 2:4] + 0.5) / (n + 1.0))  # a half for each of two arms, not of four
    assert R[:, 2] == pytest.approx((counts[2, :4] + 0.5) / (counts[2].sum() + 2.0))
    assert one.state.reach().tolist() == [[True, True, False, False], [False, False, True, True], [True] * 4]
    assert one.forecast() is not None


def test_unseen_arms_are_looked_for_where_they_may_be() -> None:
    """With a and b to be had from x, whoever may pull only these has nothing to offer for c."""
    one = gb.Learner(["a", "b", "c"], {"x": {"a", "b"}, "y": {"b", "c"}}, family="bernoulli")
    for arm in ("a", "b"):
        one.tell(mediator="x", arm=arm, reward=1)
    for _ in range(20):
        query = one.ask()
        assert query.mediator == "y"
        one.tell(query, arm="b", reward=0)


def test_saved_joined_and_left_out() -> None:
    one = learner()
    play(one, 20)
    again = gb.Learner.from_dict(json.loads(json.dumps(one.to_dict())))
    assert again.to_dict() == one.to_dict()
    assert one.to_dict()["policies"][one.mediators.index("y")] == [0.0, 0.0, None, None]
    assert play(one, 30, 1) == play(again, 30, 1)
    more = one.with_mediator("w", {"a", "d"})
    assert more.state.reach()[3].tolist() == [True, False, False, True]
    less = more.without_arm("d")
    assert less.state.reach()[1].tolist() == [False, False, True]
    assert less.cast.policies_by_name() == {"x": [0.6, 0.4, 0.0], "y": [0.0, 0.0, None], "z": None, "w": [None, 0.0, 0.0]}


def test_a_surprise_is_refused_or_said() -> None:
    one = learner()
    with pytest.raises(gb.ProblemError, match=r"mediator 'y' was declared never to pull 'a'.*accept_surprise=True"):
        one.tell(mediator="y", arm="a", reward=1)
    one.tell(mediator="y", arm="c", reward=1)
    (quiet,) = [alarm for alarm in one.account().alarms if alarm.kind == "policy" and alarm.subject == "y"]
    assert not quiet.raised
    assert quiet.words.endswith("(detectable: any arm outside its support).")
    one.tell(mediator="y", arm="a", reward=1, accept_surprise=True)
    (alarm,) = [alarm for alarm in one.account().alarms if alarm.raised]
    assert (alarm.kind, alarm.breaks, alarm.size) == ("policy", False, 0.5)
    assert alarm.words.startswith("'y' pulls arms outside its declared support ('a'): ")
    assert one.broken() is None
    assert one.state.planner.sampler.R[0, 1] == 0.5  # type: ignore[union-attr]  # it was seen


def test_an_arm_that_nobody_may_pull_is_refused() -> None:
    words = "no mediator ever pulls 'c': drop these arms or add a mediator who can pull them"
    cast: dict[str, Any] = {"x": [0.5, 0.5, 0.0], "y": {"a", "b"}}
    with pytest.raises(gb.ProblemError, match=words):
        gb.Learner(["a", "b", "c"], cast)
    with pytest.raises(gb.ProblemError, match=words):
        gb.StudySpec(["a", "b", "c"], cast)
    with pytest.raises(gb.ProblemError, match=words):
        gb.simulate(gb.Problem([0.1, 0.2, 0.3], np.full((2, 3), 1 / 3), arms=["a", "b", "c"]), declared=list(cast.values()))
    with pytest.raises(gb.ProblemError, match="declared names 'q'"):
        gb.simulate(PROBLEM, declared={"q": None})


def test_pruning_leaves_out_whoever_is_needless_whatever_its_policy() -> None:
    nan = np.nan
    policies = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [nan, nan, 0.0], [nan, 0.0, nan], [0.5, 0.5, 0.0]])
    assert sorted(needless_mediators(policies, np.ones(5))) == [2, 4]  # nobody else pulls c
    assert sorted(needless_mediators(policies, np.array([1.0, 1.0, 0.9, 1.0, 1.0]))) == [4]  # the third is cheaper
    rows: list[Any] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [None, None, 0.0], [None, 0.0, None]]
    one = gb.Learner(3, rows, sampling="pruned")
    assert one.state.planner.sampler.members.tolist() == [0, 1, 3]
    play_around = one.ask(available=["mediator 3", "mediator 4"])  # the first two are away: now it is of use
    one.tell(play_around, arm="arm 1", reward=1)
    for _ in range(6):
        query = one.ask(available=["mediator 3", "mediator 4"])
        one.tell(query, arm="arm 2" if query.mediator == "mediator 3" else "arm 3", reward=0)
    assert np.isfinite(one.state.planner.plan.R).all()  # type: ignore[union-attr]
    assert one.queries[2] > 0


def test_a_plan_says_between_what_T_lies() -> None:
    shares = np.array([[0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5], [0.25, 0.25, 0.25, 0.25]])
    problem = gb.Problem(PROBLEM.means, shares, family="bernoulli", costs=[1.0, 0.5, 2.0])
    found = support_range(problem, [1])
    assert found is not None
    rng = np.random.default_rng(1)
    for p in [0.0, 1.0, *rng.random(8)]:
        policies = shares.copy()
        policies[1, 2:] = p, 1.0 - p
        T = gb.lower_bound(gb.Problem(PROBLEM.means, policies, family="bernoulli", costs=[1.0, 0.5, 2.0])).T_star
        assert found.T_best * (1 - 1e-9) <= T <= found.T_without * (1 + 1e-9)
    anyone = support_range(problem, [2])
    assert anyone is not None
    for p in rng.dirichlet(np.ones(4), 4):  # the range of one of whom nothing is known holds every policy
        T = gb.lower_bound(gb.Problem(PROBLEM.means, [*shares[:2], p], family="bernoulli", costs=[1.0, 0.5, 2.0])).T_star
        assert anyone.T_best * (1 - 1e-9) <= T <= anyone.T_without * (1 + 1e-9)
    fixed = [
        gb.lower_bound(gb.Problem(PROBLEM.means, [*shares[:2], arm], family="bernoulli", costs=[1.0, 0.5, 2.0])).T_star
        for arm in np.eye(4)
    ]
    assert max(fixed) == pytest.approx(anyone.T_without)  # it costs more than the others: the largest T* is reached
    alone = support_range(problem, [0, 1, 2])
    assert alone is not None
    assert math.isinf(alone.T_without)
    assert [item.mediator for item in surely_redundant(gb.Problem([0.1, 0.2], [[0.5, 0.5]] * 3), [0])] == [2]


FILE: dict[str, Any] = {
    "family": "bernoulli",
    "arms": [{"name": "a", "mean": 0.3}, {"name": "b", "mean": 0.5}, {"name": "c", "mean": 0.2}],
    "mediators": [{"name": "x", "policy": [0.2, 0.3, 0.5]}, {"name": "y", "support": ["c", "b"]}],
}


def test_files() -> None:
    study = parse_study(FILE, "f")
    assert study.cast.policies_by_name() == {"x": [0.2, 0.3, 0.5], "y": [0.0, None, None]}
    assert gb.StudySpec.from_dict(json.loads(json.dumps(study.to_dict()))) == study
    assert (
        gb.StudySpec(["a", "b", "c"], {"x": [0.2, 0.3, 0.5], "y": {"b", "c"}}).cast.policies_by_name()
        == study.cast.policies_by_name()
    )
    assert gb.StudySpec(["a", "b", "c"], {"x": {"a", "b", "c"}}).cast.policies_by_name() == {"x": None}
    planned = parse_spec(FILE, "f", guess=True)
    assert planned.guessed == (1,)
    assert planned.problem.policies[1].tolist() == [0.0, 0.5, 0.5]
    with pytest.raises(gb.SpecError, match=r"mediators\[1\].policy is missing: simulations need how often"):
        parse_spec(FILE, "f")
    for second, words in (
        ({"support": ["q"]}, "mediators[1].support[0] = 'q' is not an arm: choose one of 'a', 'b', 'c'"),
        ({"support": []}, "mediators[1].support = []: must be a list with the names of the arms"),
        ({"support": "b"}, "mediators[1].support = 'b': must be a list with the names of the arms"),
        ({"support": ["b"], "policy": [0, 1, 0]}, "mediators[1].support: the policy says already which arms"),
    ):
        with pytest.raises(gb.SpecError) as caught:
            parse_study(FILE | {"mediators": [FILE["mediators"][0], {"name": "y", **second}]}, "f")
        assert words in str(caught.value)


def test_a_study_keeps_it() -> None:
    store = Memory()
    store.create("s", parse_study(FILE, "f").to_dict(), {})
    study = Study(store, "s", "tester")
    study.add_mediator("w", policy={"c", "a"})
    assert study.spec.cast.policies_by_name()["w"] == [None, 0.0, None]
    with pytest.raises(gb.StudyError, match="policies: of 'w' the study has another one"):
        study.edit(parse_study(FILE | {"mediators": [*FILE["mediators"], {"name": "w", "support": ["a"]}]}, "f"))
    study.edit(parse_study(FILE | {"mediators": [*FILE["mediators"], {"name": "w", "support": ["a", "c"]}]}, "f"))
    query = study.ask()[0]
    assert study.tell(query, arm="c", reward=1).recorded
    study.away("x")
    study.away("y")
    assert any("Only 'x' and 'y' (away) can reach 'b'" in line for line in study.status().assumptions)


def test_logs_know_it() -> None:
    rows: dict[str, Any] = {"mediator": ["x", "y", "y"] * 40, "arm": ["a", "b", "c"] * 40, "reward": [0, 1, 0] * 40}
    declared: dict[str, Any] = {"x": None, "y": {"b", "c"}}
    found = gb.analyse_logs(rows, arms=["a", "b", "c"], declared=declared)
    assert [alarm.raised for alarm in found.alarms if alarm.kind == "policy"] == [False]
    rows["arm"][1] = "a"
    found = gb.analyse_logs(rows, arms=["a", "b", "c"], declared=declared)
    (alarm,) = [alarm for alarm in found.alarms if alarm.kind == "policy"]
    assert alarm.raised
    assert not alarm.breaks
    assert gb.replay_logs(rows, arms=["a", "b", "c"], declared={"x": {"a", "b"}, "y": [None, None, 0.0]}, runs=2).tau.shape == (
        2,
    )
