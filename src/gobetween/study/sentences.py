"""What a study says of itself, in words for people: the answer, how far it is, and what the answer rests on."""

import math
from collections.abc import Sequence

from gobetween.core.visible import about
from gobetween.core.voice import epsilon_words, near_words
from gobetween.export import numbered, shortened, some
from gobetween.simulation.worlds import Forecast
from gobetween.study.missing import jump_words, missing_condition, missing_words
from gobetween.study.outlook import Outlook
from gobetween.study.progress import Progress
from gobetween.study.state import StudyState
from gobetween.study.transaction import verdict_words

MOST_NAMES = 8
MOST_GROUPS = 5  # of arms that some who are away reach


def sentence(state: StudyState, progress: Progress) -> str:
    """The answer so far."""
    account = progress.account
    if account.broken is not None or (state.stopped is not None and state.stopped["verdict"] == "identified"):
        best = "The best of the arms that remain" if state.retired_arms else "The best arm"
        return account.headline(condition=condition(state), best=best)
    if state.stopped is None and state.identified:
        found = state.learner.setup.question.sentence(state.learner.answer)
        return f"{found}: that was found, the study was reopened and goes on."
    if state.stopped is not None:
        return f"{verdict_words(state.stopped)[:1].upper()}{verdict_words(state.stopped)[1:]}."
    return account.headline(who="the study")


def condition(state: StudyState) -> str:
    """What the guarantee rests on where answers are missing or were taken out, as the end of its sentence."""
    voided = sum(counts["voided"] for counts in state.counts.values())
    answers = "answer that was" if voided == 1 else f"{voided:,} answers that were"
    parts = [missing_condition(state), f"the {answers} taken out" if voided else ""]
    said = " and ".join(part for part in parts if part)
    rewards = "rewards" if voided else "its reward" if said.startswith("the answer") else "their rewards"
    return f", if {said} did not depend on {rewards}" if said else ""


def how_far(
    state: StudyState, progress: Progress, ahead: Forecast | None, outlook: Outlook | None, cost_to_go: float | None
) -> str:
    """How far from stopping, and what that means."""
    if state.stopped is not None and state.stopped["verdict"] == "budget":
        later = "The study has stopped; answers that still come are counted, and can bring the verdict of the rule."
        play = [in_play_words(progress.in_play, len(progress.arms), state.spec.delta)] if progress.counted else []
        return " ".join([*play, *more_words(progress, ahead, outlook, cost_to_go), later])
    if state.stopped is not None:
        return "The study has stopped; further answers are kept, but do not change the verdict."
    words = (
        f"It stops when the evidence against every rival reaches {progress.threshold:.2f} nats; "
        f"now it is {progress.statistic:.2f}."
    )
    left = state.spec.max_queries is not None or state.spec.max_cost is not None
    near = near_words(None if outlook is None else outlook.near, left)
    return " ".join([words + (_expected(progress, ahead) or _why_unknown(progress)), *near])


def _expected(progress: Progress, ahead: Forecast | None) -> str:
    """How many queries it takes; empty where nobody can say."""
    if ahead is not None:
        more = numbered(rough(ahead.median), "more query is", "more queries are")
        return f" At the present estimates about {more} to be expected ({between(ahead)})."
    if math.isfinite(progress.queries_to_go):
        more = numbered(math.ceil(progress.queries_to_go), "more query is", "more queries are")
        return f" At the present estimates about {more} to be expected."
    return ""


def in_play_words(names: Sequence[str], K: int, delta: float) -> str:
    """Which of K arms can still be best, and at which risk the others were left out."""
    out = K - len(names)
    if not out:
        return "Every arm can still be the best."
    rest = "the other arm is" if out == 1 else f"the other {out:,} arms are"
    return f"Still in play: {some(names, MOST_NAMES)}; {rest} not the best (wrong with probability at most {delta:g})."


def more_words(progress: Progress, ahead: Forecast | None, outlook: Outlook | None, cost_to_go: float | None) -> list[str]:
    """What more money would buy: how much it takes to be sure, and which difference twice as many answers would tell."""
    words = [(_expected(progress, ahead) or _why_unknown(progress)).strip()]
    if words[0] and cost_to_go is not None:
        words.append(f"That costs about {float(f'{cost_to_go:.2g}'):,g}.")
    return [*(line for line in words if line), *gap_words(outlook)]


