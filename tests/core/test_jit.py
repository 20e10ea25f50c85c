"""How kernels are kept."""

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
    assert held == [True]
    with (Path(str(jit._CACHE)) / "lock").open("w") as free:
        fcntl.flock(free, fcntl.LOCK_EX | fcntl.LOCK_NB)
