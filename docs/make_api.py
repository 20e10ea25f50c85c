"""Writes docs/api.md, the reference of every public name, from the sources: signatures, docstrings, fields and methods.

`make api` runs it; a test fails when the page is stale, and another runs every example on it.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
PACKAGE = DOCS.parent / "src" / "gobetween"
HEAD = """# Reference

Written by `make api` from the docstrings; a test keeps it true and runs every example, from top to bottom:
`GOBETWEEN_JIT=off python -m doctest docs/api.md`. All of them begin with

```pycon
>>> import gobetween as gb

```
"""
Function = ast.FunctionDef
Named = ast.ClassDef | ast.FunctionDef


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for room, names in by_room().items():
        parts.append(f"\n## {room}\n\n{_text(_room_words(room))}\n")
        parts += [_entry(module, name) for module, name in names]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def by_room() -> dict[str, list[tuple[str, str]]]:
    """Room → (module, public name), in the order of `__init__.pyi`; the contract suite comes last."""
    found: dict[str, list[tuple[str, str]]] = {}
    lines = (PACKAGE / "__init__.pyi").read_text(encoding="utf-8")
    for module, name in re.findall(r"^from gobetween\.(\S+) import \w+ as (\w+)$", lines, re.MULTILINE):
        found.setdefault(module.split(".")[0], []).append((module, name))
    found["testing"] = [("testing", name) for name in ("check_family", "check_sampling", "check_stopping")]
    return found


def _source(module: str) -> Path:
    path = PACKAGE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _room_words(room: str) -> str:
    return ast.get_docstring(ast.parse(_source(room).read_text(encoding="utf-8"))) or ""


def _entry(module: str, name: str) -> str:
    """One public name."""
    path = _source(module)
    lines = path.read_text(encoding="utf-8").splitlines()
    node = next(n for n in ast.parse("\n".join(lines)).body if isinstance(n, Named) and n.name == name)
    place = path.relative_to(PACKAGE)
    head = f"### {'' if module == 'testing' else 'gb.'}{name}\n\nin [{place}](../src/gobetween/{place})\n"
    parts = [head, *_call(node), _text(ast.get_docstring(node) or ""), ""]
    if isinstance(node, ast.ClassDef):
        verbs = _verbs() if any(ast.unparse(base) == "Commands" for base in node.bases) else ()
        parts += [_bullet(words, text) for words, text in [*_fields(node, lines), *verbs, *_methods(node)]]
    return "\n".join(parts) + "\n"


def _call(node: Named) -> Iterator[str]:
    """How it is called: a function's signature, or that of the class's constructor where it has one of its own."""
    made = {item.name: item for item in node.body if isinstance(item, Function)}
    call = node if isinstance(node, Function) else made.get("__init__") or made.get("__new__")
    if call is not None:
        yield f"```py\n{_signature(call, node.name, isinstance(node, Function))}\n```\n"


def _fields(node: ast.ClassDef, lines: list[str]) -> Iterator[tuple[str, str]]:
    """Public fields with the docstring under them, or with the comment behind them."""
    for item, after in zip(node.body, [*node.body[1:], ast.Pass()], strict=True):
        if not isinstance(item, ast.AnnAssign) or not isinstance(item.target, ast.Name) or item.target.id.startswith("_"):
            continue
        value = "" if item.value is None else f" = {ast.unparse(item.value)}"
        told = _string(after) or lines[item.lineno - 1].partition("  # ")[2]
        yield f"{item.target.id}: {_type(item.annotation)}{value}", told


def _string(node: ast.stmt) -> str:
    constant = node.value if isinstance(node, ast.Expr) else None
    return constant.value if isinstance(constant, ast.Constant) and isinstance(constant.value, str) else ""


def _methods(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Public methods and properties that say what they do."""
    for item in node.body:
        if not isinstance(item, Function) or item.name.startswith("_") or not ast.get_docstring(item):
            continue
        marks = {ast.unparse(mark) for mark in item.decorator_list}
        if "overload" in marks:
            continue
        if "property" in marks:
            yield f"{item.name}: {_type(item.returns)}", ast.get_docstring(item) or ""
        else:
            owner = f"{node.name}." if "classmethod" in marks else ""
            yield _signature(item, owner + item.name, True), ast.get_docstring(item) or ""


def _verbs() -> Iterator[tuple[str, str]]:
    """The verbs of a study, which are methods of whatever does them."""
    from gobetween.study.commands import verbs

    for word in verbs.VERBS:
        method = getattr(verbs.Commands, word.replace("-", "_"))
        told = str(inspect.signature(method)).replace("(self, /, ", "(").replace("(self, /)", "()")
        plain = re.sub(r"gobetween\.[\w.]+\.(\w+)", r"\1", told.replace(str(verbs.Policy), "Policy"))
        yield f"{method.__name__}{plain}", inspect.getdoc(method) or ""


def _signature(function: Function, name: str, returns: bool) -> str:
    """As it is written, without self; over several lines where it is long."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    shown = [_argument(arg, value) for arg, value in zip(positional, defaults, strict=True) if arg.arg not in ("self", "cls")]
    if args.vararg is not None:
        shown.append(f"*{_argument(args.vararg, None)}")
    elif args.kwonlyargs:
        shown.append("*")
    shown += [_argument(arg, value) for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    if args.kwarg is not None:
        shown.append(f"**{_argument(args.kwarg, None)}")
    end = f" -> {_type(function.returns)}" if returns else ""
    line = f"{name}({', '.join(shown)}){end}"
    return line if len(line) <= 110 else f"{name}(\n    " + ",\n    ".join(shown) + f",\n){end}"


def _argument(arg: ast.arg, default: ast.expr | None) -> str:
    value = "" if default is None else f" = {ast.unparse(default)}"
    return f"{arg.arg}: {_type(arg.annotation)}{value}" if arg.annotation is not None else f"{arg.arg}{value}"


def _type(annotation: ast.expr | None) -> str:
    """A type as written, forward references without their quotes."""
    return "" if annotation is None else re.sub(r"'([^']*)'", r"\1", ast.unparse(annotation))


def _bullet(words: str, text: str) -> str:
    """A field or method; a long signature on one line all the same, which is code and does not wrap badly."""
    line = re.sub(r"\(\s+", "(", re.sub(r",\s+\)", ")", re.sub(r"\s*\n\s*", " ", words)))
    told = _text(" ".join(text.split()) if ">>>" not in text and "\n\n" not in text else text)
    return f"- `{line}`" + (f"\n\n{_indented(told)}\n" if "\n" in told else f": {told}" if told else "")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in text.splitlines())


def _text(docstring: str) -> str:
    """A docstring as Markdown: examples stand in fences of their own (the blank line ends what doctest expects)."""
    blocks = re.split(r"\n\s*\n", docstring.strip())
    fenced = [f"```pycon\n{block}\n\n```" if block.lstrip().startswith(">>>") else block for block in blocks]
    return "\n\n".join(fenced)


if __name__ == "__main__":
    (DOCS / "api.md").write_text(page(), encoding="utf-8")
