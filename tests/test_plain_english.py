"""Expressions that people stumbled over may not come back into what they read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "gobetween"
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
    "whenever one looks": "valid at any time",
    "not the chance that": "not the probability that",
    "of 10 resamples": "80% range",
    "superfluous": "every mediator can be useful",
    "At most so many": "query limit",
    "shown only when it is new": "renew it to see a link again",
    "another place may not": "cross-origin request refused",
    "something went wrong here": "internal error; see the server log",
    "not known by this name": "unknown host name",
    "a page of yours": "this form has expired; reload the page",
    "taken from afar": "commands cannot be set over HTTP",
    "takes that over": "your edits take effect at the next ask or tell",
    "took over": "updated lease",
    "worthless": "revoked",
    "otherwise of": "declares 'North' differently",
    "is sound": "is valid",
    "answered unasked": "answered without being asked",
    "not unasked|as unasked": "not requested",
    "asks? [^.]* no more|asked no more": "stop asking",
    "is declared of": "North's policy is already declared so",
    "is no (path|arm|number|study file|condition|pair)": "is not a path",
    "acts? by its declared": "follows its declared policy",
    "still out": "open queries",
    "that was found, the": "the study found this and was reopened",
    "that many the verdict took": "answers until the verdict",
    "does not choose as": "deviates from its declared policy",
    "as often more than": "median and 80% range",
    "is shown only when": "renew it to see a link again",
    "asks on": "keep asking",
    "are as many as": "this many answers can detect a gap of 0.30",
    "of what it is": "lowers the cost by 14%",
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


def documented() -> list[str]:
    """What docs/api.md says of public names, and the help of every command."""
    import click

    from gobetween.cli import gobetween

    def helps(command: click.Command, name: str) -> Iterator[str]:
        with click.Context(command, info_name=name) as context:
            yield from command.get_help(context).splitlines()
            if isinstance(command, click.Group):
                for one in command.list_commands(context):
                    yield from helps(command.get_command(context, one) or command, one)

    return [*(ROOT / "docs" / "api.md").read_text(encoding="utf-8").splitlines(), *helps(gobetween, "gobetween")]


def test_docstrings_of_public_names_and_help_are_plain_too() -> None:
    lines = documented()
    assert any("Record an answer" in line for line in lines)
    assert [line for line in lines if OLD.search(line)] == []


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


def test_the_glossary_has_the_terms_that_pages_use() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = " ".join(re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE))
    used = (
        "arm",
        "mediator",
        "policy",
        "reward",
        "risk",
        "evidence",
        "p-value",
        "lease",
        "verdict",
        "recommended",
        "ruled out",
    )
    for term in (*used, "under review", "drift", "confounding", "detectable", "missing answers", "guess", "80% range"):
        assert term in terms, term
    assert not OLD.search(text), OLD.search(text)
