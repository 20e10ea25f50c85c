"""Analyse, replay and init --from-log take the same options, and read the same rows in the same way, from every kind of file."""

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from log_tables import table, write_csv, write_jsonl, write_parquet

import gobetween as gb
from gobetween.cli.init import command as init
from gobetween.cli.logs import analyse, replay
from gobetween.cli.reading import Source
from gobetween.logs.options import options_of
from gobetween.logs.reading import count_logs
from gobetween.logs.replay import read_rows

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
    assert all(set(Source.__dataclass_fields__) <= names for names in said)


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
    rows = read_rows(options_of(keywords), (str(tmp_path / name),))
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
