"""The command line: one small file for each group of verbs, loaded when it is used."""

import sys
from importlib import import_module
from typing import Any

import click

from gobetween import __version__
from gobetween.errors import GoBetweenError

COMMANDS = {
    "reproduce": "The paper's tables beside ours, with a report to look at.",
    "plan": "How many queries an experiment needs at least, and whom to ask.",
    "simulate": "How many queries the rules really take, and how often they are wrong.",
    "experiment": "Run a grid of problems and rules, on threads, processes or a cluster; resume it, export it.",
    "logs": "The best arm from data that others have collected.",
    "demo": "A small study with simulated mediators, played in the terminal.",
    "init": "Write a study file and make its store.",
    "ask": "Whom to ask next.",
    "tell": "Record an answer.",
    "correct": "Replace an answer that was wrong.",
    "status": "The answer so far, and how far the study is from being sure.",
    "pending": "Queries that wait for an answer.",
    "cancel": "Withdraw an open query.",
    "away": "Ask a mediator no more until it is back.",
    "back": "A mediator can be asked again.",
    "pause": "Issue no more queries for now.",
    "resume": "Go on after a pause or a verdict.",
    "note": "Write something into the log.",
    "events": "The log.",
    "export": "Queries as CSV, events as JSON lines.",
    "report": "A page with the answer and the figures.",
    "doctor": "Check the store and replay the log.",
}
OWN_FILE = ("reproduce", "plan", "simulate", "experiment", "logs", "demo", "init")  # the others are verbs of a study


class _Verbs(click.Group):
    """Commands by name, imported on demand: `--help` pays for none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        own = cmd_name in OWN_FILE
        module = import_module(f"gobetween.cli.{cmd_name if own else 'study'}")
        command: click.Command = getattr(module, "command" if own else cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="gobetween")
def gobetween() -> None:
    """Find the best option when you can only act through go-betweens."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: mistakes are one sentence on standard error and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")
    try:
        gobetween.main(args=arguments, prog_name="gobetween")
    except GoBetweenError as error:
        click.echo(f"gobetween: {printable(str(error))}", err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(f"gobetween: cannot write ({error.strerror})", err=True)
        sys.exit(1)


def printable(text: str) -> str:
    """Text that is safe to show in a terminal: control characters are spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
