"""Logs: readers, verdicts, alarms, bad data, replay, and studies that begin from one."""

import csv
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parts import browser_page

import gobetween as gb
from gobetween.core.alarms import log_difference, log_kt
from gobetween.core.eprocess import log_evalue
from gobetween.core.jit import ENABLED
from gobetween.core.state import count, new_tally
from gobetween.logs.batch import Columns
from gobetween.logs.reading import BadLogError, Task
from gobetween.logs.replay import read_rows, replay

FAMILY = gb.Bernoulli()
POLICIES = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])


def table(rows: int, seed: int = 0, means: Any = (0.7, 0.5, 0.4), policies: Any = POLICIES) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    e = rng.integers(0, len(policies), rows)
    a = np.array([rng.choice(len(means), p=policies[i]) for i in e])
    x = (rng.random(rows) < np.array(means)[a]).astype(float)
    return {"mediator": [f"m{i}" for i in e], "arm": ["abc"[i] for i in a], "reward": x.tolist(), "at": list(range(rows))}


def write_csv(path: Path, columns: dict[str, list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def write_jsonl(path: Path, columns: dict[str, list[Any]]) -> Path:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_parquet(path: Path, columns: dict[str, list[Any]]) -> Path:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), path)
    return path


def essence(report: gb.LogReport) -> Any:
    claim = report.claim and (report.claim.arm, report.claim.row)
    arms = [(arm.arm, arm.pulls, round(arm.estimate or 0.0, 12)) for arm in report.arms]
    return claim, report.identified, report.leader, round(report.statistic, 9), arms, report.N_ea.tolist(), report.rows


def naive_claim(columns: dict[str, list[Any]], delta: float) -> tuple[str, int] | None:
    """Row by row, with the whole e-process at every row, once every arm of the log has been seen."""
    arms = sorted(set(columns["arm"]))
    tally, K = new_tally(len(arms)), len(arms)
    for i, (arm, x) in enumerate(zip(columns["arm"], columns["reward"], strict=True)):
        count(tally, arms.index(arm), x)
        if tally.N_a.all():
            best = int(np.argmax(tally.mu_hat))
            rivals = [b for b in range(K) if b != best and tally.mu_hat[b] < tally.mu_hat[best]]
            least = min((log_evalue(FAMILY, tally, best, b, -np.inf) for b in rivals), default=-np.inf)
            if len(rivals) == K - 1 and least >= np.log((K - 1) / delta):
                return arms[best], i + 1
    return None


def test_every_way_of_reading_finds_the_same(tmp_path: Path) -> None:
    import pandas
    import polars
    import pyarrow

    columns = table(900)
    expected = essence(gb.analyse_logs(columns))
    assert expected[0] == naive_claim(columns, 0.05)
    parts = [{key: values[i : i + 300] for key, values in columns.items()} for i in (0, 300, 600)]
    ways: dict[str, tuple[Any, ...]] = {
        "csv": (write_csv(tmp_path / "x.csv", columns),),
        "jsonl": (write_jsonl(tmp_path / "x.jsonl", columns),),
        "parquet": (write_parquet(tmp_path / "x.parquet", columns),),
        "several files": tuple(write_csv(tmp_path / f"x{i}.csv", part) for i, part in enumerate(parts)),
        "mixed files": (
            tmp_path / "x0.csv",
            write_jsonl(tmp_path / "x1.jsonl", parts[1]),
            write_parquet(tmp_path / "x2.parquet", parts[2]),
        ),
        "pandas": (pandas.DataFrame(columns),),
        "polars": (polars.DataFrame(columns),),
        "arrow": (pyarrow.table(columns),),
        "arrow batch": (pyarrow.table(columns).to_batches()[0],),
        "iterator of tables": (iter([pandas.DataFrame(part) for part in parts]),),
        "iterator of dicts": (iter(parts),),
    }
    for name, sources in ways.items():
        assert essence(gb.analyse_logs(*sources)) == expected, name
    with ThreadPoolExecutor(2) as executor:
        merged = gb.analyse_logs(*ways["several files"], executor=executor)
    assert not merged.ordered
    assert essence(merged)[1:] == expected[1:]


