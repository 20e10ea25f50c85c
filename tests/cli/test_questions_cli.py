"""A question is known to files, plans and studies; a study keeps the one that it began with."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import gobetween as gb
from gobetween.cli import gobetween
from gobetween.cli.words import told

FILE = """
question = { name = "top-m", m = 2 }
family = { name = "gaussian", sigma = 1 }
[[arms]]
name = "a"
mean = 1.0
[[arms]]
name = "b"
mean = 0.5
[[arms]]
name = "c"
mean = 0.0
[[mediators]]
name = "North"
policy = [0.5, 0.3, 0.2]
[[mediators]]
name = "South"
policy = [0.2, 0.3, 0.5]
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(FILE)
    return tmp_path


def run(*words: str, status: int = 0) -> str:
    result = CliRunner().invoke(gobetween, words)
    assert result.exit_code == status, result.output
    return result.output


def test_a_plan_answers_the_question_of_the_file_or_of_the_option(place: Path) -> None:
    shown = run("plan", "study.toml")
    assert "The best 2 arms are 'a' and 'b'" in shown
    found = json.loads(run("plan", "study.toml", "--question", "threshold:theta=0.2", "--json"))
    problem = gb.Problem([1.0, 0.5, 0.0], [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], family=gb.Gaussian(1.0))
    assert found["T_star"] == pytest.approx(gb.question_bound(problem, gb.Threshold(0.2)).T_star)
    assert found["answer"] == ["a", "b"]
    assert "report.html" in run("plan", "study.toml", "--report", "page")
    assert "best 2 arms" in (place / "page" / "report.html").read_text()


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("top-m", "top-m needs m: say top-m:m=…"),
        ("top-m:m", "write it as name:key=number"),
        ("top-m:m=3", "the best 3 of 3 arms are no question"),
        ("top-m:k=3,m=2", "is not a known key"),
        ("worst", "choose one of best-arm, top-m, epsilon-best, threshold"),
        ("epsilon-best:eps=-1", "eps = -1.0"),
    ],
)
def test_mistakes_are_one_sentence(place: Path, word: str, says: str) -> None:
    caught = CliRunner().invoke(gobetween, ["plan", "study.toml", "--question", word]).exception
    assert isinstance(caught, gb.GoBetweenError)
    assert says in told(caught)


@pytest.mark.plain
def test_a_study_keeps_its_question(place: Path) -> None:
    spec = gb.StudySpec.from_toml("study.toml")
    assert spec.design.question == gb.TopM(2)
    assert gb.StudySpec.from_dict(spec.to_dict()).design.question == gb.TopM(2)
    with gb.Study.create("study.sqlite", spec) as study:
        while study.status().state == "running":
            (query,) = study.ask()
            arm = {"North": "a", "South": "c"}[query.mediator] if query.id % 3 else "b"
            study.tell(query.id, arm=arm, reward={"a": 9.0, "b": 5.0, "c": 0.0}[arm])
        status = study.status()
        assert status.sentence.startswith("The best 2 arms are 'a' and 'b'; this is wrong with probability at most 5%")
        assert status.answer == ["a", "b"]
        assert status.question == {"name": "top-m", "m": 2}
        said = (spec.arms, spec.cast.policies_by_name())
        assert study.check(gb.StudySpec(*said, family=spec.design.family)) == {}  # left out, it stays
        with pytest.raises(gb.StudyError, match="question cannot change, the study has begun"):
            study.edit(gb.StudySpec(*said, family=spec.design.family, question=gb.TopM(1)))
