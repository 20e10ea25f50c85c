"""Learner, study and log say the same of the same answers: one verdict, one headline, the same alarms."""

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from launcher import gobetween
from log_tables import count_logs, table, write_csv
from memory_store import Memory

import gobetween as gb
from gobetween.core.alarm.alarm import Alarm, Check, Sentence, checks
from gobetween.logs.reading.options import LogOptions
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study
from gobetween.words.logs import sentences

ARMS = ("a", "b", "c")


def drifting(rows: int, seed: int) -> dict[str, list[Any]]:
    """The best arm changes half way."""
    first, then = table(rows, seed, (0.9, 0.3, 0.2)), table(3 * rows, seed + 1, (0.1, 0.8, 0.2))
    return {key: first[key] + then[key] for key in ("mediator", "arm", "reward")}


def new_study(**more: Any) -> Study:
    spec = {
        "family": "bernoulli",
        "delta": 0.05,
        "sampling": "uniform",
        "arms": [{"name": name} for name in ARMS],
        "mediators": [{"name": "m0"}, {"name": "m1"}],
    }
    store = Memory()
    store.create("s", parse_study(spec | more, "test").to_dict(), {})
    return Study(store, "s")


def told(log: dict[str, list[Any]]) -> gb.Learner:
    learner = gb.Learner(ARMS, {"m0": None, "m1": None}, family="bernoulli", delta=0.05, sampling="uniform")
    for mediator, arm, reward in zip(log["mediator"], log["arm"], log["reward"], strict=True):
        learner.tell(mediator=mediator, arm=arm, reward=reward)
    return learner


def numbers(alarms: Any) -> list[tuple[str, str, float, float, bool]]:
    return [(alarm.kind, alarm.subject, round(alarm.log_e, 6), alarm.limit, alarm.raised) for alarm in alarms]


def test_a_study_that_knows_arms_in_another_order_begins_with_the_claim_of_its_log() -> None:
    log = {"mediator": ["m0", "m1"] * 150, "arm": ["c", "a", "b"] * 100, "reward": [1, 0, 0] * 100}
    found = count_logs(LogOptions(), [log])
    assert found.claim is not None
    study = new_study(arms=[{"name": name} for name in "bca"])
    study.absorb(found, ["x"])
    (event,) = (event for event in study.events() if event["kind"] == "absorbed")
    assert study.spec.arms[event["claim"][0]] == found.arms[found.claim.arm] == "c"


@pytest.mark.parametrize("seed", range(4))
def test_a_log_says_the_same_however_it_is_read(seed: int) -> None:
    """In one pass, in parallel, and as the beginning of a study; with and without a change on the way."""
    rng = np.random.default_rng(seed)
    log = drifting(100, seed) if seed % 2 else table(240, seed, rng.uniform(0.2, 0.8, 3))
    rows = len(log["arm"])
    cuts = [0, *sorted(rng.integers(1, rows, 2).tolist()), rows]
    parts = [{key: log[key][i:j] for key in ("mediator", "arm", "reward")} for i, j in pairwise(cuts) if i < j]
    whole = gb.analyse_logs(*parts)
    with ThreadPoolExecutor(2) as executor:
        parallel = gb.analyse_logs(*parts, executor=executor)
    assert numbers(parallel.alarms) == numbers(whole.alarms)
    assert (parallel.headline, parallel.claim, sentences(parallel)) == (whole.headline, whole.claim, sentences(whole))
    assert [t for t, *_ in parallel.trail] == [t for t, *_ in whole.trail]
    study = new_study()
    receipt = study.absorb(count_logs(LogOptions(), parts), ["x"])
    status = study.status()
    assert numbers(status.alarms)[: len(whole.alarms)] == numbers(whole.alarms)
    assert (status.broken is None, receipt.alarm is None) == (whole.broken is None, whole.broken is None)
    assert (status.verdict is not None) == whole.identified
    if whole.identified and whole.broken is None:
        assert status.sentence == whole.headline
    assert study.doctor() == []
    one = told(log)
    assert [alarm[:2] for alarm in numbers(one.progress.alarms)] == [alarm[:2] for alarm in numbers(whole.alarms)]
    again = gb.Learner.from_dict(json.loads(json.dumps(one.to_dict())))
    assert again.progress.headline == one.progress.headline
    assert numbers(again.progress.alarms) == numbers(one.progress.alarms)


