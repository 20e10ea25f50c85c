"""Every door has a limit: what is named is refused in one sentence, soon and in little memory, whatever it is.

The real command runs in a process of its own that may hold no more than MEMORY and is ended after SECONDS.
"""

import contextlib
import gzip
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ARMS = '[[arms]]\nname = "a"\nmean = 0.6\n[[arms]]\nname = "b"\nmean = 0.2\n[[mediators]]\nname = "m"\npolicy = [0.5, 0.5]\n'
MEMORY, SECONDS = 2 << 30, 120  # bytes of address space; a machine may have other things to do
LOG = ("logs", "analyse")
REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "a device as a problem": (("plan", "/dev/zero"), "/dev/zero: is a device: name a file"),
    "a pipe as a problem": (("plan", "pipe"), "pipe: is a pipe, which may never end: write what comes from it into a file"),
    "a socket as a problem": (("plan", "socket"), "socket: is a socket: name a file"),
    "a folder as a problem": (("plan", "folder"), "folder: is a folder: name a file in it"),
    "many arms": (("plan", "arms.toml"), "arms.toml: 60,000 arms and 0 mediators are too many: at most 25,000,000 pairs"),
    "many mediators": (("plan", "mediators.toml"), "6,000 mediators are too many to compare each with all others"),
    **{
        f"a pipe as a store: {words[0]}": ((*words, "--study", "pipe"), "pipe: is a pipe, which may never end")
        for words in (("status",), ("ask",), ("doctor",), ("backup", "new.sqlite"), ("token", "list"))
    },
    "a pipe as a backup": (("restore", "pipe", "--study", "s.sqlite"), "pipe: is a pipe, which may never end"),
    "a pipe as results": (("experiment", "export", "pipe", "--csv", "-"), "pipe: is a pipe, which may never end"),
    "a socket as a store": (("status", "--study", "socket"), "socket: is a socket: name a file"),
    "runs without an end": (
        ("simulate", "s.toml", "--runs", "1000000000000"),
        "1,000,000,000,000: are too many at once: at most 11,111,111 here",
    ),
    "replays without an end": (
        ("logs", "replay", "good.csv", "--runs", "1000000000000"),
        "are too many at once: at most 100,000,000 here",
    ),
    "a pipe as answers": (("tell", "--csv", "pipe", "--study", "s.toml"), "pipe: is a pipe, which may never end"),
    "a device as answers": (("tell", "--csv", "/dev/zero", "--study", "s.toml"), "/dev/zero: is a device: name a file"),
    "a pipe as names": ((*LOG, "good.csv", "--map", "pipe"), "pipe: is a pipe, which may never end"),
    "a pipe to write to": ((*LOG, "good.csv", "--csv", "pipe"), "--csv pipe: cannot be written (No such device or address)"),
    "a pipe as a log": ((*LOG, "pipe.csv"), "pipe.csv: is a pipe, which may never end"),
    "zeros, packed": ((*LOG, "zeros.csv.gz"), "zeros.csv.gz: holds NUL, as text in UTF-16 does; name the encoding"),
    "one long line, packed": ((*LOG, "line.jsonl.gz"), "line.jsonl.gz: line 1 is longer than 4 million characters"),
    "one long row, packed": ((*LOG, "row.csv.gz"), "row.csv.gz: line 2 is longer than 4 million characters"),
    "many columns": ((*LOG, "wide.csv"), "wide.csv: has 100,002 columns, and a log at most 10,000: keep those of"),
    "many names": ((*LOG, "names.csv"), "are too many: at most 25,000,000 pairs of two arms, or of an arm and a mediator"),
    "a table inside a condition": ((*LOG, "good.csv", "--where", "arm = (select 1)"), "must be a condition on single rows"),
    "a long condition": ((*LOG, "good.csv", "--where", "reward=1" + " or reward=1" * 8000), "is longer than 4,000 characters"),
    "standard input without an end": ((*LOG, "-"), "standard input: is longer than"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("doors")
    for name in ("pipe", "pipe.csv"):
        os.mkfifo(made / name)
    (made / "folder").mkdir()
    with contextlib.chdir(made), socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    (made / "s.toml").write_text(ARMS, encoding="utf-8")
    (made / "good.csv").write_text("arm,reward\n" + "a,1\nb,0\n" * 20, encoding="utf-8")
    (made / "arms.toml").write_text("".join(f'[[arms]]\nname = "{i}"\nmean = 0.5\n' for i in range(60_000)), encoding="utf-8")
    many = "".join(f'[[mediators]]\nname = "{i}"\npolicy = [0.5, 0.5]\n' for i in range(5999))
    (made / "mediators.toml").write_text(ARMS + many, encoding="utf-8")
    for name, start, filling in (
        ("zeros.csv.gz", b"", b"\0"), ("line.jsonl.gz", b"", b"0"), ("row.csv.gz", b"arm,reward\na,", b"1")
    ):  # fmt: skip
        with gzip.open(made / name, "wb", 1) as stream:
            stream.write(start)
            for _ in range(256):
                stream.write(filling * (1 << 22))
    header = ",".join(["arm", "reward", *(f"column {i}" for i in range(100_000))])
    (made / "wide.csv").write_text(f"{header}\n{'0,' * 100_001}0\n", encoding="utf-8")
    rows = "".join(f"m{i},a{i},1\n" for i in range(300_000))
    (made / "names.csv").write_text(f"mediator,arm,reward\n{rows}", encoding="utf-8")
    return made


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """How the command ends, and what it says; standard input has no end."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    own = {"GOBETWEEN_JIT": "off", "OPENBLAS_NUM_THREADS": "1", "GOBETWEEN_TRACEBACK": ""}
    command = [sys.executable, "-m", "gobetween", *arguments]
    code = "import gobetween.logs.reading.files as f; f.MOST_SPOOLED = 10**7; from gobetween.cli import main; main()"
    if "-" in arguments:  # a limit that a test can reach
        command[1:3] = ["-c", code]
    with Path("/dev/zero").open("rb") as endless:
        done = subprocess.run(
            command, cwd=folder, preexec_fn=limit, timeout=SECONDS, env=os.environ | own, stdin=endless,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_end_or_fills_the_memory_is_refused(what: str, folder: Path) -> None:
    arguments, words = REFUSED[what]
    if arguments[0] == "tell" and not (folder / "s.sqlite").exists():
        assert run(folder, "init", "s.toml")[0] == 0
    status, said = run(folder, *arguments)
    assert status == 2, said
    assert words in said
    assert said.count("\n") == 1


def test_what_a_shell_has_opened_is_read(folder: Path) -> None:
    for command in ("plan <(cat s.toml)", "logs analyse <(cat good.csv)", "logs analyse <(gzip -c good.csv)"):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m gobetween {command}"],
            cwd=folder, env=os.environ | {"GOBETWEEN_JIT": "off"}, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
