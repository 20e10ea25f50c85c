"""Where work is done: threads, processes or a Dask cluster, all as `concurrent.futures.Executor`."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from os import cpu_count
from typing import NamedTuple

from gobetween.errors import GoBetweenError

KINDS = ("threads", "processes", "dask")


class Crew(NamedTuple):
    """An executor and how many can work at a time."""

    executor: Executor
    workers: int


@contextmanager
def open_executor(kind: str = "threads", workers: int | None = None, address: str | None = None) -> Iterator[Crew]:
    """An executor of a kind; `address` is a Dask scheduler's, without it Dask starts processes on this machine."""
    if address is not None and kind != "dask":
        raise GoBetweenError(f"--address is for --executor dask, not for {kind}")
    if workers is not None and workers < 1:
        raise GoBetweenError(f"workers = {workers}: must be a whole number, 1 or more")
    count = workers or cpu_count() or 1
    if kind == "threads":
        with ThreadPoolExecutor(count) as threads:
            yield Crew(threads, count)
    elif kind == "processes":
        # not by fork: the parent has threads and compiled code
        with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as processes:
            yield Crew(processes, count)
    else:
        with _dask(count, address) as crew:
            yield crew


@contextmanager
def _dask(count: int, address: str | None) -> Iterator[Crew]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise GoBetweenError("--executor dask needs Dask: pip install 'gobetween[dask]'") from None
    if address is None:
        with (
            LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
            client.get_executor(pure=False) as executor,
        ):
            yield Crew(executor, count)
        return
    try:
        client = Client(address, timeout=5)
    except (OSError, ValueError) as error:
        raise GoBetweenError(f"--address {address}: no Dask scheduler answers there ({type(error).__name__})") from None
    with client, client.get_executor(pure=False) as executor:
        yield Crew(executor, max(1, sum(client.nthreads().values())))
