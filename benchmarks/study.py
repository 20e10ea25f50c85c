"""`gobetween ask` and `tell` as commands: wall time at 100 and at 1,000,000 events, interleaved in one run."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOML = """
delta = 1e-6
family = "bernoulli"
arms = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
mediators = [
  { name = "w", policy = [0.1, 0.8, 0.1, 0.0] }, { name = "x", policy = [0.0, 0.1, 0.8, 0.1] },
  { name = "y", policy = [0.0, 0.1, 0.1, 0.8] }, { name = "z", policy = [0.2, 0.0, 0.4, 0.4] },
]
"""


def run(folder: Path, *arguments: str) -> tuple[float, str]:
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "gobetween", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - start, done.stdout


def grow(folder: Path, events: int) -> None:
    """Lengthen the log of a study by copies of its last events, as if they had been told long ago."""
    with sqlite3.connect(folder / "study.sqlite") as database:
        (seq,) = database.execute("SELECT seq FROM studies").fetchone()
        rows = (
            (1, i, 0.0, "me", "told", i, f"old-{i}", 0, json.dumps({"mediator": "w", "arm": "a", "reward": 1.0, "slot": i}))
            for i in range(seq + 1, events + 1)
        )
        database.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        queries = ((1, 10**9 + i, 0, "told", i, 0, 1.0, None) for i in range(events // 2))
        database.executemany("INSERT INTO queries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", queries)
        database.execute("UPDATE studies SET seq = ?", (max(seq, events),))


def main() -> None:
    with tempfile.TemporaryDirectory() as top:
        folders = {size: Path(top) / str(size) for size in (100, 1_000_000)}
        for size, folder in folders.items():
            folder.mkdir()
            (folder / "study.toml").write_text(TOML)
            run(folder, "init")
            for _ in range(10):
                number = json.loads(run(folder, "ask", "--json")[1])["queries"][0]["id"]
                run(folder, "tell", str(number), "--arm", "b", "--reward", "1", "--accept-surprise")
            grow(folder, size)
        times: dict[tuple[str, int], list[float]] = {(verb, size): [] for verb in ("ask", "tell") for size in folders}
        for _ in range(15):
            for size, folder in folders.items():
                taken, shown = run(folder, "ask", "--json")
                times["ask", size].append(taken)
                number = json.loads(shown)["queries"][0]["id"]
                times["tell", size].append(
                    run(folder, "tell", str(number), "--arm", "b", "--reward", "0", "--accept-surprise")[0]
                )
        for verb in ("ask", "tell"):
            few, many = (sorted(times[verb, size])[7] for size in folders)
            print(
                f"gobetween {verb}: {few:.3f} s at 100 events, {many:.3f} s at 1,000,000 (medians of 15): {many / few - 1:+.0%}"
            )


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    main()
