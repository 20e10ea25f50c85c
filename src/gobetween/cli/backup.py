"""The verbs that copy a whole store: backup and restore."""

from collections.abc import Callable
from pathlib import Path

import click

from gobetween.cli.verb import VARIABLE, Call


def _options(function: Callable[..., None]) -> Callable[..., None]:
    place = f"study.toml, a SQLite file or a URL [default: ${VARIABLE}, or ./study.toml]."
    as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/live.md).")
    return click.option("--study", help=place)(as_json(function))


@click.command("backup")
@click.argument("file", type=click.Path())
@_options
def backup(file: str, study: str | None, as_json: bool) -> None:
    """Copy the store into FILE, which is new, while others may write."""
    call = Call(study, None, None, as_json)
    call.prepare()
    from gobetween.study.find_study import backup_study

    counts = backup_study(call.where, Path(file))
    call.show({"backup": file, "events": counts}, f"{file} is a backup of {_words(counts)}; verified by reading it back")


@click.command("restore")
@click.argument("file", type=click.Path())
@_options
def restore(file: str, study: str | None, as_json: bool) -> None:
    """Bring the studies in a backup to the store, where no study of the same name may be."""
    call = Call(study, None, None, as_json)
    call.prepare()
    from gobetween.study.find_study import restore_study

    counts = restore_study(Path(file), call.where)
    call.show({"restored": file, "events": counts}, f"restored: {_words(counts)}")


def _words(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} ({n:,} event{'' if n == 1 else 's'})" for name, n in counts.items()) or "no study"