def gap_words(outlook: Outlook | None) -> list[str]:
    """The gap to the closest rival beside the gaps that can be told."""
    if outlook is None or outlook.twice is None:
        return []
    so_far = "" if outlook.now is None else f"answers as many as these tell a difference of about {about(outlook.now)}, "
    behind = f"{outlook.rival!r} is {about(outlook.gap)} behind {outlook.leader!r}"
    return [f"{behind}: {so_far}twice as many one of about {about(outlook.twice)}.", *epsilon_words(outlook.near)]


def between(ahead: Forecast) -> str:
    """The range of a forecast."""
    if math.isinf(ahead.high):
        return f"9 times of 10 at least {rough(ahead.low):,}"
    return f"8 times of 10 between {rough(ahead.low):,} and {rough(ahead.high):,}"


def rough(queries: float) -> int:
    """Two digits, which is more than is known."""
    return math.ceil(queries) if queries < 100.0 else int(float(f"{queries:.2g}"))


def _why_unknown(progress: Progress) -> str:
    """Why nobody can say how many queries it takes, where that is known."""
    unseen = [arm.arm for arm in progress.arms if not arm.pulls]
    estimates = sorted(arm.estimate for arm in progress.arms if arm.estimate is not None)
    if not estimates:
        return ""
    if unseen:
        verb = "has" if len(unseen) == 1 else "have"
        return f" How many queries that takes cannot be said yet: {some(unseen)} {verb} not been seen."
    if estimates[-1] == estimates[-2]:
        return " How many queries that takes cannot be said yet: the best estimates are equal."
    return ""


def assumptions(state: StudyState, progress: Progress) -> list[str]:
    """What the reader must be told."""
    log = state.absorbed
    total = {key: sum(counts[key] for counts in state.counts.values()) for key in next(iter(state.counts.values()))}
    found = []
    if log is not None:
        found.append(
            f"{log['rows']:,} of the counted answers came from a log ({shortened(log['files'])}): the guarantee holds for log "
            "and study together if the log is complete, its rows were not chosen by reward, and its arms are the same as now."
        )
    if progress.waiting_for is not None:
        query = state.open[progress.waiting_for.id]
        found.append(
            f"The verdict waits for query {progress.waiting_for.id} ({query.mediator}); later answers are there already. "
            "Cancel it only for reasons that have nothing to do with rewards, its own or later ones."
        )
    found += [*out_of_reach(state), *retired_words(state)]
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


def retired_words(state: StudyState) -> list[str]:
    """What it means that arms were retired."""
    if not state.retired_arms:
        return []
    one = len(state.retired_arms) == 1
    it, was, pays = ("it", "was", "it pays") if one else ("them", "were", "they pay")
    gone = f"{some(state.retired_arms)} {was} retired: the answer is about the arms that remain"
    return [f"{gone}, holds for whatever reason that was done, and says nothing of {it}; what {pays} is kept and not counted."]


def out_of_reach(state: StudyState) -> list[str]:
    """Arms that only mediators who are away reach, a sentence for each of the first groups; an unknown policy may reach all."""
    if state.stopped is not None:
        return []
    open_ = {query.mediator for query in state.open.values()}  # whose answers may still come
    policies = dict(zip(state.spec.mediators, state.spec.policies, strict=True))
    arms: dict[tuple[str, ...], list[int]] = {}
    for a, arm in enumerate(state.spec.arms):
        if arm in state.retired_arms:
            continue
        reaching = tuple(name for name, row in policies.items() if row is None or row[a] != 0.0)
        if reaching and not open_.intersection(reaching) and set(reaching) <= set(state.away):
            arms.setdefault(reaching, []).append(a)
    found = [_only(state, mediators, group) for mediators, group in list(arms.items())[:MOST_GROUPS]]
    rest = sum(map(len, list(arms.values())[MOST_GROUPS:]))
    return [*found, f"Likewise {numbered(rest, 'more arm')} that only others who are away can reach."] if rest else found


def _only(state: StudyState, mediators: tuple[str, ...], arms: list[int]) -> str:
    rows = dict(zip(state.spec.mediators, state.spec.policies, strict=True))
    sure = all(row is not None and None not in row for row in (rows[name] for name in mediators))
    verb = "can reach" if not sure else "reaches" if len(mediators) == 1 else "reach"
    gone = set(mediators) <= set(state.retired)
    words = f"Only {some(mediators)} ({'retired' if gone else 'away'}) {verb} {some([state.spec.arms[a] for a in arms])}"
    back = "before somebody who does is taken in" if gone else "before they are back"
    pulls = {arm.arm: arm.pulls for arm in state.learner.progress.arms}
    if all(pulls[state.spec.arms[a]] for a in arms):
        return f"{words}: nothing more is learnt of {'it' if len(arms) == 1 else 'them'} {back}."
    return f"{words}: the study cannot stop {back}."
