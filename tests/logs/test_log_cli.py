"""`gobetween logs` and studies that begin from a log, from the command line."""

import json
import subprocess
from pathlib import Path

import pytest
from launcher import gobetween
from log_tables import table, write_csv
from parts import browser_page

import gobetween as gb


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return gobetween(folder, *arguments, GOBETWEEN_JIT="off")


def test_command_line(tmp_path: Path) -> None:
    write_csv(tmp_path / "log.csv", table(400, means=(0.9, 0.3, 0.3)))
    done = run(tmp_path, "logs", "analyse", "log.csv", "--order", "at", "--report", "page")
    assert done.returncode == 0, done.stderr
    assert "The best arm is 'a'; this is wrong with probability at most 5%.\nThis was already certain at row" in done.stdout
    assert "A bias shared by all mediators cannot be detected" in done.stdout
    data = json.loads(run(tmp_path, "logs", "analyse", "log.csv", "--json").stdout)
    assert list(data) == [
        "format", "rows", "family", "parameters", "delta", "question", "answer", "headline", "alarms", "arms", "mediators", "silent", "claim", "ordered", "identified",
        "leader", "statistic", "threshold", "p_value", "in_play", "rows_to_go", "rows_forecast", "queries_to_go", "queries_forecast", "near_tie", "mixture", "omega", "advice", "never_pulled",
        "disorder", "bad", "bad_count", "traffic", "adaptive", "notes", "policies", "means",
    ]  # fmt: skip
    replayed = json.loads(run(tmp_path, "logs", "replay", "log.csv", "--runs", 3, "--json").stdout)
    assert replayed["runs"] == 3
    assert replayed["stopped"] + replayed["ran_out"] == 3
    assert "3 replays of 400 rows" in run(tmp_path, "logs", "replay", "log.csv", "--runs", 3).stdout
    with browser_page() as page:
        page.goto((tmp_path / "page" / "report.html").as_uri())
        assert page.locator("figure").count() >= 4
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    for arguments, message in (
        (["logs", "analyse", "none.csv"], "none.csv: no such file"),
        (["logs", "analyse", "log.csv", "--arm", "option"], "has no column 'option'"),
        (["logs", "analyse", "log.csv", "--family", "normal"], "--family normal: family.name = 'normal'"),
        (["logs", "analyse", "log.csv", "--family", "gaussian:sigma=x"], "write it as name:key=number"),
        (["logs", "analyse", "log.csv", "--family", "exponential"], "rows cannot be used"),
        (["logs", "replay", "log.csv", "--sampling", "psychic"], "--sampling = 'psychic'"),
        (["logs", "replay", "log.csv", "--sampling", "oracle"], "a log does not know the true means that the oracle follows"),
    ):
        done = run(tmp_path, *arguments)
        assert done.returncode == 2, done.stdout
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_a_study_begins_from_a_log(tmp_path: Path) -> None:
    columns = table(60, seed=2, means=(0.7, 0.5, 0.5))
    write_csv(tmp_path / "log.csv", columns)
    done = run(tmp_path, "init", "--from-log", "log.csv")
    assert done.returncode == 0, done.stderr
    assert "begins from 60 rows of log.csv" in done.stdout
    status = json.loads(run(tmp_path, "status", "--json").stdout)
    assert status["from_log"] == {"files": ["log.csv"], "rows": 60}
    assert (status["counted"], status["queries"]) == (60, 0)
    assert [arm["pulls"] for arm in status["arms"]] == [columns["arm"].count(name) for name in "abc"]
    assert any("60 of the counted answers came from a log" in line for line in status["assumptions"])
    expected = gb.analyse_logs(columns)
    assert status["statistic"] == pytest.approx(expected.statistic, abs=1e-8)
    assert run(tmp_path, "ask").returncode == 0
    assert "all is well" in run(tmp_path, "doctor").stdout
    (tmp_path / "other.toml").write_text((tmp_path / "study.toml").read_text().replace('"c"', '"d"'))
    refused = run(tmp_path, "init", "other.toml", "--from-log", "log.csv")
    assert refused.returncode == 2
    assert "the log has arm 'c', which is not in the study" in refused.stderr
    assert not (tmp_path / "other.sqlite").exists()
