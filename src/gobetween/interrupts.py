"""Ctrl-C at the command line: the first ends it soon and in order, the second at once, whatever waits for whatever lock."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

GRACE = 1.0  # seconds for what is under way, for instance for a compilation, which does not hear of it
OTHERS = 5.0  # seconds for those who hear Ctrl-C themselves: a server gives its callers two of them
STOPPED = 130
_words = ["gobetween: stopped\n"]  # what is said when a command ends; the last counts


def watch() -> None:
    """From now on a thread hears Ctrl-C even while the main thread cannot, for it compiles or waits for a lock."""
    heard, told = os.pipe()
    os.set_blocking(told, False)
    sys.warnoptions.append("ignore:resource_tracker:UserWarning")  # of processes that clear up after those that were ended
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(heard,), daemon=True, name="Ctrl-C").start()


@contextmanager
def held(hear: Callable[[], object] = lambda: None) -> Iterator[list[object]]:
    """Ctrl-C only calls `hear` and fills the list, and is raised at the end, unless someone else handles it.

    Numba crashes the process when it is raised while a random generator is taken in or a named tuple made.
    """
    before, heard = signal.getsignal(signal.SIGINT), list[object]()
    if threading.current_thread() is not threading.main_thread() or before not in (signal.default_int_handler, stop):
        yield heard
        return
    signal.signal(signal.SIGINT, lambda *_: heard.append(hear()))
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            raise KeyboardInterrupt


@contextmanager
def last_words(words: str) -> Iterator[None]:
    """What Ctrl-C says of a command that is ended inside."""
    _words.append(f"gobetween: stopped; {words}\n")
    try:
        yield
    finally:
        _words.pop()


def stop(*_: object) -> NoReturn:
    """A command ends where it stands: raised in compiled code, or in a library's import, Ctrl-C could crash it."""
    end(_words[-1])


def _listen(heard: int) -> None:
    _wait_for_one(heard)
    ours = getattr(signal.getsignal(signal.SIGINT), "__module__", "").startswith(("_signal", "signal", "gobetween"))
    timer = threading.Timer(GRACE if ours else OTHERS, stop)
    timer.daemon = True
    timer.start()
    _wait_for_one(heard)
    end()


def _wait_for_one(heard: int) -> None:
    while os.read(heard, 1) != bytes([signal.SIGINT]):
        pass


def end(words: str = "") -> NoReturn:
    """End here and now: what was to be kept has been written; no thread and no lock is waited for."""
    try:
        processes = sys.modules.get("multiprocessing")
        for child in processes.active_children() if processes else ():
            child.kill()
        if os.isatty(2):
            words = f"\x1b[?25h{words}"  # a bar hides the cursor
        os.write(2, words.encode())
    finally:
        os._exit(STOPPED)
