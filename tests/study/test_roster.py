"""Casts change: a mediator more, one less, an arm less; recorded, replayed, the same in every store, and valid."""

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from memory_store import Memory
from scipy.stats import binom
from study_parts import SPEC, Clock, answer

import gobetween as gb
from gobetween.core.ground.jit import ENABLED
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study

ARMS = ["a", "b", "c"]
RULES = ["pursuit", "tracking", "tracking-d", "uniform", "cyclic", "unknown", "frank-wolfe", "game"]


def learner(third: bool, sampling: str, policy: Any, stopping: str = "e-process") -> gb.Learner:
    cast: dict[str, Any] = {"x": [0.5, 0.3, 0.2], "y": None} | ({"z": policy} if third else {})
    costs = [1.0, 2.0, 1.5][: len(cast)]
    return gb.Learner(
        ARMS, cast, costs=costs, family=gb.Gaussian(1.0), delta=1e-9, sampling=sampling, stopping=stopping, seed=4
    )


def told(one: gb.Learner, query: gb.Query, rng: random.Random) -> tuple[str, float]:
    a = rng.randrange(3)
    reward = rng.gauss(0.3 * a, 1.0)
    one.tell(query, arm=ARMS[a], reward=reward)
    return ARMS[a], reward


@pytest.mark.parametrize("policy", [[0.1, 0.1, 0.8], None], ids=["declared", "unknown"])
@pytest.mark.parametrize("sampling", RULES[:6])
def test_whoever_joins_is_as_one_who_was_away_until_then(sampling: str, policy: Any) -> None:
    late, early, rng = learner(False, sampling, policy), learner(True, sampling, policy), random.Random(2)
    for _ in range(40):
        query = late.ask()
        early.asked(query.mediator, ["x", "y"])
        arm, reward = told(late, query, rng)
        early.tell(query.id, arm=arm, reward=reward)
    waiting = late.ask()  # open while the cast changes
    early.asked(waiting.mediator, ["x", "y"])
    late = late.with_mediator("z", policy, 1.5)
    assert late.pending == (waiting,)
    for _ in range(30):
        query = late.ask()
        assert query == early.ask()
        arm, reward = told(late, query, rng)
        early.tell(query.id, arm=arm, reward=reward)
    for one in (late, early):
        one.tell(waiting.id, arm="b", reward=0.5)
    assert late.to_dict() == early.to_dict()
    assert late.evidence() == early.evidence()
    assert gb.Learner.from_dict(json.loads(json.dumps(late.to_dict()))).to_dict() == late.to_dict()


def test_one_learner_is_not_the_other() -> None:
    one, rng = learner(False, "pursuit", None), random.Random(1)
    for _ in range(20):
        told(one, one.ask(), rng)
    before = one.to_dict()
    more, less = one.with_mediator("z"), one.without_arm("b")
    for other in (more, less):
        for _ in range(10):
            other.tell(other.ask(), arm="a", reward=1.0)
    assert one.to_dict() == before
    with pytest.raises(gb.ProblemError, match="mediator 'x' is there already"):
        one.with_mediator("x")
    with pytest.raises(gb.ProblemError, match="one arm would remain"):
        less.without_arm("a")
    with pytest.raises(gb.ProblemError, match="arm 'q' is not known"):
        one.without_arm("q")


def test_without_an_arm_the_rest_is_counted_as_before() -> None:
    one, rng = learner(False, "pursuit", None), random.Random(3)
    for _ in range(60):
        told(one, one.ask(), rng)
    waiting = one.ask()
    told(one, one.ask(), rng)  # waits for the one before
    less = one.without_arm("b")
    assert less.arms == ("a", "c")
    before, after = one.progress, less.progress
    assert [arm.pulls for arm in after.arms] == [before.arms[0].pulls, before.arms[2].pulls]
    assert [arm.estimate for arm in after.arms] == [before.arms[0].estimate, before.arms[2].estimate]
    assert (after.counted, after.told, len(less.state.queries.waiting)) == (before.counted, before.told, 1)
    assert after.threshold == pytest.approx(np.log(3 / 1e-9))  # three pairs there were
    less.tell(waiting, silent=True)
    assert not less.state.queries.waiting
    again = learner(False, "pursuit", None, "all-pairs").without_arm("b")
    assert again.design.stopping == less.design.stopping == gb.AllPairs(3)
    assert less.forecast() is not None


