"""Some rows of a log, as columns: what every reader makes, and all that is known of files further on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gobetween.core.types import Floats, Ints
from gobetween.errors import Fix, LogError
from gobetween.logs.counts import BadRow

ONE = "the log"  # the mediator of a log that names none

Order = Floats | list[str]
"""Numbers, times as numbers, or texts, such as dates, which are compared as texts; NaN or empty where there is none."""


@dataclass(frozen=True)
class Columns:
    """Which columns hold what; `mediator` None: the log has one mediator."""

    mediator: str | None = "mediator"
    arm: str = "arm"
    reward: str = "reward"
    order: str | None = None
    explicit: bool = False
    """Was a column of mediators asked for? Else a log without one has one mediator."""

    @property
    def wanted(self) -> list[str]:
        """All that are named."""
        return [name for name in (self.mediator, self.arm, self.reward, self.order) if name is not None]

    def among(self, header: Iterable[object], source: str) -> "Columns":
        """The columns that are really there; refuses a source that lacks one, or has it twice."""
        present = list(header)
        alone = not self.explicit and self.mediator not in present
        found = replace(self, mediator=None) if alone else self
        for name in found.wanted:
            if present.count(name) > 1:
                raise LogError(f"{source}: has {present.count(name)} columns named {name!r}: rename one")
            if name not in present:
                there = ", ".join(map(repr, present[:20])) or "none"
                raise LogError(f"{source}: has no column {name!r} (it has {there})", fix=Fix("columns"))
        return found


@dataclass(frozen=True)
class Names:
    """A column of names: codes into values; −1 where there is none."""

    values: list[str]
    codes: Ints

    @classmethod
    def of(cls, texts: Iterable[str | None]) -> "Names":
        """From texts, None where there is none."""
        places: dict[str, int] = {}
        codes = [-1 if text is None else places.setdefault(text, len(places)) for text in texts]
        return cls(list(places), np.array(codes, np.int64))

    @classmethod
    def one(cls, rows: int) -> "Names":
        """The only mediator of a log, in every row."""
        return cls([ONE], np.zeros(rows, np.int64))

    def used(self, codes: Ints) -> list[str]:
        """The values behind some of the codes, each once."""
        return [self.values[i] for i in np.unique(codes).tolist()]

    def placed(self, codes: Ints, known: Sequence[str]) -> Ints:
        """Some of the codes as places in a list of all names."""
        place = {name: i for i, name in enumerate(known)}
        found: Ints = np.array([place.get(value, -1) for value in self.values], np.int64)[codes]
        return found


@dataclass(frozen=True)
class Batch:
    """Some rows of a log."""

    source: str
    first: int
    """Number of the first row, from 1."""
    mediators: Names
    arms: Names
    rewards: Floats
    """NaN where it is missing or no number."""
    order: Order | None
    numbers: Ints | None = None
    """Row numbers, where rows in between were bad; else they follow `first`."""
    bad: tuple[BadRow, ...] = ()

    def row(self, i: int) -> int:
        """The number of a row in its source."""
        return self.first + i if self.numbers is None else int(self.numbers[i])


def no_rows(source: str, reason: str) -> Batch:
    """A source without rows, as a batch that says so."""
    return Batch(source, 1, Names.of([]), Names.of([]), np.zeros(0), None, bad=(BadRow(source, 0, reason),))


def number(value: Any) -> float:
    """A cell as a number; NaN where it is none."""
    try:
        if isinstance(value, str) and value.strip().lower() in ("true", "false"):
            return float(value.strip().lower() == "true")
        return float("nan") if value is None or (isinstance(value, str) and "_" in value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def order_values(cells: Iterable[object]) -> Order:
    """Cells that are numbers, as far as there are any, as numbers; else all as texts."""
    texts = ["" if cell is None else str(cell) for cell in cells]
    values = [number(text) for text in texts]
    words = any(value != value and text for value, text in zip(values, texts, strict=True))
    return texts if words else np.array(values, np.float64)


def short(error: object) -> str:
    """What someone else's error says, in one line."""
    return " ".join(str(error).split())[:200]
