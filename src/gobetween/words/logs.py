"""What a log says: the answer, since when, what is missing, whom to ask, what was looked for; and what replays came to."""

import math
from collections.abc import Sequence

from gobetween.core.verdict.evidence_report import Account
from gobetween.export import numbered, some
from gobetween.logs.analysis.advice import ASKED, GroupAdvice
from gobetween.logs.analysis.forecast import FARTHEST
from gobetween.logs.analysis.replay import Replay
from gobetween.logs.analysis.report import LogReport
from gobetween.logs.reading.counts import listed
from gobetween.simulation.worlds import Forecast
from gobetween.words.alarms import no_signs, raised_words, remedies_of
from gobetween.words.numbers import about, at_least, at_most, between, p_value_words, rough
from gobetween.words.verdict import headline, near_words

ALARM = "ALARM: "
MOST_ASKED, MOST_ALIKE = 8, 8  # in a sentence


def log_headline(found: LogReport) -> str:
    """The verdict; until it is certain, the arms of which one is the best, those with the highest estimates first."""
    K, heights = len(found.arms), {arm.arm: arm.estimate or 0.0 for arm in found.arms}
    names = sorted(found.in_play, key=lambda name: -heights[name])
    if found.broken is not None or found.identified or not found.question.names_leader or len(names) == K:
        leader = found.answer[0] if found.question.names_leader else found.leader
        verdict = leader, found.identified, found.delta, found.rows, found.alarms, found.answer, found.question
        return headline(Account(*verdict), "row", "the log")
    if len(names) == 1:
        return f"Only {names[0]!r} of {K:,} arms can still be the best, {at_least(found.delta)}."
    return f"The best arm is one of these {len(names):,} of {K:,}, {at_least(found.delta)}: {some(names)}."


def answer_in_short(found: LogReport) -> str:
    """The answer without its end, for a `repr`."""
    if found.broken is not None:
        return f"no recommendation: {found.broken.words.removesuffix('.')}"
    words = found.question.sentence(found.answer)
    words = f"{words[:1].lower()}{words[1:]}"
    if found.identified and found.claim is not None and found.claim.answer == found.answer:
        return f"{words}, certain since row {found.claim.row:,} of {found.rows:,}, δ = {found.delta:g}"
    if found.identified:
        return f"{words}, certain after {found.rows:,} rows, δ = {found.delta:g}"
    seems = f"{found.leader!r} leads" if found.question.names_leader else f"{words}, it seems"
    return f"{seems} after {found.rows:,} rows, not certain, δ = {found.delta:g}, p = {found.p_value:.2g}"


def sentences(found: LogReport) -> list[str]:
    """The answer first, then what is missing, then the alarms."""
    return [found.headline, *answer_texts(found), *_raised(found), *to_do(found), *conditions(found)]


def answer_texts(found: LogReport) -> list[str]:
    """Since when it is certain, or what is missing."""
    missing = _missing(found) if not found.identified and found.broken is None else []
    return [*_claim(found), *missing, *_traffic(found)]


def conditions(found: LogReport) -> list[str]:
    """What was looked for and not found, and what must be known about how the log was read."""
    lines = []
    if not found.ordered:
        lines.append(
            "This log has no order (rows that stand for many, or a table that can be read only once and was counted in "
            "parallel): the row at which the answer became certain, and later rows that contradict it, were not looked for."
        )
    if found.never_pulled:
        lines.append(f"Never tried: {some(found.never_pulled)}. Nothing can be said about an arm that no mediator pulls.")
    lines += [*_silence(found), *no_signs(found.alarms, "row"), *_over_time(found)]
    if found.disorder is not None:
        where = f"{found.disorder.source} row {found.disorder.row}"
        lines.append(
            f"The order column does not increase ({where} {found.disorder.reason}), so the row at which the answer became "
            "certain means nothing; the verdict at the end does not depend on it."
        )
    return [*lines, *_how_read(found)]


