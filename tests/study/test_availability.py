"""Mediators who are away are planned around: who can be asked now is all that counts, and nobody's return is a burst."""

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pytest

import gobetween as gb
from gobetween.core.sampling.availability import among
from gobetween.study.study import Study

ARMS = ("a", "b", "c", "d")
MEANS = (0.7, 0.5, 0.4, 0.3)
#: Ten mediators: the last is by far the best one, eight are alike, and one of these suffices.
POLICIES = {f"m{e}": [0.02, 0.4, 0.3, 0.28] for e in range(8)} | {"m8": [0.4, 0.1, 0.1, 0.4], "m9": [0.5, 0.3, 0.1, 0.1]}
EVERYONE = tuple(POLICIES)
RULES = (
    gb.Tracking(),
    gb.Tracking(tracking="D"),
    gb.Tracking(prune=True),
    gb.Tracking(policies="unknown"),
    gb.UniformSampling(),
    gb.UniformSampling(order="cyclic"),
)


def learner(names: Sequence[str] = EVERYONE, **options: Any) -> gb.Learner:
    mediators = {name: POLICIES[name] for name in names}
    settings: dict[str, Any] = {"family": "bernoulli", "delta": 0.1} | options
    return gb.Learner(ARMS, mediators, **settings)


def play(one: gb.Learner, world: np.random.Generator, steps: int, available: Sequence[str] | None = None) -> list[str]:
    """Answer with chance until done, `steps` queries at most; returns who was asked."""
    asked: list[str] = []
    while len(asked) < steps and not one.done:
        query = one.ask(available=available)
        asked.append(query.mediator)
        a = int(world.choice(4, p=POLICIES[query.mediator]))
        one.tell(query, arm=ARMS[a], reward=int(world.random() < MEANS[a]))
    return asked


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("absent", ["m9", "m8"])
def test_whoever_is_never_there_might_as_well_not_exist(rule: gb.SamplingRule, absent: str) -> None:
    there = [name for name in EVERYONE if name != absent]
    for seed in range(2):
        one, other = learner(sampling=rule, seed=seed), learner(there, sampling=rule, seed=seed)
        asked = play(one, np.random.default_rng(seed), 3000, there)
        assert asked == play(other, np.random.default_rng(seed), 3000)
        assert one.done
        assert one.progress.queries_to_go == other.progress.queries_to_go
        assert {name: share for name, share in one.progress.target.items() if name in there} == other.progress.target


def test_pruning_lets_in_whoever_is_needed_while_another_is_away() -> None:
    mediators = {"north": [0.5, 0.5, 0.0], "south": [0.0, 0.5, 0.5], "both": [0.25, 0.5, 0.25]}
    one = gb.Learner(["a", "b", "c"], mediators, family="bernoulli", sampling="pruned")
    assert [one.mediators[e] for e in one.state.planner.sampler.members] == ["north", "south"]
    world = np.random.default_rng(1)
    asked = set()
    while not one.done:
        query = one.ask(available=["south", "both"])
        asked.add(query.mediator)
        a = int(world.choice(3, p=mediators[query.mediator]))
        one.tell(query, arm="abc"[a], reward=int(world.random() < (0.9, 0.4, 0.3)[a]))
        assert one.issued < 2000, "an arm is out of reach: the search does not end"
    assert asked == {"south", "both"}
    assert one.ask(available=["both"], go_on=True).mediator == "both"
    assert {one.ask(go_on=True).mediator for _ in range(20)} == {"north", "south"}


@pytest.mark.parametrize("sampling", ["tracking", "pruned"])
def test_a_return_is_no_burst(sampling: str) -> None:
    policies = [[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]]
    one = gb.Learner(["a", "b"], policies, family="bernoulli", delta=1e-30, costs=[1, 1, 2], sampling=sampling)
    x, y, p = one.mediators

    rng = np.random.default_rng(3)

    def asked(available: list[str], steps: int) -> list[str]:
        found = []
        for _ in range(steps):
            query = one.ask(available=available)
            a = int(rng.random() < policies[one.mediators.index(query.mediator)][1])
            one.tell(query, arm="ab"[a], reward=int(rng.random() < (0.6, 0.8)[a]))
            found.append(query.mediator)
        return found

    assert 60 < asked([x, y, p], 200).count(x) < 140
    assert x not in asked([y, p], 600)
    after = asked([x, y, p], 100)
    assert 0.3 < one.progress.target[x] < 0.7
    assert 20 < after.count(x) < 80  # a debt for 600 queries would have brought it all of them
    assert max(len(list(group)) for name, group in groupby(after) if name == x) < 10


@pytest.mark.parametrize("rule", [*RULES, gb.Static([0.1] * 10)], ids=repr)
def test_a_learner_that_is_saved_while_somebody_is_away_goes_on_exactly(rule: gb.SamplingRule) -> None:
    one, other = (learner(sampling=rule, delta=1e-30, seed=2) for _ in range(2))
    world, again, chance = np.random.default_rng(4), np.random.default_rng(4), np.random.default_rng(5)
    for _ in range(12):
        there = [name for name in EVERYONE if chance.random() < 0.6] or list(EVERYONE)
        for _ in range(2):
            asked = play(one, world, 12, there)
            assert set(asked) <= set(there)
            assert asked == play(other, again, 12, there)
            assert json.dumps(one.to_dict()) == json.dumps(other.to_dict())
            other = gb.Learner.from_dict(json.loads(json.dumps(other.to_dict())))
        assert [query.mediator for query in one.ask(3)] == [query.mediator for query in other.ask(3)]


