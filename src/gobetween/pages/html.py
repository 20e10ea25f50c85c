"""Reports to keep and to mail: one file with text, tables and drawings, which opens offline and asks the network for nothing.

Where figures need Plotly, it lies beside the page, once for all pages of a folder. Light or dark is the reader's choice.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gobetween.errors import ResultsError
from gobetween.files.output import replacing
from gobetween.pages.blocks import Block, Picture, Section
from gobetween.pages.figures import DARK
from gobetween.pages.templates import asset, filled

LIBRARY = "plotly.min.js"
POLICY = "default-src 'none'; script-src 'self' file: 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
CONFIG = {
    "displaylogo": False,
    "responsive": True,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "svg"},
}


def render(title: str, sections: Sequence[Section], library: str = LIBRARY, page: Any = None, back: str = "") -> str:
    """The whole page as HTML; every string is shown as it is, never read as markup. `library`: where Plotly lies; `page`: of a
    study, above the sections; `back`: where that page is live.
    """
    from markupsafe import Markup

    shown = [replace(section, blocks=list(map(_drawn, section.blocks))) for section in sections]
    plotted = any(map(_needs_library, _pictures(sections)))
    script = asset("figures.js") % tuple(map(json.dumps, (DARK, CONFIG, library)))
    return filled(
        "report.html", title=title, sections=shown, page=page, back=back, policy=POLICY, style=Markup(asset("style.css")),
        library=library if plotted else "", script=Markup(script),
    )  # fmt: skip


def _drawn(block: Block) -> Block:
    """A Plotly figure as what stands on the page: a box with its data behind it; its title is text, which breaks."""
    import html

    from markupsafe import Markup

    if not (isinstance(block, Picture) and _needs_library(block)):
        return block
    from plotly.io import to_json

    data = str(to_json(block.figure, validate=False)).replace("<", "\\u003c")
    height, words = int(block.figure.layout.height or 430), html.unescape(block.figure.layout.title.text or "")
    box = Markup('<div class="drawing" id="figure-{}" style="min-height: {}px"></div>').format(block.name, height)
    return replace(block, figure=box + Markup(f'<script type="application/json">{data}</script>'), title=words)


def _needs_library(block: Picture) -> bool:
    return not hasattr(block.figure, "__html__")


def _pictures(sections: Sequence[Section]) -> Iterator[Picture]:
    return (block for section in sections for block in section.blocks if isinstance(block, Picture))


def _write_library(folder: Path) -> None:
    """Plotly, unless it is there already."""
    from plotly.offline import get_plotlyjs

    path, text = folder / LIBRARY, str(get_plotlyjs())
    if not (path.exists() and path.stat().st_size == len(text.encode())):
        _write(folder, LIBRARY, text)


def _write(folder: Path, name: str, text: str) -> None:
    """A file of a report; what was laid into its folder to lead elsewhere is not followed."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ResultsError(f"{path}: leads out of {folder}: remove it")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_report(folder: Path, title: str, sections: Sequence[Section], page: Any = None) -> Path:
    """Write report.html; each figure that needs Plotly also as a page of its own under figures/, with Plotly once for all."""
    path, plotted = folder / "report.html", [block for block in _pictures(sections) if _needs_library(block)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder, path.name, render(title, sections, page=page))
        if plotted:
            _write_library(folder)
        for block in plotted:
            alone = render(f"{title}: {block.name}", [Section("", [block])], f"../{LIBRARY}")
            _write(folder, f"figures/{block.name}.html", alone)
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written ({error.strerror})") from None
    return path