def account_sentences(found: LogReport) -> list[str]:
    """What must be known of a log whatever is made of it: raised alarms, silence, notes, rows that were left out."""
    broken = [] if found.broken is None else [found.headline]
    return [*broken, *_raised(found), *to_do(found), *_silence(found), *_how_read(found)]


def _how_read(found: LogReport) -> list[str]:
    if not found.bad_count:
        return list(found.notes)
    left = numbered(found.bad_count, "row was", "rows were")
    return [*found.notes, f"{left} left out: {listed(found.bad[:5])}{' …' if found.bad_count > 5 else ''}"]


def _claim(found: LogReport) -> list[str]:
    """Since when the answer is certain; a claim stands even if the evidence is weaker at the end."""
    claim = found.claim
    if claim is None or found.broken is not None:
        return []
    file = f" ({claim.source}, row {claim.source_row:,})" if claim.row != claim.source_row else ""
    if found.identified and claim.answer == found.answer:
        return [f"This was already certain at row {claim.row:,} of {found.rows:,}{file}."]
    risk = f"stopping there is {at_most(found.delta)}"
    weaker = ", although later rows weakened the evidence"
    if not found.question.names_leader:
        was = f"At row {claim.row:,}{file} this was certain: {found.question.sentence(claim.answer)}; {risk}"
        return [f"{was}{'' if found.identified else weaker}."]
    return [f"{claim.arm!r} was certain to be the best at row {claim.row:,}{file}: {risk}{weaker}."]


def _missing(found: LogReport) -> list[str]:
    best = f"{found.leader!r} is the best" if found.question.names_leader else "this answer is right"
    lines = [f"{p_value_words(found.p_value, best)}."]
    if found.question.names_leader and len(found.in_play) == len(found.arms):
        lines.append("Every arm can still be the best.")
    elif found.question.names_leader:
        lines.insert(0, f"{found.leader!r} leads after {numbered(found.rows, 'row')}, which is not certain yet.")
    lines += _to_go(found)
    lines += near_words(found.near_tie, left=False)
    return [*lines, *_whom(found)]


def _to_go(found: LogReport) -> list[str]:
    """How many rows, or queries, are to be expected."""
    if found.rows_forecast is not None and math.isinf(found.rows_forecast.median):
        far = FARTHEST * (found.rows + sum((found.silent or {}).values()))
        return [f"No estimate of how many more rows it takes: in most resamples of the log, more than {far:,}."]
    rows, queries = _expected(found.rows_to_go, found.rows_forecast), _expected(found.queries_to_go, found.queries_forecast)
    if rows is None:
        return []
    words = f"Expect about {numbered(rows[0], 'more row', 'more rows')} like these{rows[1]}"
    if queries is None or len(found.mediators) < 2 or len(found.advice) == 1:
        return [words + "."]
    if queries[0] >= rows[0]:
        return [words + "; choosing whom to ask would hardly save any."]
    return [f"{words}, or {numbered(queries[0], 'query', 'queries')} if you can choose whom to ask{queries[1]}."]


def _expected(said: float, forecast: Forecast | None) -> tuple[int, str] | None:
    """A number and its range, where there is one; None where nobody can say."""
    if forecast is not None and math.isfinite(forecast.median):
        return rough(forecast.median), f" ({between(forecast.low, forecast.high)})"
    return (math.ceil(said), "") if math.isfinite(said) else None


def _whom(found: LogReport) -> list[str]:
    """Whom to ask, mediators who choose alike together, and how many resamples agree."""
    asked = [one for one in found.advice if one.share >= ASKED]
    if len(found.mediators) < 2 or not asked:
        return []
    if len(found.advice) == 1:
        return [f"Ask {any_of(asked[0].mediators)}: their policies are the same, or cannot be told apart."]
    said = [f"{any_of(one.mediators)} {one.share:.0%}{_agree(one)}" for one in asked[:MOST_ASKED]]
    rest = f" and {len(asked) - MOST_ASKED} more" if len(asked) > MOST_ASKED else ""
    return [f"Best split of queries: {', '.join(said)}{rest}."]


