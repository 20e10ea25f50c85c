"""Messages: written with their events, delivered at least once by whoever comes first, and never with anything secret in view."""

import base64
import hashlib
import hmac
import json
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from launcher import gobetween
from reminder_parts import certificate, hook, post_office
from study_parts import Clock, clock, new, store

import gobetween as gb
from gobetween.errors import SpecError
from gobetween.study import delivery
from gobetween.study.delivery import ATTEMPTS, LEASE, Deliverer
from gobetween.study.find_study import backup_study
from gobetween.study.notify import channels
from gobetween.study.notify.messages import Undelivered, mail_address, parse_notify
from gobetween.study.store.database import Database
from gobetween.study.store.outbox import KEPT
from gobetween.words.messages import LATE, round_words, undelivered_words

__all__ = ["clock", "new", "store"]
New = Callable[..., gb.Study]
HOOK = {"webhook": "GOBETWEEN_HOOK"}
MAIL = {"mail": "GOBETWEEN_MAIL", "from": "studies@example.org", "to": ["lead@example.org"]}
SECRETS = ("topsecret", "whisper", "pass:word", "pass%3Aword")


def told(study: gb.Study, **channels: str) -> tuple[list[str], Any]:
    """What one look delivers, by commands that do nothing."""
    seen: list[str] = []
    deliverer = Deliverer(commands=True, environment=channels)
    deliverer._send = lambda study, notify, message: seen.append(message.about)  # type: ignore[method-assign]
    return seen, deliverer.round(study)


def test_messages_are_written_with_their_events_and_each_once(new: New, clock: Clock) -> None:
    study = new(notify={"command": ["true"]}, lease="1h")
    (first,) = study.ask()
    assert told(study)[0] == ["waiting-0"]
    clock.now += 3599
    assert told(study)[0] == []
    clock.now += 2
    assert told(study)[0] == ["overdue-0"]
    assert [event["kind"] for event in study.events()] == ["asked", "expired"]
    assert told(study)[0] == []
    assert [query.id for query in study.overdue()] == [first.id]
    study.cancel(study.ask()[0])
    assert told(study)[0] == ["waiting-1"]


def test_what_is_refused_leaves_no_message(new: New) -> None:
    study = new(notify={"command": ["true"]})
    study.ask()
    told(study)
    with pytest.raises(gb.StudyError):
        study.tell(0, arm="no such arm", reward=1)
    assert told(study)[0] == []


def test_a_verdict_and_an_alarm_are_told_once(new: New, clock: Clock) -> None:
    study = new(notify={"command": ["true"], "events": ["alarm", "stopped"]}, budget={"queries": 1})
    study.tell(study.ask()[0], arm="a", reward=1)
    assert told(study)[0] == ["stopped-3"]
    odd = new(notify={"command": ["true"], "events": ["alarm"]})
    for i in range(60):  # x pulls "a" only, whatever its policy says
        odd.tell(mediator="x", arm="a", reward=i % 2, again=True)
    assert "alarm-policy-x" in told(odd)[0]
    odd.tell(mediator="x", arm="a", reward=1, again=True)
    assert told(odd)[0] == []
    clock.now += KEPT + 1.0
    assert told(odd)[0] == []  # what was sent long ago is forgotten, but for alarms
    odd.tell(mediator="x", arm="a", reward=1, again=True)
    assert told(odd)[0] == []


@pytest.mark.parametrize("broken", [False, True])
def test_a_message_names_no_arm_where_an_alarm_breaks_the_guarantee(new: New, broken: bool) -> None:
    study = new(notify={"command": ["true"], "events": ["stopped"]}, budget={"queries": 81}, delta=1e-9)
    for _ in range(40):
        study.tell(mediator="x", arm="a", reward=1, again=True)
        study.tell(mediator="z", arm="a", reward=int(not broken), again=True)
    study.tell(mediator="z", arm="b", reward=0)
    (message,) = study.store.claim(study.name, ["command"], LEASE, 8)
    assert message.body["event"] == "stopped"
    assert message.body["verdict"] == "budget"
    assert message.body["arm"] == (None if broken else "a")
    assert ("pays differently" in message.body["sentence"]) == broken


