"""Who is told when something happens: `[notify]` of a study file, and the messages that events make. Nothing is sent here.

A study file names what is secret (addresses of webhooks, passwords) by variables of the environment in which messages are
delivered: neither the file nor the store holds it, and no one who writes a study file can have anything sent to a place that
the person who runs the deliverer has not named.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from gobetween.errors import SpecError
from gobetween.files.fields import only, show, text, typed

EVENTS = ("waiting", "overdue", "alarm", "stopped")
CHANNELS = ("webhook", "mail", "command")
KEYS = ("events", *CHANNELS, "from", "to")
#: Events after which an alarm may be raised that was not before.
ANSWERS = ("told", "silent", "corrected", "voided", "moved", "absorbed")
VARIABLE = re.compile(r"GOBETWEEN_[A-Z0-9_]{1,80}")
_ADDRESS = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*"
ADDRESS = re.compile(_ADDRESS)
NAMED = re.compile(rf"(?P<alone>{_ADDRESS})|[^<>\x00-\x1f]*<(?P<named>{_ADDRESS})>")


@dataclass(frozen=True)
class Message:
    """A message on its way to one receiver."""

    about: str  # what it is about, such as overdue-17: a study tells each receiver once
    channel: str  # webhook, mail or command
    address: str  # of a mail; "" otherwise
    id: str  # by which a receiver recognises a repeat
    made: float
    body: Mapping[str, Any]
    attempts: int = 0


@dataclass(frozen=True)
class Undelivered:
    """How many messages wait (the oldest since `since`), how many were given up, and why the last of these was."""

    waiting: int = 0
    since: float | None = None
    dead: int = 0
    why: str = ""

    def words(self, now: float) -> str | None:
        """What people should know, in one sentence; None where all is well."""
        from gobetween.words.messages import undelivered_words

        return undelivered_words(self, now)


@dataclass(frozen=True)
class Notify:
    """Who is told of what."""

    events: tuple[str, ...] = EVENTS
    webhook: str | None = None  # the variable that holds its address; NAME_SECRET holds the key of the signature
    mail: str | None = None  # the variable that holds the server's address, with name and password
    sender: str = ""
    to: tuple[str, ...] = ()  # who gets mails that are not for a mediator
    command: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As a file says it."""
        kept = {"webhook": self.webhook, "mail": self.mail, "from": self.sender, "to": list(self.to)}
        said = {**kept, "command": list(self.command)}
        return {"events": list(self.events), **{key: value for key, value in said.items() if value}}

    @property
    def channels(self) -> tuple[str, ...]:
        """Those that are named."""
        return tuple(name for name in CHANNELS if getattr(self, name))


def parse_notify(data: Any) -> Notify | None:
    """What a file says under `notify`; None where it says nothing."""
    if data is None:
        return None
    table = typed(data, Mapping, "notify", "a table: write [notify]")
    only(table, KEYS, "notify.")
    webhook, mail = (_variable(table.get(key), f"notify.{key}") for key in ("webhook", "mail"))
    found = Notify(_events(table.get("events")), webhook, mail, _sender(table, mail), _receivers(table, mail), _command(table))
    if not found.channels:
        raise SpecError(f"notify: no recipient: name at least one of {', '.join(CHANNELS)}")
    return found


def _variable(value: Any, path: str) -> str | None:
    if value is None:
        return None
    if not VARIABLE.fullmatch(text(value, path)):
        words = "must be the name of a variable such as GOBETWEEN_HOOK, in whose value the address is"
        raise SpecError(f"{path}: {words}; an address itself does not belong into a study file")
    return str(value)


def _events(value: Any) -> tuple[str, ...]:
    if value is None:
        return EVENTS
    if not isinstance(value, list) or not value or not all(event in EVENTS for event in value):
        raise SpecError(f"notify.events = {show(value)}: must be a list of some of {', '.join(EVENTS)}")
    return tuple(event for event in EVENTS if event in value)


def _sender(table: Mapping[str, Any], mail: str | None) -> str:
    if mail is None and ("from" in table or "to" in table):
        raise SpecError("notify.mail is missing: name the variable that holds the address of the mail server")
    if mail is None:
        return ""
    if "from" not in table:
        raise SpecError("notify.from is missing: write the address that mails come from")
    return _address(table["from"], "notify.from")


def _receivers(table: Mapping[str, Any], mail: str | None) -> tuple[str, ...]:
    if mail is None:
        return ()
    found = table.get("to")
    if not isinstance(found, list) or not found:
        raise SpecError("notify.to is missing: write a list of those who get mails that are not for a mediator")
    return tuple(dict.fromkeys(_address(one, f"notify.to[{i}]") for i, one in enumerate(found)))


def _address(value: Any, path: str) -> str:
    if not ADDRESS.fullmatch(text(value, path)):
        raise SpecError(f"{path} = {show(value)}: must be an address such as lead@example.org")
    return str(value)


def _command(table: Mapping[str, Any]) -> tuple[str, ...]:
    found = table.get("command", [])
    if not isinstance(found, list) or ("command" in table and not found):
        raise SpecError(f'notify.command = {show(found)}: must be a list of words such as ["./remind", "quietly"]')
    return tuple(text(word, f"notify.command[{i}]") for i, word in enumerate(found))


def mail_address(contact: str) -> str | None:
    """The address in what is known of how to reach someone; None where there is none that a mail can safely be sent to."""
    found = NAMED.fullmatch(contact.strip())
    return None if found is None else found["alone"] or found["named"]


def messages_of(notify: Notify, happened: Sequence[Mapping[str, Any]], title: str, now: float) -> list[Message]:
    """What is to be told of what has happened: `about`, the kind of event, the sentence, and what more there is."""
    found = []
    for one in happened:
        if one["event"] in notify.events:
            body = {"title": title, "at": now, **{key: value for key, value in one.items() if key != "about"}}
            number = uuid4().hex
            found += [Message(one["about"], *to, number, now, body) for to in _to(notify, one)]
    return found


def _to(notify: Notify, one: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Channels and addresses: a mediator is told of its own queries by mail, and those who run the study of all else."""
    for channel in notify.channels:
        if channel != "mail":
            yield channel, ""
            continue
        own = mail_address(one.get("contact") or "")
        others = () if one["event"] == "waiting" else notify.to
        yield from (("mail", address) for address in dict.fromkeys([*([own] if own else []), *others]))
