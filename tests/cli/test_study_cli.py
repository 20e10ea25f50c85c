"""A study from the command line: one transaction for each command, one sentence for each mistake."""

import csv
import io
import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from launcher import gobetween
from parts import browser_page
from postgres import Cluster

import gobetween as gb
from gobetween.study.spec.spec import parse_study

HOSTILE = "</script><script>alert(1)</script> =cmd() [bold] [31m é"  # a name; what cannot be seen is refused in one


def run(folder: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """As plain Python, which commands choose for studies of this size."""
    return gobetween(folder, *arguments, **{"GOBETWEEN_JIT": "off"} | environment)


def good(folder: Path, *arguments: object, **environment: str) -> str:
    done = run(folder, *arguments, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def data(folder: Path, *arguments: object) -> Any:
    return json.loads(good(folder, *arguments, "--json"))


def refused(folder: Path, *arguments: object) -> str:
    done = run(folder, *arguments)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    good(tmp_path, "init")
    return tmp_path


def test_a_study_by_hand(folder: Path) -> None:
    assert "No answers yet" in good(folder, "status")
    assert good(folder, "ask") == "query 0: ask North (north@example.org)\n"
    assert "recorded for query 0" in good(folder, "tell", 0, "--arm", "letter", "--reward", 1)
    assert "already recorded" in good(folder, "tell", 0, "--arm", "letter", "--reward", 1)
    assert "gobetween correct 0 changes that" in refused(folder, "tell", 0, "--arm", "letter", "--reward", 0)
    good(folder, "ask", "-n", 2)
    good(folder, "tell", 2, "--silent")
    good(folder, "tell", "--mediator", "South", "--arm", "letter", "--reward", 0, "--key", "a1")
    assert "already recorded" in good(folder, "tell", "--mediator", "South", "--arm", "letter", "--reward", 0, "--key", "a1")
    good(folder, "correct", 0, "--arm", "text message", "--reward", 1, "--reason", "misread")
    good(folder, "away", "South")
    good(folder, "back", "South")
    good(folder, "pause")
    assert "the study is paused" in refused(folder, "ask")
    good(folder, "resume")
    good(folder, "note", "all quiet")
    assert "query 1: ask South" in good(folder, "pending")
    good(folder, "cancel", 1, "--reason", "closed")
    unasked = ("tell", "--mediator", "South", "--arm", "letter", "--reward", 1)
    good(folder, *unasked)
    assert "if it is another answer, add --again" in refused(folder, *unasked)
    good(folder, "correct", 4, "--mediator", "North", "--reason", "wrong line")
    assert "took out the answer to query 4" in good(folder, "void", 4, "--reason", "not ours")
    assert "but this is not certain yet" in good(folder, "status")
    status = good(folder, "status", "--all")
    assert "it compares arms pair by pair" in status.replace("\n", " ")
    assert "corrections were made regardless of the outcome" in status.replace("\n", " ")
    log = good(folder, "events")
    assert "query 0 corrected from letter (1) to text message (1): misread" in log
    assert log.count("\n") == 16
    assert good(folder, "events", "--after", 11, "--limit", 1).count("\n") == 1
    assert "all is well" in good(folder, "doctor")
    rows = list(csv.DictReader(io.StringIO(good(folder, "export", "--csv", "-"))))
    assert [row["status"] for row in rows] == ["told", "cancelled", "silent", "told", "voided"]
    lines = good(folder, "export", "--jsonl", "-").splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, 17))
    good(folder, "export", "--csv", "out.csv", "--jsonl", "out.jsonl")
    assert (folder / "out.csv").read_text().startswith("query,mediator,status,arm,reward,slot,worker,asked_at,")


