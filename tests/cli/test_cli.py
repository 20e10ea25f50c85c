import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if key != "GOBETWEEN_JIT"}
    return subprocess.run(
        [sys.executable, "-m", "gobetween", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=clean | {"COLUMNS": "100"} | environment,
        check=False,
    )


def plan(*arguments: object) -> Any:
    done = run("plan", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_plan_of_experiment_1() -> None:
    done = run("plan", EXAMPLES / "experiment1.toml", "--all")
    assert done.returncode == 0
    assert done.stderr == ""
    for text in (
        "Experiment 1",
        "At least 6 queries for a risk of 40%",
        "73.2843 queries",
        "1.92 times",
        "52%",
        "48%",
        "505",
        "█████",
    ):
        assert text in done.stdout


def test_plan_of_experiment_2_names_the_twins() -> None:
    done = run("plan", EXAMPLES / "experiment2.toml", "--all")
    assert "Not needed, whatever the means: e10 (the same as e2)" in done.stdout
    assert "means: e2 " not in done.stdout


def test_plan_of_the_clinics_speaks_of_costs() -> None:
    done = run("plan", EXAMPLES / "clinics.toml", "--delta", "0.2", "--all")
    assert "share of cost" in done.stdout
    assert "for a risk of 20%" in done.stdout
    assert "(no answer)" in done.stdout


def test_json_has_the_documented_shape() -> None:
    data = plan(EXAMPLES / "experiment1.toml", "--delta", "0.1,0.01")
    assert list(data) == [
        "title", "format", "status", "unit", "proxy", "family", "best_arms", "hardest_rival", "T_star", "T_lower", "T_upper",
        "iterations", "targets", "mediators", "arms", "price_of_mediation", "redundant", "what_if", "supports",
    ]  # fmt: skip
    assert data["T_star"] == pytest.approx(73.2842712, rel=1e-8)
    assert [target["delta"] for target in data["targets"]] == [0.1, 0.01]
    assert data["targets"][0]["queries"] == pytest.approx(0.8 * math.log(9) * 73.2842712, rel=1e-8)
    assert data["mediators"][0] == {
        "mediator": "e1",
        "cost": 1.0,
        "query_share": pytest.approx(0.522408, abs=1e-6),
        "cost_share": pytest.approx(0.522408, abs=1e-6),
    }
    assert set(data["arms"][0]) == {"arm", "mean", "pull_share", "rival_weight", "rival_odds"}
    assert data["price_of_mediation"]["is_free"] is False


def test_a_tie_is_said_in_words_and_null_in_json(tmp_path: Path) -> None:
    path = tmp_path / "tie.toml"
    path.write_text('[[arms]]\nname="a"\nmean=1\n[[arms]]\nname="b"\nmean=1\n[[arms]]\nmean=0\n')
    assert "'a' and 'b' share the best mean" in run("plan", path).stdout
    data = plan(path)
    assert (data["status"], data["T_star"], data["best_arms"], data["targets"][0]["queries"]) == ("tie", None, ["a", "b"], None)
    assert data["mediators"][0]["query_share"] is None
    assert data["price_of_mediation"] == {"ratio": None, "lower": None, "upper": None, "is_free": None}


def test_a_bounded_family_is_called_a_proxy(tmp_path: Path) -> None:
    path = tmp_path / "bounded.toml"
    path.write_text('family={name="bounded",low=0,high=10}\n[[arms]]\nmean=7\n[[arms]]\nmean=4\n')
    assert "not a lower bound" in run("plan", path).stdout
    assert plan(path)["proxy"] is True


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("[[arms]]\nmean=1\n", [], "at least two arms"),
        ("[[arms]]\nmean=1\n[[arms]]\nmean=0\n[[mediators]]\npolicy=[1,0]\n", [], "no mediator ever pulls 'arm 2'"),
        ("[[arms]]\nmean=1\n[[arms]]\nmean=0\n", ["--delta", "0.1,x"], "delta = 'x': must be a number"),
        ("[[arms]]\nmean=1\n[[arms]]\nmean=0\n", ["--delta", "2"], "between 0 and 1"),
        ("[[arms]\n", [], "not valid TOML"),
        ("[[arms]]\nmean=1\n[[arms]]\nmean=0\n", ["--delta", ""], "--delta: delta = ''"),
        ('family={name="gaussian",sigma=1e50}\n[[arms]]\nmean=1\n[[arms]]\nmean=0\n', [], "too small for double precision"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_2(tmp_path: Path, text: str, arguments: list[str], message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    done = run("plan", path, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.startswith("gobetween: ")
    assert done.stderr.count("\n") == 1


def test_usage_errors_exit_2() -> None:
    assert run("plan").returncode == 2
    assert run("nonsense").returncode == 2
    assert "no such file" in run("plan", "nowhere.toml").stderr


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "hostile.toml"
    path.write_text('[[arms]]\nname="[red]x[/red]"\nmean=1\n[[arms]]\nname="b"\nmean=0\n')
    done = run("plan", path)
    assert done.returncode == 0
    assert "[red]x[/red]" in done.stdout
    path.write_text(path.read_text().replace('"b"', '"a\\u001b[31m\\nb"'))
    done = run("plan", path)
    assert done.returncode == 2
    assert "\x1b[31m" not in done.stderr
    assert "'a\\x1b[31m\\nb' holds U+001B, which cannot be seen: leave it out" in done.stderr


def test_plain_ascii_terminals_are_no_problem() -> None:
    assert run("plan", EXAMPLES / "experiment1.toml", PYTHONIOENCODING="ascii", LC_ALL="C").returncode == 0


@pytest.mark.parametrize("columns", ["0", "5", "40"])
def test_narrow_terminals_show_the_page(columns: str) -> None:
    done = run("plan", EXAMPLES / "experiment1.toml", COLUMNS=columns)
    assert "52%" in done.stdout


def test_output_that_cannot_be_written_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gobetween", "plan", EXAMPLES / "experiment1.toml", "--json"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("gobetween: cannot write (")
    assert "Traceback" not in done.stderr


def test_redundant_mediators_get_no_share(tmp_path: Path) -> None:
    path = tmp_path / "twins.toml"
    path.write_text("[[arms]]\nmean=1\n[[arms]]\nmean=0\n" + "[[mediators]]\npolicy=[0.3,0.7]\n" * 6)
    assert [mediator["query_share"] for mediator in plan(path)["mediators"]] == [1.0, 0, 0, 0, 0, 0]


def test_with_costs_the_page_does_not_promise_the_fewest_queries() -> None:
    page = run("plan", EXAMPLES / "clinics.toml", "--all").stdout
    assert "queries it pays for" in page
    assert "costs set aside" in page


def simulate(*arguments: object) -> subprocess.CompletedProcess[str]:
    return run("simulate", EXAMPLES / "experiment1.toml", "--runs", 6, "--max-steps", 400, *arguments, GOBETWEEN_JIT="off")


def test_simulate_shows_a_table_and_writes_rows(tmp_path: Path) -> None:
    done = simulate("--csv", tmp_path / "runs.csv", "--delta", "0.4,0.1")
    assert done.returncode == 0, done.stderr
    assert "Sampling pursuit, stopping e-process, 6 runs" in done.stdout
    assert "Rewards: gaussian, σ = 1" in done.stdout
    assert "128.8" in done.stdout
    rows = (tmp_path / "runs.csv").read_text().splitlines()
    assert rows[0] == "run,delta,tau,correct,censored"
    assert len(rows) == 1 + 6 * 2


def test_with_costs_every_number_stands_under_its_name() -> None:
    done = run("simulate", EXAMPLES / "clinics.toml", "--runs", 4, "--max-steps", 100, GOBETWEEN_JIT="off")
    head, row = (line for line in done.stdout.splitlines() if line.split() and line.split()[0] in ("delta", "0.1"))
    names, cells = ([cell.strip() for cell in re.split("[┃│]", line)] for line in (head, row))
    assert names == ["delta", "queries", "cost", "wrong ≤", "bound", "ratio"]
    assert len(cells) == 6
    assert cells[1].startswith("100 ±")
    assert cells[4] == "11,069"
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_simulate_json_has_the_documented_shape() -> None:
    done = simulate("--json", "--delta", "0.4", "--sampling", "uniform", "--stopping", "paper")
    data = json.loads(done.stdout)
    assert list(data) == ["title", "format", "sampling", "stopping", "runs", "seed", "family", "question", "results"]
    assert data["family"] == {"name": "gaussian", "sigma": 1.0}
    assert list(data["results"][0]) == [
        "delta", "runs", "mean", "half_width", "quantiles", "wrong", "wrong_low", "wrong_high", "censored",
        "cost", "cost_half_width", "bound", "ratio", "decided", "decided_low", "decided_high",
    ]  # fmt: skip
    assert data["results"][0]["censored"] == 6
    assert json.loads(simulate("--json", "--delta", "0.4", "--workers", "2").stdout) == json.loads(
        simulate("--json", "--delta", "0.4", "--workers", "1").stdout
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--runs", "0"], "runs = 0: must be a whole number, 1 or more"),
        (["--delta", "2"], "--delta: delta = 2: the risk"),
        (["--sampling", "psychic"], "--sampling = 'psychic': choose one of pursuit, pursuit-unknown"),
        (["--csv", "/nowhere/runs.csv"], "--csv /nowhere/runs.csv: cannot be written"),
    ],
)
def test_simulate_mistakes(arguments: list[str], message: str) -> None:
    done = simulate(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_version_and_help() -> None:
    assert "0.1.0" in run("--version").stdout
    assert "plan" in run("--help").stdout
    assert "--delta" in run("plan", "-h").stdout


def test_a_plan_is_written_as_a_page(tmp_path: Path) -> None:
    done = run("plan", EXAMPLES / "clinics.toml", "--all", "--report", tmp_path / "page")
    assert f"The report is {tmp_path / 'page' / 'report.html'}." in done.stdout
    page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    assert "figure-worth" in page
    assert "What each mediator is worth" in done.stdout
    (tmp_path / "file").write_text("", encoding="utf-8")
    refused = run("plan", EXAMPLES / "clinics.toml", "--report", tmp_path / "file")
    assert refused.returncode == 2
    assert "cannot be written" in refused.stderr


def test_compiled_and_plain_plans_agree() -> None:
    plain = plan(EXAMPLES / "experiment1.toml")
    compiled = json.loads(run("plan", EXAMPLES / "experiment1.toml", "--json", GOBETWEEN_JIT="on").stdout)
    assert compiled["T_star"] == pytest.approx(plain["T_star"], rel=1e-12)


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code = "import gobetween.core.ground.jit"
    environment = os.environ | {"GOBETWEEN_CACHE_DIR": str(tmp_path / "file"), "GOBETWEEN_JIT": "on"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert "cannot keep compiled code" in done.stderr
    environment["GOBETWEEN_CACHE_DIR"] = str(tmp_path / "new")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""
    folders = list((tmp_path / "new").iterdir())
    assert [oct(folder.stat().st_mode & 0o777) for folder in folders] == ["0o700"]


def test_runs_within_a_budget(tmp_path: Path) -> None:
    data = json.loads(run("simulate", EXAMPLES / "clinics.toml", "--runs", 4, "--delta", 0.3, "--budget", 1e9, "--json").stdout)
    assert data["results"][0]["decided"] == 1.0
    page = run("simulate", EXAMPLES / "experiment1.toml", "--runs", 4, "--delta", 0.3, "--budget", 1).stdout
    assert "within budget" in page
    assert "At 0.3, 0.0% of runs were decided within the budget (95% interval 0.0% to 60.2%)." in page
    refused = run("simulate", EXAMPLES / "experiment1.toml", "--budget", -1)
    assert refused.returncode == 2
    assert "--budget: budget.cost = -1.0: must be a positive number" in refused.stderr
    file = tmp_path / "small.toml"
    text = (EXAMPLES / "experiment1.toml").read_text(encoding="utf-8").replace("delta = [0.4, 0.1, 0.01, 0.001]", "delta = 0.3")
    file.write_text(f"budget = {{ queries = 1 }}\nruns = 2\n{text}", encoding="utf-8")
    assert "0.0% of runs were decided" in run("simulate", file).stdout
    out = tmp_path / "out.sqlite"
    assert "within budget" in run("experiment", file, "--out", out).stdout
    rows = json.loads(run("experiment", file, "--out", out, "--budget", 1e9, "--json").stdout)["results"]
    assert [row["decided"] for row in rows] == [1.0]