def test_the_best_of_those_that_remain_is_seldom_wrong_however_arms_are_chosen() -> None:
    """Equal arms but one that is a bit worse; always the arm is retired that leaves the widest gap between the others."""
    rng, delta, runs, wrong = np.random.default_rng(5), 0.2, 150 if ENABLED else 10, 0
    means = np.array([0.5, 0.5, 0.49])
    for _ in range(runs):
        one = gb.Learner(3, 1, family="bernoulli", delta=delta, stopping="all-pairs")
        for t in range(90):
            a = int(rng.integers(len(one.arms)))
            name = one.arms[a]
            one.tell(mediator="mediator 1", arm=name, reward=int(rng.random() < means[int(name[-1]) - 1]))
            if t == 30 and not one.done:
                estimates = {arm.arm: arm.estimate or 0.0 for arm in one.progress.arms}
                middle = sorted(estimates, key=lambda arm: estimates[arm])[1]
                one = one.without_arm(middle)
            if one.done:
                break
        left = [means[int(name[-1]) - 1] for name in one.arms]
        wrong += one.done and means[int(str(one.recommendation)[-1]) - 1] < max(left)
    assert wrong <= binom.ppf(0.999, runs, delta)


def test_a_rule_of_fixed_shares_takes_in_nobody() -> None:
    one = gb.Learner(ARMS, {"x": None, "y": None}, sampling=gb.Static([0.5, 0.5]))
    with pytest.raises(gb.ProblemError):
        one.with_mediator("z")


# studies ----------------------------------------------------------------------------------------------------------------


def used(study: Study, n: int, seed: int = 4, means: Any = (0.9, 0.2, 0.3)) -> None:
    rng = random.Random(seed)
    for _ in range(n):
        for query in study.ask():
            if query.mediator in "xyz":
                answer(study, query, rng, means)
            else:
                a = rng.randrange(3)
                study.tell(query, arm="abc"[a], reward=int(rng.random() < means[a]))


def sound(study: Study) -> None:
    """The doctor has no complaint, and a second reader sees the same."""
    assert study.doctor() == []
    other = Study(study.store, study.name, "another")
    assert other.status().to_dict() == study.status().to_dict()


def test_a_study_takes_in_a_mediator(new: Callable[..., Study]) -> None:
    study = new(delta=1e-6)
    used(study, 12)
    (waiting,) = study.ask()
    before = study.status()
    assert study.add_mediator("w", policy=[0.3, 0.3, 0.4], cost=0.1, contact="w@example.org").recorded
    after = study.status()
    assert (after.statistic, after.threshold, after.counted) == (before.statistic, before.threshold, before.counted)
    assert after.mediators[3]["mediator"] == "w"
    assert study.spec.cast.costs.tolist() == [1.0, 2.0, 1.0, 0.1]
    used(study, 20)
    study.tell(waiting, arm="a", reward=1)
    row = study.status().mediators[3]
    assert row["asked"] > 0
    assert row["contact"] == "w@example.org"
    assert [event["kind"] for event in study.events()].count("added") == 1
    assert {row["mediator"] for row in study.export()} >= {"w"}
    study.rename("w", "v")
    used(study, 3)
    sound(study)
    for bad, words in (
        ({"mediator": "x"}, "mediator 'x' is there already"),
        ({"mediator": "u", "policy": [0.5, 0.5]}, "policy must be a list of 3 probabilities"),
        ({"mediator": "u", "policy": [0.5, 0.5, 0.5]}, "sums to 1.5"),
        ({"mediator": "u", "cost": -1.0}, "a cost is a positive number"),
        ({"mediator": " "}, "a mediator needs a name"),
    ):
        held = study.status().events
        with pytest.raises(gb.GoBetweenError, match=words):
            study.add_mediator(**bad)
        assert study.status().events == held
    assert not study.add_mediator("t", key="k").alarm
    assert not study.add_mediator("t", key="k").recorded  # the same again


