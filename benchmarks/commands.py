"""Processor time of short commands, medians of n: with --against INTERPRETER beside those of another installation, interleaved.

python benchmarks/commands.py [--times 10] [--against ../other/.venv/bin/python]
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
CLEAN = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "GOBETWEEN_JIT")}
GOBETWEEN = ("-m", "gobetween")
#: Label → arguments of the interpreter, in the folder of a study; # is the number of the round.
COMMANDS: dict[str, tuple[str, ...]] = {
    "import gobetween": ("-c", "import gobetween"),
    "gobetween.Client": ("-c", "import gobetween; gobetween.Client"),
    "--version": (*GOBETWEEN, "--version"),
    "--help": (*GOBETWEEN, "--help"),
    "ask": (*GOBETWEEN, "ask"),
    "tell": (*GOBETWEEN, "tell", "#", "--arm", "letter", "--reward", "1"),
    "status": (*GOBETWEEN, "status"),
    "plan experiment1.toml": (*GOBETWEEN, "plan", str(EXAMPLES / "experiment1.toml")),
    "plan clinics.toml": (*GOBETWEEN, "plan", str(EXAMPLES / "clinics.toml")),
    "logs analyse log.csv": (*GOBETWEEN, "logs", "analyse", str(EXAMPLES / "log.csv")),
}


def computing(folder: Path, *command: str) -> float:
    """User and system time of a process."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=CLEAN, stdout=subprocess.DEVNULL, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(folders: dict[str, Path], times: int) -> dict[str, list[float]]:
    """Label → the median of each interpreter; a first round, which writes bytecode, is not counted."""
    found: dict[str, list[list[float]]] = {label: [[] for _ in folders] for label in COMMANDS}
    for i in range(times + 1):
        for label, arguments in COMMANDS.items():
            for (python, folder), taken in zip(folders.items(), found[label], strict=True):
                taken.append(computing(folder, python, *(str(i) if part == "#" else part for part in arguments)))
    return {label: [median(taken[1:]) for taken in columns] for label, columns in found.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--times", type=int, default=10)
    options.add_argument("--against", metavar="INTERPRETER", action="append", default=[])
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as top:
        pythons = [sys.executable, *(str(Path(other).absolute()) for other in given.against)]
        folders = {python: Path(top) / str(i) for i, python in enumerate(pythons)}
        for python, folder in folders.items():
            folder.mkdir()
            computing(folder, python, *GOBETWEEN, "init")
        print(f"processor time, medians of {given.times}; load of the machine {os.getloadavg()[0]:.1f}")
        for label, (ours, *others) in measured(folders, given.times).items():
            print(f"{label:24}{ours:6.3f} s", *(f", against {other:.3f} s: {ours / other:.2f} ×" for other in others), sep="")


if __name__ == "__main__":
    main()
