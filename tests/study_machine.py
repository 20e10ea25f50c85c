"""Any sequence of commands, restarts and hours passing: memory ≡ SQLite ≡ PostgreSQL, and the doctor finds nothing."""

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from memory_store import Memory
from postgres import Cluster

import gobetween as gb
from gobetween.study.journal.record import Store
from gobetween.study.journal.snapshot import snapshot_of
from gobetween.study.spec.spec import parse_study
from gobetween.study.store.database import Database
from gobetween.study.study import Study

ARMS, MEDIATORS = ("a", "b", "c"), ("x", "y", "z")


def plain(value: Any) -> Any:
    """Comparable: without keys that are drawn anew."""
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in ("key", "request")}
    return value


class Machine(RuleBasedStateMachine):
    cluster: Cluster

    @initialize(
        in_flight=st.sampled_from([None, 1, 3]),
        wait_for=st.sampled_from(["lease", "answer"]),
        budget=st.sampled_from([{}, {"queries": 12}, {"cost": 9.0}]),
        lease=st.sampled_from([None, "1h"]),
    )
    def begin(self, in_flight: Any, wait_for: str, budget: Any, lease: Any) -> None:
        self.now, self.restarts, self.queries = 1000.0, 0, 0
        self.folder = Path(tempfile.mkdtemp())
        data: dict[str, Any] = {
            "family": "bernoulli",
            "delta": 0.2,
            "wait_for": wait_for,
            "budget": budget,
            "arms": [{"name": name} for name in ARMS],
            "mediators": [
                {"name": "x", "policy": [0.6, 0.4, 0.0]},
                {"name": "y", "cost": 2.0},
                {"name": "z", "policy": [0.1, 0.1, 0.8]},
            ],
        }
        data |= {} if in_flight is None else {"in_flight": in_flight}
        data |= {} if lease is None else {"lease": lease}
        self.places: list[Any] = [None, str(self.folder / "s.sqlite"), self.cluster.database()]
        self.memory = Memory(self.clock)
        self.stores: list[Store] = [
            self.memory,
            *(Database.open(place, create=True, clock=self.clock) for place in self.places[1:]),
        ]
        for store in self.stores:
            store.create("s", parse_study(data, "test").to_dict(), {})
        self.studies = [Study(store, "s", "me") for store in self.stores]

    def clock(self) -> float:
        return self.now

    def everywhere(self, act: Callable[[Study], Any]) -> None:
        """Do the same in every store: the same answers, the same refusals."""
        outcomes = []
        for study in self.studies:
            try:
                outcomes.append(plain(act(study)))
            except gb.GoBetweenError as error:
                outcomes.append(f"{type(error).__name__}: {error}")
        assert outcomes[0] == outcomes[1] == outcomes[2]
        self.queries = max(self.queries, self.studies[0].look()[0].learner.issued)

    @rule(n=st.sampled_from([None, 1, 2]), worker=st.sampled_from([None, None, "w1", "w2"]))
    def ask(self, n: int | None, worker: str | None) -> None:
        self.everywhere(lambda study: study.ask(None if worker else n, worker=worker))

    @rule(where=st.integers(0, 30), arm=st.sampled_from(ARMS), reward=st.sampled_from([0, 1, 1, 0.5]), accept=st.booleans())
    def tell(self, where: int, arm: str, reward: float, accept: bool) -> None:
        number = where % (self.queries + 1)
        self.everywhere(lambda study: study.tell(number, arm=arm, reward=reward, accept_surprise=accept))

    @rule(arm=st.sampled_from(ARMS), reward=st.integers(0, 1))
    def tell_the_oldest(self, arm: str, reward: int) -> None:
        def act(study: Study) -> Any:
            pending = study.pending()
            return study.tell(pending[0], arm=arm, reward=reward, accept_surprise=True) if pending else None

        self.everywhere(act)

    @rule(where=st.integers(0, 30))
    def silent(self, where: int) -> None:
        number = where % (self.queries + 1)
        self.everywhere(lambda study: study.tell(number, silent=True))

    @rule(mediator=st.sampled_from(MEDIATORS), arm=st.sampled_from(ARMS), key=st.sampled_from([None, "k1", "k2"]))
    def unasked(self, mediator: str, arm: str, key: str | None) -> None:
        self.everywhere(lambda study: study.tell(mediator=mediator, arm=arm, reward=1, key=key))

    @rule(where=st.integers(0, 30), arm=st.sampled_from(ARMS), reward=st.integers(0, 1), silent=st.booleans())
    def correct(self, where: int, arm: str, reward: int, silent: bool) -> None:
        number = where % (self.queries + 1)
        answer: dict[str, Any] = {"silent": True} if silent else {"arm": arm, "reward": reward, "accept_surprise": True}
        self.everywhere(lambda study: study.correct(number, reason="r", **answer))

    @rule(where=st.integers(0, 30))
    def void(self, where: int) -> None:
        number = where % (self.queries + 1)
        self.everywhere(lambda study: study.void(number, reason="r"))

    @rule(where=st.integers(0, 30), mediator=st.sampled_from(MEDIATORS), accept=st.booleans())
    def correct_the_mediator(self, where: int, mediator: str, accept: bool) -> None:
        number = where % (self.queries + 1)
        self.everywhere(lambda study: study.correct(number, mediator=mediator, reason="r", accept_surprise=accept))

    @rule(where=st.integers(0, 30))
    def cancel(self, where: int) -> None:
        number = where % (self.queries + 1)
        self.everywhere(lambda study: study.cancel(number))

    @rule(hours=st.sampled_from([0.3, 1.1]))
    def time_passes(self, hours: float) -> None:
        self.now += 3600 * hours

    @rule(mediator=st.sampled_from(MEDIATORS), away=st.booleans())
    def come_and_go(self, mediator: str, away: bool) -> None:
        self.everywhere(lambda study: study.away(mediator) if away else study.back(mediator))

    @rule(name=st.sampled_from(("v", "w", "x")), policy=st.sampled_from((None, [0.2, 0.3, 0.5], [0.0, 1.0, 0.0])))
    def join(self, name: str, policy: Any) -> None:
        self.everywhere(lambda study: study.add_mediator(name, policy=policy, cost=1.5))

    @rule(name=st.sampled_from((*MEDIATORS, "v")), policy=st.sampled_from((None, [0.2, 0.3, 0.5], {"a", "b"}, [1.0, 0.0, 0.0])))
    def declare(self, name: str, policy: Any) -> None:
        self.everywhere(lambda study: study.declare(name, policy))

    @precondition(lambda self: self.queries > 4)
    @rule(name=st.sampled_from((*MEDIATORS, "v", "w")))
    def retire(self, name: str) -> None:
        self.everywhere(lambda study: study.retire(name))

    @precondition(lambda self: self.queries > 4)
    @rule(name=st.sampled_from(ARMS), sure=st.integers(0, 3))
    def retire_an_arm(self, name: str, sure: int) -> None:
        if sure == 0:
            self.everywhere(lambda study: study.retire(name, what="arm"))

    @rule(pause=st.booleans())
    def pause_or_resume(self, pause: bool) -> None:
        self.everywhere(lambda study: study.pause() if pause else study.resume())

    @precondition(lambda self: self.restarts < 4)
    @rule()
    def restart(self) -> None:
        self.restarts += 1
        for i in (1, 2):
            self.stores[i].close()
            self.stores[i] = Database.open(self.places[i], clock=self.clock)
            self.studies[i] = Study(self.stores[i], "s", "me")

    def teardown(self) -> None:
        if not hasattr(self, "studies"):
            return
        states = [snapshot_of(study.look()[0]) for study in self.studies]
        assert json.dumps(plain(states[0])) == json.dumps(plain(states[1])) == json.dumps(plain(states[2]))
        logs = [[plain(event) for event in study.events()] for study in self.studies]
        assert logs[0] == logs[1] == logs[2]
        rows = [list(study.export()) for study in self.studies]
        assert rows[0] == rows[1] == rows[2]
        for study in self.studies:
            assert study.doctor() == []
            study.close()
        shutil.rmtree(self.folder)
