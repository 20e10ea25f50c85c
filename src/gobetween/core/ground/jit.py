"""How functions are compiled, cached and dispatched by type, and the types of their arrays. Only this file knows Numba.

Machine code is kept on disk, one folder per digest of the core's sources, because Numba's own cache does not notice that a
function in *another* file has changed. The folder belongs to the user alone (cache files are pickles). Only what concerns the
core's own types is kept there: what is compiled for a class from elsewhere lives as long as the process.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Randomness = np.random.Generator | float  # a generator, or the one number that a rule of ours may need
F = TypeVar("F", bound=Callable[..., Any])

#: With GOBETWEEN_JIT=off every kernel runs as plain Python and Numba is not even imported: right for one small problem.
ENABLED = os.environ.get("GOBETWEEN_JIT", "on") != "off" and os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"

if ENABLED:
    import numba
    from numba.core.caching import FunctionCache
    from numba.core.errors import NumbaError
    from numba.extending import overload


def _digest() -> str:
    """Digest of all source files of the core, of the Numba version and of the Python version."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(Path(__file__).parent.parent.rglob("*.py")):
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
        "every start will compile again. Set GOBETWEEN_CACHE_DIR to choose another.",
        file=sys.stderr,
    )
    return None


_CACHE = _cache_dir() if ENABLED else None


def _is_ours(kind: Any) -> bool:
    """Is a type of compiled code built from the core's own classes only?"""
    own = getattr(kind, "instance_class", None)
    if own is not None and not str(own.__module__).startswith("gobetween."):
        return False
    return all(_is_ours(part) for part in getattr(kind, "types", None) or ())


if ENABLED:

    class _Kernels(FunctionCache):  # type: ignore[misc]  # Numba is not typed
        """The cache of one function, for our own types only; an entry that cannot be read is made anew, never a traceback."""

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            if not all(map(_is_ours, sig)):
                return None
            try:
                found = super().load_overload(sig, target_context)
            except Exception:  # a pickle may fail in any way
                self._renew()
                found = None
            if found is None:
                announce()
            return found

        def save_overload(self, sig: Any, data: Any) -> None:
            if all(map(_is_ours, sig)):
                try:
                    with _one_at_a_time():
                        super().save_overload(sig, data)
                except Exception:  # the index is damaged, or the disk is full: the kernel works all the same
                    self._renew()

        def _renew(self) -> None:
            with suppress(OSError), _one_at_a_time():
                self.flush()


