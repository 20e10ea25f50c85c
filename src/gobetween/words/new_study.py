"""The form of a new study: its fields with what they mean, and families by what is measured."""

from collections.abc import Mapping
from typing import NamedTuple


class Measure(NamedTuple):
    """Something that can be measured: in words, with examples, the family for it and what that needs to know."""

    title: str
    example: str
    family: str | None
    fields: tuple[tuple[str, str], ...] = ()
    default: str = ""


MEASURES: Mapping[str, Measure] = {
    "yes-no": Measure("Yes or no", "came back, clicked, recovered", "bernoulli"),
    "trials": Measure("How many of n", "of 10 patients, how many came", "binomial:n={n}", (("n", "n"),), "10"),
    "count": Measure("A count", "calls in a week: 0, 1, 2 …", "poisson"),
    "range": Measure(
        "A number between two limits", "a rating, a share, money up to a limit", "bounded:low={low},high={high}",
        (("low", "lowest"), ("high", "highest")), "0",
    ),
    "number": Measure(
        "A number without limits", "a score, a temperature; leave the spread empty if unknown", "gaussian:sigma={sigma}",
        (("sigma", "standard deviation"),), "unknown",
    ),
    "time": Measure("A waiting time", "days until the reply, exponential", "exponential"),
    "other": Measure("Something else", "a family with its parameters, such as gamma:shape=2", None, (("family", "family"),)),
}  # fmt: skip
#: Name → label, what it means.
FIELDS: Mapping[str, tuple[str, str]] = {
    "title": ("Question", "What the study is to find out; mediators read it above their inbox."),
    "name": ("Short name", "For addresses and the command line, such as reminders."),
    "delta": (
        "Risk of a wrong answer (%)",
        "5 means: the answer is wrong with probability at most 5%, however often you look.",
    ),
    "lease": ("Time for an answer", "Such as 12h or 3d; after it the query is overdue and asked again. Empty: no end."),
    "in_flight": ("Queries kept open", "Each answer brings the next query by itself. Empty: you ask for each."),
    "budget-queries": ("At most so many queries", "The study stops there in any case. Empty: no limit."),
    "budget-cost": ("At most this cost", "In the unit of the mediators' costs. Empty: no limit."),
}
