"""The pages in a real browser: a study from the first query to its answer, by two mediators, while the page of the study looks on."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from parts import browser_page
from service_parts import Running, running, spec

import gobetween as gb
from gobetween.study.tokens import new_token

#: What a browser says of a server that is away, or of a token that is refused: part of what is tried here.
EXPECTED = (
    "ERR_CONNECTION_REFUSED",
    "ERR_INCOMPLETE_CHUNKED",
    "ERR_EMPTY",
    "ERR_CONNECTION_RESET",
    "status of 401",
    "status of 422",
)


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with browser_page() as made:
        made.set_default_timeout(30000)
        yield made


def visitor(page: Any, phone: bool = False) -> Any:
    """Somebody else, with cookies of their own."""
    context = page.context.browser.new_context(viewport={"width": 390 if phone else 1400, "height": 800})
    made = context.new_page()
    made.set_default_timeout(30000)
    made.complaints, made.requests = page.complaints, page.requests
    made.on("console", lambda one: page.complaints.append(one.text) if one.type in ("error", "warning") else None)
    made.on("pageerror", lambda error: page.complaints.append(str(error)))
    made.on("request", lambda request: page.requests.append(request.url))
    return made


def enter(page: Any, server: Running, token: str) -> None:
    page.goto(f"{server.base}/enter#{token}")
    page.wait_for_url(lambda url: "/enter" not in url)
    assert token not in page.url


def sound(page: Any, server: Running) -> None:
    """No complaints, and nothing from elsewhere."""
    assert [text for text in page.complaints if not any(word in text for word in EXPECTED)] == []
    assert {url.split("/")[2] for url in page.requests if url.startswith("http")} == {server.base.split("/")[2]}
    page.goto("about:blank")
    page.complaints.clear()


def answer(page: Any, arm: str, reward: int) -> None:
    form = page.locator("form[action$='/tell']")
    form.get_by_label(arm).check()
    form.locator(f"input[name=reward][value='{reward}']").check()
    form.get_by_role("button", name="Send the answer").click()
    page.wait_for_url("**?done=*")


def test_a_study_is_answered_from_two_inboxes_while_its_page_looks_on(page: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "s.sqlite")
    gb.Study.create(path, spec(delta=0.2, in_flight=4), "study").close()
    with ExitStack() as stack:
        server = stack.enter_context(running(store=path))
        study = server.studies.find("study").study("test")
        admin = new_token(study, None, None)[0]  # one that outlives the server
        enter(page, server, admin)
        page.get_by_role("link", name="Reminders").click()
        page.get_by_text("Live: this page keeps itself up to date").wait_for()
        page.evaluate("window.unmoved = true")
        study.ask()
        inboxes = {name: visitor(page, phone=True) for name in ("North", "South")}
        for name, inbox in inboxes.items():
            enter(inbox, server, server.token(name))
            assert name in inbox.inner_text("main")
        told = 0
        for turn in range(40):
            name = ("North", "South")[turn % 2]
            inbox = inboxes[name]
            if not any(query.mediator == name for query in study.pending()):
                study.tell(mediator=name, arm="call", reward=0, again=True)
                continue
            inbox.goto(inbox.url.split("?")[0])
            arm = ("letter", "call")[told % 2]
            answer(inbox, arm, int(arm == "letter"))
            told += 1
            if told == 1:
                _once_is_once(inbox, study)
            if told == 2:
                _that_was_wrong(inbox, study)
            if told == 3:  # the server goes away and comes back
                port = int(server.base.rsplit(":", 1)[1])
                stack.close()
                server = stack.enter_context(running(store=path, port=port))
                study = server.studies.find("study").study("test")
            if study.status().verdict is not None:
                break
        page.get_by_role("heading", name="The best arm is 'letter'").wait_for(timeout=15000)
        assert page.locator(".head .chip").inner_text() == "Sure"
        assert page.get_by_role("button", name="Ask the next query").count() == 0
        assert page.evaluate("window.unmoved") is True
        for inbox in inboxes.values():
            for _ in range(5):
                inbox.goto(inbox.url.split("?")[0])
                if "The study has ended" in inbox.inner_text("main"):
                    break
                inbox.get_by_role("button", name="I could not do it").click()
                inbox.wait_for_url("**?done=*")
            assert "The study has ended: thank you." in inbox.inner_text("main")
        sound(page, server)
        assert study.doctor() == []
        for inbox in inboxes.values():
            inbox.context.close()


def _once_is_once(inbox: Any, study: gb.Study) -> None:
    """A double click, a reload and the back button count an answer once."""
    number, before = int(inbox.url.split("=")[1]), study.look()[2]
    assert f"Thank you, your answer is recorded: query {number}, letter, Yes." in inbox.inner_text("main")
    inbox.reload()
    assert "your answer is recorded" in inbox.inner_text("main")
    inbox.go_back()
    assert study.look()[2] == before
    form = inbox.locator("form[action$='/tell']")
    if form.count():
        form.get_by_label("letter").check()
        form.locator("input[name=reward][value='1']").check()
        form.get_by_role("button", name="Send the answer").dblclick()
        inbox.wait_for_url("**?done=*")
    rows = [row for row in study.export() if row["status"] == "told" and row["mediator"] == "North" and row["arm"] == "letter"]
    kinds = [event["query"] for event in study.events() if event["kind"] == "told"]
    assert len(kinds) == len(set(kinds))
    assert rows


def _that_was_wrong(inbox: Any, study: gb.Study) -> None:
    """A correction needs a reason, and both stay in the log."""
    number = int(inbox.url.split("=")[1])
    item = inbox.locator("li", has_text=f"Query {number}:")
    item.get_by_text("That was wrong").click()
    item.get_by_label("call").check()
    item.locator("input[name=reward][value='0']").check()
    item.get_by_role("button", name="Correct it").click()
    assert "corrected" not in inbox.url  # the browser asks for the reason
    item.locator("input[name=reward][value='1']").check()
    item.get_by_label("What was wrong?").fill("I mixed two up")
    item.get_by_role("button", name="Correct it").click()
    inbox.wait_for_url("**?corrected=*")
    assert f"Thank you, that is corrected: query {number}, call, Yes." in inbox.inner_text("main")
    event = next(event for event in study.events() if event["kind"] == "corrected")
    assert (event["reason"], event["actor"]) == ("I mixed two up", "South")
    study.correct(number, arm="call", reward=0, reason="back")


def test_links_that_are_wrong_expired_or_empty_say_so(page: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "s.sqlite")
    asked = {"question": "Choose for your next patient.", "outcome": "How many days?"}
    gb.Study.create(path, spec(family="poisson", title="<b>Müller & Sons</b>", inbox=asked), "study").close()
    with running(store=path) as server:
        page.requests.clear()
        study = server.studies.find("study").study("test")
        token, row = new_token(study, "North", 1.0)
        study.store.keep_token(replace(row, expires=study.store.now() - 1.0))
        someone = visitor(page)
        for link, words in (
            (f"#{token}", "not valid: open the link that you were given, or ask for a new one."),
            (f"#{token[:-1]}", "not valid"),
            ("", "open the whole link that you were given"),
        ):
            someone.goto("about:blank")
            someone.goto(f"{server.base}/enter{link}")
            someone.get_by_text(words).wait_for()
        someone.goto(f"{server.base}/studies/study")
        assert "The token is missing or not valid" in someone.inner_text("main")
        study.away("South")
        study.ask()
        enter(someone, server, server.token("North"))
        assert someone.inner_text("h1") == "<b>Müller & Sons</b>"
        someone.get_by_label("letter").check()
        someone.get_by_label("How many days?").fill("two")
        someone.get_by_role("button", name="Send the answer").click()
        assert "Write what happened as a number." in someone.inner_text("[role=alert]")
        assert someone.get_by_label("letter").first.is_checked()
        someone.get_by_label("How many days?").first.fill("2,5")
        someone.get_by_role("button", name="Send the answer").click()
        assert "whole number" in someone.inner_text("[role=alert]")
        sound(page, server)
        someone.context.close()


def test_an_administrator_makes_links_and_pauses(page: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "s.sqlite")
    gb.Study.create(path, spec(), "study").close()
    with running(store=path) as server:
        page.requests.clear()
        page.context.clear_cookies()
        enter(page, server, server.access.first)
        page.get_by_role("link", name="Reminders").click()
        page.get_by_role("button", name="Ask the next query").click()
        page.get_by_text("1 open", exact=True).wait_for()
        page.get_by_role("button", name="Pause").click()
        page.locator(".head .chip", has_text="Paused").wait_for()
        assert page.get_by_role("button", name="Ask the next query").count() == 0
        page.get_by_role("button", name="Resume").wait_for()
        _links(page, server)
        page.goto(f"{server.base}/studies/study/events")
        assert "Events 1 to 2 of 2." in page.inner_text("main")
        page.goto(f"{server.base}/studies/study/report")
        page.get_by_role("heading", name="About this study").wait_for()
        with page.expect_download() as kept:
            page.get_by_role("link", name="Download this report").click()
        text = Path(kept.value.path()).read_text()
        assert kept.value.suggested_filename == "study-report.html"
        assert "Reminders" in text
        assert len(text) < 150_000
        page.goto(f"{server.base}/")
        page.get_by_role("button", name="Leave").click()
        page.wait_for_url("**/enter")
        page.goto(f"{server.base}/")
        assert "The token is missing" in page.inner_text("main")
        sound(page, server)


def _links(page: Any, server: Running) -> None:
    """Each mediator's link is made once, shown again on a reload, renewed and revoked."""
    store = server.studies.find("study").store
    page.get_by_role("link", name="Links").click()
    page.get_by_role("button", name="Make the links that are missing").click()
    link = page.get_by_label("Link for South").input_value()
    assert page.locator("svg.qr").count() == 2
    page.reload()
    assert page.get_by_label("Link for South").input_value() == link
    assert len(store.tokens()) == 2
    someone = visitor(page)
    someone.goto(link)
    someone.get_by_text("South", exact=True).wait_for()
    page.get_by_role("button", name="Renew for South").click()
    page.wait_for_load_state()
    assert page.get_by_label("Link for South").input_value() != link
    someone.wait_for_timeout(1100)  # as long as a valid token is not looked up again
    someone.reload()
    assert "not valid" in someone.inner_text("main")
    page.get_by_role("button", name="Revoke the link of South").click()
    page.wait_for_load_state()
    assert page.get_by_label("Link for South").count() == 0
    assert "no link yet" in page.inner_text("main")
    someone.context.close()