def test_an_arm_claimed_early_and_beaten_later_is_named_by_nobody() -> None:
    log = drifting(100, 1)
    found, one = gb.analyse_logs(log), told(log)
    assert found.claim is not None
    assert found.claim.arm == "a"
    for alarm in (found.broken, one.account().broken):
        assert alarm is not None
        assert (alarm.kind, alarm.subject, alarm.breaks) == ("contradiction", "a", True)
    assert found.headline.startswith("No recommendation, because an assumption is violated: 'b' is certain to be better after ")
    assert f"while 'a' was certain to be the best after {found.claim.row} rows" in found.headline
    assert "The best arm is" not in " ".join(sentences(found))
    assert "no recommendation" in repr(found)
    assert one.progress.headline.startswith("No recommendation, because an assumption is violated: 'b' is certain")
    assert "an assumption does not hold" in repr(one)


def test_weaker_evidence_at_the_end_contradicts_nothing() -> None:
    """The claim stands by its guarantee; the verdict is that of the end."""
    log: dict[str, list[Any]] = {"arm": ["a", "b"] * 40, "reward": [1, 0] * 8 + [1, 0, 0, 1] * 16}
    found = gb.analyse_logs(log)
    assert found.claim is not None
    assert (found.identified, found.broken, found.leader) == (False, None, "a")
    assert found.headline == "'a' leads after 80 rows; the log is not sure yet."
    assert sentences(found)[1].startswith(f"'a' was certain to be the best at row {found.claim.row}: ")


def test_a_study_keeps_watching_after_its_verdict() -> None:
    study = new_study(arms=[{"name": "a"}, {"name": "b"}], mediators=[{"name": "z"}])
    for i in range(16):
        study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 2 == 0), again=True)
    sentence = "The best arm is 'a'; this is wrong with probability at most 5%."
    assert (study.status().sentence, study.status().broken) == (sentence, None)
    for _ in range(30):
        study.tell(mediator="z", arm="b", reward=1, again=True)
        receipt = study.tell(mediator="z", arm="a", reward=0, again=True)
    assert receipt.alarm is not None
    status = study.status()
    assert status.sentence == receipt.alarm
    assert status.sentence.startswith("No recommendation, because an assumption is violated: 'b' is certain to be better after")
    assert json.loads(json.dumps(status.to_dict()))["alarms"][0]["kind"] == "contradiction"
    with pytest.raises(gb.StudyError, match=r"the study has stopped\. No recommendation, because an assumption is violated"):
        study.ask()
    assert study.doctor() == []


def test_what_breaks_the_guarantee_is_the_same_in_haste() -> None:
    """Hasty: what the likelihood ratio excludes is not looked at, and what only costs queries is not either."""
    rng, found = np.random.default_rng(5), set()
    for far in (0.0, 0.4, 0.8):
        learner = gb.Learner(3, {f"m{e}": [0.8, 0.1, 0.1] for e in range(4)}, family="bernoulli", delta=1e-9)
        for i in range(160):
            reward = rng.random() < 0.1 + far * (i % 4 == 3)
            learner.tell(mediator=f"m{i % 4}", arm=learner.arms[i % 3], reward=reward)
            if i % 20 == 0:
                whole = learner.account(detectable=False).broken
                assert learner.broken() == whole
                found.add(whole is None)
    assert found == {True, False}


def test_studies_raise_the_alarms_of_logs() -> None:
    declared = [{"name": "m0", "policy": [0.8, 0.1, 0.1]}, {"name": "m1"}]
    study, plain = new_study(mediators=declared, delta=1e-9), new_study(delta=1e-9)
    for i in range(90):
        for one in (study, plain):
            one.tell(mediator="m0", arm=ARMS[i % 3], reward=1, key=f"x{i}")
            one.tell(mediator="m1", arm=ARMS[i % 3], reward=int(i % 3 > 0), key=f"y{i}")
    raised = [(alarm.kind, alarm.subject, alarm.breaks) for alarm in study.status().alarms if alarm.raised]
    assert raised == [("confounding", "a", True), ("policy", "m0", False)]
    for number in range(180):  # what all of them said of an arm is taken out again
        if number // 2 % 3 == 0 and number % 2:
            plain.void(number, reason="not ours")
    status = plain.status()
    kinds = [(alarm.kind, alarm.subject) for alarm in status.alarms]
    expected = {"drift": ["a", "b", "c"], "confounding": ["b", "c"], "policy-drift": ["m0", "m1"]}
    assert kinds == [(kind, subject) for kind, subjects in expected.items() for subject in subjects]
    assert status.broken is None
    assert plain.doctor() == study.doctor() == []


