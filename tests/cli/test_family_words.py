"""Families with a parameter are known at every door, and one that is not said is asked for in the words of that door."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import gobetween as gb
from gobetween.cli import gobetween
from gobetween.cli.words import told
from gobetween.files.problem import parse_spec
from gobetween.study.spec.spec import parse_study
from gobetween.words.verdict import family_words

LOG = Path(__file__).parent.parent.parent / "examples" / "log.csv"

#: Family, its table, its word on the command line, what it is told without its parameter, two means.
KNOWN: list[tuple[gb.Family, dict[str, Any], str, str, tuple[float, float]]] = [
    (gb.Gamma(2.0), {"name": "gamma", "shape": 2}, "gamma:shape=2", "gamma needs shape", (4.0, 0.5)),
    (gb.Binomial(10), {"name": "binomial", "n": 10}, "binomial:n=10", "binomial needs n", (8.0, 2.0)),
    (gb.Geometric(), {"name": "geometric"}, "geometric", "", (12.0, 1.5)),
    (
        gb.NegativeBinomial(2.0),
        {"name": "negative-binomial", "r": 2},
        "negative-binomial:r=2",
        "negative-binomial needs r",
        (9.0, 0.5),
    ),
]
PARAMETERS = [(family, table, word, lacks) for family, table, word, lacks, _ in KNOWN if lacks]


def file(table: Any, means: tuple[float, float]) -> dict[str, Any]:
    arms = [{"name": name, "mean": mean} for name, mean in zip("ab", means, strict=True)]
    return {"family": table, "arms": arms, "mediators": [{"name": "m", "policy": [0.5, 0.5]}]}


@pytest.mark.plain
@pytest.mark.parametrize(("family", "table", "word", "lacks", "means"), KNOWN, ids=lambda value: str(value)[:12])
def test_one_family_at_every_door(
    family: gb.Family, table: dict[str, Any], word: str, lacks: str, means: tuple[float, float], tmp_path: Path
) -> None:
    assert parse_spec(file(table, means), "f.toml").problem.family == family
    assert parse_study(file(table, means), "f.toml").design.family == family
    assert gb.lower_bound(gb.Problem(means, [[0.5, 0.5]], family=family)).status == "optimal"
    learner = gb.Learner(["a", "b"], {"m": [0.5, 0.5]}, family=family)
    assert gb.Learner.from_dict(json.loads(json.dumps(learner.to_dict()))).design.family == family
    rng, log = np.random.default_rng(1), tmp_path / "log.csv"
    rows = [f"{'ab'[i % 2]},{family.draw(means[i % 2], rng)!r}" for i in range(120)]
    log.write_text("\n".join(["arm,reward", *rows]))
    done = CliRunner().invoke(gobetween, ["logs", "analyse", str(log), "--family", word, "--json"], catch_exceptions=False)
    found = json.loads(done.stdout)
    assert done.exit_code == 0, done.output
    assert found["family"] == family_words(family)
    assert found["headline"].startswith("The best arm is 'a'"), found


@pytest.mark.parametrize(("family", "table", "word", "lacks"), PARAMETERS, ids=lambda value: str(value)[:12])
def test_a_parameter_that_is_not_said_is_asked_for(family: gb.Family, table: dict[str, Any], word: str, lacks: str) -> None:
    name = type(family).__name__
    with pytest.raises(gb.ProblemError, match=rf"{lacks}.*; write gb.{name}\("):
        gb.Learner(2, 2, family=family.name)
    with pytest.raises(gb.SpecError, match=rf'{lacks}.*; write family = {{ name = "{family.name}", '):
        parse_spec(file(family.name, (0.9, 0.1)), "f.toml")
    caught = CliRunner().invoke(gobetween, ["logs", "analyse", str(LOG), "--family", family.name]).exception
    assert isinstance(caught, gb.LogError)
    assert told(caught).endswith(f"; write {word}, with your value")


def test_an_impossible_reward_is_refused_in_words() -> None:
    learner = gb.Learner(["a", "b"], {"m": [0.5, 0.5]}, family=gb.Binomial(3))
    with pytest.raises(gb.ProblemError, match="reward 4 is not possible: a binomial reward is a whole number from 0 to n"):
        learner.tell(learner.ask(), arm="a", reward=4)