def test_the_first_claim_is_exact_also_when_an_arm_comes_late(tmp_path: Path) -> None:
    for seed in range(4):
        columns = table(700, seed, means=(0.8, 0.45, 0.3))
        late = {
            key: [v for v, arm in zip(values, columns["arm"], strict=True) if arm != "c"] for key, values in columns.items()
        }
        tail = {
            key: [v for v, arm in zip(values, columns["arm"], strict=True) if arm == "c"] for key, values in columns.items()
        }
        joined = {key: late[key] + tail[key] for key in columns}
        for log in (columns, joined):
            found = gb.analyse_logs(iter([{k: v[i : i + 100] for k, v in log.items()} for i in range(0, 700, 100)]))
            claim = None if found.claim is None else (found.claim.arm, found.claim.row)
            assert claim == naive_claim(log, 0.05)


def test_one_mediator_needs_no_column() -> None:
    columns = table(400, policies=POLICIES[:1])
    del columns["mediator"]
    found = gb.analyse_logs(columns)
    assert found.mediators == ("the log",)
    assert found.confounding == ()


def test_what_is_missing_is_said() -> None:
    found = gb.analyse_logs(table(60, seed=1, means=(0.6, 0.5, 0.5)))
    assert not found.identified
    assert found.claim is None
    assert set(found.in_play) == {"a", "b", "c"}
    assert 0.05 < found.p_value <= 1.0
    assert 0 < found.queries_to_go <= found.rows_to_go * (1 + 1e-6)  # choosing whom to ask cannot be worse
    assert found.omega is not None
    assert sum(found.omega) == pytest.approx(1.0)
    shares = {(cell["mediator"], cell["arm"]): cell for cell in found.policies()}
    for (mediator, arm), cell in shares.items():
        truth = POLICIES[int(mediator[1]), "abc".index(arm)]
        assert cell["low"] <= truth <= cell["high"]


def test_alarms() -> None:
    good = gb.analyse_logs(
        table(2000, means=(0.6, 0.5, 0.5)), arms=["a", "b", "c"], declared={"m0": POLICIES[0], "m1": POLICIES[1]}
    )
    assert not any(alarm.raised for alarm in (*good.policy_alarms, *good.confounding))
    wrong = gb.analyse_logs(table(2000), arms=["a", "b", "c"], declared={"m0": POLICIES[1], "m1": None})
    assert [(alarm.subject, alarm.raised) for alarm in wrong.policy_alarms] == [("m0", True)]
    impossible = gb.analyse_logs(table(50), arms=["a", "b", "c"], declared={"m0": [1.0, 0.0, 0.0], "m1": POLICIES[1]})
    assert impossible.policy_alarms[0].log_e == np.inf
    confounded = table(3000)
    for i, (who, arm) in enumerate(zip(confounded["mediator"], confounded["arm"], strict=True)):
        if who == "m1" and arm == "b":
            confounded["reward"][i] = float(i % 10 == 0)
    found = gb.analyse_logs(confounded)
    assert [alarm.subject for alarm in found.confounding if alarm.raised] == ["b"]
    from gobetween.pages.log import sentences

    assert any("the guarantee does not hold" in line for line in sentences(found))


def test_alarms_are_what_they_are_said_to_be() -> None:
    """KT against its sequential definition; the infimum of the confounding e-value against a wide grid."""
    rng = np.random.default_rng(3)
    policy = np.array([0.5, 0.3, 0.2])
    draws, counts, log_e = rng.choice(3, 50, p=policy), np.zeros(3, np.int64), 0.0
    for i, a in enumerate(draws):
        log_e += np.log((counts[a] + 0.5) / (i + 1.5)) - np.log(policy[a])
        counts[a] += 1
    assert log_kt(counts, policy) == pytest.approx(log_e, abs=1e-9)
    for family, grid in ((gb.Bernoulli(), np.linspace(1e-6, 1 - 1e-6, 4001)), (gb.Gaussian(1.0), np.linspace(-5, 5, 4001))):
        n, S = np.array([30, 200, 7]), np.array([12.0, 130.0, 1.0])
        values = []
        for x in grid:
            total = 0.0
            for k, s in zip(n.tolist(), S.tolist(), strict=True):
                up, down = family.log_mixture(float(k), s, float(x), 1.0)[0], family.log_mixture(float(k), s, float(x), -1.0)[0]
                total += np.logaddexp(up, down) - np.log(2.0)
            values.append(total)
        found = log_difference(family, n, S)
        assert found <= min(values) + 1e-9
        assert found >= min(values) - 0.01


