"""Ten million rows of log as CSV and Parquet, with the first claim, and two workers on many files; in one run."""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def write(folder: Path, rows: int, K: int, files: int) -> None:
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(0)
    cumulative = rng.dirichlet(np.ones(K), size=K).cumsum(axis=1)
    means = np.linspace(0.52, 0.5, K)
    for part in range(files):
        e = rng.integers(0, K, rows // files)
        a = np.minimum((rng.random((len(e), 1)) > cumulative[e]).sum(axis=1), K - 1) if K <= 10 else rng.integers(0, K, len(e))
        names = [pa.array([f"{word} {i}" for i in range(K)]) for word in ("clinic", "arm")]
        columns = [
            pa.DictionaryArray.from_arrays(codes.astype(np.int32), n).cast(pa.string())
            for codes, n in zip((e, a), names, strict=True)
        ]
        table = pa.table({"mediator": columns[0], "arm": columns[1], "reward": (rng.random(len(e)) < means[a]).astype(float)})
        csv.write_csv(table, folder / f"log{part}.csv")
        parquet.write_table(table, folder / f"log{part}.parquet")


def one(paths: list[str]) -> None:
    """In a process of its own: seconds and peak memory."""
    import gobetween as gb

    gb.analyse_logs({"arm": ["a", "b"], "reward": [1.0, 0.0]})  # kernels are loaded
    start = time.perf_counter()
    found = gb.analyse_logs(*paths)
    taken = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{found.rows:,} rows: {taken:.1f} s, peak {memory:.0f} MB, first claim {found.claim and found.claim.row}")


def workers(paths: list[str]) -> None:
    import gobetween as gb
    from gobetween.simulation.executors import open_executor

    times = {}
    for count in (1, 2):
        with open_executor("processes", count) as crew:
            gb.analyse_logs(*paths[:4], executor=crew.executor)  # everyone has loaded the kernels
            gb.analyse_logs(*paths[:4], executor=crew.executor)
            start = time.perf_counter()
            gb.analyse_logs(*paths, executor=crew.executor)
            times[count] = time.perf_counter() - start
    print(f"{len(paths)} files: one worker {times[1]:.2f} s, two {times[2]:.2f} s: {times[1] / times[2]:.2f} ×")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", nargs="+")
    arguments = parser.parse_args()
    if arguments.part:
        {"one": one, "workers": workers}[arguments.part[0]](arguments.part[1:])
        return
    for K, rows in ((10, 10_000_000), (100, 10_000_000)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, rows, K, 16)
            for kind in ("csv", "parquet"):
                paths = [str(folder / f"log{i}.{kind}") for i in range(16)]
                for part in ("one", "workers"):
                    print(f"K = E = {K}, {kind:7s}", end=" ", flush=True)
                    subprocess.run([sys.executable, __file__, "--part", part, *paths], check=True)


if __name__ == "__main__":
    main()
