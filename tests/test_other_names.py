"""The names of arms and mediators, and so their order, change nothing but the order: whatever is told of a log, a plan or a learner."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import gobetween as gb
from gobetween.logs.analysis import advice as advising
from gobetween.logs.analysis import forecast as forecasting
from gobetween.simulation.plan import plan_for
from gobetween.words.logs import sentences

pytestmark = pytest.mark.plain  # many families and questions
ARMS, MEDIATORS = ("north", "east", "south", "west"), ("tom", "ann", "kim")
OTHERS = [dict(zip((*ARMS, *MEDIATORS), names, strict=True)) for names in (
    ("p1", "p2", "p3", "p4", "q1", "q2", "q3"), ("p4", "p3", "p2", "p1", "q3", "q2", "q1"), ("p3", "p1", "p4", "p2", "q2", "q3", "q1"),
)]  # fmt: skip
BY_PLACE = ("mixture", "omega")  # numbers in the order of the mediators
LOOSE = ("rows_forecast", "queries_forecast", "advice")  # drawn by chance, place by place


def plain(found: Any, names: Mapping[str, str]) -> Any:
    """A JSON value in which names are the first ones again, and what is in the order of names is sorted by them. Sentences are
    the words that they have: of two mediators either may be named first.
    """
    back = {new: old for old, new in names.items()}
    text = re.sub("|".join(back), lambda match: back[match[0]], json.dumps(found)) if back else json.dumps(found)
    return ordered(json.loads(text))


def ordered(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: ordered(value) for key, value in sorted(found.items())}
    if isinstance(found, list):
        parts = [ordered(value) for value in found]
        return parts if all(isinstance(part, float) for part in parts) else sorted(parts, key=key)
    return " ".join(sorted(re.findall(r"[\w.%-]*[\w%]", found))) if isinstance(found, str) else found


def key(part: Any) -> str:
    """What tells one entry of a list from the others: its words, for numbers may differ in the last digit."""
    if isinstance(part, dict):
        return json.dumps({name: value for name, value in part.items() if isinstance(value, (str, list))})
    return json.dumps(part)


def same(one: Any, other: Any, where: str = "", digits: int = 7) -> None:
    """Equal, numbers to some digits."""
    assert type(one) is type(other) or {type(one), type(other)} <= {int, float}, where
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for name in one:
            same(one[name], other[name], f"{where}.{name}", digits)
    elif isinstance(one, list):
        assert len(one) == len(other), (where, one, other)
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            same(a, b, f"{where}[{i}]", digits)
    elif isinstance(one, float):
        close = 0.05 if where.endswith(".detectable") else 10.0**-digits  # of two mediators either may be the one who differs
        assert one == pytest.approx(other, rel=close, abs=close), where
    else:
        assert one == other, where


def by_name(data: dict[str, Any]) -> dict[str, Any]:
    """What stands in the order of the mediators, beside their names."""
    named = {name: dict(zip(data["mediators"], data[name], strict=True)) for name in BY_PLACE if data.get(name) is not None}
    for alarm in data["alarms"]:
        alarm["size"] = alarm["size"] and abs(alarm["size"])  # of two mediators either may be the one that pays more
    return {name: value for name, value in data.items() if name not in LOOSE} | named


def log(seed: int, confounded: bool) -> dict[str, list[Any]]:
    """Of four arms one is pulled by two mediators only, neither of them the first, one hardly ever; it may be confounded."""
    rng = np.random.default_rng(seed)
    policies = np.array([[0.6, 0.4, 0.0, 0.0], [0.3, 0.3, 0.39, 0.01], [0.2, 0.4, 0.39, 0.01]])
    means = np.array([0.75, 0.5, 0.5, 0.4])
    e = rng.choice(3, 500, p=[0.5, 0.2, 0.3])
    a = np.array([rng.choice(4, p=policies[i]) for i in e])
    shift = np.where((a == 2) & confounded, np.where(e == 1, 0.45, -0.45), 0.0)
    x = (rng.random(500) < means[a] + shift).astype(float)
    return {"mediator": [MEDIATORS[i] for i in e], "arm": [ARMS[i] for i in a], "reward": x.tolist()}


def renamed(columns: Mapping[str, Sequence[Any]], names: Mapping[str, str]) -> dict[str, list[Any]]:
    return {column: [names.get(value, value) for value in values] for column, values in columns.items()}


@pytest.mark.parametrize("confounded", [False, True])
@pytest.mark.parametrize(
    "question", [gb.BestArm(), gb.TopM(2), gb.EpsilonBest(0.1), gb.Threshold(0.45)], ids=lambda one: one.name
)
def test_a_log(question: gb.Question, confounded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasting, "WORK", 0)  # what is drawn by chance depends on the order
    monkeypatch.setattr(advising, "PLANS", 0)
    columns, found = log(1, confounded), []
    declared: dict[str, list[float] | None] = {"tom": [0.6, 0.4, 0.0, 0.0], "ann": [0.3, 0.3, 0.2, 0.2], "kim": None}
    for names in ({}, *OTHERS):
        arms = sorted(names.get(arm, arm) for arm in ARMS)
        rows: dict[str, list[float] | None] = {}
        for mediator, row in declared.items():
            of = dict(zip((names.get(arm, arm) for arm in ARMS), row or (), strict=row is not None))
            rows[names.get(mediator, mediator)] = row and [of[arm] for arm in arms]
        report = gb.analyse_logs(renamed(columns, names), arms=arms, declared=rows, question=question, delta=0.05)
        data = by_name(report.to_dict()) | {"said": sentences(report)}
        found.append(plain(data, names))
    raised = {(alarm["kind"], alarm["subject"]) for alarm in found[0]["alarms"] if alarm["raised"]}
    assert (("confounding", "south") in raised) == confounded
    assert ("policy", "ann") in raised
    for other in found[1:]:
        same(found[0], other)


@pytest.mark.parametrize("costs", [None, [4.0, 3.0, 2.5]])
@pytest.mark.parametrize("question", [gb.BestArm(), gb.TopM(2), gb.Threshold(0.55)], ids=lambda one: one.name)
def test_a_plan(question: gb.Question, costs: list[float] | None) -> None:
    means, found = [0.3, 0.8, 0.6, 0.5], []
    policies = np.array([[0.1, 0.6, 0.1, 0.2], [0.5, 0.2, 0.2, 0.1], [0.25, 0.1, 0.6, 0.05]])
    for names in ({}, *OTHERS):
        arms, mediators = (sorted(range(len(old)), key=lambda i: names.get(old[i], str(i))) for old in (ARMS, MEDIATORS))
        problem = gb.Problem(
            [means[a] for a in arms],
            policies[np.ix_(mediators, arms)],
            costs=costs and [costs[e] for e in mediators],
            arms=[names.get(ARMS[a], ARMS[a]) for a in arms],
            mediators=[names.get(MEDIATORS[e], MEDIATORS[e]) for e in mediators],
            family=gb.Bernoulli(),
        )
        data = plan_for(problem, question, (0.1, 0.01), ()).to_dict()
        found.append(plain({name: value for name, value in data.items() if name != "iterations"}, names))
    for other in found[1:]:
        same(found[0], other, digits=4)


@pytest.mark.parametrize("family", [gb.Bernoulli(), gb.Gaussian(1.0), gb.Poisson()], ids=lambda one: one.name)
@pytest.mark.parametrize(
    "question", [gb.BestArm(), gb.TopM(2), gb.EpsilonBest(0.1), gb.Threshold(0.45)], ids=lambda one: one.name
)
def test_a_learner(question: gb.Question, family: gb.Family) -> None:
    """Answers come in the same order, some late, one arm was hardly seen; then one is corrected."""
    columns, found = log(2, False), []
    rows = list(zip(*(columns[name][:150] for name in ("mediator", "arm", "reward")), strict=True))
    for names in ({}, *OTHERS):
        mine = {old: names.get(old, old) for old in (*ARMS, *MEDIATORS)}
        one = gb.Learner(
            sorted(mine[arm] for arm in ARMS), {name: None for name in sorted(mine[name] for name in MEDIATORS)},
            family=family, delta=1e-6, question=question,
        )  # fmt: skip
        late = None
        for i, (mediator, arm, reward) in enumerate(rows):
            if i == 100:
                late = one.ask(available=[mine["kim"]])
            one.tell(mediator=mine[mediator], arm=mine[arm], reward=reward)
        seen = [seen_of(one)]
        one.tell(late, arm=mine["east"], reward=1.0)
        mediator, arm, reward = rows[7]
        one.correct(7, mine[mediator], (mine[arm], reward), (mine["west"], 0.0))
        found.append(plain([*seen, seen_of(one)], names))
    for other in found[1:]:
        same(found[0], other)


def seen_of(one: gb.Learner) -> dict[str, Any]:
    progress = one.progress
    return {
        "statistic": progress.statistic, "p_value": progress.p_value, "counted": progress.counted, "told": progress.told,
        "arms": [asdict(arm) for arm in progress.arms], "in_play": list(progress.in_play), "shares": dict(progress.shares),
        "alarms": [[alarm.kind, alarm.subject, alarm.log_e, alarm.limit, alarm.raised] for alarm in progress.alarms],
        "headline": progress.headline,
    }  # fmt: skip
