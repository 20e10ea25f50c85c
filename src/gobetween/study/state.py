"""The state of a live study and what each event does to it. Pure: no clock, no store.

A command makes events and applies them; `doctor` applies the recorded ones again. There is one `apply`: it fills in what only
the learner can decide (whom to ask), unless the event says it already, for what was asked is a fact.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gobetween.core.evidence import next_look
from gobetween.errors import StudyError
from gobetween.files.rules import present
from gobetween.study.events import COUNTS, Event, kind_of
from gobetween.study.learner import Learner
from gobetween.study.moments import as_moments
from gobetween.study.packing import pack_rows, unpack_rows
from gobetween.study.spec import StudySpec
from gobetween.study.watched import as_claimed, as_spread

FORMAT = 4
PACKED = 5  # the same with large policies packed
PRESENT = (FORMAT, PACKED)


@dataclass(slots=True)
class Open:
    """A query that has not been answered."""

    mediator: str
    asked: float
    until: float | None
    worker: str | None
    reissue_of: int | None
    expired: bool = False


class StudyState:
    """A study at one moment."""

    def __init__(self, spec: StudySpec) -> None:
        self.spec, self.learner = spec, spec.new_learner()
        self.open: dict[int, Open] = {}
        self.lost: dict[int, Open] = {}
        """With wait_for "lease": queries whose lease has ended, and for which neither they nor those instead were answered."""
        self.to_reissue: list[int] = []
        self.away: list[str] = []
        """Who is not to be asked; those retired are among them."""
        self.retired: list[str] = []
        self.retired_arms: list[str] = []
        """Arms that the question is not about any more: the learner knows the others alone, and takes these for silence."""
        self.paused = False
        self.stopped: Event | None = None
        self.identified = False
        """Has the rule reached its verdict, even if the study was reopened since?"""
        self.shaken = False
        """Has an answer been corrected or taken out since?"""
        self.counts = {name: dict.fromkeys(COUNTS, 0) for name in spec.mediators}
        self.trail: list[tuple[int, float, float]] = []
        """Answers counted, statistic and threshold, at moments that `next_look` chooses."""
        self.old_trail = False
        """Were some of these moments chosen by the rule of format 1?"""
        self.absorbed: Event | None = None
        """What came from a log: files and rows."""
        self.clock = 0.0
        """The latest time of an event, since the clock last went back."""
        self.jumps: list[Event] = []
        """The last time that the clock jumped, and how many times it did."""
        self.first_format = FORMAT
        """The format of the first snapshot: an earlier one knows nothing of `lost` and `jumps` before it."""
        self.surprises: list[str] = []
        """What a replay found to differ from the record."""

    # what is the case -------------------------------------------------------------------------------------------------

    @property
    def spent(self) -> tuple[int, float]:
        """Queries and cost, open ones included."""
        N_e = [int(n) for n in self.learner.queries]
        return sum(N_e), sum(n * cost for n, cost in zip(N_e, self.spec.costs, strict=True))

    @property
    def affordable(self) -> list[str]:
        """Mediators that the budget still allows to ask."""
        queries, cost = self.spent
        if self.spec.max_queries is not None and queries >= self.spec.max_queries:
            return []
        limit, prices = self.spec.max_cost, dict(zip(self.spec.mediators, self.spec.costs, strict=True))
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
        getattr(self, f"_on_{kind.name}")(event)
        for what, step in kind.counts(event):
            self.counts[event["mediator"]][what] += step
        for what, step in kind.counts_before(event):
            self.counts[event["was"]][what] += step
        self._follow()

    def _on_absorbed(self, event: Event) -> None:
        """What a log brought: counts [E, K] and sums [E, K]."""
        self.learner.absorb(
            event["N_ea"],
            [math.fsum(column) for column in zip(*event["S_ea"], strict=True)],
            S_ea=np.array(event["S_ea"], dtype=np.float64),
            spread=as_spread(event.get("spread")),
            claimed=as_claimed(event.get("claimed")),
            moments=as_moments(event.get("moments")),
            silent=event.get("silent"),
        )
        self.absorbed = {"files": event["files"], "rows": sum(map(sum, event["N_ea"]))}

    def _on_asked(self, event: Event) -> None:
        askable = self.askable
        if "mediator" in event:
            rule = self.learner.asked(event["mediator"], askable, around=event.get("around", False))
            if rule != event["mediator"]:
                self.surprises.append(f"query {event['query']} went to {event['mediator']!r}, the rule now says {rule!r}")
            number = self.learner.issued - 1
        else:
            query = self.learner.ask(available=askable, go_on=True)
            number, event["mediator"] = query.id, query.mediator
            event["around"] = self.learner.around  # a record without it was made by a version that planned for everyone
        self._fill(event, "query", number)
        self._fill(event, "reissue_of", self.to_reissue.pop(0) if self.to_reissue else None)
        self.open[number] = Open(event["mediator"], event["at"], event["until"], event["worker"], event["reissue_of"])

    def _on_taken(self, event: Event) -> None:
        self.open[event["query"]].worker = event["worker"]
        self.open[event["query"]].until = event["until"]

    def _on_told(self, event: Event) -> None:
        if event["arm"] in self.retired_arms:
            self.spec.family.check_reward(event["reward"])
            self._answer(event, {"silent": True})
        else:
            self._answer(event, {"arm": event["arm"], "reward": event["reward"], "accept_surprise": event["surprise"]})

    def _on_silent(self, event: Event) -> None:
        self._answer(event, {"silent": True})

    def _answer(self, event: Event, answer: Mapping[str, Any]) -> None:
        """An answer to an open query, a late one whose place has been given up, or one that nobody asked for."""
        number = event.get("query")
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
        """An expired query that has come to an end need not be issued anew."""
        self.to_reissue = [waiting for waiting in self.to_reissue if waiting != number]

    def _on_corrected(self, event: Event) -> None:
        old, new = self._pair(event["old"]), self._pair(event["new"])
        self.learner.correct(event["slot"], event["mediator"], old, new, accept_surprise=event["surprise"])
        self.shaken = self.shaken or self.identified

    def _on_voided(self, event: Event) -> None:
        self.learner.void(event["slot"], event["mediator"], self._pair(event["old"]))
        self.shaken = self.shaken or self.identified

    def _on_moved(self, event: Event) -> None:
        answer = self._pair(event["answer"])
        self.learner.move(event["was"], event["mediator"], answer, accept_surprise=event["surprise"], number=event["slot"])

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
        policy, left = event["policy"], [arm not in self.retired_arms for arm in self.spec.arms]
        row = None if policy is None else [p for p, is_left in zip(policy, left, strict=True) if is_left]
        self.learner = self.learner.with_mediator(event["mediator"], row, event["cost"])
        self.spec = self.spec.joined(event["mediator"], policy, event["cost"], event["contact"])
        self.counts[event["mediator"]] = dict.fromkeys(COUNTS, 0)

    def _on_retired(self, event: Event) -> None:
        self.retired = [*self.retired, event["mediator"]]
        self.away = sorted({*self.away, event["mediator"]})

    def _on_dropped(self, event: Event) -> None:
        """The question is about one arm less."""
        self.learner = self.learner.without_arm(event["arm"])
        self.retired_arms = [*self.retired_arms, event["arm"]]
        self.identified = self.identified and self.learner.done

    def _on_away(self, event: Event) -> None:
        self.away = sorted({*self.away, event["mediator"]})

    def _on_available(self, event: Event) -> None:
        self.away = [name for name in self.away if name != event["mediator"]]

    def _on_paused(self, event: Event) -> None:
        self.paused = True

    def _on_resumed(self, event: Event) -> None:
        self.paused = False

    def _on_note(self, event: Event) -> None:
        pass

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
        self.stopped = None
        if self.learner.reconsider():
            self.identified = self.shaken = False

    def _on_edited(self, event: Event) -> None:
        """A field that cannot touch the mathematics changes; lists of names change place by place."""
        field, new = event["field"], event["new"]
        if field == "mediators":
            names = dict(zip(self.spec.mediators, new, strict=True))
            self.counts = {names[name]: counts for name, counts in self.counts.items()}
            self.away, self.retired = ([names[name] for name in held] for held in (self.away, self.retired))
            for query in (*self.open.values(), *self.lost.values()):
                query.mediator = names[query.mediator]
        if field == "arms" and self.stopped is not None and self.stopped["arm"] is not None:
            self.stopped = self.stopped | {"arm": new[self.spec.arms.index(self.stopped["arm"])]}
        if field == "mediators":
            self.learner.rename(field, new)
        if field == "arms":
            arms = dict(zip(self.spec.arms, new, strict=True))
            self.learner.rename(field, [arms[name] for name in self.learner.arms])
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

    # snapshots --------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; its size does not grow with the log, only with open queries and with answers that wait for them."""
        return {
            **_kept(self.spec),
            "learner": self.learner.to_dict(),
            "open": _columns(self.open),
            "lost": _columns(self.lost),
            "to_reissue": self.to_reissue,
            "away": self.away,
            "paused": self.paused,
            "stopped": self.stopped,
            "identified": self.identified,
            "shaken": self.shaken,
            "counts": self.counts,
            "trail": [list(point) for point in self.trail],
            "old_trail": self.old_trail,
            "absorbed": self.absorbed,
            "clock": self.clock,
            "jumps": self.jumps,
            "first_format": self.first_format,
            **self._kept_of_retired(),
        }

    def _kept_of_retired(self) -> dict[str, Any]:
        """Nothing where nobody is: earlier versions can then read it. Those retired are away for them."""
        kept = {"mediators": self.retired, "arms": self.retired_arms}
        return {"retired": kept} if any(kept.values()) else {}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "StudyState":
        """The state that `to_dict` described, here or in an earlier version."""
        data, state = up_to_date(data), cls.__new__(cls)
        state.spec, state.learner = StudySpec.from_dict(data["spec"]), Learner.from_dict(data["learner"])
        state.open, state.lost = _queries(data["open"]), _queries(data["lost"])
        state.to_reissue, state.away, state.paused = list(data["to_reissue"]), list(data["away"]), data["paused"]
        state.identified, state.shaken = data["identified"], data["shaken"]
        state.stopped, state.counts = data["stopped"], {name: dict(counts) for name, counts in data["counts"].items()}
        state.trail, state.old_trail = [(int(t), float(z), float(c)) for t, z, c in data["trail"]], data["old_trail"]
        state.surprises, state.absorbed, state.clock = [], data.get("absorbed"), data.get("clock", 0.0)
        state.jumps, state.first_format = list(data["jumps"]), data["first_format"]
        retired = data.get("retired", {"mediators": [], "arms": []})
        state.retired, state.retired_arms = list(retired["mediators"]), list(retired["arms"])
        return state


