"""Logs that are not what they are taken for: said, with what mends it, and nothing is advised that would bias the answer."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import gobetween as gb
from gobetween.cli import gobetween
from gobetween.cli.words import told
from gobetween.logs.reading.counts import BadLogError

LOG = "mediator,arm,reward\n" + "Nörd,Ä,1\nSouth,b,0\nSouth,Ä,1\nNörd,b,0\n" * 30
DAYS = [str(date(2026, 1, 1) + timedelta(days=i)) for i in range(60)]


def refused(*arguments: str) -> str:
    found = CliRunner().invoke(gobetween, ["logs", "analyse", *arguments]).exception
    assert isinstance(found, gb.GoBetweenError), (arguments, found)
    return told(found)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "json"])
def test_a_log_in_any_encoding_is_one_log(encoding: str, kind: str, tmp_path: Path) -> None:
    rows = [dict(zip(("mediator", "arm", "reward"), line.split(","), strict=True)) for line in LOG.splitlines()[1:]]
    lines = [f'{{"mediator": "{row["mediator"]}", "arm": "{row["arm"]}", "reward": {row["reward"]}}}' for row in rows]
    text = {"csv": LOG, "jsonl": "\n".join(lines) + "\n", "json": f"[{', '.join(lines)}]"}[kind]
    path = tmp_path / f"log.{kind}"
    path.write_bytes(text.encode(encoding))
    marked = encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32")
    found = gb.analyse_logs(path, **({} if marked else {"encoding": encoding}))  # type: ignore[arg-type]
    assert (found.rows, found.mediators, [arm.arm for arm in found.arms]) == (120, ("Nörd", "South"), ["b", "Ä"])
    assert found.N_ea.tolist() == [[30, 30], [30, 30]]


def test_what_is_not_utf_8_is_never_left_out_by_advice(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(LOG.encode("latin-1"))
    said = refused(str(path))
    assert said.endswith("; name the encoding, such as --encoding latin-1")
    assert "--skip-bad" not in said
    left = gb.analyse_logs(path, skip_bad=True)
    assert any("left out for letters that are not UTF-8" in note for note in left.notes)
    assert "is not in ascii; name the encoding" in refused(str(path), "--encoding", "ascii")
    for name in ("zip", "nosuch", "x" * 1000, "undefined"):
        assert "is not known: say one such as latin-1" in refused(str(path), "--encoding", name)


@pytest.mark.parametrize(("encoding", "guess"), [("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be")])
def test_utf_16_without_its_mark_is_known_by_its_nul(encoding: str, guess: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(LOG.encode(encoding))
    assert refused(str(tmp_path / "log.csv")).endswith(
        f"holds NUL, as text in UTF-16 does; name the encoding, such as --encoding {guess}"
    )


def test_a_workbook_that_is_called_csv(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(b"PK\3\4" + bytes(100))
    assert refused(str(tmp_path / "log.csv")).endswith("log.csv: is no text; it looks like .xlsx: call it so")


def test_a_name_has_an_end(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("arm,reward\n" + "a,1\nb,0\n" * 20 + "a" * 2_000_000 + ",1\n", encoding="utf-8")
    said = refused(str(tmp_path / "log.csv"))
    assert "log.csv row 41: its arm is 'aaaa" in said
    assert len(said) < 1000


def test_nul_is_in_no_name() -> None:
    with pytest.raises(BadLogError, match=r"its arm is 'a.x00'"):
        gb.analyse_logs({"arm": ["a", "b"] * 20 + ["a\0"], "reward": [1, 0] * 20 + [1]})


COLUMNS: dict[str, list[Any]] = {
    "channel": ["a", "b"] * 30, "arm": ["a", "b"] * 30, "reward": [1, 0] * 30, "day": DAYS, "id": [f"order {i}" for i in range(60)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mediator": "channel", "arm": "channel"}, "column 'channel' is named for both mediators and arms"),
        ({"arm": "reward"}, "column 'reward' is named for both arms and rewards"),
        ({"mediator": "reward"}, "column 'reward' is named for both mediators and rewards"),
        ({"count": "reward"}, "column 'reward' is named for both rewards and counts"),
        ({"arm": "channel,reward"}, "column 'reward' is named for both arms and rewards"),
        ({"arm": "day"}, "column 'day' holds dates, such as '2026-01-01', for arms: declare them if they are arms"),
        ({"mediator": "day"}, "column 'day' holds dates, such as '2026-01-01', for mediators: declare them if they are"),
        (
            {"arm": "id"},
            "column 'id' holds 60 arms in 60 rows, as many as an id or a time would: declare them if they are arms",
        ),
        ({"mediator": "id"}, "column 'id' holds 60 mediators in 60 rows, as many as an id or a time would"),
    ],
)
def test_columns_that_were_mistaken(options: dict[str, str], words: str) -> None:
    with pytest.raises(gb.LogError, match=words) as caught:
        gb.analyse_logs(COLUMNS, **options)  # type: ignore[arg-type]
    assert str(caught.value).endswith("; name columns with mediator=…, arm=…, reward=…")


def test_what_is_declared_may_look_like_a_mistake(tmp_path: Path) -> None:
    assert gb.analyse_logs(COLUMNS, arm="day", arms=DAYS).rows == 60
    assert gb.analyse_logs(COLUMNS, arm="day", only=DAYS[:30]).rows == 30
    assert gb.analyse_logs({key: values[:19] for key, values in COLUMNS.items()}, arm="id").rows == 19
    many = {"arm": [f"a{i}" for i in range(60)], "reward": [1] * 60, "n": [100] * 60}
    assert gb.analyse_logs(many, count="n").rows == 6000
    days = {"arm": pa.array([date(2026, 1, 1), date(2026, 1, 2)] * 30), "reward": pa.array([1, 0] * 30)}
    parquet.write_table(pa.table(days), tmp_path / "days.parquet")
    with pytest.raises(gb.LogError, match="holds dates, such as '2026-01-01', for arms"):
        gb.analyse_logs(tmp_path / "days.parquet")


@pytest.mark.parametrize(
    ("rows", "fix"),
    [
        (
            {"arm": ["a"] * 6, "reward": [0.5] * 6},
            "pass the right family=…: without them the rest would be selected by reward",
        ),
        (
            {"arm": ["a"] * 6, "reward": ["?!"] * 6},
            "pass the right family=…: without them the rest would be selected by reward",
        ),
        (
            {"arm": ["a"] * 6, "reward": [None] * 6},
            "all of them are of arm 'a'; correct them: without them the answer would not be",
        ),
        ({"arm": ["a", "b"] * 3, "reward": [None] * 6}, "pass skip_bad=True to leave them out if that has nothing to do with"),
    ],
)
def test_rows_are_left_out_only_where_that_changes_nothing(rows: dict[str, list[Any]], fix: str) -> None:
    log = {key: good + rows[key] for key, good in (("arm", ["a", "b"] * 20), ("reward", [1, 0] * 20))}
    with pytest.raises(BadLogError, match=fix):
        gb.analyse_logs(log)


def test_what_was_left_out_of_one_side_is_said() -> None:
    log: dict[str, list[Any]] = {
        "mediator": ["m", "n"] * 20 + ["m"] * 6,
        "arm": ["a", "b"] * 20 + ["", "c"] * 3,
        "reward": [1, 0] * 20 + [None] * 6,
    }
    halves = [{key: values[i::2] for key, values in log.items()} for i in (0, 1)]
    for parts in ([log], halves):
        notes = gb.analyse_logs(*parts, skip_bad=True).notes
        assert "All rows that were left out are of mediator 'm': the answer is not about them." in notes


def test_repeated_ids_may_be_left_out() -> None:
    with pytest.raises(BadLogError, match=r"; skip_bad=True leaves them out$"):
        gb.analyse_logs({"arm": ["a", "b"], "reward": [1, 0], "id": ["x", "x"]}, id="id")


def test_files_without_rows(tmp_path: Path) -> None:
    for name, content in (("blank.csv", "\n\n"), ("list.json", "[]")):
        (tmp_path / name).write_text(content, encoding="utf-8")
        assert refused(str(tmp_path / name)) == f"{tmp_path}/{name}: holds no rows; name another file"
        (tmp_path / name).unlink()
    (tmp_path / "a.csv").write_bytes(b"")
    (tmp_path / "b.csv").write_text("arm,reward\n" + "a,1\nb,0\n" * 20, encoding="utf-8")
    assert refused(str(tmp_path / "a.csv")) == f"{tmp_path}/a.csv: the file is empty; name another file"
    assert refused(str(tmp_path)) == f"{tmp_path}/a.csv: the file is empty; --skip-bad goes on without it"
    assert gb.analyse_logs(tmp_path, skip_bad=True).rows == 40


def test_files_that_are_another_kind(tmp_path: Path) -> None:
    for name, content, words in (
        ("x.xlsx", b"PK\3\4", "is a workbook: save the sheet with the log as CSV"),
        ("x.parquet", b"PAR1" + b"\0" * 100, "; write it again, or name another file"),
        ("y.parquet", b"arm,reward\na,1\n", "; it looks like .csv: call it so"),
        ("z.feather", b"\x1f\x8b", "; it looks like .gz: call it so"),
    ):
        (tmp_path / name).write_bytes(content)
        assert words in refused(str(tmp_path / name))


def test_look_alikes_in_logs_are_said_and_forms_of_one_text_are_one(tmp_path: Path) -> None:
    log = {"arm": ["a", "\u0430", "cafe\u0301", "caf\u00e9"] * 20, "reward": [1, 0, 1, 0] * 20}
    found = gb.analyse_logs(log, rename={"cafe\u0301": "b"})
    assert [arm.arm for arm in found.arms] == ["a", "b", "\u0430"]
    assert any("Arms whose names look alike" in note and "'a' and '\u0430'" in note for note in found.notes)


def test_arms_that_are_not_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(LOG, encoding="utf-8")
    assert refused(str(path), "--arms", "lettr") == "the log holds no row of 'lettr': look whether its arms are called so"
    with pytest.raises(gb.LogError, match="a column is named by a text, not by None; name columns with mediator=…"):
        gb.analyse_logs(path, reward=None)  # type: ignore[arg-type]
