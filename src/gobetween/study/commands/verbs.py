"""Each verb of a live study once: its word, its arguments, what is refused at first sight, and what it does, in words.

`Study` runs a verb and `Client` posts it; routes with their bodies and the command line with its help are made from the fields.
What a verb does inside a transaction stands in commands.py, and in lifecycle.py.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from gobetween.errors import StudyError
from gobetween.export import as_list, choose, is_number
from gobetween.names import normal
from gobetween.study.commands.study_verbs import STUDY, Archive, Delete, Note, Pause, RenameStudy, Resume
from gobetween.study.commands.verb import Act, Verb, VerbRunner, method
from gobetween.study.journal.receipts import StudyQuery
from gobetween.study.spec.checks import as_float, check_some_text, check_text

if TYPE_CHECKING:
    from gobetween.core.problem.cast import Policy as Policy
else:  # as JSON has it
    Policy = list[float] | list[str] | dict[str, float] | None

Arm = Annotated[str | None, "The arm that was pulled."]
Reward = Annotated[float | None, "What it paid."]
Silent = Annotated[bool, "The mediator did not act."]
Surprise = Annotated[bool, "Record an arm that the declared policy never pulls."]
Mediator = Annotated[str, "Its name."]
HowItChooses = Annotated[
    Policy,
    "How often it pulls each arm, in their order or by name; the names of the arms that it may pull, where only these are "
    "known; nothing, where it is not known.",
]
What = Literal["mediator", "arm"]


def _number(query: StudyQuery | int) -> int:
    return query.id if isinstance(query, StudyQuery) else query


def _plain(policy: Policy) -> Policy:
    return dict(policy) if isinstance(policy, Mapping) else as_list(policy)


def _check_what(what: str) -> None:
    if what not in get_args(What):
        raise StudyError(f"what = {what!r}: {choose(what, get_args(What), str)}")


@dataclass(frozen=True)
class Ask(Verb[list[StudyQuery]]):
    """Whom to ask next.

    Queries whose lease has ended are issued again. Without a number it is one query or, with in_flight, as many as are missing;
    if none is missing, those that are open.
    """

    word = "ask"
    n: Annotated[int | None, "That many new queries."] = None
    _: KW_ONLY
    worker: Annotated[str | None, "One query for a worker that names itself; the same again until it is told."] = None

    def _check(self) -> None:
        n = self.n
        if n is not None and (not is_number(n) or not 1 <= n <= 10_000 or n != int(n)):
            raise StudyError(f"n = {n!r}: ask for 1 to 10,000 queries")
        if n is not None and self.worker is not None:
            raise StudyError("a worker holds one query at a time: leave out n")
        check_text("worker", self.worker)

    def to_json(self, answer: list[StudyQuery]) -> dict[str, Any]:
        return {"queries": [dict(vars(query)) for query in answer]}

    def from_json(self, data: Mapping[str, Any]) -> list[StudyQuery]:
        return [StudyQuery(**query) for query in data["queries"]]


@dataclass(frozen=True)
class Tell(Act):
    """Record an answer: the arm and its reward, or silence.

    Without a query, name the mediator who answered. The same answer again is "already recorded"; another answer to the
    same query is refused: see `correct`. An unasked answer that equals one of the last ten minutes is refused, unless a key or
    `again` says that it is a second one.
    """

    word = "tell"
    query: Annotated[StudyQuery | int | None, "The query that is answered."] = None
    _: KW_ONLY
    arm: Arm = None
    reward: Reward = None
    silent: Silent = False
    mediator: Annotated[str | None, "Who answered, where there is no query."] = None
    accept_surprise: Surprise = False
    again: Annotated[bool, "It is another answer, though the same came unasked a moment ago."] = field(
        default=False, compare=False
    )

    def _check(self) -> None:
        if self.query is None and self.mediator is None:
            raise StudyError("name the query that is answered, or the mediator who answered without being asked")
        vars(self).update(query=self.number, reward=as_float(self.reward))

    def _asked_for(self) -> dict[str, Any]:
        return super()._asked_for() | ({} if self.query is None else {"mediator": None})  # which the query says

    @property
    def number(self) -> int | None:
        """Of the query; None: unasked."""
        return None if self.query is None else _number(self.query)


@dataclass(frozen=True)
class OnQuery(Act):
    """A verb about one query."""

    query: Annotated[StudyQuery | int, "The query's number."]

    def _check(self) -> None:
        vars(self).update(query=self.number)

    @property
    def number(self) -> int:
        """Of the query."""
        return _number(self.query)


@dataclass(frozen=True)
class Correct(OnQuery):
    """Replace an answer that was wrong, or the mediator who gave it.

    A mediator alone: the answer stays. The log keeps both. The guarantee is valid only if corrections are made regardless of
    the reward.
    """

    word = "correct"
    done = "corrected query {query}"
    _: KW_ONLY
    arm: Arm = None
    reward: Reward = None
    silent: Silent = False
    mediator: Annotated[str | None, "Who really gave it; alone, the answer stays."] = None
    reason: Annotated[str, "Why; it is kept."]
    accept_surprise: Surprise = False

    def _check(self) -> None:
        super()._check()
        check_some_text("reason", self.reason, "a correction needs a reason")
        vars(self).update(reward=as_float(self.reward))


@dataclass(frozen=True)
class Void(OnQuery):
    """Take an answer out of the count.

    It is as if its query had been cancelled, and stays in the log. The guarantee is valid only if answers are taken out
    regardless of the reward, and the status says so.
    """

    word = "void"
    done = "took out the answer to query {query}"
    _: KW_ONLY
    reason: Annotated[str, "Why; it is kept, and must have nothing to do with rewards."]

    def _check(self) -> None:
        super()._check()
        check_some_text("reason", self.reason, "taking an answer out needs a reason")


@dataclass(frozen=True)
class Cancel(OnQuery):
    """Withdraw an open query.

    The reason must depend neither on its reward nor on answers to later queries.
    """

    word = "cancel"
    done = "cancelled query {query}"
    _: KW_ONLY
    reason: Annotated[str, "Why; it must have nothing to do with rewards."] = ""

    def _check(self) -> None:
        super()._check()
        check_text("reason", self.reason)


@dataclass(frozen=True)
class Away(Act):
    """Stop asking a mediator until it is back.

    Its open queries stay open.
    """

    word = "away"
    done = "{mediator} is away"
    idle = "{mediator} is away already; nothing changed"
    mediator: Mediator


@dataclass(frozen=True)
class Back(Act):
    """A mediator can be asked again."""

    word = "back"
    done = "{mediator} is back"
    idle = "{mediator} is not away; nothing changed"
    mediator: Mediator


@dataclass(frozen=True)
class AddMediator(Act):
    """Add a mediator, also after the study has begun.

    The guarantee is as before: it is about arms, and holds for any mediators.
    """

    word = "add-mediator"
    done = "{mediator} can be asked from now on; the guarantee is as before"
    mediator: Mediator
    _: KW_ONLY
    policy: HowItChooses = None
    cost: Annotated[float, "What one query costs."] = 1.0
    contact: Annotated[str, "Whom to write to."] = ""

    def _check(self) -> None:
        check_some_text("mediator", self.mediator, "a mediator needs a name")
        check_text("contact", self.contact)
        vars(self).update(mediator=normal(self.mediator), policy=_plain(self.policy))


@dataclass(frozen=True)
class Declare(Act):
    """Declare a mediator's policy again, or that it is not known.

    All that was asked and told stays and is compared with it; plans follow it. The guarantee does not rest on it.
    """

    word = "declare"
    done = "declared how {mediator} chooses; the guarantee is as before"
    idle = "{mediator}'s policy is already declared so; nothing changed"
    mediator: Mediator
    policy: HowItChooses = None

    def _check(self) -> None:
        vars(self).update(policy=_plain(self.policy))


@dataclass(frozen=True)
class Retire(Act):
    """Stop asking a mediator, or leave an arm out of the question.

    This is final. A mediator's open queries stay open until they are told, cancelled or expired, and the guarantee is as
    before. Without an arm the question is which of the others is best: the answer holds whatever the reason was, and says
    nothing of that arm.
    """

    word = "retire"
    idle = "{name} is retired already; nothing changed"
    done = "{name} will not be asked again; its open queries stay open, and the guarantee is as before"
    name: Annotated[str, "Of the mediator or the arm."]
    _: KW_ONLY
    what: Annotated[What, "Which of the two it is."] = "mediator"

    def _check(self) -> None:
        _check_what(self.what)

    def words(self) -> str:
        """Of an arm, what the question is now."""
        left = f"the question is now which of the other arms is best; the answer will say nothing about {self.name}"
        return left if self.what == "arm" else super().words()


@dataclass(frozen=True)
class Rename(Act):
    """Give an arm or a mediator another name.

    It stays the same, and so does all that was recorded.
    """

    word = "rename"
    done = "{old} is called {new} now"
    idle = "{new} is the name already; nothing changed"
    old: Annotated[str, "The name so far."]
    new: Annotated[str, "The name from now on."]
    _: KW_ONLY
    what: Annotated[What | None, "Which of the two it is, where both have the name."] = None

    def _check(self) -> None:
        check_text("old name", self.old)
        check_some_text("new name", self.new, "a name needs some text")
        vars(self).update(new=normal(self.new))
        _check_what(self.what or "arm")


class Commands(VerbRunner):
    """What can be done to a study: each verb is a method, with the verb's arguments."""

    ask = method(Ask)
    tell = method(Tell)
    correct = method(Correct)
    void = method(Void)
    cancel = method(Cancel)
    away = method(Away)
    back = method(Back)
    add_mediator = method(AddMediator)
    declare = method(Declare)
    retire = method(Retire)
    rename = method(Rename)
    pause = method(Pause)
    resume = method(Resume)
    note = method(Note)
    archive = method(Archive)
    rename_study = method(RenameStudy)
    delete = method(Delete)


#: Those about queries, and those about who takes part and how the study goes on.
ASKING: tuple[type[Verb[Any]], ...] = (Ask, Tell, Correct, Void, Cancel)
LIFECYCLE: tuple[type[Verb[Any]], ...] = (Away, Back, AddMediator, Declare, Retire, Rename, Pause, Resume, Note)
VERBS = {verb.word: verb for verb in (*ASKING, *LIFECYCLE, *STUDY)}
