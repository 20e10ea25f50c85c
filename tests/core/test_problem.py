import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gobetween as gb

PI = [[0.5, 0.5], [0.1, 0.9]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(means=[1.0]), "a problem needs at least two arms, but means has 1"),
        (dict(means=[]), "means must be a list of numbers"),
        (dict(means=[[1, 2]]), "means must be a list of numbers, not an array of shape (1, 2)"),
        (dict(means=["a", "b"]), "means must be a list of numbers"),
        (dict(means=[1.0, math.nan]), "means[1] = nan ('arm 2') is not a mean of the bernoulli family"),
        (dict(means=[1.0, math.nan], family=gb.Gaussian(1.0)), "means[1] = nan ('arm 2') is not a mean of the gaussian family"),
        (
            dict(means=[1.5, 0.5]),
            "means[0] = 1.5 ('arm 1') is not a mean of the bernoulli family, the default: it must lie in [0, 1]; specify a family for other rewards, such as family=gb.Gaussian(sigma=2.0)",
        ),
        (
            dict(means=[1.0, 0.0], family="gaussian"),
            "gaussian needs sigma, the standard deviation of a reward; write gb.Gaussian(sigma=2.0), with your value",
        ),
        (
            dict(means=[1.2, 0.5], family=gb.Bernoulli()),
            "means[0] = 1.2 ('arm 1') is not a mean of the bernoulli family, the default: it must lie in [0, 1]",
        ),
        (
            dict(means=[1.2, -0.5], family=gb.Poisson()),
            "means[1] = -0.5 ('arm 2') is not a mean of the poisson family: it must lie in [0, inf)",
        ),
        (
            dict(means=[1.2, 0.0], family=gb.Exponential()),
            "means[1] = 0 ('arm 2') is not a mean of the exponential family: it must lie in (0, inf)",
        ),
        (
            dict(means=[2.0, 0.0], family=gb.Bounded(0, 1)),
            "means[0] = 2 ('arm 1') is not a mean of the bounded family: it must lie in [0, 1]",
        ),
        (
            dict(means=[1, 0], family="gausian"),
            "'gausian' is not a known family: did you mean gaussian? Choose one of gaussian, bernoulli, poisson, exponential, gamma",
        ),
        (dict(means=[1, 0], family=gb.Bernoulli), "Bernoulli is a class: pass a family, Bernoulli(…)"),
        (dict(means={"x": 1, "y": 0}, arms=["x", "y"]), "means has names already: leave out arms"),
        (dict(means={"x": 1, 3: 0}), "arms[1] = 3: a name is a non-empty string"),
        (dict(means={"x": 1, "y": 0}, policies={"m": {"x": 0.5, "z": 0.5}}), "policies[0] names 'z': choose one of 'x', 'y'"),
        (dict(means=[1, 0], policies={"m": PI[0]}, mediators=["m"]), "policies has names already: leave out mediators"),
        (dict(means=[1, 0], policies={"m": PI[0]}, costs={"n": 2.0}), "costs names 'n': choose one of 'm'"),
        (dict(means=[1, 0], policies={"m": PI[0]}, costs={"m": "dear"}), "costs must be a list of numbers"),
        (
            dict(means=[1, 0], policies=[0.5, 0.5]),
            "policies must be a matrix: one row of numbers for each mediator, all of one length",
        ),
        (dict(means=[1, 0], policies=[[0.5, 0.5], [1.0]]), "policies must be a matrix"),
        (
            dict(means=[1, 0], policies=[[0.2, 0.3, 0.5]]),
            "policies has shape 1×3: it needs one row for each mediator and one column for each of the 2 arms",
        ),
        (
            dict(means=[1, 0], policies=[[0.5, 0.5], [-0.1, 1.1]]),
            "policies[1][0] = -0.1 (mediator 'mediator 2', arm 'arm 1'): a probability is a number from 0 to 1",
        ),
        (
            dict(means=[1, 0], policies=[[50, 50]]),
            "policies[0][0] = 50 (mediator 'mediator 1', arm 'arm 1'): a probability is a number from 0 to 1; divide percentages by 100",
        ),
        (dict(means=[1, 1e60], family=gb.Gaussian(1.0)), "means[1] = 1e+60 ('arm 2') is not a mean of the gaussian family"),
        (dict(means=[1, 0], policies=[[1e308, 1e308]]), "policies[0][0] = 1e+308"),
        (dict(means=[1, 0], policies=[[0.5, math.inf]]), "policies[0][1] = inf (mediator 'mediator 1', arm 'arm 2')"),
        (
            dict(means=[1, 0], policies=[[0.5, 0.4]]),
            "policies[0] (mediator 'mediator 1') sums to 0.9: it must sum to 1 (to 1e-9: give enough digits); if this mediator sometimes does not answer, set silent=True",
        ),
        (dict(means=[1, 0], policies=[[0.5, 0.5 + 2e-9]]), "sums to 1.000000002: it must sum to 1"),
        (
            dict(means=[1, 0], policies=[[0.5, 0.6]], silent=True),
            "policies[0] (mediator 'mediator 1') sums to 1.1: it must sum to at most 1",
        ),
        (
            dict(means=[1, 0.5, 0], policies=[[0, 1, 0]]),
            "no mediator ever pulls 'arm 1' and 'arm 3': drop these arms or add a mediator who can pull them",
        ),
        (
            dict(means=[1, 0], policies=PI, costs=[1.0, 0.0]),
            "costs[1] = 0 (mediator 'mediator 2'): a cost is a positive number",
        ),
        (
            dict(means=[1, 0], policies=PI, costs=[1.0, math.nan]),
            "costs[1] = nan (mediator 'mediator 2'): a cost is a positive number",
        ),
        (dict(means=[1, 0], policies=PI, costs=[1.0]), "costs has 1 entries: it needs one for each of the 2 mediators"),
        (dict(means=[1, 0], arms=["a"]), "arms has 1 names for 2 arms"),
        (dict(means=[1, 0], arms=["a", "a"]), "arms[1] = 'a' is also the name of arms[0]: names must differ"),
        (dict(means=[1, 0], arms=["a", " "]), "arms[1] = ' ': a name is a non-empty string"),
        (dict(means=[1, 0], arms=["a", 3]), "arms[1] = 3: a name is a non-empty string"),
        (dict(means=[1, 0], arms="ab"), "arms must be a list of names, not 'ab'"),
        (dict(means=[1, 0], policies=PI, mediators=["x", "x"]), "mediators[1] = 'x' is also the name of mediators[0]"),
    ],
)
def test_every_mistake_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(gb.ProblemError) as caught:
        gb.Problem(**arguments)
    assert str(caught.value).startswith(message) or message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_direct_control_is_the_identity() -> None:
    problem = gb.Problem([1.0, 0.0, 0.5], family=gb.Gaussian(1.0), arms=["x", "y", "z"])
    assert problem.direct
    assert (problem.policies == np.eye(3)).all()
    assert problem.mediators == ("x", "y", "z")
    assert repr(problem) == "Problem(3 arms, direct control, Gaussian(sigma=1.0))"


