"""What a study says of itself, in words for people: the answer, how far it is, and what the answer rests on."""

import math

from gobetween.export import numbered
from gobetween.study.missing import jump_words, missing_condition, missing_words
from gobetween.study.progress import Progress
from gobetween.study.state import StudyState
from gobetween.study.transaction import verdict_words


def sentence(state: StudyState, progress: Progress) -> str:
    """The answer so far."""
    if state.stopped is not None and state.stopped["verdict"] == "identified":
        risk = f"this is wrong with probability at most {state.spec.delta:g}{condition(state)}"
        return f"The best arm is {state.stopped['arm']!r}; {risk}."
    if state.stopped is None and state.identified:
        return f"The best arm was found to be {state.learner.recommendation!r}; the study was reopened and goes on."
    if state.stopped is not None:
        return f"{verdict_words(state.stopped)[:1].upper()}{verdict_words(state.stopped)[1:]}."
    if progress.leader is None:
        return "Nothing is known yet: no answer has been counted."
    return f"{progress.leader!r} leads after {numbered(progress.counted, 'counted answer')}; the study is not sure yet."


def condition(state: StudyState) -> str:
    """What the guarantee rests on where answers are missing or were taken out, as the end of its sentence."""
    voided = sum(counts["voided"] for counts in state.counts.values())
    answers = "answer that was" if voided == 1 else f"{voided:,} answers that were"
    parts = [missing_condition(state), f"the {answers} taken out" if voided else ""]
    said = " and ".join(part for part in parts if part)
    rewards = "rewards" if voided else "its reward" if said.startswith("the answer") else "their rewards"
    return f", if {said} did not depend on {rewards}" if said else ""


def how_far(state: StudyState, progress: Progress) -> str:
    """How far from stopping, and what that means."""
    if state.stopped is not None and state.stopped["verdict"] == "budget":
        return "The study has stopped; answers that still come are counted, and can bring the verdict of the rule."
    if state.stopped is not None:
        return "The study has stopped; further answers are kept, but do not change the verdict."
    odds = f"{math.exp(min(progress.threshold, 50.0)):,.0f} to 1"
    now = f"{math.exp(min(progress.statistic, 50.0)):,.1f} to 1"
    words = (
        f"It stops when the evidence against every rival reaches {progress.threshold:.2f} nats ({odds}); "
        f"now it is {progress.statistic:.2f} ({now})."
    )
    if math.isfinite(progress.queries_to_go):
        more = numbered(math.ceil(progress.queries_to_go), "more query is", "more queries are")
        words += f" At the present estimates about {more} to be expected."
    elif progress.leader is not None:
        words += " How many queries that takes cannot be said yet: some arm has not been seen, or the best are tied."
    return words


def assumptions(state: StudyState, progress: Progress) -> list[str]:
    """What the reader must be told."""
    log = state.absorbed
    total = {key: sum(counts[key] for counts in state.counts.values()) for key in next(iter(state.counts.values()))}
    found = []
    if log is not None:
        found.append(
            f"{log['rows']:,} of the counted answers came from a log ({', '.join(log['files'])}): the guarantee holds for log "
            "and study together if the log is complete, its rows were not chosen by reward, and its arms are the same as now."
        )
    if progress.waiting_for is not None:
        query = state.open[progress.waiting_for.id]
        found.append(
            f"The verdict waits for query {progress.waiting_for.id} ({query.mediator}); later answers are there already. "
            "Cancel it only for reasons that have nothing to do with rewards, its own or later ones."
        )
    missing = [f"{total[key]} {key}" for key in ("cancelled", "expired", "silent", "unasked", "late") if total[key]]
    if missing:
        found.append(
            f"Of the queries, {', '.join(missing)}: the guarantee assumes that this did not depend on rewards (the mediators' "
            "shares are shown)."
        )
    found += [*missing_words(state), *jump_words(state)]
    if state.shaken:
        found.append(
            "An answer was taken out or corrected after the verdict, which stays as recorded until the study is resumed."
        )
    if total["corrected"]:
        found.append(
            f"Corrected answers: {total['corrected']}. The guarantee assumes that corrections are not chosen by their reward."
        )
    if total["voided"]:
        found.append(
            f"Answers that were taken out: {total['voided']}. The guarantee assumes that why had nothing to do with rewards."
        )
    return found
