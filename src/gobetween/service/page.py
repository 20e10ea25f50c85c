"""The frame of every page: head, style and script by address, no inline code; strings are shown as they are."""

import html
from collections.abc import Mapping, Sequence

from starlette.responses import HTMLResponse


def framed(title: str, body: str, scripts: Sequence[str] = ()) -> str:
    """A whole page around markup that is safe already."""
    loaded = "".join(f'<script src="/static/{name}" defer></script>' for name in scripts)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f'<title>{html.escape(title)}</title><link rel="stylesheet" href="/static/style.css">{loaded}'
        f"</head><body><main>{body}</main></body></html>"
    )


def plain_page(title: str, sentences: Sequence[str], status: int, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """A heading and a few sentences."""
    body = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
    return HTMLResponse(framed(title, f"<h1>{html.escape(title)}</h1>{body}"), status, dict(headers or {}))
