"""Any sequence of commands by HTTP is the same as in memory and in PostgreSQL: the machine of the stores, with a server in the middle."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test
from postgres import Cluster
from service_parts import Running, running
from study_machine import Machine

import gobetween as gb
from gobetween.study.study import Study

BY_HTTP = (
    "ask",
    "tell",
    "correct",
    "void",
    "cancel",
    "away",
    "back",
    "add_mediator",
    "declare",
    "retire",
    "pause",
    "resume",
    "pending",
)


class Far:
    """Commands by HTTP, anything else from the store."""

    sent = 0

    def __init__(self, study: Study, client: gb.Client) -> None:
        self._study, self._client = study, client

    def __getattr__(self, name: str) -> Any:
        Far.sent += name in BY_HTTP
        return getattr(self._client if name in BY_HTTP else self._study, name)


class RestMachine(Machine):
    server: Running

    @initialize(
        in_flight=st.sampled_from([None, 1, 3]),
        wait_for=st.sampled_from(["lease", "answer"]),
        budget=st.sampled_from([{}, {"queries": 12}, {"cost": 9.0}]),
        lease=st.sampled_from([None, "1h"]),
    )
    def begin(self, in_flight: Any, wait_for: str, budget: Any, lease: Any) -> None:
        super().begin(in_flight, wait_for, budget, lease)
        self.serve()

    def serve(self) -> None:
        """The SQLite file is reached through the server from now on."""
        home = self.server.studies
        home._served.clear()
        home._slugs.clear()
        home._add(self.stores[1], "s")
        client = gb.Client(self.server.base, self.server.access.first, "s", actor="me")
        self.studies[1] = Far(Study(self.stores[1], "s", "me"), client)  # type: ignore[call-overload]

    @precondition(lambda self: self.restarts < 4)
    @rule()
    def restart(self) -> None:
        super().restart()
        self.serve()


def test_rest_is_the_same_as_memory_and_postgresql(postgres: Cluster) -> None:
    with running() as server:
        RestMachine.cluster, RestMachine.server = postgres, server
        run_state_machine_as_test(RestMachine, settings=settings(max_examples=5, stateful_step_count=30, deadline=None))
    assert Far.sent > 20