def test_json_has_the_documented_shape(folder: Path) -> None:
    assert data(folder, "init", "again.toml") == {
        "format": 1, "file": "again.toml", "made": True, "store": "again.sqlite", "rows_from_log": None,
    }  # fmt: skip
    asked = data(folder, "ask", "-n", 2)
    assert list(asked) == ["format", "queries"]
    assert list(asked["queries"][0]) == ["id", "mediator", "contact", "asked", "until", "worker", "reissue_of", "new"]
    told = data(folder, "tell", 0, "--arm", "letter", "--reward", 1)
    assert list(told) == ["format", "recorded", "query", "late", "asked", "stopped", "stood", "alarm", "backup"]
    status = data(folder, "status")
    assert list(status) == [
        "format", "name", "title", "state", "sentence", "how_far", "verdict", "leader", "question", "answer", "against", "statistic", "threshold", "p_value", "delta",
        "family", "parameters", "alarms", "counted", "told", "waiting_for", "queries_to_go", "queries_range", "cost_to_go", "in_play", "resolution", "queries", "cost", "max_queries", "max_cost", "arms",
        "retired_arms", "mediators", "pending", "assumptions", "missing", "from_log", "events", "at", "undelivered",
    ]  # fmt: skip
    assert list(status["arms"][0]) == ["arm", "pulls", "estimate", "low", "high"]
    assert list(status["mediators"][0]) == [
        "mediator", "contact", "away", "retired", "asked", "told", "silent", "cancelled", "expired", "late", "unasked", "corrected", "voided",
        "share", "target",
    ]  # fmt: skip
    assert list(status["pending"][0]) == ["query", "mediator", "worker", "age", "until", "expired", "reissue_of"]
    assert [list(json.loads(line))[:7] for line in good(folder, "events", "--json").splitlines()] == [
        ["seq", "at", "actor", "kind", "query", "key", "part"]
    ] * 3
    assert data(folder, "doctor") == {"format": 1, "complaints": [], "undelivered": None}
    assert data(folder, "pending")["queries"][0]["id"] == 1


