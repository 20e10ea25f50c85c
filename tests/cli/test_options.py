"""Every option of a command changes what comes of it, or reaches the verb: none is read and forgotten."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from log_tables import table, write_csv

import gobetween as gb
from gobetween.cli import gobetween
from gobetween.study.commands.commands import Command
from gobetween.study.commands.study_verbs import Archive, Delete, Note, Pause, RenameStudy, Resume
from gobetween.study.commands.verb import Verb
from gobetween.study.commands.verbs import (
    VERBS,
    AddMediator,
    Ask,
    Away,
    Back,
    Cancel,
    Correct,
    Declare,
    Rename,
    Retire,
    Tell,
    Void,
)  # fmt: skip

pytestmark = pytest.mark.plain  # many rules and questions
FILE = """
question = { name = "top-m", m = 2 }
delta = 0.2
family = { name = "gaussian", sigma = 1 }
seed = 3
runs = 4
max_steps = 5000
sampling = "cyclic"
stopping = "e-process"
budget = { cost = 900.0 }
[[arms]]
name = "c"
mean = 0.1
[[arms]]
name = "b"
mean = 0.5
[[arms]]
name = "a"
mean = 1.0
[[mediators]]
name = "m0"
policy = [0.5, 0.3, 0.2]
cost = 2.0
[[mediators]]
name = "m1"
policy = [0.2, 0.3, 0.5]
"""
#: Written elsewhere, or never anything but the same; other tests are about them.
WRITTEN = {"--json", "--report", "--csv", "--workers"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("options")
    (folder / "study.toml").write_text(FILE, encoding="utf-8")
    log = table(120, seed=4)
    n = len(log["arm"])
    log |= {"who": log["mediator"][::-1], "option": log["arm"][::-1], "paid": log["reward"][::-1], "at": [5, *range(1, n)]}
    log |= {"p": [0.3] * n, "n": [2] * n, "id": [f"i{i}" for i in range(n - 1)] + ["i0"]}
    write_csv(folder / "log.csv", log)
    write_csv(folder / "clear.csv", table(200, means=(0.95, 0.2, 0.1)))
    odd = {"mediator": log["mediator"], "arm": ["A" if i % 9 == 0 else arm for i, arm in enumerate(log["arm"])]}
    write_csv(folder / "names.csv", odd | {"reward": log["reward"]})
    write_csv(folder / "bad.csv", {**odd, "arm": log["arm"], "reward": ["x", *log["reward"][1:]]})
    write_csv(folder / "silent.csv", {**odd, "arm": ["", *log["arm"][1:]], "reward": ["", *log["reward"][1:]]})
    comma = [f"1.00{int(x)},5" for x in log["reward"]]
    write_csv(folder / "comma.csv", {**odd, "arm": log["arm"], "reward": comma})
    text = "mediator;arm;reward\n" + "".join(
        f"{m};{a}|b;{x:g}\n" for m, a, x in zip(*(log[c] for c in ("mediator", "arm", "reward")), strict=True)
    )
    (folder / "semicolon.csv").write_text(text, encoding="utf-8")
    return folder


def options_of(*words: str) -> set[str]:
    found: Any = gobetween
    for word in words:
        found = found.get_command(click.Context(found), word)
    return {option for parameter in found.params if isinstance(parameter, click.Option) for option in parameter.opts}


def outcome(place: Path, monkeypatch: pytest.MonkeyPatch, *words: object) -> tuple[int, Any]:
    """Exit status and JSON, or the sentence."""
    monkeypatch.chdir(place)
    result = CliRunner().invoke(gobetween, [*map(str, words), "--json"])
    if isinstance(result.exception, gb.GoBetweenError):
        return 2, result.exception.what
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result.exit_code, json.loads(result.stdout) if result.exit_code in (0, 3) else result.stderr


COMMA = ("comma.csv", "--family", "gaussian:sigma=1")
LOG: dict[str, tuple[Sequence[str], Sequence[str]]] = {  # what stands before the option, and what with it
    "--mediator": (["log.csv"], ["who"]),
    "--arm": (["log.csv"], ["option"]),
    "--reward": (["log.csv"], ["paid"]),
    "--order": (["log.csv"], ["at"]),
    "--family": (["log.csv"], ["gaussian:sigma=2"]),
    "--question": (["log.csv"], ["top-m:m=2"]),
    "--delta": (["log.csv"], ["0.3"]),
    "--declared": (["log.csv"], ["study.toml"]),
    "--propensity": (["log.csv"], ["p"]),
    "--count": (["log.csv"], ["n"]),
    "--totals": (["log.csv", "--count", "n"], []),
    "--id": (["log.csv"], ["id"]),
    "--where": (["log.csv"], ["n = 2 AND reward = 1"]),
    "--arms": (["log.csv"], ["a,b"]),
    "--fold": (["names.csv"], []),
    "--map": (["log.csv"], ["a=alpha"]),
    "--separator": (["semicolon.csv"], ["pipe"]),
    "--encoding": (["log.csv"], ["utf-16"]),
    "--decimal": ([*COMMA, "--thousands", "."], [","]),
    "--thousands": ([*COMMA, "--decimal", ","], ["."]),
    "--skip-bad": (["bad.csv"], []),
    "--silence": (["silent.csv"], []),
}
REPLAY = {"--sampling": "uniform", "--stopping": "heuristic", "--runs": "4", "--seed": "1"}
PLAYED = ("stopped", "mean", "half_width", "quantiles", "named", "ran_out", "exhausted")


def test_the_tables_name_every_option() -> None:
    assert options_of("logs", "analyse") == LOG.keys() | WRITTEN
    assert options_of("logs", "replay") == LOG.keys() | REPLAY.keys() | {"--json"}
    assert options_of("plan") == PLAN.keys() | WRITTEN - {"--csv", "--workers"} | {"--all"}
    assert options_of("simulate") == SIMULATE.keys() | WRITTEN - {"--report"}
    for verb in VERBS:
        assert options_of(verb) == {
            option for words, _ in SAID if words[0] == verb for option in words if option[:1] == "-"
        } | SHARED.get(verb, set()) | {"--json", "--actor", "--name", "--study"}, verb


@pytest.mark.parametrize("option", LOG)
def test_options_of_a_log(option: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, value = LOG[option]
    without = outcome(place, monkeypatch, "logs", "analyse", *before)
    assert outcome(place, monkeypatch, "logs", "analyse", *before, option, *value) != without


def test_what_a_declared_file_says_is_as_if_it_were_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arms, policies, family, risk and question; an option comes before it."""
    base = ("logs", "analyse", "log.csv", "--declared", "study.toml")
    status, data = outcome(place, monkeypatch, *base)
    spec = gb.StudySpec.from_toml(place / "study.toml")
    found = gb.analyse_logs(
        place / "log.csv",
        arms=spec.arms,
        declared=spec.cast.policies_by_name(),
        family=gb.Gaussian(1.0),
        delta=0.2,
        question=gb.TopM(2),
    )
    assert (status, data) == (3 if found.broken else 0, json.loads(json.dumps(found.to_dict())))
    assert (data["delta"], data["parameters"]["name"], data["question"]) == (0.2, "gaussian", {"name": "top-m", "m": 2})
    assert [arm["arm"] for arm in data["arms"]] == ["a", "b", "c"]
    assert [alarm["subject"] for alarm in data["alarms"] if alarm["kind"] == "policy"] != []
    for option, value, name, said in (
        ("--delta", "0.3", "delta", 0.3), ("--family", "bernoulli", "family", "bernoulli"), ("--question", "best-arm", "question", {"name": "best-arm"}),
    ):  # fmt: skip
        assert outcome(place, monkeypatch, *base, option, value)[1][name] == said


