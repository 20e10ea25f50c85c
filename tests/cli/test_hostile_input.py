"""Hostile input at every door: what cannot be used is one sentence, never a traceback, and soon."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import gobetween as gb
from gobetween.cli import gobetween, main
from gobetween.cli.words import told
from gobetween.errors import GoBetweenError
from gobetween.files.toml import LARGEST, read_toml

DEEP = 100_000
ARMS = '[[arms]]\nname = "a"\nmean = 0.6\n[[arms]]\nname = "b"\nmean = 0.2\n[[mediators]]\nname = "m"\npolicy = [0.5, 0.5]\n'
TOMLS: dict[str, bytes] = {
    "brackets": b"title = " + b"[" * DEEP,
    "closed": b"title = " + b"[" * DEEP + b"]" * DEEP,
    "braces": b"title = " + b"{a = " * DEEP,
    "dotted": b"title" + b".a" * DEEP + b" = 1\n" + ARMS.encode(),
    "quoted": b"title" + b' . "a b"' * DEEP + b" = 1\n" + ARMS.encode(),
    "dotted store": b"store" + b".a" * 49 + b" = " + b"{a.a.a = " * 300 + b"1" + b"}" * 300 + b"\n" + ARMS.encode(),
    "header": b"[" + b"a." * DEEP + b"a]\n",
    "NUL in a name": ARMS.replace('"a"', '"a\\u0000"').encode(),
    "NUL": b'title = "\x00"',
    "NUL in the title": b'title = "\\u0000"\n' + ARMS.encode(),
    "half of a character": b'title = "\\ud800"\n' + ARMS.encode(),
    "half in UTF-8": b'title = "\xed\xa0\x80"\n' + ARMS.encode(),
    "latin-1": b'title = "\xe9"\n' + ARMS.encode(),
    "digits": b"seed = " + b"9" * 10_000 + b"\n" + ARMS.encode(),
    "keys": b"".join(b"k%d = 1\n" % i for i in range(20_000)),
}
FILE_DOORS = (
    ["plan", "FILE"], ["simulate", "FILE"], ["experiment", "FILE"], ["init", "FILE"], ["ask", "--study", "FILE"],
    ["check", "--study", "FILE"], ["status", "--study", "FILE"], ["backup", "copy.sqlite", "--study", "FILE"],
    ["restore", "copy.sqlite", "--study", "FILE"], ["logs", "analyse", "good.csv", "--declared", "FILE"],
)  # fmt: skip
LOGS: dict[str, bytes] = {
    "deep.jsonl": b'{"arm": "a", "reward": 1, "x": ' + b"[" * DEEP + b"]" * DEEP + b"}\n",
    "arm.jsonl": b'{"arm": ' + b"[" * DEEP + b"]" * DEEP + b', "reward": 1}\n',
    "open.jsonl": b"[" * DEEP,
    "half.jsonl": b'{"arm": "\\ud800", "reward": 1}\n',
    "half.csv": b"arm,reward\n\xed\xa0\x80,1\n",
    "latin.csv": b"arm,reward\n\xe9,1\n",
    "long.csv": b"arm,reward\n" + b"a" * 200_000 + b",2\n",
    "garbage.parquet": b"PAR1" + b"\x00" * 100 + b"PAR1",
}
NESTED = {
    "struct": ([{"x": "a"}, {"x": "b"}], [1.0, 0.0]),
    "list": ([["a"], ["b"]], [1.0, 0.0]),
    "reward": (["a", "b"], [[1.0], [0.0]]),
    "reward struct": (["a", "b"], [{"x": 1.0}, {"x": 0.0}]),
}
LOG_DOORS = (
    ["logs", "analyse", "FILE"], ["logs", "replay", "FILE", "--runs", "1"], ["init", "new.toml", "--from-log", "FILE"],
    ["tell", "--csv", "FILE", "--study", "good.toml"],
)  # fmt: skip
TEXTS = ("a\x00b", "\udcff", "\ud800.toml", "\udce9.csv")
TEXT_DOORS = (
    ["TEXT"], ["plan", "TEXT"], ["plan", "good.toml", "--delta", "TEXT"], ["plan", "good.toml", "--report", "TEXT"], ["simulate", "good.toml", "--csv", "TEXT"],
    ["experiment", "good.toml", "--out", "TEXT"], ["experiment", "export", "TEXT", "--csv", "-"], ["logs", "analyse", "TEXT"],
    ["logs", "analyse", "good.csv", "--arm", "TEXT"], ["logs", "analyse", "good.csv", "--report", "TEXT"], ["init", "TEXT"],
    ["init", "new.toml", "--store", "TEXT"], ["init", "new.toml", "--from-log", "TEXT"], ["ask", "--study", "TEXT"],
    ["ask", "--study", "good.toml", "--actor", "TEXT"], ["note", "TEXT", "--study", "good.toml"],
    ["rename", "a", "TEXT", "--study", "good.toml"], ["away", "TEXT", "--study", "good.toml"],
    ["tell", "--csv", "TEXT", "--study", "good.toml"], ["report", "--study", "good.toml", "--out", "TEXT"],
    ["backup", "TEXT", "--study", "good.toml"], ["restore", "TEXT", "--study", "good.toml"],
    ["--plugin", "TEXT", "plan", "good.toml"], ["reproduce", "--out", "TEXT"],
)  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOBETWEEN_JIT", "off")
    Path("good.toml").write_text(ARMS, encoding="utf-8")
    Path("good.csv").write_text("arm,reward\na,1\nb,0\n", encoding="utf-8")
    gb.Study.create("good.toml").close()
    return tmp_path


def refused(arguments: list[str]) -> str:
    """The sentence with which a command refuses."""
    start = time.monotonic()
    found = CliRunner().invoke(gobetween, arguments).exception
    assert isinstance(found, GoBetweenError), (arguments, found)
    assert time.monotonic() - start < 20
    sentence = told(found)
    assert sentence.encode()
    assert "\n" not in sentence
    assert len(sentence) < 1000
    return sentence


@pytest.mark.parametrize("door", FILE_DOORS, ids=lambda door: door[0])
def test_files_that_cannot_be_read(door: list[str]) -> None:
    for name, content in TOMLS.items():
        Path(f"{name}.toml").write_bytes(content)
        refused([f"{name}.toml" if part == "FILE" else part for part in door])
    refused([f"{'x' * 5000}.toml" if part == "FILE" else part for part in door])


@pytest.mark.parametrize("door", LOG_DOORS, ids=lambda door: " ".join(door[:2]))
def test_logs_that_cannot_be_read(door: list[str]) -> None:
    for name, content in LOGS.items():
        Path(name).write_bytes(content)
    for name, (arms, rewards) in NESTED.items():
        parquet.write_table(pa.table({"arm": arms, "reward": rewards}), f"{name}.parquet")
    for name in (*LOGS, *(f"{name}.parquet" for name in NESTED)):
        if name != "deep.jsonl" or door[0] == "tell":
            refused([name if part == "FILE" else part for part in door])


def test_what_a_log_does_not_use_may_be_nested() -> None:
    parquet.write_table(pa.table({"arm": ["a", "b"], "x": [{"y": 1}, {"y": 2}], "reward": [1.0, 0.0]}), "beside.parquet")
    assert gb.analyse_logs("beside.parquet").rows == 2


@pytest.mark.parametrize("door", TEXT_DOORS, ids=" ".join)
def test_arguments_that_are_no_text(door: list[str]) -> None:
    before = sorted(Path().iterdir())
    for text in TEXTS:
        assert "is not UTF-8, or holds NUL" in refused([text if part == "TEXT" else part for part in door])
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("variable", ["GOBETWEEN_STUDY", "GOBETWEEN_PLUGINS", "GOBETWEEN_CACHE_DIR", "XDG_CACHE_HOME"])
def test_variables_that_are_no_text(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "\udcff")
    assert f"{variable}='\\udcff' is not UTF-8" in refused(["status"])


def test_a_store_or_a_problem_whose_path_is_none() -> None:
    Path("s.toml").write_text(f'store = "a\\u0000b.sqlite"\n{ARMS}', encoding="utf-8")
    for door in (["init", "s.toml"], ["ask", "--study", "s.toml"], ["restore", "good.sqlite", "--study", "s.toml"]):
        assert "is not a path" in refused(door)
    Path("e.toml").write_text('[[problems]]\nname = "p"\nfile = "a\\u0000.toml"\n', encoding="utf-8")
    assert "is not a path" in refused(["experiment", "e.toml"])


@pytest.mark.parametrize("path", ["a\x00b", "\ud800", "x" * 5000])
def test_paths_of_python(path: str) -> None:
    for call in (gb.Problem.from_toml, gb.StudySpec.from_toml, gb.analyse_logs, gb.Study.open, gb.load_results):
        with pytest.raises(GoBetweenError):
            call(path)


@pytest.mark.parametrize("name", ["a\x00b", "\ud800"])
def test_names_of_python(name: str) -> None:
    with pytest.raises(gb.ProblemError, match="no NUL and no broken characters"):
        gb.Problem([0.9, 0.1], arms=["a", name])
    with pytest.raises(gb.ProblemError, match="no NUL and no broken characters"):
        gb.Learner(["a", name], 2)
    with pytest.raises(gb.SpecError, match="without NUL or broken characters"):
        gb.StudySpec(["a", name], ["m"])
    with pytest.raises(gb.SpecError, match="without NUL or broken characters"):
        gb.StudySpec(["a", "b"], ["m"], title=name)


def test_a_file_has_a_largest_size() -> None:
    with Path("large.toml").open("wb") as stream:
        stream.truncate(LARGEST + 1)
    with pytest.raises(gb.SpecError, match="is larger than 32 MB"):
        read_toml("large.toml")


def test_bytes_that_are_no_text_come_through_a_real_shell(folder: Path) -> None:
    call: list[str | bytes] = [sys.executable, "-m", "gobetween", "plan", b"\xff.toml"]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "gobetween: argument '\\udcff.toml' is not UTF-8, or holds NUL: write it in other characters\n"


def test_a_bug_is_one_sentence_unless_asked_for(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(path: object) -> None:
        raise ZeroDivisionError("of\nmine")

    monkeypatch.setattr("gobetween.cli.plan.read_toml", broken)
    assert os.environ["GOBETWEEN_TRACEBACK"] == "1"
    with pytest.raises(ZeroDivisionError):
        main(["plan", "good.toml"])
    monkeypatch.delenv("GOBETWEEN_TRACEBACK")
    with pytest.raises(SystemExit, match="70"):
        main(["plan", "good.toml"])
    words = "gobetween: ZeroDivisionError: of mine; this is a bug: report it with what GOBETWEEN_TRACEBACK=1 shows\n"
    assert capsys.readouterr().err == words
