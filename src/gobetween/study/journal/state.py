"""The state of a live study and what each event does to it. Pure: no clock, no store.

A command makes events and applies them; `doctor` applies the recorded ones again. There is one `apply`: it fills in what only
the learner can decide (whom to ask), unless the event says it already, for what was asked is a fact.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from gobetween.core.alarm.contradiction import Claim
from gobetween.core.verdict.evidence_report import next_look
from gobetween.study.journal.events import COUNTS, Event, kind_of
from gobetween.study.journal.record import Open
from gobetween.study.learner.checkpoints import as_checkpoints
from gobetween.study.learner.ledger import as_floats
from gobetween.study.spec.spec import StudySpec

#: Kinds of events that only switch something on or off.
SWITCHES = {
    "paused": ("paused", True),
    "resumed": ("paused", False),
    "archived": ("archived", True),
    "unarchived": ("archived", False),
}
#: How a study stands.
Phase = Literal["running", "paused", "sure", "under review", "budget used", "needs attention", "archived"]


class StudyState:
    """A study at one moment."""

    def __init__(self, spec: StudySpec) -> None:
        self.spec, self.learner = spec, spec.new_learner()
        self.open: dict[int, Open] = {}
        self.lost: dict[int, Open] = {}
        """With wait_for "lease": queries whose lease has ended, and for which neither they nor those instead were answered."""
        self.to_reissue: list[int] = []
        self.away: list[str] = []  # who is not to be asked; those retired are among them
        self.retired: list[str] = []
        self.retired_arms: list[str] = []
        """Arms that the question is not about any more: the learner knows the others alone, and takes these for silence."""
        self.paused = self.archived = False
        self.stopped: Event | None = None
        self.identified = False  # has the rule reached its verdict, even if the study was reopened since?
        self.resumed, self.twice = False, False
        """Was it resumed after a verdict, and an arm retired then? What it names next comes from another process."""
        self.counts = {name: dict.fromkeys(COUNTS, 0) for name in spec.mediators}
        self.last: dict[str, float] | None = {}
        """When each mediator answered last; None where an earlier version has kept the state without it."""
        self.trail: list[tuple[int, float, float]] = []
        """Answers counted, statistic and threshold, at moments that `next_look` chooses."""
        self.absorbed: Event | None = None  # what came from a log: files and rows
        self.clock = 0.0  # the latest time of an event, since the clock last went back
        self.jumps: list[Event] = []  # the last time that the clock jumped, and how many times it did
        self.surprises: list[str] = []  # what a replay found to differ from the record

    # what is the case -------------------------------------------------------------------------------------------------

    @property
    def sure(self) -> bool:
        """Has the rule reached a verdict that is not in doubt?"""
        return self.learner.done

    @property
    def doubted(self) -> bool:
        """Was an answer corrected or taken out after the verdict, and has the evidence not been enough for it since?"""
        return self.learner.state.decision.doubted

    def phase(self, broken: bool | None = None) -> Phase:
        """In one word or two; `broken`, where it is known: does an alarm break the guarantee?"""
        if self.learner.broken() is not None if broken is None else broken:
            return "needs attention"
        if self.stopped is None:
            return "archived" if self.archived else "paused" if self.paused else "running"
        if self.stopped["verdict"] == "budget":
            return "budget used"
        return "under review" if self.doubted else "sure"

    @property
    def spent(self) -> tuple[int, float]:
        """Queries and cost, open ones included."""
        N_e = [int(n) for n in self.learner.queries]
        return sum(N_e), sum(n * cost for n, cost in zip(N_e, self.spec.cast.costs.tolist(), strict=True))

    @property
    def affordable(self) -> list[str]:
        """Mediators that the budget still allows to ask."""
        queries, cost = self.spent
        if self.spec.max_queries is not None and queries >= self.spec.max_queries:
            return []
        limit, prices = self.spec.max_cost, dict(zip(self.spec.mediators, self.spec.cast.costs.tolist(), strict=True))
        return [name for name in self.spec.mediators if limit is None or cost + prices[name] <= limit * (1.0 + 1e-12)]

    @property
    def askable(self) -> list[str]:
        """Mediators that are not away and that the budget allows; the rule plans around the others."""
        return [name for name in self.affordable if name not in self.away]

    def flying(self) -> int:
        """Open queries whose lease has not ended."""
        return sum(not query.expired for query in self.open.values())

    def late(self) -> list[int]:
        """Queries whose lease has ended without an answer, to them or to one instead."""
        return sorted([*self.lost, *(number for number, query in self.open.items() if query.expired)])

    # what happens -----------------------------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Let an event happen; fields that only the learner knows are filled in, or checked where they are recorded."""
        kind = kind_of(event)
        self.clock = max(self.clock, event["at"])
        if kind.name in SWITCHES:
            setattr(self, *SWITCHES[kind.name])
        elif kind.name != "note":
            getattr(self, f"_on_{kind.name}")(event)
        for what, step in kind.counts(event):
            self.counts[event["mediator"]][what] += step
        for what, step in kind.counts_before(event):
            self.counts[event["was"]][what] += step
        self._follow()

    def _on_absorbed(self, event: Event) -> None:
        """What a log brought: counts [E, K] and sums [E, K]."""
        S_a = np.array([math.fsum(column) for column in zip(*event["S_ea"], strict=True)])
        N_ea = np.column_stack([event["N_ea"], event.get("silent", [0] * len(event["N_ea"]))])
        claim, kept = event["claim"] and Claim.restored(event["claim"]), as_checkpoints(event["checkpoints"])
        self.learner.state.absorb(N_ea, S_a, as_floats(event["S_ea"]), as_floats(event["spread"]), claim, kept)
        self.absorbed = {"files": event["files"], "rows": sum(map(sum, event["N_ea"]))}

    def _on_asked(self, event: Event) -> None:
        askable = self.askable
        if "mediator" in event:
            rule = self.learner.asked(event["mediator"], askable)
            if rule != event["mediator"]:
                self.surprises.append(f"query {event['query']} went to {event['mediator']!r}, the rule now says {rule!r}")
            number = self.learner.issued - 1
        else:
            query = self.learner.ask(available=askable, go_on=True)
            number, event["mediator"] = query.id, query.mediator
        self._fill(event, "query", number)
        self._fill(event, "reissue_of", self.to_reissue.pop(0) if self.to_reissue else None)
        self.open[number] = Open(event["mediator"], event["at"], event["until"], event["worker"], event["reissue_of"])

    def _on_taken(self, event: Event) -> None:
        self.open[event["query"]].worker = event["worker"]
        self.open[event["query"]].until = event["until"]

    def _on_told(self, event: Event) -> None:
        if event["arm"] in self.retired_arms:
            self.spec.design.family.check_reward(event["reward"])
            self._answer(event, {"silent": True})
        else:
            self._answer(event, {"arm": event["arm"], "reward": event["reward"], "accept_surprise": event["surprise"]})

    def _on_silent(self, event: Event) -> None:
        self._answer(event, {"silent": True})

    def _answer(self, event: Event, answer: Mapping[str, Any]) -> None:
        """An answer to an open query, a late one whose place has been given up, or one that was not asked for."""
        number = event.get("query")
        if self.last is not None:
            self.last[event["mediator"]] = event["at"]
        if number in self.open:
            self.learner.tell(number, **answer)
            self._fill(event, "slot", number)
            query = self.open.pop(number)
            event["late"] = query.expired
            self._found(query.reissue_of)
        else:
            self.learner.tell(mediator=event["mediator"], **answer)
            self._fill(event, "slot", self.learner.issued - 1)
            event["late"] = not event["unasked"]
            self._found(number)
            if event["unasked"]:
                self._fill(event, "query", event["slot"])
        if event["late"]:
            self._settled(number)

    def _found(self, number: int | None) -> None:
        """There is an answer to a query, or to one instead of it: it and those before it are lost no more."""
        while number in self.lost:
            number = self.lost.pop(number).reissue_of

    def _settled(self, number: Any) -> None:
        """An expired query that has come to an end need not be issued again."""
        self.to_reissue = [waiting for waiting in self.to_reissue if waiting != number]

    def _on_corrected(self, event: Event) -> None:
        old, new = self._pair(event["old"]), self._pair(event["new"])
        self.learner.correct(event["slot"], event["mediator"], old, new, accept_surprise=event["surprise"])
        self._reconsider()

    def _on_voided(self, event: Event) -> None:
        self.learner.void(event["slot"], event["mediator"], self._pair(event["old"]))
        self._reconsider()

    def _on_moved(self, event: Event) -> None:
        answer = self._pair(event["answer"])
        self.learner.move(event["slot"], event["was"], event["mediator"], answer, accept_surprise=event["surprise"])

    def _reconsider(self) -> None:
        """A study that goes on after its verdict goes on to find the answer again, if a correction has put that in doubt."""
        if self.stopped is None and self.doubted:
            self.identified = False
            self.learner.state.decision.go_on()

    def _on_cancelled(self, event: Event) -> None:
        self.learner.cancel(event["query"])
        del self.open[event["query"]]
        self._settled(event["query"])

    def _on_expired(self, event: Event) -> None:
        number = event["query"]
        self.to_reissue.append(number)
        if self.spec.wait_for == "answer":
            self.open[number].expired = True
        else:
            self.learner.cancel(number)
            self.lost[number] = self.open.pop(number)

    def _pair(self, answer: Mapping[str, Any] | None) -> tuple[str, float] | None:
        """An answer as the learner takes it; None is silence, and what a retired arm paid is as good."""
        return None if answer is None or answer["arm"] in self.retired_arms else (answer["arm"], answer["reward"])

    def _on_added(self, event: Event) -> None:
        """A mediator more: evidence is about arms, and stays."""
        name, policy, cost = event["mediator"], event["policy"], event["cost"]
        self.learner = self.learner.with_mediator(name, self._left(policy), cost)
        self.spec = self.spec.joined(name, policy, cost, event["contact"])
        self.counts[name] = dict.fromkeys(COUNTS, 0)

    def _on_declared(self, event: Event) -> None:
        """Another policy of a mediator: only plans and the alarms about policies go by it."""
        name, policy = event["mediator"], event["policy"]
        learner = self.learner.declaring(name, self._left(policy))
        self.spec, self.learner = self.spec.declaring(name, policy), learner

    def _left(self, policy: Any) -> Any:
        """A policy on the arms that the learner knows."""
        return policy and [p for p, arm in zip(policy, self.spec.arms, strict=True) if arm not in self.retired_arms]

    def _on_retired(self, event: Event) -> None:
        self.retired = [*self.retired, event["mediator"]]
        self.away = sorted({*self.away, event["mediator"]})

    def _on_dropped(self, event: Event) -> None:
        """The question is about one arm less."""
        self.learner = self.learner.without_arm(event["arm"])
        self.twice = self.twice or (self.resumed and not self.retired_arms)
        self.retired_arms = [*self.retired_arms, event["arm"]]
        self.identified = self.identified and self.learner.done

    def _on_away(self, event: Event) -> None:
        self.away = sorted({*self.away, event["mediator"]})

    def _on_available(self, event: Event) -> None:
        self.away = [name for name in self.away if name != event["mediator"]]

    def _on_clock(self, event: Event) -> None:
        """The clock has jumped: no lease ends later than one that begins now, and no query was asked later than now."""
        self.clock = now = event["at"]
        self.jumps = [{"at": now, "before": event["before"], "times": 1 + sum(jump["times"] for jump in self.jumps)}]
        for query in self.lost.values():
            query.until = min(now, query.until or now)
            query.asked = min(query.asked, now)
        for query in self.open.values():
            if query.until is not None:
                lease = query.until - query.asked if self.spec.lease is None else self.spec.lease
                query.until = min(query.until, now + lease)
            query.asked = min(query.asked, now)

    def _on_stopped(self, event: Event) -> None:
        self.stopped = event
        self.identified = self.identified or event["verdict"] == "identified"

    def _on_reopened(self, event: Event) -> None:
        self.resumed = self.resumed or (self.identified and not self.doubted)
        self.stopped = None
        if self.learner.state.decision.reconsider():
            self.identified = False

    def _on_edited(self, event: Event) -> None:
        """A field that cannot touch the mathematics changes; lists of names change place by place."""
        field, new = event["field"], event["new"]
        if field == "mediators":
            names = dict(zip(self.spec.mediators, new, strict=True))
            self.counts = {names[name]: counts for name, counts in self.counts.items()}
            self.last = None if self.last is None else {names[name]: at for name, at in self.last.items()}
            self.away, self.retired = ([names[name] for name in held] for held in (self.away, self.retired))
            for query in (*self.open.values(), *self.lost.values()):
                query.mediator = names[query.mediator]
            self.learner.state.rename(field, new)
        if field == "arms":
            arms = dict(zip(self.spec.arms, new, strict=True))
            if self.stopped is not None and self.stopped["arm"] is not None:
                self.stopped = self.stopped | {"arm": arms[self.stopped["arm"]]}
            self.learner.state.rename(field, [arms[name] for name in self.learner.arms])
            self.retired_arms = [arms[name] for name in self.retired_arms]
        self.spec = self.spec.edited(field, new)

    def _fill(self, event: Event, key: str, value: Any) -> None:
        if key not in event:
            event[key] = value
        elif event[key] != value:
            self.surprises.append(f"event {event.get('seq', '?')}: {key} is {event[key]!r}, replayed {value!r}")

    def _follow(self) -> None:
        """Keep a trail of the evidence, for the figure."""
        counted = self.learner.counted
        if counted >= next_look(self.trail[-1][0] if self.trail else 0):
            found = self.learner.evidence()
            self.trail.append((counted, found.statistic, found.threshold))
