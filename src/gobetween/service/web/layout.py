"""Whole pages: a template with its values, under the strict content policy: scripts and style by address, no inline code."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import HTMLResponse

from gobetween.pages.templates import filled


def page(
    template: str, title: str, values: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> HTMLResponse:
    """A page of the server."""
    return HTMLResponse(filled(template, title=title, **values), status, headers)


def refusal_page(sentence: str, status: int, back: tuple[str, str], headers: Mapping[str, str]) -> HTMLResponse:
    """What did not work, and a way back: address and words."""
    said = f"{sentence[:1].upper()}{sentence[1:]}{'' if sentence.endswith(('.', '?', '…')) else '.'}"
    return page("said.html", "This did not work", {"sentence": said, "back": back, "width": "narrow"}, status, headers)
