"""`gobetween init`: write a working study.toml and make its store."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gobetween.cli.plan import question_of
from gobetween.cli.plugins import ready
from gobetween.cli.template import TEMPLATE
from gobetween.cli.terminal import show, target
from gobetween.cli.verb import leave
from gobetween.cli.words import choice
from gobetween.cli.work import small_log
from gobetween.errors import StudyError, without_passwords
from gobetween.export import numbered
from gobetween.files.paths import path_of

if TYPE_CHECKING:
    from gobetween.core.family import Family
    from gobetween.core.question import Question
    from gobetween.logs.counts import LogStats
    from gobetween.study.transaction import Receipt


@click.command("init")
@click.argument("file", default="study.toml", type=click.Path())
@click.option("--from-log", "logs", multiple=True, type=click.Path(), help="Begin from a log; repeat it for several files.")
@click.option("--mediator", help="Column of mediators in the log [default: mediator].")
@click.option("--arm", default="arm", show_default=True, help="Column of arms in the log.")
@click.option("--reward", default="reward", show_default=True, help="Column of rewards in the log.")
@choice("family", "Family of the log's rewards, for a new FILE: {words} [default: bernoulli].")
@choice("question", "What a study from a log shall find out, for a new FILE: {words} [default: {default}].", metavar="QUESTION")
@click.option(
    "--store", help="Where to keep it: a SQLite file or postgresql://user@host/database [default: FILE with .sqlite]."
)
@click.option("--skip-bad", is_flag=True, help="Leave out rows of the log that cannot be used.")
@click.option("--silence", is_flag=True, help="Count rows of the log with neither arm nor reward as silence.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/live.md).")
def command(
    file: str,
    store: str | None,
    logs: tuple[str, ...],
    mediator: str | None,
    arm: str,
    reward: str,
    family: str | None,
    question: str | None,
    skip_bad: bool,
    silence: bool,
    as_json: bool,
) -> None:
    """Write a commented, working study file and make its store; an existing FILE is kept and gets its store.

    With --from-log the study begins from what a log holds (docs/logs.md says what must be true of it).
    """
    path = path_of(file)
    if path.suffix != ".toml":
        raise StudyError(f"{file}: name a file that ends in .toml")
    if store is not None and without_passwords(store) != store:
        raise StudyError("--store: holds a password: leave it out and set PGPASSWORD in the environment")
    ready(plain=not logs or small_log(logs, arm))
    from gobetween.study.opening import store_of
    from gobetween.study.transaction import verdict_words

    made = not path.exists()
    if question is not None and not (logs and made):
        raise StudyError(f"--question is for a new file from a log: write question = … into {file}")
    asked = question_of(question, None)
    stats = _read(path, logs, (mediator, arm, reward), family, asked, skip_bad, silence) if logs else None
    if made:
        _write(path, store, stats, family, asked, silence)
    elif store is not None and store_of(path)[0] not in (store, str(path.parent / store)):
        raise StudyError(f'{file} exists: write store = "{store}" into it, then run gobetween init again')
    receipt = _create(path, made, stats, logs)
    kept_at, option = store_of(path)[0], "" if file == "study.toml" else f" --study {file}"
    lines = [f"{'wrote' if made else 'kept'} {file} and made its store {kept_at}"]
    if stats is None or receipt is None:
        lines.append(f"next: change the file to your study, then gobetween ask{option}")
    else:
        lines.append(f"the study begins from {numbered(stats.rows, 'row')} of {', '.join(logs)}")
        if receipt.alarm is not None:
            lines.append(receipt.alarm)
        elif receipt.stopped is not None:
            lines.append(f"it has its answer already: {verdict_words(receipt.stopped)}")
        lines.append(f"next: gobetween status{option}")
    rows = None if stats is None else stats.rows
    show({"format": 1, "file": file, "made": made, "store": kept_at, "rows_from_log": rows}, as_json, *lines)
    leave(None if receipt is None else receipt.alarm)


def _write(
    path: Path, store: str | None, stats: "LogStats | None", family: str | None, asked: "Question", silence: bool
) -> None:
    kept = "" if store is None else f"\n# where the study is kept\nstore = {_toml(store)}\n"
    with target(str(path)) as stream:
        stream.write(TEMPLATE.format(store=kept) if stats is None else _from_log(stats, family, asked, silence, kept))


def _create(path: Path, made: bool, stats: "LogStats | None", logs: tuple[str, ...]) -> "Receipt | None":
    """Make the study, and give it the log; what that brought. What fails leaves no new file behind."""
    from gobetween.study.opening import store_of
    from gobetween.study.spec import StudySpec
    from gobetween.study.study import Study

    kept_at = Path(store_of(path)[0])
    made_store = not kept_at.exists()
    try:
        if stats is not None:
            stats.aligned(StudySpec.from_toml(path).arms, StudySpec.from_toml(path).mediators)
        study = Study.create(path)
        return None if stats is None else study.absorb(stats, logs)
    except BaseException:
        if made:
            path.unlink()
        if made_store and kept_at.is_file():
            kept_at.unlink()
        raise


def _read(
    path: Path,
    logs: tuple[str, ...],
    names: tuple[str | None, str, str],
    family: str | None,
    asked: "Question",
    skip_bad: bool,
    silence: bool,
) -> "LogStats":
    """The statistics of the logs; the family and the question are those of the study file where there is one."""
    from gobetween.cli.logs import family_of
    from gobetween.core.families import DEFAULT
    from gobetween.logs.options import LogOptions
    from gobetween.logs.reading import count_logs
    from gobetween.study.spec import StudySpec

    if path.exists() and family is not None:
        raise StudyError(f"{path} says the family: leave out --family")
    spec = StudySpec.from_toml(path) if path.exists() else None
    chosen, delta = (DEFAULT if family is None else family_of(family), 0.05) if spec is None else (spec.family, spec.delta)
    asked = asked if spec is None else spec.question
    mediator, arm, reward = names
    options = LogOptions(
        chosen, delta, mediator=mediator, arm=arm, reward=reward, skip_bad=skip_bad, question=asked, silence=silence
    )
    return count_logs(options, logs)


def _from_log(stats: "LogStats", family: str | None, asked: "Question", silence: bool, kept: str) -> str:
    """A study file with the log's arms and mediators; their policies are estimated along the way."""
    from gobetween.cli.logs import family_of
    from gobetween.core.asked import BEST
    from gobetween.core.families import DEFAULT

    chosen = DEFAULT if family is None else family_of(family)
    lines = [
        "# A study that begins from a log: arms and mediators are the log's, policies are estimated from it.",
        'title = "A study that begins from a log"',
        f"family = {_table(chosen)}",
        *([] if asked == BEST else [f"question = {_table(asked)}"]),
        "delta = 0.05",
        *(["silent = true"] if silence else []),
        'lease = "3d"',
        kept,
        *(f"[[arms]]\nname = {_toml(name)}\n" for name in stats.arms),
        *(f"[[mediators]]\nname = {_toml(name)}\n" for name in stats.mediators),
    ]
    return "\n".join(lines)


def _table(value: "Family | Question") -> str:
    """A family or a question as a table of TOML."""
    shown = ", ".join(f"{key} = {part!r}" for key, part in {"name": value.name, **value.parameters()}.items())
    return f"{{ {shown} }}".replace("'", '"')


def _toml(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise StudyError("--store: holds broken characters") from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # a JSON string is one of TOML too
