"""`gobetween deliver`: the messages that a study file asks for, for those who run no server."""

import sys
import time

import click

from gobetween.cli.verb import Call, study_command
from gobetween.errors import StudyError


@study_command("deliver")
@click.option("--watch", is_flag=True, help="Go on until Ctrl-C.")
@click.option("--run-commands", is_flag=True, help="Run the command that the study file names under [notify].")
@click.option("--again", is_flag=True, help="Try again to deliver what was given up.")
def command(call: Call, watch: bool, run_commands: bool, again: bool) -> None:
    """Send the messages that a study file asks for under [notify]; exit status 1 if some could not be delivered.

    gobetween serve does this by itself.
    """
    study = call.open()
    from gobetween.study.delivery import POLL, Deliverer
    from gobetween.words.messages import round_words

    if study.spec.notify is None:
        raise StudyError("the study file has no [notify]: add one to notify people (docs/service.md)")
    if again:
        study.store.tidy(study.name, True)
    deliverer, failed = Deliverer(run_commands), False
    while True:
        done = deliverer.round(study)
        failed = failed or bool(done.why)
        if not watch or done.sent or done.failed or done.given_up:
            call.show({name: value for name, value in vars(done).items()}, round_words(done))
        if not watch:
            sys.exit(1 if failed else 0)
        time.sleep(POLL)
