"""What a study answers to commands: queries and receipts. Without mathematics, for programs that talk to a study by HTTP."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict


class Verdict(TypedDict):
    """What a `stopped` event says."""

    at: float
    actor: str
    verdict: str  # identified or budget
    arm: str | None
    statistic: float
    threshold: float
    p_value: float
    counted: int


@dataclass(frozen=True)
class StudyQuery:
    """A question to a mediator; answer with `tell(query.id, arm=…, reward=…)`."""

    id: int
    mediator: str
    contact: str
    asked: float
    until: float | None
    """When the lease ends; None: never."""
    worker: str | None
    reissue_of: int | None
    new: bool = True
    """False when it had been asked before."""


@dataclass(frozen=True)
class Receipt:
    """What a command has recorded."""

    recorded: bool
    """False when the same had been recorded before."""
    query: int | None = None
    late: bool = False
    asked: tuple[StudyQuery, ...] = ()
    """Queries issued in the same transaction, to keep in_flight of them open."""
    stopped: Verdict | None = None
    """The verdict, if this command brought it."""
    stood: str | None = None
    """The verdict, identified or budget, that had ended the study before and stays."""
    alarm: str | None = None
    """What is wrong, where an alarm breaks the guarantee of a verdict, or of what a log says, or a verdict is under review."""

    backup: str | None = None
    """The file that a study was written to before it was deleted."""

    def to_dict(self) -> dict[str, Any]:
        """Field by field."""
        return {**vars(self), "asked": [dict(vars(query)) for query in self.asked]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Receipt":
        """What `to_dict` described; keys of later versions are left out."""
        asked = tuple(StudyQuery(**query) for query in data["asked"])
        return cls(**{name: data[name] for name in cls.__annotations__ if name != "asked" and name in data}, asked=asked)
