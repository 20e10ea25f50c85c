"""`gobetween serve`: studies for people and programs elsewhere, by HTTP."""

import os

import click

from gobetween.cli.plugins import ready
from gobetween.cli.verb import VARIABLE
from gobetween.errors import StudyError

PORT = 8177


@click.command("serve")
@click.argument("studies", nargs=-1, metavar="[STUDY]…")
@click.option("--store", help="Serve all studies of a SQLite file or a URL, and make new ones there.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; only this machine reaches 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0: any that is free.")
@click.option("--public-url", help="The address by which others reach it, through a proxy that does TLS.")
@click.option("--lan", is_flag=True, help="Let phones and computers of this network reach it; shows a code to scan.")
@click.option("--run-commands", is_flag=True, help="Run the commands that study files name under [notify].")
def command(
    studies: tuple[str, ...], store: str | None, host: str, port: int, public_url: str | None, lan: bool, run_commands: bool
) -> None:
    """Serve studies by HTTP: REST, live pages, and an inbox for each mediator (docs/service.md).

    STUDY is a study.toml, a SQLite file or a URL; ./study.toml when nothing is said.
    """
    ready()
    try:
        from gobetween.service.run import serve
    except ImportError:
        raise StudyError("serving needs FastAPI and uvicorn: pip install 'gobetween[service]'") from None
    from gobetween.service.studies import Studies

    places = studies or (() if store is not None else (os.environ.get(VARIABLE) or "study.toml",))
    say = _say_lan if lan else _say if public_url else _say_alone
    serve(Studies(places, store), host, port, public_url, say, run_commands, lan)


def _say(base: str, link: str) -> None:
    click.echo(f"serving at {base}; stop with Ctrl-C")
    click.echo(f"open this link as administrator: {link}")


def _say_alone(base: str, link: str) -> None:
    _say(base, link)
    click.echo("only this computer can reach it; phones in this network can with --lan, others with --public-url")


def _say_lan(base: str, link: str) -> None:
    import segno

    _say(base, link)
    segno.make(link, error="l").terminal(compact=True)
    click.echo("no encryption: everyone in this network can read the traffic, so use it only in a network that you trust")
