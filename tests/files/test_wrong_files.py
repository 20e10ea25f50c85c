"""Files that are not what a command reads: what to write instead."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import gobetween as gb
from gobetween.cli import gobetween
from gobetween.cli.words import told

ARMS = '[[arms]]\nname = "a"\nmean = 0.6\n[[arms]]\nname = "b"\nmean = 0.2\n'
GOOD = f'{ARMS}[[mediators]]\nname = "m"\npolicy = [0.5, 0.5]\n'
WRONG: dict[str, tuple[str, str, str]] = {
    "a log": ("log.csv", "arm,reward\na,1\n", "log.csv: is a log by its name, and not TOML; gobetween logs analyse log.csv reads logs"),
    "a workbook": ("p.xlsx", "PK\3\4", "p.xlsx: is a workbook, and not TOML: save what it holds as text"),
    "curly": ("p.toml", GOOD.replace('"a"', "“a”"), '(at line 2, column 8): its typographic quote “ is none of TOML\'s: write " instead'),
    "curly later": ("p.toml", GOOD.replace('"b"', "‘b’"), "its typographic quote ‘ is none of TOML's"),
    "money": ("p.toml", f'{GOOD}cost = "4 EUR"\n', "mediators[0].cost = '4 EUR': must be a number; write 4"),
    "percent": ("p.toml", f'delta = "5%"\n{GOOD}', "delta = '5%': must be a number; write 0.05"),
    "bare percent": ("p.toml", f"delta = 5%  # risk\n{GOOD}", "a statement (at line 1, column 10); write 0.05"),
    "bare decimal comma": ("p.toml", GOOD.replace("0.6", "0,6"), "a statement (at line 3, column 9); write 0.6"),
    "policy in percent": ("p.toml", GOOD.replace("[0.5, 0.5]", '["50%", "50%"]'), "policy[0] = '50%' is not an arm; write 0.5"),
    "bounds": (
        "p.toml", f'family = "bounded"\nlow = 0\nhigh = 10\n{GOOD}',
        'low is a parameter of the family: write family = { name = "bounded", low = 0, high = 10 }',
    ),
    "long name": ("p.toml", GOOD.replace('"a"', f'"{"a" * 501}"'), "aaa'… has 501 characters: a name has at most 500"),
    "decimal comma": ("p.toml", GOOD.replace("0.6", '"0,6"'), "arms[0].mean = '0,6': must be a number; write 0.6"),
    "sigma": (
        "p.toml", f'family = "gaussian"\nsigma = 1.5\n{GOOD}',
        'sigma is a parameter of the family: write family = { name = "gaussian", sigma = 1.5 }',
    ),
    "key": ("p.toml", f"detla = 0.1\n{GOOD}", "detla is not a known key: did you mean delta?"),
    "family": ("p.toml", f'family = "gausian"\n{GOOD}', "family.name = 'gausian': did you mean gaussian?"),
    "rule": ("p.toml", f'sampling = "persuit"\n{GOOD}', "sampling = 'persuit': did you mean pursuit?"),
    "no text": ("p.toml", GOOD.replace('"a"', '"\udce9"'), "p.toml: is not UTF-8 (line 2): save it as text in UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_file_that_is_not_a_problem_says_what_to_write(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOBETWEEN_JIT", "off")
    name, content, words = WRONG[what]
    Path(name).write_text(content, encoding="utf-8", errors="surrogateescape")
    found = CliRunner().invoke(gobetween, ["plan", name]).exception
    assert isinstance(found, gb.GoBetweenError), found
    assert words in told(found)


def test_a_decimal_comma_is_no_list_of_risks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOBETWEEN_JIT", "off")
    (tmp_path / "p.toml").write_text(GOOD, encoding="utf-8")
    found = CliRunner().invoke(gobetween, ["plan", str(tmp_path / "p.toml"), "--delta", "0,05"]).exception
    assert "delta = '0,05': must be a number; write 0.05" in str(found)


def test_a_study_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(f'family = "gaussian"\nsigma = "unknown"\n{GOOD}', encoding="utf-8")
    with pytest.raises(gb.SpecError, match=r'write family = \{ name = "gaussian", sigma = .unknown. \}'):
        gb.StudySpec.from_toml(tmp_path / "s.toml")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_says_how_a_file_is_written(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_bytes(GOOD.replace('"a"', '"ä"').replace("\n", "\r\n").encode(encoding))
    assert gb.Problem.from_toml(tmp_path / "p.toml").arms == ("ä", "b")


@pytest.mark.parametrize(
    "content",
    [
        "mediator;arm;reward;silent\nm;a;yes;\nm;b;No;\nm;;;x\n", "mediator\tarm\treward\tsilent\nm\ta\tTRUE\t\nm\tb\tf\t\nm\t\t\tyes\n",
        "mediator,arm,reward,silent\r\nm,a,1,\r\n\r\nm,b,0,\r\nm,,,yes\r\n", "mediator|arm|reward|silent\nm|a|y|\nm|b|-0|\nm|||1\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_answers_are_read_as_logs_are(content: str, encoding: str, tmp_path: Path) -> None:
    study = gb.Study.create(str(tmp_path / "s.sqlite"), gb.StudySpec(["a", "b"], ["m"], silent=True))
    (tmp_path / "answers.csv").write_bytes(content.encode(encoding))
    study.tell_csv(tmp_path / "answers.csv")
    told_events = [(event["arm"], event["reward"]) for event in study.events() if event["kind"] == "told"]
    assert (told_events, [event["kind"] for event in study.events()]) == ([("a", 1.0), ("b", 0.0)], ["told", "told", "silent"])


def test_answers_have_limits(tmp_path: Path) -> None:
    study = gb.Study.create(str(tmp_path / "s.sqlite"), gb.StudySpec(["a", "b"], ["m"]))
    for content, words in (
        ("mediator,arm,reward\n" + "m,a,1\n" * 100_001, "has more than 100,000 rows: split it into several"),
        ("mediator,arm,reward\n" + "\n" * 32_000_000, "is larger than 32 MB: split it into several"),
        ("mediator,arm,reward\n" + "m" * 5_000_000, "line 2 is longer than 4 million characters"),
        ("mediator,arm,reward\nm,a,50%\n", "reward '50%' is not a number; write 0.5"),
        ("mediator,arm,reward\nm,a,maybe\n", "reward 'maybe' is not a number"),
    ):
        (tmp_path / "answers.csv").write_text(content, encoding="utf-8")
        with pytest.raises(gb.StudyError, match=words):
            study.tell_csv(tmp_path / "answers.csv")
    assert list(study.events()) == []


def test_rewards_are_words_in_a_shell_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(GOOD, encoding="utf-8")
    for command in (
        "init",
        "tell --mediator m --arm a --reward yes",
        "tell --mediator m --arm b --reward No",
        "correct 1 --reward y --arm a --reason r",
    ):
        result = CliRunner().invoke(gobetween, command.split(), catch_exceptions=False)
        assert result.exit_code == 0, result.output
    assert [event["reward"] for event in gb.Study.open("study.toml").events() if event["kind"] == "told"] == [1.0, 0.0]