def test_a_policy_is_declared_anew(new: Callable[..., Study]) -> None:
    study = new(delta=1e-6)
    for _ in range(20):  # x was declared to pull a and b alone
        study.tell(mediator="x", arm="c", reward=0, accept_surprise=True, again=True)
    (waiting,) = study.ask()
    before = study.status()
    assert [alarm.subject for alarm in before.alarms if alarm.raised and alarm.kind == "policy"] == ["x"]
    assert study.declare("x").recorded
    after = study.status()
    assert not [alarm for alarm in after.alarms if alarm.raised]
    assert (after.statistic, after.threshold, after.counted) == (before.statistic, before.threshold, before.counted)
    assert not study.declare("x").recorded
    assert study.spec.cast.policies_by_name()["x"] is None
    study.tell(waiting, arm="a", reward=1, accept_surprise=True)
    used(study, 20)
    assert study.declare("x", {"b", "c"}, key="k").recorded
    assert not study.declare("x", {"c", "b"}, key="k").recorded  # the same again
    with pytest.raises(gb.StudyError, match="'x' was declared never to pull 'a'"):
        study.tell(mediator="x", arm="a", reward=1)
    study.declare("x", {"c": 1.0})
    assert study.spec.cast.policies_by_name()["x"] == [0.0, 0.0, 1.0]
    sound(study)
    study.retire("a", what="arm")
    study.declare("x", [0.5, 0.25, 0.25])
    study.declare("y", {"a"})
    used(study, 3)
    sound(study)
    for bad, words in (
        (("x", [0.5, 0.5]), "policy must be a list of 3 probabilities"),
        (("x", [0.5, 0.5, 0.5]), "sums to 1.5"),
        (("x", {"q"}), "'q' is not an arm"),
        (("x", {"q": 1.0}), "q"),
        (("u", None), "mediator 'u' is not known"),
    ):
        held = study.status().events
        with pytest.raises(gb.GoBetweenError, match=words):
            study.declare(*bad)
        assert study.status().events == held


def test_an_arm_that_nobody_would_reach_is_refused(new: Callable[..., Study]) -> None:
    study = new(mediators=[{"name": "x", "policy": [0.5, 0.5, 0.0]}, {"name": "y"}])
    with pytest.raises(gb.GoBetweenError, match="no mediator ever pulls 'c'"):
        study.declare("y", {"a"})
    assert study.status().events == 0


@pytest.mark.parametrize("sampling", ["pursuit", "tracking", "frank-wolfe", "uniform"])
def test_a_study_that_is_told_so_goes_on_like_one_that_was_told_at_once(new: Callable[..., Study], sampling: str) -> None:
    """Whatever the rule; what is declared late is planned with as if it had been declared before."""
    first, late = new(sampling=sampling, delta=1e-9), new(sampling=sampling, delta=1e-9)
    first.declare("x", {"c": 1.0})
    for study in (first, late):
        for i in range(12):
            study.tell(mediator="xyz"[i % 3], arm="cab"[i % 3], reward=i % 2, accept_surprise=True, again=True)
    late.declare("x", {"c": 1.0})
    assert [row["target"] for row in late.status().mediators] == pytest.approx(
        [row["target"] for row in first.status().mediators]
    )
    sound(late)


def test_a_mediator_is_retired_for_good(new: Callable[..., Study]) -> None:
    study = new(delta=1e-6)
    used(study, 6)
    open_ = study.ask(6)
    assert study.retire("x").recorded
    assert not study.retire("x").recorded
    assert {query.mediator for query in study.ask(10)} <= {"y", "z"}
    for query in open_:  # those of x are still taken
        study.tell(query, arm="a", reward=1)
    status = study.status()
    assert [row["retired"] for row in status.mediators] == [True, False, False]
    with pytest.raises(gb.StudyError, match=r"'x' was retired permanently.*add_mediator"):
        study.back("x")
    study.retire("y")
    with pytest.raises(gb.StudyError, match=r"'z' is the last mediator.*add_mediator"):
        study.retire("z")
    with pytest.raises(gb.StudyError, match="mediator 'q' is not known"):
        study.retire("q")
    study.rename("x", "xx")
    sound(study)
    study.away("z")
    with pytest.raises(gb.StudyError, match="no mediator can be asked: 'z' is away"):
        study.ask()


def test_an_arm_that_only_a_retired_mediator_reaches_is_told(new: Callable[..., Study]) -> None:
    study = new(mediators=[{"name": "x", "policy": [0.5, 0.5, 0.0]}, {"name": "y", "policy": [0.1, 0.1, 0.8]}])
    study.retire("y")
    found = [line for line in study.status().assumptions if line.startswith("Only 'y' (retired) reaches 'c'")]
    assert len(found) == 1
    study.add_mediator("w")
    assert not [line for line in study.status().assumptions if line.startswith("Only")]