def test_bad_rows_are_counted_and_listed(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(
        "mediator,arm,reward\nm0,a,1\nm0,a,x\nm0,,1\n,b,0\nm0,b,0.5\nm0,b\nm1,b,0\nm1,a,\nm1,a,nan\nm1,a,1e999\nm1,c,0\nm1,c,0,7\nm1,a,1"
    )
    with pytest.raises(BadLogError) as caught:
        gb.analyse_logs(path)
    listed = [(row.row, row.reason) for row in caught.value.bad]
    assert [number for number, _ in sorted(listed)] == [2, 3, 4, 5, 6, 8, 9, 10, 12]
    reasons = dict(listed)
    assert reasons[2] == reasons[8] == "its reward is missing or no number"
    assert (reasons[3], reasons[4]) == ("has no arm", "has no mediator")
    assert reasons[5] == "reward 0.5 is not possible: a bernoulli reward is 0 or 1"
    assert reasons[6] == "has 2 cells, the header 3"
    assert "9 rows cannot be used" in str(caught.value)
    assert f"{path} row 2, {path} row 8, {path} row 9: its reward is missing or no number" in str(caught.value)
    found = gb.analyse_logs(path, skip_bad=True)
    assert (found.rows, found.bad_count) == (4, 9)


def test_a_broken_last_line_and_odd_json(tmp_path: Path) -> None:
    lines = write_jsonl(tmp_path / "x.jsonl", table(20)).read_text()
    (tmp_path / "x.jsonl").write_text(lines + '{"mediator": "m0", "arm": "a", "rew')
    with pytest.raises(BadLogError, match=r"1 rows cannot be used: .*x.jsonl row 21: is not JSON"):
        gb.analyse_logs(tmp_path / "x.jsonl")
    assert gb.analyse_logs(tmp_path / "x.jsonl", skip_bad=True).rows == 20
    (tmp_path / "y.jsonl").write_text(
        '[1]\n{"arm": "a", "reward": "1"}\n{"arm": 7, "reward": true}\n{"arm": "b", "reward": {"x": 1}}\n'
    )
    found = gb.analyse_logs(tmp_path / "y.jsonl", skip_bad=True)
    assert (found.rows, found.bad_count) == (2, 2)
    (tmp_path / "z.jsonl").write_text(
        '\ufeff{"arm": "a", "reward": 1}\n{"mediator": "m", "arm": "b", "reward": 0}\n', encoding="utf-8"
    )
    with pytest.raises(BadLogError, match="row 1: has no mediator"):
        gb.analyse_logs(tmp_path / "z.jsonl")


def test_broken_bytes_and_quotes_merge_nothing(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("arm,reward\n\xe9t\xe9,1\n\xe8t\xe8,0\na,1\nb,0\n".encode("latin-1"))
    with pytest.raises(
        BadLogError, match=r"2 rows cannot be used: .*latin.csv row 1, .*latin.csv row 2: holds characters that are not"
    ):
        gb.analyse_logs(tmp_path / "latin.csv")
    rows = "".join(f"a,{i % 2}\n" for i in range(100))
    (tmp_path / "quote.csv").write_text('arm,reward\nb,x\n"a,1\n' + rows)
    with pytest.raises(gb.LogError, match="lines 3 to 103 read as one row: a quote seems to be left open"):
        gb.analyse_logs(tmp_path / "quote.csv", skip_bad=True)
    (tmp_path / "twice.csv").write_text("arm,reward,arm\na,1,b\n")
    with pytest.raises(gb.LogError, match="has 2 columns named 'arm': rename one"):
        gb.analyse_logs(tmp_path / "twice.csv")
    (tmp_path / "words.csv").write_text("arm,reward\na,True\nb,false\n")
    assert [arm.estimate for arm in gb.analyse_logs(tmp_path / "words.csv").arms] == [1.0, 0.0]


def test_odd_tables() -> None:
    import pandas

    found = gb.analyse_logs(
        pandas.DataFrame({"arm": pandas.array(["a", None, "b"], dtype="string"), "reward": [1, 1, 0]}), skip_bad=True
    )
    assert (found.rows, found.bad_count) == (2, 1)
    for odd in (
        {"arm": ["a", "b"], "reward": [1]},
        {"arm": [["a"], ["b"]], "reward": [{}, 1]},
        iter([{"arm": "a", "reward": 1}]),
    ):
        with pytest.raises(gb.LogError):
            gb.analyse_logs(odd)
    negative = gb.analyse_logs({"arm": ["a", "b"], "reward": [-1.0, -2.0]}, family=gb.Gaussian(1.0), arms=["a", "b", "c"])
    assert negative.leader == "a"
    silent = {"arm": ["a", "b"] * 150, "reward": [1, 0] * 150, "mediator": ["m"] * 300}
    assert not gb.analyse_logs(silent, arms=["a", "b"], declared={"m": [0.4, 0.4]}).policy_alarms[0].raised
    with pytest.raises(gb.LogError, match="is named twice"):
        gb.analyse_logs("examples/log.csv", Path("examples") / "log.csv")


@pytest.mark.parametrize("values", [["09:00:00", "10:00:00", "09:30:00"], ["5", "", "3"], ["9", "", "10", "2"]])
def test_odd_orders(tmp_path: Path, values: list[str]) -> None:
    n = len(values)
    path = write_csv(tmp_path / "x.csv", {"arm": ["a", "b", "a", "b"][:n], "reward": [1, 0, 1, 0][:n], "at": values})
    found = gb.analyse_logs(path, order="at").disorder
    assert found is not None
    assert found.row == n


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", "", "x.csv: the file is empty"),
        ("x.csv", "mediator,arm,reward\n", "x.csv: the file holds no rows"),
        (
            "x.csv",
            "who,arm\nm,a\n",
            r"x.csv: has no column 'reward' \(it has 'who', 'arm'\): name columns with --mediator, --arm",
        ),
        ("x.txt", "mediator,arm,reward\n", "x.txt: is not known as a log by its name: .csv, .tsv, .jsonl or .parquet"),
        ("x.parquet", "no parquet", "x.parquet: is not a Parquet file that can be read"),
        ("x.jsonl", '{"arm": "a"}\n', "x.jsonl: has no column 'reward'"),
    ],
)
def test_files_that_are_no_logs(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(gb.LogError, match=message):
        gb.analyse_logs(tmp_path / name)


def test_other_mistakes(tmp_path: Path) -> None:
    for sources, options, message in (
        ((), {}, "name at least one log"),
        ((tmp_path / "none.csv",), {}, "none.csv: no such file"),
        ((table(5),), {"mediator": "clinic"}, "has no column 'clinic'"),
        ((table(5),), {"delta": 2.0}, "between 0 and 1"),
        ((3,), {}, "a log is a path, a table or an iterable of tables, not int"),
        ((table(5),), {"declared": {"m0": [1.0]}}, "declared policies need the names of the arms"),
        ((table(20),), {"arms": ["a", "b"]}, "arm 'c' is not known"),
    ):
        with pytest.raises(gb.GoBetweenError, match=message):
            gb.analyse_logs(*sources, **options)


def test_an_order_that_does_not_rise_is_said() -> None:
    columns = table(100)
    assert gb.analyse_logs(columns, order="at").disorder is None
    columns["at"][40] = 3
    found = gb.analyse_logs(columns, order="at")
    assert found.disorder is not None
    assert found.disorder.row == 41


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "memory"])
def test_dates_are_an_order_too(tmp_path: Path, kind: str) -> None:
    columns = table(60)
    columns["at"] = [f"2026-{1 + i // 28:02d}-{1 + i % 28:02d}" for i in range(60)]
    writers = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}

    def log() -> Any:
        return columns if kind == "memory" else writers[kind](tmp_path / f"x.{kind}", columns)

    assert gb.analyse_logs(log(), order="at").disorder is None
    columns["at"][30] = "2026-01-01"
    found = gb.analyse_logs(log(), order="at").disorder
    assert found is not None
    assert found.row == 31


