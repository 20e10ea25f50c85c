"""Expressions that people stumbled over may not come back into what they read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "gobetween"
#: What it was, and how it is said now.
BETTER = {
    "times of 10": "80% range: 83–890; 90% likely at least 740",
    "to be expected": "expect about 410 more queries",
    "acts otherwise": "deviates from its declared policy",
    "speaks for it": "is evidence for it",
    "spoken against": "gone against",
    "brings the verdict": "settles it",
    "are off": "are biased; cost more queries",
    "whoever": "the person who; its operator",
    "nobody": "no mediator; unknown",
    "anew": "again",
    "all the same": "anyway; keep asking",
    "for good": "permanently",
    "likewise": "the same holds for",
    "be claimed": "was already certain at row 439",
    "no arm is named": "no recommendation",
    "would have shown": "detectable: 0.52 or more",
    "must be said": "specify",
    "on the way": "over time",
    "certainly not the best": "ruled out",
    "came of it": "what happened",
}
OLD = re.compile("|".join(rf"\b{words}\b" for words in BETTER), re.IGNORECASE)


def texts(path: Path) -> Iterator[str]:
    """What a file can show people: its strings that are not docstrings, or all of it if it is no Python."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from text.splitlines()
        return
    tree = ast.parse(text)
    apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.value


def test_old_expressions_are_found(tmp_path: Path) -> None:
    file = tmp_path / "words.py"
    file.write_text('"""Nobody."""\nsaid = f"{1} more query is to be expected"\n', encoding="utf-8")
    assert [text for text in texts(file) if OLD.search(text)] == [" more query is to be expected"]


@pytest.mark.parametrize(
    "path",
    sorted(path for kind in ("py", "html", "js") for path in SOURCE.rglob(f"*.{kind}")),
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_no_old_expression_comes_back(path: Path) -> None:
    assert [text for text in texts(path) if OLD.search(text)] == []
