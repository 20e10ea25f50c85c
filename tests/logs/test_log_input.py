"""Logs as they exist: packed, partitioned, merged, counted, filtered; verdicts are the same however the rows come in."""

import bz2
import gzip
import json
import random
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from log_tables import table, write_csv, write_jsonl, write_parquet

import gobetween as gb
from gobetween.logs.reading.counts import BadLogError
from gobetween.logs.reading.merging import all_batches
from gobetween.logs.reading.options import LogOptions
from gobetween.logs.reading.reading import Reading
from gobetween.logs.reading.sources import each_source

COLUMNS = table(600, seed=3, means=(0.8, 0.5, 0.3))


def essence(report: gb.LogReport) -> Any:
    claim = report.claim and (report.claim.arm, report.claim.row)
    return claim, report.identified, round(report.statistic, 9), report.N_ea.tolist(), [a.arm for a in report.arms], report.rows


@pytest.fixture(scope="module")
def expected() -> Any:
    return essence(gb.analyse_logs(COLUMNS))


def packed(path: Path, pack: Callable[[bytes], bytes]) -> Path:
    path.write_bytes(pack(path.with_suffix("").read_bytes()))
    return path


def zstd(data: bytes) -> bytes:
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


def rows(part: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(part, row, strict=True)) for row in zip(*part.values(), strict=True)]


def test_every_kind_of_file_says_the_same(tmp_path: Path, expected: Any) -> None:
    from pyarrow import feather
    from pyarrow import table as arrow_table

    write_csv(tmp_path / "x.csv", COLUMNS)
    write_jsonl(tmp_path / "x.jsonl", COLUMNS)
    text = (tmp_path / "x.csv").read_text()
    (tmp_path / "semi.csv").write_text(text.replace(",", ";"))
    (tmp_path / "bar.csv").write_text(text.replace(",", "|"))
    (tmp_path / "x.tsv").write_text(text.replace(",", "\t"))
    (tmp_path / "tabs.csv").write_text(text.replace(",", "\t"))
    (tmp_path / "list.json").write_text(json.dumps(rows(COLUMNS), indent=1))
    (tmp_path / "lines.json").write_text((tmp_path / "x.jsonl").read_text())
    (tmp_path / "words.csv").write_text(text.replace(",1.0,", ",Yes,").replace(",0.0,", ",no,"))
    (tmp_path / "truth.jsonl").write_text((tmp_path / "x.jsonl").read_text().replace("1.0", "true").replace("0.0", "false"))
    feather.write_feather(arrow_table(COLUMNS), tmp_path / "x.feather")
    names = ["semi.csv", "bar.csv", "x.tsv", "tabs.csv", "list.json", "lines.json", "words.csv", "truth.jsonl", "x.feather"]
    for name, pack in (
        ("x.csv.gz", gzip.compress),
        ("x.jsonl.zst", zstd),
        ("x.csv.bz2", bz2.compress),
        ("list.json.gz", gzip.compress),
    ):
        names.append(packed(tmp_path / name, pack).name)
    for name in names:
        assert essence(gb.analyse_logs(tmp_path / name)) == expected, name
    for name in ("words.csv", "truth.jsonl"):
        assert any("read as" in note for note in gb.analyse_logs(tmp_path / name).notes)


def test_every_python_table_says_the_same(tmp_path: Path, expected: Any) -> None:
    import duckdb
    import polars
    import pyarrow
    from pyarrow import dataset

    frame, whole = polars.DataFrame(COLUMNS), pyarrow.table(COLUMNS)
    write_parquet(tmp_path / "x.parquet", COLUMNS)
    codes = frame.with_columns(polars.col("arm", "mediator").cast(polars.Categorical))

    class Streamed:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return whole.__arrow_c_stream__(requested_schema)

    ways: dict[str, Any] = {
        "lazy": frame.lazy(),
        "categorical": codes,
        "scan": polars.scan_parquet(tmp_path / "x.parquet"),
        "dataset": dataset.dataset(tmp_path / "x.parquet"),
        "duckdb": duckdb.sql("SELECT * FROM whole"),
        "stream": Streamed(),
        "reader": whole.to_reader(max_chunksize=100),
        "paths": [str(tmp_path / "x.parquet")],
    }
    for name, source in ways.items():
        assert essence(gb.analyse_logs(source)) == expected, name


