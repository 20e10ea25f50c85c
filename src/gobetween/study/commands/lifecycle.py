"""The work of verbs about the study itself: who takes part, pausing and going on, names and notes; and verbs that only Python
has, for they take a log, a spec or nothing but time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gobetween.core.reward.second_moments import is_kept, unit_of
from gobetween.errors import Fix, StudyError
from gobetween.export import choose, json_safe
from gobetween.files.fields import number
from gobetween.files.problem import parse_policy
from gobetween.logs.reading.counts import LogStats
from gobetween.study.commands.commands import rebuilt, work_of
from gobetween.study.commands.study_verbs import Archive, Delete, Note, Pause, RenameStudy, Resume
from gobetween.study.commands.verb import Act, Verb
from gobetween.study.commands.verbs import AddMediator, Away, Back, Declare, Rename, Retire
from gobetween.study.journal.events import Event
from gobetween.study.journal.receipts import Receipt
from gobetween.study.journal.transaction import Transaction, alarm_words, verdict_in
from gobetween.study.spec.changes import Changes, changes_to, renamed
from gobetween.study.spec.spec import StudySpec


@work_of(Away)
def away(verb: Away, tx: Transaction) -> Receipt:
    """A mediator is asked no more until it is back."""
    _check_mediator(tx, verb.mediator)
    return _presence(tx, "away", verb.mediator) if verb.mediator not in tx.state.away else Receipt(recorded=False)


@work_of(Back)
def back(verb: Back, tx: Transaction) -> Receipt:
    """A mediator is there again."""
    _check_mediator(tx, verb.mediator)
    if verb.mediator in tx.state.retired:
        raise StudyError(f"mediator {verb.mediator!r} was retired permanently: use another name", fix=Fix("join"))
    return _presence(tx, "available", verb.mediator) if verb.mediator in tx.state.away else Receipt(recorded=False)


def _check_mediator(tx: Transaction, name: str) -> None:
    if name not in tx.state.spec.mediators:
        wrong = f"{name!r} is an arm" if name in tx.state.spec.arms else f"mediator {name!r} is not known"
        raise StudyError(f"{wrong}: {choose(name, tx.state.spec.mediators)}")


def _presence(tx: Transaction, kind: str, mediator: str) -> Receipt:
    tx.do(kind, mediator=mediator)
    return tx.receipt()


@work_of(AddMediator)
def add_mediator(verb: AddMediator, tx: Transaction) -> Receipt:
    """One mediator more, for a study that has begun or not."""
    spec = tx.state.spec
    if verb.mediator in spec.mediators:
        raise StudyError(f"mediator {verb.mediator!r} is there already: names must differ")
    cost = number(verb.cost, "cost")
    tx.do("added", mediator=verb.mediator, policy=_row(verb.policy, spec), cost=cost, contact=verb.contact)
    return tx.receipt()


def _row(policy: Any, spec: StudySpec) -> list[float | None] | None:
    row = None if policy is None else parse_policy(policy, spec.arms, "policy")
    return None if row is None else list(row)


@work_of(Declare)
def declare(verb: Declare, tx: Transaction) -> Receipt:
    """What is known of a mediator's policy has changed."""
    name, spec = verb.mediator, tx.state.spec
    _check_mediator(tx, name)
    policy = spec.declaring(name, _row(verb.policy, spec)).cast.policies_by_name()[name]
    if policy == spec.cast.policies_by_name()[name]:
        return Receipt(recorded=False)
    tx.do("declared", mediator=name, policy=policy)
    return tx.receipt()


@work_of(Retire)
def retire(verb: Retire, tx: Transaction) -> Receipt:
    """A mediator is asked no more, or the question is about an arm less."""
    state, name, what = tx.state, verb.name, verb.what
    names, gone = (state.spec.arms, state.retired_arms) if what == "arm" else (state.spec.mediators, state.retired)
    if name not in names:
        other, others = ("mediator", state.spec.mediators) if what == "arm" else ("arm", state.spec.arms)
        if name in others:
            raise StudyError(f"{name!r} is {'an' if other == 'arm' else 'a'} {other}", fix=Fix(f"is-{other}"))
        raise StudyError(f"{what} {name!r} is not known: {choose(name, names)}")
    if name in gone:
        return Receipt(recorded=False)
    if what == "mediator" and len(gone) + 1 == len(names):
        raise StudyError(f"{name!r} is the last mediator: add another one first", fix=Fix("join"))
    if what == "arm" and state.stopped is not None:
        raise StudyError("the study has stopped, and its answer is about all arms", fix=Fix("resume-anyway"))
    tx.do("dropped" if what == "arm" else "retired", **{what: name})
    return tx.receipt()


@work_of(Pause)
def pause(verb: Pause, tx: Transaction) -> Receipt:
    """Issue no more queries."""
    if tx.state.paused:
        return Receipt(recorded=False)
    tx.do("paused")
    return Receipt(True)


@work_of(Resume)
def resume(verb: Resume, tx: Transaction) -> Receipt:
    """Go on after a pause or a verdict."""
    if tx.state.stopped is None and not tx.state.paused:
        return Receipt(recorded=False)
    if tx.state.stopped is not None:
        if not tx.state.affordable:
            raise StudyError("the budget is used up", fix=Fix("budget"))
        tx.do("reopened")
    if tx.state.paused:
        tx.do("resumed")
    return tx.receipt()


