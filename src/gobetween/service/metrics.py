"""How the server and its studies do, in the text format of Prometheus."""

import time
from collections import Counter
from collections.abc import Iterator

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse

from gobetween.service import models
from gobetween.service.access import Who
from gobetween.service.request import studies_of, who_of
from gobetween.service.studies import Studies, Unreadable, attempt
from gobetween.study.journal.transaction import state_now
from gobetween.study.study import Study

router = APIRouter(prefix="/api/v1", tags=["server"], responses=models.REFUSALS)


class RequestCounts:
    """Requests that were answered, by status."""

    def __init__(self) -> None:
        self.began, self.answers = time.time(), Counter[int]()
        self.live = 0  # pages that are open and kept up to date


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request) -> PlainTextResponse:
    """Requests by status, and events, queries and evidence of each study."""
    tally: RequestCounts = request.app.state.tally
    lines = [*_of_server(tally), *_of_studies(studies_of(request), who_of(request))]
    return PlainTextResponse("\n".join([*lines, ""]), media_type="text/plain; version=0.0.4")


def _of_server(tally: RequestCounts) -> Iterator[str]:
    yield from _head("requests_total", "counter", "Requests that were answered.")
    yield from (f'gobetween_requests_total{{status="{status}"}} {n}' for status, n in sorted(tally.answers.items()))
    yield from _head("live_pages", "gauge", "Pages that are open and kept up to date.")
    yield f"gobetween_live_pages {tally.live}"
    yield from _head("start_time_seconds", "gauge", "When the server began, in seconds since 1970.")
    yield f"gobetween_start_time_seconds {tally.began:.3f}"


def _of_studies(studies: Studies, who: Who) -> Iterator[str]:
    seen = [(served, attempt(numbers_of, served.study(""))) for served in studies.all() if who.store in (None, served.store)]
    found = [(served, {"unreadable": 1.0} if isinstance(numbers, Unreadable) else numbers) for served, numbers in seen]
    for name, (kind, words) in ABOUT.items():
        yield from _head(name, kind, words)
        having = ((served.slug, numbers[name]) for served, numbers in found if name in numbers)
        yield from (f'gobetween_{name}{{study="{_escaped(slug)}"}} {number:.17g}' for slug, number in having)


ABOUT = {
    "unreadable": ("gauge", "1 if the study cannot be read."),
    "events_total": ("counter", "Events in the log."),
    "queries_total": ("counter", "Queries that were issued."),
    "open_queries": ("gauge", "Queries that wait for an answer."),
    "overdue_queries": ("gauge", "Queries whose lease has ended without an answer."),
    "counted_answers": ("gauge", "Answers that the verdict counts."),
    "evidence_nats": ("gauge", "Evidence for the leader."),
    "threshold_nats": ("gauge", "Where the study stops."),
    "stopped": ("gauge", "1 once the study has stopped."),
    "under_review": ("gauge", "1 while corrections put the verdict in doubt."),
    "alarm": ("gauge", "1 if an alarm breaks the guarantee."),
    "waiting_messages": ("gauge", "Messages that have not been delivered yet."),
    "dead_messages": ("gauge", "Messages that could not be delivered and were given up."),
}


def numbers_of(study: Study) -> dict[str, float]:
    """What is said of a study, by the names of `ABOUT`."""
    with study.store.reading(study.name) as record:
        state, seq, messages = state_now(record), record.seq, record.undelivered()
    evidence = state.learner.evidence()
    return {
        "unreadable": 0.0,
        "events_total": seq,
        "queries_total": state.learner.issued,
        "open_queries": len(state.open),
        "overdue_queries": len(state.late()),
        "counted_answers": state.learner.counted,
        "evidence_nats": evidence.statistic,
        "threshold_nats": evidence.threshold,
        "stopped": float(state.stopped is not None),
        "under_review": float(state.phase(broken=False) == "under review"),
        "alarm": float(state.learner.broken() is not None),
        "waiting_messages": messages.waiting,
        "dead_messages": messages.dead,
    }


def _head(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP gobetween_{name} {words}"
    yield f"# TYPE gobetween_{name} {kind}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