def test_a_study_that_keeps_queries_open_issues_anew_what_is_overdue(new: New, clock: Clock) -> None:
    study = new(notify={"command": ["true"]}, in_flight=1)
    study.ask()
    told(study)
    clock.now += 3601
    assert sorted(told(study)[0]) == ["overdue-0", "waiting-1"]
    assert [query.reissue_of for query in study.pending()] == [0]


def test_what_fails_is_tried_again_later_and_later_until_it_is_given_up(new: New, clock: Clock) -> None:
    study = new(notify={"command": ["/nonexistent/command"], "events": ["waiting"]})
    study.ask(3)
    deliverer, since = Deliverer(commands=True), clock.now
    for attempt in range(ATTEMPTS):
        done = deliverer.round(study)
        assert (done.sent, done.failed + done.given_up) == (0, 1)
        wait = min(3600.0, 5.0 * 2**attempt)
        for early in (0.0, 0.9 * wait):
            clock.now += early
            again = deliverer.round(study)  # the others wait with the one that has failed
            assert (again.failed, again.given_up) == (0, 0) or (early and attempt == ATTEMPTS - 1)
        clock.now += 0.1 * wait
    assert 14 * 3600 < clock.now - since < 16 * 3600
    assert study.status().undelivered is not None
    words = study.undelivered()
    assert words is not None
    assert words.startswith("1 message could not be delivered and was given up (command: cannot be started (No such file")
    assert "2 messages wait to be delivered" in words
    study.store.tidy(study.name, True)
    assert len(told(study)[0]) == 3
    assert study.undelivered() is None


