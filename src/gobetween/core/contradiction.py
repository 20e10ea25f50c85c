"""Contradiction: an answer that was certain, and the opposite that was certain at another time.

One of them reached its limit falsely, which has probability at most δ: that is the level of this alarm.
"""

import math
from dataclasses import replace

from gobetween.core.alarm import Alarm, Facts, alarm_of
from gobetween.core.claimed import BEST
from gobetween.core.opposed import opposite_ways, opposite_words
from gobetween.core.questions import PROVEN
from gobetween.export import numbered


def contradiction(facts: Facts) -> list[Alarm]:
    """Was an answer certain, and the opposite at another time?"""
    claimed, question = facts.claimed, facts.question
    if claimed is None or not isinstance(question, PROVEN):
        return []
    arm, since = facts.arms[claimed.arm], numbered(claimed.since, facts.unit)
    rival = "another arm" if claimed.rival < 0 else repr(facts.arms[claimed.rival])
    if question == BEST:
        clause = f"{rival} is certain to be better after {claimed.at:,}, while {arm!r} was certain to be the best after {since}"
        fine = f"Nothing contradicts that {arm!r} was certain to be the best after {since}."
    else:
        said = question.sentence([facts.arms[a] for a in claimed.named])
        said = f"it was certain after {since} that {said[:1].lower()}{said[1:]}"
        opposite = opposite_words(question, claimed.named, claimed.arm, repr(arm), rival)
        clause, fine = f"{opposite} after {claimed.at:,}, while {said}", f"Nothing contradicts that {said}."
    meaning = (
        "something changed on the way, rewards spread more than was declared, or the order is not that in which they were "
        "collected; the guarantee does not hold"
    )
    limit = math.log(opposite_ways(question, len(facts.arms))) - math.log(facts.delta)
    found = alarm_of("contradiction", arm, claimed.log_e, limit, clause, meaning)
    return [found if found.raised else replace(found, words=fine)]
