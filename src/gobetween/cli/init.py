"""`gobetween init`: write a working study.toml and make its store."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gobetween.cli.plugins import ready
from gobetween.cli.reading import Source, reading
from gobetween.cli.template import TEMPLATE
from gobetween.cli.terminal import show, target
from gobetween.cli.verb import leave
from gobetween.cli.work import small_log
from gobetween.errors import StudyError, without_passwords
from gobetween.export import numbered, shortened
from gobetween.files.paths import path_of

if TYPE_CHECKING:
    from gobetween.core.family import Family
    from gobetween.core.question import Question
    from gobetween.logs.counts import LogStats
    from gobetween.logs.options import LogOptions
    from gobetween.logs.report import LogReport
    from gobetween.study.transaction import Receipt


OPTION = {"only": "arms", "rename": "map"}  # options that are called otherwise in Python
FROM = click.option(
    "--from-log",
    "files",
    multiple=True,
    type=click.Path(allow_dash=True),
    help="Begin from a log; repeat it for several files.",
)


class Begun(NamedTuple):
    """A log that a study begins from."""

    stats: "LogStats"
    options: "LogOptions"
    report: "LogReport"


@click.command("init")
@click.argument("file", default="study.toml", type=click.Path())
@click.option(
    "--store", help="Where to keep it: a SQLite file or postgresql://user@host/database [default: FILE with .sqlite]."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/live.md).")
@reading(FROM)
def command(log: Source, file: str, store: str | None, as_json: bool) -> None:
    """Write a commented, working study file and make its store; an existing FILE is kept and gets its store.

    With --from-log the study begins from what a log holds (docs/logs.md says what must be true of it); all other options but
    --store and --json are about that log.
    """
    path = path_of(file)
    if path.suffix != ".toml":
        raise StudyError(f"{file}: name a file that ends in .toml")
    if store is not None and without_passwords(store) != store:
        raise StudyError("--store: holds a password: leave it out and set PGPASSWORD in the environment")
    logs = log.files
    ready(plain=not logs or small_log(logs, log.arm))
    from gobetween.study.opening import store_of
    from gobetween.study.transaction import verdict_words

    made = not path.exists()
    _check_said(log, file, made)
    found = _read(path, log) if logs else None
    stats = None if found is None else found.stats
    if made:
        _write(path, store, found)
    elif store is not None and store_of(path)[0] not in (store, str(path.parent / store)):
        raise StudyError(f'{file} exists: write store = "{store}" into it, then run gobetween init again')
    receipt = _create(path, made, stats, logs)
    kept_at, option = store_of(path)[0], "" if file == "study.toml" else f" --study {file}"
    lines = [f"{'wrote' if made else 'kept'} {file} and made its store {kept_at}"]
    if found is None or receipt is None:
        lines.append(f"next: change the file to your study, then gobetween ask{option}")
    else:
        from gobetween.pages.log import account_sentences

        lines.append(f"the study begins from {numbered(found.stats.rows, 'row')} of {shortened(logs)}")
        lines += account_sentences(found.report)
        if receipt.alarm is not None and found.report.broken is None:
            lines.append(receipt.alarm)
        elif receipt.alarm is None and receipt.stopped is not None:
            lines.append(f"it has its answer already: {verdict_words(receipt.stopped)}")
        lines.append(f"next: gobetween status{option}")
    begun = {"rows_from_log": None} if found is None else {"rows_from_log": found.stats.rows, "log": found.report.account()}
    show({"format": 1, "file": file, "made": made, "store": kept_at, **begun}, as_json, *lines)
    leave(None if receipt is None else receipt.alarm)


def _check_said(log: Source, file: str, made: bool) -> None:
    """What is said of a log that there is not, and what an existing file says itself, is refused."""
    for option, said in (("question", log.question), ("family", log.family), ("delta", log.delta), ("declared", log.declared)):
        if said is not None and not (log.files and made):
            instead = f"write {option} = … into {file}" if option != "declared" else f"{file} declares itself"
            raise StudyError(f"--{option} is for a new file from a log: {instead}")
    about = [name for name, said in log.reading().items() if said not in (None, False, "arm", "reward", ".")]
    if about and not log.files:
        raise StudyError(f"--{OPTION.get(about[0], about[0].replace('_', '-'))} is about a log: name it by --from-log")


def _write(path: Path, store: str | None, found: Begun | None) -> None:
    kept = "" if store is None else f"\n# where the study is kept\nstore = {_toml(store)}\n"
    with target(str(path)) as stream:
        stream.write(TEMPLATE.format(store=kept) if found is None else _from_log(found.stats, found.options, kept))


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


def _read(path: Path, log: Source) -> Begun:
    """The logs and what they say; an existing study file declares arms, mediators, policies, family, question and delta."""
    from gobetween.logs.analysis import report_of
    from gobetween.logs.options import options_of
    from gobetween.logs.reading import Reading
    from gobetween.logs.sources import each_source
    from gobetween.study.spec import StudySpec

    spec = StudySpec.from_toml(path) if path.exists() else None
    said: Any = log.arguments() if spec is None else {"family": spec.family, "delta": spec.delta, "question": spec.question}
    options = options_of(said | log.reading())
    reading = Reading(options)
    reading.read_all(each_source(log.files))
    along = reading.along
    if spec is not None:
        reading.stats.aligned(spec.arms, spec.mediators)
        if reading.stats.widen(spec.arms, spec.mediators) and along is not None:
            along = along._replace(claim=None)  # a claim needs every arm to have been seen
        options = replace(options, arms=spec.arms, declared=dict(zip(spec.mediators, spec.policies, strict=True)))
    report = report_of(options, reading.stats, along, log.files)
    return Begun(reading.stats.in_order(), options, report)


def _from_log(stats: "LogStats", options: "LogOptions", kept: str) -> str:
    """A study file with the log's arms and mediators; policies that are not declared are estimated along the way."""
    from gobetween.core.asked import BEST
    from gobetween.logs.policies import declared_policies

    policies = declared_policies(options, stats)
    lines = [
        "# A study that begins from a log: arms and mediators are the log's, policies not written here are estimated from it.",
        'title = "A study that begins from a log"',
        f"family = {_table(options.family)}",
        *([] if options.question == BEST else [f"question = {_table(options.question)}"]),
        f"delta = {options.delta!r}",
        *(["silent = true"] if options.silence else []),
        'lease = "3d"',
        kept,
        *(f"[[arms]]\nname = {_toml(name)}\n" for name in stats.arms),
        *(_mediator(name, stats.arms, policy) for name, policy in zip(stats.mediators, policies, strict=True)),
    ]
    return "\n".join(lines)


def _mediator(name: str, arms: Sequence[str], policy: Sequence[float] | None) -> str:
    lines = ["[[mediators]]", f"name = {_toml(name)}"]
    if policy is not None and any(map(math.isnan, policy)):
        lines.append(f"support = [{', '.join(_toml(arm) for arm, p in zip(arms, policy, strict=True) if p != 0.0)}]")
    elif policy is not None:
        lines.append(f"policy = {{ {', '.join(f'{_toml(arm)} = {p!r}' for arm, p in zip(arms, policy, strict=True))} }}")
    return "\n".join([*lines, ""])


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