def _fill(page: Any, fields: dict[str, str]) -> None:
    for name, text in fields.items():
        page.locator(f"[name='{name}']").fill(text)


def test_a_study_is_planned_and_made_from_a_form(page: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "s.sqlite")
    gb.Study.create(path, spec(), "study").close()
    with running(store=path) as server:
        page.requests.clear()
        page.context.clear_cookies()
        enter(page, server, server.access.first)
        page.get_by_role("link", name="New study").click()
        _fill(page, {"name": "study", "delta": "300", "arm-0-name": "letter", "arm-0-mean": "0.8", "arm-1-name": "call"})
        _fill(page, {"mediator-0-name": "North", "mediator-0-cost": "4", "mediator-0-contact": "n@example.org"})
        page.get_by_role("button", name="Add a mediator").click()
        page.locator("fieldset.mediator").nth(2).wait_for()
        page.get_by_role("button", name="Remove mediator 3").click()
        page.locator("fieldset.mediator").nth(2).wait_for(state="detached")
        _fill(page, {"mediator-1-name": "South", "mediator-1-policy-0": "30", "mediator-1-policy-1": "70"})
        _fill(page, {"mediator-0-policy-0": "80", "mediator-0-policy-1": "10"})
        assert page.locator("[data-sum] output").first.inner_text() == "sum: 90%"
        page.get_by_label("Mediators may say").uncheck()
        right = {"name": "trial", "lease": "3d", "delta": "5", "arm-1-name": "call", "mediator-0-policy-1": "20"}
        _fill(page, right)
        for name, text, words in (
            ("delta", "a", "'a' is not a number"),
            ("delta", "300", "between 0 and 1"),
            ("mediator-0-policy-1", "10", "North's shares sum to 90%; they must sum to 100%"),
            ("mediator-0-policy-1", "x", "'x' is not a number"),
            ("arm-1-name", "letter", "letter"),
            ("name", "study", "already has a study 'study'"),
            ("name", "", "a study needs a short name"),
            ("lease", "soon", "write a time such as"),
        ):
            _fill(page, right | {name: text})
            page.get_by_role("button", name="Make the study").last.click()
            page.locator(".wrong[role=alert]", has_text=words).wait_for()
            assert page.locator("[aria-invalid=true]").first.get_attribute("name").startswith(name[:8]), name
        _fill(page, right)
        page.get_by_role("button", name="What would it cost?").click()
        page.get_by_text("plans and simulations need a guess of each arm's mean").wait_for()
        _fill(page, {"arm-1-mean": "0.3"})
        page.get_by_role("button", name="What would it cost?").click()
        page.get_by_role("heading", name="What it costs for each risk").wait_for()
        page.get_by_role("button", name="Make the study").last.click()
        page.wait_for_url("**/studies/trial")
        assert server.studies.find("trial").study("x").spec.contacts == ("n@example.org", "")
        sound(page, server)
