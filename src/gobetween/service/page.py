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


def refusal_page(sentence: str, status: int, back: tuple[str, str], headers: Mapping[str, str]) -> HTMLResponse:
    """What did not work, and a way back: address and words."""
    said = f"{sentence[:1].upper()}{sentence[1:]}{'' if sentence.endswith(('.', '?', '…')) else '.'}"
    link = f'<p><a href="{html.escape(back[0])}">{html.escape(back[1])}</a></p>'
    title = "This did not work"
    return HTMLResponse(framed(title, f"<h1>{title}</h1><p>{html.escape(said)}</p>{link}"), status, dict(headers))
