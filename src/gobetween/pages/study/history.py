"""A study over time, read off its events: when each answer was counted, and whom it asked when."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gobetween.pages.figures import SERIES
from gobetween.study.journal.events import Event

POINTS = 400  # of a line


@dataclass
class History:
    """What the events say of time."""

    first: float | None = None
    last: float | None = None
    counted: int = 0  # answers that the verdict counts
    reached: list[float] = field(default_factory=list)  # when each point of the trail was reached
    asked: dict[str, list[float]] = field(default_factory=dict)
    """For each mediator by its present name: when it was asked, or answered unasked."""


def history(events: Iterable[Event], trail: Sequence[tuple[int, float, float]], wait_for: str) -> History:
    """Follow the events: answers are counted in the order of their places, each once all before it are settled."""
    found, place, waiting = History(), 0, dict[int, int]()
    for event in events:
        found.first = event["at"] if found.first is None else found.first
        found.last = event["at"]
        _take(found, event, waiting, wait_for)
        while place in waiting:
            found.counted += waiting.pop(place)
            place += 1
        while len(found.reached) < len(trail) and found.counted >= trail[len(found.reached)][0]:
            found.reached.append(event["at"])
    return found


def _take(found: History, event: Event, waiting: dict[int, int], wait_for: str) -> None:
    """What one event settles: 1 for an answer, 0 for a place that stays empty."""
    kind = event["kind"]
    if kind == "absorbed":
        found.counted += sum(map(sum, event["N_ea"]))
    elif kind in ("told", "silent"):
        waiting[event["slot"]] = 1
    elif kind == "cancelled" or (kind == "expired" and wait_for == "lease"):
        waiting[event["query"]] = 0
    elif kind == "voided" and event["slot"] in waiting:
        waiting[event["slot"]] = 0
    elif kind == "voided":
        found.counted -= 1
    if kind == "asked" or (kind in ("told", "silent") and event["unasked"]):
        found.asked.setdefault(event["mediator"], []).append(event["at"])
    elif kind == "edited" and event["field"] == "mediators":
        names = dict(zip(event["old"], event["new"], strict=True))
        found.asked = {names[name]: times for name, times in found.asked.items()}


def lines(found: History) -> dict[str, tuple[list[float], list[int]]]:
    """Moments and queries so far, for each mediator; of many the most asked, and the others together."""
    ranked = sorted(found.asked, key=lambda name: -len(found.asked[name]))
    shown = ranked if len(ranked) <= SERIES else ranked[: SERIES - 1]
    series = {name: found.asked[name] for name in shown}
    if rest := ranked[len(shown) :]:
        series[f"the other {len(rest)} together"] = sorted(at for name in rest for at in found.asked[name])
    return {name: _thinned(times, found) for name, times in series.items()}


def _thinned(times: Sequence[float], found: History) -> tuple[list[float], list[int]]:
    picked = np.unique(np.linspace(0, len(times) - 1, min(len(times), POINTS)).round().astype(np.int64)).tolist()
    ends = ([found.first], [found.last]) if found.first is not None and found.last is not None else ([], [])
    return [*ends[0], *(times[i] for i in picked), *ends[1]], [0, *(i + 1 for i in picked), len(times)]
