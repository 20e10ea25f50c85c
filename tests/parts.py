"""Real parts that tests need: with CI=true a missing one fails the run, elsewhere it skips with the reason."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from records import MISSING


def missing(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(MISSING + reason)


@contextmanager
def browser_page() -> Iterator[Any]:
    """A page in Debian's Chromium; what it complains about and asks the network for is kept in its lists."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing("Chromium is not installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=[*flags, "--disable-component-update", "--disable-sync"])
        page: Any = browser.new_page(viewport={"width": 1000, "height": 800})
        page.complaints, page.requests = [], []
        page.on(
            "console", lambda message: page.complaints.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("request", lambda request: page.requests.append(request.url))
        yield page
        browser.close()
