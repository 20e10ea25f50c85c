"""The command line: one small file for each group of verbs, loaded when it is used."""

import sys
import warnings
from importlib import import_module
from io import TextIOWrapper

import click

from gobetween import __version__
from gobetween.cli.terminal import printable, wrapped
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
    "void": "Take an answer out of the count.",
    "status": "The answer so far, and how far the study is from being sure.",
    "pending": "Queries that wait for an answer.",
    "cancel": "Withdraw an open query.",
    "away": "Ask a mediator no more until it is back.",
    "back": "A mediator can be asked again.",
    "pause": "Issue no more queries for now.",
    "resume": "Go on after a pause or a verdict.",
    "rename": "Give an arm or a mediator another name.",
    "check": "What an edited study file would change; nothing happens.",
    "note": "Write something into the log.",
    "events": "The log.",
    "export": "Queries as CSV, events as JSON lines.",
    "report": "A page with the answer and the figures.",
    "doctor": "Check the store and replay the log.",
    "backup": "Copy the store into a file, while others write.",
    "restore": "Bring back what is in a backup.",
}
#: Files that hold several commands, each under its own name; any other command is `command` in a file of its own name.
SHARED = {
    "asking": ("ask", "tell", "correct", "void", "cancel", "pending"),
    "people": ("away", "back", "pause", "resume", "rename", "check", "note"),
    "backup": ("backup", "restore"),
    "looking": ("status", "events", "export", "report", "doctor"),
}


class _Verbs(click.Group):
    """Commands by name, imported on demand: `--help` pays for none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        home = next((file for file, names in SHARED.items() if cmd_name in names), None)
        module = import_module(f"gobetween.cli.{home or cmd_name}")
        command: click.Command = getattr(module, cmd_name if home else "command")
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("gobetween: stopped", err=True)
            ctx.exit(130)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="gobetween")
@click.option("--plugin", multiple=True, metavar="MODULE", help="Import a module with families or rules of your own.")
def gobetween(plugin: tuple[str, ...]) -> None:
    """Find the best option when you can only act through go-betweens."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: mistakes are one sentence on standard error and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    warnings.formatwarning = lambda message, *_, **__: f"gobetween: {message}\n"
    try:
        gobetween.main(args=arguments, prog_name="gobetween")
    except GoBetweenError as error:
        from gobetween.cli.words import told

        click.echo(wrapped(f"gobetween: {printable(told(error))}", sys.stderr), err=True)
        sys.exit(error.status)
    except OSError as error:
        click.echo(f"gobetween: cannot write ({error.strerror})", err=True)
        sys.exit(1)