def test_finding_the_study(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    good(elsewhere, "ask", "--study", folder / "study.toml")
    good(elsewhere, "ask", GOBETWEEN_STUDY=str(folder / "study.toml"))
    assert data(elsewhere, "status", "--study", folder / "study.sqlite")["events"] == 2
    assert "there is no study.toml here: gobetween init makes one" in refused(elsewhere, "ask")
    assert "nothing.toml: no such file" in refused(elsewhere, "ask", "--study", "nothing.toml")
    assert "nothing.sqlite: there is no such store" in refused(elsewhere, "ask", "--study", "nothing.sqlite")
    (folder / "study.sqlite").rename(folder / "moved.sqlite")
    assert "study.sqlite: there is no such store; gobetween init makes one" in refused(folder, "ask")
    assert list(elsewhere.iterdir()) == []


def test_init_does_not_overwrite(folder: Path) -> None:
    before = (folder / "study.toml").read_text()
    assert "already has a study 'study'" in refused(folder, "init")
    assert (folder / "study.toml").read_text() == before
    assert "name a file that ends in .toml" in refused(folder, "init", "x.txt")
    good(folder, "init", "other.toml")
    (folder / "broken.toml").write_text("arms = 3\n")
    assert "broken.toml: arms must be a list of tables" in refused(folder, "init", "broken.toml")
    assert not (folder / "broken.sqlite").exists()
    assert "its folder does not exist" in refused(folder, "init", "third.toml", "--store", "/no/where.sqlite")
    assert not (folder / "third.toml").exists()


def test_the_file_freezes_and_says_which_field(folder: Path) -> None:
    path = folder / "study.toml"
    text = path.read_text()
    path.write_text(text.replace("delta = 0.05", "delta = 0.1"))
    good(folder, "ask")  # before the first event anything may change
    assert data(folder, "status")["delta"] == 0.1
    path.write_text(text)
    assert "delta cannot change, the study has begun: it is 0.1, not 0.05" in refused(folder, "ask")
    path.write_text(text.replace("delta = 0.05", "delta = 0.1").replace('"3d"', '"1d"'))
    good(folder, "ask")
    assert "lease changed from 259200.0 to 86400.0" in good(folder, "events")


def test_what_an_edited_file_changes_is_said_and_names_are_not_replaced(folder: Path) -> None:
    path = folder / "study.toml"
    text = path.read_text()
    good(folder, "ask")
    path.write_text(text.replace('"3d"', '"2d"').replace("north@example.org", "n@example.org"))
    assert good(folder, "check").splitlines() == [
        "would update contacts: north@example.org -> n@example.org", "would update lease: 3d -> 2d",
    ]  # fmt: skip
    assert data(folder, "check")["changes"]["lease"] == [259200.0, 172800.0]
    assert good(folder, "events", "--study", "study.sqlite").count("\n") == 1
    assert good(folder, "ask").splitlines()[:2] == [
        "updated contacts: north@example.org -> n@example.org", "updated lease: 3d -> 2d",
    ]  # fmt: skip
    path.write_text(text.replace('"3d"', '"1d"').replace("north@example.org", "n@example.org"))
    beside = run(folder, "ask", "--json")
    assert beside.stderr == "updated lease: 2d -> 1d\n"
    assert json.loads(beside.stdout)["format"] == 1
    renamed = path.read_text().replace('"North"', '"Nord"')
    path.write_text(renamed)
    before = good(folder, "export", "--jsonl", "-", "--study", "study.sqlite")
    for verb in ("ask", "check"):
        said = refused(folder, verb)
        assert "mediators: there is 'Nord' where the study has 'North': undo that; or, if only the name is new" in said
        assert "gobetween rename OLD NEW" in said
    assert good(folder, "export", "--jsonl", "-", "--study", "study.sqlite") == before
    assert good(folder, "rename", "North", "Nord") == "North is called Nord now\n"
    assert good(folder, "check") == "the file and the stored study agree\n"
    assert "query 0: ask Nord" in good(folder, "pending")
    assert "still says 'Nord': write 'North' there too" in good(folder, "rename", "Nord", "North")
    path.write_text(renamed.replace("delta = 0.05", "delta = 2"))
    assert "delta" in refused(folder, "check")
    assert "is not a study file" in refused(folder, "check", "--study", "study.sqlite")
    (folder / "new.toml").write_text(text)
    assert "it has no store yet: gobetween init makes one" in good(folder, "check", "--study", "new.toml")
    assert not (folder / "new.sqlite").exists()


def test_a_file_of_answers_is_told_wholly_or_not_at_all(folder: Path) -> None:
    good(folder, "ask", "-n", 3)
    file = folder / "answers.csv"
    bad = "query,mediator,arm,reward,key\n0,,letter,1,\n,South,letter,0,k1\n2,,fax,1,\n"
    file.write_text(bad)
    before = good(folder, "events", "--json")
    said = refused(folder, "tell", "--csv", "answers.csv")
    assert said.startswith("gobetween: answers.csv row 3: arm 'fax' is not known: choose one of")
    file.write_text(bad.replace("fax", "letter"))
    assert good(folder, "tell", "--csv", "answers.csv", "--dry-run") == "would record 3 of 3 rows\n"
    assert good(folder, "events", "--json") == before
    assert good(folder, "tell", "--csv", "answers.csv") == "recorded 3 of 3 rows\n"
    again = good(folder, "tell", "--csv", "answers.csv")
    assert again == "recorded 0 of 3 rows\nalready recorded: 3\n"
    assert data(folder, "tell", "--csv", "answers.csv", "--dry-run")["rows"][1]["query"] == 3
    assert "--dry-run goes with --csv FILE" in refused(folder, "tell", 1, "--silent", "--dry-run")
    assert "leave out the query" in refused(folder, "tell", 1, "--csv", "answers.csv")
    assert "all is well" in good(folder, "doctor")


def ask_four_days_ago(folder: Path) -> None:
    """The lease is three days."""
    with gb.Study.open(folder / "study.toml") as study:
        study.store._clock = lambda: time.time() - 4 * 86400.0  # type: ignore[attr-defined]
        study.ask()


def test_pending_says_what_is_late_and_reminds(folder: Path) -> None:
    ask_four_days_ago(folder)
    line = good(folder, "pending").strip()
    assert re.fullmatch(r"query 0: ask North \(north@example.org\), open for 4.0 days, lease ended 20.*", line)
    late = data(folder, "pending", "--overdue")
    assert (late["queries"][0]["overdue"], round(late["queries"][0]["age"] / 86400.0, 2)) == (True, 4.0)
    shown = good(folder, "pending", "--overdue")
    assert "lease ended 20" in shown
    assert "To north@example.org:\nDear North, an answer is still missing for “" in shown
    assert "- query 0, asked 20" in shown
    good(folder, "tell", 0, "--silent")
    assert good(folder, "pending", "--overdue") == "no query is late\n"


def test_what_is_said_of_a_late_tell_after_a_stop(folder: Path) -> None:
    path = folder / "study.toml"
    path.write_text('budget = { queries = 1 }\nwait_for = "lease"\n' + path.read_text())
    ask_four_days_ago(folder)
    assert "instead of query 0" in good(folder, "ask")
    assert "the study has stopped" in good(folder, "tell", 1, "--silent")
    assert good(folder, "tell", 0, "--silent").splitlines() == [
        "recorded for query 0", "it came after its lease had ended and is marked as late",
        "the study had stopped before; this is kept, and can still bring the verdict of the rule",
    ]  # fmt: skip
    assert "raise the budget in the study file, then gobetween resume" in refused(folder, "ask")


def test_plan_and_simulate_read_the_same_file(folder: Path) -> None:
    assert "text message" in good(folder, "plan", "study.toml")
    done = run(folder, "simulate", "study.toml", "--runs", 2, "--max-steps", 50, GOBETWEEN_JIT="off")
    assert done.returncode == 0, done.stderr


MISTAKES: list[tuple[list[object], str]] = [
    (["tell", 0, "--arm", "letter", "--reward", "nan"], "reward nan is not possible"),
    (["tell", 0, "--arm", "letter", "--reward", "inf"], "reward inf is not possible"),
    (["tell", 0, "--arm", "letter", "--reward", "1e999"], "reward inf is not possible"),
    (["tell", 0, "--arm", "letter", "--reward", "0.5"], "a bernoulli reward is 0 or 1"),
    (["tell", 0, "--arm", "fax", "--reward", "1"], "arm 'fax' is not known: choose one of 'letter', 'text message'"),
    (["tell", 0, "--arm", "letter"], "an answer needs arm"),
    (["tell", 7, "--silent"], "query 7 was never asked in this study"),
    (["tell", "9" * 40, "--silent"], "was never asked in this study"),
    (["tell", "--arm", "letter", "--reward", "1"], "name the query that is answered"),
    (["tell", "--mediator", "West", "--arm", "letter", "--reward", "1"], "mediator 'West' is not known"),
    (["tell", 0, "--mediator", "South", "--silent"], "query 0 was for mediator 'North'"),
    (["ask", "-n", "0"], "n = 0: ask for 1 to 10,000 queries"),
    (["ask", "-n", "x"], "'x' is not a valid integer"),
    (["correct", 0, "--arm", "letter", "--reward", "1", "--reason", "r"], "query 0 is open: there is no answer to correct"),
    (["cancel", 5], "query 5 was never asked"),
    (["away", HOSTILE], "is not known"),
    (["export"], "name at least one of --csv FILE and --jsonl FILE"),
    (["export", "--csv", "/no/where.csv"], "cannot be written"),
    (["note", " "], "a note needs some text"),
    (["ask", "--study", "postgresql://me:secret@localhost/x"], "holds a password"),
]


def test_mistakes_change_nothing(folder: Path) -> None:
    good(folder, "ask")
    before = good(folder, "events", "--json")
    for arguments, message in MISTAKES:
        errors = refused(folder, *arguments)
        assert message in errors
        assert "secret" not in errors
    assert good(folder, "events", "--json") == before
    assert "all is well" in good(folder, "doctor")


def test_hostile_names_are_shown_not_run(folder: Path) -> None:
    spec = {
        "title": HOSTILE,
        "family": "bernoulli",
        "arms": [{"name": HOSTILE}, {"name": "=1+1"}],
        "mediators": [{"name": HOSTILE, "contact": HOSTILE}, {"name": "@sum", "policy": [0.5, 0.5]}],
    }
    study = gb.Study.create(folder / "hostile.sqlite", parse_study(spec, "test"))
    for query in study.ask(4):
        study.tell(query, arm="=1+1", reward=1)
    study.tell(mediator=HOSTILE, arm=HOSTILE, reward=0)
    study.note(f"{HOSTILE} \u202e \x1b[31m")
    place = folder / "hostile.sqlite"
    for verb in ("status", "events", "pending"):
        shown = good(folder, verb, "--study", place)
        assert "\x1b" not in shown
    assert "[bold]" in good(folder, "status", "--study", place)
    cells = [cell for row in csv.reader(io.StringIO(good(folder, "export", "--study", place, "--csv", "-"))) for cell in row]
    assert "'=1+1" in cells
    assert "'@sum" in cells
    assert not any(cell.startswith(("=", "@")) for cell in cells)
    good(folder, "report", "--study", place, "--out", folder / "r")
    with browser_page() as page:
        alerts: list[str] = []
        page.on("dialog", lambda dialog: alerts.append(dialog.message))
        page.goto((folder / "r" / "report.html").as_uri())
        assert page.locator("svg").count() >= 3
        assert alerts == []
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
        assert "alert(1)" in page.locator("h1").inner_text()


def test_on_postgresql_by_url(tmp_path: Path, postgres: Cluster) -> None:
    url = postgres.database()
    good(tmp_path, "init", "--store", url)
    assert f'store = "{url}"' in (tmp_path / "study.toml").read_text()
    good(tmp_path, "ask")
    good(tmp_path, "tell", 0, "--arm", "letter", "--reward", 1)
    assert data(tmp_path, "status", "--study", url)["told"] == 1
    assert "all is well" in good(tmp_path, "doctor")
    wrong = run(tmp_path, "ask", PGPASSWORD="wrong")
    assert wrong.returncode == 2
    assert "password authentication failed" in wrong.stderr
    assert list(tmp_path.glob("*.sqlite")) == []


def test_no_password_is_printed_stored_or_advised(folder: Path) -> None:
    secrets = ["postgresql://me:s3cret@localhost/x", "postgresql:/me:s3cret@localhost/x", "host=localhost password=s3cret"]
    for secret in secrets:
        for arguments in (
            ["init", "--store", secret], ["init", "new.toml", "--store", secret], ["status", "--study", secret],
            ["doctor", "--migrate", "--study", secret], ["check", "--study", secret],
        ):  # fmt: skip
            assert "s3cret" not in refused(folder, *arguments)
    (folder / "bad.toml").write_text(f'store = "{secrets[1]}"\n' + (folder / "study.toml").read_text())
    for arguments in (["init", "bad.toml"], ["ask", "--study", "bad.toml"]):
        said = refused(folder, *arguments)
        assert "holds a password" in said
        assert "s3cret" not in said
    assert sorted(path.name for path in folder.iterdir()) == ["bad.toml", "study.sqlite", "study.toml"]


def test_doctor_says_what_to_do(folder: Path) -> None:
    import sqlite3

    good(folder, "ask")
    with sqlite3.connect(folder / "study.sqlite") as database:
        database.execute("DELETE FROM queries")
    done = run(folder, "doctor")
    assert done.returncode == 1
    assert "query 0 is None in its table, ('open', 0, None, None, None) by the log" in done.stdout
    assert "before anything else, and pause the study" in done.stdout.replace("\n", " ")
    assert "all is well" in good(folder, "doctor", "--migrate", "--study", _fresh(folder))


def _fresh(folder: Path) -> str:
    good(folder, "init", "fresh.toml")
    return "fresh.toml"


@settings(max_examples=150)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-3, 10**20) | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["name", "policy", "cost", "rule"]), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    st.sampled_from(
        ["title", "family", "delta", "lease", "in_flight", "budget", "wait_for", "arms", "mediators", "sampling", "seed", "x"]
    ),
)
def test_fuzzed_specs_are_refused_in_one_sentence(value: Any, key: str) -> None:
    base: dict[str, Any] = {"arms": [{"name": "a"}, {"name": "b"}], "mediators": [{"name": "m"}]}
    try:
        parse_study(base | {key: value}, "study.toml")
    except gb.SpecError as error:
        assert "\n" not in str(error).replace(repr(value), "")