@pytest.mark.parametrize("family", [gb.Gaussian(1.0), gb.Bernoulli(), gb.Poisson(), gb.Exponential(), gb.Bounded(0.0, 5.0)])
def test_rewards_are_judged_alike_one_by_one_and_together(family: Any) -> None:
    rewards = np.array([0.0, 1.0, 0.5, -1.0, 2.0, 7.0, np.nan, np.inf, 1e49, 1e-30, 1e-60])
    assert family.pays(rewards).tolist() == [bool(family.pays(float(x))) for x in rewards]


@pytest.mark.skipif(not ENABLED, reason="thousands of runs are for compiled code")
def test_replays_agree_with_fresh_simulation() -> None:
    columns = table(20_000, seed=5, means=(0.8, 0.5, 0.4))
    task = Task(FAMILY, Columns(), False, (), (), 0.05)
    rows = read_rows(task, (columns,), False)
    for sampling in (gb.Tracking(policies="unknown"), gb.UniformSampling()):
        found = replay(rows, FAMILY, sampling, gb.EProcess(), 0.05, runs=400, seed=1)
        assert not found.ran_out.any()
        problem = gb.Problem((0.8, 0.5, 0.4), POLICIES, family=FAMILY)
        fresh = gb.simulate(problem, sampling, gb.EProcess(), 0.05, 2000, seed=2).tau[:, 0]
        error = np.hypot(found.tau.std() / 20.0, fresh.std() / np.sqrt(2000))
        slack = 0.03 * fresh.mean()  # the log's own means differ from the truth
        assert abs(found.tau.mean() - fresh.mean()) <= 3 * error + slack
    short = read_rows(task, ({key: values[:60] for key, values in columns.items()},), False)
    found = replay(short, FAMILY, gb.UniformSampling(), gb.EProcess(), 1e-6, runs=20)
    assert found.ran_out.all()
    assert sum(found.exhausted.values()) == 20
    again = replay(short, FAMILY, gb.UniformSampling(), gb.EProcess(), 1e-6, runs=20)
    assert (again.tau == found.tau).all()


