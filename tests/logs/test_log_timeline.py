"""A log over time: stretches, mediators who learn, replays that do not hold, what is said of it."""

from typing import Any

import numpy as np
import pytest
from drift_streams import shuffled_evidence
from log_claims import false_drifting
from log_tables import table

import gobetween as gb
from gobetween.core.alarm.drift import split_at
from gobetween.pages.blocks import Picture
from gobetween.pages.log import sections
from gobetween.words.logs import replay_sentences, sentences


def learning(rows: int, seed: int = 0) -> dict[str, list[Any]]:
    """Thompson sampling of two arms beside a mediator who draws them evenly."""
    rng, won, lost = np.random.default_rng(seed), np.ones(2), np.ones(2)
    log: dict[str, list[Any]] = {"mediator": [], "arm": [], "reward": []}
    for t in range(rows):
        a = int(np.argmax(rng.beta(won, lost))) if t % 2 else int(rng.integers(2))
        paid = float(rng.random() < (0.6, 0.5)[a])
        won[a], lost[a] = won[a] + t % 2 * paid, lost[a] + t % 2 * (1.0 - paid)
        for key, value in zip(log, ("learner" if t % 2 else "even", "ab"[a], paid), strict=True):
            log[key].append(value)
    return log


def drifting(rows: int) -> dict[str, list[Any]]:
    """An arm that pays 0.2 in the first half and 0.7 in the second."""
    rng = np.random.default_rng(5)
    arms, means = rng.integers(0, 3, rows), np.tile([0.5, 0.4, 0.2], (rows, 1))
    means[rows // 2 :, 2] = 0.7
    paid = rng.random(rows) < means[np.arange(rows), arms]
    return {"arm": ["abc"[a] for a in arms], "reward": paid.astype(float).tolist()}


def test_stretches_make_up_the_log() -> None:
    log = table(1000)
    found = gb.analyse_logs(log)
    assert [stretch.since for stretch in found.stretches] == [0, *(stretch.until for stretch in found.stretches[:-1])]
    assert found.stretches[-1].until == 1000
    assert len(found.stretches) == 10
    last = found.stretches[-1]
    rows = list(zip(log["mediator"], log["arm"], log["reward"], strict=True))[last.since :]
    assert last.N_a.tolist() == [sum(arm == name for _, arm, _ in rows) for name in "abc"]
    assert last.S_a.tolist() == [sum(x for _, arm, x in rows if arm == name) for name in "abc"]
    assert last.N_ea is not None
    assert last.N_ea[1, 0] == sum((who, arm) == ("m1", "a") for who, arm, _ in rows)
    assert gb.analyse_logs(log | {"at": log["at"][::-1]}, order="at").stretches == ()


def test_one_who_learns_is_recognised_and_a_replay_says_that_it_does_not_hold() -> None:
    log = learning(3000)
    found = gb.analyse_logs(log)
    assert [one.mediator for one in found.adaptive] == ["learner"]
    assert found.adaptive[0].gain > 0.0
    assert found.adaptive[0].row in [split_at(j) for j in range(20)]
    assert any("'learner' seems to learn over time" in line for line in sentences(found))
    assert found.to_dict()["adaptive"][0]["mediator"] == "learner"
    replayed = gb.replay_logs(log, runs=2)
    assert replayed.drifting == ("learner",)
    assert any("'learner' changes over time" in line and "not valid" in line for line in replay_sentences(replayed))
    assert replayed.to_dict()["drifting"] == ["learner"]


def test_a_policy_that_drifts_for_no_gain_is_no_learning() -> None:
    log = table(3000, means=(0.5, 0.5, 0.5))
    rng = np.random.default_rng(1)
    for t in range(3000):
        if log["mediator"][t] == "m0":
            log["arm"][t] = "abc"[int(rng.choice(3, p=[0.6, 0.3, 0.1] if t < 1500 else [0.1, 0.3, 0.6]))]
    found = gb.analyse_logs(log)
    assert any(alarm.raised and alarm.at for alarm in found.alarms if alarm.kind == "policy-drift")
    assert found.adaptive == ()


def test_learning_is_told_from_chance_where_sigma_is_not_known() -> None:
    """The standard error of a gain is that of the spread that was seen."""
    rng = np.random.default_rng(2)
    half = ["a"] * 180 + ["b"] * 120, ["a"] * 60 + ["b"] * 240
    arms = [arm for part in half for arm in rng.permutation(part)]
    found = gb.analyse_logs({"arm": arms, "reward": rng.standard_normal(600)}, family=gb.Gaussian(sigma=None))
    assert any(alarm.raised for alarm in found.alarms if alarm.kind == "policy-drift")
    assert found.adaptive == ()


def test_steady_mediators_may_be_replayed() -> None:
    """False alarms, at a level that the mediators share, are rarer than it."""
    assert false_drifting(300, 0.05) <= 15
    assert gb.replay_logs(table(600), runs=2).drifting == ()


def test_drift_is_drawn_where_the_alarm_puts_it_and_what_remains_is_said() -> None:
    found = gb.analyse_logs(drifting(3000))
    assert found.broken is not None
    assert (found.broken.kind, found.broken.subject) == ("drift", "c")
    assert found.broken.at == 1536
    assert found.broken.size == pytest.approx(0.5, abs=0.1)
    assert any(line.startswith("Still valid") for line in sentences(found))
    pictures = {block.name: block for section in sections(found, ()) for block in section.blocks if isinstance(block, Picture)}
    drawn = pictures["means-over-time"].figure
    assert drawn.lines[0].name == "c"
    assert drawn.at == [1536]
    assert max(mean for _, mean in drawn.lines[0].points) > 0.6
    assert "shares-over-time-0" in pictures


def test_shuffled_rows_of_a_drifting_log_raise_no_alarm_beyond_its_level() -> None:
    """10,000 of them in `make validity`."""
    raised = sum(shuffled_evidence(seed) >= np.log(3 / 0.05) for seed in range(150))
    assert raised <= 12


def test_traffic_is_that_of_the_last_rows_alone() -> None:
    log = table(600, means=(0.9, 0.3, 0.2))
    found = gb.analyse_logs(log)
    assert found.traffic is not None
    last = log["arm"][found.traffic.since :]
    assert found.traffic.rows == len(last) < 300
    assert found.traffic.share == pytest.approx(sum(arm not in found.in_play for arm in last) / len(last))
