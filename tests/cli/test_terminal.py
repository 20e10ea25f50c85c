"""Pages on a terminal: nothing is cut, names stay text, JSON is whole."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

import gobetween as gb
from gobetween.cli.terminal import print_json, show, show_page, target
from gobetween.pages.blocks import Grid, Picture, Section, Text

PAGE = [
    Section("", [Text("lead", "lead"), Grid((), [("one", "1"), ("three", "[b]3[/b]")])]),
    Section("Pictures are for reports", [Picture("p", None, "caption")]),
    Section("Numbers", [Grid(("name", "n", ""), [("a", "10", "x"), ("a", "9", "yy"), ("b", "8", "")]), Text("note", "note")]),
    Section("", [Text("end\x1b")]),
]


def test_a_page_is_texts_and_tables(capsys: pytest.CaptureFixture[str]) -> None:
    show_page("Title", PAGE)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "Title", "lead", "one    1", "three  [b]3[/b]", "", "Numbers", "name   n", "a     10  x", "       9  yy", "b      8", "note",
        "", "end\\x1b",
    ]  # fmt: skip


@pytest.mark.parametrize("columns", ["1", "60", "500"])
@pytest.mark.parametrize("ruled", [True, False])
def test_no_cell_is_folded_or_cut(
    columns: str, ruled: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    cells = [f"{i}123,456.78 ± {i}9,999.99" for i in range(8)]
    show_page("", [Section("", [Grid(["a heading of several words"] * 8, [cells])])], ruled=ruled)
    shown = capsys.readouterr().out
    assert all(cell in shown for cell in cells)
    assert ("━" in shown) == ruled


class Watched(io.StringIO):
    """Standard output that someone watches."""

    def isatty(self) -> bool:
        return True


def watched(monkeypatch: pytest.MonkeyPatch, columns: int) -> Watched:
    for name, value in (("COLUMNS", str(columns)), ("TERM", "xterm"), ("NO_COLOR", "1"), ("TTY_COMPATIBLE", "1")):
        monkeypatch.setenv(name, value)
    stream = Watched()
    monkeypatch.setattr(sys, "stdout", stream)
    return stream


WIDE = Grid(("arm", "number of pulls", ""), [("text message", "1,234", "leads"), ("text message", "5", "")])


def test_a_narrow_terminal_shows_records_and_breaks_at_words(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = watched(monkeypatch, 24)
    words = "a sentence of several words that is longer than the line"
    show_page("", [Section("", [WIDE, Text(words)])])
    show(None, False, f"    1  {words}")
    monkeypatch.undo()
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines()]
    assert lines[:6] == ["arm: text message", "number of pulls: 1,234", "leads", "", "arm: text message", "number of pulls: 5"]
    assert all(len(line) <= 24 for line in lines)
    assert " ".join(" ".join(lines[7:]).split()) == f"{words} 1 {words}"


def test_a_terminal_that_is_wide_enough_shows_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = watched(monkeypatch, 34)
    show_page("", [Section("", [WIDE])])
    monkeypatch.undo()
    assert "text message" in stream.getvalue()
    assert "arm:" not in stream.getvalue()


def test_in_a_pipe_nothing_is_broken(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    words = "a sentence of several words " * 20
    show_page("", [Section("", [WIDE, Text(words)])])
    show(None, False, words)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("  ")[0] == "arm"
    assert "number of pulls" in lines[0]
    assert lines[3:] == [words, words]


def test_json_loses_no_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"name": "é", "far": float("inf")}
    for encoding in ("utf-8", "ascii"):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding, errors="replace"))
        print_json(value)
        sys.stdout.flush()
        assert json.loads(raw.getvalue().decode()) == {"name": "é", "far": None}
    monkeypatch.undo()


def test_show_is_json_or_lines(capsys: pytest.CaptureFixture[str]) -> None:
    show({"a": 1}, False, "one\ntwo\x1b")
    assert capsys.readouterr().out == "one\ntwo\\x1b\n"
    show({"a": 1}, True, "one")
    assert json.loads(capsys.readouterr().out) == {"a": 1}


def test_where_to_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with target("-") as stream:
        stream.write("here")
    assert capsys.readouterr().out == "here"
    with target(str(tmp_path / "file")) as stream:
        stream.write("there")
    assert (tmp_path / "file").read_text() == "there"
    nowhere, wanted = str(tmp_path / "no" / "file"), r"^--csv .*/no/file: cannot be written \(No such file or directory\)$"
    with pytest.raises(gb.ResultsError, match=wanted), target(nowhere, "--csv"):
        pass
