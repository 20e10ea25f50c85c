"""A live bar on standard error while runs are simulated, with the time that is left; silent where nobody watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Who is told how many runs were finished; True: a bar.
Told = Callable[[int], None] | bool | None


@contextmanager
def bar(runs: int, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Advanced by the number of runs that were finished; nothing is drawn in a pipe, or if it is to be quiet."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as shown:
        task = shown.add_task("runs", total=runs)
        yield lambda n: shown.advance(task, n)


@contextmanager
def telling(progress: Told, runs: int) -> Iterator[Callable[[int], None]]:
    """What was asked for as `progress`: a function is told, True shows a bar, nothing else."""
    if progress is True:
        with bar(runs) as advance:
            yield advance
    else:
        yield progress or (lambda n: None)
