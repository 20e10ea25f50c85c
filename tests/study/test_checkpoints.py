"""Drift in learners, studies and logs: what is kept, what corrections do to it, and what is said."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from log_tables import count_logs, table
from memory_store import Memory

import gobetween as gb
from gobetween.cli import gobetween
from gobetween.core.alarm.drift import Trajectory, split_at
from gobetween.logs.reading.options import LogOptions
from gobetween.study.learner.ledger import new_ledgers
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study
from gobetween.words.logs import sentences

ARMS, MEDIATORS = ["a", "b", "c"], ["m0", "m1"]


def rows_of(n: int, seed: int = 0, jump: float = 0.0, other: bool = False) -> list[tuple[str, str, float]]:
    """Answers; of arm a better by `jump` in the second half; m1 chooses otherwise there."""
    rng, found = np.random.default_rng(seed), []
    for t in range(n):
        e, late = int(rng.integers(2)), t >= n // 2
        a = int(rng.choice(3, p=[0.6, 0.3, 0.1] if e == 0 else [0.1, 0.3, 0.6] if late and other else [0.4, 0.4, 0.2]))
        found.append((MEDIATORS[e], ARMS[a], float(rng.random() < 0.3 + (jump if a == 0 and late else 0.0))))
    return found


def learner(rows: list[tuple[str, str, float]], **more: Any) -> gb.Learner:
    made = gb.Learner(ARMS, dict.fromkeys(MEDIATORS), family="bernoulli", delta=1e-9, **more)
    for mediator, arm, reward in rows:
        made.tell(mediator=mediator, arm=arm, reward=reward)
    return made


def trajectory(made: gb.Learner) -> Trajectory:
    found = made.state.facts().trajectory
    assert found is not None
    return found


def same(one: Trajectory, other: Trajectory) -> bool:
    pairs = zip((*one.checkpoints, one.end), (*other.checkpoints, other.end), strict=True)
    return all(
        x.j == y.j and (x.N_a == y.N_a).all() and np.allclose(x.S_a, y.S_a) and np.array_equal(x.N_ea, y.N_ea)  # type: ignore[arg-type]
        for x, y in pairs
    )


def raised(alarms: Any) -> list[tuple[str, str, bool]]:
    return [(alarm.kind, alarm.subject, alarm.breaks) for alarm in alarms if alarm.raised]


def test_what_is_kept_is_what_was_counted_at_the_splits() -> None:
    rows = rows_of(100)
    found = trajectory(learner(rows))
    assert [checkpoint.j for checkpoint in found.checkpoints] == [j for j in range(20) if split_at(j) <= 100]
    for checkpoint in found.checkpoints:
        before = rows[: split_at(checkpoint.j)]
        N_ea = [[sum(row[:2] == (m, a) for row in before) for a in ARMS] for m in MEDIATORS]
        assert checkpoint.N_ea is not None
        assert (checkpoint.N_ea == N_ea).all()
        assert (checkpoint.N_a == np.sum(N_ea, axis=0)).all()
        assert checkpoint.S_a.tolist() == [sum(row[2] for row in before if row[1] == a) for a in ARMS]


def test_drift_of_rewards_breaks_the_guarantee_and_drift_of_a_policy_does_not() -> None:
    one = learner(rows_of(800, 1, 0.4))
    assert raised(one.account().alarms) == [("drift", "a", True)]
    assert one.broken() == one.account(detectable=False).broken
    headline = one.progress.headline
    assert headline.startswith("No recommendation, because an assumption is violated: The mean reward of 'a' has changed (0.")
    assert " until about answer 384, 0." in headline or " until about answer 512, 0." in headline
    other = learner(rows_of(800, 1, other=True))
    assert raised(other.account().alarms) == [("policy-drift", "m1", False)]
    assert other.broken() is None
    assert "A mediator that learns looks like this" in next(a.words for a in other.account().alarms if a.raised)
    assert raised(learner(rows_of(800, 1)).account().alarms) == []


def test_all_alarms_of_a_kind_are_false_with_one_percent_together() -> None:
    found = learner(rows_of(100)).account().alarms
    for kind, number in (("drift", 3), ("policy-drift", 2)):
        limits = [alarm.limit for alarm in found if alarm.kind == kind]
        assert len(limits) == number
        assert sum(np.exp(-np.array(limits))) == pytest.approx(0.01)


def test_silence_is_one_more_choice() -> None:
    made = gb.Learner(ARMS, {"m": None}, family="bernoulli", delta=1e-9, silent=True)
    for i in range(200):
        if i >= 100 and i % 2:
            made.tell(mediator="m", silent=True)
        else:
            made.tell(mediator="m", arm=ARMS[i * 7 % 3], reward=i % 5 < 2)
    found = [alarm for alarm in made.account().alarms if alarm.raised]
    assert [(alarm.kind, alarm.subject) for alarm in found] == [("policy-drift", "m")]
    assert "silence 0% of the time until about answer 96, " in found[0].words


@pytest.mark.parametrize("cut", [5, 70, 130])
def test_a_saved_learner_goes_on_as_it_would_have(cut: int) -> None:
    rows = rows_of(200, 3, 0.3)
    one = gb.Learner.from_dict(json.loads(json.dumps(learner(rows[:cut]).to_dict())))
    for mediator, arm, reward in rows[cut:]:
        one.tell(mediator=mediator, arm=arm, reward=reward)
    whole = learner(rows)
    assert same(trajectory(one), trajectory(whole))
    assert one.to_dict() == whole.to_dict()


def test_answers_are_counted_in_the_order_of_their_queries() -> None:
    """Told in any order, saved while some wait: by mediator too, what is kept is as if told in order."""
    rng, rows = np.random.default_rng(4), rows_of(60, 5)
    made = gb.Learner(ARMS, dict.fromkeys(MEDIATORS), family="bernoulli", delta=1e-9)
    plain = gb.Learner(ARMS, dict.fromkeys(MEDIATORS), family="bernoulli", delta=1e-9)
    queries = [made.ask() for _ in rows]
    for i in rng.permutation(60).tolist():
        made.tell(queries[i], arm=rows[i][1], reward=rows[i][2])
        made = gb.Learner.from_dict(json.loads(json.dumps(made.to_dict())))
    for query, (_, arm, reward) in zip(queries, rows, strict=True):
        plain.tell(mediator=query.mediator, arm=arm, reward=reward)
    assert same(trajectory(made), trajectory(plain))


def test_a_correction_is_as_if_the_answer_had_been_right() -> None:
    rows = rows_of(100, 6)
    wrong = [("m0", "c", 1.0) if i in (3, 47, 90) else row for i, row in enumerate(rows)]
    made = learner(wrong)
    for i in (3, 47, 90):
        made.move(i, "m0", rows[i][0], ("c", 1.0))
        made.correct(i, rows[i][0], ("c", 1.0), rows[i][1:])
    assert same(trajectory(made), trajectory(learner(rows)))
    made.void(20, rows[20][0], rows[20][1:])
    found, left = trajectory(made), [row for i, row in enumerate(rows) if i != 20]
    for checkpoint in found.checkpoints:
        before = left[: split_at(checkpoint.j) - (split_at(checkpoint.j) > 20)]
        assert checkpoint.N_a.tolist() == [sum(row[1] == a for row in before) for a in ARMS]
    assert found.end.N_a.sum() == 99


def test_a_correction_of_answers_counted_as_they_come_begins_anew() -> None:
    rows = rows_of(100, 7)
    made = learner(rows, order="arrival")
    assert len(trajectory(made).checkpoints) == 8
    made.correct(3, rows[3][0], rows[3][1:], ("c", 1.0))
    assert trajectory(made).checkpoints == []
    for mediator, arm, reward in rows:
        made.tell(mediator=mediator, arm=arm, reward=reward)
    assert [split_at(checkpoint.j) for checkpoint in trajectory(made).checkpoints] == [128, 192]
    whole = learner([*rows[:3], (rows[3][0], "c", 1.0), *rows[4:], *rows], order="arrival")
    assert (trajectory(made).checkpoints[0].N_a == trajectory(whole).checkpoints[-2].N_a).all()


def test_another_cast() -> None:
    rows = rows_of(100, 8)
    made = learner(rows).with_mediator("new").without_arm("b")
    found = trajectory(made)
    for checkpoint, before in zip(found.checkpoints, trajectory(learner(rows)).checkpoints, strict=True):
        assert checkpoint.N_ea is not None and before.N_ea is not None  # noqa: PT018
        assert checkpoint.N_ea[:2, :2].tolist() == before.N_ea[:, [0, 2]].tolist()
        assert checkpoint.N_ea[:2, 2].tolist() == before.N_ea[:, 1].tolist()
        assert not checkpoint.N_ea[2].any()
    made.tell(mediator="new", arm="a", reward=1)
    assert gb.Learner.from_dict(json.loads(json.dumps(made.to_dict()))).to_dict() == made.to_dict()


def test_many_mediators_and_arms_are_watched_for_rewards_only() -> None:
    assert new_ledgers(gb.Bernoulli(), 99, 10)[1].N_ea is not None
    assert new_ledgers(gb.Bernoulli(), 100, 10)[1].N_ea is None
    made = gb.Learner(2000, 2, family="bernoulli", delta=1e-9)
    for i in range(100):
        made.tell(mediator=made.mediators[i % 2], arm=made.arms[0], reward=i >= 50)
    saved = json.loads(json.dumps(made.to_dict()))
    assert saved["checkpoints"]["N_a"]["shape"] == [8, 2000]  # as bytes
    made = gb.Learner.from_dict(saved)
    assert raised(made.account(detectable=False).alarms) == [("drift", made.arms[0], True)]
    assert made.to_dict() == saved


def log_of(rows: list[tuple[str, str, float]]) -> dict[str, list[Any]]:
    return {
        "mediator": [r[0] for r in rows],
        "arm": [r[1] for r in rows],
        "reward": [r[2] for r in rows],
        "at": [*range(len(rows))],
    }


def test_logs_say_it_as_learners_do() -> None:
    rows = rows_of(800, 1, 0.4, other=True)
    log = log_of(rows)
    parts = [{key: value[i : i + 300] for key, value in log.items()} for i in (0, 300, 600)]
    whole = gb.analyse_logs(*parts, order="at")
    with ThreadPoolExecutor(2) as executor:
        parallel = gb.analyse_logs(*parts, order="at", executor=executor)
        once = gb.analyse_logs(iter(parts), executor=executor)
    assert whole.alarms == parallel.alarms
    assert raised(whole.alarms) == [("drift", "a", True), ("policy-drift", "m1", False)]
    assert whole.headline.startswith("No recommendation, because an assumption is violated: The mean reward of 'a' has changed")
    assert any("'m1' has changed how it chooses" in line for line in sentences(whole))
    found = {(alarm.kind, alarm.subject): alarm.log_e for alarm in learner(rows).account().alarms}
    assert all(
        found[alarm.kind, alarm.subject] == pytest.approx(alarm.log_e) for alarm in whole.alarms if "drift" in alarm.kind
    )
    assert not [alarm for alarm in once.alarms if "drift" in alarm.kind]
    log["at"][5] = 900
    assert not [alarm for alarm in gb.analyse_logs(log, order="at").alarms if "drift" in alarm.kind]
    assert "Same reward over time: no problem found (" in " ".join(sentences(gb.analyse_logs(table(500))))


def test_an_arm_that_is_seen_late_and_a_log_that_a_study_goes_on_from() -> None:
    rows = [row for row in rows_of(100, 2) if row[1] != "c"][:40] + rows_of(100, 3)
    arms, mediators, store = ["c", "b", "a", "d"], ["m1", "m0"], Memory()
    cast = {"arms": [{"name": name} for name in arms], "mediators": [{"name": name} for name in mediators]}
    spec = {"title": "t", "family": "bernoulli", "delta": 1e-9, "sampling": "uniform", **cast}
    store.create("s", parse_study(spec, "test").to_dict(), {})
    study = Study(store, "s")
    study.absorb(count_logs(LogOptions(), [log_of(rows)]), ["x"])
    more = rows_of(60, 4)
    for i, (mediator, arm, reward) in enumerate(more):
        study.tell(mediator=mediator, arm=arm, reward=reward, key=str(i))
    plain = gb.Learner(arms, dict.fromkeys(mediators), family="bernoulli", delta=1e-9)
    for mediator, arm, reward in rows + more:
        plain.tell(mediator=mediator, arm=arm, reward=reward)
    found = {(alarm.kind, alarm.subject): alarm.log_e for alarm in study.status().alarms if "drift" in alarm.kind}
    assert found == pytest.approx(
        {(alarm.kind, alarm.subject): alarm.log_e for alarm in plain.account().alarms if "drift" in alarm.kind}
    )
    assert ("drift", "d") not in found
    assert study.doctor() == []


def test_a_log_that_drifts_ends_with_status_three(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    lines = [f"{m},{a},{x:g}" for m, a, x in rows_of(800, 1, 0.4)]
    path.write_text("\n".join(["mediator,arm,reward", *lines]) + "\n", encoding="utf-8")
    done = CliRunner().invoke(gobetween, ["logs", "analyse", str(path), "--json"])
    assert done.exit_code == 3
    found = json.loads(done.stdout)
    assert [alarm["kind"] for alarm in found["alarms"] if alarm["raised"]] == ["drift"]
