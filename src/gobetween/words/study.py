"""What a study says of itself: the answer, how far it is, what the answer rests on, and what a changed spec changes."""

import math
from collections.abc import Mapping
from typing import Any

from gobetween.export import numbered, short, shortened, some
from gobetween.simulation.worlds import Forecast
from gobetween.study.journal.state import StudyState
from gobetween.study.learner.progress import Progress
from gobetween.study.learner.resolution import Resolution
from gobetween.study.spec.changes import Changes
from gobetween.study.spec.fields import UNITS
from gobetween.study.status.missing_answers import Missing, cancelled, expired
from gobetween.study.status.unreachable import OutOfReach, out_of_reach
from gobetween.words.events import event_words
from gobetween.words.numbers import about, between, rough
from gobetween.words.verdict import epsilon_words, headline, in_play_words, near_words

MOST_GROUPS = 5  # of arms that absent mediators reach
#: Counts of a mediator → what is said of them.
MARKED = {
    "cancelled": ("query was cancelled", "queries were cancelled"),
    "expired": ("query expired", "queries expired"),
    "silent": ("answer was silence", "answers were silence"),
    "unasked": ("answer was not requested", "answers were not requested"),
    "late": ("answer was late", "answers were late"),
}


def sentence(state: StudyState, progress: Progress) -> str:
    """The answer so far."""
    account = progress.account
    if account.broken is not None or (state.stopped is not None and state.stopped["verdict"] == "identified"):
        best = "The best of the arms that remain" if state.retired_arms else "The best arm"
        return headline(account, condition=condition(state), best=best)
    if state.stopped is None and state.identified:
        found = state.learner.design.question.sentence(state.learner.answer)
        return f"{found}: the study found this and was reopened; it is running."
    if state.stopped is not None:
        return f"{verdict_words(state.stopped)[:1].upper()}{verdict_words(state.stopped)[1:]}."
    return headline(account, who="the study")


def condition(state: StudyState) -> str:
    """What the guarantee rests on where answers are missing or were taken out, as the end of its sentence."""
    voided = sum(counts["voided"] for counts in state.counts.values())
    answers = "answer that was" if voided == 1 else f"{voided:,} answers that were"
    parts = [missing_condition(state), f"the {answers} taken out" if voided else ""]
    said = " and ".join(part for part in parts if part)
    rewards = "rewards" if voided else "its reward" if said.startswith("the answer") else "their rewards"
    return f", if {said} did not depend on {rewards}" if said else ""


def how_far(
    state: StudyState, progress: Progress, forecast: Forecast | None, resolution: Resolution | None, cost_to_go: float | None
) -> str:
    """How far from stopping, and what that means."""
    if state.stopped is not None and state.stopped["verdict"] == "budget":
        later = "The study has stopped; answers that still arrive are counted and may settle it."
        play = [in_play_words(progress.in_play, len(progress.arms), state.spec.design.delta)] if progress.counted else []
        return " ".join([*play, *more_words(progress, forecast, resolution, cost_to_go), later])
    if state.stopped is not None and not state.doubted:
        return "The study has stopped; further answers are kept, but do not change the verdict."
    if state.stopped is not None:
        return f"{_lacking(progress)}{_expected(progress, forecast) or _why_unknown(progress)} {_what_to_do(state)}"
    words = f"Evidence so far: {progress.statistic:.2f} of the {progress.threshold:.2f} needed."
    left = state.spec.max_queries is not None or state.spec.max_cost is not None
    near = near_words(None if resolution is None else resolution.near, left)
    return " ".join([words + (_expected(progress, forecast) or _why_unknown(progress)), *near])


def _lacking(progress: Progress) -> str:
    """The evidence of a verdict that is in doubt."""
    needed = f"the verdict needs {progress.threshold:.2f} nats of evidence"
    if progress.statistic >= progress.threshold:
        return f"The evidence is now for {progress.leader!r}: {progress.statistic:.2f} nats, where {needed}."
    return f"{needed[:1].upper()}{needed[1:]}, and has {progress.statistic:.2f}."


