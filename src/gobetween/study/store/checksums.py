"""Checksums of what is stored, so that a changed byte is found when it is read. Their form belongs to the schema.

An event's seal includes that of the event before it, and the study's own the last of them: nothing can be missing or exchanged.
"""

from collections.abc import Mapping
from hashlib import sha256 as _sha256
from typing import Any

EVENT = ("seq", "at", "actor", "kind", "query", "key", "part", "payload")
QUERY = ("query", "mediator", "status", "slot", "arm", "reward", "worker")
STUDY = ("name", "spec", "about", "snapshot", "seq", "head")


def event_seal(before: str, row: Mapping[str, Any]) -> str:
    """Of an event's row, after an event with the seal `before` ("" for the first)."""
    return seal_of(before, *(row[column] for column in EVENT))


def query_seal(row: Mapping[str, Any]) -> str:
    """Of a query's row."""
    return seal_of(*(row[column] for column in QUERY))


def study_seal(row: Mapping[str, Any]) -> str:
    """Of a study's row; `head` is the seal of its last event."""
    return seal_of(*(row[column] for column in STUDY))


def seal_of(*parts: Any) -> str:
    """The seal of values in the order of their columns."""
    whole = "\0".join([part if isinstance(part, str) else f"\1{part!r}" for part in parts])
    return _sha256(whole.encode("utf-8", "backslashreplace")).hexdigest()[:32]
