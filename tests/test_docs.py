"""Every Python snippet in README and docs runs, says what its comments say, and every name in the notation exists."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from launcher import gobetween

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def snippets(language: str) -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        blocks = re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        found += [(f"{page.name}-{i}", block) for i, block in enumerate(blocks)]
    return found


@pytest.mark.parametrize(("name", "code"), snippets("python"), ids=[name for name, _ in snippets("python")])
def test_python_snippets_run_and_print_what_they_say(name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    printed = apart(code) if name.startswith("extending") else here(code)
    said = [line.split("#")[1].strip() for line in code.splitlines() if line.strip().startswith("print(") and "#" in line]
    for line, comment in zip(printed.splitlines(), said, strict=False):
        assert comment.startswith(line)


def here(code: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "snippet", "exec"), {})
    return printed.getvalue()


def apart(code: str) -> str:
    """In a process of its own: it registers rules. Uncompiled, for tests/core/test_own_rules.py compiles such rules."""
    env = os.environ | {"GOBETWEEN_JIT": "off"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("text", [text for _, text in snippets("toml")], ids=[name for name, _ in snippets("toml")])
def test_toml_snippets_are_read(text: str, tmp_path: Path) -> None:
    from gobetween.files.problem import read_spec

    (tmp_path / "snippet.toml").write_text(text, encoding="utf-8")
    assert read_spec(tmp_path / "snippet.toml").problem.K >= 2


def commands(text: str) -> list[list[str]]:
    """The gobetween commands of a shell snippet; a line with brackets shows what may be said, and is not run."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return [shlex.split(line)[1:] for line in lines if re.match(r"(\.venv/bin/)?gobetween ", line) and "[" not in line]


def test_shell_snippets_run_from_top_to_bottom(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for page in (ROOT / "README.md", ROOT / "docs" / "live.md"):
        folder = tmp_path / page.stem
        folder.mkdir()
        (folder / "examples").symlink_to(ROOT / "examples")
        for name, text in snippets("toml"):
            if name.startswith(page.name):
                (folder / text.splitlines()[0].lstrip("# ")).write_text(text, encoding="utf-8")
        found = [command for name, text in snippets("sh") if name.startswith(page.name) for command in commands(text)]
        assert len(found) >= 4
        for command in found:
            done = gobetween(folder, *command)
            assert done.returncode == 0, (command, done.stderr)


@pytest.mark.parametrize("page", ["notation.md", "paper.md"])
def test_every_name_in_the_notation_exists(page: str) -> None:
    names = re.findall(r"`(gobetween\.[\w.]+)`", (ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert len(names) > 15
    for name in names:
        assert exists(name), name


def test_every_test_that_is_named_exists() -> None:
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(named) > 25
    assert len(named) == text.count("::") - 1  # the one that says how they are named
    for file, test in named:
        assert re.search(rf"^def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), (file, test)


def exists(name: str) -> bool:
    parts = name.split(".")
    thing: object = import_module("gobetween")
    for i, part in enumerate(parts[1:], start=1):
        kinds = thing.__mro__ if isinstance(thing, type) else ()
        owner_fields = {field for kind in kinds for field in getattr(kind, "__annotations__", {})}
        if hasattr(thing, part):
            thing = getattr(thing, part)
        elif part in owner_fields:
            return i == len(parts) - 1
        else:
            thing = import_module(".".join(parts[: i + 1]))
    return True


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
        assert links or page.name not in ("README.md", "CONTRIBUTING.md")
        for link in links:
            assert (page.parent / link).exists(), f"{page.name}: {link}"


SOURCE = ROOT / "src" / "gobetween"
FILES = {path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if "migrations" not in path.parts}


def test_every_file_that_is_named_exists() -> None:
    """From the picture to the file in one hop: places are named from the package or from the root."""
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        places = set(re.findall(r"(?<![\w/.])([a-z]+(?:/\w+)*/\w+\.py)\b", page.read_text(encoding="utf-8")))
        assert places or page.name not in ("README.md", "CONTRIBUTING.md")
        for place in places:
            assert (ROOT / place).exists() or (SOURCE / place).exists(), f"{page.name}: {place}"


def test_every_file_that_is_named_in_the_sources_exists() -> None:
    """In docstrings and comments as by the end of their place; those of a folder in its `__init__` by their name alone."""
    ends = {"/".join(file.parts[-n:]) for file in FILES for n in range(1, len(file.parts) + 1)}
    for file in FILES:
        text = (SOURCE / file).read_text(encoding="utf-8")
        for place in re.findall(r"(?<![\w/.<-])((?:[a-z_]+/)*\w+\.py)\b", text):
            assert place in ends or (ROOT / place).exists(), f"{file}: {place}"
        beside = {path.stem for path in (SOURCE / file).parent.iterdir()}
        for name in re.findall(r"`(\w+)`", text.split('"""')[1]) if file.name == "__init__.py" and len(file.parts) > 1 else ():
            assert name in beside, f"{file}: {name}"


def test_the_map_has_every_file_and_only_files_that_exist() -> None:
    room, part, named = "", "", set[Path]()
    rows = (ROOT / "README.md").read_text(encoding="utf-8").split("## How it fits together")[1].split("```")[3].strip("\n")
    for row in rows.splitlines():
        room, part = row[:12].strip() or room, row[12:24].strip() or part
        named |= {Path(room, part, f"{name}.py") for name in row[24:].rstrip(",").split(", ")}
    assert named == {file for file in FILES if len(file.parts) > 1 and file.name != "__init__.py"}


def test_the_first_screen_shows_the_two_commands() -> None:
    first_screen = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:24])
    assert "make run" in first_screen
    assert "make test" in first_screen
