"""Which columns of a log hold what."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from gobetween.errors import Fix, LogError
from gobetween.export import choose

MOST_COLUMNS = 10_000  # of a log
FILE, FOLDER = "filename", "folder"  # the columns of files' names and of their folders', where a log has none of that name


@dataclass(frozen=True)
class FoundColumns:
    """The columns of a source; without any of mediators the log has one mediator."""

    mediator: tuple[str, ...]
    arm: tuple[str, ...]
    reward: str
    order: str | None = None
    count: str | None = None
    id: str | None = None
    propensity: str | None = None
    others: tuple[str, ...] = ()  # those that a filter looks at

    def check_apart(self, source: str) -> None:
        """Refuse a column that is named for two things."""
        single = {"rewards": self.reward, "counts": self.count, "propensities": self.propensity}
        roles = {"mediators": self.mediator, "arms": self.arm} | {what: (name,) for what, name in single.items() if name}
        for (one, names), (other, others) in combinations(roles.items(), 2):
            if set(names) == set(others) or (set(names) & set(others) and other not in ("mediators", "arms")):
                what = f"column {', '.join(others)!r} is named for both {one} and {other}"
                raise LogError(f"{source}: {what}", fix=Fix("columns"))

    @property
    def names(self) -> list[str]:
        """The columns of names."""
        return [*self.mediator, *self.arm]

    @property
    def wanted(self) -> list[str]:
        """All of them, each once."""
        single = (self.reward, self.order, self.count, self.id, self.propensity)
        return list(dict.fromkeys([*self.names, *(name for name in single if name is not None), *self.others]))


@dataclass(frozen=True)
class Columns:
    """What columns are called: of mediators and arms one name, or several with commas."""

    mediator: str = "mediator"
    arm: str = "arm"
    reward: str = "reward"
    order: str | None = None
    count: str | None = None
    id: str | None = None
    propensity: str | None = None
    others: tuple[str, ...] = ()
    explicit: bool = False  # was a column of mediators asked for? Else a log without one has one mediator

    def among(self, header: Iterable[object], source: str) -> FoundColumns:
        """The columns that are really there; refuses a source that lacks one, or has it twice."""
        present = list(header)
        own = [str(name) for name in present if name not in (FILE, FOLDER)]
        if len(own) > MOST_COLUMNS:
            what = f"{source}: has {len(own):,} columns, and a log at most {MOST_COLUMNS:,}"
            raise LogError(f"{what}: keep those of mediators, arms and rewards")
        if not own:
            raise LogError(f"{source}: holds no rows", fix=Fix("other-file"))
        for name in (self.mediator, self.arm, self.reward):
            if not isinstance(name, str):
                raise LogError(f"a column is named by a text, not by {name!r}", fix=Fix("columns"))
        alone = not self.explicit and self.mediator not in present
        mediator = () if alone else _split(self.mediator, present)
        single = self.reward, self.order, self.count, self.id, self.propensity
        found = FoundColumns(mediator, _split(self.arm, present), *single, self.others)
        found.check_apart(source)
        for name in found.wanted:
            if present.count(name) > 1:
                raise LogError(f"{source}: has {present.count(name)} columns named {name!r}: rename one")
            if name not in present:
                raise LogError(f"{source}: has no column {name!r}: {choose(name, own, most=20)}", fix=Fix("columns"))
        return found


def _split(names: str, present: list[object]) -> tuple[str, ...]:
    """One name, or several with commas; a column may have a comma in its name."""
    return (names,) if names in present else tuple(name.strip() for name in names.split(",") if name.strip()) or (names,)
