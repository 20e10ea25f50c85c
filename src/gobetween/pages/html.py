"""Pages to keep: one HTML file with text, tables and figures, which opens offline and asks the network for nothing."""

import html
from collections.abc import Sequence
from pathlib import Path

from gobetween.errors import ResultsError
from gobetween.pages.blocks import Block, Grid, Picture, Section, Text

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
p.lead { font-size: 1.15rem; } p.note, figcaption { color: #555; font-size: .92rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th, td { padding: .2rem .7rem; text-align: right; white-space: nowrap; }
th { border-bottom: 2px solid #222; vertical-align: bottom; }
td:first-child, th:first-child { text-align: left; padding-left: 0; } tr.first td { border-top: 1px solid #bbb; }
.words { text-align: left; }
figure { margin: 1.5rem 0; } code { background: #f3f3f3; padding: .1em .3em; }
"""
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
CONFIG = {
    "displaylogo": False,
    "responsive": True,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "svg"},
}


def render(title: str, sections: Sequence[Section]) -> str:
    """The whole page as HTML; every string is shown as it is, never read as markup."""
    pictures = any(isinstance(block, Picture) for section in sections for block in section.blocks)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{html.escape(title)}</title><style>{STYLE}</style>",
        f"<script>{_plotly_js()}</script>" if pictures else "",
        f"</head><body><h1>{html.escape(title)}</h1>",
    ]
    for section in sections:
        parts.append(f"<section><h2>{html.escape(section.title)}</h2>" if section.title else "<section>")
        parts += [_block(block) for block in section.blocks]
        parts.append("</section>")
    return "\n".join([*parts, "</body></html>", ""])


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return f'<p class="{block.kind}">{html.escape(block.words)}</p>'
    if isinstance(block, Grid):
        return _grid(block)
    from plotly.io import to_html

    drawn = to_html(block.figure, full_html=False, include_plotlyjs=False, config=CONFIG, div_id=f"figure-{block.name}")
    return f"<figure>{drawn}<figcaption>{html.escape(block.caption)}</figcaption></figure>"


def _grid(grid: Grid) -> str:
    words = [i for i, name in enumerate(grid.header or ("", "")) if not name]

    def line(cells: Sequence[str], tag: str, group: str = "") -> str:
        shown = (f"<{tag}{' class=words' * (i in words)}>{html.escape(cell)}</{tag}>" for i, cell in enumerate(cells))
        return f"<tr{group}>{''.join(shown)}</tr>"

    head = f"<thead>{line(grid.header, 'th')}</thead>" if grid.header else ""
    rows = "\n".join(line(row, "td", ' class="first"' if row[0] else "") for row in grid.grouped())
    return f'<div class="scroll"><table>{head}<tbody>\n{rows}\n</tbody></table></div>'


def _plotly_js() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def write_report(folder: Path, title: str, sections: Sequence[Section]) -> Path:
    """Write report.html, and each figure as a page of its own under figures/."""
    path = folder / "report.html"
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        path.write_text(render(title, sections), encoding="utf-8")
        for section in sections:
            for block in section.blocks:
                if isinstance(block, Picture):
                    target = folder / "figures" / f"{block.name}.html"
                    block.figure.write_html(target, include_plotlyjs="directory", config=CONFIG)
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written ({error.strerror})") from None
    return path
