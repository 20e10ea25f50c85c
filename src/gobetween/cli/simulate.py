"""`gobetween simulate`: play a problem many times with the rules of your choice."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gobetween.cli.plan import deltas_of, named, question_of
from gobetween.cli.plugins import ready
from gobetween.cli.terminal import check_target, print_json, show_page, target
from gobetween.cli.words import choice
from gobetween.errors import SpecError
from gobetween.export import numbered
from gobetween.files.toml import read_toml

if TYPE_CHECKING:
    from gobetween.core.evidence.guess import Guess
    from gobetween.core.problem.problem import Problem
    from gobetween.files.problem import Budget
    from gobetween.files.rules import NamedRule
    from gobetween.simulation.guess_worth import GuessWorth
    from gobetween.simulation.runs import Runs
    from gobetween.simulation.summary import Summary

BUDGET = "Also count the runs that are decided within this cost (without costs: queries)"


@click.command("simulate")
@click.argument("file", type=click.Path())
@click.option("--delta", metavar="D[,D…]", help="Risks of a wrong answer [default: the file's, or 0.1,0.05,0.01].")
@click.option("--runs", type=int, help="How many runs [default: the file's, or 1000].")
@click.option("--seed", type=int, help="One seed gives one result, whatever the number of workers [default: the file's, or 0].")
@choice("sampling", "Whom to ask: {words} [default: the file's, or {default}].", metavar="RULE")
@choice("stopping", "When to stop: {words} [default: the file's, or {default}].", metavar="RULE")
@choice("question", "What to find out: {words} [default: the file's, or {default}].", metavar="QUESTION")
@click.option("--max-steps", type=int, help="Runs that take longer are censored [default: the file's, or 10,000,000].")
@click.option("--budget", type=float, help=f"{BUDGET} [default: the file's].")
@click.option("--workers", type=int, default=None, help="Threads [default: one for each core].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (its shape: docs/simulate.md).")
@click.option("--csv", type=click.Path(), help="Also write one row for each run and delta to this file.")
def command(
    file: str,
    delta: str | None,
    runs: int | None,
    seed: int | None,
    sampling: str | None,
    stopping: str | None,
    question: str | None,
    max_steps: int | None,
    budget: float | None,
    workers: int | None,
    as_json: bool,
    csv: str | None,
) -> None:
    """How many queries the rules really take, and how often they are wrong, if the means are as in FILE."""
    data = read_toml(file)
    check_target(csv, "--csv", file)
    ready()
    from gobetween.files.problem import parse_spec
    from gobetween.files.rules import guessing
    from gobetween.simulation.engine import MAX_STEPS, RUNS, simulate
    from gobetween.simulation.guess_worth import guess_worth
    from gobetween.simulation.plan import DELTAS
    from gobetween.simulation.progress import bar
    from gobetween.simulation.summary import summarise
    from gobetween.words.verdict import question_words

    spec = parse_spec(data, file)
    settings = spec.settings
    limit = budget_of(budget, settings.budget)
    deltas = deltas_of(delta, settings.delta) or DELTAS
    who, when = _rule("sampling", sampling, settings.sampling, file), _rule("stopping", stopping, settings.stopping, file)
    asked = question_of(question, settings.question)
    runs = first(runs, settings.runs, RUNS)
    seed, most = first(seed, settings.seed, 0), first(max_steps, settings.max_steps, MAX_STEPS)

    def play(guess: "Guess | None", advance: "Callable[[int], None] | None" = None) -> "Runs":
        rule = guessing(when, guess).rule
        return simulate(spec.problem, who.rule, rule, deltas, runs, seed, workers, most, advance, question=asked)

    with bar(runs, as_json) as advance:
        result = named(file, lambda: play(spec.guess, advance))
    worth = guess_worth(spec.guess, result, play) if spec.guess is not None and when.rule.guesses else ()
    if csv:
        _write(csv, result)
    rows = summarise(spec.problem, replace(result, budget=limit))
    if as_json:
        about = {"title": spec.title, "format": 1, "sampling": who.name, "stopping": when.name, "runs": runs, "seed": seed}
        about |= {"family": spec.problem.family.to_dict(), "question": asked.to_dict()}
        about |= {"guess": [part.to_dict() for part in worth]} if worth else {}
        print_json(about | {"results": [row.to_dict() for row in rows]})
    else:
        what = "" if asked.names_leader else f"Question {question_words(asked)}; "
        rules = f"{what}sampling {who.name}, stopping {when.name}, {numbered(runs, 'run')}"
        rules = f"{rules[:1].upper()}{rules[1:]}"
        _show(spec.title, rules, spec.problem, rows, worth)


def budget_of(option: float | None, in_file: "Budget") -> "Budget":
    """The budget of the option, a cost, or else that of the file."""
    from gobetween.files.problem import parse_budget

    return in_file if option is None else named("--budget", lambda: parse_budget({"cost": option}))


def first(*values: int | None) -> int:
    """The first that is given."""
    return next(value for value in values if value is not None)


def _rule(side: str, option: str | None, in_file: "tuple[NamedRule, ...]", file: str) -> "NamedRule":
    """The option's rule, or the file's, or the default."""
    from gobetween.files.rules import default, parse_rule

    if option is not None:
        return parse_rule(option, side, f"--{side}")
    if len(in_file) > 1:
        raise SpecError(f"{file}: {side} names {len(in_file)} rules: choose one with --{side}, or run gobetween experiment")
    return in_file[0] if in_file else default(side)


def _write(path: str, result: "Runs") -> None:
    with target(path, "--csv") as stream:
        stream.write("run,delta,tau,correct,censored\n")
        for run in range(len(result.tau)):
            for d, delta in enumerate(result.deltas):
                flags = f"{int(result.correct[run, d])},{int(result.censored[run, d])}"
                stream.write(f"{run},{delta!r},{result.tau[run, d]},{flags}\n")


def _show(title: str, rules: str, problem: "Problem", rows: "Sequence[Summary]", worth: "Sequence[GuessWorth]") -> None:
    from gobetween.pages.blocks import Section, Text
    from gobetween.pages.runs import guess_texts, rewards_text, summary_blocks

    blocks = [Text(rules), rewards_text(problem), *summary_blocks(rows, problem.costs is not None), *guess_texts(worth)]
    show_page(title or "Simulation", [Section("", blocks)], ruled=True)
