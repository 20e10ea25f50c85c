"""Takes the pictures of pages in these docs, of studies with seeds in Chromium: `python docs/make_pictures.py`."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS.parent / "tests"), str(DOCS.parent / "tests" / "service")]

from parts import browser_page  # noqa: E402
from service_parts import running  # noqa: E402
from test_accessible import enter  # noqa: E402
from test_walks import STATES  # noqa: E402

PLAN = {
    "title": "Which reminder brings patients back?", "name": "reminders", "arm-0-name": "letter", "arm-0-mean": "0.45",
    "arm-1-name": "text message", "arm-1-mean": "0.7", "mediator-0-name": "North", "mediator-0-policy-0": "80",
    "mediator-0-policy-1": "20", "mediator-1-name": "Hill", "mediator-1-cost": "2", "mediator-1-policy-0": "30",
    "mediator-1-policy-1": "70",
}  # fmt: skip


def main() -> None:
    """Six of them."""
    with TemporaryDirectory() as folder, browser_page() as page:
        store = f"{folder}/s.sqlite"
        for name, make in STATES.items():
            make(store, name).close()
        with running(store=store, origin="https://studies.example.org") as server:

            def take(name: str, where: str, wide: int = 1160, high: int = 730) -> None:
                page.set_viewport_size({"width": wide, "height": high})
                if where:
                    page.goto(f"{server.base}{where}")
                page.wait_for_timeout(600)
                page.screenshot(path=DOCS / f"service-{name}.png")

            enter(page, server, server.access.first)
            for name, where in (("study", "running"), ("alarm", "broken"), ("sure", "sure")):
                take(name, f"/studies/{where}")
            take("list", "/")
            page.goto(f"{server.base}/new")
            for field, text in PLAN.items():
                page.locator(f"[name='{field}']").fill(text)
            page.get_by_role("button", name="What would it cost?").click()
            page.get_by_role("heading", name="What it costs for each risk").wait_for()
            take("cost", "")
            mediator = server.studies.find("running").study("").pending()[0].mediator
            enter(page, server, server.token(mediator, study="running"))
            take("inbox", "", 390, 800)


if __name__ == "__main__":
    main()