@pytest.mark.parametrize("option", REPLAY)
def test_options_of_a_replay(option: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = ["logs", "replay", "clear.csv", "--delta", "0.4", *(() if option == "--runs" else ("--runs", "3"))]
    status, said = outcome(place, monkeypatch, *base, option, REPLAY[option])
    assert status == 0, said
    if option == "--runs":
        assert (said["runs"], said["stopped"] + said["ran_out"]) == (4, 4)
    else:
        without = outcome(place, monkeypatch, *base)[1]
        assert {name: said[name] for name in PLAYED} != {name: without[name] for name in PLAYED}


PLAN = {"--delta": ("targets", "0.03,0.4"), "--question": ("question", "threshold:theta=0.3")}


@pytest.mark.parametrize("option", PLAN)
def test_options_of_a_plan(option: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    field, value = PLAN[option]
    without, said = (outcome(place, monkeypatch, "plan", "study.toml", *more)[1] for more in ((), (option, value)))
    assert without[field] != said[field]
    if option == "--delta":
        assert [target["delta"] for target in said["targets"]] == [0.03, 0.4]
        assert [target["delta"] for target in without["targets"]] == [0.2]


SIMULATE = {
    "--delta": "0.3", "--runs": "5", "--seed": "8", "--sampling": "uniform", "--stopping": "pairs", "--question": "best-arm",
    "--max-steps": "3", "--budget": "40",
}  # fmt: skip


def test_options_of_a_simulation(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = outcome(place, monkeypatch, "simulate", "study.toml")
    assert without[0] == 0
    assert without[1]["runs"] == 4
    for option, value in SIMULATE.items():
        assert f"\n{option[2:].replace('-', '_')} = " in FILE  # what a shell says goes before what the file says
        status, said = outcome(place, monkeypatch, "simulate", "study.toml", option, value)
        assert status == 0, (option, said)
        assert said["results"] != without[1]["results"], option


#: What is said in a shell, and the verb that is done.
SAID: list[tuple[list[str], Verb[Any]]] = [
    (["ask", "-n", "3", "--key", "k"], Ask(3, key="k")),
    (["ask", "--worker", "w"], Ask(worker="w")),
    (["tell", "0", "--arm", "a", "--reward", "0.5", "--mediator", "m0", "--accept-surprise", "--again", "--key", "k"],
     Tell(0, arm="a", reward=0.5, mediator="m0", accept_surprise=True, again=True, key="k")),
    (["tell", "0", "--silent"], Tell(0, silent=True)),
    (["correct", "0", "--arm", "a", "--reward", "0.5", "--mediator", "m0", "--reason", "r", "--accept-surprise", "--key", "k"],
     Correct(0, arm="a", reward=0.5, mediator="m0", reason="r", accept_surprise=True, key="k")),
    (["correct", "0", "--silent", "--reason", "r"], Correct(0, silent=True, reason="r")),
    (["void", "0", "--reason", "r", "--key", "k"], Void(0, reason="r", key="k")),
    (["cancel", "0", "--reason", "r", "--key", "k"], Cancel(0, reason="r", key="k")),
    (["away", "m0", "--key", "k"], Away("m0", key="k")),
    (["back", "m0", "--key", "k"], Back("m0", key="k")),
    (["add-mediator", "m2", "--policy", "0.5,0.3,0.2", "--cost", "3", "--contact", "c@example.org", "--key", "k"],
     AddMediator("m2", policy=[0.5, 0.3, 0.2], cost=3.0, contact="c@example.org", key="k")),
    (["add-mediator", "m2", "--support", "a", "--support", "b"], AddMediator("m2", policy={"a", "b"})),
    (["declare", "m0", "--policy", "0.5,0.3,0.2", "--key", "k"], Declare("m0", policy=[0.5, 0.3, 0.2], key="k")),
    (["declare", "m0", "--support", "a", "--support", "b"], Declare("m0", policy={"a", "b"})),
    (["declare", "m0", "--unknown"], Declare("m0")),
    (["retire", "c", "--arm", "--key", "k"], Retire("c", what="arm", key="k")),
    (["rename", "m0", "North", "--mediator", "--key", "k"], Rename("m0", "North", what="mediator", key="k")),
    (["rename", "a", "A", "--arm"], Rename("a", "A", what="arm")),
    (["pause", "--key", "k"], Pause(key="k")),
    (["resume", "--key", "k"], Resume(key="k")),
    (["note", "all quiet", "--key", "k"], Note("all quiet", key="k")),
    (["archive", "--undo", "--key", "k"], Archive(undo=True, key="k")),
    (["rename-study", "new", "--key", "k"], RenameStudy("new", key="k")),
    (["delete", "two", "--key", "k"], Delete("two", key="k")),
]  # fmt: skip
SHARED = {"tell": {"--csv", "--dry-run"}}


@pytest.mark.parametrize(("words", "verb"), SAID, ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "")
def test_options_of_a_verb_reach_it(words: list[str], verb: Verb[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "study.toml").write_text(FILE.replace("seed = 3\nruns = 4\n", ""), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    where = str(tmp_path / "other.sqlite")
    for name in ("one", "two"):
        gb.Study.create(where, gb.StudySpec.from_toml("study.toml"), name).close()

    done = list[tuple[Verb[Any], str, str]]()

    def run(self: gb.Study, command: Command[Any]) -> None:
        done.append((command.verb, self.name, self.actor))
        raise gb.StudyError("this is enough")

    monkeypatch.setattr(gb.Study, "run", run)
    result = CliRunner().invoke(gobetween, [*words, "--study", where, "--name", "two", "--actor", "me"])
    assert done == [(verb, "two", "me")], result.output
