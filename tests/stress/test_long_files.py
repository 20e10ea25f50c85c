"""Answers by the hundred thousand, while others write."""

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import gobetween as gb

Report = Callable[[str, float, str], None]
ROWS = 100_000
SPEC = gb.StudySpec(["a", "b", "c"], {"N": [0.5, 0.3, 0.2], "S": None}, family="bernoulli", delta=1e-12)


def test_100000_rows_while_others_write(where: str, tmp_path: Path, report: Report) -> None:
    rng, path, since = random.Random(1), tmp_path / "answers.csv", time.perf_counter()
    rows = "".join(f"{'NS'[i % 2]},{'abc'[i % 3]},{int(rng.random() < 0.5)}\n" for i in range(ROWS))
    path.write_text(f"mediator,arm,reward\n{rows}")
    gb.Study.create(where, SPEC, "s").close()
    done, waits = threading.Event(), list[float]()

    def notes() -> None:
        with gb.Study.open(where, "s") as study:
            while not done.wait(1.0):
                began = time.perf_counter()
                study.note("meanwhile")
                waits.append(time.perf_counter() - began)

    code = (
        "import sys, time, gobetween as gb; study = gb.Study.open(sys.argv[1], 's'); study.tell_csv(sys.argv[2], again=True); "
        "print(time.process_time())"
    )
    quiet = subprocess.run([sys.executable, "-c", code, where, str(path)], capture_output=True, text=True, check=True)
    with gb.Study.open(where, "s") as study:
        assert study.look()[0].learner.counted == ROWS
        study.note("so that the same rows are of another file")
    path.write_text(f"mediator,arm,reward\nN,a,1\n{rows}".removesuffix("\n").rsplit("\n", 1)[0])
    thread = threading.Thread(target=notes)
    thread.start()
    try:
        busy = subprocess.run([sys.executable, "-c", code, where, str(path)], capture_output=True, text=True, check=True)
    finally:
        done.set()
        thread.join()
    with gb.Study.open(where, "s") as study:
        assert study.look()[0].learner.counted == 2 * ROWS
        assert study.doctor() == []
    words = f"{float(quiet.stdout):.0f} s of processor time, {float(busy.stdout):.0f} s while another wrote every second, who waited at most"
    report(
        f"tell --csv of {ROWS:,} rows, twice, {'PostgreSQL' if '://' in where else 'SQLite'}",
        since,
        f"{words} {max(waits, default=0.0):.1f} s",
    )