def test_a_problem_is_read_only_and_apart_from_its_input() -> None:
    means = np.array([1.0, 0.0])
    problem = gb.Problem(means, PI, costs=[1, 2])
    means[0] = 5.0
    assert problem.means[0] == 1.0
    for array in (problem.means, problem.policies, problem.costs):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0  # type: ignore[index]


def test_nothing_of_a_problem_can_be_set() -> None:
    problem = gb.Problem([1.0, 0.0], PI, costs=[1, 2])
    for name in ("means", "policies", "family", "arms", "direct", "colour"):
        with pytest.raises(AttributeError, match=f"a Problem is read-only, so that '{name}' cannot be set: make another one"):
            setattr(problem, name, None)
        with pytest.raises(AttributeError, match="read-only"):
            delattr(problem, name)
    assert problem.means.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda problem: pickle.loads(pickle.dumps(problem))])
def test_copies_and_pickles_are_the_same_and_read_only(again: Callable[[gb.Problem], gb.Problem]) -> None:
    problem = gb.Problem({"a": 0.5, "b": 0.25}, PI, family="bernoulli", costs=[1, 2])
    other = again(problem)
    for name in ("means", "policies", "family", "costs", "silent", "direct", "arms", "mediators"):
        assert np.all(getattr(other, name) == getattr(problem, name))
    with pytest.raises(ValueError, match="read-only"):
        other.policies[0, 0] = 1.0
    with pytest.raises(AttributeError, match="read-only"):
        other.means = np.zeros(2)


def test_mappings_give_names() -> None:
    problem = gb.Problem(
        means={"letter": 0.62, "text message": 0.74},
        policies={"North": [0.8, 0.2], "South": {"text message": 0.7, "letter": 0.3}, "East": {"letter": 1.0}},
        family="bernoulli",
        costs={"South": 4.0},
    )
    assert problem.arms == ("letter", "text message")
    assert problem.mediators == ("North", "South", "East")
    assert problem.policies.tolist() == [[0.8, 0.2], [0.3, 0.7], [1.0, 0.0]]
    assert problem.costs is not None
    assert problem.costs.tolist() == [1.0, 4.0, 1.0]
    assert problem.family == gb.Bernoulli()
    assert gb.Problem({"x": 1.0, "y": 0.0}).mediators == ("x", "y")


def test_a_notebook_shows_a_problem() -> None:
    page = gb.Problem({"<b>": 0.5, "y": 0.25}, {"m": [0.5, 0.5]}, costs=[3])._repr_html_()
    assert "&lt;b&gt;</td><td>0.5</td><td>0.5</td>" in page
    assert "cost of a query</td><td></td><td>3</td>" in page
    many = gb.Problem(np.linspace(0.0, 1.0, 1000))._repr_html_()
    assert many.count("<tr>") == 21
    assert "1000 arms, direct control" in many
    assert "the first 20 of them" in many


def test_rates_divide_by_costs() -> None:
    problem = gb.Problem([1.0, 0.0], PI, costs=[2.0, 4.0])
    assert problem.rates == pytest.approx(np.array([[0.25, 0.025], [0.25, 0.225]]))


def test_unreachable_arms() -> None:
    assert gb.unreachable_arms([[0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]).tolist() == [0]
    assert gb.unreachable_arms(PI).tolist() == []


def test_names_come_from_their_homes() -> None:
    for name in gb.__all__:
        assert getattr(gb, name) is not None
    assert set(dir(gb)) == set(gb.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gb.nonsense  # type: ignore[attr-defined]  # noqa: B018  # it is not there
