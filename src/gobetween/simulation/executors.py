"""Where work is done: threads, processes or a Dask cluster, all as `concurrent.futures.Executor`."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from os import cpu_count
from typing import NamedTuple

from gobetween.errors import GoBetweenError

KINDS = ("threads", "processes", "dask")


class Workers(NamedTuple):
    """An executor and how many can work at a time."""

    executor: Executor
    number: int


@contextmanager
def open_executor(kind: str = "threads", workers: int | None = None, address: str | None = None) -> Iterator[Workers]:
    """An executor of a kind; `address` is a Dask scheduler's, without it Dask starts processes on this machine."""
    if address is not None and kind != "dask":
        raise GoBetweenError(f"is for dask, not for {kind}", where=("address",))
    if workers is not None and workers < 1:
        raise GoBetweenError(f"= {workers}: must be a whole number, 1 or more", where=("workers",))
    count = workers or cpu_count() or 1
    if kind == "threads":
        with ThreadPoolExecutor(count) as threads:
            yield Workers(threads, count)
    elif kind == "processes":
        # not by fork: the parent has threads and compiled code
        with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as processes:
            try:
                yield Workers(processes, count)
            except KeyboardInterrupt:
                for child in multiprocessing.active_children():
                    child.kill()  # compiled code does not hear Ctrl-C
                raise
    else:
        with _dask(count, address) as found:
            yield found


@contextmanager
def _dask(count: int, address: str | None) -> Iterator[Workers]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise GoBetweenError("dask needs Dask: pip install 'gobetween[dask]'", where=("executor",)) from None
    if address is None:
        with (
            LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
            client.get_executor(pure=False) as executor,
        ):
            yield Workers(executor, count)
        return
    try:
        client = Client(address, timeout=5)
    except (OSError, ValueError) as error:
        what = f"{address}: no Dask scheduler answers there ({type(error).__name__})"
        raise GoBetweenError(what, where=("address",)) from None
    with client, client.get_executor(pure=False) as executor:
        yield Workers(executor, max(1, sum(client.nthreads().values())))
