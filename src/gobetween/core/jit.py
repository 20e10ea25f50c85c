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

import numpy as np

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


def _cache_dir() -> Path | None:
    """A private, writable folder for machine code, or None (with a notice) when there is none."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    root = Path(os.environ.get("GOBETWEEN_CACHE_DIR") or Path(home) / "gobetween").expanduser()
    folder = root / _digest()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.stat()
        ours = not hasattr(os, "getuid") or state.st_uid == os.getuid()
        if ours and not state.st_mode & 0o022 and os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    print(
        f"gobetween: cannot keep compiled code in {str(folder)!r} (it must be a writable folder of yours alone); "
        "every start will compile anew. Set GOBETWEEN_CACHE_DIR to choose another.",
        file=sys.stderr,
    )
    return None


_CACHE = _cache_dir() if ENABLED else None


@contextmanager
def _our_cache() -> Iterator[None]:
    """Point Numba to our folder while one function is declared; other packages keep theirs."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_CACHE or "")
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def _compile(function: F, **options: Any) -> F:
    if not ENABLED:
        return function
    with _our_cache():
        compiled: F = numba.njit(cache=_CACHE is not None, nogil=True, error_model="numpy", **options)(function)
    return compiled


def index(k: int) -> int:
    """The number k, but not as a literal, for each of which Numba would compile every callee anew."""
    return np.int64(k)  # type: ignore[return-value]  # it behaves as an int


def quiet(function: F) -> F:
    """Without the JIT, let NumPy's scalars be as silent about infinities as compiled code is."""
    if ENABLED:
        return function
    silent: F = np.errstate(all="ignore")(function)
    return silent


def jit(function: F) -> F:
    """Compile on first use, keep the machine code on disk, release the GIL. No fastmath: NaN and bits matter."""
    return _compile(quiet(function), _nrt=True)  # said, because otherwise it is inherited from the caller


def leaf(function: F) -> F:
    """Like `jit`, for functions that allocate no array: without reference counting, which costs as much as a small game."""
    return _compile(function, _nrt=False)


def inlined(function: F) -> F:
    """For functions with one or two callers: made part of these, because each level of calls is optimised anew by Numba."""
    return _compile(quiet(function), _nrt=True, inline="always")


def by_family(function: F) -> F:
    """Let `function(family, ...)` mean `family.function(...)`, in compiled code as in plain Python."""
    if not ENABLED:
        return function
    name = function.__name__

    def implementation(family: Any, *_: Any) -> Any:
        method = numba.njit(error_model="numpy", _nrt=True)(getattr(family.instance_class, name))
        return lambda family, *args: method(family, *args)

    overload(function, strict=False)(implementation)
    return function