def test_deliverers_side_by_side_share_what_is_there(new: New) -> None:
    study = new(notify={"command": ["true"], "events": ["waiting"]})
    study.ask(60)
    seen: list[str] = []

    def deliver() -> None:
        mine = Deliverer(commands=True)
        mine._send = lambda study, notify, message: seen.append(message.id)  # type: ignore[method-assign]
        mine.round(study)

    threads = [threading.Thread(target=deliver) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == len(set(seen)) == 60


def test_who_sleeps_over_a_message_does_not_undo_what_another_did(new: New, clock: Clock) -> None:
    study = new(notify={"command": ["true"], "events": ["waiting"]})
    study.ask()
    (mine,) = study.store.claim(study.name, ["command"], LEASE, 8)
    assert study.store.claim(study.name, ["command"], LEASE, 8) == []
    clock.now += LEASE + 1
    (theirs,) = study.store.claim(study.name, ["command"], LEASE, 8)
    assert (theirs.id, theirs.attempts) == (mine.id, mine.attempts + 1)
    study.store.mark(study.name, mine, "dead", error="late")
    assert study.undelivered() is None
    study.store.mark(study.name, theirs, "sent")
    study.store.mark(study.name, mine, "waiting")
    assert told(study)[0] == []


@pytest.fixture
def lite(tmp_path: Path, clock: Clock) -> New:
    def make(**changes: Any) -> gb.Study:
        from study_parts import SPEC

        from gobetween.study.spec.spec import parse_study

        made = Database.open(str(tmp_path / "s.sqlite"), create=True, clock=clock)
        made.create("study", parse_study(SPEC | changes, "test").to_dict(), {})
        return gb.Study(made, "study", "tester")

    return make


def test_a_webhook_that_fails_hangs_and_comes_back(lite: New, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "LIMIT", 0.3)
    study = lite(notify=HOOK)
    study.ask()
    with hook() as receiver:
        deliverer = Deliverer(environment={"GOBETWEEN_HOOK": receiver.url, "GOBETWEEN_HOOK_SECRET": "whisper"})
        for status, words in (
            (500, "webhook: it answered 500"),
            (302, "webhook: it answered 302"),
            (0, "no answer within 0.3 s"),
        ):
            receiver.status = status
            done = deliverer.round(study)
            assert done.failed == 1
            assert words in done.why[0]
            assert not any(secret in round_words(done) for secret in SECRETS)
            clock.now += 60
        receiver.status = 204
        assert deliverer.round(study).sent == 1
        assert deliverer.round(study).sent == 0
        assert len({body["id"] for body in receiver.bodies}) == 1
        headers, body = receiver.got[-1]
    said = json.loads(body)
    assert said | {"id": "", "at": 0, "until": 0} == {
        "format": 1, "id": "", "study": "study", "title": "three arms", "at": 0, "event": "waiting", "query": 0,
        "mediator": said["mediator"], "contact": said["contact"], "until": 0, "sentence": said["sentence"],
    }  # fmt: skip
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(b"whisper", signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["webhook-id"] == said["id"]
    clock.now += 3600
    assert deliverer.round(study).failed == 1  # nobody listens any more; overdue
    shown = json.dumps([study.status().to_dict(), study.spec.to_dict(), list(study.events())], default=str)
    raw = b"".join(path.read_bytes() for path in Path(study.store.place).parent.glob("s.sqlite*"))
    assert not any(secret in shown or secret.encode() in raw for secret in SECRETS)


def test_mails_go_to_the_mediator_or_to_those_who_lead(lite: New, clock: Clock) -> None:
    names = [{"name": "x: Bcc all@example.org", "policy": [0.4, 0.4, 0.2], "contact": "X <x@example.org>"}]
    study = lite(notify=MAIL, title="Trial\r\nBcc: others@example.org", mediators=names)
    study.ask()
    with post_office() as office:
        deliverer = Deliverer(environment={"GOBETWEEN_MAIL": office.url})
        office.refuse = "451 later"
        assert deliverer.round(study).why == ["mail: the server answered 451"]
        office.refuse = ""
        clock.now += 60
        assert deliverer.round(study).sent == 1
        ((receivers, mail),) = office.got
        assert receivers == ["x@example.org"]
        assert (mail["to"], mail["from"], mail["bcc"]) == ("x@example.org", "studies@example.org", None)
        assert mail["subject"] == "Trial Bcc: others@example.org: query 0 is waiting for you"
        assert "personal link" in mail.get_payload()
        clock.now += 3600
        assert deliverer.round(study).sent == 2
        assert [one for one, _ in office.got[1:]] == [["x@example.org"], ["lead@example.org"]]
        assert len({mail["message-id"] for _, mail in office.got[1:]}) == 1
        (query,) = study.ask()
        study.tell(query, arm="a", reward=1)
        assert (deliverer.round(study).moot, len(office.got)) == (1, 3)
        wrong = Deliverer(environment={"GOBETWEEN_MAIL": office.url.replace("word", "wort")})
        study.ask()
        assert wrong.round(study).why == ["mail: the server answered 535"]


def test_a_deliverer_that_is_killed_after_delivery_repeats_under_the_same_id(tmp_path: Path, clock: Clock) -> None:
    script = 'cat >> got; echo >> got; [ "$(wc -l < got)" -gt 1 ] || kill -9 $PPID'
    (tmp_path / "study.toml").write_text(
        f"""
        arms = [{{ name = "a" }}, {{ name = "b" }}]
        mediators = [{{ name = "x" }}]
        [notify]
        command = ["sh", "-c", {script!r}]
        """
    )
    plain = {"GOBETWEEN_JIT": "off"}
    assert gobetween(tmp_path, "init", "study.toml", **plain).returncode == 0
    assert gobetween(tmp_path, "ask", **plain).returncode == 0
    assert gobetween(tmp_path, "deliver", **plain).stdout.startswith("0 messages delivered (command: this server may not")
    assert gobetween(tmp_path, "deliver", "--run-commands", **plain).returncode == -9
    again = gobetween(tmp_path, "deliver", "--run-commands", **plain)
    assert (again.returncode, again.stdout) == (0, "0 messages delivered\n")  # it is still that one's
    with sqlite3.connect(tmp_path / "study.sqlite") as connection:
        connection.execute("UPDATE outbox SET due = due - 1000")
    connection.close()
    assert gobetween(tmp_path, "deliver", "--run-commands", **plain).stdout == "1 message delivered\n"
    first, second = (json.loads(line) for line in (tmp_path / "got").read_text().splitlines())
    assert first == second
    assert first["event"] == "waiting"


def runs(pid: int) -> bool:
    """Is there such a process, which has not ended?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_command_has_bounded_time_and_no_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "LIMIT", 0.3)
    with pytest.raises(channels.DeliveryError, match="did not end within"):
        channels.run(["sh", "-c", f"sleep 30 & echo $! > {tmp_path}/pid; wait"], {})
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 10
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not runs(pid)
    channels.run(["sh", "-c", 'test "$0" = "; exit 3"', "; exit 3"], {"large": "x" * 100_000})
    with pytest.raises(channels.DeliveryError, match="ended with status 3"):
        channels.run(["sh", "-c", "exit 3"], {})


BAD: tuple[tuple[Any, str], ...] = (
    ({}, "notify: no recipient: name at least one of webhook, mail, command"),
    ("x", "notify = 'x': must be a table"),
    ({"hook": "x"}, "notify.hook is not a known key: choose one of events, webhook, mail, command, from, to"),
    ({"webhook": "https://example.org/topsecret"}, "notify.webhook: must be the name of a variable such as GOBETWEEN_HOOK"),
    ({"webhook": "PGPASSWORD"}, "notify.webhook: must be the name of a variable"),
    ({"webhook": 3}, "notify.webhook = 3: must be a string"),
    ({**HOOK, "events": ["late"]}, "notify.events = ['late']: must be a list of some of waiting, overdue, alarm, stopped"),
    ({**HOOK, "events": []}, "notify.events = []: must be a list"),
    ({**HOOK, "to": ["a@example.org"]}, "notify.mail is missing"),
    ({"mail": "GOBETWEEN_MAIL", "to": ["a@example.org"]}, "notify.from is missing"),
    ({**MAIL, "to": []}, "notify.to is missing"),
    ({**MAIL, "to": ["a@b\nBcc: c@d"]}, "must be an address such as lead@example.org"),
    ({**MAIL, "from": "Studies <s@example.org>"}, "notify.from = 'Studies <s@example.org>': must be an address"),
    ({"command": "rm -rf x"}, "notify.command = 'rm -rf x': must be a list of words"),
    ({"command": []}, "notify.command = []: must be a list of words"),
    ({"command": ["a", 3]}, "notify.command[1] = 3: must be a string"),
)


@pytest.mark.parametrize(("value", "words"), BAD, ids=lambda value: None)
def test_what_a_file_may_not_say(value: Any, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_notify(value)
    assert words in str(caught.value)
    assert "topsecret" not in str(caught.value)


def test_who_is_told_may_change_while_a_study_runs(lite: New) -> None:
    study = lite()
    study.ask()
    before = study.spec
    study.edit(before.edited("notify", {"command": ["true"]}))
    assert study.spec.notify == parse_notify({"command": ["true"]})
    study.ask()
    study.edit(before)
    assert study.spec.notify is None
    assert study.doctor() == []
    done = Deliverer(commands=True).round(study)
    assert done.why == ["command: the study does not name it any more"]


@pytest.mark.parametrize(
    ("contact", "address"),
    [("x@example.org", "x@example.org"), ("X <x@example.org>", "x@example.org"), ("+49 30 1", None), ("", None),
     ("x@example.org\nBcc: y@example.org", None), ("x y@example.org>", None), ("a@b, c@d", None)],
)  # fmt: skip
def test_only_plain_addresses_get_mail(contact: str, address: str | None) -> None:
    assert mail_address(contact) == address


@pytest.mark.parametrize(
    ("url", "words"),
    [("ftp://x", "does not hold an address that begins with http"), ("http://", "does not hold"), ("http://x:999999/", "does not hold"),
     ("http://127.0.0.1:1/topsecret", "cannot be reached (Connection refused)"), ("http://127.0.0.1:1/a b", "")],
)  # fmt: skip
def test_an_address_that_cannot_be_used_is_not_shown(url: str, words: str) -> None:
    with pytest.raises(channels.DeliveryError) as caught:
        channels.within(5.0, lambda: channels.post(url, "whisper", "1", {}), "webhook")
    assert words in str(caught.value)
    assert "topsecret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "trusted", "words"),
    [
        ("IP:127.0.0.1", False, "its certificate is not valid (self-signed certificate)"),
        ("DNS:elsewhere.example", True, "its certificate is not valid (IP address mismatch)"),
        ("IP:127.0.0.1", True, ""),
    ],
)
@pytest.mark.parametrize("scheme", ["smtp", "smtps", "https"])
def test_nothing_is_said_to_a_server_whose_certificate_is_not_valid(
    scheme: str, name: str, trusted: bool, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = certificate(tmp_path, name)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
    made = channels.letter("us@example.org", "you@example.org", "1", "s", "t")
    refused: Any = pytest.raises(channels.DeliveryError) if words else nullcontext()
    with hook(file) as hooked, post_office(file, "smtp" if scheme == "smtp" else "smtps") as office:
        with refused as caught:
            if scheme == "https":
                channels.within(10, lambda: channels.post(hooked.url, "secret", "1", {}), "webhook")
            else:
                channels.within(10, lambda: channels.mail(office.url, made), "mail")
        assert len(hooked.got) == (scheme == "https" and not words)
        assert office.passwords == ([] if words or scheme == "https" else [b"pass:word"])
    if words:
        assert str(caught.value) == f"{'webhook' if scheme == 'https' else 'mail'}: {words}"


def test_a_round_says_what_is_missing_here(lite: New) -> None:
    study = lite(notify={**HOOK, **MAIL, "command": ["true"]})
    study.ask()
    done = Deliverer(environment={}).round(study)
    assert done.sent == 0
    assert [line.split()[0] for line in done.why] == ["command:", "GOBETWEEN_HOOK", "GOBETWEEN_HOOK_SECRET", "GOBETWEEN_MAIL"]
    assert delivery.POLL > 0


def test_a_backup_holds_no_messages(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.sqlite", tmp_path / "copy.sqlite"
    with gb.Study.create(path, gb.StudySpec(["a", "b"], ["x"], notify={"command": ["true"]})) as study:
        study.ask()
    backup_study(path, copy)
    with gb.Study.open(copy) as study:
        assert Deliverer(commands=True).round(study).sent == 0
    with gb.Study.open(path) as study:
        assert Deliverer(commands=True).round(study).sent == 1


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Undelivered(), None),
        (Undelivered(3, 10_000.0 - LATE), None),
        (Undelivered(1, 10_000.0 - 599.0), "1 message waits to be delivered, for 9 minutes by now."),
        (Undelivered(2, 10_000.0 - 7200.0), "2 messages wait to be delivered, for 120 minutes by now."),
        (Undelivered(0, None, 2, "mail: no answer"), "2 messages could not be delivered and were given up (mail: no answer)."),
    ],
)
def test_what_was_not_delivered_is_told_with_how_long(found: Undelivered, words: str | None) -> None:
    assert undelivered_words(found, 10_000.0) == words
