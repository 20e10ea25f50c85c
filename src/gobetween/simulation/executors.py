"""Where work is done: threads, processes or a Dask cluster, all as `concurrent.futures.Executor`."""

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import resource_tracker
from os import cpu_count
from queue import SimpleQueue
from typing import NamedTuple, TypeVar

from gobetween.errors import GoBetweenError
from gobetween.interrupts import held

T = TypeVar("T")
R = TypeVar("R")
KINDS = ("threads", "processes", "dask")


class Workers(NamedTuple):
    """An executor and how many can work at a time."""

    executor: Executor
    number: int


def work_through(submit: "Callable[[T], Future[R]]", tasks: Iterable[T], at_once: int, take: Callable[[T, R], None]) -> None:
    """Hand out tasks, so many at once, and take each result as it comes.

    Ctrl-C is heard between two of them: raised anywhere, it could leave a future locked, and its worker would wait for good.
    """
    done, flying, waiting = SimpleQueue[Future[R] | None](), dict[Future[R], T](), iter(tasks)
    with held(lambda: done.put(None)):
        try:
            while True:
                for task in islice(waiting, at_once - len(flying)):
                    future = submit(task)
                    flying[future] = task
                    future.add_done_callback(done.put)
                if not flying:
                    return
                finished = done.get()
                if finished is None:
                    return
                take(flying.pop(finished), finished.result())
        finally:
            for future in flying:
                future.cancel()


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
                with _deaf_children():
                    processes.submit(int)  # the first starts all of them
                yield Workers(processes, count)
            except KeyboardInterrupt:
                for child in multiprocessing.active_children():
                    child.kill()  # compiled code does not hear Ctrl-C
                raise
    else:
        with _dask(count, address) as found:
            yield found


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes that are started here do not hear Ctrl-C, which a terminal tells to all: whoever started them ends them."""
    resource_tracker.ensure_running()  # which would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # it is not lost here: other threads hear it
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _dask(count: int, address: str | None) -> Iterator[Workers]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise GoBetweenError("dask needs Dask: pip install 'gobetween[dask]'", where=("executor",)) from None
    if address is None:
        with _deaf_children():
            cluster = LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None)
        with cluster, Client(cluster) as client, client.get_executor(pure=False) as executor:
            yield Workers(executor, count)
        return
    try:
        client = Client(address, timeout=5)
    except (OSError, ValueError) as error:
        what = f"{address}: no Dask scheduler answers there ({type(error).__name__})"
        raise GoBetweenError(what, where=("address",)) from None
    with client, client.get_executor(pure=False) as executor:
        yield Workers(executor, max(1, sum(client.nthreads().values())))