def test_folders_patterns_and_partitions(tmp_path: Path, expected: Any) -> None:
    parts = [{key: values[i : i + 60] for key, values in COLUMNS.items()} for i in range(0, 600, 60)]
    (tmp_path / "flat").mkdir()
    for i, part in enumerate(parts):
        write_csv(tmp_path / "flat" / f"part {i}.csv", part)  # part 10 comes after part 9
    (tmp_path / "flat" / "_SUCCESS").write_text("")
    (tmp_path / "flat" / "notes.txt").write_text("no log")
    for source in (
        tmp_path / "flat",
        str(tmp_path / "flat" / "*.csv"),
        [tmp_path / "flat" / f"part {i}.csv" for i in range(10)],
    ):
        assert essence(gb.analyse_logs(source)) == expected
    by_mediator = {name: {k: [v for v, m in zip(values, COLUMNS["mediator"], strict=True) if m == name] for k, values in COLUMNS.items() if k != "mediator"} for name in ("m0", "m1")}  # fmt: skip
    for name, part in by_mediator.items():
        (tmp_path / "hive" / f"mediator={name}").mkdir(parents=True)
        write_parquet(tmp_path / "hive" / f"mediator={name}" / "0.parquet", part)
        write_csv(tmp_path / f"{name}.csv", part)
    with ThreadPoolExecutor(2) as executor:
        ways: list[dict[str, Any]] = [{}, {"executor": executor}]
        for options in ways:
            merged = gb.analyse_logs(tmp_path / "hive", order="at", **options)  # files overlap in time: merged by it
            assert essence(merged) == expected
            assert merged.disorder is None
            named = gb.analyse_logs(str(tmp_path / "m?.csv"), mediator="filename", order="at", **options)
            assert essence(named) == expected
            assert named.claim is not None
            assert (
                COLUMNS["at"][named.claim.row - 1]
                == by_mediator[Path(named.claim.source).stem]["at"][named.claim.source_row - 1]
            )
    dates = {
        name: {**part, "at": [f"2026-{1 + i // 28:02d}-{1 + i % 28:02d}" for i in part["at"]]}
        for name, part in by_mediator.items()
    }
    tables = [{**part, "mediator": [name] * len(part["arm"])} for name, part in dates.items()]
    assert essence(gb.analyse_logs(*tables, order="at")) == expected
    broken = [dict(part) for part in tables]
    broken[1]["at"] = ["2026-01-01" if i == 40 else day for i, day in enumerate(broken[1]["at"])]
    found = gb.analyse_logs(*broken, order="at")
    assert found.disorder is not None
    assert found.disorder.row == 41
    for source, message in (
        (tmp_path / "no*.csv", "no file matches"),
        (tmp_path / "hive" / "mediator=m0" / "none.csv", "no such file"),
    ):
        with pytest.raises(gb.LogError, match=message):
            gb.analyse_logs(source)
    (tmp_path / "empty").mkdir()
    with pytest.raises(gb.LogError, match="holds no file that is known as a log"):
        gb.analyse_logs(tmp_path / "empty")


def test_standard_input(tmp_path: Path) -> None:
    write_csv(tmp_path / "x.csv", COLUMNS)
    command = [sys.executable, "-m", "gobetween", "logs", "analyse", "-", "--json"]
    packed_text = gzip.compress((tmp_path / "x.csv").read_bytes())
    done = subprocess.run(command, input=packed_text, capture_output=True, timeout=100, env=None)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 600


def test_several_columns_are_one_name() -> None:
    log = {"policy": ["p", "q"] * 30, "position": [1, 1, 2] * 20, "arm": ["a", "b"] * 30, "reward": [1, 0] * 30}
    found = gb.analyse_logs(log, mediator=["policy", "position"])
    assert found.mediators == ("p / 1", "p / 2", "q / 1", "q / 2")
    assert gb.analyse_logs(log, mediator="policy,position").N_ea.tolist() == found.N_ea.tolist()
    assert [arm.arm for arm in gb.analyse_logs(log, arm="arm, position").arms] == ["a / 1", "a / 2", "b / 1", "b / 2"]
    holes = gb.analyse_logs({**log, "policy": [None, "q"] * 30}, mediator="policy,position", skip_bad=True)
    assert (holes.rows, holes.bad_count, holes.mediators) == (30, 30, ("q / 1", "q / 2"))


