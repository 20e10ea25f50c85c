"""The form of a new study: its fields with what they mean, families by what is measured, and questions."""

from collections.abc import Mapping
from typing import NamedTuple


class Choice(NamedTuple):
    """One of several: in words, with examples, the name that files have for it, and what it needs to know."""

    title: str
    example: str
    name: str | None
    fields: tuple[tuple[str, str, str], ...] = ()
    """Key, label and what stands for an empty field."""


MEASURES: Mapping[str, Choice] = {
    "yes-no": Choice("Yes or no", "came back, clicked, recovered", "bernoulli"),
    "trials": Choice("How many of n", "of 10 patients, how many came", "binomial", (("n", "n", "10"),)),
    "count": Choice("A count", "calls in a week: 0, 1, 2 …", "poisson"),
    "range": Choice(
        "A number between two limits", "a rating, a share, money up to a limit", "bounded",
        (("low", "Lowest", "0"), ("high", "Highest", "")),
    ),
    "number": Choice(
        "A number without limits", "a score, a temperature; leave the spread empty if unknown", "gaussian",
        (("sigma", "Standard deviation", "unknown"),),
    ),
    "time": Choice("A waiting time", "days until the reply, exponential", "exponential"),
    "other": Choice("Something else", "a family with its parameters, such as gamma:shape=2", None, (("family", "Family", ""),)),
}  # fmt: skip
QUESTIONS: Mapping[str, Choice] = {
    "best": Choice("Which arm is best?", "the usual question", "best-arm"),
    "top": Choice("Which arms are the best few?", "such as the best 3", "top-m", (("m", "How many", ""),)),
    "enough": Choice(
        "Which arm is good enough?", "at most this far below the best, in the unit of the result", "epsilon-best",
        (("eps", "How far below the best", ""),),
    ),
    "above": Choice("Which arms are above a value?", "such as a mean above 0.5", "threshold", (("theta", "Value", ""),)),
}  # fmt: skip
#: Name → label, what it means.
FIELDS: Mapping[str, tuple[str, str]] = {
    "title": ("Title", "What the study is to find out; mediators read it above their inbox."),
    "name": ("Short name", "For addresses and the command line, such as reminders."),
    "delta": (
        "Risk of a wrong answer (%)",
        "5 means: the answer is wrong with probability at most 5%, however often you look.",
    ),
    "lease": (
        "Time for an answer",
        "Such as 12h or 3d; then the query is overdue and asked again. Leave empty for no deadline.",
    ),
    "in_flight": ("Queries kept open", "Each answer brings the next query by itself. Leave empty to ask for each."),
    "budget-queries": ("Query limit", "The study stops there in any case. Leave empty for no limit."),
    "budget-cost": ("Cost limit", "In the unit of the mediators' costs. Leave empty for no limit."),
    "inbox-question": ("What shall a mediator do?", "Empty: Choose as you usually would, then tell us what happened."),
    "inbox-option": ("Question about the arm", "Empty: Which option was it?"),
    "inbox-outcome": ("Question about the result", "Empty: Did it work?"),
    "inbox-yes": ("Word for yes", "Of a yes/no result, such as: The patient came."),
    "inbox-no": ("Word for no", "Such as: The patient did not come."),
}
