"""`make mutants`: do the tests have teeth? Each small fault of tests/mutants.toml is put into a copy of the package, and its tests
must fail there. Not in CI: it takes minutes, and says something of the tests, not of the package.

    python tests/mutants.py [WORD …]     only the mutants whose name or file holds one of these words

Exit status 1 when one survives, or cannot be put in because its line has changed: then say it anew in mutants.toml.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "gobetween"
PASSED, FAILED = 0, 1  # how pytest ends; anything else is no verdict


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
        text = (PACKAGE / self.file).read_text(encoding="utf-8")
        if text.count(self.old) != 1 or self.old == self.new:
            raise LookupError(f"{self.name}: {self.file} holds {self.old!r} {text.count(self.old)} times, not once")
        return text.replace(self.old, self.new)


def read(path: Path = TESTS / "mutants.toml") -> list[Mutant]:
    """All mutants."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**row | {"tests": tuple(row["tests"])}) for row in rows]


def ended(folder: Path, tests: tuple[str, ...], jit: bool) -> tuple[int, str]:
    """How pytest ends on some tests with the package in a folder, and the end of what it says."""
    where: Mapping[str, str] = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    quick: Mapping[str, str] = {} if jit else {"GOBETWEEN_JIT": "off"}
    command = [sys.executable, "-m", "pytest", "-x", "--no-header", "--durations=0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *(f"tests/{test}" for test in tests)],
        cwd=TESTS.parent, env={**os.environ, **where, **quick}, capture_output=True, text=True,
    )  # fmt: skip
    return done.returncode, "\n".join((done.stdout + done.stderr).splitlines()[-30:])


def copy(folder: Path) -> Path:
    """The package in a folder, to be imported from there."""
    shutil.copytree(PACKAGE, folder / "gobetween", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def verdict(mutant: Mutant) -> str:
    """Empty if the mutant dies, else what is wrong."""
    with tempfile.TemporaryDirectory() as made:
        folder = copy(Path(made))
        (folder / "gobetween" / mutant.file).write_text(mutant.written(), encoding="utf-8")
        status, said = ended(folder, mutant.tests, mutant.jit)
    if status == FAILED:
        return ""
    return f"survives: {', '.join(mutant.tests)}" if status == PASSED else f"its tests cannot be run:\n{said}"


def sound(mutants: list[Mutant]) -> str:
    """Empty if all tests pass without any fault, in a copy that is really what they import, else what is wrong."""
    with tempfile.TemporaryDirectory() as made:
        folder = copy(Path(made))
        where = [sys.executable, "-c", "import gobetween; print(gobetween.__file__)"]
        found = subprocess.run(where, env={**os.environ, "PYTHONPATH": made}, capture_output=True, text=True).stdout
        if Path(found.strip()).resolve() != (folder / "gobetween" / "__init__.py").resolve():
            return f"the copy is not what is imported, but {found.strip()}"
        for jit in sorted({mutant.jit for mutant in mutants}):
            tests = tuple(dict.fromkeys(test for mutant in mutants if mutant.jit == jit for test in mutant.tests))
            status, said = ended(folder, tests, jit)
            if status != PASSED:
                return f"tests fail without any fault:\n{said}"
    return ""


def main(words: list[str]) -> int:
    """Try all, or those that some words name; say which survive."""
    mutants = [mutant for mutant in read() if not words or any(word in f"{mutant.name} {mutant.file}" for word in words)]
    for mutant in mutants:
        mutant.written()
    wrong = sound(mutants)
    if wrong:
        print(wrong)
        return 1
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(mutants, pool.map(verdict, mutants), strict=True))
    left = {mutant: said for mutant, said in found.items() if said}
    for mutant, said in left.items():
        print(f"{mutant.name} ({mutant.file}) {said}")
    print(f"{len(mutants) - len(left)} of {len(mutants)} mutants die")
    return 1 if left or not mutants else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