def test_numbers_as_people_write_them(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('arm;reward\na;1.234,5\nb;"0,25"\nb;-2\n')
    found = gb.analyse_logs(tmp_path / "x.csv", decimal=",", thousands=".", family=gb.Gaussian(100.0))
    assert [arm.estimate for arm in found.arms] == [1234.5, (0.25 - 2) / 2]
    (tmp_path / "y.csv").write_text("arm;reward\na;0,5\nb;1\n")
    assert [arm.estimate for arm in gb.analyse_logs(tmp_path / "y.csv", decimal=",", family=gb.Gaussian(1.0)).arms] == [
        0.5,
        1.0,
    ]
    with pytest.raises(BadLogError, match=r"row 1: its reward '0,5' is not a number \(a decimal comma has to be named\)"):
        gb.analyse_logs(tmp_path / "y.csv", family=gb.Gaussian(1.0))
    (tmp_path / "w.csv").write_text("arm;reward\na;0.5\nb;1,5\n")  # where a comma is the decimal sign a point is none
    with pytest.raises(BadLogError, match=r"1 row cannot be used: .* row 1: its reward '0\.5' is not a number"):
        gb.analyse_logs(tmp_path / "w.csv", decimal=",", family=gb.Gaussian(1.0))
    (tmp_path / "z.csv").write_text('arm,reward\na,"1,23"\nb,"1,234"\n')
    with pytest.raises(BadLogError, match=r"1 row cannot be used: .* row 1: its reward '1,23' is not a number"):
        gb.analyse_logs(tmp_path / "z.csv", thousands=",", family=gb.Gaussian(1.0))
    refused: list[tuple[dict[str, Any], str]] = [
        ({"decimal": "x"}, "decimal 'x' must be one"),
        ({"separator": "ab"}, "separator 'ab' must be"),
        ({"decimal": ",", "thousands": ","}, "cannot also"),
    ]
    for options, message in refused:
        with pytest.raises(gb.LogError, match=message):
            gb.analyse_logs(tmp_path / "z.csv", **options)


def test_rows_that_stand_for_many() -> None:
    whole = gb.analyse_logs(COLUMNS)
    groups: dict[tuple[Any, ...], int] = {}
    for row in zip(COLUMNS["mediator"], COLUMNS["arm"], COLUMNS["reward"], strict=True):
        groups[row] = groups.get(row, 0) + 1
    log = {
        "mediator": [k[0] for k in groups],
        "arm": [k[1] for k in groups],
        "reward": [k[2] for k in groups],
        "n": list(groups.values()),
    }
    totals: dict[tuple[str, str], list[float]] = {}
    for (m, a, x), n in groups.items():
        one = totals.setdefault((m, a), [0, 0])
        one[0], one[1] = one[0] + n, one[1] + n * x
    summed = {
        "mediator": [k[0] for k in totals],
        "arm": [k[1] for k in totals],
        "n": [v[0] for v in totals.values()],
        "reward": [v[1] for v in totals.values()],
    }
    for found in (gb.analyse_logs(log, count="n"), gb.analyse_logs(summed, count="n", totals=True)):
        assert (found.rows, found.N_ea.tolist()) == (whole.rows, whole.N_ea.tolist())
        assert found.statistic == pytest.approx(whole.statistic)
        assert not found.ordered
    for odd, message in (
        ({**log, "n": [1.5] * len(groups)}, "stands for 1.5 rows"),
        ({**log, "n": [-1] * len(groups)}, "stands for -1 rows"),
    ):
        with pytest.raises(BadLogError, match=message):
            gb.analyse_logs(odd, count="n")
    with pytest.raises(BadLogError, match="2 bernoulli rewards cannot be 3 together"):
        gb.analyse_logs({"arm": ["a", "b"], "reward": [3, 1], "n": [2, 2]}, count="n", totals=True)
    half = {"arm": ["a", "b"], "reward": [2.5, 1], "n": [5, 2]}
    with pytest.raises(BadLogError, match=r"5 bernoulli rewards cannot be 2\.5 together"):
        gb.analyse_logs(half, count="n", totals=True)
    assert gb.analyse_logs(half, count="n", totals=True, family=gb.Bounded(0.0, 1.0)).arms[0].estimate == 0.5
    with pytest.raises(gb.LogError, match="a replay needs single rows"):
        gb.replay_logs(log, count="n")
    with pytest.raises(gb.LogError, match="totals are of as many rows as a column says"):
        gb.analyse_logs(log, totals=True)
    wide = gb.analyse_logs({"arm": ["a", "b"], "reward": [9, 0], "n": [20, 20]}, count="n", family=gb.Gaussian(1.0))
    alone = gb.analyse_logs({"arm": ["a"] * 20 + ["b"] * 20, "reward": [9] * 20 + [0] * 20}, family=gb.Gaussian(1.0))
    assert [a.log_e for a in wide.alarms if a.kind == "scale"] == pytest.approx(
        [a.log_e for a in alone.alarms if a.kind == "scale"]
    )


def test_ids_find_rows_that_are_there_twice(tmp_path: Path) -> None:
    log = {**COLUMNS, "id": [f"r{i}" for i in range(600)]}
    twice = {key: values + values[:7] for key, values in log.items()}
    with pytest.raises(BadLogError, match="7 rows cannot be used: table row 601: repeats id 'r0'"):
        gb.analyse_logs(twice, id="id")
    halves = [write_csv(tmp_path / f"{i}.csv", {k: v[i * 300 - 5 * i : i * 300 + 300] for k, v in log.items()}) for i in (0, 1)]
    with ThreadPoolExecutor(2) as executor:
        ways: list[dict[str, Any]] = [{}, {"executor": executor}]
        for options in ways:
            found = gb.analyse_logs(*halves, id="id", skip_bad=True, **options)
            assert (found.rows, found.bad_count) == (600, 5)


def test_filters_and_some_arms(tmp_path: Path) -> None:
    log = {**COLUMNS, "position": [1, 2, 3] * 200}
    kept = {key: values[::3] for key, values in log.items()}
    expected = essence(gb.analyse_logs(kept))
    for source in (
        log,
        write_csv(tmp_path / "x.csv", log),
        write_jsonl(tmp_path / "x.jsonl", log),
        write_parquet(tmp_path / "x.pq", log),
    ):
        found = gb.analyse_logs(source, where="position = 1")
        assert essence(found) == expected
        assert found.claim is not None
        assert log["at"][found.claim.source_row - 1] == kept["at"][found.claim.row - 1]  # rows are numbered as in the file
        assert any("400 rows" in note for note in found.notes)
    unknown = write_csv(tmp_path / "u.csv", {**log, "position": [1, 2, ""] * 200})
    assert [gb.analyse_logs(unknown, where=f"position {sign} 1").rows for sign in ("=", "<>", ">=")] == [200, 200, 400]
    assert gb.analyse_logs(log, where="arm IN ('a', 'b') AND position < 3 AND reward IS NOT NULL").rows > 100
    with ThreadPoolExecutor(2) as executor:
        apart = gb.analyse_logs(tmp_path / "x.csv", tmp_path / "x.jsonl", where="position = 1", executor=executor)
    assert any("800 rows" in note for note in apart.notes)
    two = {k: [v for v, arm in zip(values, COLUMNS["arm"], strict=True) if arm != "c"] for k, values in COLUMNS.items()}
    assert essence(gb.analyse_logs(COLUMNS, only=["a", "b"])) == essence(gb.analyse_logs(two))
    assert essence(gb.analyse_logs(COLUMNS, only=["a", "b"], arms=["a", "b", "c"])) == essence(gb.analyse_logs(two))
    for where, message in (
        ("position = ", "is not an SQL condition"),
        ("reward > avg(reward)", "must be a condition on single rows"),
        ("1 = 1", "must be a condition on single rows"),
        ("position + 1", "must be true or false"),
        ("place = 1", "has no column 'place'"),
        ("position = 'x'", "cannot be told of its rows"),
    ):
        with pytest.raises(gb.LogError, match=message):
            gb.analyse_logs(log, where=where)
    with pytest.raises(gb.LogError, match="no row that can be used"):
        gb.analyse_logs(log, where="position = 9")
    with pytest.raises(gb.LogError, match="but none is named"):
        gb.analyse_logs(log, only=[])
    with pytest.raises(gb.LogError, match="only 'z': is none of the arms: choose one of 'a', 'b', 'c'"):
        gb.analyse_logs(log, only=["z"], arms=["a", "b", "c"])


def test_surprises_are_one_sentence(tmp_path: Path) -> None:
    import polars

    nested = polars.DataFrame({"arm": [["a"], ["b"]], "reward": [1, 0]})
    nested.write_parquet(tmp_path / "x.parquet")
    for source in (nested, nested.lazy(), tmp_path / "x.parquet"):
        with pytest.raises(gb.LogError, match=r"column 'arm' is of .*list.*: a log has plain columns"):
            gb.analyse_logs(source)
    with pytest.raises(gb.LogError, match="is a path among tables"):
        gb.analyse_logs(iter(["x.csv"]))
    (tmp_path / "x.feather").write_text("no feather")
    (tmp_path / "x.csv.gz").write_text("not packed")
    (tmp_path / "x.json").write_text('[{"arm": "a", "reward": 1}, {"arm": "b", "reward": 0}, {"arm')
    for name, message in (("x.feather", "not a file of Arrow that can be read"), ("x.csv.gz", "cannot be read"), ("x.json", "1 row cannot be used: .* row 3: is not JSON")):  # fmt: skip
        with pytest.raises(gb.LogError, match=message):
            gb.analyse_logs(tmp_path / name)


def test_merged_files_say_what_is_wrong_with_the_row_that_is_wrong(tmp_path: Path) -> None:
    """Three files that overlap in time, each with a reward that is not a number."""
    for i in range(3):
        part = {key: list(values[i:60:3]) for key, values in COLUMNS.items()}
        part["reward"][4 + i] = f"word {i}"
        write_csv(tmp_path / f"{i}.csv", part)
    found = gb.analyse_logs(*(tmp_path / f"{i}.csv" for i in range(3)), order="at", skip_bad=True)
    assert sorted((Path(bad.source).name, bad.row, bad.reason) for bad in found.bad) == [
        (f"{i}.csv", 5 + i, f"its reward 'word {i}' is not a number") for i in range(3)
    ]


@pytest.mark.parametrize("where", ["parts", "parts/part-*.csv", "parts/**/*.csv"])
def test_numbered_parts_come_in_the_order_of_their_numbers(where: str, tmp_path: Path, expected: Any) -> None:
    """The row of the first claim depends on it: part-10 comes after part-9."""
    (tmp_path / "parts").mkdir()
    for i in range(12):
        write_csv(tmp_path / "parts" / f"part-{i}.csv", {key: values[50 * i : 50 * i + 50] for key, values in COLUMNS.items()})
    found = gb.analyse_logs(tmp_path / where)
    assert essence(found) == expected
    assert found.claim is not None
    assert found.claim.row > 100, "its row tells one order from another"


def test_shuffled_files_are_put_in_order(tmp_path: Path, expected: Any) -> None:
    places = list(range(600))
    random.Random(1).shuffle(places)
    owner = [place % 3 for place in places]
    files = []
    for i in range(3):
        chosen = [row for row in range(600) if owner[row] == i]
        files.append(
            write_csv(tmp_path / f"{i}.csv", {key: [values[row] for row in chosen] for key, values in COLUMNS.items()})
        )
    for order in (files, files[::-1]):
        assert essence(gb.analyse_logs(*order, order="at")) == expected


def test_every_command_of_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small logs are what their script makes, and docs/logs.md shows every option."""
    from click.testing import CliRunner
    from test_docs import ROOT, commands, snippets

    from gobetween.cli.log_options import OPTIONS
    from gobetween.cli.logs import analyse

    monkeypatch.chdir(ROOT)
    shown = [command for name, text in snippets("sh") if name.startswith("logs.md") for command in commands(text)]
    analysed = [
        command[2:] for command in shown if command[:2] == ["logs", "analyse"] and any("logs/" in word for word in command)
    ]
    assert len(analysed) >= 9
    for words in analysed:
        done = CliRunner().invoke(analyse, words, catch_exceptions=False)
        assert done.exit_code == 0, (words, done.output)
    page = (ROOT / "docs" / "logs.md").read_text(encoding="utf-8")
    for option in analyse.params:
        assert option.param_type_name == "argument" or all(name in page for name in option.opts), option.opts
    assert len(OPTIONS) > 20


def test_the_example_logs_are_what_their_script_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import runpy

    from test_docs import ROOT

    made = runpy.run_path(str(ROOT / "examples" / "logs" / "make.py"))
    monkeypatch.setitem(made["main"].__globals__, "FOLDER", tmp_path)
    made["main"]()
    written, committed = (
        {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
        for folder in (tmp_path, ROOT / "examples" / "logs")
    )
    assert set(written) == set(committed) != set()
    for name, path in written.items():
        content = [one.read_bytes() for one in (path, committed[name])]
        made_now, kept = map(gzip.decompress, content) if path.suffix == ".gz" else content
        assert made_now == kept, name


def test_a_reader_that_stumbles_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As names and numbers, then as texts, then row by row: no row is lost or counted twice on the way."""
    from gobetween.logs.reading import arrow

    monkeypatch.setattr(arrow, "BLOCK", 4096)
    rows = [f"{'abc'[i % 3]},{i % 2},{i}" for i in range(3000)]
    rows[1000:1002] = ["b,yes,1000", "c,7,1001"]
    (tmp_path / "x.csv").write_text("arm,reward,at\n" + "\n".join(rows))
    rows[2000] = "c,1"
    (tmp_path / "y.csv").write_text("arm,reward,at\n" + "\n".join(rows))
    lines = [json.dumps({"arm": "abc"[i % 3], "reward": i % 2 if i < 1500 else bool(i % 2)}) for i in range(3000)]
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    (tmp_path / "y.jsonl").write_text("\n".join([*lines[:2000], "{", *lines[2001:]]))
    for name, bad in (("x.csv", [1002]), ("y.csv", [1002, 2001]), ("x.jsonl", []), ("y.jsonl", [2001])):
        found = gb.analyse_logs(tmp_path / name, skip_bad=True)
        assert [row.row for row in found.bad] == bad, name
        assert found.rows == 3000 - len(bad), name
        assert [arm.pulls for arm in found.arms] == [1000 - sum((row - 1) % 3 == a for row in bad) for a in range(3)], name


def test_folders_are_a_column_and_times_of_any_unit_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the Open Bandit Dataset comes: the policy is a folder, times have as many digits as they need."""
    import pyarrow
    from pyarrow import parquet

    monkeypatch.chdir(tmp_path)
    for folder, times in (("random", ("00:00:00", "00:00:02")), ("bts", ("00:00:01.500000001", "00:00:03.250000001"))):
        (tmp_path / folder).mkdir()
        rows = "".join(f"{arm},1,2019-11-24 {time}\n" for arm, time in zip("ab", times, strict=True))
        (tmp_path / folder / "men.csv").write_text("arm,reward,at\n" + rows)
    found = gb.analyse_logs("*/men.csv", mediator="folder", order="at")
    assert (found.mediators, found.disorder, found.rows) == (("bts", "random"), None, 4)
    monkeypatch.chdir(tmp_path / "bts")
    assert gb.analyse_logs("men.csv", mediator="folder").mediators == ("bts",)
    monkeypatch.chdir(tmp_path)
    reading = Reading(LogOptions(mediator="folder", order="at"))
    coded = [reading.take(batch) for batch in all_batches(each_source(("*/men.csv",)), reading.options)]
    order = [reading.stats.mediators[e] for part in coded if part is not None for e in part.e.tolist()]
    assert order == ["random", "bts", "random", "bts"]
    table = pyarrow.table(
        {"arm": ["a", "b"], "reward": [1, 0], "id": [2**60, 2**60 + 512], "day": pyarrow.array([1, 2], pyarrow.date32())}
    )
    parquet.write_table(table, "x.parquet")
    for column in ("id", "day"):
        assert gb.analyse_logs("x.parquet", order=column).disorder is None
