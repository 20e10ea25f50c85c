"""A learner, saved: everything it knows, JSON-safe, and back. A restored one asks exactly what the old one would have asked.

Large matrices are text of their compressed bytes, which is read a hundred times as fast as numbers.
"""

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gobetween.core.problem.cast import Cast
from gobetween.errors import ProblemError
from gobetween.export import json_safe
from gobetween.study.learner.checkpoints import Checkpoints
from gobetween.study.learner.design import design_from_dict, design_to_dict
from gobetween.study.learner.ledger import Ledger
from gobetween.study.learner.queries import Queries
from gobetween.study.learner.state import LearnerState

FORMAT = 1


def save(state: LearnerState) -> dict[str, Any]:
    """Everything, JSON-safe."""
    parts = ("told", "counted", "queries", "checkpoints", "planner", "decision")
    found = {part: getattr(state, part).to_dict() for part in parts}
    made = _cast_to_dict(state.cast) | design_to_dict(state.design) | {"order": state.design.order}
    return {"format": FORMAT, **packed(made | found)}


def load(given: Mapping[str, Any]) -> LearnerState:
    """What `save` described."""
    if given.get("format") != FORMAT:
        raise ProblemError(f"format = {given.get('format')!r}: this version reads learners of format {FORMAT}")
    data = unpacked(given)
    cast, design = _cast_from_dict(data), design_from_dict(data, data["order"])
    told, counted = (Ledger.from_dict(design.family.at_work(len(cast.arms)), data[part]) for part in ("told", "counted"))
    queries = Queries.from_dict(design.order == "issue", data["queries"])
    state = LearnerState(cast, design, told, counted, queries, Checkpoints.from_dict(data["checkpoints"]))
    state.planner.restore(data["planner"])
    state.decision.restore(data["decision"])
    return state


def _cast_to_dict(cast: Cast) -> dict[str, Any]:
    names = {"arms": list(cast.arms), "mediators": list(cast.mediators)}
    return names | {"policies": cast.policies, "costs": cast.costs, "silent": cast.silent}


def _cast_from_dict(data: Mapping[str, Any]) -> Cast:
    policies, costs = (np.array(data[name], np.float64) for name in ("policies", "costs"))
    return Cast(tuple(data["arms"]), tuple(data["mediators"]), policies, costs, data["silent"])


LARGE = 10_000  # numbers of a matrix from which on it is packed


def pack(matrix: NDArray[Any]) -> dict[str, Any]:
    """JSON-safe."""
    text = base64.b64encode(zlib.compress(matrix.tobytes(), 1)).decode()
    return {"shape": list(matrix.shape), "kind": matrix.dtype.str, "bytes": text}


def unpack(value: Mapping[str, Any]) -> NDArray[Any]:
    """The matrix that `pack` was given."""
    return np.frombuffer(zlib.decompress(base64.b64decode(value["bytes"])), value["kind"]).reshape(value["shape"])


def packed(value: Any) -> Any:
    """A value with matrices in it, tables in tables, JSON-safe: large ones are packed, of others NaN is null."""
    if isinstance(value, Mapping):
        return {key: packed(part) for key, part in value.items()}
    if not isinstance(value, np.ndarray):
        return value
    return pack(value) if value.size >= LARGE else _lists(value)


def unpacked(value: Any, lists: bool = False) -> Any:
    """What `packed` wrote, with large matrices as such, or as lists like the others."""
    if not isinstance(value, Mapping):
        return value
    if "bytes" in value:
        return _lists(unpack(value)) if lists else unpack(value)
    return {key: unpacked(part, lists) for key, part in value.items()}


def _lists(matrix: NDArray[Any]) -> Any:
    """Lists of lists, where NaN is None."""
    return json_safe(matrix) if np.isnan(matrix).any() else matrix.tolist()
