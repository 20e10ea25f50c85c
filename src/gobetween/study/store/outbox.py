"""Messages in a database: written with the events that they tell of, taken by one deliverer at a time."""

import json
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

from sqlalchemy import Connection, delete, func, select, tuple_, update

from gobetween.study.notify.messages import Message, Undelivered
from gobetween.study.store.tables import outbox

KEY = (outbox.c.about, outbox.c.channel, outbox.c.address)
KEPT = 30 * 86400.0  # seconds that a message stays after it was sent; that of an alarm stays, for it is told once


def post(connection: Connection, study: int, messages: Sequence[Message]) -> None:
    """New messages; those that were written before stay as they are."""
    rows = [
        message.__dict__
        | {
            "study": study,
            "body": json.dumps(message.body, ensure_ascii=False),
            "state": "waiting",
            "due": message.made,
            "error": "",
        }
        for message in messages
    ]
    connection.execute(_insert(connection.dialect.name), rows)


@cache
def _insert(dialect: str) -> Any:
    made: Any = import_module(f"sqlalchemy.dialects.{dialect}").insert(outbox)
    return made.on_conflict_do_nothing(index_elements=["study", *(column.name for column in KEY)])


def undelivered(connection: Connection, study: int) -> Undelivered:
    """What waits and what was given up."""
    wanted = select(outbox.c.state, func.count(), func.min(outbox.c.made)).where(outbox.c.study == study)
    found = connection.execute(wanted.where(outbox.c.state != "sent").group_by(outbox.c.state)).all()
    rows = {state: (int(n), since) for state, n, since in found}
    (waiting, since), (dead, _) = rows.get("waiting", (0, None)), rows.get("dead", (0, None))
    last = select(outbox.c.error).where(outbox.c.study == study, outbox.c.state == "dead").order_by(outbox.c.due.desc())
    return Undelivered(waiting, since, dead, str(connection.execute(last.limit(1)).scalar()) if dead else "")


def is_due(connection: Connection, study: int, channels: Sequence[str], now: float) -> bool:
    """Is there anything to take?"""
    return connection.execute(_due(study, channels, now).limit(1)).first() is not None


def _due(study: int, channels: Sequence[str], now: float) -> Any:
    where = (outbox.c.study == study) & (outbox.c.state == "waiting") & (outbox.c.due <= now)
    return select(outbox).where(where & outbox.c.channel.in_(channels)).order_by(outbox.c.due, outbox.c.made)


def claim(connection: Connection, study: int, channels: Sequence[str], now: float, until: float, most: int) -> list[Message]:
    """Take what is due: no one else gets it until then. Taking it counts as an attempt, for its taker may die of it."""
    found = connection.execute(_due(study, channels, now).limit(most).with_for_update(skip_locked=True)).all()
    keys = [(row.about, row.channel, row.address) for row in found]
    if keys:
        change = update(outbox).where(outbox.c.study == study, tuple_(*KEY).in_(keys))
        connection.execute(change.values(due=until, attempts=outbox.c.attempts + 1))
    return [
        Message(row.about, row.channel, row.address, row.id, row.made, json.loads(row.body), row.attempts + 1) for row in found
    ]


def mark(connection: Connection, study: int, message: Message, state: str, due: float, error: str, attempts: int) -> None:
    """What became of an attempt. That something was sent stands; what failed counts only where no one else has tried since."""
    key = (outbox.c.study == study) & (tuple_(*KEY) == (message.about, message.channel, message.address))
    mine = key if state == "sent" else key & (outbox.c.attempts == message.attempts) & (outbox.c.state == "waiting")
    connection.execute(update(outbox).where(mine).values(state=state, due=due, error=error, attempts=attempts))


def tidy(connection: Connection, study: int, now: float, again: bool) -> None:
    """Forget what was sent long ago; again: what was given up is tried again."""
    old = (outbox.c.state == "sent") & (outbox.c.due < now - KEPT) & ~outbox.c.about.startswith("alarm-")
    connection.execute(delete(outbox).where(outbox.c.study == study, old))
    if again:
        dead = update(outbox).where(outbox.c.study == study, outbox.c.state == "dead")
        connection.execute(dead.values(state="waiting", due=now, attempts=0))