def test_a_wrong_sigma_is_the_headline_of_learner_study_and_log() -> None:
    rng = np.random.default_rng(2)
    log = {"arm": ["a", "b"] * 20, "reward": (26.0 * rng.standard_normal(40) + 100.0).tolist()}
    found = gb.analyse_logs(log, family=gb.Gaussian(1.0))
    study = new_study(
        family={"name": "gaussian", "sigma": 1.0}, arms=[{"name": "a"}, {"name": "b"}], mediators=[{"name": "the log"}]
    )
    study.absorb(count_logs(LogOptions(gb.Gaussian(1.0)), [log]), ["x"])
    for headline in (found.headline, study.status().sentence):
        assert headline.startswith(
            "No recommendation, because an assumption is violated: Rewards vary more than sigma = 1 says"
        )
    assert (study.status().family, study.status().parameters) == ("gaussian, σ = 1", {"name": "gaussian", "sigma": 1.0})
    assert (found.family, found.parameters) == ("gaussian, σ = 1", {"name": "gaussian", "sigma": 1.0})
    fair = gb.analyse_logs(log, family=gb.Gaussian(30.0))
    assert (fair.broken, [alarm.kind for alarm in fair.alarms]) == (None, ["scale", "drift", "drift", "policy-drift"])


@pytest.mark.plain
def test_counts_that_vary_too_much_are_the_headline_of_learner_study_and_log() -> None:
    """Read in one pass, in parallel, as the beginning of a study and one by one; an answer that is taken out leaves no trace."""
    rng = np.random.default_rng(3)
    log = table(200, 1)
    log["reward"] = rng.negative_binomial(5.0, 0.5, 200).tolist()
    parts = [{key: log[key][i:j] for key in ("mediator", "arm", "reward")} for i, j in ((0, 90), (90, 100), (100, 200))]
    whole, options = gb.analyse_logs(*parts, family=gb.Poisson()), LogOptions(gb.Poisson())
    with ThreadPoolExecutor(2) as executor:
        parallel = gb.analyse_logs(*parts, family=gb.Poisson(), executor=executor)
    assert (numbers(parallel.alarms), sentences(parallel)) == (numbers(whole.alarms), sentences(whole))
    began, one = new_study(family="poisson"), new_study(family="poisson", delta=1e-9)
    began.absorb(count_logs(options, parts), ["x"])
    for i, (mediator, arm, reward) in enumerate(zip(log["mediator"], log["arm"], log["reward"], strict=True)):
        one.tell(mediator=mediator, arm=arm, reward=reward, key=str(i))
        began.tell(mediator=mediator, arm=arm, reward=reward, key=str(i))
    found = one.status().alarms[0]
    assert (found.kind, found.subject, round(found.log_e, 6)) == ("scale", "poisson", round(whole.alarms[0].log_e, 6))
    wrong = "No recommendation, because an assumption is violated: Rewards vary more than Poisson counts do ("
    for headline in (whole.headline, one.status().sentence, began.status().sentence):
        assert headline.startswith(wrong)
        assert re.search(r"variance about (1\.[6-9]|2\.[0-4])", headline)
    assert began.status().alarms[0].log_e > 1.5 * found.log_e
    one.tell(mediator="m0", arm="a", reward=900, key="typo")
    assert one.status().alarms[0].log_e > 2.0 * found.log_e
    one.correct(200, arm="a", reward=9, reason="typo")
    one.void(200, reason="not ours")
    assert one.status().alarms[0].log_e == pytest.approx(found.log_e, rel=1e-9)
    assert one.doctor() == began.doctor() == []
    log["reward"] = rng.poisson(5.0, 200).tolist()
    fair = gb.analyse_logs(log, family=gb.Poisson())
    assert [alarm.raised for alarm in fair.alarms] == [False] * len(fair.alarms)
    assert fair.alarms[0].words.startswith("No sign that rewards vary more than Poisson counts do")


