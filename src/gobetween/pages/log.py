"""What a log says, in sentences, tables and figures, for the terminal and the page."""

import math
from collections.abc import Sequence

import numpy as np

from gobetween.core.asked import BEST
from gobetween.core.visible import about
from gobetween.core.voice import against, near_words, question_words
from gobetween.export import numbered, shortened, some
from gobetween.logs.ahead import ASKED, Advice
from gobetween.logs.counts import listed
from gobetween.logs.forecast import FARTHEST
from gobetween.logs.replay import Replay
from gobetween.logs.report import LogReport
from gobetween.pages.blocks import Block, Grid, Picture, Section, Text
from gobetween.pages.log_figures import over_time
from gobetween.pages.log_tables import advice_blocks, any_of, arm_blocks, cells_words, policy_blocks, top_arms
from gobetween.pages.status import alarms, no_signs
from gobetween.simulation.worlds import Forecast
from gobetween.study.sentences import between, rough

TITLE = "What the log says"
ALARM = "ALARM: "
MOST_ASKED = 8  # in a sentence


def sections(found: LogReport, files: Sequence[str]) -> list[Section]:
    """The answer, the figures, the tables."""
    from gobetween.pages.figures import arm_shares, estimates, evidence_trail, mediator_shares

    lines = [line for line in sentences(found) if not line.startswith(ALARM)]
    answer: list[Block] = [
        *alarms(found),
        Text(lines[0], "lead" if found.broken is None else "alarm"),
        *(Text(line) for line in lines[1:]),
        Text(f"Read: {shortened(files)}", "note"),
    ]
    pictures: list[Block] = []
    if found.trail:
        caption = "The answer is certain once the line has met its threshold."
        pictures.append(Picture("evidence", evidence_trail(found.trail, "Evidence along the log", "rows"), caption))
    words = f"Intervals hold for all arms at all times together with probability {1 - found.delta:g}."
    pictures += over_time(found)
    shown = top_arms(found)
    pictures.append(Picture("estimates", estimates(shown, title="Estimated means"), words))
    if found.omega is not None:
        figure = mediator_shares(found.mediators, found.mixture, found.omega, "Who acted, and whom to ask")
        pictures.append(
            Picture("mediators", figure, "Shares of rows in the log, and the shares that would be best at the estimates.")
        )
        N_a = found.N_ea.sum(axis=0)
        policies = found.N_ea / np.maximum(1, found.N_ea.sum(axis=1, keepdims=True))
        places, best = [found.arms.index(arm) for arm in shown], policies.T @ np.array(found.omega)
        figure = arm_shares([arm.arm for arm in shown], (N_a / N_a.sum())[places], best[places], "What was pulled")
        pictures.append(Picture("arms", figure, "Shares of arms in the log, and those that the best mediators would pull."))
    return [
        Section("", answer),
        Section("Figures", pictures),
        Section("Arms", arm_blocks(found)),
        Section("Mediators", [*advice_blocks(found), *policy_blocks(found), Text(cells_words(found), "note")]),
        Section("About this log", [Grid((), _about(found))]),
    ]


def _about(found: LogReport) -> list[tuple[str, str]]:
    return [
        *([] if found.silent is None else [("Silence", numbered(sum(found.silent.values()), "row"))]),
        ("Rows", f"{found.rows:,}" + (f", and {found.bad_count:,} left out" if found.bad_count else "")),
        ("Rewards", found.family),
        *([] if found.question == BEST else [("Question", question_words(found.question))]),
        ("Risk δ of a wrong answer", f"{found.delta:g}"),
        ("Evidence", f"{found.statistic:.2f} of {found.threshold:.2f} nats"),
    ]


def sentences(found: LogReport) -> list[str]:
    """The answer first, then what is missing, then the alarms."""
    lines = [found.headline, *_claim(found)]
    if not found.identified and found.broken is None:
        lines += _missing(found)
    lines += _traffic(found)
    if not found.ordered:
        lines.append(
            "Rows that stand for many, and tables that can be read only once and are counted in parallel, have lost their "
            "order: at which row the answer could first be claimed, and whether later rows contradict that, was not looked for."
        )
    if found.never_pulled:
        lines.append(f"Nobody pulls {some(found.never_pulled)}: nothing can be said about what is never tried.")
    lines += [*_silence(found), *_alarms(found), *_over_time(found)]
    if found.disorder is not None:
        where = f"{found.disorder.source} row {found.disorder.row}"
        lines.append(
            f"The order column does not rise ({where} {found.disorder.reason}): the row of the first claim then means nothing; "
            "the verdict at the end does not depend on it."
        )
    return [*lines, *_how_read(found)]


def account_sentences(found: LogReport) -> list[str]:
    """What must be known of a log whatever is made of it: raised alarms, silence, notes, rows that were left out."""
    broken = [] if found.broken is None else [found.headline]
    return [*broken, *(ALARM + box.words for box in alarms(found)), *_silence(found), *_how_read(found)]


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
    where = f"row {claim.row:,}" + (f" ({claim.source}, row {claim.source_row:,})" if claim.row != claim.source_row else "")
    if found.identified and claim.answer == found.answer:
        return [f"Of {numbered(found.rows, 'row')} it could first be claimed at {where}."]
    risk = f"whoever stopped there is wrong with probability at most {found.delta:g}"
    if found.question != BEST:
        could = f"But at {where} this could be claimed: {found.question.sentence(claim.answer)}; {risk}"
        return [f"{could}{'' if found.identified else ', though later rows have weakened the evidence'}."]
    return [f"But {claim.arm!r} could be claimed at {where}: {risk}, though later rows have weakened the evidence."]


