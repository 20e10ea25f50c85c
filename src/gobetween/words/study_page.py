"""What the page of a study says: its state in a word, the headline with what to do, tiles, and a line for each check."""

from collections.abc import Callable, Sequence

from gobetween.core.alarm.alarm import Alarm
from gobetween.core.alarm.confounding import ConfoundingDetails
from gobetween.core.alarm.drift import DriftDetails
from gobetween.export import numbered
from gobetween.study.status.status import Status
from gobetween.words.alarms import Check
from gobetween.words.numbers import amount, chance, duration, exact, rough, time_between

#: State → its tone.
TONES: dict[str, str] = {
    "not started": "",
    "running": "accent",
    "paused": "",
    "archived": "",
    "sure": "good",
    "under review": "warn",
    "budget used": "warn",
    "needs attention": "bad",
}
INTERVALS = (
    "The intervals of all arms hold at all times together with probability {}. The study may become sure while two of them "
    "still overlap: it compares arms pair by pair."
)


def chips(phase: str, events: int, alarms: Sequence[Alarm]) -> list[tuple[str, str]]:
    """The state, and whether an alarm beside it wants a look: words and tones."""
    state = "not started" if phase == "running" and not events else phase
    raised = sum(alarm.raised and not alarm.breaks for alarm in alarms)
    more = [(numbered(raised, "alarm"), "warn")] if raised and phase != "needs attention" else []
    return [(state.capitalize(), TONES[state]), *more]


def headline(status: Status, text: Callable[[float], str] = amount) -> tuple[str, list[str]]:
    """The answer as a title, and what it means; `text` writes a mean reward."""
    if status.broken is not None:
        title, means = _violated(status.broken, text)
        return title, [means, held_up(status)]
    leader = status.leader
    if status.state == "under review":
        now = "" if leader is None or [leader] == status.answer else f" {leader} leads now."
        why = f"Since that verdict answers were corrected or taken out, and the evidence is no longer enough for it.{now}"
        return f"Under review: the verdict was {_answer(status)}", [why]
    if status.state == "sure":
        risk = f"The risk that this is wrong is at most {chance(status.delta)}, however often you looked."
        return status.sentence.split(";")[0].rstrip("."), [risk]
    if leader is None:
        return "No answers yet", ["Ask the first query, or send each mediator its personal link: answers arrive here."]
    if status.state == "budget used":
        return f"The budget is used up: {_leads(status)}, but this is not certain", [expected(status)]
    return f"{_leads(status)}, but this is not certain yet", [expected(status), held_up(status)]


def _violated(alarm: Alarm, text: Callable[[float], str]) -> tuple[str, str]:
    """What happened, and what that means."""
    name, details = alarm.subject, alarm.details
    if isinstance(details, ConfoundingDetails) and details.mediator:
        both = f"{details.mediator} and {details.other}" if details.other else details.mediator
        rest = f"{text(details.rest)} with {details.other or 'the others'}"
        return f"No recommendation: {name} works differently at {both}", (
            f"{name}: {text(details.mean)} with {details.mediator}, {rest}. Something that mediators see before they choose "
            "probably affects both the choice and the result, so the guarantee does not hold."
        )
    if isinstance(details, DriftDetails):
        then = f"{text(details.before)} until about answer {details.split:,}"
        return f"No recommendation: {name} works differently than before", (
            f"{name}: {then}, {text(details.since)} since. Rewards changed over time, or answers are not in "
            "the order in which they were collected, so the guarantee does not hold."
        )
    return "No recommendation: an assumption is violated", alarm.words


