"""What the page of a study says: its state in a word, the headline with what to do, tiles, and a line for each check."""

from collections.abc import Sequence

from gobetween.core.alarm.alarm import Alarm
from gobetween.export import numbered
from gobetween.study.status.status import Status
from gobetween.words.numbers import amount, duration, percent, rough

#: State → its tone.
TONES: dict[str, str] = {
    "running": "accent",
    "paused": "",
    "archived": "",
    "sure": "good",
    "under review": "warn",
    "budget used": "warn",
    "needs attention": "bad",
}
#: Check → the kinds of alarm it is about, what holds, what does not, what is said where too little is known.
CHECKS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "policy": (("policy", "policy-drift"), "Mediators follow their declared policies", "A mediator deviates from its policy"),
    "confounding": (("confounding",), "Same reward across mediators", "Rewards differ between mediators"),
    "drift": (("drift", "contradiction"), "No change over time", "Rewards changed over time"),
    "spread": (("scale",), "Rewards spread as declared", "Rewards spread more than declared"),
}
INTERVALS = (
    "The intervals of all arms hold at all times together with probability {}. The study may become sure while two of them "
    "still overlap: it compares arms pair by pair."
)
LIMITS = {
    "policy": "Detectable: a share off by {} points",
    "confounding": "Detectable: a difference of {}. A bias shared by all mediators cannot be detected",
    "drift": "Detectable: a change of {}",
}


def headline(status: Status) -> tuple[str, list[str]]:
    """The answer as a title, and what it means."""
    if status.broken is not None:
        return "No recommendation: an assumption is violated", [status.broken.words]
    leader = status.leader
    if status.state == "under review":
        return f"Under review: the answer was {_answer(status)}", [status.sentence]
    if status.state == "sure":
        risk = f"The risk that this is wrong is at most {percent(status.delta)}, however often you looked."
        return status.sentence.split(";")[0].rstrip("."), [risk]
    if leader is None:
        return "No answers yet", ["Ask the first query, or send each mediator its personal link: answers arrive here."]
    if status.state == "budget used":
        return f"The budget is used up: {_leads(status)}, but this is not certain", [status.how_far]
    return f"{_leads(status)}, but this is not certain yet", [expected(status)]


def _leads(status: Status) -> str:
    return f"{status.leader} leads" if status.question["name"] == "best-arm" else f"{_answer(status)} seems right"


def _answer(status: Status) -> str:
    return ", ".join(status.answer) or "none"


def expected(status: Status) -> str:
    """What is still to come, in one sentence."""
    if status.queries_to_go is None:
        unseen = [arm["arm"] for arm in status.arms if not arm["pulls"]]
        return f"A forecast follows once {' and '.join(unseen[:3])} has been tried." if unseen else "Too early for a forecast."
    return f"Expect about {numbered(rough(status.queries_to_go), 'more answer')}{_range(status)}."


def _range(status: Status) -> str:
    if status.queries_range is None:
        return ""
    low, high = status.queries_range
    if high is None:
        return f" (90% likely at least {rough(low or 0.0):,})"
    return f" (80% range: {rough(low or 0.0):,}–{rough(high):,})"


def progress(status: Status) -> str:
    """Answers so far, of how many."""
    if status.queries_to_go is None or status.verdict is not None:
        return numbered(status.told, "answer")
    return f"{status.told:,} of about {rough(status.told + status.queries_to_go):,} answers"


def sure_by(status: Status, days: tuple[float, float | None] | None) -> tuple[str, str]:
    """When: how many more answers, and the range in answers and in time."""
    if status.broken is not None:
        return "open", "no forecast while an assumption is violated"
    if status.state == "sure" and status.verdict is not None:
        return f"{status.verdict['counted']:,} answers", "that many the verdict took"
    if status.queries_to_go is None:
        return "too early", expected(status)
    low, high = status.queries_range or (status.queries_to_go, status.queries_to_go)
    more = f"{rough(low or 0.0):,} or more" if high is None else f"80% range: {rough(low or 0.0):,}–{rough(high):,}"
    time = ""
    if days is not None:
        time = f" · at least {duration(days[0])}" if days[1] is None else f" · {_times(days[0], days[1])}"
    return f"about {rough(status.queries_to_go):,} more", f"{more} more answers{time}"


def _times(low: float, high: float) -> str:
    first, last = duration(low), duration(high)
    same = first.split()[-1] == last.split()[-1]
    return f"{first.split()[0] if same else first}–{last}"


def spent(status: Status) -> tuple[str, str]:
    """Of the budget: the cost where one is limited or queries differ in cost, otherwise queries."""
    if status.max_cost is not None:
        value = f"{amount(status.cost)} of {amount(status.max_cost)}"
    elif status.max_queries is not None:
        value = f"{status.queries:,} of {status.max_queries:,} queries"
    else:
        value = amount(status.cost) if status.cost != status.queries else numbered(status.queries, "query", "queries")
    notes = (
        []
        if status.max_cost is None or status.max_queries is None
        else [f"{status.queries:,} of {status.max_queries:,} queries"]
    )
    if status.cost_to_go is not None and status.verdict is None:
        notes.append(f"expected in all: {amount(status.cost + status.cost_to_go)}")
    if status.max_cost is None and status.max_queries is None:
        notes.append("no limit set")
    return value, " · ".join(notes)


def waiting(status: Status, overdue: Sequence[tuple[str, float]]) -> tuple[str, str]:
    """Open queries and those overdue: mediator and seconds since the lease ended, the oldest first."""
    value = f"{len(status.pending):,} open"
    if overdue:
        name, since = overdue[0]
        return f"{value} · {len(overdue):,} overdue", f"{name}, overdue for {duration(since)}"
    if status.waiting_for is not None:
        return value, f"the verdict waits for query {status.waiting_for}"
    return value, "nothing is overdue"


def check(name: str, alarms: Sequence[Alarm]) -> tuple[str, str, str]:
    """Tone, title and note of a check."""
    _, holds, fails = CHECKS[name]
    raised = [alarm for alarm in alarms if alarm.raised]
    if raised:
        tone = "bad" if any(alarm.breaks for alarm in raised) else "warn"
        return tone, fails, ", ".join(dict.fromkeys(alarm.subject for alarm in raised[:4]))
    sizes = [alarm.detectable for alarm in alarms if alarm.detectable is not None]
    if not alarms or (name in LIMITS and not sizes):
        return "", holds, "Too few answers to tell yet" if alarms else "Nothing to check yet"
    scale = 100.0 if name == "policy" else 1.0
    return "good", holds, LIMITS[name].format(f"{amount(float(f'{scale * min(sizes):.2g}'))} or more") if name in LIMITS else ""


def missing(status: Status) -> tuple[str, str, str]:
    """The same of answers that never came."""
    found = status.missing
    if found is None:
        return "good", "No answers missing", ""
    title = f"{numbered(found['answers'], 'answer')} missing"
    if found["stands"] is None:
        return "warn", title, "Valid only if answers went missing regardless of outcome"
    return ("good", title, "The result would stand even in the worst case") if found["stands"] else (
        "warn", title, "In the worst case they could change the result"
    )  # fmt: skip