def _missing(found: LogReport) -> list[str]:
    lines = [f"p-value {found.p_value:.3g} against “{against(found.question, found.leader)}”."]
    if found.question == BEST and len(found.in_play) == len(found.arms):
        lines.append("Every arm can still be the best.")
    elif found.question == BEST:
        lines.insert(0, f"{found.leader!r} leads after {numbered(found.rows, 'row')}; the log is not sure yet.")
    lines += _to_go(found)
    lines += near_words(found.near_tie, left=False)
    return [*lines, *_whom(found)]


def _to_go(found: LogReport) -> list[str]:
    """How many rows, or queries, are to be expected."""
    if found.rows_forecast is not None and math.isinf(found.rows_forecast.median):
        far = FARTHEST * (found.rows + sum((found.silent or {}).values()))
        return [f"How many more rows that takes cannot be said: in most resamples of the log more than {far:,}."]
    rows, queries = _expected(found.rows_to_go, found.rows_forecast), _expected(found.queries_to_go, found.queries_forecast)
    if rows is None:
        return []
    more = numbered(rows[0], "more row of the same mixture is", "more rows of the same mixture are")
    words = f"At the present estimates about {more} to be expected{rows[1]}"
    if queries is None or len(found.mediators) < 2 or len(found.advice) == 1:
        return [words + "."]
    if queries[0] >= rows[0]:
        return [words + "; to choose whom to ask would hardly save any."]
    return [f"{words}; {queries[0]:,} if one could choose whom to ask{queries[1]}."]


def _expected(said: float, ahead: Forecast | None) -> tuple[int, str] | None:
    """A number and its range, where there is one; None where nobody can say."""
    if ahead is not None and math.isfinite(ahead.median):
        return rough(ahead.median), f" ({between(ahead)})"
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
    return [f"Whom to ask then: {', '.join(said)}{rest}."]


def _agree(one: Advice) -> str:
    return "" if one.agree is None else f" (in {one.agree:.0%} of resamples)"


def _traffic(found: LogReport) -> list[str]:
    """What arms that cannot be the best still get."""
    traffic, out = found.traffic, len(found.arms) - len(found.in_play)
    if traffic is None or found.broken is not None or not out:
        return []
    rows = f"the {traffic.rows:,} rows since row {traffic.since:,}" if traffic.since else "all rows"
    arms = numbered(out, "arm that is", "arms that are")
    return [f"Of {rows} {traffic.share:.1%} went to the {arms} certainly not the best."]


def _silence(found: LogReport) -> list[str]:
    """How often nothing was answered, and what that must not depend on."""
    silent = sum((found.silent or {}).values())
    if not silent:
        return []
    most = max(found.silent or {}, key=lambda name: (found.silent or {})[name])
    words = f"In {numbered(silent, 'row')} besides nothing was answered, most often by {most!r}"
    return [f"{words}: the guarantee assumes that this did not depend on rewards."]


def _over_time(found: LogReport) -> list[str]:
    """Who learns on the way, and what remains valid when something drifts."""
    lines = [
        f"{one.mediator!r} seems to learn on the way: since about row {one.row:,} it chooses arms that pay "
        f"{about(one.gain)} more on average. Its policy is an average over time, and a replay does not hold for it."
        for one in found.adaptive
    ]
    if found.broken is not None and found.broken.kind == "drift":
        lines.append(
            "What remains valid: counts and shares, each stretch of rows for itself (the figures over time), and whatever is "
            "analysed anew from now on, with rows that nobody has looked at yet."
        )
    return lines


def _alarms(found: LogReport) -> list[str]:
    return [ALARM + box.words for box in alarms(found)] + no_signs(found.alarms, "row")


def replay_sentences(found: Replay) -> list[str]:
    """What replays came to: a Replay in words."""
    numbers = found.to_dict()
    lines = [f"the rule stopped in {numbers['stopped']} of {len(found.tau)}"]
    if numbers["stopped"]:
        error = "" if numbers["half_width"] is None else f" ± {numbers['half_width']:,.0f}"
        low, high = numbers["quantiles"]
        lines.append(f"after {numbers['mean']:,.0f}{error} rows on average, 10% to 90%: {low:,.0f} to {high:,.0f}")
    lines += [f"  named {name!r} {numbered(times, 'time')}" for name, times in numbers["named"].items()]
    lines += [
        f"  in {numbered(n, 'replay')} the log of {name!r} ran out before the rule stopped"
        for name, n in found.exhausted.items()
        if n
    ]
    if found.drifting:
        who, their = (
            (f"{some(found.drifting)} choose", "their")
            if len(found.drifting) > 1
            else (f"{found.drifting[0]!r} chooses", "its")
        )
        lines.append(
            f"{who} differently at different times, as one who learns does: any order of {their} rows is then not as good as "
            "the logged one, and these numbers do not hold. A replay needs mediators who choose the same way all the time."
        )
    if numbers["ran_out"]:
        lines.append("Replays that ran out are not in the mean, which is then too small: a longer log would tell.")
    return lines if found.log is None else [*lines, *account_sentences(found.log)]
