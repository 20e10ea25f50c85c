"""Analyse, replay and init --from-log take the same options, and read the same rows in the same way, from every kind of file."""

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from log_tables import count_logs, table, write_csv, write_jsonl, write_parquet

import gobetween as gb
from gobetween.cli.init import command as init
from gobetween.cli.log_options import NAMES, LogArguments
from gobetween.cli.logs import analyse, replay
from gobetween.logs.analysis.replay import read_rows
from gobetween.logs.reading.options import LogOptions, options_of

MESSY: dict[str, list[Any]] = table(240, seed=5, means=(0.8, 0.4, 0.3))
MESSY["position"] = [1, 2] * 120
MESSY["key"] = [i if i % 40 else 0 for i in range(240)]
MESSY["arm"] = [arm.upper() if i % 7 == 0 else arm for i, arm in enumerate(MESSY["arm"])]
MESSY["reward"] = [None if i % 31 == 5 else 7.0 if i % 53 == 8 else x for i, x in enumerate(MESSY["reward"])]
OPTIONS = ("--where", "position = 1", "--fold", "--map", "c=b", "--id", "key", "--skip-bad", "--order", "at")


def test_options_are_the_same() -> None:
    said = [
        {option.name for option in command.params if isinstance(option, (click.Option, click.Argument))}
        for command in (analyse, replay, init)
    ]
    assert all({"files", *NAMES} <= names for names in said)
    kept = set(NAMES) - set(LogArguments.__dataclass_fields__)
    assert kept | {"arm", "family", "delta", "declared", "question", "only"} == set(LogOptions.__dataclass_fields__) - {
        "arms",
        "rename",
    }


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "csv.gz"])
def test_all_read_the_same(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip

    monkeypatch.chdir(tmp_path)
    writers = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}
    name = f"log.{kind}"
    if kind == "csv.gz":
        (tmp_path / name).write_bytes(gzip.compress(write_csv(tmp_path / "plain.csv", MESSY).read_bytes()))
    else:
        writers[kind](tmp_path / name, MESSY)
    runner = CliRunner()
    analysed = runner.invoke(analyse, [name, *OPTIONS, "--json"], catch_exceptions=False)
    found = json.loads(analysed.stdout)
    keywords: Any = {"where": "position = 1", "fold": True, "rename": {"c": "b"}, "id": "key", "skip_bad": True, "order": "at"}
    stats = count_logs(options_of(keywords), [MESSY])
    assert (found["rows"], found["bad_count"]) == (stats.rows, stats.bad_count)
    assert stats.bad_count == 11  # 4 rewards are missing, 3 impossible, 4 ids repeated
    rows, _ = read_rows(options_of(keywords), (str(tmp_path / name),))
    assert (len(rows.pulled), sorted(rows.arms)) == (stats.rows, stats.arms)
    replayed = runner.invoke(replay, [name, *OPTIONS, "--json", "--runs", "2"], catch_exceptions=False)
    assert json.loads(replayed.stdout)["rows"] == found["rows"]
    begun = runner.invoke(init, ["s.toml", "--from-log", name, *OPTIONS, "--json"], catch_exceptions=False)
    assert begun.exit_code == analysed.exit_code
    assert json.loads(begun.stdout)["rows_from_log"] == found["rows"]
    with gb.Study.open("s.toml") as study:
        status = study.status()
    assert [(arm["arm"], arm["pulls"]) for arm in status.arms] == [(arm["arm"], arm["pulls"]) for arm in found["arms"]]
    assert status.statistic == pytest.approx(found["statistic"], abs=1e-8)
    raised = {alarm["kind"] for alarm in found["alarms"] if alarm["raised"]}
    assert {alarm.kind for alarm in status.alarms if alarm.raised} == raised


SHARES = {"m0": [0.6, 0.3, 0.1], "m1": [0.1, 0.3, 0.6]}
DECLARED = """
family = "bernoulli"
delta = 0.05
silent = true
arms = [{ name = "a" }, { name = "b" }, { name = "c" }]
[[mediators]]
name = "m0"
policy = { a = 0.5, b = 0.25, c = 0.1 }
[[mediators]]
name = "m1"
"""


def with_propensities(log: dict[str, list[Any]], answered: float = 1.0) -> dict[str, list[Any]]:
    pairs = zip(log["mediator"], log["arm"], strict=True)
    return log | {"p": [answered * SHARES[m]["abc".index(a)] for m, a in pairs]}


def silent(log: dict[str, list[Any]]) -> dict[str, list[Any]]:
    gone = [i % 9 == 4 for i in range(len(log["arm"]))]
    return log | {key: ["" if g else x for g, x in zip(gone, log[key], strict=True)] for key in ("arm", "reward")}


