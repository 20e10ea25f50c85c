"""Pages from templates (Jinja2): every string is shown as it is, unless it is markup that was made here."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gobetween.errors import GoBetweenError
from gobetween.words.numbers import exact

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent / "templates"


@cache
def environment() -> "Environment":
    """The templates that lie beside this file."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise GoBetweenError("pages need jinja2: pip install 'gobetween[plots]'") from None
    made = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters["exact"] = exact
    made.filters["upper_first"] = lambda text: f"{text[:1].upper()}{text[1:]}"
    return made


def filled(template: str, **values: Any) -> str:
    """A template with its values."""
    return environment().get_template(template).render(values)


def asset(name: str) -> str:
    """A file that goes into pages as it is, such as the one style sheet."""
    return (FOLDER / name).read_text(encoding="utf-8")