def _what_to_do(state: StudyState) -> str:
    """About a verdict that is in doubt."""
    resume = "Resume the study to go on asking" if state.affordable else "Raise the budget and resume the study to go on asking"
    wait = f", or wait: {numbered(len(state.open), 'open query', 'open queries')} may make it sure again" if state.open else ""
    return f"{resume}{wait}."


def _expected(progress: Progress, forecast: Forecast | None) -> str:
    """How many queries it takes; empty where nobody can say."""
    if forecast is not None:
        more = numbered(rough(forecast.median), "more query", "more queries")
        return f" Expect about {more} ({between(forecast.low, forecast.high)})."
    if math.isfinite(progress.queries_to_go):
        return f" Expect about {numbered(rough(progress.queries_to_go), 'more query', 'more queries')}."
    return ""


def more_words(
    progress: Progress, forecast: Forecast | None, resolution: Resolution | None, cost_to_go: float | None
) -> list[str]:
    """What more money would buy: how much it takes to be sure, and which difference twice as many answers would tell."""
    words = [(_expected(progress, forecast) or _why_unknown(progress)).strip()]
    if words[0] and cost_to_go is not None:
        words.append(f"Expected cost: about {about(cost_to_go)}.")
    return [*(line for line in words if line), *gap_words(resolution)]


def gap_words(resolution: Resolution | None) -> list[str]:
    """The gap to the closest rival beside the gaps that can be told."""
    if resolution is None or resolution.twice is None:
        return []
    twice = f"twice as many answers can detect a gap of {about(resolution.twice)}"
    if resolution.now is not None:
        twice = f"this many answers can detect a gap of {about(resolution.now)}, twice as many {about(resolution.twice)}"
    return [
        f"{resolution.rival!r} is {about(resolution.gap)} behind {resolution.leader!r}: {twice}.",
        *epsilon_words(resolution.near),
    ]


def _why_unknown(progress: Progress) -> str:
    """Why nobody can say how many queries it takes, where that is known."""
    unseen = [arm.arm for arm in progress.arms if not arm.pulls]
    estimates = sorted(arm.estimate for arm in progress.arms if arm.estimate is not None)
    if not estimates:
        return ""
    if unseen:
        verb = "has" if len(unseen) == 1 else "have"
        return f" No estimate yet of how many queries it takes: {some(unseen)} {verb} not been seen."
    if estimates[-1] == estimates[-2]:
        return " No estimate yet of how many queries it takes: the best estimates are equal."
    return ""


def assumptions(state: StudyState, progress: Progress, missing: Missing | None) -> list[str]:
    """What the reader must be told."""
    log = state.absorbed
    total = {key: sum(counts[key] for counts in state.counts.values()) for key in next(iter(state.counts.values()))}
    found = []
    if log is not None:
        found.append(
            f"{log['rows']:,} of the counted answers came from a log ({shortened(log['files'])}): valid if the log is "
            "complete, its rows were not chosen by reward, and its arms are the same as now."
        )
    if progress.waiting_for is not None:
        query = state.open[progress.waiting_for.id]
        found.append(
            f"The verdict waits for query {progress.waiting_for.id} ({query.mediator}); later answers have arrived. Cancel it "
            "only for reasons unrelated to rewards, its own or later ones."
        )
    found += [*reach_words(state), *retired_words(state)]
    marks = [numbered(total[key], *words) for key, words in MARKED.items() if total[key]]
    if marks:
        found.append(f"{', '.join(marks)}. Valid only if this did not depend on rewards.")
    found += [*missing_words(missing if state.identified and not state.doubted else None), *jump_words(state)]
    if state.twice and state.stopped is not None and state.identified:
        found.append(
            "An answer was named before an arm was retired, and this one by another rule: each is wrong with probability at "
            f"most {state.spec.design.delta:g}, one of the two at most {2.0 * state.spec.design.delta:g}."
        )
    if total["corrected"]:
        found.append(
            f"Corrected answers: {total['corrected']:,}. Valid only if corrections were made regardless of the outcome."
        )
    if total["voided"]:
        found.append(f"Answers taken out: {total['voided']:,}. Valid only if that was done regardless of the outcome.")
    return found


