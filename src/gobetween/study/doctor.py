"""The doctor: replays the log and compares it with the snapshot, integers exactly, floats to 1e-9."""

import math
from typing import Any

from gobetween.study.record import Store
from gobetween.study.spec import StudySpec
from gobetween.study.state import StudyState


def examine(store: Store, name: str) -> list[str]:
    """Complaints about a study; none if all is well."""
    found = [f"the database: {line}" for line in store.check()]
    with store.reading(name) as record:
        state, last, keys = StudyState(StudySpec.from_dict(record.spec)), 0, set()
        fate: dict[int, tuple[Any, ...]] = {}
        for event in record.events():
            if event["seq"] != last + 1:
                found.append(f"event {last + 1} is missing: event {event['seq']} follows {last}")
            last = event["seq"]
            if (event["key"], event["part"]) in keys:
                found.append(f"event {last}: its key {event['key']!r} was used before")
            keys.add((event["key"], event["part"]))
            try:
                state.apply(dict(event))
                _note(fate, event, state)
            except Exception as error:  # whatever a damaged record may cause
                return [*found, f"event {last} ({event.get('kind')}) cannot be replayed: {type(error).__name__}: {error}"]
        if last != record.seq:
            found.append(f"the study counts {record.seq} events, the log has {last}")
        found += state.surprises
        if record.snapshot is not None:
            _compare(state.to_dict(), dict(record.snapshot), "snapshot", found)
        elif last:
            found.append("there are events, but no snapshot")
        held = {row.query: (row.status, row.mediator, row.slot, row.arm, row.reward) for row in record.rows()}
        for number in sorted(held.keys() | fate.keys()):
            if held.get(number) != fate.get(number):
                found.append(f"query {number} is {held.get(number)} in its table, {fate.get(number)} by the log")
    return found


def _note(fate: dict[int, tuple[Any, ...]], event: dict[str, Any], state: StudyState) -> None:
    """What has become of a query: status, mediator, slot, arm and reward, as its row must say."""
    kind, spec = event["kind"], state.spec
    if kind not in ("asked", "told", "silent", "cancelled", "expired", "corrected"):
        return
    number, mediator = event["query"], spec.mediators.index(event["mediator"])
    if kind == "asked":
        fate[number] = ("open", mediator, None, None, None)
    elif kind in ("cancelled", "expired"):
        fate[number] = (kind, *fate[number][1:])
    else:
        answer = event["new"] if kind == "corrected" else event if kind == "told" else None
        arm = None if answer is None else spec.arms.index(answer["arm"])
        reward = None if answer is None else answer["reward"]
        fate[number] = ("silent" if answer is None else "told", mediator, event["slot"], arm, reward)


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