def held_up(status: Status) -> str:
    """That many answers are not counted yet, and why; empty where it is only the usual few."""
    wait = status.told - status.counted
    if status.waiting_for is None or wait <= max(5, status.told // 10):
        return ""
    mediator = next((row["mediator"] for row in status.pending if row["query"] == status.waiting_for), "")
    counted, to = f"{status.counted:,}" if status.counted else "None", f" to {mediator}" if mediator else ""
    verb, rest = ("is", "all") if not status.counted else ("is" if status.counted == 1 else "are", "the rest")
    all_of_them = numbered(status.told, "answer")
    return f"{counted} of {all_of_them} {verb} counted; {rest} wait for query {status.waiting_for}{to}."


def _leads(status: Status) -> str:
    return f"{status.leader} leads" if status.names_leader else f"{_answer(status)} seems right"


def _answer(status: Status) -> str:
    return ", ".join(status.answer) or "none"


def expected(status: Status) -> str:
    """What is still to come, in one sentence."""
    if status.queries_to_go is None:
        unseen = any(not arm["pulls"] for arm in status.arms)
        return "A forecast follows once every arm has been tried." if unseen else "Too early for a forecast."
    range_ = _range(status, 0)
    return f"Expect about {numbered(rough(status.queries_to_go), 'more answer')}{f' ({range_})' if range_ else ''}."


def _range(status: Status, told: int) -> str:
    """The range of a forecast, where there is one; `told`: added to both ends."""
    if status.queries_range is None:
        return ""
    low, high = status.queries_range
    first = told + rough(low or 0.0)
    return f"90% likely at least {first:,}" if high is None else f"80% range: {first:,}–{told + rough(high):,}"


def progress(status: Status) -> str:
    """Answers so far, of how many in all."""
    if status.queries_to_go is None:
        return numbered(status.told, "answer")
    range_ = _range(status, status.told)
    return f"{status.told:,} of about {status.told + rough(status.queries_to_go):,} answers{f' · {range_}' if range_ else ''}"


def sure_by(status: Status, days: tuple[float, float | None] | None) -> tuple[str, str]:
    """When: how many more answers, and the range in answers and in time; `days` in seconds, at the pace so far."""
    if status.broken is not None:
        return "open", "no forecast while an assumption is violated"
    if status.state == "sure" and status.verdict is not None:
        return f"{status.verdict['counted']:,} answers", "answers until the verdict"
    if status.queries_to_go is None:
        return "too early", expected(status)
    time = "" if days is None else f"{time_between(*days)} at the pace so far"
    return f"about {rough(status.queries_to_go):,} more", " · ".join(part for part in (_range(status, 0), time) if part)


def short_of(status: Status) -> tuple[str, str, bool] | None:
    """Where the budget will probably not do: what is needed, what there is, and is that nearly certain?"""
    if status.queries_to_go is None or status.verdict is not None or status.broken is not None:
        return None
    low = status.queries_to_go if status.queries_range is None else status.queries_range[0] or 0.0
    share = low / max(status.queries_to_go, 1e-9)
    if status.max_cost is not None and status.cost_to_go is not None:
        whole = status.cost + status.cost_to_go
        if whole > status.max_cost:
            surely = status.queries_range is not None and status.cost + share * status.cost_to_go > status.max_cost
            return f"a cost of about {rough(whole):,}", f"the budget is {exact(status.max_cost)}", surely
    if status.max_queries is not None and status.queries + status.queries_to_go > status.max_queries:
        surely = status.queries_range is not None and status.queries + low > status.max_queries
        needed = f"about {rough(status.queries + status.queries_to_go):,} queries"
        return needed, f"the budget is {status.max_queries:,}", surely
    return None


def spent(status: Status) -> tuple[str, str]:
    """Of the budget: the cost where one is limited or queries differ in cost, otherwise queries."""
    used = f"{status.queries:,} of {status.max_queries or 0:,} queries"
    if status.max_cost is not None:
        value = f"{exact(status.cost)} of {exact(status.max_cost)}"
    elif status.max_queries is not None:
        value = used
    else:
        value = exact(status.cost) if status.cost != status.queries else numbered(status.queries, "query", "queries")
    notes = [used] if status.max_cost is not None and status.max_queries is not None else []
    if status.cost_to_go is not None and status.verdict is None and status.broken is None:
        notes.append(f"expected in all: {rough(status.cost + status.cost_to_go):,}")
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


def check(of: Check, alarms: Sequence[Alarm]) -> tuple[str, str, str]:
    """Tone, title and note of a check."""
    raised = [alarm for alarm in alarms if alarm.raised]
    if raised:
        tone = "bad" if any(alarm.breaks for alarm in raised) else "warn"
        return tone, of.fails, ", ".join(dict.fromkeys(alarm.subject for alarm in raised[:4]))
    sizes = [alarm.detectable for alarm in alarms if alarm.detectable is not None]
    if not alarms or (of.limit and not sizes):
        return "", of.holds, "Too few answers to tell yet" if alarms else "Nothing to check yet"
    return "good", of.holds, of.limit.format(amount(float(f"{of.scale * min(sizes):.2g}"))) if of.limit else ""


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
