"""Pages to keep: a folder with text, tables and figures, which opens offline and asks the network for nothing.

`plotly.min.js` lies beside the page, once for all pages and figures of a folder. Light or dark is the reader's choice.
"""

import html
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from gobetween.errors import ResultsError
from gobetween.pages.blocks import Block, Grid, Picture, Section
from gobetween.pages.figures import DARK
from gobetween.pages.look import SCRIPT, STYLE

LIBRARY = "plotly.min.js"
POLICY = "default-src 'none'; script-src 'self' file: 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
CONFIG = {
    "displaylogo": False,
    "responsive": True,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "svg"},
}
LONG = 24  # letters of a word that may be broken


def render(title: str, sections: Sequence[Section], library: str = LIBRARY) -> str:
    """The whole page as HTML; every string is shown as it is, never read as markup. `library`: where Plotly lies."""
    drawn = any(_pictures(sections))
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{html.escape(title)}</title><style>{STYLE}</style>",
        f'<script src="{library}"></script>' if drawn else "",
        f"</head><body><h1>{html.escape(title)}</h1>",
        *map(section_html, sections),
        f"<script>{drawing_script(library)}</script>" if drawn else "",
        "</body></html>",
        "",
    ]
    return "\n".join(part for part in parts if part)


def drawing_script(library: str) -> str:
    """What draws the figures of a page; `library`: where Plotly lies."""
    return SCRIPT % (json.dumps(DARK), json.dumps(CONFIG), json.dumps(library))


def section_html(section: Section) -> str:
    """One section; every string is shown as it is."""
    inner = "\n".join(map(_block, section.blocks))
    heading = f"<h2>{html.escape(section.title)}</h2>" if section.title else ""
    if section.folded:
        return f"<details><summary>{heading}</summary>\n{inner}\n</details>"
    return f"<section>{heading}\n{inner}\n</section>"


def _block(block: Block) -> str:
    if isinstance(block, Grid):
        return _grid(block)
    if isinstance(block, Picture):
        return _picture(block)
    if block.kind == "alarm":
        return f'<p class="alarm" role="alert"><strong>Alarm:</strong> {html.escape(block.words)}</p>'
    return f'<p class="{block.kind}">{html.escape(block.words)}</p>'


def _picture(block: Picture) -> str:
    """Title and caption are text of the page, which breaks into lines; the figure is drawn from what stands behind it."""
    from plotly.io import to_json

    data = str(to_json(block.figure, validate=False)).replace("<", "\\u003c")
    words, height = html.escape(_title(block)), int(block.figure.layout.height or 430)
    heading = f"<h3>{words}</h3>" if words else ""
    box = f'<div class="drawing" id="figure-{html.escape(block.name)}" style="min-height: {height}px"></div>'
    drawn = f'{box}<script type="application/json">{data}</script>'
    return f"<figure>{heading}{drawn}<figcaption>{html.escape(block.caption)}</figcaption></figure>"


def _title(block: Picture) -> str:
    return html.unescape(block.figure.layout.title.text or "")


def _grid(grid: Grid) -> str:
    words = [i for i, name in enumerate(grid.header or ("", "")) if not name or name in grid.words]

    def look(i: int, cell: str) -> str:
        names = ["words"] * (i in words) + ["long"] * any(len(word) > LONG for word in cell.split())
        return f' class="{" ".join(names)}"' if len(names) > 1 else f" class={names[0]}" if names else ""

    def line(cells: Sequence[str], tag: str, group: str = "") -> str:
        shown = (f"<{tag}{look(i, cell)}>{html.escape(cell)}</{tag}>" for i, cell in enumerate(cells))
        return f"<tr{group}>{''.join(shown)}</tr>"

    head = f"<thead>{line(grid.header, 'th')}</thead>" if grid.header else ""
    rows = "\n".join(line(row, "td", ' class="first"' if row[0] else "") for row in grid.grouped())
    kind = "" if grid.header else ' class="facts"'
    return f'<div class="scroll" tabindex="0"><table{kind}>{head}<tbody>\n{rows}\n</tbody></table></div>'


def _pictures(sections: Sequence[Section]) -> Iterator[Picture]:
    return (block for section in sections for block in section.blocks if isinstance(block, Picture))


def _write_library(folder: Path) -> None:
    """Plotly, unless it is there already."""
    from plotly.offline import get_plotlyjs

    path, text = folder / LIBRARY, str(get_plotlyjs())
    if not (path.exists() and path.stat().st_size == len(text.encode())):
        path.write_text(text, encoding="utf-8", newline="\n")


def write_report(folder: Path, title: str, sections: Sequence[Section]) -> Path:
    """Write report.html, each figure as a page of its own under figures/, and Plotly once for all of them."""
    path, pictures = folder / "report.html", list(_pictures(sections))
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        path.write_text(render(title, sections), encoding="utf-8")
        if pictures:
            _write_library(folder)
        for block in pictures:
            page = render(f"{title}: {block.name}", [Section("", [block])], f"../{LIBRARY}")
            (folder / "figures" / f"{block.name}.html").write_text(page, encoding="utf-8")
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written ({error.strerror})") from None
    return path
