"""What a study is about: from files and from Python values, and what may change."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from study_parts import SPEC

import gobetween as gb
from gobetween.study.journal.snapshot import snapshot_of
from gobetween.study.spec.fields import OPTIONAL
from gobetween.study.spec.spec import EDITABLE, parse_study
from gobetween.study.study import Study
from gobetween.words.study import change_words


def test_the_spec_freezes_at_the_first_event(new: Callable[..., Study]) -> None:
    study = new()
    study.edit(parse_study(SPEC | {"delta": 0.2}, "test"))
    assert study.spec.design.delta == 0.2
    study.ask()
    for changes, message in (
        ({"delta": 0.3}, "delta cannot change, the study has begun: it is 0.2, not 0.3"),
        ({"delta": 0.2, "seed": 4}, "seed cannot change"),
        ({"delta": 0.2, "family": "poisson"}, "family cannot change"),
        ({"delta": 0.2, "stopping": "paper"}, "stopping cannot change"),
        ({"delta": 0.2, "arms": [{"name": "b"}, {"name": "a"}, {"name": "c"}]}, "arms cannot change"),
        ({"delta": 0.2, "arms": SPEC["arms"][:2], "mediators": [{"name": "x"}, {"name": "y"}, {"name": "z"}]}, "cannot change"),
        ({"delta": 0.2, "wait_for": "answer"}, "wait_for cannot change"),
    ):
        with pytest.raises(gb.StudyError, match=message):
            study.edit(parse_study(SPEC | changes, "test"))
    renamed = [{**m, "name": m["name"].upper()} for m in SPEC["mediators"]]
    renamed[2]["contact"] = "z@example.org"
    changes = {"delta": 0.2, "title": "new", "mediators": renamed, "lease": "2h", "budget": {"queries": 50}, "in_flight": 2}
    study.away("y")
    with pytest.raises(gb.StudyError, match=r"mediators: there is 'X' where the study has 'x', 'Y' where .*rename\(old, new\)"):
        study.edit(parse_study(SPEC | changes, "test"))
    assert [event["kind"] for event in study.events()] == ["asked", "away"]
    for name in "xyz":
        assert study.rename(name, name.upper()).recorded
    wanted = study.check(parse_study(SPEC | changes, "test"))
    assert set(wanted) == {"title", "contacts", "lease", "max_queries", "in_flight"}
    assert wanted["lease"] == (3600.0, 7200.0)
    study.edit(parse_study(SPEC | changes, "test"))
    assert study.taken_over == wanted
    edited = {event["field"] for event in study.events() if event["kind"] == "edited"}
    assert edited == {"title", "mediators", "contacts", "lease", "max_queries", "in_flight"}
    assert study.spec.mediators == ("X", "Y", "Z")
    assert study.pending()[0].mediator == "X"
    study.tell(0, arm="a", reward=1)
    assert study.look()[0].away == ["Y"]
    assert study.doctor() == []


LEFT_OUT = [
    ("wait_for", "lease", "answer"),
    ("family", "poisson", {"name": "bounded", "low": 0, "high": 3}),
    ("delta", 0.01, 0.2),
    ("silent", True, False),
    ("seed", 7, 8),
    ("sampling", "uniform", "tracking"),
    ("stopping", "paper", "e-process"),
]


@pytest.mark.parametrize(("key", "value", "other"), LEFT_OUT)
def test_what_a_file_leaves_out_stays_as_the_study_was_begun(
    new: Callable[..., Study], key: str, value: Any, other: Any
) -> None:
    study = new(**{key: value})
    begun, plain = study.spec, {name: said for name, said in SPEC.items() if name != key}
    assert study.spec.to_dict()[key] != parse_study(plain, "test").to_dict()[key]
    assert key in study.check(parse_study(plain, "test"))  # before the first event a file is all there is
    study.ask()
    study.edit(parse_study(plain | {"title": "another"}, "test"))
    assert list(study.taken_over) == ["title"]
    assert study.check(parse_study(plain | {"title": "another"}, "test")) == {}
    assert study.spec.to_dict()[key] == begun.to_dict()[key]
    with pytest.raises(gb.StudyError, match=f"{key} cannot change, the study has begun"):
        study.edit(parse_study(plain | {key: other}, "test"))


def test_the_defaults_that_may_be_left_out_are_all_that_cannot_change() -> None:
    fixed = set(parse_study(SPEC, "test").to_dict()) - set(EDITABLE)
    assert fixed - set(OPTIONAL) == {"policies", "costs"}  # these are said mediator by mediator
    assert set(OPTIONAL) <= fixed


def test_a_spec_from_python_leaves_out_too(new: Callable[..., Study]) -> None:
    study = new(arms=[{"name": "a"}, {"name": "b"}], mediators=[{"name": "x"}], delta=0.05, lease=60)
    study.ask()
    said: dict[str, Any] = {"family": "bernoulli", "title": "three arms", "lease": 60}
    assert study.check(gb.StudySpec(["a", "b"], ["x"], **said)) == {}
    with pytest.raises(gb.StudyError, match="wait_for cannot change"):
        study.check(gb.StudySpec(["a", "b"], ["x"], **said, wait_for="answer"))


def test_renaming(new: Callable[..., Study]) -> None:
    study = new(arms=[{"name": "a"}, {"name": "b"}, {"name": "x"}])
    assert study.rename("b", "bee").recorded  # before the first event the spec itself changes
    assert list(study.events()) == []
    study.tell(study.ask()[0], arm="a", reward=1, accept_surprise=True)
    before = list(study.events())
    refused: list[tuple[dict[str, Any], str]] = [
        ({"old": "d", "new": "e"}, "name 'd' is not known: choose one of 'a', 'bee', 'x', 'x', 'y', 'z'"),
        ({"old": "a", "new": "bee"}, "'bee' is the name of another of the arms"),
        ({"old": "a", "new": " "}, "a name needs some text"),
        ({"old": "x", "new": "w"}, "'x' is the name of an arm and of a mediator; pass what='arm' or what='mediator'"),
        ({"old": "y", "new": "w", "what": "arm"}, "arm 'y' is not known"),
        ({"old": "y", "new": "w", "what": "clinic"}, "what = 'clinic': choose one of mediator, arm"),
        ({"old": "y", "new": "\x00"}, "new name: must be a text"),
    ]
    for arguments, message in refused:
        with pytest.raises(gb.StudyError, match=message):
            study.rename(**arguments)
    assert not study.rename("a", "a").recorded
    assert list(study.events()) == before
    assert study.rename("x", "w", what="mediator", key="k").recorded
    assert not study.rename("x", "w", what="mediator", key="k").recorded
    assert (study.spec.arms, study.spec.mediators) == (("a", "bee", "x"), ("w", "y", "z"))
    study.rename("a", "first")
    assert study.status().leader == "first"
    assert [row["arm"] for row in study.export()] == ["first"]
    assert study.doctor() == []


def test_checking_a_spec_changes_nothing(new: Callable[..., Study]) -> None:
    study = new()
    other = parse_study(SPEC | {"delta": 0.3, "lease": "2h"}, "test")
    assert study.check(other) == {"delta": (0.1, 0.3), "lease": (3600.0, 7200.0)}
    study.ask()
    before = snapshot_of(study.look()[0])
    with pytest.raises(gb.StudyError, match=r"delta cannot change, the study has begun: it is 0\.1, not 0\.3"):
        study.check(other)
    with pytest.raises(gb.StudyError, match="arms: there is 'd' where the study has 'c'"):
        study.check(parse_study(SPEC | {"arms": [{"name": "a"}, {"name": "b"}, {"name": "d"}]}, "test"))
    assert study.check(parse_study(SPEC, "test")) == {}
    assert snapshot_of(study.look()[0]) == before


@pytest.mark.parametrize(
    ("field", "old", "new", "words"),
    [
        ("lease", 259200.0, 172800.0, "lease: 3d -> 2d"),
        ("lease", None, 5400.0, "lease: none -> 1.5h"),
        ("lease", 0.5, 60.0, "lease: 0.5s -> 1m"),
        ("max_queries", 50, None, "max_queries: 50 -> none"),
        ("contacts", ["a", "b", ""], ["a", "c", "d"], "contacts: b -> c, none -> d"),
        ("title", "", "new", "title: none -> new"),
        ("arms", ["a", "b"], ["a"], "arms: ['a', 'b'] -> ['a']"),
    ],
)
def test_what_is_taken_over_in_words(field: str, old: Any, new: Any, words: str) -> None:
    assert change_words({field: (old, new)}) == [words]


def test_bad_specs() -> None:
    for changes, message in (
        ({"lease": "soon"}, "lease = 'soon': write a time such as '30m', '12h' or '3d'"),
        ({"lease": -1}, "lease = -1: must be a positive time"),
        ({"in_flight": 0}, "in_flight = 0: must be a whole number, 1 or more"),
        ({"budget": {"queries": 0}}, "budget: queries = 0: must be a whole number, 1 or more"),
        ({"budget": {"money": 3}}, "budget.money is not a known key: choose one of queries, cost"),
        ({"budget": 7}, "budget = 7: must be a table"),
        ({"budget": {"cost": -2}}, "budget.cost = -2: must be a positive number"),
        ({"wait_for": "godot"}, "wait_for = 'godot': choose one of lease, answer"),
        ({"delta": [0.1, 0.2]}, "a study has one risk"),
        ({"sampling": ["tracking", "uniform"]}, "sampling names 2 rules: a study follows one"),
        ({"sampling": "oracle"}, "a live learner cannot use it"),
        ({"sampling": "pruned"}, "prune=True needs the policy of every mediator"),
        ({"arms": [{"name": "a"}]}, "at least two arms"),
        ({"mediators": []}, "mediators is missing"),
        ({"leese": "1h"}, "leese is not a known key"),
    ):
        with pytest.raises(gb.SpecError) as caught:
            parse_study(SPEC | changes, "study.toml")
        assert message in str(caught.value)
        assert str(caught.value).startswith("study.toml: ")


def test_contacts_may_be_shared_and_swapped(new: Callable[..., Study]) -> None:
    study = new()
    study.ask()
    mediators = [dict(m) for m in SPEC["mediators"]]
    mediators[1]["contact"], mediators[0]["contact"] = "x@example.org", ""
    study.edit(parse_study(SPEC | {"mediators": mediators}, "test"))
    assert study.spec.contacts == ("", "x@example.org", "")


def test_a_spec_from_plain_values_is_that_of_a_file() -> None:
    said = gb.StudySpec(
        arms=["a", "b", "c"],
        mediators={"x": [0.5, 0.5, 0.0], "y": {"a": 0.1, "b": 0.1, "c": 0.8}, "z": None},
        family="bernoulli",
        delta=0.1,
        title="three arms",
        costs={"y": 2.0},
        contacts={"x": "x@example.org"},
        lease="1h",
        wait_for="lease",
    )
    assert said == parse_study(SPEC, "test")
    assert repr(said) == "<StudySpec 'three arms': 3 arms, 3 mediators, bernoulli, delta=0.1>"
    assert gb.StudySpec.from_dict(json.loads(json.dumps(said.to_dict()))) == said


def test_defaults_and_values_of_a_spec() -> None:
    spec = gb.StudySpec(["a", "b"], ["x", "y"])
    assert (spec.design.delta, spec.design.family) == (0.05, gb.Bernoulli())
    assert (spec.cast.costs.tolist(), spec.cast.policies_by_name()) == ([1.0, 1.0], {"x": None, "y": None})
    assert (spec.design.sampling, spec.design.stopping, spec.wait_for) == (gb.Pursuit(), gb.EProcess(), "answer")
    rich = gb.StudySpec(
        ("a", "b"),
        {"x": np.array([0.5, 0.5])},
        family=gb.Bounded(0, 5),
        costs=[3.0],
        sampling="uniform",
        stopping=gb.GLR(),
        in_flight=2,
        budget={"queries": 9},
    )
    assert (rich.design.family, rich.design.sampling, rich.design.stopping) == (
        gb.Bounded(0, 5),
        gb.UniformSampling(),
        gb.GLR(),
    )
    assert (rich.cast.costs.tolist(), rich.cast.policies_by_name()) == ([3.0], {"x": [0.5, 0.5]})
    assert (rich.max_queries, rich.max_cost) == (9, None)
    assert gb.StudySpec.from_dict(rich.to_dict()) == rich


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arms": ["a"]}, "a study needs at least two arms"),
        ({"arms": "ab"}, "arms = 'ab': must be a list of names"),
        ({"arms": ["a", "a"]}, "arms[1] = 'a' is also the name of arms[0]: names must differ"),
        ({"arms": ["a", 3]}, "arms[1] = 3: must be a string"),
        ({"mediators": 3}, "mediators = 3: must be a list of names"),
        ({"mediators": []}, "mediators is missing"),
        ({"mediators": {"x": [0.5, 0.4]}}, "sums to 0.9: it must sum to 1"),
        ({"mediators": {"x": [0.5, 0.4]}}, "if this mediator sometimes does not answer, set silent=True"),
        ({"mediators": {"x": 0.5}}, "mediators[0].policy must be a list of 2 probabilities"),
        ({"mediators": {"x": {"c": 1}}}, "mediators[0].policy.c is not a known key: choose one of a, b"),
        ({"costs": {"w": 1.0}}, "costs.w is not a known key: choose one of x"),
        ({"costs": [1.0, 2.0]}, "must be a list or a mapping with one for each of 1 mediators"),
        ({"costs": 3}, "costs = 3: must be a list or a mapping"),
        ({"contacts": {"w": "w"}}, "contacts.w is not a known key"),
        ({"contacts": {"x": 3}}, "mediators[0].contact = 3: must be a string"),
        ({"family": "normal"}, "family.name = 'normal': choose one of gaussian"),
        ({"family": gb.Bernoulli}, "Bernoulli is a class: pass a family, Bernoulli(…)"),
        ({"sampling": "best"}, "sampling = 'best': choose one of pursuit"),
        ({"sampling": gb.Oracle()}, "a live learner cannot use it"),
        ({"sampling": gb.Tracking}, "Tracking is a class: pass a sampling rule, Tracking(…)"),
        ({"stopping": 3}, "3 is not a stopping rule: pass one such as gb.EProcess()"),
        ({"delta": 2}, "delta = 2: the risk of a wrong answer"),
        ({"lease": "soon"}, "lease = 'soon': write a time"),
        ({"budget": {"money": 3}}, "budget.money is not a known key"),
        ({"wait_for": "godot"}, "wait_for = 'godot': choose one of lease, answer"),
    ],
)
def test_bad_values_of_a_spec(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(gb.GoBetweenError) as caught:
        gb.StudySpec(**({"arms": ["a", "b"], "mediators": {"x": None}} | changes))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
