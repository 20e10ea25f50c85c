"""Studies to test with: the same over every store, with a clock that the test holds."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from memory_store import Memory

from gobetween.study.journal.record import Store
from gobetween.study.spec.spec import parse_study
from gobetween.study.store.database import Database
from gobetween.study.study import Study

SPEC: dict[str, Any] = {
    "title": "three arms",
    "family": "bernoulli",
    "delta": 0.1,
    "lease": "1h",
    "wait_for": "lease",
    "arms": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
    "mediators": [
        {"name": "x", "policy": [0.5, 0.5, 0.0], "contact": "x@example.org"},
        {"name": "y", "policy": [0.1, 0.1, 0.8], "cost": 2.0},
        {"name": "z"},
    ],
}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    made: Store
    if request.param == "memory":
        made = Memory(clock)
    elif request.param == "sqlite":
        made = Database.open(str(tmp_path / "s.sqlite"), create=True, clock=clock)
    else:
        made = Database.open(request.getfixturevalue("postgres").database(), create=True, clock=clock)
    yield made
    made.close()


@pytest.fixture
def new(store: Store) -> Callable[..., Study]:
    def make(**changes: Any) -> Study:
        name = f"study {len(store.names())}"
        store.create(name, parse_study(SPEC | changes, "test").to_dict(), {})
        return Study(store, name, "tester")

    return make


def answer(study: Study, query: Any, rng: random.Random, means: Any = (0.9, 0.2, 0.3)) -> Any:
    weights = {"x": [0.5, 0.5, 0.0], "y": [0.1, 0.1, 0.8], "z": [0.3, 0.3, 0.4]}[query.mediator]
    a = rng.choices(range(3), weights)[0]
    return study.tell(query, arm="abc"[a], reward=int(rng.random() < means[a]))


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The place of a new store in a real database."""
    if request.param == "sqlite":
        return str(tmp_path / "s.sqlite")
    return str(request.getfixturevalue("postgres").database())
