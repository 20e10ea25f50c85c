"""Delivers messages: takes those that are due, sends them, and writes down what became of them.

At least once: a deliverer that dies between sending and writing it down leaves a message that is sent again, under the same id.
Several deliverers may work on one store: each takes messages for a while, in which no other gets them.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage

from gobetween.study.commands.lifecycle import Tick
from gobetween.study.journal.record import present_spec
from gobetween.study.journal.transaction import state_of
from gobetween.study.notify import channels
from gobetween.study.notify.channels import DeliveryError
from gobetween.study.notify.messages import CHANNELS, Message, Notify, parse_notify
from gobetween.study.study import Study

AT_ONCE = 8  # messages that are taken together
LEASE = AT_ONCE * channels.LIMIT + 40.0  # seconds that they are one's own
FIRST, LONGEST, ATTEMPTS = 5.0, 3600.0, 24  # seconds before the second attempt, and at most; so many attempts take 15 hours
POLL = 2.0  # seconds between rounds
TURNS = 25  # times that one study takes messages before others have their turn


@dataclass
class DeliveryResult:
    """What came of one look at a study."""

    sent: int = 0
    failed: int = 0
    given_up: int = 0
    moot: int = 0  # mails about queries that were answered before they could be sent
    why: list[str] = field(default_factory=list)  # what went wrong, each sentence once


@dataclass(frozen=True)
class DeliveryPlan:
    """A study after an event: who is told, and when the next lease ends."""

    seq: int
    notify: Notify | None
    next: float | None


class Deliverer:
    """Goes round studies. commands: may it run those that study files name? A study may come from afar."""

    def __init__(self, commands: bool = False, environment: Mapping[str, str] = os.environ) -> None:
        self._commands, self._environment = commands, environment
        self._seen: dict[tuple[str, str], DeliveryPlan] = {}

    def round(self, study: Study) -> DeliveryResult:
        """Write down what time has brought, then deliver what is due, until nothing is or a receiver fails."""
        before = self._seen.get((study.store.place, study.name))
        seen, done = self._look(study), DeliveryResult()
        if seen.notify is None and seen is before:  # no one is told, and nothing has happened
            return done
        done.why += [] if seen.notify is None else self.lacking(seen.notify)
        for _ in range(TURNS):
            taken = study.store.claim(study.name, self._channels(seen.notify), LEASE, AT_ONCE)
            for channel in dict.fromkeys(message.channel for message in taken):
                self._deliver(study, seen.notify, [one for one in taken if one.channel == channel], done)
            if not taken or done.failed or done.given_up:
                break
        done.why = list(dict.fromkeys(done.why))
        return done

    def lacking(self, notify: Notify) -> list[str]:
        """Why some channels cannot be used here: others may know how."""
        found = []
        if notify.command and not self._commands:
            found.append("command: this server may not run commands")
        for name in self._variables(notify):
            if not self._environment.get(name):
                found.append(f"{name} is not set in the environment: set it where messages are delivered")
        return found

    def _variables(self, notify: Notify, channels: Collection[str] = CHANNELS) -> list[str]:
        """What the channels need to know of the environment."""
        hook = [notify.webhook, f"{notify.webhook}_SECRET"] if notify.webhook and "webhook" in channels else []
        return [*hook, *([notify.mail] if notify.mail and "mail" in channels else [])]

    def _channels(self, notify: Notify | None) -> list[str]:
        """Those that can be served here, and those that the study does not name any more."""
        if notify is None:
            return list(CHANNELS)
        barred = ["command"] if notify.command and not self._commands else []
        return [
            channel
            for channel in CHANNELS
            if channel not in barred and all(self._environment.get(name) for name in self._variables(notify, (channel,)))
        ]

    def _look(self, study: Study) -> DeliveryPlan:
        """When a lease has ended since, that is written down first, which makes a message."""
        key = (study.store.place, study.name)
        with study.store.reading(study.name) as record:
            seen, now = self._seen.get(key), record.now
            known = seen is not None
            if seen is None or seen.seq != record.seq:
                notify = parse_notify(present_spec(record)["notify"])
                waiting = () if notify is None else state_of(record).open.values()
                ends = [query.until for query in waiting if query.until is not None and not query.expired]
                seen = self._seen[key] = DeliveryPlan(record.seq, notify, min(ends, default=None))
        if seen.next is not None and now >= seen.next:
            study.do(Tick())
        if not known and seen.notify is not None:
            study.store.tidy(study.name, False)
        return seen

    def _deliver(self, study: Study, notify: Notify | None, messages: list[Message], done: DeliveryResult) -> None:
        """To one receiver; where it fails the others wait with the one that has failed."""
        wait = None
        for message in messages:
            if wait is not None:
                study.store.mark(study.name, message, "waiting", wait, taken_back=True)
                continue
            try:
                if _is_moot(study, message):
                    done.moot += 1
                else:
                    self._send(study.name, notify, message)
                    done.sent += 1
                study.store.mark(study.name, message, "sent")
            except DeliveryError as error:
                done.why.append(str(error))
                over = message.attempts >= ATTEMPTS
                wait = min(LONGEST, FIRST * 2.0 ** (message.attempts - 1))
                study.store.mark(study.name, message, "dead" if over else "waiting", wait, str(error))
                done.given_up, done.failed = done.given_up + over, done.failed + (not over)

    def _send(self, study: str, notify: Notify | None, message: Message) -> None:
        if notify is None or message.channel not in notify.channels:
            raise DeliveryError(f"{message.channel}: the study does not name it any more")
        content = {"format": 1, "id": message.id, "study": study, **message.body}
        if message.channel == "command":
            channels.run(notify.command, content)
        elif message.channel == "webhook":
            url, secret = (self._environment[name] for name in self._variables(notify, ("webhook",)))
            channels.within(channels.LIMIT, lambda: channels.post(url, secret, message.id, content), "webhook")
        else:
            url, made = self._environment[notify.mail or ""], written(notify.sender, message, study)
            channels.within(channels.LIMIT, lambda: channels.mail(url, made), "mail")


def _is_moot(study: Study, message: Message) -> bool:
    """A mail about a query that is not open any more; programs are told of everything."""
    if message.channel != "mail" or "query" not in message.body:
        return False
    with study.store.reading(study.name) as record:
        row = record.query(message.body["query"])
    return row is not None and row.status not in ("open", "expired")


def written(sender: str, message: Message, study: str) -> EmailMessage:
    """A message as a mail."""
    from gobetween.words.messages import mail_words

    return channels.letter(sender, message.address, message.id, *mail_words(message, study))