def _agree(one: GroupAdvice) -> str:
    return "" if one.agree is None else f" (in {one.agree:.0%} of resamples)"


def _traffic(found: LogReport) -> list[str]:
    """What arms that cannot be the best still get."""
    traffic, out = found.traffic, len(found.arms) - len(found.in_play)
    if traffic is None or found.broken is not None or not out:
        return []
    when, what = (f"Since row {traffic.since:,}, ", "traffic") if traffic.since else ("", "all traffic")
    return [f"{when}{traffic.share:.0%} of {what} went to {numbered(out, 'arm', 'arms')} already ruled out."]


def _silence(found: LogReport) -> list[str]:
    """How often nothing was answered, and what that must not depend on."""
    silent = sum((found.silent or {}).values())
    if not silent:
        return []
    most = max(found.silent or {}, key=lambda name: (found.silent or {})[name])
    words = f"{numbered(silent, 'more row has', 'more rows have')} no answer, most often from {most!r}"
    return [f"{words}: the result is valid only if this did not depend on rewards."]


def _over_time(found: LogReport) -> list[str]:
    """Who learns on the way, and what remains valid when something drifts."""
    lines = [
        f"{one.mediator!r} seems to learn over time: since about row {one.row:,} it chooses arms that pay "
        f"{about(one.gain)} more on average. Its policy shown here is an average, and a replay of it is not valid."
        for one in found.adaptive
    ]
    if found.broken is not None and found.broken.kind == "drift":
        lines.append(
            "Still valid: counts and shares, each stretch of rows on its own (see the figures over time), and a new analysis "
            "of rows collected from now on."
        )
    return lines


def _raised(found: LogReport) -> list[str]:
    return [ALARM + line for line in raised_words(found.alarms, found.broken)]


def to_do(found: LogReport) -> list[str]:
    """What to do about the alarms, once for each kind."""
    return list(dict.fromkeys(f"What to do: {one['words']}" for alarm in found.alarms for one in remedies_of(alarm, log=True)))


def replay_sentences(found: Replay) -> list[str]:
    """What replays came to: a Replay in words."""
    numbers = found.to_dict()
    lines = [f"The rule stopped in {numbers['stopped']} of {numbered(len(found.tau), 'replay')}"]
    if numbers["stopped"]:
        error = "" if numbers["half_width"] is None else f" ± {numbers['half_width']:,.0f}"
        low, high = numbers["quantiles"]
        lines.append(f"It stopped after {numbers['mean']:,.0f}{error} rows on average (80% range: {low:,.0f}–{high:,.0f})")
    lines += [f"  named {name!r} {numbered(times, 'time')}" for name, times in numbers["named"].items()]
    lines += [
        f"  in {numbered(n, 'replay')} the log of {name!r} ran out before the rule stopped"
        for name, n in found.exhausted.items()
        if n
    ]
    if found.drifting:
        change = "change over time how they choose" if len(found.drifting) > 1 else "changes over time how it chooses"
        lines.append(
            f"{some(found.drifting)} {change}: rows cannot be reordered, so these numbers are not valid. A replay needs "
            "mediators that choose the same way throughout."
        )
    if numbers["ran_out"]:
        lines.append("The mean leaves out replays that ran out of rows, so it is too small; a longer log would tell.")
    return lines if found.log is None else [*lines, *account_sentences(found.log)]


def any_of(names: Sequence[str]) -> str:
    """One mediator, or any of some."""
    if len(names) == 1:
        return repr(names[0])
    shown = [repr(name) for name in names[:MOST_ALIKE]]
    if len(names) > MOST_ALIKE:
        return f"any of {', '.join(shown)} and {len(names) - MOST_ALIKE:,} more"
    return f"any of {', '.join(shown[:-1])} or {shown[-1]}"