def test_an_arm_is_retired(new: Callable[..., Study]) -> None:
    study = new(delta=1e-6)
    used(study, 30)
    (waiting,) = study.ask()
    assert study.retire("a", what="arm").recorded
    assert not study.retire("a", what="arm").recorded
    status = study.status()
    assert [arm["arm"] for arm in status.arms] == ["b", "c"]
    assert status.retired_arms == ["a"]
    assert status.leader in ("b", "c")
    counted = status.counted
    study.tell(waiting, arm="a", reward=1)  # kept, and not counted for any arm
    assert study.status().counted == counted + 1
    assert [arm["pulls"] for arm in study.status().arms] == [arm["pulls"] for arm in status.arms]
    assert list(study.export())[waiting.id]["arm"] == "a"
    study.correct(waiting, arm="c", reward=1, reason="typed wrongly")
    assert study.status().arms[1]["pulls"] == status.arms[1]["pulls"] + 1
    study.correct(waiting, arm="a", reward=0, reason="it was right")
    study.void(waiting, reason="twice")
    with pytest.raises(gb.GoBetweenError):
        study.tell(mediator="x", arm="a", reward=7)  # no reward of this family
    study.rename("a", "old")
    study.rename("b", "bb")
    used_arms = {"a": "old", "b": "bb"}
    (query,) = study.ask()
    study.tell(query, arm=used_arms["a"], reward=1)
    assert any("'old' was retired: the answer is about the remaining arms" in line for line in study.status().assumptions)
    sound(study)
    with pytest.raises(gb.StudyError, match="one arm would remain"):
        study.retire("bb", what="arm")
    with pytest.raises(gb.StudyError, match="what = 'both'"):
        study.retire("bb", what="both")  # type: ignore[arg-type]
    study.add_mediator("w", policy=[0.0, 0.5, 0.5])
    study.add_mediator("v", policy=[0.2, 0.4, 0.4])
    sound(study)


def test_a_verdict_is_about_the_arms_that_remain(new: Callable[..., Study]) -> None:
    study = new(delta=0.2)
    study.retire("a", what="arm")
    rng = random.Random(1)
    while study.status().verdict is None:
        (query,) = study.ask()
        study.tell(query, arm=rng.choice("abc"), reward=1, accept_surprise=True) if query.id % 4 == 0 else study.tell(
            query, arm=(arm := rng.choice("bc")), reward=int(arm == "c"), accept_surprise=True
        )
    assert study.status().sentence.startswith(
        "The best of the arms that remain is 'c'; this is wrong with probability at most 20%"
    )
    with pytest.raises(gb.StudyError, match="the study has stopped, and its answer is about all arms"):
        study.retire("b", what="arm")
    sound(study)


def test_a_file_brings_nobody_in_or_out(clock: Clock) -> None:
    store = Memory(clock)
    store.create("s", parse_study(SPEC, "test").to_dict(), {})
    study = Study(store, "s", "tester")
    study.ask()
    more = SPEC | {"mediators": [*SPEC["mediators"], {"name": "w"}]}
    with pytest.raises(
        gb.StudyError,
        match=r"mediators cannot change, the study has begun without 'w'; add_mediator\(name, …\) adds one",
    ):
        study.check(parse_study(more, "test"))
    study.add_mediator("w")
    assert study.check(parse_study(more, "test")) == {}
    study.declare("w", {"a", "b"})
    with pytest.raises(
        gb.StudyError, match=r"policies: of 'w' the study has another one: undo that; or, .* declare\(mediator, policy\)"
    ):
        study.check(parse_study(more, "test"))
    study.declare("w")
    with pytest.raises(
        gb.StudyError, match=r"mediators cannot change, the study has begun with 'w': write it there again; retire\(name\)"
    ):
        study.check(parse_study(SPEC, "test"))
    with pytest.raises(
        gb.StudyError,
        match=r"arms cannot change, the study has begun with 'c': write it there again; retire\(name, what='arm'\)",
    ):
        study.check(parse_study(more | {"arms": SPEC["arms"][:2], "mediators": [{"name": name} for name in "xyzw"]}, "test"))
    with pytest.raises(gb.StudyError, match="among the arms it began with, not 'd'"):
        study.check(
            parse_study(more | {"arms": [*SPEC["arms"], {"name": "d"}], "mediators": [{"name": n} for n in "xyzw"]}, "test")
        )
