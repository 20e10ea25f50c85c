"""The command line: one small file for each group of verbs, loaded when it is used."""

import atexit
import gc
import os
import re
import sys
import warnings
from functools import cache
from importlib import import_module
from io import TextIOWrapper

import click

from gobetween import __version__
from gobetween.cli.terminal import printable, wrapped
from gobetween.errors import GoBetweenError
from gobetween.export import meant_number, nearest
from gobetween.files.paths import is_writable_text

#: What there is besides the verbs of a live study; those come after `init`.
COMMANDS = {
    "reproduce": "The paper's tables beside ours, with a report to look at.",
    "plan": "How many queries an experiment needs at least, and whom to ask.",
    "simulate": "How many queries the rules really take, and how often they are wrong.",
    "experiment": "Run a grid of problems and rules, on threads, processes or a cluster; resume it, export it.",
    "logs": "The best arm from data that others have collected.",
    "demo": "A small study with simulated mediators, played in the terminal.",
    "init": "Write a study file and make its store.",
    "status": "The answer so far, and how far the study is from being sure.",
    "pending": "Queries that wait for an answer.",
    "check": "What an edited study file would change; nothing happens.",
    "events": "The log.",
    "export": "Queries as CSV, events as JSON lines.",
    "report": "A page with the answer and the figures.",
    "doctor": "Check the store and replay the log.",
    "serve": "Studies by HTTP: REST, live pages, and an inbox for each mediator.",
    "deliver": "Send the messages that a study file asks for under [notify].",
    "token": "Who may do what on a server: make, list and revoke tokens.",
    "backup": "Copy the store into a file, while others write.",
    "restore": "Bring back what is in a backup.",
}
#: Files that hold several commands, each under its own name. Any other command is `command` in a file of its own name or, of
#: verbs, made from the verb.
SHARED = {
    "queries": ("ask", "tell", "pending"),
    "people": ("add-mediator", "declare", "rename", "check"),
    "backup": ("backup", "restore"),
    "reports": ("status", "events", "export", "report", "doctor"),
}


@cache
def commands() -> dict[str, str]:
    """All commands, and what each does in one sentence."""
    from gobetween.study.commands.verbs import VERBS

    first = list(COMMANDS).index("init") + 1
    verbs = [(word, verb.summary()) for word, verb in VERBS.items()]
    return dict([*list(COMMANDS.items())[:first], *verbs, *list(COMMANDS.items())[first:]])


TRACEBACK = "GOBETWEEN_TRACEBACK"
#: What is read from the environment.
VARIABLES = ("GOBETWEEN_STUDY", "GOBETWEEN_PLUGINS", "GOBETWEEN_CACHE_DIR", "XDG_CACHE_HOME")


def check_text(text: str, what: str) -> None:
    """Refuse what a shell hands over that is no text in UTF-8, before it reaches a name, a store or the terminal."""
    if not is_writable_text(text):
        raise GoBetweenError(f"{what}{text!a} is not UTF-8, or holds NUL: write it in other characters")


def hinted(message: str, arguments: list[str]) -> str:
    """What click refuses, with the number that is meant, or with what a text program has made of quotes and hyphens."""
    wrong = re.search(r": '(.*)' is not a valid (float|integer)", message)
    if wrong and (meant := meant_number(wrong[1])) and (wrong[2] == "float" or meant.removeprefix("; write ").isdigit()):
        return f"{message.rstrip('.')}{meant}"
    if any(re.match("[–—]", argument) for argument in arguments):
        return f"{message} Write -- for – and —."
    if any(re.search("[“”„‘’]", argument) for argument in arguments):
        return f"{message} Write straight quotes, ' or \", for “ and ”."
    return message


class _Verbs(click.Group):
    """Commands by name, imported on demand: `--help` pays for none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(commands())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for variable in VARIABLES:
            check_text(os.environ.get(variable, ""), f"{variable}=")
        for argument in args:
            check_text(argument, "argument ")
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        home = next((file for file, names in SHARED.items() if cmd_name in names), None)
        if home is None and cmd_name not in COMMANDS:
            from gobetween.cli.verbs import plain_command

            return plain_command(cmd_name)
        module = import_module(f"gobetween.cli.{home or cmd_name}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_") if home else "command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if not args[0].startswith("-") and args[0] not in COMMANDS and args[0] not in commands():
            near = nearest(args[0], list(commands()))
            words = f"did you mean {near[0]}? gobetween --help lists all" if near else "gobetween --help lists them"
            raise GoBetweenError(f"there is no command {args[0]!r}: {words}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            raise click.UsageError(hinted(error.format_message(), sys.argv), error.ctx) from None
        except KeyboardInterrupt:
            click.echo("gobetween: stopped", err=True)
            ctx.exit(130)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(commands().items()))


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="gobetween")
@click.option("--plugin", multiple=True, metavar="MODULE", help="Import a module with families or rules of your own.")
def gobetween(plugin: tuple[str, ...]) -> None:
    """Find the best option when you can only act through go-betweens."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: mistakes are one sentence on standard error and exit status 2."""
    gc.set_threshold(100_000)  # what a command imports lives to its end: to look for cycles there took a third of a short one
    atexit.register(gc.freeze)
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
        if isinstance(error.filename, str):
            click.echo(f"gobetween: {printable(error.filename[:200])}: cannot be opened ({error.strerror})", err=True)
            sys.exit(2)
        click.echo(f"gobetween: cannot write ({error.strerror})", err=True)
        sys.exit(1)
    except MemoryError:
        click.echo("gobetween: there is not enough memory for this: name fewer arms, mediators or rows", err=True)
        sys.exit(1)
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        told_short = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        click.echo(printable(f"gobetween: {told_short}; this is a bug: report it with what {TRACEBACK}=1 shows"), err=True)
        sys.exit(70)
