"""Under which address the studies of a store are served now: a small file beside a SQLite file, or in the user's cache for a
database elsewhere, as long as a server runs.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from gobetween.study.journal.record import Store


def _file(store: Store) -> Path:
    """Where a server of this store says its address."""
    path = Path(store.place)
    if path.is_file():
        return path.with_name(f"{path.name}.serving")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "gobetween"
    return cache / f"{hashlib.sha256(store.place.encode()).hexdigest()[:20]}.serving"


@contextmanager
def announced(stores: Sequence[Store], base: str) -> Iterator[None]:
    """Say where these stores are served; a folder that cannot be written to is no reason not to serve."""
    files = [*map(_file, stores)]
    for path in files:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.write_text(f"{os.getpid()} {base}\n", encoding="utf-8")
    try:
        yield
    finally:
        for path in files:
            with suppress(OSError):
                if path.read_text(encoding="utf-8").startswith(f"{os.getpid()} "):
                    path.unlink()


def address_of(store: Store) -> str | None:
    """Where it is served; None where no server says so, or the one that said it is gone."""
    try:
        number, base = _file(store).read_text(encoding="utf-8").split()
        os.kill(int(number), 0)
    except (OSError, ValueError):
        return None
    return base
