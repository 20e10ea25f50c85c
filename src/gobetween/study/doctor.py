"""The doctor: replays the log and compares it with what is stored: the snapshot and the rows of the queries.

Integers exactly, floats to 1e-9.
"""

import math
from collections.abc import Mapping
from typing import Any

from gobetween.errors import StoreError, StudyError
from gobetween.study.journal.events import row_after
from gobetween.study.journal.record import QueryRow, Store, StudyRecord
from gobetween.study.journal.snapshot import snapshot_of, spec_in
from gobetween.study.journal.state import StudyState
from gobetween.study.learner.serialise import unpacked
from gobetween.study.spec.spec import StudySpec


def examine(store: Store, name: str) -> list[str]:
    """Complaints about a study; none if all is well."""
    found: list[str] = []
    for look in (_look_at_store, _look_at_study):
        try:
            look(store, name, found)
        except StoreError as error:
            if error.passing:
                raise
            found.append(error.what)
    return found


def _look_at_store(store: Store, name: str, found: list[str]) -> None:
    found += [f"the database: {line}" for line in store.check()]


def _look_at_study(store: Store, name: str, found: list[str]) -> None:
    with store.reading(name) as record:
        try:
            state, rows = StudyState(StudySpec.from_dict(record.spec)), dict[int, QueryRow]()
        except Exception as error:  # whatever a damaged record may cause
            found.append(f"the spec cannot be read: {type(error).__name__}: {error}")
            return
        if not _replay(record, state, rows, found):
            return
        found += state.surprises
        if record.snapshot is None and record.seq:
            found.append("there are events, but no snapshot")
        held = {row.query: row for row in record.rows()}
    for number in sorted(held.keys() | rows.keys()):
        if held.get(number) != rows.get(number):
            found.append(f"query {number} is {_shown(held.get(number))} in its table, {_shown(rows.get(number))} by the log")


def _replay(record: StudyRecord, state: StudyState, rows: dict[int, QueryRow], found: list[str]) -> bool:
    """Let every event happen again; False when one cannot."""
    last, keys, seq = 0, set(), (record.snapshot or {}).get("seq", record.seq)
    for event in record.events():
        if event["seq"] != last + 1:
            found.append(f"event {last + 1} is missing: event {event['seq']} follows {last}")
        last = event["seq"]
        if (event["key"], event["part"]) in keys:
            found.append(f"event {last}: its key {event['key']!r} was used before")
        keys.add((event["key"], event["part"]))
        try:
            state.apply(event)
            row = row_after(event, rows.get(event.get("query", -1)), state.spec.arms, state.spec.mediators)
        except Exception as error:  # whatever a damaged record may cause
            found.append(f"event {last} ({event.get('kind')}) cannot be replayed: {type(error).__name__}: {error}")
            return False
        if row is not None:
            rows[row.query] = row
        if last == seq and record.snapshot is not None:
            _compare_snapshots(state, record.snapshot, found)
    if record.snapshot is not None and not 0 < seq <= last:
        found.append(f"the snapshot is of event {seq}, the log has {last}")
    if last != record.seq:
        found.append(f"the study counts {record.seq} events, the log has {last}")
    return True


def _compare_snapshots(state: StudyState, snapshot: Mapping[str, Any], found: list[str]) -> None:
    replayed = snapshot_of(state) | {"seq": snapshot.get("seq")}
    if snapshot.get("last") is None:  # an earlier version kept none
        replayed["last"] = None
    try:
        spec_in(snapshot)
    except StudyError as error:
        found.append(str(error))
        return
    _compare(unpacked(replayed, lists=True), unpacked(snapshot, lists=True), "snapshot", found)


def _shown(row: QueryRow | None) -> tuple[Any, ...] | None:
    """Status, mediator, slot, arm, reward and, if there is one, worker."""
    if row is None:
        return None
    shown = (row.status, row.mediator, row.slot, row.arm, row.reward)
    return shown if row.worker is None else (*shown, row.worker)


def _compare(one: Any, other: Any, path: str, found: list[str]) -> None:
    """Where two JSON values differ; numbers that are not whole up to 1e-9."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            _compare(one.get(key), other.get(key), f"{path}.{key}", found)
    elif isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            _compare(a, b, f"{path}[{i}]", found)
    elif isinstance(one, float) and isinstance(other, (int, float)) and not isinstance(other, bool):
        if not (one == other or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)):
            found.append(f"{path} is {other!r}, replayed {one!r}")
    elif ".bounds[" in path and math.isclose(float(one), float(other), rel_tol=1e-9):
        pass  # kept as text, for they may be infinite
    elif one != other:
        found.append(f"{path} is {str(other)[:80]!r}, replayed {str(one)[:80]!r}")
