"""Under which address the studies of a SQLite file are served now: a small file beside it, as long as a server runs."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from gobetween.study.journal.record import Store


def _file(store: Store) -> Path | None:
    """Beside a store that is a file."""
    path = Path(store.place)
    return path.with_name(f"{path.name}.serving") if path.is_file() else None


@contextmanager
def announced(stores: Sequence[Store], base: str) -> Iterator[None]:
    """Say where these stores are served; a folder that cannot be written to is no reason not to serve."""
    files = [path for path in map(_file, stores) if path is not None]
    for path in files:
        with suppress(OSError):
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
    path = _file(store)
    try:
        number, base = ("", "") if path is None else path.read_text(encoding="utf-8").split()
        os.kill(int(number), 0)
    except (OSError, ValueError):
        return None
    return base
