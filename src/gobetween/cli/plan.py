"""`gobetween plan`: read a file, plan, show."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from gobetween.cli.plugins import ready
from gobetween.cli.terminal import print_json, show_page, show_screen
from gobetween.cli.words import choice, told
from gobetween.cli.workload import small_problem
from gobetween.errors import GoBetweenError, SpecError
from gobetween.export import meant_number
from gobetween.files.paths import path_of
from gobetween.files.toml import read_toml

if TYPE_CHECKING:
    from gobetween.core.question.question import Question
    from gobetween.simulation.plan import Plan, QuestionPlan

T = TypeVar("T")


@click.command("plan")
@click.argument("file", type=click.Path())
@click.option(
    "--delta", metavar="D[,D…]", help="Risks of a wrong answer, such as 0.1,0.01 [default: the file's, or 0.1,0.05,0.01]."
)
@choice("question", "What to find out: {words} [default: the file's, or {default}].", metavar="QUESTION")
@click.option("--all", "everything", is_flag=True, help="Also what each mediator is worth, new mediators, other gaps and T*.")
@click.option("--report", "report_to", type=click.Path(), help="Also write a page with tables and figures to this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/plan.md).")
def command(file: str, delta: str | None, question: str | None, everything: bool, report_to: str | None, as_json: bool) -> None:
    """How many queries an experiment needs at least, whom to ask, who is not needed, and what would change that.

    FILE is a problem in TOML: arms with guessed means, mediators with policies and costs.
    """
    data = read_toml(file)
    ready(plain=small_problem(data) or question is not None or "question" in data)
    from gobetween.files.problem import parse_spec
    from gobetween.simulation.plan import DELTAS, plan_for

    spec = parse_spec(data, file, guess=True)
    deltas = deltas_of(delta, spec.settings.delta)
    asked = question_of(question, spec.settings.question)
    plan = named(file, lambda: plan_for(spec.problem, asked, deltas or DELTAS, spec.guessed))
    page = _write(report_to, spec.title, plan) if report_to else None
    if as_json:
        print_json({"title": spec.title} | plan.to_dict())
    else:
        from gobetween.pages.plan import sections, title_of

        title, parts = title_of(spec.title, plan), sections(plan)
        if everything:
            show_page(title, parts, ruled=True)
        else:
            show_screen(title, parts, "gobetween plan --all shows everything", ruled=True)
        if page:
            click.echo(f"\nThe report is {page}.")


def question_of(option: str | None, in_file: "Question | None") -> "Question":
    """The option's question, or the file's, or the best arm."""
    from gobetween.core.question.questions import BEST
    from gobetween.files.rules import parse_question, table_of

    return parse_question(table_of(option), "--question") if option is not None else in_file or BEST


def _write(folder: str, title: str, plan: "Plan | QuestionPlan") -> Path:
    from gobetween.pages.html import write_report
    from gobetween.pages.plan import sections, title_of

    return write_report(path_of(folder), title_of(title, plan), sections(plan, drawn=True))


def named(source: str, work: Callable[[], T]) -> T:
    """Do the work; a mistake is told with its source."""
    try:
        return work()
    except GoBetweenError as error:
        raise SpecError(f"{source}: {told(error)}") from None


def deltas_of(option: str | None, in_file: tuple[float, ...]) -> tuple[float, ...]:
    """The risks of the option, or else those of the file."""
    from gobetween.files.problem import parse_deltas

    return in_file if option is None else named("--delta", lambda: parse_deltas(_numbers(option)))


def _numbers(text: str) -> list[object]:
    """0.1,0.01 as numbers; what is not a number stays text, to be refused with its name."""
    if text.startswith("0,") and (meant := meant_number(text)):
        raise GoBetweenError(f"delta = {text!r}: must be a number{meant}")
    values: list[object] = []
    for part in text.split(","):
        try:
            values.append(float(part))
        except ValueError:
            values.append(part)
    return values
