"""Which tests `make quick` runs: all but those that reach for another process or a server, and those that took long.

What a test needs is read off its code: the names that it and the functions it calls in these files use, its fixtures and its
parameters. So a new test is quick unless it needs something, and nobody has to mark it.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from records import recorded

FOLDER = Path(__file__).parent
#: Names that stand for something outside this process, or for rules and families that every process compiles anew.
OUTSIDE = {"postgres", "browser_page", "subprocess", "Popen", "fork", "dask", "processes", "open_executor", "Machine"}
OUTSIDE |= {"own_rules", "register", "running", "serving", "kill_servers"}


def is_quick(item: pytest.Function) -> bool:
    """Needs nothing outside this process and little time?"""
    place = item.path.relative_to(FOLDER).as_posix()
    values = getattr(getattr(item, "callspec", None), "params", {}).values()
    said = {word for value in values if isinstance(value, str) for word in re.findall(r"\w+", value)}
    slow = f"{place}::{item.originalname}" in recorded()["long"]
    return not slow and not OUTSIDE & {*item.fixturenames, *said, *names(item)}


def names(item: pytest.Function) -> set[str]:
    """All names that a test and its fixtures use."""
    inner = getattr(getattr(item.function, "hypothesis", None), "inner_test", item.function)
    fixtures = [fixture.func for found in item._fixtureinfo.name2fixturedefs.values() for fixture in found]
    return {name for function in (inner, *fixtures) for name in used_by(inspect.unwrap(function))}


def used_by(function: object, seen: frozenset[object] = frozenset()) -> Iterator[str]:
    """The names in a function of these files, and in those that it calls."""
    if not isinstance(function, FunctionType) or function in seen or FOLDER not in Path(function.__code__.co_filename).parents:
        return
    for name in _used(function.__code__):
        yield name
        yield from used_by(function.__globals__.get(name), seen | {function})


def _used(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _used(constant)
