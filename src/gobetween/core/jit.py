"""The only file that knows Numba: how functions are compiled, cached and dispatched by family.

Machine code is kept on disk, one folder per digest of the core's sources, because Numba's own cache does not notice that a
function in *another* file has changed. The folder belongs to the user alone (cache files are pickles).
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: With GOBETWEEN_JIT=off every kernel runs as plain Python and Numba is not even imported: right for one small problem.
ENABLED = os.environ.get("GOBETWEEN_JIT", "on") != "off" and os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"

if ENABLED:
    import numba
    from numba.extending import overload


def _digest() -> str:
    """Digest of all source files of the core, of the Numba version and of the Python version."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_dir() -> str | None:
    """A private, writable folder for machine code, or None (with a notice) when there is none."""
    root = os.environ.get("GOBETWEEN_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gobetween"
    )
    folder = os.path.join(root, _digest())
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        owner = os.stat(folder)
        writable = os.access(folder, os.W_OK) and not owner.st_mode & 0o022
        if writable and (not hasattr(os, "getuid") or owner.st_uid == os.getuid()):
            return folder
    except OSError:
        pass
    print(
        f"gobetween: cannot keep compiled code in {folder!r} (it must be a writable folder of yours alone); "
        "every start will compile anew. Set GOBETWEEN_CACHE_DIR to choose another.",
        file=sys.stderr,
    )
    return None


_CACHE = _cache_dir() if ENABLED else None


@contextmanager
def _our_cache() -> Iterator[None]:
    """Point Numba to our folder while one function is declared; other packages keep theirs."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _CACHE
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def jit(function: F) -> F:
    """Compile on first use, keep the machine code on disk, release the GIL. No fastmath: NaN and bits matter."""
    if not ENABLED:
        return function
    with _our_cache():
        compiled: F = numba.njit(cache=_CACHE is not None, nogil=True, error_model="numpy")(function)
    return compiled


def leaf(function: F) -> F:
    """Like `jit`, for functions that allocate no array: without reference counting, which at this size costs as much as the work."""
    if not ENABLED:
        return function
    with _our_cache():
        compiled: F = numba.njit(cache=_CACHE is not None, nogil=True, error_model="numpy", _nrt=False)(function)
    return compiled


def by_family(function: F) -> F:
    """Let `function(family, ...)` mean `family.function(...)`, in compiled code as in plain Python."""
    if not ENABLED:
        return function
    name = function.__name__

    @overload(function, strict=False)
    def _implementation(family: Any, *args: Any) -> Any:
        method = numba.njit(error_model="numpy")(getattr(family.instance_class, name))
        return lambda family, *args: method(family, *args)

    return function
