"""Some rows of a log, as columns: what every reader makes, and all that is known of files further on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from gobetween.core.ground.jit import Bools, Floats, Ints
from gobetween.logs.reading.counts import BadRow

ONE = "the log"  # the mediator of a log that names none

Order = Floats | list[str]
"""Numbers, times as numbers, or texts, such as dates, which are compared as texts; NaN or empty where there is none."""


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

    @classmethod
    def joined(cls, parts: Sequence["Names"]) -> "Names":
        """Columns one after the other."""
        values = list(dict.fromkeys(value for part in parts for value in part.values))
        known = {value: i for i, value in enumerate(values)}
        return cls(values, np.concatenate([np.array([*(known[v] for v in p.values), -1])[p.codes] for p in parts]))

    def of_rows(self, allowed: Sequence[bool], missing: bool = False) -> Bools:
        """Of each row, what is said of its value; of one without a value, whether that is so for `missing`."""
        if all(allowed) and (missing or not len(self.codes) or self.codes.min() >= 0):
            return np.ones(len(self.codes), np.bool_)
        found: Bools = np.array([*allowed, missing], np.bool_)[self.codes]
        return found

    def text(self, i: int) -> str | None:
        """The value of a row."""
        code = int(self.codes[i])
        return None if code < 0 else self.values[code]

    def used(self, codes: Ints, known: Iterable[str]) -> list[str]:
        """The values behind some of the codes, each once; those that are known need not be among them."""
        if set(self.values) <= set(known):
            return []
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
    first: int  # number of the first row, from 1
    mediators: Names
    arms: Names
    rewards: Floats  # naN where it is missing or no number
    order: Order | None
    numbers: Ints | None = None  # row numbers, where rows in between were bad or left out; else they follow `first`
    bad: tuple[BadRow, ...] = ()
    said: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    """What stands in rows whose reward is not a number."""
    words: frozenset[str] = frozenset()  # words, such as yes, that were read as rewards
    weights: Floats | None = None  # how many rows each stands for
    ids: Names | None = None
    propensities: Floats | None = None  # with which probability the mediator chose the arm, as the log says
    left_out: int = 0  # rows that were not asked for
    origins: Ints | None = None  # of which of the `sources` each row is, where they are merged
    sources: tuple[str, ...] = ()

    def origin(self, i: int) -> str:
        """The source of a row."""
        return self.source if self.origins is None else self.sources[int(self.origins[i])]

    def row(self, i: int) -> int:
        """The number of a row in its source."""
        return self.first + i if self.numbers is None else int(self.numbers[i])


def no_rows(source: str, reason: str) -> Batch:
    """A source without rows, as a batch that says so."""
    return Batch(source, 1, Names.of([]), Names.of([]), np.zeros(0), None, bad=(BadRow(source, 0, reason),))


def one_line(error: object) -> str:
    """What someone else's error says, in one line."""
    return " ".join(str(error).split())[:200]
