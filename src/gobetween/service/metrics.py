"""How the server and its studies do, in the text format of Prometheus."""

import time
from collections import Counter
from collections.abc import Iterator

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse

from gobetween.service import models
from gobetween.service.access import Who
from gobetween.service.call import home_of, who_of
from gobetween.service.home import Home, Served
from gobetween.study.transaction import state_now

router = APIRouter(prefix="/api/v1", tags=["server"], responses=models.REFUSALS)


class Tally:
    """Requests that were answered, by status."""

    def __init__(self) -> None:
        self.began, self.answers = time.time(), Counter[int]()
        self.live = 0
        """Pages that are open and kept up to date."""


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request) -> PlainTextResponse:
    """Requests by status, and events, queries and evidence of each study."""
    tally: Tally = request.app.state.tally
    lines = [*_of_server(tally), *_of_studies(home_of(request), who_of(request))]
    return PlainTextResponse("\n".join([*lines, ""]), media_type="text/plain; version=0.0.4")


def _of_server(tally: Tally) -> Iterator[str]:
    yield from _head("requests_total", "counter", "Requests that were answered.")
    yield from (f'gobetween_requests_total{{status="{status}"}} {n}' for status, n in sorted(tally.answers.items()))
    yield from _head("live_pages", "gauge", "Pages that are open and kept up to date.")
    yield f"gobetween_live_pages {tally.live}"
    yield from _head("start_time_seconds", "gauge", "When the server began, in seconds since 1970.")
    yield f"gobetween_start_time_seconds {tally.began:.3f}"


def _of_studies(home: Home, who: Who) -> Iterator[str]:
    found = [(served, _numbers(served)) for served in home.studies() if who.store in (None, served.store)]
    for name, (kind, words) in ABOUT.items():
        yield from _head(name, kind, words)
        yield from (f'gobetween_{name}{{study="{_escaped(served.name)}"}} {numbers[name]:.17g}' for served, numbers in found)


ABOUT = {
    "events_total": ("counter", "Events in the log."),
    "queries_total": ("counter", "Queries that were issued."),
    "open_queries": ("gauge", "Queries that wait for an answer."),
    "overdue_queries": ("gauge", "Queries whose lease has ended without an answer."),
    "counted_answers": ("gauge", "Answers that the verdict counts."),
    "evidence_nats": ("gauge", "Evidence for the leader."),
    "threshold_nats": ("gauge", "Where the study stops."),
    "stopped": ("gauge", "1 once the study has stopped."),
    "alarm": ("gauge", "1 if an alarm breaks the guarantee."),
    "waiting_messages": ("gauge", "Messages that have not been delivered yet."),
    "dead_messages": ("gauge", "Messages that could not be delivered and were given up."),
}


def _numbers(served: Served) -> dict[str, float]:
    with served.store.reading(served.name) as record:
        state, seq, messages = state_now(record), record.seq, record.undelivered()
    evidence = state.learner.evidence()
    return {
        "events_total": seq,
        "queries_total": state.learner.issued,
        "open_queries": len(state.open),
        "overdue_queries": len(state.late()),
        "counted_answers": state.learner.counted,
        "evidence_nats": evidence.statistic,
        "threshold_nats": evidence.threshold,
        "stopped": float(state.stopped is not None),
        "alarm": float(state.learner.broken() is not None),
        "waiting_messages": messages.waiting,
        "dead_messages": messages.dead,
    }


def _head(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP gobetween_{name} {words}"
    yield f"# TYPE gobetween_{name} {kind}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
