"""How kernels are kept."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gobetween.core import jit


@pytest.mark.skipif(not jit.ENABLED, reason="without the JIT nothing is kept")
def test_processes_that_compile_at_once_save_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that save at once could give one name to the machine code of two signatures."""
    import fcntl

    from numba.core.caching import FunctionCache

    held: list[bool] = []

    def save(self: Any, sig: Any, data: Any) -> None:
        with (Path(str(jit._CACHE)) / "lock").open("w") as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held.append(True)

    monkeypatch.setattr(FunctionCache, "save_overload", save)

    @jit.leaf
    def twice(x: float) -> float:
        return 2.0 * x

    assert twice(1.5) == 3.0
    assert held == [True, True]  # what callers take in, and what Python calls
    with (Path(str(jit._CACHE)) / "lock").open("w") as free:
        fcntl.flock(free, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.skipif(not jit.ENABLED, reason="without the JIT there is no machine code")
def test_machine_code_is_made_of_what_python_calls() -> None:
    from numba.core.caching import NullCache

    from gobetween.core.kernels import Door, Part

    @jit.leaf
    def inner(x: float) -> float:
        return 2.0 * x

    @jit.leaf
    def outer(x: float) -> float:
        return inner(x) + 1.0

    functions: Any = (inner, outer)
    for function in functions:
        function._cache = NullCache()  # what an earlier run kept has doors
    assert outer(1.5) == 4.0
    assert [len(function._doors) for function in functions] == [0, 1]
    assert all(isinstance(made.library, Part) for function in functions for made in function.overloads.values())
    assert inner(1.5) == 3.0
    assert outer(1.5) == 4.0
    (door,) = functions[0]._doors.values()
    assert isinstance(door.library, Door)


KEPT = """
import sys
from gobetween.core import state
for name in sys.argv[1:]:
    made = getattr(state, name)(*(3, 2)[: 1 + (name == "new_state")])
    print(type(made).__name__)
"""


@pytest.mark.skipif(not jit.ENABLED, reason="without the JIT nothing is kept")
def test_what_was_kept_can_be_called(tmp_path: Path) -> None:
    """One calls the other, Python calls both, and both make values that Python sees."""
    env = os.environ | {"GOBETWEEN_CACHE_DIR": str(tmp_path)}
    said = []
    for names in (["new_state"], ["new_state", "new_tally"], ["new_state", "new_tally"]):
        done = subprocess.run([sys.executable, "-c", KEPT, *names], env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == [{"new_state": "State", "new_tally": "Tally"}[name] for name in names]
        said.append("compiling" in done.stderr)
    assert said == [True, False, False]


OTHER = """
import numba
numba.version_info = numba.version_info._replace(major=99)
from gobetween.core import jit

@jit.leaf
def inner(x):
    return 2.0 * x

@jit.leaf
def outer(x):
    return inner(x) + 1.0

print(jit.WHOLE, type(outer).__module__.split(".")[0], outer(1.5))
"""


@pytest.mark.skipif(not jit.ENABLED, reason="without the JIT there is no machine code")
def test_another_numba_makes_machine_code_in_its_own_way(tmp_path: Path) -> None:
    """How it does that is not part of what it promises."""
    env = os.environ | {"GOBETWEEN_CACHE_DIR": str(tmp_path)}
    (tmp_path / "other.py").write_text(OTHER, encoding="utf-8")
    done = subprocess.run([sys.executable, tmp_path / "other.py"], env=env, capture_output=True, text=True, timeout=300)
    assert done.stdout == "False numba 4.0\n", done.stderr


@pytest.mark.skipif(not jit.ENABLED, reason="without the JIT there is no machine code")
def test_the_numba_that_is_pinned_is_one_that_is_known() -> None:
    assert jit.WHOLE
