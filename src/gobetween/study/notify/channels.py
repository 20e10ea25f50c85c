"""How a message reaches its receiver: an HTTP POST that is signed, a mail, a command. Each takes bounded time.

What goes wrong is one sentence without addresses, passwords or what a receiver said, so that it can be kept and shown.
"""

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
import signal
import smtplib
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from email.message import EmailMessage
from email.utils import formatdate
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

LIMIT = 10.0  # seconds for one attempt
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class DeliveryError(Exception):
    """Why a receiver was not reached, in words that can be shown."""


def within(seconds: float, act: Callable[[], None], who: str) -> None:
    """Let it happen, but wait no longer: a server that drips a byte a second, or a slow name server, holds no one up."""
    failed = list[Exception]()

    def run() -> None:
        try:
            act()
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True, name=f"delivery by {who}")
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise DeliveryError(f"{who}: no answer within {seconds:g} s")
    if failed:
        raise failed[0] if isinstance(failed[0], DeliveryError) else DeliveryError(f"{who}: {_reason(failed[0])}")


def _reason(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return f"the server answered {error.smtp_code}"
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return f"the server refused the receiver ({', '.join(str(code) for code, _ in error.recipients.values())})"
    if isinstance(error, (HTTPException, smtplib.SMTPException)):
        return f"what answered does not speak the language ({type(error).__name__})"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid ({error.verify_message.partition(',')[0]})"  # what follows is an address
    if isinstance(error, ssl.SSLError):
        return f"what answered does not speak TLS ({type(error).__name__})"
    if isinstance(error, TimeoutError):
        return f"no answer within {LIMIT:g} s"
    if isinstance(error, OSError):
        return f"cannot be reached ({os.strerror(error.errno) if error.errno and error.errno > 0 else type(error).__name__})"
    return f"failed ({type(error).__name__})"


# webhooks ------------------------------------------------------------------------------------------------------------------


def signature(secret: str, number: str, at: int, body: bytes) -> str:
    """As the Standard Webhooks convention has it: HMAC-SHA256 of id, time and body, with dots between them, in base64."""
    key = secret.encode()
    if secret.startswith("whsec_"):
        try:
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            raise DeliveryError("webhook: its secret begins with whsec_ and is not base64 after that") from None
    signed = f"{number}.{at}.".encode() + body
    return f"v1,{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}"


def post(url: str, secret: str, number: str, content: Mapping[str, Any]) -> None:
    """One POST; redirects are not followed, and only a status of 2xx is a success."""
    place, body, at = address(url, ("http", "https"), "webhook"), json.dumps(content).encode(), int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "gobetween",
        "Webhook-Id": number,
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": signature(secret, number, at, body),
    }
    kind = HTTPSConnection if place.scheme == "https" else HTTPConnection  # which checks certificates by itself
    connection = kind(place.hostname or "", place.port, timeout=LIMIT)
    try:
        connection.request("POST", (place.path or "/") + (f"?{place.query}" if place.query else ""), body, headers)
        status = connection.getresponse().status
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise DeliveryError(f"webhook: it answered {status}")


def address(url: str, schemes: Sequence[str], who: str) -> SplitResult:
    """The parts of an address; it is never shown."""
    try:
        found = urlsplit(url.strip())
        good = found.scheme in schemes and bool(found.hostname) and (found.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        raise DeliveryError(
            f"{who}: the variable does not hold an address that begins with {' or '.join(f'{s}://' for s in schemes)}"
        )
    return found


# mails ---------------------------------------------------------------------------------------------------------------------


def letter(sender: str, to: str, number: str, subject: str, text: str) -> EmailMessage:
    """A mail in plain text. Names and titles go into its subject on one line, whatever they hold."""
    made = EmailMessage()
    made["From"], made["To"], made["Date"] = sender, to, formatdate()
    made["Subject"] = one_line(subject)
    made["Message-ID"] = f"<{number}@{sender.rpartition('@')[2]}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(text)
    return made


def one_line(text: str) -> str:
    """Without line ends and other characters that steer: what follows one would be a header of its own."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text).strip()[:200]


def mail(url: str, made: EmailMessage) -> None:
    """Through a server; a password is only said over TLS to one whose certificate is valid, or to this machine."""
    place = address(url, ("smtp", "smtps"), "mail")
    host, trusted = place.hostname or "", ssl.create_default_context()
    client = partial(smtplib.SMTP_SSL, context=trusted) if place.scheme == "smtps" else smtplib.SMTP
    with client(host, place.port or (465 if place.scheme == "smtps" else 587), timeout=LIMIT) as server:
        if place.scheme == "smtp" and (server.ehlo()[0], server.has_extn("starttls")) == (250, True):
            server.starttls(context=trusted)
        elif place.scheme == "smtp" and place.username and host not in LOOPBACK:
            raise DeliveryError("mail: the server offers no TLS, and a password is never sent without")
        if place.username:
            server.login(unquote(place.username), unquote(place.password or ""))
        server.send_message(made)


# commands ------------------------------------------------------------------------------------------------------------------


def run(command: Sequence[str], content: Mapping[str, Any]) -> None:
    """Without a shell, with the message as JSON on its standard input; whatever it has started ends with it."""
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except (OSError, ValueError) as error:
        words = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
        raise DeliveryError(f"command: cannot be started ({words})") from None
    try:
        process.communicate(json.dumps(content).encode(), timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise DeliveryError(f"command: did not end within {LIMIT:g} s") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode:
        raise DeliveryError(f"command: it ended with status {process.returncode}")
