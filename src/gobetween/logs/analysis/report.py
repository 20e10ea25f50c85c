"""What a log says, as a value: the answer, what is missing, the alarms."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from gobetween.core.alarm.alarm import Alarm, broken
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.question.question import Question
from gobetween.core.reward.family import Family
from gobetween.core.verdict.evidence_report import ArmReport, NearTie
from gobetween.export import data_frame, html_table, json_safe
from gobetween.logs.analysis.advice import GroupAdvice
from gobetween.logs.analysis.breakdown import MeanCell, PolicyShare, mean_cells, policy_shares, write_cells
from gobetween.logs.analysis.notes import Note
from gobetween.logs.analysis.timeline import Adaptive, Stretch
from gobetween.logs.reading.counts import BadRow
from gobetween.logs.reading.history import FirstClaim, Trail
from gobetween.simulation.worlds import Forecast


@dataclass(frozen=True)
class Traffic:
    """How much of the present traffic is certainly not the best use of it."""

    since: int
    """After which row: the present is the last tenth of the log to its last third; all of it where rows are not in order."""
    rows: int
    share: float  # of these rows, how many pulled an arm that can no longer be the best


@dataclass(frozen=True, repr=False)
class LogReport:
    """What a log says."""

    rows: int
    parameters: dict[str, Any]
    """The family and its parameters, by name."""
    delta: float
    question: Question
    answer: tuple[str, ...]
    """The arms that answer it, or would now: the leader, unless another question is asked."""
    alarms: tuple[Alarm, ...]
    """What was checked about the world, raised or not, the worst first."""
    arms: tuple[ArmReport, ...]
    mediators: tuple[str, ...]
    N_ea: Ints
    """[E, K] rows."""
    S_ea: Floats
    """[E, K] sums of rewards."""
    law: Family
    """What rewards are."""
    silent: dict[str, int] | None
    """Mediator → rows in which it answered nothing, which are not among `rows`; None where silence is not counted."""
    claim: FirstClaim | None
    """Where it was first certain; None when the answer was never certain. It stands, even if the evidence at the end is
    weaker, unless an alarm says otherwise."""
    ordered: bool
    """Was the first claim looked for? Not where an executor got tables that can be read only once."""
    identified: bool
    """Is it certain at the end of the log?"""
    leader: str
    statistic: float
    threshold: float
    p_value: float
    in_play: tuple[str, ...]
    """Arms that may still be the best."""
    rows_to_go: float
    """Expected, of the same mixture of mediators."""
    rows_forecast: Forecast | None
    """The same with a range, from worlds that the log leaves possible; None where that cannot be said."""
    queries_to_go: float
    """Expected, if one could choose whom to ask."""
    queries_forecast: Forecast | None
    """The same with a range, asked as `omega` says to the end; None for a lone mediator too."""
    near_tie: NearTie | None
    """Two arms that 20 times as many rows would not tell apart, where more than these are expected."""
    mixture: tuple[float, ...]
    """[E] shares of rows."""
    omega: tuple[float, ...] | None
    """[E] whom to ask: ω̂*; None while it cannot be said."""
    advice: tuple[GroupAdvice, ...]
    """The same by mediators who choose alike, with how sure it is; empty where the answer is certain or this is unknown."""
    never_pulled: tuple[str, ...]
    """Declared arms that no mediator pulled."""
    disorder: BadRow | None
    bad: tuple[BadRow, ...]
    bad_count: int
    looks: Callable[[], Trail]
    """Finds the trail, which takes longer than all else of a small log."""
    sources: tuple[str, ...]
    """What was read."""
    traffic: Traffic | None
    """What the arms that are out of play still get; None for another question than the best arm."""
    adaptive: tuple[Adaptive, ...]
    """Mediators who seem to learn over time: their policies are averages, and rows in another order say nothing about them."""
    stretches: tuple[Stretch, ...]
    """The log over time; empty where rows are not in order."""
    remarks: tuple[Note, ...] = ()
    """What else should be known about how it was read; `notes` has it in sentences."""

    def __repr__(self) -> str:
        return f"<LogReport: {self._answer()}>"

    @property
    def family(self) -> str:
        """With its parameters, for people; `parameters` has them by name."""
        from gobetween.words.verdict import family_words

        return family_words(self.law)

    @property
    def headline(self) -> str:
        """The verdict at the end of the log in one sentence; what is wrong, once an alarm breaks the guarantee."""
        from gobetween.words.logs import log_headline

        return log_headline(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """What else should be known about how it was read, in sentences."""
        from gobetween.words.log_notes import note_sentences

        return note_sentences(self.remarks)

    def _repr_html_(self) -> str:
        cells = ((arm.arm, f"{arm.pulls:,}", *map(_shown, (arm.estimate, arm.low, arm.high))) for arm in self.arms)
        return html_table(self._answer(), ("arm", "rows", "estimate", "low", "high"), cells)

    @cached_property
    def trail(self) -> Trail:
        """(row, statistic, threshold) along the log."""
        return self.looks()

    @property
    def broken(self) -> Alarm | None:
        """The first alarm that breaks the guarantee: then there is no recommendation."""
        return broken(self.alarms)

    def _answer(self) -> str:
        from gobetween.words.logs import answer_in_short

        return answer_in_short(self)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe: the shape of `gobetween logs analyse --json` (docs/logs.md)."""
        data = asdict(replace(self, law=None, alarms=(), stretches=(), looks=tuple))  # type: ignore[arg-type]  # left out
        for key in ("N_ea", "S_ea", "law", "looks", "sources", "stretches", "remarks"):
            del data[key]
        data |= {"family": self.family, "headline": self.headline, "alarms": self._alarms(), "notes": self.notes}
        forecasts = ("rows_forecast", self.rows_forecast), ("queries_forecast", self.queries_forecast)
        data |= {key: None if said is None else said._asdict() for key, said in forecasts}
        cells = {"policies": self.policies(), "means": self.means()}
        first = dict.fromkeys(("rows", "family", "parameters", "delta", "question", "answer", "headline"))
        return {"format": 1, **json_safe(first | data | {"question": self.question.to_dict()} | cells)}

    def account(self) -> dict[str, Any]:
        """JSON-safe: the verdict, the alarms and what was left out, for whatever else is made of the log."""
        data = {key: getattr(self, key) for key in ("rows", "headline", "identified", "answer", "silent", "bad_count", "notes")}
        listed = {"alarms": self._alarms(), "bad": [asdict(row) for row in self.bad]}
        return {key: json_safe(value) for key, value in (data | listed).items()}

    def _alarms(self) -> list[dict[str, object]]:
        from gobetween.words.alarms import alarms_to_dict

        return alarms_to_dict(self.alarms, log=True)

    def to_frame(self) -> Any:
        """The arms as a data frame of pandas or polars: arm, pulls, estimate, low, high."""
        rows = [asdict(arm) for arm in self.arms]
        return data_frame({name: [row[name] for row in rows] for name in rows[0]})

    def report(self, folder: str | PathLike[str]) -> Path:
        """Write report.html into a folder: the answer, figures and tables; the path of the page."""
        from gobetween.pages.html import write_report
        from gobetween.pages.log import TITLE, sections

        return write_report(Path(folder), TITLE, sections(self, self.sources))

    def policies(self) -> list[PolicyShare]:
        """Estimated policies with exact 95% intervals (Clopper–Pearson), for each mediator, arm and counted silence."""
        names = [arm.arm for arm in self.arms]
        if self.silent is None:
            return policy_shares(self.mediators, names, self.N_ea)
        silent = [self.silent[name] for name in self.mediators]
        return policy_shares(self.mediators, [*names, None], np.column_stack([self.N_ea, silent]))

    def means(self, shown: Ints | None = None) -> list[MeanCell]:
        """What each arm paid with each mediator that pulled it, or in the `shown` [n, 2] places of mediator and arm; intervals
        that hold for all of them at all times together with probability 1 − δ.
        """
        cells = np.argwhere(self.N_ea > 0) if shown is None else shown
        names = [arm.arm for arm in self.arms]
        return mean_cells(self.law, self.mediators, names, self.N_ea, self.S_ea, self.delta, cells)

    def to_csv(self, stream: TextIO) -> None:
        """Write all arms, and each mediator's, to a stream as CSV (docs/logs.md)."""
        asked = {name: (one.share, one.agree, "; ".join(one.mediators)) for one in self.advice for name in one.mediators}
        write_cells(stream, self.arms, self.in_play, self.policies(), self.means(), asked)


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
