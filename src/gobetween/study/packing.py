"""Large matrices in JSON: as text of their compressed bytes, which is read a hundred times as fast as numbers."""

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gobetween.core.policies import json_row

LARGE = 10_000  # numbers of a matrix from which on it is packed

Rows = Sequence[Sequence[float | None] | None]
"""Policies as they are said: None of one, or of an arm, that nobody knows."""


def pack(matrix: NDArray[Any]) -> dict[str, Any]:
    """JSON-safe."""
    return {"shape": list(matrix.shape), "bytes": base64.b64encode(zlib.compress(matrix.tobytes(), 1)).decode()}


def unpack(value: Mapping[str, Any], kind: str) -> NDArray[Any]:
    """The matrix that `pack` was given, of numbers of this kind."""
    return np.frombuffer(zlib.decompress(base64.b64decode(value["bytes"])), kind).reshape(value["shape"])


def pack_rows(rows: Rows, K: int) -> dict[str, Any] | None:
    """Policies over K arms, if they are large."""
    if len(rows) * K < LARGE:
        return None
    return pack(np.array([[np.nan] * K if row is None else row for row in rows], "<f8"))


def unpack_rows(value: Mapping[str, Any]) -> list[list[float | None] | None]:
    """What `pack_rows` was given."""
    return [json_row(row) for row in unpack(value, "<f8")]