def retired_words(state: StudyState) -> list[str]:
    """What it means that arms were retired."""
    if not state.retired_arms:
        return []
    one = len(state.retired_arms) == 1
    it, was, pays = ("it", "was", "it pays") if one else ("them", "were", "they pay")
    gone = f"{some(state.retired_arms)} {was} retired: the answer is about the remaining arms, whatever the reason for retiring"
    return [f"{gone}, and says nothing about {it}; what {pays} from now on is kept but not counted."]


def reach_words(state: StudyState) -> list[str]:
    """Arms that only mediators who are away reach, a sentence for each of the first groups."""
    groups = out_of_reach(state)
    rest = sum(len(group.arms) for group in groups[MOST_GROUPS:])
    more = [f"The same holds for {numbered(rest, 'more arm')} that only absent mediators can reach."] if rest else []
    return [*map(_only, groups[:MOST_GROUPS]), *more]


def _only(group: OutOfReach) -> str:
    verb = "can reach" if not group.sure else "reaches" if len(group.mediators) == 1 else "reach"
    words = f"Only {some(group.mediators)} ({'retired' if group.retired else 'away'}) {verb} {some(group.arms)}"
    back = "until someone who can joins" if group.retired else "until they are back"
    if group.seen:
        return f"{words}: nothing more is learnt of {'it' if len(group.arms) == 1 else 'them'} {back}."
    return f"{words}: the study cannot stop {back}."


def missing_condition(state: StudyState) -> str:
    """The missing answers where the guarantee rests on them, such as "the 12 answers that expired"; empty if none is."""
    owed = {"expired": sum(expired(state)), "were cancelled": sum(cancelled(state))}
    number, ends = sum(owed.values()), [verb for verb, some in owed.items() if some]
    if number == 1:
        return f"the answer that {ends[0].replace('were', 'was')}"
    return f"the {number:,} answers that {' or '.join(ends)}" if number else ""


def missing_words(found: Missing | None) -> list[str]:
    """Beside a verdict: would it stand with the missing answers at their worst?"""
    if found is None or found["statistic"] is None:
        return []
    one = found["answers"] == 1
    if found["stands"]:
        all_of_them = "the missing answer" if one else f"all {found['answers']:,} missing answers"
        if_so = ", if mediators pull only arms that they were declared or seen to pull" if found["supports"] else ""
        return [f"Even if {all_of_them} had gone against it, the verdict would stand{if_so}."]
    at_worst = "the missing answer at its" if one else f"the {found['answers']:,} missing answers at their"
    evidence = f"evidence {found['statistic']:.1f} of the {found['threshold']:.1f} needed"
    return [f"With {at_worst} worst it would not stand yet: {evidence}."]


def jump_words(state: StudyState) -> list[str]:
    """That the clock has jumped, where it has."""
    return [
        f"The clock of the store has jumped {numbered(jump['times'], 'time')}; the last time "
        f"{event_words(jump | {'kind': 'clock'})}."
        for jump in state.jumps
    ]


def verdict_words(stopped: Mapping[str, Any]) -> str:
    """A verdict in words."""
    if stopped["verdict"] == "identified":
        return f"the answer is {stopped['arm']!r}"
    if stopped["arm"] is None:
        return "the budget is used up, and nothing is known"
    certain = f"p = {stopped['p_value']:.2g}" if stopped["p_value"] < 1.0 else "no evidence for it yet"
    return f"the budget is used up; {stopped['arm']!r} leads ({certain})"


def change_words(changes: Changes) -> list[str]:
    """One line for each field, such as "lease: 3d -> 2d"; of lists only what differs."""
    lines = []
    for field, (old, new) in changes.items():
        if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            pairs = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
        else:
            pairs = [(old, new)]
        lines.append(f"{field}: {', '.join(f'{_said(field, a)} -> {_said(field, b)}' for a, b in pairs)}")
    return lines


def _said(field: str, value: Any) -> str:
    if value is None or value == "":
        return "none"
    if field == "lease":
        return next(f"{value / size:g}{unit}" for unit, size in reversed(UNITS.items()) if value >= size or unit == "s")
    return value if isinstance(value, str) else short(value)
