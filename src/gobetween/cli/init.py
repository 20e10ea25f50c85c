"""`gobetween init`: write a working study.toml and make its store."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gobetween.cli.log_options import LogArguments, reading
from gobetween.cli.plugins import ready
from gobetween.cli.template import TEMPLATE
from gobetween.cli.terminal import show, target
from gobetween.cli.verb import leave
from gobetween.cli.workload import small_log
from gobetween.errors import StudyError, without_passwords
from gobetween.export import numbered, shortened
from gobetween.files.paths import path_of

if TYPE_CHECKING:
    from gobetween.core.question.question import Question
    from gobetween.core.reward.family import Family
    from gobetween.logs.analysis.report import LogReport
    from gobetween.logs.reading.counts import LogStats
    from gobetween.logs.reading.options import LogOptions
    from gobetween.study.journal.receipts import Receipt


OPTION = {"only": "arms", "rename": "map"}  # options that are called otherwise in Python
FROM = click.option(
    "--from-log",
    "files",
    multiple=True,
    type=click.Path(allow_dash=True),
    help="Begin from a log; repeat it for several files.",
)


class StartingLog(NamedTuple):
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
@click.option("--as-guess", is_flag=True, help="The log only says what to expect: a guess of the means; no row is counted.")
@click.option("--shift", type=click.FloatRange(min=0.0), help="With --as-guess: by how much means may have changed.")
@reading(FROM)
def command(log: LogArguments, file: str, store: str | None, as_json: bool, as_guess: bool, shift: float | None) -> None:
    """Write a commented, working study file and make its store; an existing FILE is kept and gets its store.

    With --from-log the study begins from what a log holds (docs/logs.md says what must be true of it); all other options but
    --store and --json are about that log. With --as-guess none of its rows is counted: a log that is only half trusted.
    """
    path = path_of(file)
    if path.suffix != ".toml":
        raise StudyError(f"{file}: name a file that ends in .toml")
    if store is not None and without_passwords(store) != store:
        raise StudyError("--store: holds a password: leave it out and set PGPASSWORD in the environment")
    logs = log.files
    ready(plain=not logs or small_log(logs, log.arm))
    from gobetween.study.find_study import store_of
    from gobetween.words.study import verdict_words

    made = not path.exists()
    _check_said(log, file, made)
    _check_guess(as_guess, shift, bool(logs), made, file)
    found = _read(path, log) if logs else None
    stats = None if found is None else found.stats
    if made:
        _write(path, store, found, (shift or 0.0) if as_guess else None)
    elif store is not None and store_of(path)[0] not in (store, str(path.parent / store)):
        raise StudyError(f'{file} exists: write store = "{store}" into it, then run gobetween init again')
    receipt = _create(path, made, None if as_guess else stats, logs)
    kept_at, option = store_of(path)[0], "" if file == "study.toml" else f" --study {quote(file)}"
    lines = [f"{'wrote' if made else 'kept'} {file} and made its store {kept_at}"]
    if found is not None and as_guess:
        lines.append(f"the guess is that of {numbered(found.stats.rows, 'row')} of {shortened(logs)}, none of which is counted")
        lines.append(f"next: gobetween ask{option}")
    elif found is None or receipt is None:
        lines.append(f"next: change the file to your study, then gobetween ask{option}")
    else:
        from gobetween.words.logs import account_sentences

        lines.append(f"the study begins from {numbered(found.stats.rows, 'row')} of {shortened(logs)}")
        lines += account_sentences(found.report)
        if receipt.alarm is not None and found.report.broken is None:
            lines.append(receipt.alarm)
        elif receipt.alarm is None and receipt.stopped is not None:
            lines.append(f"it has its answer already: {verdict_words(receipt.stopped)}")
        lines.append(f"next: gobetween status{option}")
    counted = None if as_guess else found
    begun = (
        {"rows_from_log": None} if counted is None else {"rows_from_log": counted.stats.rows, "log": counted.report.account()}
    )
    show({"format": 1, "file": file, "made": made, "store": kept_at, **begun}, as_json, *lines)
    leave(None if receipt is None else receipt.alarm)


def _check_said(log: LogArguments, file: str, made: bool) -> None:
    """What is said of a log that there is not, and what an existing file says itself, is refused."""
    for option, said in (("question", log.question), ("family", log.family), ("delta", log.delta), ("declared", log.declared)):
        if said is not None and not (log.files and made):
            instead = f"write {option} = … into {file}" if option != "declared" else f"{file} declares itself"
            raise StudyError(f"--{option} is for a new file from a log: {instead}")
    about = [name for name, said in log.reading().items() if said not in (None, False, "arm", "reward", ".")]
    if about and not log.files:
        raise StudyError(f"--{OPTION.get(about[0], about[0].replace('_', '-'))} is about a log: name it by --from-log")


def _check_guess(as_guess: bool, shift: float | None, log: bool, made: bool, file: str) -> None:
    """A guess is made from a log, for a new file."""
    if shift is not None and not as_guess:
        raise StudyError("--shift is about a guess: add --as-guess")
    if as_guess and not log:
        raise StudyError("--as-guess is about a log: name it by --from-log")
    if as_guess and not made:
        raise StudyError(f"--as-guess is for a new file: write mean and spread of each arm into {file}")


def _write(path: Path, store: str | None, found: StartingLog | None, shift: float | None) -> None:
    kept = "" if store is None else f"\n# where the study is kept\nstore = {_toml(store)}\n"
    with target(str(path)) as stream:
        stream.write(TEMPLATE.format(store=kept) if found is None else _from_log(found.stats, found.options, kept, shift))


def _create(path: Path, made: bool, stats: "LogStats | None", logs: tuple[str, ...]) -> "Receipt | None":
    """Make the study, and give it the log; what that brought. What fails leaves no new file behind."""
    from gobetween.study.find_study import store_of
    from gobetween.study.spec.spec import StudySpec
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


def _read(path: Path, log: LogArguments) -> StartingLog:
    """The logs and what they say; an existing study file declares arms, mediators, policies, family, question and delta."""
    from gobetween.logs.analysis.analysis import report_of
    from gobetween.logs.reading.options import options_of
    from gobetween.logs.reading.reading import Reading
    from gobetween.study.spec.spec import StudySpec

    spec = StudySpec.from_toml(path) if path.exists() else None
    if spec is not None:
        spec.new_learner().state.check_unguessed()
    said: Any = (
        log.arguments() if spec is None else {name: getattr(spec.design, name) for name in ("family", "delta", "question")}
    )
    options = options_of(said | log.reading())
    reading = Reading(options)
    reading.read_all(log.files)
    history = reading.history
    if spec is not None:
        reading.stats.aligned(spec.arms, spec.mediators)
        if reading.stats.widen(spec.arms, spec.mediators) and history is not None:
            history = history._replace(claim=None)  # a claim needs every arm to have been seen
        options = replace(options, arms=spec.arms, declared=spec.cast.policies_by_name())
    report = report_of(options, reading.stats, history, log.files)
    return StartingLog(reading.stats.in_order(), options, report)


def _from_log(stats: "LogStats", options: "LogOptions", kept: str, shift: float | None) -> str:
    """A study file with the log's arms and mediators; policies that are not declared are estimated along the way.

    shift: by how much means may have changed where the log is but a guess.
    """
    from gobetween.core.evidence.guess import Guess
    from gobetween.logs.analysis.policies import declared_policies

    policies, tally, told = declared_policies(options, stats), stats.tally(), [""] * len(stats.arms)
    if shift is not None:
        guess = Guess.from_counts(options.family, tally.N_a, tally.S_a, shift)
        told = [f"mean = {mean!r}\nspread = {s!r}\n" for mean, s in zip(guess.means, guess.spread, strict=True)]
    lines = [
        "# A study that begins from a log: arms and mediators are the log's, policies not written here are estimated from it."
        if shift is None
        else "# Arms and mediators are those of a log, which is a guess of the means (docs/stopping.md) and is not counted.",
        'title = "A study that begins from a log"',
        f"family = {_table(options.family)}",
        *([] if options.question.names_leader else [f"question = {_table(options.question)}"]),
        f"delta = {options.delta!r}",
        *(["silent = true"] if options.silence else []),
        'lease = "3d"',
        kept,
        *(f"[[arms]]\nname = {_toml(name)}\n{more}" for name, more in zip(stats.arms, told, strict=True)),
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
