"""The small faults of `make mutants` can be put in, and the tests that must notice them are there; whether they do, it says itself."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

from mutants import TESTS, Mutant, read, verdict


@cache
def names_in(path: Path) -> set[str]:
    """The tests of a file."""
    return {node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)}


def wrong(mutant: Mutant) -> list[str]:
    """Why it cannot be tried."""
    found = []
    try:
        ast.parse(mutant.written())
    except (LookupError, SyntaxError) as error:
        found.append(f"{mutant.name}: {error}")
    for test in mutant.tests:
        file, _, name = test.partition("::")
        if not (TESTS / file).is_file() or (name and name.partition("[")[0] not in names_in(TESTS / file)):
            found.append(f"{mutant.name}: there is no {test}")
    return found


def test_each_fault_can_be_put_in_and_its_tests_are_there() -> None:
    mutants = read()
    assert len(mutants) > 100
    assert [line for mutant in mutants for line in wrong(mutant)] == []
    assert [name for name, times in Counter(mutant.name for mutant in mutants).items() if times > 1] == []


def test_what_has_changed_is_said() -> None:
    first = read()[0]
    gone = Mutant("gone", first.file, "not in the file", "x", ("nowhere/test_it.py", "test_mutants.py::test_nothing"))
    no_text, no_file, no_test = wrong(gone)
    assert "holds 'not in the file' 0 times, not once" in no_text
    assert no_file == "gone: there is no nowhere/test_it.py"
    assert no_test == "gone: there is no test_mutants.py::test_nothing"


def test_only_a_failed_test_kills() -> None:
    """What cannot be imported, collected or found is no verdict."""
    assert [verdict(status, "")[0] for status in (0, 1, 2, 3, 4, 5, 90, 91, -9)] == [False, True, *[False] * 6, True]
