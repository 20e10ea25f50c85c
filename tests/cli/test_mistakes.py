"""Mistakes that people make in a shell: each is one sentence with its fix, and nothing changes."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import gobetween as gb

TEXT = """
family = "bernoulli"
[[arms]]
name = "letter"
[[arms]]
name = "text message"
[[mediators]]
name = "North"
policy = [0.5, 0.5]
[[mediators]]
name = "South"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("mistakes")
    (found / "study.toml").write_text(TEXT, encoding="utf-8")
    gb.Study.create(found / "study.toml").ask()
    return found


def gobetween(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gobetween", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["statsu"], "there is no command 'statsu': did you mean status? gobetween --help lists all"),
        (["frobnicate"], "there is no command 'frobnicate': gobetween --help lists them"),
        (["retire", "letter"], "'letter' is an arm; add --arm"),
        (["retire", "North", "--arm"], "'North' is a mediator; leave out --arm"),
        (["away", "letter"], "'letter' is an arm: choose one of 'North', 'South'"),
        (["declare", "letter", "--unknown"], "'letter' is an arm: choose one of 'North', 'South'"),
        (
            ["tell", "0", "--arm", "letter", "--reward", "maybe"],
            "'maybe' is not a number: write one, or a word such as yes or no",
        ),
        (["away", "nroth"], "mediator 'nroth' is not known: did you mean 'North'? Choose one of 'North', 'South'"),
        (["tell", "0", "--arm", "leter", "--reward", "1"], "arm 'leter' is not known: did you mean 'letter'?"),
        (["tell", "0", "--arm", "letter", "--reward", "50%"], "reward '50%' is not a number; write 0.5"),
        (["ask", "-n", "1 000"], "'1 000' is not a valid integer; write 1000"),
        (["tell", "0", "--arm", "“text", "message”"], "Write straight quotes, ' or \", for “ and ”."),
        (["status", "–json"], "Write -- for – and —."),
        (["tell", "0", "--rewrad", "1"], "Did you mean '--reward'?"),
    ],
)
def test_a_mistake_has_its_fix(folder: Path, arguments: list[str], said: str) -> None:
    before = list(gb.Study.open(folder / "study.toml").events())
    done = gobetween(folder, *arguments)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert list(gb.Study.open(folder / "study.toml").events()) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["resume"], "the study is not paused and has not stopped; nothing changed"),
        (["back", "North"], "North is not away; nothing changed"),
        (["rename", "letter", "letter"], "letter is the name already; nothing changed"),
    ],
)
def test_where_there_is_nothing_to_do_it_says_so(folder: Path, arguments: list[str], said: str) -> None:
    assert gobetween(folder, *arguments).stdout.splitlines()[0] == said


def test_a_group_without_a_command_shows_its_help(folder: Path) -> None:
    done = gobetween(folder, "logs")
    assert (done.returncode, done.stderr.startswith("Usage: gobetween logs"), "analyse" in done.stderr) == (2, True, True)


def test_a_command_that_is_suggested_can_be_copied(tmp_path: Path) -> None:
    (tmp_path / "my study.toml").write_text(TEXT, encoding="utf-8")
    said = gobetween(tmp_path, "init", "my study.toml").stdout.splitlines()[-1]
    assert said == "next: change the file to your study, then gobetween ask --study 'my study.toml'"
    command = shlex.split(said.partition("then gobetween ")[2])
    assert gobetween(tmp_path, *command).stdout.startswith("query 0: ask ")


def test_what_is_so_already_is_said_and_a_key_of_before_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(TEXT, encoding="utf-8")
    gb.Study.create(tmp_path / "study.toml")
    assert gobetween(tmp_path, "pause", "--key", "k").stdout == "paused\n"
    assert gobetween(tmp_path, "pause").stdout == "the study is paused already; nothing changed\n"
    assert gobetween(tmp_path, "resume").stdout == "the study goes on\n"
    assert gobetween(tmp_path, "pause", "--key", "k").stdout == "already recorded, nothing changed\n"
