"""What to do about the alarms of a study, or where it cannot go on: a sentence, and the command or button that does it."""

from dataclasses import replace

from gobetween.export import numbered
from gobetween.study.status.status import Status
from gobetween.words.alarms import Remedy, kind_of
from gobetween.words.study_page import held_up, short_of

MOST = 3  # alarms that are told one by one


def remedies(status: Status, paused: bool = False) -> list[Remedy]:
    """Of each kind of alarm that was raised, the one that breaks the guarantee first; of a verdict that is in doubt, a budget
    that is used up or will not do, and answers that wait. `paused`: then there is nothing to pause.
    """
    raised = sorted((alarm for alarm in status.alarms if alarm.raised), key=lambda alarm: not alarm.breaks)
    gone = {row["mediator"] for row in status.mediators if row["retired"]}
    found = [kind_of(alarm).remedy(alarm) for alarm in raised if alarm.subject not in gone]
    unique = list({(remedy.verb, remedy.value or remedy.words): remedy for remedy in found}.values())
    if paused or status.verdict is not None:
        unique = [replace(one, button="", verb="", command="") if one.verb == "pause" else one for one in unique]
    rest = [Remedy("See Checks.", numbered(len(unique) - MOST, "more alarm"))] if len(unique) > MOST else []
    return [*unique[:MOST], *rest, *_of_state(status), *_held_up(status)]


def _of_state(status: Status) -> list[Remedy]:
    """What the state asks for."""
    used = status.max_queries is not None and status.queries >= status.max_queries
    used = used or (status.max_cost is not None and status.cost >= status.max_cost)
    if status.state == "budget used" or (status.state == "under review" and used):
        command = "raise the budget in study.toml, then gobetween resume"
        return [Remedy("Raise the budget to go on.", button="Raise the budget and go on", verb="budget", command=command)]
    if status.state == "under review":
        words = "Go on until an answer is certain again."
        return [Remedy(words, button="Go on asking", verb="resume", command="gobetween resume")]
    if short := short_of(status):
        needed, limit, surely = short
        words, what = f"Expect to need {needed}; {limit}.", f"The budget {'will hardly' if surely else 'may not'} suffice"
        return [Remedy(words, what, "Change the budget", "budget", "", "raise the budget in study.toml")]
    return []


def _held_up(status: Status) -> list[Remedy]:
    """A query that many answers wait for."""
    if not held_up(status):
        return []
    number = status.waiting_for
    words = f"Ask for the answer to query {number}. If it will never come, whatever it would have been, cancel the query."
    what = f"Answers wait for query {number}"
    return [Remedy(words, what, f"Cancel query {number}", "cancel", str(number), f"gobetween cancel {number}")]
