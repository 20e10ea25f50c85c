"""Every page as people with a screen reader, a keyboard or weak eyes meet it: axe finds nothing serious, in light and in dark."""

import json
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from parts import browser_page, missing
from service_parts import Running, running, spec

import gobetween as gb
from gobetween.study.tokens import new_token

SHOTS = os.environ.get("GOBETWEEN_SHOTS")  # a folder for pictures of every page, to look at


def axe() -> str:
    """The script of axe-core, which a package for development brings."""
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        missing("axe is not installed: pip install axe-playwright-python")
    assert found is not None
    assert found.origin is not None
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with browser_page() as made:
        made.set_default_timeout(15000)
        yield made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = str(tmp_path_factory.mktemp("pages") / "s.sqlite")
    with gb.Study.create(path, spec(in_flight=3, lease="2d", budget={"queries": 400}, delta=1e-6), "study") as study:
        study.ask()
        for i in range(12):
            query = study.pending()[0]
            study.tell(query, arm="letter" if i % 3 else "call", reward=int(i % 3 > 0))
        for query in study.pending():
            study.tell(query, silent=True)
    gb.Study.create(path, spec(title="A study that has not begun"), "new").close()
    with running(store=path) as made:
        yield made


def enter(page: Any, server: Running, token: str) -> None:
    page.goto(f"{server.base}/enter#{token}")
    page.wait_for_url(lambda url: "/enter" not in url)


def serious(page: Any, script: str, only: list[str] | None) -> list[str]:
    """What axe calls serious or critical."""
    page.evaluate(script)
    options = {"resultTypes": ["violations"]} | ({} if only is None else {"runOnly": {"type": "rule", "values": only}})
    found = page.evaluate(f"axe.run(document, {json.dumps(options)})")
    return [
        f"{one['id']}: {one['help']}: {node['html'][:120]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


def looked_at(page: Any, name: str, script: str) -> list[str]:
    """In light with all rules, in dark with that of contrast; pictures where they are wanted."""
    found = []
    for scheme, only in (("light", None), ("dark", ["color-contrast"])):
        page.emulate_media(color_scheme=scheme)
        found += [f"{name}, {scheme}: {words}" for words in serious(page, script, only)]
        for width in (1400, 390) if SHOTS else ():
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_timeout(400)
            page.screenshot(path=f"{SHOTS}/{name}-{width}-{scheme}.png", full_page=True)
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            found += [f"{name} at {width}: {wide} pixels wider than the window"] if wide > 0 else []
    page.emulate_media(color_scheme="light")
    return found


def new_with(page: Any, server: Running, button: str, *arms: str) -> None:
    page.goto(f"{server.base}/new")
    said = {"arm-0-name": arms[0], "arm-0-mean": "0.8", "arm-1-name": arms[1], "arm-1-mean": "0.3"}
    said |= {"mediator-0-name": "North", "mediator-0-policy-0": "80", "mediator-0-policy-1": "20"}
    said |= {"mediator-1-name": "South", "mediator-1-policy-0": "30", "mediator-1-policy-1": "70"}
    for name, text in said.items():
        page.locator(f"[name='{name}']").fill(text)
    page.get_by_role("button", name=button).last.click()
    page.wait_for_load_state()


def test_no_page_has_a_serious_fault(page: Any, server: Running) -> None:
    script, found = axe(), list[str]()
    at = f"{server.base}/studies/study"
    page.goto(f"{server.base}/enter")
    found += looked_at(page, "enter", script)
    enter(page, server, server.access.first)
    pages: dict[str, Callable[[], Any]] = {
        "home": lambda: page.goto(f"{server.base}/"),
        "study": lambda: page.goto(at),
        "study-not-begun": lambda: page.goto(f"{server.base}/studies/new"),
        "events": lambda: page.goto(f"{at}/events"),
        "report": lambda: page.goto(f"{at}/report"),
        "budget": lambda: page.goto(f"{at}/budget"),
        "form": lambda: page.goto(f"{server.base}/new"),
        "form-wrong": lambda: new_with(page, server, "Make the study", "letter", "letter"),
        "plan": lambda: new_with(page, server, "What would it cost?", "letter", "call"),
        "nothing-here": lambda: page.goto(f"{server.base}/studies/none"),
    }
    for name, go in pages.items():
        go()
        found += looked_at(page, name, script)
    page.goto(f"{at}/links")
    found += looked_at(page, "links-none", script)
    page.get_by_role("button", name="Make the links that are missing").click()
    page.wait_for_load_state()
    found += looked_at(page, "links", script)
    study = server.studies.find("study").study("test")
    mediator = study.pending()[0].mediator
    enter(page, server, new_token(study, mediator, None)[0])
    for details in page.locator("summary").all()[:1]:
        details.click()
    found += looked_at(page, "inbox", script)
    page.locator("form[action$='/tell']").first.get_by_role("button", name="I could not do it").click()
    page.wait_for_url("**?done=*")
    found += looked_at(page, "inbox-answered", script)
    assert found == []
