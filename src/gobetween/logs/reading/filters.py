"""Rows that are asked for by a condition in SQL, such as position = 1."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gobetween.core.ground.jit import Bools
from gobetween.errors import LogError
from gobetween.logs.reading.batch import one_line

LONGEST = 4000  # characters: polars takes apart what is nested by calls inside calls
_QUOTED, _SELECT = re.compile(r"'[^']*'|\"[^\"]*\""), re.compile(r"(?i)\bselect\b")


@dataclass(frozen=True)
class Filter:
    """A condition on single rows."""

    text: str

    @cached_property
    def _expression(self) -> Any:
        if len(self.text) > LONGEST:
            raise LogError(f"where {self.text[:60]!r}…: is longer than {LONGEST:,} characters: write a shorter condition")
        try:
            import polars
        except ImportError:
            raise LogError(f"where {self.text!r} needs polars: pip install 'gobetween[logs]'") from None
        try:
            found = polars.sql_expr(self.text)
        except Exception as error:
            raise LogError(f"where {self.text!r} is not an SQL condition ({one_line(error)}): write position = 1") from None
        others = _SELECT.search(_QUOTED.sub("", self.text))  # another table, of which there is none
        if others or not (_by_rows(found) and found.meta.root_names()):
            raise LogError(f"where {self.text!r} must be a condition on single rows, such as position = 1")
        return found

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at."""
        return tuple(dict.fromkeys(self._expression.meta.root_names()))

    def mask(self, table: Any, source: str) -> Bools:
        """Which rows of a table of Arrow it holds of; not of those of which it cannot be said."""
        import polars

        try:
            frame: Any = polars.from_arrow(table.select(self.columns))
            found = frame.select(self._expression.alias("kept")).to_series()
            if found.dtype != polars.Boolean:
                raise LogError(f"where {self.text!r} must be true or false: write position = 1")
            return np.asarray(found.fill_null(False).to_numpy(), np.bool_)
        except polars.exceptions.PolarsError as error:
            raise LogError(f"{source}: where {self.text!r} cannot be told of its rows ({one_line(error)})") from None


def _by_rows(expression: Any) -> bool:
    """Is nothing in an expression about more than one row? So that it does not matter how many are looked at together."""
    import polars

    if expression.meta.is_literal():
        return True
    try:
        if not expression.meta.is_row_separable():
            return False
    except polars.exceptions.ColumnNotFoundError:  # IN, which wants to know the kind of its column
        pass
    return all(map(_by_rows, expression.meta.pop()))
