"""A guess in a file: means with spreads, and a stake, for studies, simulations and experiments."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import gobetween as gb
from gobetween.cli.init import command as init
from gobetween.cli.simulate import command
from gobetween.errors import GoBetweenError, SpecError, StudyError
from gobetween.files.problem import parse_spec
from gobetween.simulation.grid import parse_experiment
from gobetween.simulation.guess_worth import GuessWorth
from gobetween.study.spec.changes import changes_to
from gobetween.study.spec.spec import parse_study
from gobetween.words.verdict import guess_words

ARMS = [{"name": "a", "mean": 1.0, "spread": 0.2}, {"name": "b", "mean": 0.2, "spread": 0.1}]
PEOPLE = [{"name": "North", "policy": [0.8, 0.2]}, {"name": "South", "policy": [0.3, 0.7]}]
DATA: dict[str, Any] = {"family": {"name": "gaussian", "sigma": 1.0}, "arms": ARMS, "mediators": PEOPLE, "stake": 0.4}
GUESS = gb.Guess([1.0, 0.2], [0.2, 0.1], 0.4)
PLAIN = DATA | {"arms": [{"name": "a"}, {"name": "b"}]}
PLAIN.pop("stake")


def test_a_study_has_the_guess_of_its_file() -> None:
    spec = parse_study(DATA, "study.toml")
    assert spec.design.stopping == gb.EProcess(guess=GUESS)
    people = {"North": [0.8, 0.2], "South": [0.3, 0.7]}
    assert gb.StudySpec(["a", "b"], people, family=gb.Gaussian(1.0), guess=GUESS) == spec
    assert gb.StudySpec.from_dict(spec.to_dict()) == spec
    assert parse_study(PLAIN, "study.toml").design.stopping == gb.EProcess()


def test_simulations_and_experiments_have_it_where_the_rule_takes_one() -> None:
    assert parse_spec(DATA, "file.toml").guess == GUESS
    cells = parse_experiment(DATA | {"stopping": ["e-process", "paper"]}, "grid.toml").cells
    assert [cell.job.stopping for cell in cells] == [gb.EProcess(guess=GUESS), gb.GLR()]
    table = {key: DATA[key] for key in ("family", "arms", "stake")} | {"mediators": PEOPLE, "name": "one"}
    assert parse_experiment({"problems": [table]}, "grid.toml").cells[0].job.stopping == gb.EProcess(guess=GUESS)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"arms": [{"name": "a", "mean": 1.0, "spread": 0.2}, {"name": "b", "mean": 0.0}]}, r"arms\[1\].spread is missing"),
        ({"arms": [{"name": "a", "spread": 0.2}, {"name": "b", "mean": 0.0, "spread": 1.0}]}, r"arms\[0\].mean is missing"),
        ({"arms": PLAIN["arms"]}, "stake: there is no guess"),
        ({"stake": 1.5}, "stake"),
        ({"arms": [ARMS[0], ARMS[1] | {"spread": 0.0}]}, "spread"),
        ({"stopping": "paper"}, "choose EProcess"),
        ({"family": "bernoulli"}, "between 0 and 1"),
        ({"question": {"name": "threshold", "theta": 0.5}}, "best arm alone"),
    ],
)
def test_what_is_wrong_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(GoBetweenError, match=said):
        parse_study(DATA | change, "study.toml")


def test_a_guess_cannot_change_once_the_study_has_begun() -> None:
    with_guess, without = parse_study(DATA, "study.toml"), parse_study(PLAIN, "study.toml")
    other = parse_study(DATA | {"stake": 0.5}, "study.toml")
    for old, new in ((without, with_guess), (with_guess, other)):
        with pytest.raises(StudyError, match="guess of the means cannot change"):
            changes_to(old.to_dict(), new, begun=True)
        assert changes_to(old.to_dict(), new, begun=False)
    assert changes_to(with_guess.to_dict(), with_guess, begun=True) == {}
    assert changes_to(with_guess.to_dict(), without, begun=True) == {}  # what a file leaves out stays as it is


def test_a_study_keeps_it(tmp_path: Path) -> None:
    people = {"North": [0.8, 0.2], "South": [0.3, 0.7]}
    study = gb.Study.create(str(tmp_path / "s.sqlite"), gb.StudySpec(["a", "b"], people, family=gb.Gaussian(1.0), guess=GUESS))
    study.ask()
    study.tell(0, arm="a", reward=1.0)
    again = gb.Study.open(str(tmp_path / "s.sqlite"))
    assert again.spec.design.stopping == gb.EProcess(guess=GUESS)


def test_how_many_means_there_must_be() -> None:
    with pytest.raises(SpecError, match="2 means for 3 arms"):
        gb.StudySpec(["a", "b", "c"], {"North": None}, family=gb.Gaussian(1.0), guess=GUESS)


def test_a_simulation_says_what_the_guess_is_worth(tmp_path: Path) -> None:
    """Right, a little off and reversed, in JSON and in a sentence."""
    arms = "".join(
        f'[[arms]]\nname = "{name}"\nmean = {mean}\nspread = 0.2\n' for name, mean in zip("abc", (2, 0.5, 0), strict=True)
    )
    file = tmp_path / "plan.toml"
    file.write_text(f'family = {{ name = "gaussian", sigma = 1.0 }}\n{arms}', encoding="utf-8")
    run = CliRunner()
    said = run.invoke(command, [str(file), "--runs", "24", "--delta", "0.1", "--json"], catch_exceptions=False)
    (worth,) = json.loads(said.stdout)["guess"]
    assert worth["right"] < worth["without"]
    assert set(worth) == {"delta", "without", "right", "off", "reversed"}
    said = run.invoke(command, [str(file), "--runs", "24", "--delta", "0.1"], catch_exceptions=False)
    assert "Your guess at 0.1: it saves about" in said.stdout
    assert "the answer is as safe either way" in " ".join(said.stdout.split())
    said = run.invoke(command, [str(file), "--runs", "8", "--delta", "0.1", "--stopping", "paper"], catch_exceptions=False)
    assert "Your guess" not in said.stdout


def test_the_words_of_what_a_guess_is_worth() -> None:
    said = guess_words(GuessWorth(0.1, 356.0, 301.2, 310.0, 386.0))
    assert "saves about 55 queries if it is right" in said
    assert "costs about 30 queries if the order is reversed" in said
    assert "changes nothing if the order is reversed" in guess_words(GuessWorth(0.1, 10.0, 9.0, 9.0, 10.2))


def test_a_log_that_is_half_trusted_is_a_guess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are not counted; means at an end are moved inside, and the shift widens the spread."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"North,{'ab'[i % 2]},{int(i % 2 == 0)}\n" for i in range(40))
    Path("log.csv").write_text(f"mediator,arm,reward\n{rows}", encoding="utf-8")
    run = CliRunner()
    done = run.invoke(init, ["s.toml", "--from-log", "log.csv", "--as-guess", "--shift", "0.1"], catch_exceptions=False)
    assert done.exit_code == 0
    assert "none of which is counted" in done.stdout
    study = gb.Study.open("s.toml")
    guess = study.spec.design.stopping.guess  # type: ignore[attr-defined]  # of an e-process
    p = 20 / 20 - 0.5 / 21
    assert guess.means == pytest.approx([p, 1 - p])
    assert guess.spread == pytest.approx([(p * (1 - p) / 20 + 0.01) ** 0.5] * 2)
    assert study.status().counted == 0
    with pytest.raises(StudyError, match="for a new file"):
        run.invoke(init, ["s.toml", "--from-log", "log.csv", "--as-guess"], catch_exceptions=False)
    with pytest.raises(StudyError, match="--from-log"):
        run.invoke(init, ["t.toml", "--as-guess"], catch_exceptions=False)
    with pytest.raises(StudyError, match="add --as-guess"):
        run.invoke(init, ["t.toml", "--from-log", "log.csv", "--shift", "0.1"], catch_exceptions=False)
    assert not Path("t.toml").exists()
