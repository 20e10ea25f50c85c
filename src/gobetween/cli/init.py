"""`gobetween init`: write a working study.toml and make its store."""

import json
import os
from pathlib import Path
from typing import Any

import click

from gobetween.errors import StudyError

TEMPLATE = """# A live study: which option is best, when only these mediators can act. `gobetween ask` says whom to ask next,
# `gobetween tell` records an answer, `gobetween status` shows the answer so far. This file may be changed freely until
# the first query; afterwards only title, names, contacts, lease, in_flight and budget.
title = "Which reminder works best?"

# rewards: "bernoulli" (0 or 1), "poisson", "exponential", {{ name = "gaussian", sigma = 1.0 }},
# or {{ name = "bounded", low = 0, high = 5 }} for anything in between
family = "bernoulli"

# how often the answer may be wrong
delta = 0.05

# a query that is not answered in this time is issued anew ("30m", "12h", "3d"); choose it long enough that lateness is rare and
# has nothing to do with rewards. With wait_for = "answer" the verdict waits for late answers as well.
lease = "3d"

# keep that many queries open at once: each answer brings the next query
# in_flight = 2

# stop in any case after that many queries, or that much cost
# budget = {{ queries = 500, cost = 2000.0 }}
{store}
# The options. `mean` is a guess that only `gobetween plan` and `gobetween simulate` use.
[[arms]]
name = "letter"
mean = 0.62

[[arms]]
name = "text message"
mean = 0.74

# Who can act. `policy`: how often they choose each option, if you know it (leave it out if not); `cost` of a query; `contact`.
[[mediators]]
name = "North"
policy = {{ "letter" = 0.8, "text message" = 0.2 }}
cost = 4.0
contact = "north@example.org"

[[mediators]]
name = "South"
policy = {{ "letter" = 0.3, "text message" = 0.7 }}
cost = 6.0
"""


@click.command("init")
@click.argument("file", default="study.toml", type=click.Path())
@click.option("--from-log", "logs", multiple=True, type=click.Path(), help="Begin from a log; repeat it for several files.")
@click.option("--mediator", help="Column of mediators in the log [default: mediator].")
@click.option("--arm", default="arm", show_default=True, help="Column of arms in the log.")
@click.option("--reward", default="reward", show_default=True, help="Column of rewards in the log.")
@click.option("--family", help="Family of the log's rewards, for a new FILE: bernoulli, gaussian:sigma=2, … [bernoulli].")
@click.option(
    "--store", help="Where to keep it: a SQLite file or postgresql://user@host/database [default: FILE with .sqlite]."
)
@click.option("--skip-bad", is_flag=True, help="Leave out rows of the log that cannot be used.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/live.md).")
def command(
    file: str,
    store: str | None,
    logs: tuple[str, ...],
    mediator: str | None,
    arm: str,
    reward: str,
    family: str | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Write a commented, working study file and make its store; an existing FILE is kept and gets its store.

    With --from-log the study begins from what a log holds (docs/logs.md says what must be true of it).
    """
    path = Path(file)
    if path.suffix != ".toml":
        raise StudyError(f"{file}: name a file that ends in .toml")
    os.environ.setdefault("GOBETWEEN_JIT", "off")
    from gobetween.study.opening import store_of
    from gobetween.study.spec import StudySpec
    from gobetween.study.study import Study
    from gobetween.study.transaction import verdict_words

    made, stopped = not path.exists(), None
    stats = _read(path, logs, (mediator, arm, reward), family, skip_bad) if logs else None
    if made:
        kept = "" if store is None else f"\n# where the study is kept\nstore = {_toml(store)}\n"
        text = TEMPLATE.format(store=kept) if stats is None else _from_log(stats, family, kept)
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise StudyError(f"{file}: cannot be written ({error.strerror})") from None
    elif store is not None and store_of(path)[0] not in (store, str(path.parent / store)):
        raise StudyError(f'{file} exists: write store = "{store}" into it, then run gobetween init again')
    made_store = not Path(store_of(path)[0]).exists()
    try:
        if stats is not None:
            stats.aligned(StudySpec.from_toml(path).arms, StudySpec.from_toml(path).mediators)
        study = Study.create(path)
        if stats is not None:
            stopped = study.absorb(stats, logs).stopped
    except BaseException:
        if made:
            kept_at = Path(store_of(path)[0])
            path.unlink()
            if made_store and kept_at.is_file():
                kept_at.unlink()
        raise
    if as_json:
        rows = None if stats is None else stats.rows
        click.echo(
            json.dumps({"format": 1, "file": file, "made": made, "store": store_of(path)[0], "rows_from_log": rows}, indent=2)
        )
        return
    click.echo(f"{'wrote' if made else 'kept'} {file} and made its store {store_of(path)[0]}")
    option = "" if file == "study.toml" else f" --study {file}"
    if stats is not None:
        click.echo(f"the study begins from {stats.rows:,} rows of {', '.join(logs)}")
        if stopped is not None:
            click.echo(f"it has its answer already: {verdict_words(stopped)}")
        click.echo(f"next: gobetween status{option}")
        return
    click.echo("next: change the file to your study, then gobetween ask" + option)


def _read(path: Path, logs: tuple[str, ...], names: tuple[str | None, str, str], family: str | None, skip_bad: bool) -> Any:
    """The statistics of the logs; the family is that of the study file where there is one."""
    from gobetween.cli.logs import parse_family_option
    from gobetween.core.families import Bernoulli
    from gobetween.logs.batch import Columns
    from gobetween.logs.reading import Task, count_logs
    from gobetween.study.spec import StudySpec

    if path.exists() and family is not None:
        raise StudyError(f"{path} says the family: leave out --family")
    chosen = StudySpec.from_toml(path).family if path.exists() else parse_family_option(family) if family else Bernoulli()
    columns = Columns(names[0] or "mediator", names[1], names[2])
    return count_logs(Task(chosen, columns, names[0] is not None, (), (), 0.05), logs, skip_bad)


def _from_log(stats: Any, family: str | None, kept: str) -> str:
    """A study file with the log's arms and mediators; their policies are estimated along the way."""
    from gobetween.cli.logs import parse_family_option

    chosen = parse_family_option(family or "bernoulli")
    parameters = ", ".join(f"{key} = {value!r}" for key, value in {"name": chosen.name, **chosen.parameters()}.items())
    lines = [
        "# A study that begins from a log: arms and mediators are the log's, policies are estimated from it.",
        'title = "A study that begins from a log"',
        f"family = {{ {parameters} }}".replace("'", '"'),
        "delta = 0.05",
        'lease = "3d"',
        kept,
        *(f"[[arms]]\nname = {_toml(name)}\n" for name in stats.arms),
        *(f"[[mediators]]\nname = {_toml(name)}\n" for name in stats.mediators),
    ]
    return "\n".join(lines)


def _toml(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise StudyError("--store: holds broken characters") from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # a JSON string is one of TOML too
