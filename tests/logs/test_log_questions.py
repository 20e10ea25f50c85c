"""Other questions than the best arm, asked of a log: one answer by every path, and the same as a learner's."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from log_tables import table, write_csv

import gobetween as gb
from gobetween.cli import gobetween
from gobetween.core.stopping.rules import BY_COUNTS
from gobetween.words.logs import sentences

FAR = (0.9, 0.6, 0.2)
QUESTIONS: list[Any] = [gb.TopM(2), gb.EpsilonBest(0.15), gb.Threshold(0.4), gb.TopM(1)]


def told(log: dict[str, list[Any]], question: Any, family: Any = "bernoulli") -> gb.Learner:
    mediators = dict.fromkeys(sorted(set(log["mediator"])))
    learner = gb.Learner(["a", "b", "c"], mediators, family=family, stopping=BY_COUNTS, question=question)
    for mediator, arm, reward in zip(log["mediator"], log["arm"], log["reward"], strict=True):
        learner.tell(mediator=mediator, arm=arm, reward=reward)
    return learner


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
@pytest.mark.parametrize("seed", range(4))
def test_a_log_says_what_a_learner_says(question: Any, seed: int) -> None:
    """The first claim is at the row at which a learner that is told the rows one by one names the same."""
    log = table(300, seed, FAR if seed else (0.55, 0.5, 0.45))
    found, one = gb.analyse_logs(log, question=question), told(log, question)
    assert (found.claim is None) == (one.verdict is None)
    if found.claim is not None and one.verdict is not None:
        assert (found.claim.row, found.claim.answer) == (one.verdict["counted"], one.answer)
        assert found.claim.arm == one.recommendation
    evidence = one.evidence()
    assert found.answer == tuple(one.arms[a] for a in evidence.answer)
    assert (found.statistic, found.threshold, found.p_value) == (evidence.statistic, evidence.threshold, evidence.p_value)
    if found.identified and found.broken is None:
        assert found.headline == f"{question.sentence(found.answer)}; this is wrong with probability at most 5%."
    elif found.broken is None:
        assert found.headline == f"{question.sentence(found.answer)}, it seems after 300 rows; the log is not sure yet."


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_parts_read_apart_say_the_same(question: Any) -> None:
    log = table(400, 5, FAR)
    late = [i for i, arm in enumerate(log["arm"]) if arm != "b" or i > 60]  # an arm that comes late
    log = {key: [values[i] for i in late] for key, values in log.items()}
    parts = [{key: values[i:j] for key, values in log.items()} for i, j in ((0, 30), (30, 31), (31, 200), (200, len(late)))]
    whole = gb.analyse_logs(*parts, question=question)
    with ThreadPoolExecutor(2) as executor:
        apart = gb.analyse_logs(*parts, question=question, executor=executor)
    assert whole.claim is not None
    assert whole.claim.row == told(log, question).verdict["counted"]  # type: ignore[index]
    assert (apart.claim, apart.headline, apart.answer) == (whole.claim, whole.headline, whole.answer)
    assert (sentences(apart), [row for row, *_ in apart.trail]) == (sentences(whole), [row for row, *_ in whole.trail])


def test_gaussian_rewards_too() -> None:
    rng = np.random.default_rng(1)
    arms = ["abc"[i % 3] for i in range(240)]
    rewards = [float(rng.normal({"a": 1.0, "b": 0.8, "c": 0.0}[arm], 0.5)) for arm in arms]
    log: dict[str, list[Any]] = {"mediator": ["m"] * 240, "arm": arms, "reward": rewards}
    found = gb.analyse_logs(log, family=gb.Gaussian(0.5), question=gb.TopM(2))
    one = told(log, gb.TopM(2), gb.Gaussian(0.5))
    assert found.claim is not None
    assert one.verdict is not None
    assert (found.claim.row, found.answer) == (one.verdict["counted"], ("a", "b"))


def test_what_is_missing_is_about_the_question() -> None:
    found = gb.analyse_logs(table(60, 1, (0.6, 0.5, 0.4)), question=gb.TopM(2))
    assert not found.identified
    problem = gb.Problem(
        [arm.estimate or 0.0 for arm in found.arms], found.N_ea / found.N_ea.sum(axis=1)[:, None], family="bernoulli"
    )
    lack = found.threshold - found.statistic
    assert found.queries_to_go == pytest.approx(lack * gb.question_bound(problem, gb.TopM(2)).T_star, rel=1e-4)
    assert found.queries_to_go <= found.rows_to_go * (1 + 1e-5)
    said = " ".join(sentences(found))
    assert "not the probability that this answer is right" in said
    assert "Still in play" not in said
    assert repr(found).endswith(f"it seems after 60 rows, not certain, δ = 0.05, p = {found.p_value:.2g}>")


def test_an_answer_of_earlier_rows_that_is_no_more_given_is_told_as_such() -> None:
    """Up to ε both arms may be named; the claim of the first rows stands beside the answer of the end."""
    rewards = [1, 1] * 10 + ([1, 1] * 5 + [0, 1]) * 20
    log = {"arm": ["a", "b"] * (len(rewards) // 2), "reward": rewards}
    found = gb.analyse_logs(log, question=gb.EpsilonBest(0.3))
    assert found.claim is not None
    assert (found.claim.answer, found.answer, found.identified) == (("a",), ("b",), True)
    assert f"At row {found.claim.row} this was certain: No arm is better than 'a' by more than 0.3;" in sentences(found)[1]
    assert f"certain after {len(rewards)} rows" in repr(found)


def test_arms_that_nobody_pulls_are_in_no_answer() -> None:
    log = {"arm": ["a", "b"] * 30, "reward": [-1.0, -2.0] * 30}
    found = gb.analyse_logs(log, family=gb.Gaussian(1.0), arms=["a", "b", "c"], question=gb.TopM(1))
    assert (found.answer, found.identified, found.never_pulled) == (("a",), False, ("c",))
    learner = gb.Learner(["a", "b", "c"], {"m": None}, family=gb.Gaussian(1.0), question=gb.TopM(1))
    learner.tell(mediator="m", arm="b", reward=-1.0)
    assert learner.answer == learner.account().answer == ("b",)


def test_a_lone_arm_can_be_above_a_level_but_not_better_than_others() -> None:
    lone = {"arm": ["a"] * 100, "reward": [1] * 100}
    found = gb.analyse_logs(lone, question=gb.Threshold(0.5))
    assert (found.answer, found.identified) == (("a",), True)
    assert found.claim is not None
    assert found.claim.row < 20
    assert not gb.analyse_logs(lone, question=gb.EpsilonBest(0.1)).identified


@pytest.mark.parametrize(
    ("question", "family", "says"),
    [
        (gb.TopM(3), "bernoulli", "m = 3: the best 3 of 3 arms are no question"),
        (gb.Threshold(1.5), "bernoulli", "theta = 1.5: no bernoulli arm is on both sides of it"),
        (gb.EpsilonBest(0.1), "geometric", "epsilon-best is not offered for geometric rewards"),
        ("second-best", "bernoulli", "'second-best' is not a known question"),
    ],
)
def test_questions_that_do_not_fit_are_refused_by_every_path(question: Any, family: str, says: str) -> None:
    log = table(30)
    log["reward"] = [1.0] * 30
    for call in (gb.analyse_logs, gb.replay_logs):
        with pytest.raises(gb.GoBetweenError, match=says):
            call(log, family=family, question=question)


@pytest.mark.plain
def test_a_replay_answers_the_question() -> None:
    log = table(600, 2, FAR)
    found = gb.replay_logs(log, question=gb.TopM(2), runs=6)
    assert set(found.named) == {"a, b"}
    assert found.to_dict()["named"] == {"a, b": 6}
    assert set(gb.replay_logs(log, question=gb.Threshold(0.95), runs=2).named) <= {"none", ""}
    with pytest.raises(gb.GoBetweenError, match=r"Tracking asks for the best arm: for top-m choose Pursuit\(\)"):
        gb.replay_logs(log, question=gb.TopM(2), sampling="unknown", runs=2)


def run(*words: object, status: int = 0) -> Result:
    result = CliRunner().invoke(gobetween, list(map(str, words)))
    assert result.exit_code == status, result.output
    return result


def test_the_command_line_asks_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "log.csv", table(300, 3, FAR))
    shown = run("logs", "analyse", "log.csv", "--question", "top-m:m=2", "--report", "page").output
    assert "The best 2 arms are 'a' and 'b'; this is wrong with probability at most 5%." in shown
    assert "top-m, m = 2" in (tmp_path / "page" / "report.html").read_text()
    found = json.loads(run("logs", "analyse", "log.csv", "--question", "top-m:m=2", "--json").output)
    assert (found["question"], found["answer"], found["claim"]["answer"]) == ({"name": "top-m", "m": 2}, ["a", "b"], ["a", "b"])
    replayed = json.loads(run("logs", "replay", "log.csv", "--question", "top-m:m=2", "--runs", 2, "--json").output)
    assert (replayed["question"], replayed["sampling"]) == ({"name": "top-m", "m": 2}, "pursuit")
    run("init", "s.toml", "--from-log", "log.csv", "--question", "top-m:m=2")
    status = json.loads(run("status", "--study", "s.toml", "--json").output)
    assert (status["question"], status["answer"], status["sentence"]) == (
        {"name": "top-m", "m": 2},
        ["a", "b"],
        found["headline"],
    )
    assert status["statistic"] == pytest.approx(found["statistic"], abs=1e-8)
    declared = json.loads(run("logs", "analyse", "log.csv", "--declared", "s.toml", "--json").output)
    assert declared["question"] == {"name": "top-m", "m": 2}  # what is not said is the file's
    Path("s.sqlite").replace("moved.sqlite")
    for words in (("--from-log", "log.csv"), ()):
        refused = CliRunner().invoke(gobetween, ["init", "s.toml", *words, "--question", "top-m:m=1"])
        assert "--question is for a new file from a log: write question = … into s.toml" in str(refused.exception)


def test_a_study_with_another_question_takes_no_claim_of_a_best_arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An arm that was the best for a while says nothing against two that are above a level; that its mean changed does."""
    monkeypatch.chdir(tmp_path)
    first, then = table(100, 1, (0.95, 0.5, 0.1)), table(900, 2, (0.55, 0.95, 0.1))
    write_csv(tmp_path / "log.csv", {key: first[key] + then[key] for key in ("mediator", "arm", "reward")})
    run("init", "s.toml", "--from-log", "log.csv", "--question", "threshold:theta=0.4", status=3)
    status = json.loads(run("status", "--study", "s.toml", "--json", status=3).output)
    assert {alarm["kind"] for alarm in status["alarms"] if alarm["raised"]} == {"drift"}
    assert run("logs", "analyse", "log.csv", status=3).exit_code == 3


def test_a_learner_that_is_not_sure_says_the_answer_that_its_evidence_is_about() -> None:
    """Looking whether any answer passes goes through all of them; the one that is said is the one with most evidence."""
    learner = gb.Learner(["a", "b"], {"m": None}, family="bernoulli", question=gb.EpsilonBest(0.1))
    for i in range(8):
        learner.tell(mediator="m", arm="ab"[i % 2], reward=int(i % 2 == 0 or i == 1))
    assert not learner.done
    assert learner.progress.headline.startswith("No arm is better than 'a' by more than 0.1, it seems after 8 counted answers")
