"""The first screen of a study: state, answer, progress, checks, what to do, tables; the numbers of the page, in 24 lines."""

import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from launcher import gobetween
from memory_store import Memory

import gobetween as gb
from gobetween.cli.terminal import LINES, PIPE_WIDTH, fitted, height, show_screen
from gobetween.pages.blocks import Grid, Section, Text
from gobetween.pages.study.page import study_page
from gobetween.pages.study.status import first_screen, sections
from gobetween.study.spec.spec import parse_study
from gobetween.study.status.status import Status
from gobetween.words.messages import mail_words

ARMS = ("letter", "text message", "phone call", "e-mail")
UNREADABLE = re.compile(r"\d[eE][-+]\d|\bnats?\b|T\*|ω|nan|inf\b", re.ASCII)


def study_of(n: int, declared: float = 0.4, arms: tuple[str, ...] = ARMS, clinics: int = 5, **changes: Any) -> gb.Study:
    """So many answers of clinics who all choose alike; the first declares its policy."""
    policy = [declared, *[(1.0 - declared) / (len(arms) - 1)] * (len(arms) - 1)]
    mediators = [{"name": f"Clinic {i}", "cost": 2.0 + i, **({} if i else {"policy": policy})} for i in range(clinics)]
    table = {"title": "Which reminder?", "family": "bernoulli", "arms": [{"name": arm} for arm in arms], "mediators": mediators}
    store, rng = Memory(), random.Random(1)
    store.create("s", parse_study(table | {"delta": 0.1} | changes, "test").to_dict(), {"created": time.time() - 7200.0})
    study = gb.Study(store, "s", "tester")
    for _ in range(n):
        if study.look()[0].stopped is not None:
            break
        (query,) = study.ask()
        a = rng.choices(range(len(arms)), [0.4, *[0.6 / (len(arms) - 1)] * (len(arms) - 1)])[0]
        study.tell(query, arm=arms[a], reward=int(rng.random() < (0.9 if a == 1 else 0.2)))
    return study


def in_doubt() -> gb.Study:
    study = study_of(400)
    paid = [row["query"] for row in study.export() if row["arm"] == ARMS[1] and row["reward"] == 1.0]
    for query in paid:
        study.correct(query, arm=ARMS[1], reward=0, reason="misread")
    return study


def paused() -> gb.Study:
    study = study_of(12)
    study.ask(2)
    study.pause()
    return study


STATES: dict[str, Callable[[], gb.Study]] = {
    "running": lambda: study_of(30),
    "not started": lambda: study_of(0),
    "paused": paused,
    "sure": lambda: study_of(400),
    "under review": in_doubt,
    "budget used": lambda: study_of(30, budget={"queries": 20, "cost": 1234.5}),
    "policy": lambda: study_of(20, declared=0.001),
    "many": lambda: study_of(20, arms=tuple(f"arm {i}" for i in range(60)), clinics=40),
}


@pytest.fixture(scope="module", params=STATES)
def study(request: pytest.FixtureRequest) -> gb.Study:
    made: gb.Study = STATES[request.param]()
    return made


def screen(study: gb.Study, capsys: pytest.CaptureFixture[str]) -> list[str]:
    view = study.view(100)
    show_screen("Which reminder? · State", first_screen(study_page(view), view.status), "the rest")
    return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()


def test_the_first_screen_is_a_screen(
    study: gb.Study, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("COLUMNS", str(PIPE_WIDTH)), ("TTY_COMPATIBLE", "1"), ("NO_COLOR", "1"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    lines = screen(study, capsys)
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= PIPE_WIDTH
    assert not [line for line in lines if UNREADABLE.search(line)]
    assert lines[-1] == "the rest"


def test_it_says_what_the_page_and_the_json_say(study: gb.Study, capsys: pytest.CaptureFixture[str]) -> None:
    view, said = study.view(100), " ".join(" ".join(screen(study, capsys)).split())
    page, data = study_page(view), view.status.to_dict()
    assert page.headline in said
    for tile in page.tiles[1:]:
        assert tile.value in said
    if data["told"]:
        assert f"{data['told']:,}" in said
        best = max((arm for arm in data["arms"] if arm["estimate"] is not None), key=lambda arm: arm["estimate"])
        assert f"{best['estimate']:.0%}" in said
    for check in page.checks:
        assert (check.title in said) == bool(check.tone)


def test_what_to_do_stands_with_its_command_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    study = STATES["policy"]()
    said, view = "\n".join(screen(study, capsys)), study.view(0)
    assert "gobetween declare 'Clinic 0' --unknown" in said
    (alarm,) = (one for one in view.status.to_dict()["alarms"] if one["raised"])
    (remedy,) = alarm["remedies"]
    assert remedy["command"] == "gobetween declare 'Clinic 0' --unknown"
    assert alarm["words"] not in remedy["words"]
    assert all(not one["remedies"] for one in view.status.to_dict()["alarms"] if not one["raised"])
    again = json.loads(json.dumps(view.status.to_dict()))
    read = Status.from_dict(again).to_dict()["alarms"]  # as a client reads them
    assert [one["remedies"] != [] for one in read] == [one["raised"] for one in again["alarms"]]
    everything = sections(study_page(view), view)
    texts = [block.words for part in everything for block in part.blocks if isinstance(block, Text)]
    assert "Clinic 0 deviates from its declared policy" in [part.title for part in everything]
    assert alarm["words"] not in texts  # the remedy says it
    assert any("p = " in words for words in texts)


def test_a_mail_about_an_alarm_says_what_to_do() -> None:
    study = study_of(20, declared=0.001, notify={"mail": "GOBETWEEN_MAIL", "from": "a@b.org", "to": ["c@d.org"]})
    (message,) = (one for one in study.store.claim("s", ["mail"], 60.0, 1000) if one.body["event"] == "alarm")
    _, text = mail_words(message, "s")
    assert "Declare its policy unknown" in text
    assert "    gobetween declare 'Clinic 0' --unknown" in text


def test_tables_lose_rows_before_a_screen_overflows() -> None:
    grid = Grid(("name", "n"), [(str(i), "1") for i in range(50)])
    parts = [Section("", [Text("lead")]), Section("First", [grid]), Section("Second", [grid])]
    shown = fitted(parts, 12, 80)
    assert [part.title for part in shown] == ["", "First"]
    assert sum(height(block, 80) for part in shown for block in part.blocks) == 12 - 2
    assert shown[1].blocks[-1] == Text("and 43 more")
    assert fitted(parts, 1000, 80) == parts


def test_the_command_shows_a_screen_or_everything(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        done = gobetween(tmp_path, *arguments, GOBETWEEN_JIT="off")
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("init")
    for i in range(4):
        run("tell", "--mediator", "North", "--arm", "letter", "--reward", str(i % 2), "--key", str(i))
    first, whole = run("status"), run("status", "--all")
    assert first.splitlines()[0] == whole.splitlines()[0] == "Which reminder works best? · Running"
    assert "gobetween status --all" in first
    assert "4 answers were not requested" in " ".join(whole.split())
    assert "\x1b" not in first + whole