def test_a_batch_follows_the_plan_for_those_who_are_there() -> None:
    one = learner(delta=1e-30)
    play(one, np.random.default_rng(6), 400)
    there = [f"m{e}" for e in range(9)]
    asked = [query.mediator for query in one.ask(300, available=there)]
    target = one.progress.target
    assert set(target) == set(there)
    assert sum(target.values()) == pytest.approx(1.0)
    assert target["m8"] > 0.3
    assert abs(asked.count("m8") / 300 - target["m8"]) < 0.05


@pytest.mark.parametrize("rule", [gb.Tracking(tracking="D"), gb.Static([0.5, 0.35, 0.15])], ids=["D", "static"])
def test_shares_are_of_the_queries_of_those_who_are_there(rule: gb.SamplingRule) -> None:
    """A thousand queries of an absent one must not be owed to the best of the others alone."""
    policies = {"x": [0.5, 0.5], "y": [0.6, 0.4], "z": [0.05, 0.95]}
    one = gb.Learner(["a", "b"], policies, family="bernoulli", sampling=rule, delta=1e-50)
    for i in range(1000):
        one.tell(mediator="x", arm="ab"[i % 2], reward=int(i % 8 not in (2, 4, 7)))
    asked = [query.mediator for query in one.ask(200, available=["y", "z"])]
    share = 0.3 if isinstance(rule, gb.Static) else one.progress.target["z"]
    assert 0.1 < share < 0.4
    assert asked.count("z") / 200 == pytest.approx(share, abs=0.05)


def test_no_share_means_not_asked_while_others_have_one() -> None:
    one = gb.Learner(2, {"x": None, "y": None, "z": None}, family="bernoulli", sampling=gb.Static([0.5, 0.5, 0.0]))
    assert {query.mediator for query in one.ask(50, available=["y", "z"])} == {"y"}
    assert {query.mediator for query in one.ask(5, available=["z"])} == {"z"}


def test_what_is_learnt_of_unknown_policies_reaches_the_plan() -> None:
    one = learner(sampling=gb.Tracking(policies="unknown"), delta=1e-30)
    there = EVERYONE[:5]
    play(one, np.random.default_rng(7), 100, there)
    one.ask(available=there)
    plan: Any = one.state.planner.plan
    everyone: Any = one.state.planner.sampler
    assert np.array_equal(plan.R, everyone.R[:, :5])
    assert plan.R.any()


def test_while_everyone_needed_is_there_nothing_is_made() -> None:
    full = gb.Tracking(prune=True).at_work(np.array(list(POLICIES.values())), np.ones(10, np.bool_), np.ones(10))
    present = np.zeros(10, np.bool_)
    present[full.members] = True
    assert among(full, present, np.zeros((10, 4)), np.ones(10), np.zeros(10, np.int64)) is full


def test_a_study_plans_around_the_away_and_replays_it(new: Callable[..., Study]) -> None:
    study = new(
        arms=[{"name": "a"}, {"name": "b"}],
        mediators=[
            {"name": "x", "policy": [0.9, 0.1]},
            {"name": "y", "policy": [0.1, 0.9]},
            {"name": "p", "policy": [0.5, 0.5]},
        ],
        sampling="pruned",
    )
    assert {query.mediator for query in study.ask(6)} == {"x", "y"}
    study.away("x")
    assert {query.mediator for query in study.ask(20)} == {"y", "p"}
    study.away("y")
    assert {query.mediator for query in study.ask(2)} == {"p"}
    assert study.doctor() == []
    study.away("p")
    with pytest.raises(gb.StudyError, match="no mediator can be asked: 'p', 'x' and 'y' are away"):
        study.ask()
    for name in ("x", "y", "p"):
        study.back(name)
    assert {query.mediator for query in study.ask(6)} == {"x", "y"}
    assert study.doctor() == []


@pytest.mark.parametrize("store", ["memory"], indirect=True)
def test_status_names_an_arm_that_only_absent_mediators_reach(new: Callable[..., Study]) -> None:
    north = {"name": "North", "policy": [0.0, 0.2, 0.8]}
    south = {"name": "South", "policy": [0.5, 0.5, 0.0]}
    study = new(mediators=[north, south], sampling="tracking")
    assert study.status().assumptions == []
    study.away("North")
    line = "Only 'North' (away) reaches 'c': the study cannot stop until they are back."
    assert study.status().assumptions == [line]
    for _ in range(5):
        (query,) = study.ask()  # whoever is there goes on
        study.tell(query, arm="a", reward=1)
    study.tell(mediator="North", arm="c", reward=1)
    seen = "Only 'North' (away) reaches 'c': nothing more is learnt of it until they are back."
    assert seen in study.status().assumptions
    study.away("South")
    assert any("Only 'North' and 'South' (away) reach 'b'" in words for words in study.status().assumptions)
    study.back("South")
    study.back("North")
    assert not any("away" in words for words in study.status().assumptions)
    assert "North" in {query.mediator for query in study.ask(6)}
    study.away("North")
    assert not any("away" in words for words in study.status().assumptions)  # its open query may still be answered
    unknown = new(mediators=[south, {"name": "z"}])
    unknown.away("z")
    assert unknown.status().assumptions == ["Only 'z' (away) can reach 'c': the study cannot stop until they are back."]
