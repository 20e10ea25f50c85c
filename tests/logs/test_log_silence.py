"""Rows in which a mediator answered nothing: counted where that is asked for, refused where it is not."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from log_tables import count_logs, of_kind, table, write_csv, write_jsonl, write_parquet

import gobetween as gb
from gobetween.cli import gobetween
from gobetween.cli.words import told
from gobetween.logs.reading.options import LogOptions
from gobetween.pages.blocks import Grid
from gobetween.pages.log_tables import policy_blocks
from gobetween.words.logs import sentences

WRITERS = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}
ARMS = ["a", "b", "c"]


def with_silence(rows: int, shares: tuple[float, float], seed: int = 0, means: Any = (0.9, 0.4, 0.3)) -> dict[str, list[Any]]:
    """A log in which mediators stay silent so often."""
    log, rng = table(rows, seed, means), np.random.default_rng(seed + 100)
    for i in range(rows):
        if rng.random() < shares[int(log["mediator"][i][1])]:
            log["arm"][i] = log["reward"][i] = None
    return log


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "memory"])
def test_silence_is_counted_by_mediator_and_changes_no_evidence(tmp_path: Path, kind: str) -> None:
    log = with_silence(300, (0.3, 0.1))
    answered = [i for i, arm in enumerate(log["arm"]) if arm is not None]
    plain = gb.analyse_logs({key: [values[i] for i in answered] for key, values in log.items()})
    source: Any = log if kind == "memory" else WRITERS[kind](tmp_path / f"x.{kind}", log)
    with pytest.raises(
        gb.LogError, match=r"has neither arm nor reward; skip_bad=True leaves them out; silence=True counts rows"
    ):
        gb.analyse_logs(source)
    found = gb.analyse_logs(source, silence=True, order="at")
    expected = {
        m: sum(arm is None and who == m for who, arm in zip(log["mediator"], log["arm"], strict=True)) for m in ("m0", "m1")
    }
    assert found.silent == expected
    assert (found.rows, found.bad_count, found.disorder) == (len(answered), 0, None)
    assert (found.headline, found.statistic, found.p_value) == (plain.headline, plain.statistic, plain.p_value)
    assert found.claim is not None
    assert plain.claim is not None
    assert (found.claim.row, found.claim.source_row) == (plain.claim.row, answered[plain.claim.row - 1] + 1)
    assert (plain.silent, found.to_dict()["silent"]) == (None, expected)
    cells = {(cell["mediator"], cell["arm"]): cell for cell in found.policies()}
    share = cells["m0", None]
    assert share["rows"] == expected["m0"]
    assert share["low"] < share["share"] == expected["m0"] / log["mediator"].count("m0") < share["high"]
    assert sum(cell["share"] for (mediator, _), cell in cells.items() if mediator == "m1") == pytest.approx(1.0)
    grid = policy_blocks(found)[0]
    assert isinstance(grid, Grid)
    assert [row[2] for row in grid.rows if row[:2] == ("m0", "(silence)")] == [str(expected["m0"])]
    said = f"{sum(expected.values())} more rows have no answer, most often from 'm0': the result is valid"
    assert any(line.startswith(said) for line in sentences(found))
    assert sum(found.mixture) == pytest.approx(1.0)


def test_only_rows_with_neither_are_silence(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("mediator,arm,reward\nm,a,1\nm,,\nm,,1\nm,b,\n,,\nm,b,0\n")
    with pytest.raises(gb.LogError) as caught:
        gb.analyse_logs(path, silence=True)
    assert "3 rows cannot be used" in str(caught.value)
    assert f"{path} row 3: has no arm" in str(caught.value)
    assert f"{path} row 4: its reward is missing" in str(caught.value)
    found = gb.analyse_logs(path, silence=True, skip_bad=True)
    assert (found.silent, found.rows, found.bad_count) == ({"m": 1}, 2, 3)


def test_silence_that_stands_for_many_rows_is_that_many(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("mediator,arm,reward,n,p\nm,a,1,30,0.4\nm,b,0,20,0.2\nm,,,40,\nk,a,1,3,0.4\nk,b,0,4,0.2\nk,,,5,0.4\n")
    found = gb.analyse_logs(path, silence=True, count="n", propensity="p")
    assert (found.silent, found.rows) == ({"k": 5, "m": 40}, 57)
    assert not any(alarm.raised for alarm in of_kind(found, "policy"))
    assert {alarm.subject for alarm in of_kind(found, "policy")} == {"k", "m"}
    assert "45 more rows have no answer, most often from 'm'" in " ".join(sentences(found))
    path.write_text("mediator,arm,reward,n\nm,a,1,30\nm,b,0,20\nm,,,1.5\nm,,,\n,,,4\nm,b,,10\n")
    with pytest.raises(gb.LogError) as caught:
        gb.analyse_logs(path, silence=True, count="n")
    for words in (
        "row 3: it stands for 1.5 rows, which is no whole number",
        "row 4: it has no number of rows",
        "row 5: has no mediator",
        "row 6: its reward is missing",
    ):
        assert words in str(caught.value)
    missing = gb.analyse_logs(path, silence=True, count="n", skip_bad=True)
    assert any("10 rows have no reward" in note for note in missing.notes)


def test_parts_and_one_who_only_stays_silent() -> None:
    log = with_silence(200, (0.5, 0.2))
    mute: dict[str, list[Any]] = {"mediator": ["mute"] * 3, "arm": [None] * 3, "reward": [None] * 3}
    parts = [{key: log[key][i:j] for key in ("mediator", "arm", "reward")} for i, j in ((0, 90), (90, 200))]
    whole = gb.analyse_logs(*parts, mute, silence=True)
    with ThreadPoolExecutor(2) as executor:
        apart = gb.analyse_logs(mute, *parts, silence=True, executor=executor)
    assert whole.silent is not None
    assert whole.silent["mute"] == 3
    assert (apart.silent, apart.headline, sentences(apart)) == (whole.silent, whole.headline, sentences(whole))
    with pytest.raises(gb.LogError, match="the log holds no row that can be used"):
        gb.analyse_logs(mute, silence=True)


def test_a_declared_share_of_silence_is_checked() -> None:
    """The rest of a declared policy is silence; without silence in the log only the shares of answers are held against it."""
    log, means = with_silence(2000, (0.3, 0.1), 3), {"arms": ARMS}
    right = {"m0": [0.42, 0.21, 0.07], "m1": [0.09, 0.27, 0.54]}
    never = {"m0": [0.6, 0.3, 0.1], "m1": [0.1, 0.3, 0.6]}
    often = {"m0": [0.42, 0.21, 0.07], "m1": [0.07, 0.21, 0.42]}
    for declared, wrong in ((right, []), (never, ["m0", "m1"]), (often, ["m1"])):
        found = gb.analyse_logs(log, declared=declared, silence=True, **means)  # type: ignore[arg-type]
        assert [alarm.subject for alarm in of_kind(found, "policy") if alarm.raised] == wrong
        assert found.broken is None  # a wrong policy costs no correctness
        skipped = gb.analyse_logs(log, declared=declared, skip_bad=True, **means)  # type: ignore[arg-type]
        assert not any(alarm.raised for alarm in of_kind(skipped, "policy"))


def test_rows_to_go_count_silence() -> None:
    log = with_silence(200, (0.5, 0.5), 1, (0.55, 0.5, 0.45))
    skipped, found = gb.analyse_logs(log, skip_bad=True), gb.analyse_logs(log, silence=True)
    assert found.silent is not None
    rows = found.rows + sum(found.silent.values())
    assert rows == 200
    assert found.rows_to_go == pytest.approx(skipped.rows_to_go * 200 / found.rows)
    assert found.queries_to_go > 1.3 * skipped.queries_to_go


def test_a_replay_asks_those_who_stay_silent_too() -> None:
    log = with_silence(900, (0.6, 0.6), 2)
    few, many = (gb.replay_logs(log, runs=20, **how) for how in ({"skip_bad": True}, {"silence": True}))  # type: ignore[arg-type]
    assert (few.rows < 450, many.rows) == (True, 900)
    assert set(few.named) | set(many.named) <= {"a", ""}
    mean = [found.tau[~found.ran_out].mean() for found in (few, many)]
    assert 1.7 < mean[1] / mean[0] < 3.5


def run(*words: object, status: int = 0) -> Result:
    result = CliRunner().invoke(gobetween, list(map(str, words)))
    assert result.exit_code == status, result.output
    return result


def test_the_command_line_and_a_study_that_begins_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = with_silence(120, (0.3, 0.1), 4, (0.6, 0.5, 0.4))
    write_csv(tmp_path / "log.csv", {key: ["" if x is None else x for x in values] for key, values in log.items()})
    refused = CliRunner().invoke(gobetween, ["logs", "analyse", "log.csv"]).exception
    assert isinstance(refused, gb.LogError)
    assert told(refused).endswith("--skip-bad leaves them out; --silence counts rows with neither arm nor reward as silence")
    found = json.loads(run("logs", "analyse", "log.csv", "--silence", "--json").output)
    assert sum(found["silent"].values()) == log["arm"].count(None)
    assert "more rows have no answer" in run("logs", "analyse", "log.csv", "--silence", "--report", "page").output
    assert "(silence)" in (tmp_path / "page" / "report.html").read_text()
    run("init", "s.toml", "--from-log", "log.csv", "--silence")
    assert "silent = true" in (tmp_path / "s.toml").read_text()
    with gb.Study.open("s.toml") as study:
        learner = study.look()[0].learner
        assert dict(zip(learner.mediators, learner.state.seen.N_ea[:, -1].tolist(), strict=True)) == found["silent"]
        assert study.status().counted == found["rows"]
        assert study.status().statistic == pytest.approx(found["statistic"], abs=1e-8)
        assert study.doctor() == []
    (tmp_path / "other.toml").write_text((tmp_path / "s.toml").read_text().replace("silent = true\n", ""))
    refused = CliRunner().invoke(gobetween, ["init", "other.toml", "--from-log", "log.csv", "--silence"]).exception
    assert isinstance(refused, gb.StudyError)
    assert "the log holds silence, of which the study does not know" in told(refused)
    assert [path.name for path in tmp_path.glob("other*")] == ["other.toml"]


def test_a_study_without_silence_in_its_log_is_recorded_as_before() -> None:
    stats = count_logs(LogOptions(silence=True), [table(30)])
    assert stats.silent.tolist() == [0, 0]
    assert stats.aligned_silence(["m1", "m0", "m2"]).tolist() == [0, 0, 0]
