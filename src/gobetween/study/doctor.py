"""The doctor: replays the log and compares it with what is stored: the snapshot and the rows of the queries.

Integers exactly, floats to 1e-9.
"""

import math
from collections.abc import Mapping
from typing import Any

from gobetween.errors import StoreError, StudyError
from gobetween.files.rules import present
from gobetween.study.events import row_after
from gobetween.study.record import QueryRow, Store, StudyRecord
from gobetween.study.saved import plain
from gobetween.study.spec import StudySpec
from gobetween.study.state import FORMAT, PRESENT, StudyState, up_to_date


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
    last, keys, seq = 0, set(), _seq_of(record)
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


def _seq_of(record: StudyRecord) -> Any:
    """The event that the snapshot was made after."""
    held = record.snapshot or {}
    return held.get("seq", record.seq) if held.get("format") in PRESENT else record.seq


def _compare_snapshots(state: StudyState, snapshot: Mapping[str, Any], found: list[str]) -> None:
    try:
        held = up_to_date(snapshot)
    except StudyError as error:
        found.append(str(error))
        return
    replayed = up_to_date(state.to_dict())
    if "clock" not in held:  # it was kept before there was one
        del replayed["clock"]
    if held["learner"].get("S_ea") is None:  # what alarms look at was not kept then
        held["learner"] = _without(held["learner"])
        replayed["learner"] = _without(replayed["learner"])
    if held["learner"].get("spread") is None and state.spec.family.name == "poisson":  # nor how far counts spread
        for each in (held, replayed):
            each["learner"] = _without(each["learner"], "spread")
    if held["learner"].get("drift") is None:  # nor what had been counted on the way
        for each in (held, replayed):
            each["learner"] = _without(each["learner"], "drift", "drift_N_a", "drift_S_a", "drift_N_ea")
    if held["first_format"] < FORMAT:  # what earlier versions did not keep
        replayed |= {key: held[key] for key in ("first_format", "lost", "jumps")}
    if held["old_trail"]:  # its moments were chosen by an earlier rule, which nobody can replay
        replayed |= {"trail": held["trail"], "old_trail": True}
    for each in (replayed, held):
        each["learner"], each["spec"] = _plain(each["learner"]), _renamed(each["spec"])
    _compare(replayed, {key: value for key, value in held.items() if key != "seq"}, "snapshot", found)


def _plain(learner: Mapping[str, Any]) -> dict[str, Any]:
    """A saved learner with all its numbers as such, and its rules as they are called now."""
    found = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in plain(learner).items()}
    return {"most": 0.0, "plan": None} | _renamed(found)


def _renamed(data: Mapping[str, Any]) -> dict[str, Any]:
    """A spec or a learner with its rules as they are called now."""
    return {**data, **{side: present(data[side]) for side in ("sampling", "stopping")}}


def _without(learner: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """A saved learner without what alarms look at, or without some of that."""
    return {key: value for key, value in learner.items() if key not in (keys or ("S_ea", "spread", "claimed"))}


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