@work_of(Note)
def note(verb: Note, tx: Transaction) -> Receipt:
    """Write something into the log."""
    tx.do("note", text=verb.text)
    return Receipt(True)


@work_of(Archive)
def archive(verb: Archive, tx: Transaction) -> Receipt:
    """Hide the study, or show it again."""
    if tx.state.archived is not verb.undo:
        return Receipt(recorded=False)
    tx.do("unarchived" if verb.undo else "archived")
    return tx.receipt()


@work_of(RenameStudy)
def rename_study(verb: RenameStudy, tx: Transaction) -> Receipt:
    """Another name in its store; the log says so."""
    old = tx.record.name
    if old == verb.name:
        return Receipt(recorded=False)
    tx.record.rename(verb.name)
    tx.do("note", text=f"the study was called {old} before")
    return Receipt(True)


@work_of(Delete)
def delete(verb: Delete, tx: Transaction) -> Receipt:
    """Nothing is left in the store, and all of it is in a backup."""
    if verb.name != tx.record.name:
        raise StudyError(f"name = {verb.name!r}: to confirm, write the name of the study, {tx.record.name!r}")
    receipt = Receipt(True, backup=tx.record.remove())
    tx.events.clear()  # of what time has brought nobody is left to tell
    tx.rows.clear()
    return receipt


@work_of(Rename)
def rename(verb: Rename, tx: Transaction) -> Receipt:
    """Another name for an arm or a mediator, which stays the same."""
    spec = tx.state.spec
    changed, names = renamed(spec, verb.old, verb.new, verb.what)
    changes = {changed: (list(getattr(spec, changed)), names)} if verb.old != verb.new else {}
    if changes:
        _take_over(tx, spec.edited(changed, names), changes)
    return Receipt(bool(changes))


@dataclass(frozen=True)
class Absorb(Act):
    """Begin from a log."""

    word = "absorb"
    stats: LogStats = field(compare=False)
    files: Sequence[str]


@work_of(Absorb)
def absorb(verb: Absorb, tx: Transaction) -> Receipt:
    """Its counts, before anything else has happened."""
    spec, stats = tx.state.spec, verb.stats
    if tx.record.seq:
        raise StudyError("a study begins from a log before anything else has happened")
    tx.state.learner.state.check_unguessed()
    N_ea, S_ea = stats.aligned(spec.arms, spec.mediators)
    for mediator, row, counts in zip(spec.mediators, spec.cast.policies, N_ea, strict=True):
        for arm, p, count in zip(spec.arms, row, counts, strict=True):
            if p == 0.0 and count:
                raise StudyError(f"the log has {mediator!r} pull {arm!r}, which it was declared never to do")
    facts = _checked_facts(stats, spec)
    if stats.silent.any() and not spec.cast.silent:
        raise StudyError("the log holds silence, of which the study does not know", fix=Fix("silent"))
    silent = {"silent": stats.aligned_silence(spec.mediators).tolist()} if stats.silent.any() else {}
    tx.do("absorbed", files=list(verb.files), N_ea=N_ea.tolist(), S_ea=S_ea.tolist(), **facts, **silent)
    return replace(tx.receipt(), alarm=alarm_words(tx.state))


def _checked_facts(stats: LogStats, spec: StudySpec) -> dict[str, Any]:
    """What alarms look at: second moments, counts on the way, and the log's claim, if it is about the same arms."""
    kept = unit_of(spec.design.family) is not None and is_kept(stats.spread, spec.design.family)
    spread = json_safe(stats.aligned_spread(spec.arms)) if kept else None
    found = {"spread": spread, "checkpoints": stats.aligned_checkpoints(spec.arms, spec.mediators)}
    if stats.claim is None or len(stats.arms) != len(spec.arms):
        return found | {"claim": None}
    claim = stats.claim.placed([spec.arms.index(name) for name in stats.arms])
    return found | {"claim": claim.to_dict()}


@dataclass(frozen=True)
class Tick(Act):
    """Write down what time has brought, which every command does first; queries whose lease has ended are issued again."""

    word = "tick"


@work_of(Tick)
def tick(verb: Tick, tx: Transaction) -> Receipt:
    """Settle what that has changed."""
    return tx.receipt() if tx.events else Receipt(False)


@dataclass(frozen=True)
class Edit(Verb[tuple[Receipt, Changes]]):
    """Take over a changed spec, and say what that changed."""

    word = "edit"
    spec: StudySpec


def _edited_again(tx: Transaction, events: list[Event], own: bool) -> tuple[Receipt, Changes]:
    taken_over = {event["field"]: (event["old"], event["new"]) for event in events if event["kind"] == "edited"}
    return rebuilt(tx, events, own), taken_over


@work_of(Edit, _edited_again)
def edit(verb: Edit, tx: Transaction) -> tuple[Receipt, Changes]:
    """Field by field."""
    changes = changes_to(tx.state.spec.to_dict(), verb.spec, begun=tx.record.seq > 0)
    if changes:
        _take_over(tx, verb.spec, changes)
    return Receipt(bool(changes), stopped=verdict_in(tx.events)), changes


def _take_over(tx: Transaction, spec: StudySpec, changes: Changes) -> None:
    """Before the first event a spec is replaced, afterwards each change is an event."""
    if tx.record.seq == 0:
        tx.record.respecify(spec.to_dict())
        return
    for changed, (old, new) in changes.items():
        tx.do("edited", field=changed, old=old, new=new)
    tx.conclude()
