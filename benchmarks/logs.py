"""Logs against polars and DuckDB that only count rows and add rewards by mediator and arm: CPU time, in one run."""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FILES = 16


def write(folder: Path, rows: int, K: int, kinds: tuple[str, ...]) -> None:
    import polars
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(0)
    cumulative = rng.dirichlet(np.ones(K), size=K).cumsum(axis=1)
    means = np.linspace(0.52, 0.5, K)
    names = [pa.array([f"{word} {i}" for i in range(K)]) for word in ("clinic", "arm")]
    for part in range(FILES):
        e = rng.integers(0, K, rows // FILES)
        a = np.minimum((rng.random((len(e), 1)) > cumulative[e]).sum(axis=1), K - 1) if K <= 10 else rng.integers(0, K, len(e))
        columns = [
            pa.DictionaryArray.from_arrays(codes.astype(np.int32), n).cast(pa.string())
            for codes, n in zip((e, a), names, strict=True)
        ]
        table = pa.table({"mediator": columns[0], "arm": columns[1], "reward": (rng.random(len(e)) < means[a]).astype(float)})
        if "csv" in kinds:
            csv.write_csv(table, folder / f"log{part}.csv")
        if "parquet" in kinds:
            parquet.write_table(table, folder / f"log{part}.parquet")
        if "jsonl" in kinds:
            frame: Any = polars.from_arrow(table)
            frame.write_ndjson(folder / f"log{part}.jsonl")


def by_polars(pattern: str) -> Callable[[], object]:
    import polars

    scans = {".parquet": polars.scan_parquet, ".csv": polars.scan_csv, ".jsonl": polars.scan_ndjson}
    scan = scans[Path(pattern).suffix]
    sums = [polars.len(), polars.col("reward").sum()]
    return lambda: scan(pattern).group_by("mediator", "arm").agg(sums).collect(engine="streaming")


def by_duckdb(pattern: str) -> Callable[[], object]:
    import duckdb

    store = duckdb.connect()
    store.execute(f"SET threads = {os.cpu_count() or 1}")
    query = f"SELECT mediator, arm, count(*), sum(reward) FROM '{pattern}' GROUP BY ALL"
    return lambda: store.execute(query).fetchall()


def by_us(pattern: str) -> Callable[[], object]:
    import gobetween as gb

    gb.analyse_logs({"arm": ["a", "b"], "reward": [1.0, 0.0]})  # kernels are loaded
    return lambda: gb.analyse_logs(pattern)


def seconds(work: Callable[[], object], times: int) -> float:
    """The least CPU time of a few."""
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def one(who: str, pattern: str, times: int) -> None:
    """In a process of its own: seconds and peak memory."""
    taken = seconds({"polars": by_polars, "duckdb": by_duckdb, "gobetween": by_us}[who](pattern), times)
    print(taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measured(who: str, pattern: str, times: int) -> tuple[float, float]:
    command = [sys.executable, __file__, "--one", who, pattern, "--times", str(times)]
    done = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    taken, memory = map(float, done.split())
    return taken, memory


def workers(pattern: str) -> float:
    """How many times faster two workers are than one, by the clock."""
    import gobetween as gb
    from gobetween.simulation.executors import open_executor

    paths, times = sorted(map(str, Path(pattern).parent.glob(Path(pattern).name))), {}
    for count in (1, 2):
        with open_executor("processes", count) as crew:
            for _ in range(2):
                gb.analyse_logs(paths[:4], executor=crew.executor)  # everyone has loaded the kernels
            start = time.perf_counter()
            gb.analyse_logs(paths, executor=crew.executor)
            times[count] = time.perf_counter() - start
    return times[1] / times[2]


def compare(rows: int, K: int, kinds: tuple[str, ...], times: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), rows, K, kinds)
        for kind in kinds:
            pattern = f"{name}/*.{kind}"
            found = {who: measured(who, pattern, times) for who in ("polars", "duckdb", "gobetween")}
            best = min(found["polars"][0], found["duckdb"][0])
            told = ", ".join(f"{who} {taken:.2f} s" for who, (taken, _) in found.items())
            ours, memory = found["gobetween"]
            print(f"K = E = {K}, {rows:,} rows, {kind:7s}: {told}: {ours / best:.2f} × the faster, {memory:.0f} MB", flush=True)
        if rows <= 10_000_000:
            for kind in kinds:
                print(f"K = E = {K}, {kind:7s}: two workers {workers(f'{name}/*.{kind}'):.2f} × one", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, help="for itself")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--arms", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--kinds", nargs="+", default=["parquet", "csv", "jsonl"])
    parser.add_argument("--times", type=int, default=3)
    said = parser.parse_args()
    if said.one:
        one(said.one[0], said.one[1], said.times)
        return
    for K in said.arms:
        compare(said.rows, K, tuple(said.kinds), said.times)


if __name__ == "__main__":
    main()
