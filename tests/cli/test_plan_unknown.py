"""`gobetween plan` of a study of which some policies are not known."""

import json
import re
import tomllib
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import gobetween as gb
from gobetween.cli import gobetween
from gobetween.cli.template import TEMPLATE
from gobetween.core.bound.lower_bound import binary_kl
from gobetween.files.problem import parse_spec
from gobetween.pages.plan import cost_page
from gobetween.words.numbers import amount

FILE = TEMPLATE.format(store="")
POLICY = re.compile(r"^policy = .*\n", re.MULTILINE)
WITHOUT_SOUTH = re.compile(r"(?<=name = \"South\"\n)policy = .*\n")
MEANS, NORTH, COSTS = [0.62, 0.74], [0.8, 0.2], [4.0, 6.0]


def plan(folder: Path, text: str, *options: str) -> Result:
    (folder / "study.toml").write_text(text)
    return CliRunner().invoke(gobetween, ["plan", str(folder / "study.toml"), *options], env={"COLUMNS": "400"})


def solved(*policies: list[float], costs: list[float]) -> gb.LowerBound:
    return gb.lower_bound(gb.Problem(MEANS, policies, family="bernoulli", costs=costs))


def test_one_unknown_policy_has_a_figure_as_if_uniform_and_bounds(tmp_path: Path) -> None:
    text = WITHOUT_SOUTH.sub("", FILE)
    assert text != FILE
    found = json.loads(plan(tmp_path, text, "--json").stdout)
    best = solved(NORTH, [1.0, 0.0], [0.0, 1.0], costs=[4.0, 6.0, 6.0]).T_star
    without = solved(NORTH, costs=[4.0]).T_star
    assert found["supports"] == {
        "mediators": ["South"], "assumed": "equal shares", "T_best": pytest.approx(best), "T_without": pytest.approx(without),
    }  # fmt: skip
    assert found["T_star"] == pytest.approx(solved(NORTH, [0.5, 0.5], costs=COSTS).T_star)
    for share in (0.0, 0.3, 0.7, 1.0):
        assert best * (1 - 1e-9) <= solved(NORTH, [share, 1 - share], costs=COSTS).T_star <= without * (1 + 1e-9)
    shown = plan(tmp_path, text, "--report", str(tmp_path / "report"))
    words = "How often 'South' chooses each arm is not known: this plan is as if it chose uniformly among the arms that it may pull."
    scale = binary_kl(0.05)
    bounds = (
        f"Whatever its policy is, the least expected cost is at least {amount(scale * best)} (the best case) and at most "
        f"{amount(scale * without)} (as without it)."
    )
    page = unescape(" ".join((tmp_path / "report/report.html").read_text().split()))
    cost = gb.make_plan(gb.Problem(MEANS, [NORTH], family="bernoulli", costs=[4.0])).bound.cost(0.05)
    for said in (words, bounds, "best case", "worst case", amount(cost)):
        assert said in " ".join(shown.stdout.split())
        assert said in page


def test_nothing_known_of_any_mediator_has_no_upper_limit(tmp_path: Path) -> None:
    text = POLICY.sub("", FILE)
    found = json.loads(plan(tmp_path, text, "--json").stdout)
    best = solved([1.0, 0.0], [0.0, 1.0], costs=[4.0, 4.0]).T_star  # what North may pull costs less than the same of South
    assert found["supports"] == {
        "mediators": ["North", "South"], "assumed": "equal shares", "T_best": pytest.approx(best), "T_without": None,
    }  # fmt: skip
    shown = " ".join(plan(tmp_path, text).stdout.split())
    assert "How often 'North' and 'South' choose each arm is not known: this plan is as if each chose uniformly" in shown
    assert "has no upper limit: mediators of known policy do not pull every arm." in shown
    assert "no limit" in shown
    asked = json.loads(plan(tmp_path, text, "--json", "--question", "top-m:m=1").stdout)
    assert asked["supports"]["mediators"] == ["North", "South"]
    assert "as if each chose uniformly" in " ".join(plan(tmp_path, text, "--question", "top-m:m=1").stdout.split())


@pytest.mark.parametrize("text", [FILE, POLICY.sub("", FILE)], ids=["known", "unknown"])
def test_a_mean_that_is_missing_is_refused(tmp_path: Path, text: str) -> None:
    refused = plan(tmp_path, text.replace("mean = 0.74\n", "")).exception
    assert isinstance(refused, gb.SpecError)
    assert "arms[1].mean is missing: plans and simulations need a guess of each arm's mean" in str(refused)


def test_the_page_of_a_new_study_says_so_without_symbols() -> None:
    spec = parse_spec(tomllib.loads(POLICY.sub("", FILE)), "the form", guess=True)
    made = gb.make_plan(spec.problem, [0.05], spec.guessed)
    assert made.supported is not None
    said = cost_page(made).texts[1]
    assert "this plan is as if each chose uniformly" in said
    least = made.supported.T_best * made.bound.cost(0.05) / made.bound.T_star
    assert f"the least expected cost is at least {amount(least)} (the best case) and has no upper limit" in said