@pytest.mark.skipif(not ENABLED, reason="thousands of runs are for compiled code")
@pytest.mark.parametrize("mediators", [1, 3])
@pytest.mark.parametrize("family", [gb.Bernoulli(), gb.Gaussian(1.0)], ids=repr)
def test_wrong_claims_are_rarer_than_delta(family: Any, mediators: int) -> None:
    """Small here; 10,000 logs of each kind in `make study`."""
    from log_claims import wrong_claims

    from gobetween.simulation.summary import exact_interval

    claims, wrong = wrong_claims(
        family, mediators, logs=1500, rows=500, delta=0.1, gap=0.12 if family.name == "bernoulli" else 0.25
    )
    assert claims > 20
    assert exact_interval(wrong, 1500, 0.998)[1] <= 0.1


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gobetween", *map(str, arguments)]
    environment = os.environ | {"GOBETWEEN_JIT": "off"}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=200)


def test_command_line(tmp_path: Path) -> None:
    write_csv(tmp_path / "log.csv", table(400, means=(0.9, 0.3, 0.3)))
    done = run(tmp_path, "logs", "analyse", "log.csv", "--order", "at", "--report", "page")
    assert done.returncode == 0, done.stderr
    assert (
        "The best arm is 'a', wrong with probability at most 0.05; of 400 rows it could first be claimed at row" in done.stdout
    )
    assert "confounding common to all cannot be seen" in done.stdout
    data = json.loads(run(tmp_path, "logs", "analyse", "log.csv", "--json").stdout)
    assert list(data) == [
        "format", "rows", "family", "delta", "arms", "mediators", "claim", "ordered", "identified", "leader", "statistic", "threshold",
        "p_value", "in_play", "rows_to_go", "queries_to_go", "mixture", "omega", "never_pulled", "policy_alarms", "confounding",
        "disorder", "bad", "bad_count", "policies",
    ]  # fmt: skip
    replayed = json.loads(run(tmp_path, "logs", "replay", "log.csv", "--runs", 3, "--json").stdout)
    assert replayed["runs"] == 3
    assert replayed["stopped"] + replayed["ran_out"] == 3
    assert "3 replays of 400 rows" in run(tmp_path, "logs", "replay", "log.csv", "--runs", 3).stdout
    with browser_page() as page:
        page.goto((tmp_path / "page" / "report.html").as_uri())
        page.wait_for_function("document.querySelectorAll('.plotly .main-svg').length >= 4")
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