def wrong(log: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Propensities that nobody keeps to."""
    pairs = zip(log["mediator"], log["arm"], strict=True)
    return log | {"p": [SHARES["m1" if m == "m0" else "m0"]["abc".index(a)] for m, a in pairs]}


def drifting() -> dict[str, list[Any]]:
    before, after = table(300, seed=1, means=(0.9, 0.5, 0.4)), table(300, seed=2, means=(0.2, 0.5, 0.4))
    return {key: [*before[key], *after[key]] for key in before}


WORLDS: dict[str, tuple[dict[str, list[Any]], tuple[str, ...]]] = {
    "propensities": (with_propensities(table(200, seed=3)), ("--propensity", "p")),
    "wrong propensities": (wrong(table(300, seed=3)), ("--propensity", "p")),
    "declared, silence": (silent(table(300, seed=4)), ("--declared", "said.toml", "--silence")),
    "silence, propensities": (silent(with_propensities(table(300, seed=6), 8 / 9)), ("--silence", "--propensity", "p")),
    "propensities without room for silence": (
        silent(with_propensities(table(300, seed=6))),
        ("--silence", "--propensity", "p"),
    ),
    "missing rewards": (
        (
            lambda log: (
                log
                | {
                    "reward": [
                        "" if a == "a" and i % 2 else x for i, (a, x) in enumerate(zip(log["arm"], log["reward"], strict=True))
                    ]
                }
            )
        )(table(300, seed=7)),
        ("--skip-bad",),
    ),
    "drift": (drifting(), ("--order", "at")),
}


@pytest.mark.parametrize("world", WORLDS)
def test_one_verdict_whatever_is_made_of_the_log(world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log, options = WORLDS[world]
    (tmp_path / "said.toml").write_text(DECLARED)
    write_csv(tmp_path / "log.csv", log | {"at": list(range(len(log["arm"])))})
    runner = CliRunner()
    analysed = runner.invoke(analyse, ["log.csv", *options, "--json"], catch_exceptions=False)
    replayed = runner.invoke(replay, ["log.csv", *options, "--json", "--runs", "2"], catch_exceptions=False)
    begun = runner.invoke(init, ["s.toml", "--from-log", "log.csv", *options, "--json"], catch_exceptions=False)
    found, account = json.loads(analysed.stdout), json.loads(replayed.stdout)["log"]
    assert analysed.exit_code == replayed.exit_code == begun.exit_code == (3 if world == "drift" else 0)
    assert account == {key: found[key] for key in account} == json.loads(begun.stdout)["log"]
    assert set(account) >= {"headline", "identified", "answer", "alarms", "bad", "bad_count", "notes", "silent", "rows"}
    with gb.Study.open("s.toml") as study:
        status = study.status()
    raised = {(alarm["kind"], alarm["subject"]) for alarm in found["alarms"] if alarm["raised"]}
    assert {(alarm.kind, alarm.subject) for alarm in status.alarms if alarm.raised} == raised
    assert bool(raised) == (world in ("wrong propensities", "drift"))
    assert (found["bad_count"] > 0) == (world == "missing rewards")
    assert (sum((found["silent"] or {}).values()) > 0) == ("silence" in world)
    assert status.statistic == pytest.approx(found["statistic"], abs=1e-8)
    assert any("leaves no room for its silence" in note for note in found["notes"]) == ("without room" in world)
    checked = {alarm["subject"] for alarm in found["alarms"] if alarm["kind"] == "policy"}
    assert checked == ({"m0"} if "declared" in world else set(SHARES) if world.endswith("propensities") else set())


def test_a_replay_and_a_study_say_what_was_left_out_and_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = drifting()
    write_csv(tmp_path / "log.csv", log | {"reward": ["" if i == 7 else x for i, x in enumerate(log["reward"])]})
    runner = CliRunner()
    for command, words in ((replay, ["log.csv", "--runs", "2"]), (init, ["s.toml", "--from-log", "log.csv"])):
        shown = runner.invoke(command, [*words, "--skip-bad"], catch_exceptions=False)
        assert shown.exit_code == 3
        assert (
            shown.stdout.count("No recommendation, because an assumption is violated: The mean reward of 'a' has changed") == 1
        )
        assert "1 row was left out: log.csv row 8: its reward is missing" in shown.stdout


def test_a_study_that_knows_more_arms_is_not_told_that_the_log_is_sure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = table(300, seed=1, means=(0.9, 0.3, 0.3))
    write_csv(tmp_path / "log.csv", log)
    (tmp_path / "s.toml").write_text(DECLARED.replace('{ name = "c" }]', '{ name = "c" }, { name = "d" }]'))
    assert gb.analyse_logs(log).identified
    begun = CliRunner().invoke(init, ["s.toml", "--from-log", "log.csv", "--json"], catch_exceptions=False)
    assert not json.loads(begun.stdout)["log"]["identified"]


def test_init_writes_what_is_declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = table(60, seed=2)
    shares = {"m0": [0.6, 0.3, 0.1], "m1": [0.1, 0.3, 0.6]}
    log["p"] = [shares[m]["abc".index(a)] for m, a in zip(log["mediator"], log["arm"], strict=True)]
    write_csv(tmp_path / "log.csv", log)
    runner = CliRunner()
    done = runner.invoke(
        init, ["said.toml", "--from-log", "log.csv", "--propensity", "p", "--delta", "0.02"], catch_exceptions=False
    )
    assert done.exit_code == 0
    text = (tmp_path / "said.toml").read_text()
    assert 'policy = { "a" = 0.6, "b" = 0.3, "c" = 0.1 }' in text
    assert "delta = 0.02" in text
    again = runner.invoke(init, ["next.toml", "--from-log", "log.csv", "--declared", "said.toml"], catch_exceptions=False)
    assert again.exit_code == 0
    assert 'policy = { "a" = 0.6, "b" = 0.3, "c" = 0.1 }' in (tmp_path / "next.toml").read_text()
    for option in (("--delta", "0.1"), ("--declared", "said.toml"), ("--family", "poisson")):
        refused = runner.invoke(init, ["said.toml", "--from-log", "log.csv", *option])
        assert isinstance(refused.exception, gb.StudyError)
        assert f"{option[0]} is for a new file from a log" in str(refused.exception)
    for words in (("--count", "n"), ("--arms", "a,b"), ("--skip-bad",)):
        refused = runner.invoke(init, ["other.toml", *words])
        assert f"{words[0]} is about a log: name it by --from-log" in str(refused.exception)
    assert not (tmp_path / "other.toml").exists()
