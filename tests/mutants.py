"""`make mutants`: do the tests have teeth? Each small fault of tests/mutants.toml is put into a copy of the package, and its tests
must fail there. Not in CI: it takes minutes, and says something of the tests, not of the package.

    python tests/mutants.py [WORD …]     only the mutants whose name or file holds one of these words

Each fault has a process of its own, forked from this one, which has imported what all tests need. What came of it is printed at once.
Exit status 1 when one survives, or cannot be put in because its line has changed: then say it anew in mutants.toml.
"""

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "gobetween"
LIMIT = 300.0  # seconds that the tests of one mutant may take: one that makes them hang is noticed
BESIDE = os.cpu_count() or 1
SHARED = ("numpy", "scipy.optimize", "sqlalchemy", "alembic", "pydantic")  # what tests import, but for the package and plugins
PASSED, FAILED, HUNG, ELSEWHERE = 0, 1, -int(signal.SIGKILL), 90  # how tests end; anything else is no verdict


@dataclass(frozen=True)
class Mutant:
    """A fault: `old` becomes `new` in a file of the package, and one of the tests must notice."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    jit: bool = False
    """Do its tests need compiled code? Slow: the copy is compiled anew."""

    def written(self) -> str:
        """The file with the fault in it; refuses a text that is not there exactly once."""
        path = PACKAGE / self.file
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if text.count(self.old) != 1 or self.old == self.new:
            raise LookupError(f"{self.name}: {self.file} holds {self.old!r} {text.count(self.old)} times, not once")
        return text.replace(self.old, self.new)


def read(path: Path = TESTS / "mutants.toml") -> list[Mutant]:
    """All mutants."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**row | {"tests": tuple(row["tests"])}) for row in rows]


class Run:
    """Some tests in a process of their own, with a copy of the package that may hold a fault."""

    def __init__(self, tests: Sequence[str], jit: bool, mutant: Mutant | None = None, limit: float = LIMIT) -> None:
        self.mutant, self.since, self.limit = mutant, time.monotonic(), limit
        self.folder = Path(tempfile.mkdtemp(prefix="gobetween-mutant-"))
        shutil.copytree(PACKAGE, self.folder / "gobetween")  # with what Python compiled of it
        if mutant is not None:
            (self.folder / "gobetween" / mutant.file).write_text(mutant.written(), encoding="utf-8")
            for old in (self.folder / "gobetween" / mutant.file).parent.glob(f"__pycache__/{Path(mutant.file).stem}.*"):
                old.unlink()
        self.process: ForkProcess = multiprocessing.get_context("fork").Process(target=_tested, args=(self.folder, tests, jit))
        self.process.start()

    def ended(self) -> bool:
        """Is it over? It is ended when its time is up."""
        if self.process.is_alive() and time.monotonic() - self.since > self.limit:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid or 0, signal.SIGKILL)
            self.process.join()
        return not self.process.is_alive()

    def close(self) -> tuple[int, str]:
        """How the tests ended, and the end of what they said."""
        self.process.join()
        said = "\n".join((self.folder / "said").read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
        shutil.rmtree(self.folder, ignore_errors=True)
        return self.process.exitcode or 0, said


def _tested(folder: Path, tests: Sequence[str], jit: bool) -> None:
    """In a process of its own: pytest, with the package in this folder."""
    os.setsid()
    said = os.open(folder / "said", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(said, stream)
    os.environ |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"} | ({} if jit else {"GOBETWEEN_JIT": "off"})
    os.chdir(TESTS.parent)
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder))
    if not str(import_module("gobetween").__file__).startswith(str(folder)):
        sys.exit(ELSEWHERE)
    options = ["-x", "--no-header", "--durations=0", "-p", "no:cacheprovider"]
    status = ELSEWHERE + 1  # for what is raised
    try:
        status = int(pytest.main([*options, *(f"tests/{test}" for test in tests)]))
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def verdict(status: int, said: str) -> tuple[bool, str]:
    """Does it die, and in words what came of it?"""
    if status in (FAILED, HUNG):
        return True, "dies" if status == FAILED else f"dies: its tests do not end within {LIMIT:g} s"
    return False, "SURVIVES" if status == PASSED else f"its tests cannot be run:\n{said}"


def tried(mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, bool, str]]:
    """Each mutant with what came of it, as they come; some at a time."""
    left, running = list(reversed(mutants)), list[Run]()
    try:
        while left or running:
            while left and len(running) < BESIDE:
                mutant = left.pop()
                running.append(Run(mutant.tests, mutant.jit, mutant))
            wait([run.process.sentinel for run in running], timeout=1.0)
            for run in [run for run in running if run.ended()]:
                running.remove(run)
                assert run.mutant is not None
                took = time.monotonic() - run.since
                dies, words = verdict(*run.close())
                yield run.mutant, dies, f"{took:4.0f} s  {run.mutant.name} ({run.mutant.file}): {words}"
    finally:
        for run in running:
            run.limit = 0.0
            run.ended()
            run.close()


def sound(mutants: Sequence[Mutant]) -> str:
    """Empty if all tests pass without any fault, in a copy that is really what they import, else what is wrong."""
    for jit in sorted({mutant.jit for mutant in mutants}):
        tests = list(dict.fromkeys(test for mutant in mutants if mutant.jit == jit for test in mutant.tests))
        run = Run(tests, jit, limit=LIMIT * len(tests))
        while not run.ended():
            wait([run.process.sentinel], timeout=1.0)
        status, said = run.close()
        if status != PASSED:
            return "the copy is not what is imported" if status == ELSEWHERE else f"tests fail without any fault:\n{said}"
    return ""


def main(words: list[str]) -> int:
    """Try all, or those that some words name; say which survive."""
    mutants = [mutant for mutant in read() if not words or any(word in f"{mutant.name} {mutant.file}" for word in words)]
    try:
        for mutant in mutants:
            mutant.written()
    except LookupError as error:
        print(error)
        return 1
    for name in SHARED:
        import_module(name)
    wrong = sound(mutants)
    if wrong:
        print(wrong)
        return 1
    died = 0
    for _, dies, words_of_it in tried(mutants):
        died += dies
        print(words_of_it, flush=True)
    print(f"{died} of {len(mutants)} mutants die")
    return 1 if died < len(mutants) or not mutants else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
