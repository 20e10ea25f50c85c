"""Commands about the course of a study: who is there, pausing and going on, beginning from a log, notes, a changed spec."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gobetween.core.spread import is_kept, unit_of
from gobetween.errors import Fix, StudyError
from gobetween.export import choices, json_safe
from gobetween.files.fields import number
from gobetween.files.problem import parse_policy
from gobetween.logs.counts import LogStats
from gobetween.study.checks import check_some_text, check_text
from gobetween.study.commands import Command, rebuilt
from gobetween.study.edits import Changes, changes_in, changes_to, renamed
from gobetween.study.events import Event
from gobetween.study.spec import StudySpec
from gobetween.study.transaction import Receipt, Transaction, alarm_words, verdict_in


def presence(kind: str, mediator: str) -> Command[Receipt]:
    """A mediator is "away", or "available" again."""

    def work(tx: Transaction) -> Receipt:
        if mediator not in tx.state.spec.mediators:
            raise StudyError(f"mediator {mediator!r} is not known: choose one of {choices(mediator, tx.state.spec.mediators)}")
        if mediator in tx.state.retired and kind == "available":
            raise StudyError(f"mediator {mediator!r} was retired, for good: another one has another name", fix=Fix("join"))
        if (mediator in tx.state.away) == (kind == "away"):
            return Receipt(recorded=False)
        tx.do(kind, mediator=mediator)
        return tx.receipt()

    return Command(kind, {"mediator": mediator}, work, rebuilt)


def add_mediator(name: str, policy: Any, cost: Any, contact: str) -> Command[Receipt]:
    """One mediator more, for a study that has begun or not."""
    check_some_text("mediator", name, "a mediator needs a name")
    check_text("contact", contact)

    def work(tx: Transaction) -> Receipt:
        spec = tx.state.spec
        if name in spec.mediators:
            raise StudyError(f"mediator {name!r} is there already: names must differ")
        row = None if policy is None else parse_policy(policy, spec.arms, "policy")
        tx.do("added", mediator=name, policy=row and list(row), cost=number(cost, "cost"), contact=contact)
        return tx.receipt()

    return Command("add-mediator", {"mediator": name, "policy": policy, "cost": cost, "contact": contact}, work, rebuilt)


def retire(name: str, what: str) -> Command[Receipt]:
    """A "mediator" is asked no more, or the question is about an "arm" less."""
    if what not in ("mediator", "arm"):
        raise StudyError(f"what = {what!r}: choose one of mediator, arm")

    def work(tx: Transaction) -> Receipt:
        state = tx.state
        names, gone = (state.spec.arms, state.retired_arms) if what == "arm" else (state.spec.mediators, state.retired)
        if name not in names:
            raise StudyError(f"{what} {name!r} is not known: choose one of {choices(name, names)}")
        if name in gone:
            return Receipt(recorded=False)
        if what == "mediator" and len(gone) + 1 == len(names):
            raise StudyError(f"{name!r} is the last mediator, nobody could be asked without it", fix=Fix("join"))
        if what == "arm" and state.stopped is not None:
            raise StudyError("the study has stopped, and its answer is about all arms", fix=Fix("resume-anyway"))
        tx.do("dropped" if what == "arm" else "retired", **{what: name})
        return tx.receipt()

    return Command("retire", {"name": name, "what": what}, work, rebuilt)


def pause() -> Command[Receipt]:
    """Issue no more queries."""

    def work(tx: Transaction) -> Receipt:
        if tx.state.paused:
            return Receipt(recorded=False)
        tx.do("paused")
        return Receipt(True)

    return Command("pause", {}, work, rebuilt)


def resume() -> Command[Receipt]:
    """Go on after a pause or a verdict."""

    def work(tx: Transaction) -> Receipt:
        if tx.state.stopped is None and not tx.state.paused:
            return Receipt(recorded=False)
        if tx.state.stopped is not None:
            if not tx.state.affordable:
                raise StudyError("the budget is used up", fix=Fix("budget"))
            tx.do("reopened")
        if tx.state.paused:
            tx.do("resumed")
        return tx.receipt()

    return Command("resume", {}, work, rebuilt)


def absorb(stats: LogStats, files: Sequence[str]) -> Command[Receipt]:
    """Begin from a log."""

    def work(tx: Transaction) -> Receipt:
        spec = tx.state.spec
        if tx.record.seq:
            raise StudyError("a study begins from a log before anything else has happened")
        N_ea, S_ea = stats.aligned(spec.arms, spec.mediators)
        for mediator, row, counts in zip(spec.mediators, spec.policies, N_ea, strict=True):
            for arm, p, count in zip(spec.arms, row or (), counts, strict=False):
                if p == 0.0 and count:
                    raise StudyError(f"the log has {mediator!r} pull {arm!r}, which it was declared never to do")
        watched = _watched(stats, spec)
        if stats.silent.any() and not spec.silent:
            raise StudyError("the log holds silence, of which the study does not know", fix=Fix("silent"))
        silent = {"silent": stats.aligned_silence(spec.mediators).tolist()} if stats.silent.any() else {}
        tx.do("absorbed", files=list(files), N_ea=N_ea.tolist(), S_ea=S_ea.tolist(), **watched, **silent)
        return replace(tx.receipt(), alarm=alarm_words(tx.state))

    return Command("absorb", {"files": list(files)}, work, rebuilt)


def _watched(stats: LogStats, spec: StudySpec) -> dict[str, Any]:
    """What alarms look at: second moments, counts on the way, and the log's claim, if it is about the same arms."""
    kept = unit_of(spec.family) is not None and is_kept(stats.spread, spec.family)
    spread = json_safe(stats.aligned_spread(spec.arms)) if kept else None
    found = {"spread": spread, "moments": stats.aligned_moments(spec.arms, spec.mediators)}
    if stats.claimed is None or len(stats.arms) != len(spec.arms):
        return found | {"claimed": None}
    claimed = stats.claimed.placed([spec.arms.index(name) for name in stats.arms])
    return found | {"claimed": claimed.saved()}


