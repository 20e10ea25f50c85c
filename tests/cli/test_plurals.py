"""One run, one row, one replay: nouns follow their number wherever a command counts."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from gobetween.cli import gobetween
from gobetween.cli.words import told
from gobetween.errors import GoBetweenError

FILE = """
family = "bernoulli"
delta = 0.4
[[arms]]
mean = 0.9
[[arms]]
mean = 0.1
[[mediators]]
policy = [0.5, 0.5]
"""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (["simulate", "p.toml", "--runs", "1"], ", 1 run\n"),
        (["simulate", "p.toml", "--runs", "1", "--max-steps", "2"], "1 run had not stopped and counts as long as it lasted"),
        (["experiment", "p.toml", "--runs", "1"], ", 1 run\n"),
        (["logs", "replay", "log.csv", "--runs", "1"], "1 replay of 2 rows"),
        (["logs", "analyse", "bad.csv"], "1 row cannot be used"),
    ],
)
def test_counts_of_one(call: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(FILE, encoding="utf-8")
    Path("log.csv").write_text("arm,reward\na,1\nb,0\n", encoding="utf-8")
    Path("bad.csv").write_text("arm,reward\na,1\nb,7\n", encoding="utf-8")
    done = CliRunner().invoke(gobetween, call)
    shown = told(done.exception) if isinstance(done.exception, GoBetweenError) else done.output
    assert said in shown
    assert not re.findall(r"\b1 (?:runs|rows|queries|replays|cells|pairs|arms|mediators)\b", shown)