@pytest.mark.plain
def test_a_saved_poisson_learner_raises_the_same_alarms() -> None:
    one = gb.Learner(["a", "b"], {"m": None}, family="poisson", delta=0.05)
    for i in range(20):
        one.tell(mediator="m", arm="ab"[i % 2], reward=100 * (i % 3))
    assert one.account().broken is not None
    again = gb.Learner.from_dict(json.loads(json.dumps(one.to_dict())))
    assert numbers(again.account().alarms) == numbers(one.account().alarms)


def test_a_new_alarm_is_heard_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """One check of core/alarm and its sentence: learner, study, log, their sentences and JSON know it."""
    full = Alarm("moon", "the moon", 9.0, 1.0, raised=True, breaks=True, details=Sentence("The moon is full."))
    known = (Check(0, True, lambda facts: [full]), *checks())
    monkeypatch.setattr("gobetween.core.alarm.alarm.checks", lambda: known)
    log, study = table(50), new_study()
    study.absorb(count_logs(LogOptions(), [log]), ["x"])
    found = gb.analyse_logs(log)
    expected = "No recommendation, because an assumption is violated: The moon is full."
    assert expected == found.headline == study.status().sentence == told(log).progress.headline
    assert sentences(found)[0] == expected
    of_log, of_study = found.to_dict()["alarms"][0], study.status().to_dict()["alarms"][0]
    assert all(of["remedies"] for of in (of_log, of_study))  # each in its own words
    assert of_log | {"remedies": []} == of_study | {"remedies": []}
    monkeypatch.setattr(
        "gobetween.core.alarm.alarm.checks", lambda: (Check(0, False, lambda facts: [replace(full, breaks=False)]),)
    )
    assert gb.analyse_logs(log).broken is None


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return gobetween(folder, *arguments, GOBETWEEN_JIT="off", COLUMNS="1000")


def test_exit_status_three(tmp_path: Path) -> None:
    log: dict[str, list[Any]] = {"arm": ["a", "b"] * 70, "reward": [1, 0] * 10 + [0, 1] * 60}
    write_csv(tmp_path / "log.csv", {"mediator": ["m0"] * 140} | log)
    expected = "No recommendation, because an assumption is violated"
    for arguments in (
        ("logs", "analyse", "log.csv"),
        ("logs", "analyse", "log.csv", "--workers", 2),
        ("init", "--from-log", "log.csv"),
        ("status",),
        ("report",),
        ("tell", "--mediator", "m0", "--arm", "a", "--reward", 1),
        ("ask",),
    ):
        done = run(tmp_path, *arguments)
        assert done.returncode == 3, (arguments, done.stdout, done.stderr)
        assert "The best arm is" not in done.stdout, arguments
        said = "No recommendation: " if arguments == ("status",) else expected  # a headline as on the page
        assert said in done.stdout + done.stderr or arguments == ("report",), arguments
    status = json.loads(run(tmp_path, "status", "--json").stdout)
    assert status["sentence"].startswith(expected)
    assert status["verdict"]["arm"] == "b"  # the record keeps its numbers


@pytest.mark.parametrize("sampling", ["uniform", "tracking"])
def test_what_is_to_go_is_said_where_it_can_be_known(sampling: str) -> None:
    study = new_study(arms=[{"name": "a"}, {"name": "b"}], mediators=[{"name": "z"}], sampling=sampling, delta=1e-6)
    study.tell(mediator="z", arm="a", reward=1)
    assert study.status().how_far.endswith("No estimate yet of how many queries it takes: 'b' has not been seen.")
    study.tell(mediator="z", arm="b", reward=1)
    assert study.status().how_far.endswith("No estimate yet of how many queries it takes: the best estimates are equal.")
    for i in range(20):
        study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 4 != 1), again=True)
    status = study.status()
    assert "tied" not in status.how_far
    assert "to 1" not in status.how_far
    assert status.queries_to_go is not None
    assert 5 < status.queries_to_go < 500
    assert status.cost_to_go == pytest.approx(status.queries_to_go)
    assert "Expect about" in status.how_far
