"""Schemathesis over the OpenAPI document, stateful: whatever is sent, no answer of 5xx, and studies stay sound."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import status_code_conformance
from service_parts import Running, running, spec

import gobetween as gb

EXAMPLES = int(os.environ.get("GOBETWEEN_EXAMPLES", "6"))  # `make stress` says more


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = str(tmp_path_factory.mktemp("schema") / "s.sqlite")
    gb.Study.create(path, spec(delta=1e-6), "study").close()
    with running(store=path) as made:
        with made.client() as client:
            client.post("/api/v1/studies/study/ask", json={"n": 5}).raise_for_status()
        yield made


def test_no_sequence_of_requests_breaks_the_server(server: Running, tmp_path: Path) -> None:
    headers = {"Authorization": f"Bearer {server.access.first}"}
    with server.client() as client:
        document = client.get("/api/v1/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=server.base, headers=headers)
    machine = schema.as_state_machine()

    class Sound(machine):  # type: ignore[misc, valid-type]
        def validate_response(self, response: object, case: object, **more: object) -> None:
            case.validate_response(response, checks=[not_a_server_error, status_code_conformance])  # type: ignore[attr-defined]

    Sound.run(
        settings=settings(max_examples=EXAMPLES, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck))
    )
    for served in server.studies.all():
        assert served.study("x").doctor() == []