def test_the_cast_changes_by_commands(folder: Path) -> None:
    good(folder, "ask", "-n", 2)
    file = folder / "study.toml"
    text = file.read_text(encoding="utf-8")
    said = good(folder, "add-mediator", "West", "--policy", "0.5,0.5", "--cost", 2)
    assert "West can be asked from now on; the guarantee is as before" in said
    assert "does not name 'West': write it there too, as the last of the mediators" in said
    assert "older than what commands have changed since (mediator 'West'); write it there too" in run(folder, "ask").stderr
    assert "mediators cannot change, the study has begun with 'West': write it there again; gobetween retire NAME" in refused(
        folder, "check"
    )
    file.write_text(f'{text}\n[[mediators]]\nname = "West"\npolicy = [0.5, 0.5]\ncost = 2.0\n', encoding="utf-8")
    good(folder, "ask")
    file.write_text(f'{file.read_text(encoding="utf-8")}\n[[mediators]]\nname = "East"\ncost = 3.0\n', encoding="utf-8")
    assert "the study has begun without 'East'; gobetween add-mediator NAME adds one" in refused(folder, "ask")
    assert "write it there" not in good(folder, "add-mediator", "East")  # what the file says of it is taken from there
    assert [row["mediator"] for row in data(folder, "status")["mediators"]][-2:] == ["West", "East"]
    named = '[[mediators]]\nname = "Far"\npolicy = [0.4, 0.6]\ncost = 3.0\ncontact = "far@example.org"\n'
    file.write_text(f"{file.read_text(encoding='utf-8')}\n{named}", encoding="utf-8")
    good(folder, "add-mediator", "Far", "--policy", "0.9,0.1", "--cost", 7)  # what is said comes before what the file says
    file.write_text(
        file.read_text(encoding="utf-8").replace("[0.4, 0.6]\ncost = 3.0", "[0.9, 0.1]\ncost = 7.0"), encoding="utf-8"
    )
    events = map(json.loads, good(folder, "export", "--jsonl", "-").splitlines())
    (added,) = (event for event in events if event["kind"] == "added" and event["mediator"] == "Far")
    assert (added["policy"], added["cost"], added["contact"]) == ([0.9, 0.1], 7.0, "far@example.org")
    said = good(folder, "declare", "Far", "--unknown")
    assert "declared how Far chooses; the guarantee is as before" in said
    assert "declares 'Far' differently: change it there too" in said
    assert "(policy of 'Far'); write it there too" in run(folder, "ask").stderr
    assert "of 'Far' the study has another one: undo that; or, if the study is to follow it, gobetween declare NAME" in refused(
        folder, "check"
    )
    good(folder, "declare", "Far")  # as the file says
    assert "Far's policy is already declared so" in good(folder, "declare", "Far", "--policy", "0.9,0.1")
    assert "policy of Far declared: unknown" in good(folder, "events")
    assert "leave out one of the two" in refused(folder, "declare", "Far", "--unknown", "--support", "call")
    assert "say --unknown" in refused(folder, "declare", "Nobody")
    assert "sums to 1.8" in refused(folder, "declare", "Far", "--policy", "0.9,0.9")
    good(folder, "ask")
    good(folder, "retire", "Far")
    assert "will not be asked again; its open queries stay open" in good(folder, "retire", "East")
    assert "East is retired already" in good(folder, "retire", "East")
    assert "East (retired)" in good(folder, "status", "--all")
    assert "one arm would remain" in refused(folder, "retire", "letter", "--arm")
    assert "is not a number" in refused(folder, "add-mediator", "Q", "--policy", "0.5,half")
    assert data(folder, "doctor")["complaints"] == []
