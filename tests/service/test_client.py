"""`gb.Client` is `gb.Study` elsewhere: the same answers and exceptions, and nothing done twice however often it is tried."""

import random
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from service_parts import Running, running, spec

import gobetween as gb
from gobetween.core.alarm.alarm import Alarm


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = str(tmp_path_factory.mktemp("client") / "s.sqlite")
    gb.Study.create(path, spec(), "far").close()
    with running(store=path) as made:
        yield made


def both(server: Running, tmp_path: Path, name: str, **changes: Any) -> tuple[gb.Study, gb.Client]:
    """A study here, and the same on the server."""
    assert server.studies.makes is not None
    server.studies.makes.create(name, spec(**changes).to_dict(), {})
    here = gb.Study.create(tmp_path / "s.sqlite", spec(**changes), name)
    return here, gb.Client(server.base, server.access.first, name, actor=here.actor)


def test_a_whole_study_is_the_same(server: Running, tmp_path: Path) -> None:
    here, far = both(server, tmp_path, "same", in_flight=2)
    rng = random.Random(1)
    assert far.spec == here.spec

    def same(a: Any, b: Any) -> None:
        strip = ("asked", "until", "at", "age", "key", "request", "part", "seq")

        def plain(value: Any) -> Any:
            if isinstance(value, Alarm):
                value = value.to_dict()  # a service sends the sentence, not what it is made of
            elif hasattr(value, "__dataclass_fields__"):
                value = {name: getattr(value, name) for name in value.__dataclass_fields__}
            if isinstance(value, dict):
                return {k: plain(v) for k, v in value.items() if k not in strip or isinstance(v, (list, tuple))}
            return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value

        assert plain(a) == plain(b)

    acts: list[Callable[[Any], Any]] = [
        lambda s: s.ask(),
        lambda s: s.tell(0, arm="letter", reward=1),
        lambda s: s.tell(0, arm="letter", reward=1),
        lambda s: s.correct(0, arm="letter", reward=0, reason="typo"),
        lambda s: s.void(0, reason="twice"),
        lambda s: s.add_mediator("West", policy={"letter": 0.5, "call": 0.5}, contact="w"),
        lambda s: s.declare("West"),
        lambda s: s.declare("West", {"call"}),
        lambda s: s.away("West"),
        lambda s: s.back("West"),
        lambda s: s.retire("West"),
        lambda s: s.rename("South", "Sud"),
        lambda s: s.note("hello"),
        lambda s: s.pause(),
        lambda s: s.resume(),
        lambda s: s.cancel(s.pending()[0]),
    ]
    for act in acts:
        same(act(far), act(here))
    while far.status().state == "running":
        query = far.pending()[0]
        arm = rng.choice(["letter", "call"])
        reward = int(rng.random() < (0.95 if arm == "letter" else 0.05))
        same(far.tell(query, arm=arm, reward=reward), here.tell(query.id, arm=arm, reward=reward))
    same(far.status(), here.status())
    assert far.status().sentence.startswith("The best of the arms") or "letter" in far.status().sentence
    same(list(far.events()), list(here.events()))
    assert [event["seq"] for event in far.events(3, 4)] == [4, 5, 6, 7]
    assert far.overdue() == []
    here.close()


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (lambda s: s.tell(0, arm="call", reward=1), gb.ConflictError),
        (lambda s: s.tell(99, arm="call", reward=1), gb.StudyError),
        (lambda s: s.tell(1, arm="fax", reward=1), gb.StudyError),
        (lambda s: s.tell(1, arm="call", reward=7), gb.StudyError),
        (lambda s: s.ask(0), gb.StudyError),
        (lambda s: s.note("  "), gb.StudyError),
        (lambda s: s.note("x", key=""), gb.StudyError),
        (lambda s: s.void(1, reason="x"), gb.StudyError),
        (lambda s: s.tell(mediator="North", arm="call", reward=1), gb.ConflictError),
    ],
)
def test_refusals_are_the_same(server: Running, tmp_path: Path, act: Any, kind: type[Exception]) -> None:
    here, far = both(server, tmp_path, f"refusals-{len(server.studies.all())}")
    said, each = [], (here, far)
    for study in each:
        study.ask(2)
        study.tell(0, arm="letter", reward=1)
        study.tell(mediator="North", arm="call", reward=1)
        with pytest.raises(kind) as caught:
            act(study)
        said.append((type(caught.value), str(caught.value).replace("1 s ago", "0 s ago")))
    assert said[0] == said[1]
    here.close()


def test_an_answer_that_got_lost_is_tried_again_and_done_once(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    far = gb.Client(server.base, server.access.first, "far")
    once, attempts = far._once, []

    def lossy(*request: Any) -> dict[str, Any]:
        answer = once(*request)
        attempts.append(request)
        if len(attempts) % 2:
            lost = gb.StoreError("the answer got lost")
            lost.passing = True
            raise lost
        return answer

    monkeypatch.setattr(far, "_once", lossy)
    (query,) = far.ask()
    assert query.new
    receipt = far.tell(query, arm="letter", reward=1)
    assert receipt.recorded  # though the first attempt had recorded it: only its acknowledgement was lost
    assert far.tell(query, arm="letter", reward=1, key="mine").recorded is False
    assert len(attempts) == 6
    assert [event["kind"] for event in server.studies.find("far").study("x").events()] == ["asked", "told"]


def test_mistakes_are_sentences(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gobetween.study.client.PATIENCE", 0.1)
    with pytest.raises(gb.StudyError, match="write the address of a server"):
        gb.Client("localhost:8177", "x")
    with pytest.raises(gb.StudyError, match="the token is missing or not valid"):
        gb.Client(server.base, "gb_wrong", "far").status()
    with pytest.raises(gb.StudyError, match="there is no study 'none' here"):
        gb.Client(server.base, server.access.first, "none").status()
    with pytest.raises(gb.StoreError, match="does not answer"):
        gb.Client("http://127.0.0.1:1", "x", "far").ask()
    with pytest.raises(gb.StudyError, match=r"actor: must be of printable ASCII"):
        gb.Client(server.base, server.access.first, "far", actor="ü\n").ask()
    with pytest.raises(gb.StudyError, match="cannot be sent as JSON"):
        gb.Client(server.base, server.access.first, "far").tell(0, arm="letter", reward=float("nan"))


def test_a_proxy_whose_server_is_away_is_tried_again_under_the_same_key() -> None:
    keys: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            keys.append(self.headers["idempotency-key"])
            status, body = (200, b'{"format": 1, "queries": []}') if len(keys) > 2 else (502 + 2 * (len(keys) - 1), b"<html>")
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        with gb.Client(f"http://127.0.0.1:{server.server_port}", "token", "study") as client:
            assert client.ask() == []
        server.shutdown()
        thread.join()
    assert len(keys) == 3
    assert len(set(keys)) == 1