def _kept(spec: StudySpec) -> dict[str, Any]:
    """The spec, with large policies packed, and the format that this is."""
    policies = pack_rows(spec.policies, len(spec.arms))
    if policies is None:
        return {"format": FORMAT, "spec": spec.to_dict()}
    return {"format": PACKED, "spec": {**spec.to_dict(), "policies": policies}}


def _columns(queries: Mapping[int, Open]) -> dict[str, list[Any]]:
    """Queries as columns, for there may be very many; one that says the same of all says it once."""
    columns = {name: [getattr(query, name) for query in queries.values()] for name in Open.__annotations__}
    return {"query": list(queries)} | {
        name: column[:1] if column.count(column[0]) == len(column) else column for name, column in columns.items() if column
    }


def _queries(columns: Mapping[str, list[Any]]) -> dict[int, Open]:
    numbers = columns["query"]
    rest = [columns[name] for name in Open.__annotations__] if numbers else []
    every = zip(*(column * len(numbers) if len(column) == 1 else column for column in rest), strict=True)
    return {number: Open(*query) for number, query in zip(numbers, every, strict=True)}


def up_to_date(given: Mapping[str, Any]) -> dict[str, Any]:
    """A snapshot in the present format; that of a later version is refused."""
    data = dict(given)
    found = data.get("format")
    if found == FORMAT:
        return data
    if found == PACKED:
        return data | {"format": FORMAT, "spec": {**data["spec"], "policies": unpack_rows(data["spec"]["policies"])}}
    if found not in (1, 2, 3):
        raise StudyError(f"a later version has kept this study (snapshot format {found}, not {PACKED}): use a newer gobetween")
    was_open = {number: Open(**query) for number, query in data["open"]}
    data |= {"format": FORMAT, "first_format": found, "open": _columns(was_open), "lost": _columns({}), "jumps": []}
    data.pop("seq", None)
    counts = {name: dict.fromkeys(COUNTS, 0) | kept for name, kept in data["counts"].items()}
    if found > 1:
        return data | {"counts": counts}
    renewed = {part: data[part] | {"sampling": present(data[part]["sampling"])} for part in ("spec", "learner")}
    return {key: value for key, value in data.items() if key != "stride"} | {"counts": counts, "old_trail": True} | renewed
