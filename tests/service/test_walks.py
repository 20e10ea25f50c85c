"""Ways through the pages in a real browser: from what went wrong to what mends it; and how every state looks."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from parts import browser_page
from service_parts import Running, running
from test_accessible import axe, enter, looked_at

import gobetween as gb
from gobetween.pages.study.page import study_page
from gobetween.words.numbers import amount, exact, percent, rough

ARMS = ["letter", "text message", "phone call", "e-mail"]
MEANS = [0.45, 0.7, 0.33, 0.22]
POLICIES: dict[str, Any] = {"North": [0.5, 0.2, 0.2, 0.1], "Hill": [0.1, 0.6, 0.2, 0.1], "South": [0.25] * 4, "West": None}
TITLES = {
    "empty": "Banner on the start page", "running": "Which reminder brings patients back?", "paused": "Packaging",
    "alarm": "Onboarding call", "broken": "Recall letters", "sure": "Call script", "review": "Waiting room poster",
    "used": "Vaccination texts",
}  # fmt: skip
LIGHT = 150_000  # bytes of a live page with all that it loads


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with browser_page() as made:
        made.set_default_timeout(20000)
        made.set_viewport_size({"width": 1400, "height": 900})
        yield made


def made(store: str, name: str, **terms: Any) -> gb.Study:
    policies = terms.pop("policies", POLICIES)
    costs = dict(zip(policies, [4.0, 6.0, 5.0, 3.0], strict=True))
    said: dict[str, Any] = {"family": "bernoulli", "delta": 0.001, "in_flight": 3, "lease": "2d", "title": TITLES[name]}
    return gb.Study.create(store, gb.StudySpec(ARMS, policies, costs=costs, **said | terms), name)


def played(study: gb.Study, n: int, means: list[float] = MEANS, acts: dict[str, list[float]] | None = None) -> gb.Study:
    """Answers as mediators give them, who act as declared unless something else is said."""
    rng = np.random.default_rng(3)
    for _ in range(n):
        query = (study.pending() or [*study.ask()])[0]
        policy = (acts or {}).get(query.mediator) or POLICIES[query.mediator] or [0.1, 0.1, 0.4, 0.4]
        a = int(rng.choice(len(ARMS), p=policy))
        study.tell(query, arm=ARMS[a], reward=int(rng.random() < means[a]))
        if study.look()[0].stopped is not None:
            break
    return study


def confounded(store: str, name: str) -> gb.Study:
    """E-mail pays with one mediator alone, in answers that were not asked for."""
    study, rng = made(store, name, policies=dict.fromkeys(POLICIES)), np.random.default_rng(3)
    study.ask()
    for i in range(160):
        mediator, arm = ("North", "Hill")[i % 2], ARMS[(i // 2) % 4]
        mean = {("North", "e-mail"): 0.1, ("Hill", "e-mail"): 0.9}.get((mediator, arm), 0.4)
        study.tell(mediator=mediator, arm=arm, reward=int(rng.random() < mean), again=True)
    return study


def reviewed(store: str, name: str) -> gb.Study:
    """The answers that made it sure are corrected."""
    study = played(made(store, name, delta=0.1, silent=True), 400, [0.3, 0.9, 0.2, 0.1])
    assert study.status().state == "sure"
    rows = [row for row in study.export() if row["arm"] == "text message" and row["reward"]]
    for row in rows[:12]:
        study.correct(int(row["query"]), arm="text message", reward=0, reason="typed wrongly")
    assert study.status().state == "under review"
    return study


STATES: dict[str, Callable[[str, str], gb.Study]] = {
    "empty": made,
    "running": lambda store, name: played(made(store, name), 60),
    "paused": lambda store, name: played(made(store, name), 20),
    "alarm": lambda store, name: played(made(store, name), 90, acts={"Hill": [0.7, 0.1, 0.1, 0.1]}),
    "broken": confounded,
    "sure": lambda store, name: played(made(store, name, delta=0.1), 400, [0.3, 0.9, 0.2, 0.1]),
    "review": reviewed,
    "used": lambda store, name: played(made(store, name, budget={"queries": 30}), 40),
}
SAID = {
    "empty": ["Not started"], "running": ["Running"], "paused": ["Paused"], "alarm": ["Running", "1 alarm"],
    "broken": ["Needs attention"], "sure": ["Sure"], "review": ["Under review"], "used": ["Budget used"],
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    store = str(tmp_path_factory.mktemp("states") / "s.sqlite")
    for name, make in STATES.items():
        with make(store, name) as study:
            if name == "paused":
                study.pause()
    with running(store=store) as found:
        yield found


def at(page: Any, server: Running, name: str) -> None:
    if "gobetween" not in " ".join(cookie["name"] for cookie in page.context.cookies()):
        enter(page, server, server.access.first)
    page.goto(f"{server.base}/studies/{name}")


def chips(page: Any) -> list[str]:
    found: list[str] = page.locator(".head .chip").all_inner_texts()
    return found


@pytest.mark.parametrize("name", STATES)
def test_every_state_is_seen_at_once_and_has_no_serious_fault(page: Any, server: Running, name: str) -> None:
    at(page, server, name)
    assert chips(page) == SAID[name]
    tiles = page.locator(".tiles").bounding_box()
    assert tiles["y"] + tiles["height"] < 900, (
        "what it is, what leads, when it is done and what to do stand on the first screen"
    )
    edges = page.evaluate("[...document.querySelectorAll('[data-part=arms] svg')].map(e => [e.getBoundingClientRect().x, e.getBoundingClientRect().width])")  # fmt: skip
    assert len({(round(x), round(width)) for x, width in edges}) <= 1, "all intervals and the axis have one scale"
    assert looked_at(page, f"state-{name}", axe()) == []
    assert page.complaints == []


@pytest.mark.parametrize("name", ["running", "broken", "used"])
def test_a_page_weighs_little(server: Running, name: str) -> None:
    cookie = server.cookie()
    with server.client("", cookie=cookie) as client:
        text = client.get(f"/studies/{name}").text
        loaded = re.findall(r'(?:src|href)="(/static/[^"]+)"', text)
        assert sorted(loaded) == ["/static/live.js", "/static/style.css"]
        assert 10_000 < len(text) + sum(len(client.get(one).content) for one in loaded) < LIGHT


@pytest.mark.parametrize("name", STATES)
def test_the_page_says_the_numbers_of_rest(server: Running, name: str) -> None:
    """The page, its report and the answer of REST are of one state."""
    with server.client() as client:
        status = client.get(f"/api/v1/studies/{name}").json()
        pages = [client.get(f"/studies/{name}{end}", headers={"cookie": server.cookie()}).text for end in ("", "/report.html")]
    shown = study_page(server.studies.find(name).study("").view(0))
    assert [(row.name, row.value) for row in shown.arms if row.value != "–"] == [
        (arm["arm"], percent(arm["estimate"]))
        for arm in sorted(status["arms"], key=lambda arm: -(arm["estimate"] or 0.0)) if arm["estimate"] is not None
    ]  # fmt: skip
    for text in pages:
        tiles = re.findall(r'<div class="value[^"]*">(.*?)</div>.*?<p class="note">(.*?)</p>', text, re.DOTALL)
        assert tiles[2][0].startswith(exact(status["cost"]) if name != "used" else f"{status['queries']:,} of")
        if name in ("running", "paused", "alarm", "used", "review"):
            assert tiles[1][0] == f"about {rough(status['queries_to_go']):,} more"
            ends = status["queries_range"]
            assert ("80% range" in tiles[1][1]) == (ends is not None and ends[1] is not None)
        if status["cost_to_go"] is not None and status["verdict"] is None and name != "broken":
            assert f"expected in all: {rough(status['cost'] + status['cost_to_go']):,}" in tiles[2][1]
        assert amount(status["p_value"]) in text


def test_no_range_is_invented(server: Running) -> None:
    """A forecast without a range shows none, in answers or in time."""
    moment = server.studies.find("review").study("").view(0)
    moment = replace(moment, status=replace(moment.status, queries_range=None))
    shown = study_page(moment)
    assert "range" not in shown.tiles[1].note
    assert "–" not in shown.tiles[1].note
    assert shown.progress is not None
    assert "range" not in shown.progress[0]


def test_a_wrong_policy_is_declared_unknown(page: Any, server: Running) -> None:
    at(page, server, "alarm")
    page.get_by_text("Hill deviates from its declared policy:").wait_for()
    page.get_by_role("button", name="Declare Hill unknown").click()
    page.wait_for_load_state()
    assert chips(page) == ["Running"]
    assert page.get_by_role("button", name="Declare Hill unknown").count() == 0
    assert server.studies.find("alarm").study("").status().alarms == [] or not any(
        alarm.raised for alarm in server.studies.find("alarm").study("").status().alarms
    )


def test_a_mediator_that_changed_begins_again(page: Any, server: Running) -> None:
    at(page, server, "paused")
    secret = page.locator("input[name=proof]").first.input_value()
    post = "([to, proof]) => fetch(to, {method: 'POST', body: new URLSearchParams({proof, value: 'North'})}).then(one => one.status)"
    assert page.evaluate(post, [f"{server.base}/studies/paused/succeed", secret]) == 200
    spec = server.studies.find("paused").study("").spec
    assert spec.mediators[-1] == "North 2"
    assert spec.cast.costs[-1] == spec.cast.costs[0]
    assert server.studies.find("paused").study("").look()[0].retired == ["North"]


def test_answers_that_wait_for_a_query_are_told_and_freed(page: Any, server: Running) -> None:
    at(page, server, "broken")
    text = page.inner_text("[data-part=answer]")
    assert "No recommendation: e-mail works differently at North and Hill" in text
    assert "None of 160 answers is counted; all wait for query 0" in text
    assert page.get_by_text("0 of 40 tries counted").count() == 4
    assert page.get_by_role("button", name="Pause the study").count() == 1
    for number in (0, 1, 2):
        page.get_by_role("button", name=f"Cancel query {number}").click()
        page.wait_for_load_state()
    assert "counted;" not in page.inner_text("[data-part=answer]")
    page.get_by_role("button", name="Pause the study").click()
    page.get_by_role("button", name="Resume").wait_for()
    assert page.get_by_role("button", name="Pause").count() == 0


def test_a_verdict_under_review_goes_on(page: Any, server: Running) -> None:
    at(page, server, "review")
    status = server.studies.find("review").study("").status()
    text = page.inner_text("main")
    assert "Under review: the verdict was text message" in text
    assert f"{status.leader} leads now." in text
    assert page.locator("[data-part=arms] .row", has_text="text message").get_by_text("was recommended").count() == 1
    assert page.locator("[data-part=arms] .row.lead .name").inner_text() == status.leader
    page.goto(f"{server.base}/")
    assert f"{status.leader} leads" in page.locator("tr", has_text=TITLES["review"]).inner_text()
    at(page, server, "review")
    page.get_by_role("button", name="Go on asking").click()
    page.locator(".head .chip", has_text="Running").wait_for()
    assert server.studies.find("review").study("").status().verdict is None


def test_a_used_budget_is_extended(page: Any, server: Running) -> None:
    at(page, server, "used")
    page.get_by_role("link", name="Raise the budget and go on").click()
    page.get_by_label("Query limit").fill("20")
    page.get_by_role("button", name="Save and go on").click()
    page.locator("[role=alert]").wait_for()
    page.get_by_label("Query limit").fill("100000")
    page.get_by_role("button", name="Save and go on").click()
    page.locator(".head .chip", has_text="Running").wait_for()
    assert server.studies.find("used").study("").spec.max_queries == 100_000
