"""Scale is not guessed: the family that is not said is bernoulli at every door, and gaussian without its sigma is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from own_rules import Amount

import gobetween as gb
from gobetween.cli import gobetween
from gobetween.cli.log_options import family_of
from gobetween.cli.words import told
from gobetween.core.reward.families import DEFAULT
from gobetween.files.problem import parse_spec
from gobetween.logs.reading.options import LogOptions
from gobetween.simulation.grid import parse_experiment
from gobetween.study.spec.spec import parse_study
from gobetween.words.verdict import family_words

ARMS: dict[str, Any] = {"arms": [{"name": "a", "mean": 0.9}, {"name": "b", "mean": 0.1}]}
FILE = ARMS | {"mediators": [{"name": "m", "policy": [0.5, 0.5]}]}
LACKS = "gaussian needs sigma, the standard deviation of a reward"
TABLE = 'write family = { name = "gaussian", sigma = 2.0 }, with your value, or sigma = "unknown"'
CALL = "write gb.Gaussian(sigma=2.0), with your value, or sigma=None if it is unknown"

#: Every door through which a family comes from Python, and one from a file; each takes what may say a family.
DOORS: dict[str, Callable[..., gb.Family]] = {
    "Problem": lambda **said: gb.Problem([0.9, 0.1], **said).family,
    "Learner": lambda **said: gb.Learner(2, 2, **said).design.family,
    "StudySpec": lambda **said: gb.StudySpec(["a", "b"], ["m"], **said).design.family,
    "plan file": lambda **said: parse_spec(FILE | said, "f.toml").problem.family,
    "experiment": lambda **said: parse_experiment(FILE | said, "f.toml").cells[0].job.problem.family,
    "study file": lambda **said: parse_study(FILE | said, "f.toml").design.family,
}


@pytest.mark.parametrize("door", DOORS)
def test_one_default_at_every_door(door: str) -> None:
    assert DOORS[door]() == DEFAULT == gb.Bernoulli() == LogOptions().family


@pytest.mark.parametrize("door", DOORS)
def test_gaussian_needs_its_sigma_at_every_door(door: str) -> None:
    in_file = door.endswith("file") or door == "experiment"
    for said in ("gaussian", {"name": "gaussian"}) if in_file else ("gaussian",):
        with pytest.raises(gb.GoBetweenError) as caught:
            DOORS[door](family=said)
        assert str(caught.value).endswith(f"{LACKS}; {TABLE if in_file else CALL}")
        assert not in_file or told(caught.value) == str(caught.value)
    assert DOORS[door](family={"name": "gaussian", "sigma": 2} if in_file else gb.Gaussian(2)) == gb.Gaussian(2.0)


@pytest.mark.parametrize("door", DOORS)
def test_an_unknown_sigma_is_said_at_every_door(door: str) -> None:
    """A plan needs the one that is expected, what learns from rewards does not."""
    in_file = door.endswith("file") or door == "experiment"
    table = {"name": "gaussian", "sigma": "unknown", "expected": 2}
    expecting = DOORS[door](family=table if in_file else gb.Gaussian(None, expected=2))
    assert expecting == gb.Gaussian(sigma=None, expected=2.0)
    bare: Any = {"name": "gaussian", "sigma": "unknown"} if in_file else gb.Gaussian(sigma=None)
    if door in ("Learner", "StudySpec", "study file"):
        assert DOORS[door](family=bare) == gb.Gaussian(sigma=None)
        return
    with pytest.raises(gb.GoBetweenError, match="a plan needs the sigma that is expected; a study will learn it") as caught:
        DOORS[door](family=bare)
    assert (
        "expected = 2.0 }, with your value" in str(caught.value)
        if in_file
        else "expected=2.0), with your value" in str(caught.value)
    )


def test_an_unknown_sigma_of_the_command_line() -> None:
    assert family_of("gaussian:sigma=unknown") == gb.Gaussian(sigma=None)
    assert family_words(family_of("gaussian:sigma=unknown,expected=3")) == "gaussian, σ unknown, expected = 3"
    with pytest.raises(gb.GoBetweenError, match=r"family\.mean is not a known key: choose one of name, sigma, expected"):
        family_of("gaussian:sigma=unknown,mean=3")
    with pytest.raises(gb.GoBetweenError, match="write it as name:key=number,key=number"):
        family_of("gaussian:sigma=unknwn")


def test_a_gaussian_of_python_needs_its_sigma() -> None:
    with pytest.raises(gb.ProblemError, match=LACKS):
        gb.Gaussian()
    with pytest.raises(gb.ProblemError, match=LACKS):
        gb.analyse_logs({"arm": ["a", "b"], "reward": [1.0, 2.0]}, family="gaussian")
    assert gb.Gaussian(2) == gb.Gaussian(sigma=2.0)


@pytest.mark.parametrize("call", [["logs", "analyse", "log.csv"], ["init", "s.toml", "--from-log", "log.csv"]])
def test_a_gaussian_of_the_command_line_needs_its_sigma(
    call: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text("arm,reward\na,1\nb,0\n", encoding="utf-8")
    caught = CliRunner().invoke(gobetween, [*call, "--family", "gaussian"]).exception
    assert isinstance(caught, gb.GoBetweenError)
    assert (
        told(caught)
        == f"--family gaussian: family: {LACKS}; write gaussian:sigma=2, with your value, or gaussian:sigma=unknown"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_what_the_default_cannot_have_names_the_way() -> None:
    other = "specify a family for other rewards, such as family"
    learner = gb.Learner(2, 2)
    with pytest.raises(gb.ProblemError, match=rf"reward 2.5 is not possible: .* 0 or 1 \(the default family.*; {other}=gb"):
        learner.tell(learner.ask(), arm="arm 1", reward=2.5)
    means = {"arms": [{"mean": 1.5}, {"mean": 0.5}]}
    with pytest.raises(gb.SpecError, match=rf"arms\[0\].mean = 1.5 .* bernoulli family, the default: .*; {other} = {{ name"):
        parse_spec(means, "f.toml")
    with pytest.raises(gb.LogError, match=r"reward 2.5 is not possible: .* \(the default family: name another\)"):
        gb.analyse_logs({"arm": ["a", "b"], "reward": [1.0, 2.5]})


def test_a_spec_remembers_what_its_file_leaves_out() -> None:
    short, long = parse_study(FILE, "f.toml"), parse_study(FILE | {"family": "bernoulli"}, "f.toml")
    assert "family" in short.left_out
    assert "family" not in long.left_out
    assert "arms" not in short.left_out
    assert short == long
    assert short.to_dict() == long.to_dict()
    assert short.edited("title", "t").left_out == short.left_out
    assert "family" in gb.StudySpec(["a", "b"], ["m"]).left_out
    assert "family" not in gb.StudySpec(["a", "b"], ["m"], family="poisson").left_out


def test_a_family_of_ones_own_says_what_it_needs() -> None:
    assert Amount(2.0).name == "own-gamma"
    with pytest.raises(gb.ProblemError, match=r"the family 'own-gamma' needs shape: pass Amount\(…\)"):
        gb.Problem([0.9, 0.1], family="own-gamma")