def tick() -> Command[Receipt]:
    """Write down what time has brought, which every command does first; queries whose lease has ended are issued anew."""

    def work(tx: Transaction) -> Receipt:
        return tx.receipt() if tx.events else Receipt(False)

    return Command("tick", {}, work, rebuilt)


def note(text: str) -> Command[Receipt]:
    """Write something into the log."""
    check_some_text("note", text, "a note needs some text")

    def work(tx: Transaction) -> Receipt:
        tx.do("note", text=text)
        return Receipt(True)

    return Command("note", {"text": text}, work, rebuilt)


def edit(spec: StudySpec) -> Command[tuple[Receipt, Changes]]:
    """Take over a changed spec, and say what that changed."""

    def work(tx: Transaction) -> tuple[Receipt, Changes]:
        changes = changes_to(tx.state.spec.to_dict(), spec, begun=tx.record.seq > 0)
        if changes:
            _take_over(tx, spec, changes)
        return Receipt(bool(changes), stopped=verdict_in(tx.events)), changes

    def again(tx: Transaction, events: list[Event], own: bool) -> tuple[Receipt, Changes]:
        return rebuilt(tx, events, own), changes_in(events)

    return Command("edit", spec.to_dict(), work, again)


def rename(old: str, new: str, what: str | None) -> Command[Receipt]:
    """Another name for an arm or a mediator, which stays the same."""
    check_text("old name", old)
    check_some_text("new name", new, "a name needs some text")

    def work(tx: Transaction) -> Receipt:
        spec = tx.state.spec
        field, names = renamed(spec, old, new, what)
        changes = {field: (list(getattr(spec, field)), names)} if old != new else {}
        if changes:
            _take_over(tx, spec.edited(field, names), changes)
        return Receipt(bool(changes))

    return Command("rename", {"old": old, "new": new, "what": what}, work, rebuilt)


def _take_over(tx: Transaction, spec: StudySpec, changes: Changes) -> None:
    """Before the first event a spec is replaced, afterwards each change is an event."""
    if tx.record.seq == 0:
        tx.record.respecify(spec.to_dict())
        return
    for field, (old, new) in changes.items():
        tx.do("edited", field=field, old=old, new=new)
    tx.conclude()
