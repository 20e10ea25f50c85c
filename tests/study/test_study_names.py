"""Names of studies obey the rule of arms and mediators: read as they are, and none like another's."""

from pathlib import Path

import pytest
from launcher import gobetween
from sqlalchemy import text

import gobetween as gb
from gobetween.study.store.checksums import query_seal

SPEC = gb.StudySpec(["a", "b"], {"N": [0.5, 0.5]}, family="bernoulli")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("а", "'a', and 'а' looks like it"),
        ("A", "'a', and 'A' looks like it"),
        ("a\u200b", r"U\+200B ZERO WIDTH SPACE, which cannot be seen: leave it out"),
        ("a\nb", r"U\+000A"),
        ("a\u202eb", r"U\+202E"),
        ("a\x1b[31m", r"U\+001B"),
        ("x" * 5000, "has 5,000 characters: a study's name has at most 500"),
        (" ", "a study needs a short name"),
    ],
)
def test_a_name_that_cannot_be_told_from_another(name: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    gb.Study.create(path, SPEC, "a").close()
    with pytest.raises(gb.StudyError, match=words):
        gb.Study.create(path, SPEC, name)
    with gb.Study.create(path, SPEC, "other") as study:
        with pytest.raises(gb.StudyError, match=words):
            study.rename_study(name)
        study.rename_study("für 安娜 a/b")
        assert study.store.names() == ["a", "für 安娜 a/b"]


def test_a_study_that_was_renamed_is_named_first(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        return gobetween(tmp_path, *arguments, GOBETWEEN_JIT="off").stderr

    assert run("init") == ""
    assert run("rename-study", "a/b it's") == ""
    for command in ("status", "ask", "pause"):
        said = run(command)
        assert "has no study 'study'" in said
        assert """--name 'a/b it'"'"'s' means the one that is there, gobetween init makes another""" in said
    assert run("status", "--name", "a/b it's") == ""
    with pytest.raises(gb.StudyError, match='name="a/b it\'s" is there'):
        gb.Study.open(tmp_path / "study.toml")


def test_a_reward_of_minus_zero_of_an_earlier_version_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with gb.Study.create(path, SPEC) as study:
        for query in study.ask(3):
            study.tell(query, arm="a", reward=0)
        columns = {"query": 0, "mediator": 0, "status": "told", "slot": 0, "arm": 0, "reward": -0.0, "worker": None}
        held = columns | {"reward": 0.0}
        with study.store._engine.begin() as connection:  # type: ignore[attr-defined]
            sealed = connection.execute(text("SELECT seal FROM queries WHERE query = 0")).scalar()
            assert sealed == query_seal(held)
            connection.execute(text("UPDATE queries SET seal = :seal WHERE query = 0"), {"seal": query_seal(columns)})
        assert study.doctor() == []
        assert [row["reward"] for row in study.export()] == [0.0] * 3
        study.correct(0, arm="b", reward=1, reason="x")
        assert study.doctor() == []
