"""Reports to keep and to mail: one file with text, tables and drawings, which opens offline and asks the network for nothing.

Light or dark is the reader's choice; it prints on A4.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gobetween.errors import ResultsError
from gobetween.files.output import replacing
from gobetween.pages.blocks import Block, Picture, Section
from gobetween.pages.drawing import drawn
from gobetween.pages.templates import asset, filled

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def render(title: str, sections: Sequence[Section], page: Any = None, back: str = "") -> str:
    """The whole page as HTML; every string is shown as it is, never read as markup. `page`: of a study, above the sections;
    `back`: where that page is live.
    """
    from markupsafe import Markup

    shown = [replace(section, blocks=list(map(_drawn, section.blocks))) for section in sections]
    style = Markup(asset("style.css"))
    return filled("report.html", title=title, sections=shown, page=page, back=back, policy=POLICY, style=style)


def _drawn(block: Block) -> Block:
    """A chart as what stands on the page."""
    if not isinstance(block, Picture) or hasattr(block.figure, "__html__"):
        return block
    return replace(block, figure=drawn(block.figure), title=block.title or block.figure.title)


def write_report(folder: Path, title: str, sections: Sequence[Section], page: Any = None) -> Path:
    """Write report.html, all in one file; what was laid into its folder to lead elsewhere is not followed."""
    path, text = folder / "report.html", render(title, sections, page)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ResultsError(f"{path}: leads out of {folder}: remove it")
        with replacing(path, 0o600) as part:  # it may name people and how to reach them
            part.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written ({error.strerror})") from None
    return path
