"""A verdict is under review from a correction until the evidence is enough for it again, and everyone says the same."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from launcher import gobetween
from study_parts import clock, new, store

import gobetween as gb
from gobetween.pages.blocks import Text
from gobetween.pages.study.page import study_page
from gobetween.pages.study.status import sections

__all__ = ["clock", "new", "store"]
New = Callable[..., gb.Study]
TWO: dict[str, Any] = {"mediators": [{"name": "z"}], "arms": [{"name": "a"}, {"name": "b"}]}


def decided(study: gb.Study) -> gb.Study:
    """Told until it names a."""
    for i in range(60):
        if study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 2 == 0), again=True).stopped:
            return study
    raise AssertionError("no verdict")


def shown(study: gb.Study) -> str:
    """What people read first."""
    view = study.view(0)
    return " ".join(block.words for block in sections(study_page(view), view)[0].blocks if isinstance(block, Text))


def test_a_correction_puts_a_verdict_under_review_and_answers_make_it_sure_again(new: New) -> None:
    study = new(**TWO)
    late = study.ask()[0]
    assert study.status().state == "running"
    study.cancel(late)
    decided(study)
    assert study.status().state == "sure"
    (corrected,) = [row["query"] for row in study.export()][-1:]
    receipt = study.correct(corrected, arm="b", reward=1, reason="typo")
    status = study.status()
    assert (status.state, status.unsafe, status.broken) == ("under review", True, None)
    assert status.p_value > status.delta
    assert status.statistic < status.threshold
    assert "wrong with probability" not in shown(study)
    assert status.sentence.startswith("Under review: the verdict was “The best arm is 'a'”.")
    assert receipt.alarm == status.sentence
    assert "Resume the study to go on asking." in status.how_far
    assert status.queries_to_go is None or status.queries_to_go > 0
    with pytest.raises(gb.StudyError, match="Under review"):
        study.ask()
    for i in range(60):
        if study.look()[0].phase() == "sure":
            break
        study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 2 == 0), again=True)
    status = study.status()
    assert status.state == "sure"
    assert status.p_value <= status.delta
    assert "wrong with probability at most 10%" in status.sentence
    assert [event["kind"] for event in study.events()].count("stopped") == 1
    for _ in range(12):  # what comes after a verdict does not change it, whatever it says
        study.tell(mediator="z", arm="b", reward=1, again=True)
    after = study.status()
    assert (after.state, after.p_value, after.against) == ("sure", status.p_value, status.against)
    assert study.doctor() == []


def test_a_correction_that_leaves_evidence_enough_changes_no_verdict(new: New) -> None:
    study = decided(new(**TWO))
    for i in range(12):
        study.tell(mediator="z", arm="ab"[i % 2], reward=int(i % 2 == 0), again=True)
    study.void(0, reason="not ours")
    assert study.status().state == "sure"
    study.correct(1, mediator="z", arm="b", reward=1, reason="typo")
    assert study.doctor() == []


def test_a_study_that_goes_on_after_its_verdict_forgets_what_is_not_supported_any_more(new: New) -> None:
    study = decided(new(**TWO))
    study.resume()
    assert study.status().state == "running"
    assert "the study found this" in study.status().sentence
    for number in range(1, 8, 2):
        study.correct(number, arm="b", reward=1, reason="typo")
    status = study.status()
    assert (status.state, status.verdict) == ("running", None)
    assert status.sentence.endswith("the study is not sure yet.")
    assert study.doctor() == []


def test_resume_ends_a_review(new: New) -> None:
    study = decided(new(**TWO))
    study.void(0, reason="not ours")
    assert study.status().state == "under review"
    study.resume()
    assert study.status().state == "running"
    study.pause()
    assert study.status().state == "paused"
    assert study.doctor() == []


def test_an_alarm_needs_attention_and_a_budget_is_used(new: New) -> None:
    study = new(budget={"queries": 1}, **TWO)
    study.tell(study.ask()[0], arm="a", reward=1)
    assert study.status().state == "budget used"
    beaten = decided(new(**TWO))
    for _ in range(30):
        beaten.tell(mediator="z", arm="b", reward=1, again=True)
        beaten.tell(mediator="z", arm="a", reward=0, again=True)
    assert beaten.status().state == "needs attention"


def test_a_learner_says_the_same_and_asks_on() -> None:
    learner = gb.Learner(["a", "b"], {"z": None}, family="bernoulli", delta=0.1)
    told: list[tuple[str, float]] = []
    while not learner.done:
        arm = "ab"[len(told) % 2]
        told.append((arm, float(arm == "a")))
        learner.tell(mediator="z", arm=arm, reward=told[-1][1])
    learner.correct(1, "z", told[1], ("b", 1.0))
    assert not learner.done
    assert learner.progress.headline.startswith("Under review: the verdict was “The best arm is 'a'”.")
    assert learner.progress.p_value > 0.1
    assert "under review" in repr(learner)
    again = gb.Learner.from_dict(json.loads(json.dumps(learner.to_dict())))
    assert (again.done, again.progress.headline) == (learner.done, learner.progress.headline)
    assert learner.ask().mediator == "z"
    assert learner.progress.headline.endswith("the learner is not sure yet.")


def test_the_command_line_says_so_and_ends_with_three(tmp_path: Path) -> None:
    spec = 'family = "bernoulli"\ndelta = 0.1\n[[arms]]\nname = "a"\n[[arms]]\nname = "b"\n[[mediators]]\nname = "z"\n'
    (tmp_path / "study.toml").write_text(spec)
    with gb.Study.open_or_create(tmp_path / "study.sqlite", gb.StudySpec.from_toml(tmp_path / "study.toml")) as study:
        decided(study)

    def run(*arguments: str) -> Any:
        return gobetween(tmp_path, *arguments, GOBETWEEN_JIT="off", COLUMNS="1000")

    assert run("status").returncode == 0
    done = run("correct", "1", "--arm", "b", "--reward", "1", "--reason", "typo")
    assert done.returncode == 3
    assert "Under review" in done.stdout
    assert "the verdict stays" not in done.stdout
    for arguments in (("status",), ("status", "--json"), ("report",), ("ask",)):
        done = run(*arguments)
        assert done.returncode == 3, (arguments, done.stdout, done.stderr)
        assert "wrong with probability" not in done.stdout, arguments
    assert json.loads(run("status", "--json").stdout)["state"] == "under review"
    assert "· Under review" in run("status").stdout


def test_a_second_verdict_by_another_rule_says_that_both_err_with_twice_the_risk(new: New) -> None:
    study = new(**TWO | {"arms": [{"name": "a"}, {"name": "b"}, {"name": "c"}]})

    def until_sure() -> None:
        for i in range(400):
            if study.tell(mediator="z", arm="abc"[i % 3], reward=(1, i // 3 % 2, 0)[i % 3], again=True).stopped:
                return
        raise AssertionError("no verdict")

    until_sure()
    study.resume()
    study.retire("a", what="arm")
    assert not any("one of the two" in line for line in study.status().assumptions)
    until_sure()
    status = study.status()
    assert (status.state, status.answer) == ("sure", ["b"])
    assert any("one of the two at most 0.2." in line for line in status.assumptions)
    assert study.doctor() == []
