"""How kernels are kept."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gobetween.core.ground import jit


@pytest.mark.compiled
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


KEPT = """
import sys
from gobetween.core.ground import tally as state
for name in sys.argv[1:]:
    made = getattr(state, name)(*(3, 2)[: 1 + (name == "new_state")])
    print(type(made).__name__)
"""


@pytest.mark.compiled
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