@cache
def announce() -> None:
    """Say once that the user will have to wait, and why it will not be so next time."""
    print(
        "gobetween: compiling what is new on this machine, which may take half a minute; it is kept for later runs …",
        file=sys.stderr,
        flush=True,
    )


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Processes that compile at once must not save at once: Numba reads an index, takes the next free name in it for a file of
    machine code and writes both, so that two could give one name to the code of two signatures.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    with (Path(str(_CACHE)) / "lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # ends with the file, also when the process is killed
        yield


def _kernels(function: Any) -> Any:
    """The cache of a function, in our folder; other packages keep theirs."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_CACHE)
    try:
        return _Kernels(function)
    finally:
        numba.config.CACHE_DIR = before


def _compile(function: F, forced: bool = False, **options: Any) -> F:
    if not ENABLED:
        return function
    compiled = numba.njit(nogil=True, error_model="numpy", forceinline=forced, **options)(function)
    if _CACHE is not None:
        compiled._cache = _kernels(function)
    made: F = compiled
    return made


def index(k: int) -> int:
    """The number k, but not as a literal, for each of which Numba would compile every callee anew."""
    return np.int64(k)  # type: ignore[return-value]  # it behaves as an int


def uniform(source: np.random.Generator | float) -> float:
    """A number from [0, 1): drawn from a generator or, because handing one over to compiled code takes 20 µs, drawn before."""
    return source if isinstance(source, float) else source.random()


if ENABLED:
    overload(uniform)(
        lambda source: (lambda source: source) if isinstance(source, numba.types.Float) else (lambda source: source.random())
    )


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


def part(function: F) -> F:
    """A leaf that LLVM must make part of its callers: handing over a sampler of forty arrays costs more than a step."""
    return _compile(function, forced=True, _nrt=False)


def inlined(function: F) -> F:
    """For functions with one or two callers: made part of these, because each level of calls is optimised anew by Numba."""
    return _compile(quiet(function), _nrt=True, inline="always")


def by_type(returns: str, inline: bool = False) -> Callable[[F], F]:
    """Let `function(thing, …)` mean `thing.function(…)`, in compiled code as in plain Python.

    returns: "int64", "float64", "none", "pair" for two floats, or "triple".

    A method of someone else's class that does not compile is called as plain Python from compiled code. `inline` is for large
    things with one or two callers: handing over a sampler of forty arrays costs more than a small rule.
    """

    def declare(function: F) -> F:
        if ENABLED:
            name, how = function.__name__, "always" if inline else "never"
            overload(function, {"forceinline": True}, strict=False, inline=how)(
                lambda thing, *args: _implementation(name, returns, inline, thing, args)
            )
        return function

    return declare


@cache  # Numba asks again for callers that are compiled in another way
def _implementation(name: str, returns: str, inline: bool, thing: Any, args: Any) -> Any:
    kind = thing.instance_class
    method = getattr(kind, name)
    if inline:
        return method
    ours = _is_ours(thing)
    # ours allocate nothing; someone else's may, and may look beside an array
    compiled = numba.njit(error_model="numpy", forceinline=ours, _nrt=True, boundscheck=not ours)(method)
    if not ours:
        try:
            compiled.compile((thing, *args))
        except NumbaError as error:
            return _plain(kind, name, returns, str(error))
        found = compiled.nopython_signatures[-1].return_type
        if not _fits(found, returns):
            return _plain(kind, name, returns, f"\nit returns {found}")
    return lambda thing, *args: compiled(thing, *args)


def _fits(found: Any, returns: str) -> bool:
    """May compiled code go on with what a method returns?"""
    types = numba.types
    if returns in _SIZES:
        return isinstance(found, types.BaseTuple) and len(found) == _SIZES[returns] and all(_fits(x, "float64") for x in found)
    numbers = types.Integer if returns == "int64" else (types.Integer, types.Float)
    return returns == "none" or isinstance(found, numbers)


_SIZES = {"pair": 2, "triple": 3}
_called: list[tuple[type, str, Callable[[Any], Any]]] = []  # methods that run as plain Python, by number
_MADE: dict[str, Callable[[Any], Any]] = {
    "int64": int,
    "float64": float,
    "pair": lambda value: (float(value[0]), float(value[1])),
    "triple": lambda value: (float(value[0]), float(value[1]), float(value[2])),
    "none": lambda value: None,
}


def call_plainly(number: int, fields: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """Call a method that did not compile, on the value with these fields."""
    kind, name, made = _called[number]
    return made(getattr(kind(*fields), name)(*args))


def _plain(kind: type, name: str, returns: str, why: str) -> Any:
    """An implementation that calls the method as plain Python; it is said, once."""
    if not any(called[:2] == (kind, name) for called in _called):
        lines = [line.strip() for line in why.splitlines() if line.strip()]
        reason = next((line for line in lines[1:] if "pipeline" not in line), lines[0])
        print(
            f"gobetween: {kind.__name__}.{name} does not compile and runs as plain Python, with the same results but slower "
            f"({reason[:160]}); GOBETWEEN_JIT=off is quicker for short jobs",
            file=sys.stderr,
        )
    number = len(_called)
    _called.append((kind, name, _MADE[returns]))
    types = numba.types
    result = types.UniTuple(numba.float64, _SIZES[returns]) if returns in _SIZES else getattr(types, returns)

    @numba.njit(_nrt=True)  # type: ignore[untyped-decorator]  # Numba is not typed
    def through(fields: Any, args: Any) -> Any:
        with numba.objmode(value=result):
            value = call_plainly(number, fields, args)
        return value  # noqa: RET504 - Numba does not return from inside the block

    return lambda thing, *args: through(thing[:], args)
