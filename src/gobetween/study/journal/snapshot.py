"""A study's state as a store keeps it: JSON-safe, and back."""

from collections.abc import Mapping
from typing import Any

from gobetween.core.problem.cast import json_rows
from gobetween.errors import StudyError
from gobetween.study.journal.record import Open
from gobetween.study.journal.state import StudyState
from gobetween.study.learner import serialise
from gobetween.study.learner.learner import Learner
from gobetween.study.spec.spec import StudySpec

FORMAT = 1
#: Fields of the state that are JSON already.
PLAIN = (
    *("to_reissue", "away", "retired", "retired_arms", "paused", "archived", "stopped", "identified"),
    *("resumed", "twice", "absorbed", "clock", "jumps"),
)


def snapshot_of(state: StudyState) -> dict[str, Any]:
    """Its size does not grow with the log, only with open queries and with answers that wait for them."""
    policies = state.spec.cast.policies
    return {
        "format": FORMAT,
        "spec": state.spec.to_dict() | ({"policies": serialise.pack(policies)} if policies.size >= serialise.LARGE else {}),
        "learner": state.learner.to_dict(),
        "open": _columns(state.open),
        "lost": _columns(state.lost),
        "counts": state.counts,
        "trail": [list(point) for point in state.trail],
        "last": state.last,
        **{name: getattr(state, name) for name in PLAIN},
    }


def state_in(snapshot: Mapping[str, Any]) -> StudyState:
    """The state that `snapshot_of` described."""
    state = StudyState.__new__(StudyState)
    state.spec = StudySpec.from_dict(spec_in(snapshot))
    state.learner = Learner.from_dict(snapshot["learner"])
    state.open, state.lost = _queries(snapshot["open"]), _queries(snapshot["lost"])
    state.counts = {name: dict(counts) for name, counts in snapshot["counts"].items()}
    state.trail = [(int(t), float(z), float(c)) for t, z, c in snapshot["trail"]]
    state.last = dict(snapshot["last"]) if snapshot.get("last") is not None else None
    for name in PLAIN:
        value = snapshot[name]
        setattr(state, name, list(value) if isinstance(value, list) else value)
    state.surprises = []
    return state


def spec_in(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """The spec, with its policies as lists; the snapshot of a later version is refused."""
    if snapshot.get("format") != FORMAT:
        words = f"a later version has kept this study (snapshot format {snapshot.get('format')}, not {FORMAT})"
        raise StudyError(f"{words}: use a newer gobetween")
    spec = snapshot["spec"]
    packed = isinstance(spec["policies"], Mapping)
    return {**spec, "policies": json_rows(serialise.unpack(spec["policies"]))} if packed else dict(spec)


def _columns(queries: Mapping[int, Open]) -> dict[str, list[Any]]:
    """Queries as columns, for there may be very many; one that says the same of all says it once."""
    columns = {name: [getattr(query, name) for query in queries.values()] for name in Open.__annotations__}
    return {"query": list(queries)} | {
        name: column[:1] if column.count(column[0]) == len(column) else column for name, column in columns.items() if column
    }


def _queries(columns: Mapping[str, list[Any]]) -> dict[int, Open]:
    numbers = columns["query"]
    rest = [columns[name] for name in Open.__annotations__] if numbers else []
    every = zip(*(column * len(numbers) if len(column) == 1 else column for column in rest), strict=True)
    return {number: Open(*query) for number, query in zip(numbers, every, strict=True)}
