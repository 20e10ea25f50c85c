"""Any sequence of commands, restarts and hours passing: memory ≡ SQLite ≡ PostgreSQL, and the doctor finds nothing."""

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from postgres import Cluster
from study_machine import Machine


@pytest.mark.parametrize("examples", [25])
def test_every_store_behaves_the_same(postgres: Cluster, examples: int) -> None:
    Machine.cluster = postgres
    run_state_machine_as_test(Machine, settings=settings(max_examples=examples, stateful_step_count=30))
