"""Files and tables of every kind, good and broken."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from log_tables import POLICIES, naive_claim, of_kind, table, write_csv, write_jsonl, write_parquet

import gobetween as gb
from gobetween.logs.reading.counts import BadLogError


def essence(report: gb.LogReport) -> Any:
    claim = report.claim and (report.claim.arm, report.claim.row)
    arms = [(arm.arm, arm.pulls, round(arm.estimate or 0.0, 12)) for arm in report.arms]
    return claim, report.identified, report.leader, round(report.statistic, 9), arms, report.N_ea.tolist(), report.rows


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
    assert merged.ordered
    assert essence(merged) == expected


def test_one_mediator_needs_no_column() -> None:
    columns = table(400, policies=POLICIES[:1])
    del columns["mediator"]
    found = gb.analyse_logs(columns)
    assert found.mediators == ("the log",)
    assert of_kind(found, "confounding") == []


def test_a_broken_last_line_and_odd_json(tmp_path: Path) -> None:
    lines = write_jsonl(tmp_path / "x.jsonl", table(20)).read_text()
    (tmp_path / "x.jsonl").write_text(lines + '{"mediator": "m0", "arm": "a", "rew')
    with pytest.raises(BadLogError, match=r"1 row cannot be used: .*x.jsonl row 21: is not JSON"):
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
    with pytest.raises(BadLogError, match=r"2 rows cannot be used: .*latin.csv rows 1, 2: holds characters that are not"):
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


def test_names_that_nobody_can_write_are_bad_rows(tmp_path: Path) -> None:
    path = tmp_path / "half.jsonl"
    path.write_text('{"arm": "\\ud83d", "reward": 1}\n{"arm": "\\ud83d\\ude00", "reward": 1}\n{"arm": "b", "reward": 0}\n')
    with pytest.raises(BadLogError, match=r"1 row cannot be used: .*half.jsonl row 1: holds characters that are not UTF-8"):
        gb.analyse_logs(path)
    assert [arm.arm for arm in gb.analyse_logs(path, skip_bad=True).arms] == ["b", "😀"]
    with pytest.raises(gb.LogError, match="table: is not a table of columns with names"):
        gb.analyse_logs({"arm": ["\ud83d", "b"], "reward": [1, 0]})


def test_anything_with_names_of_columns_is_a_table() -> None:
    """Such as a Dataset of Hugging Face, which has no `columns`."""

    class Table:
        column_names = ("arm", "reward")

        def __getitem__(self, name: str) -> list[Any]:
            return ["a", "b"] if name == "arm" else [1, 0]

    odd: Any = Table()
    assert gb.analyse_logs(odd).rows == 2


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
    assert not of_kind(gb.analyse_logs(silent, arms=["a", "b"], declared={"m": [0.4, 0.4]}), "policy")[0].raised
    with pytest.raises(gb.LogError, match="is named twice"):
        gb.analyse_logs("examples/log.csv", Path("examples") / "log.csv")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", "", "x.csv: the file is empty"),
        ("x.csv", "mediator,arm,reward\n", "x.csv: the file holds no rows"),
        (
            "x.csv",
            "who,arm\nm,a\n",
            r"x.csv: has no column 'reward': choose one of 'who', 'arm'; name columns with mediator=…, arm=…",
        ),
        (
            "x.txt",
            "mediator,arm,reward\n",
            "x.txt: is not known as a log by its name: .csv, .tsv, .jsonl, .json, .parquet or .feather",
        ),
        ("x.csv.zip", "PK", "x.csv.zip: a .zip may hold several files: unpack it, or pack the one with gzip"),
        ("x.parquet", "no parquet", "x.parquet: is not a Parquet file that can be read"),
        ("x.jsonl", '{"arm": "a"}\n', "x.jsonl: has no column 'reward'"),
    ],
)
def test_files_that_are_no_logs(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(gb.LogError, match=message):
        gb.analyse_logs(tmp_path / name)
