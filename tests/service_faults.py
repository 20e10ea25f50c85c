"""A server as a process of its own, many clients, and what happens when it is killed; used small in tests and large in stress."""

import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from children import child, line_of

import gobetween as gb
from gobetween.study.tokens import new_token

ARMS = ["a", "b", "c", "d"]
POLICIES = {"w": [0.1, 0.8, 0.1, 0.0], "x": [0.0, 0.1, 0.8, 0.1], "y": [0.0, 0.1, 0.1, 0.8], "z": [0.2, 0.0, 0.4, 0.4]}


def new_store(where: str) -> str:
    """A study that does not stop soon; returns a token for its administrator."""
    spec = gb.StudySpec(ARMS, POLICIES, family="bernoulli", delta=1e-9)
    with gb.Study.create(where, spec) as study:
        return new_token(study, None, None)[0]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server:
    """A process that serves a store."""

    where: str
    port: int
    process: subprocess.Popen[str] | None = None
    held: ExitStack = field(default_factory=ExitStack)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Until it listens."""
        command = [sys.executable, "-m", "gobetween", "serve", "--store", self.where, "--port", str(self.port)]
        self.process = self.held.enter_context(child(command, stdout=subprocess.PIPE))
        line = line_of(self.process)
        assert line.startswith("serving at"), line

    def kill(self, how: int = signal.SIGKILL) -> None:
        """By a signal; whatever it takes, it is gone then."""
        assert self.process is not None
        with self.held:
            self.process.send_signal(how)
            self.process.wait(30)


@contextmanager
def serving(*places: str) -> Iterator[list[Server]]:
    """A server for each of these stores."""
    made = [Server(where, free_port()) for where in places]
    try:
        for server in made:
            server.start()
        yield made
        for server in made:
            server.kill(signal.SIGTERM)
    finally:
        for server in made:
            server.held.close()


@dataclass
class History:
    """What clients were told: each query once, each acknowledged answer."""

    asked: list[int] = field(default_factory=list)
    told: dict[int, tuple[str, float]] = field(default_factory=dict)
    when: dict[int, float] = field(default_factory=dict)
    """When each answer was acknowledged."""
    looks: int = 0
    unseen: list[int] = field(default_factory=list)
    """Queries of which a read shows another state than was acknowledged, to whomever, before it began."""


def work(client: gb.Client, number: int, tells: int, seen: History, look: int = 10) -> None:
    rng = random.Random(number)
    with client:
        for i in range(tells):
            (query,) = client.ask()
            seen.asked.append(query.id)
            if look and i % look == 0:
                look_around(client, query.id, seen)
            arm = rng.choices(ARMS, POLICIES[query.mediator])[0]
            reward = float(rng.random() < 0.5)
            assert client.tell(query, arm=arm, reward=reward).recorded
            seen.told[query.id], seen.when[query.id] = (arm, reward), time.monotonic()


def look_around(client: gb.Client, own: int, seen: History) -> None:
    """What was acknowledged before a read began is in it: one's own open query is there, and nobody's answered one is."""
    since = time.monotonic()
    pending = {one.id for one in client.pending()}
    seen.looks += 1
    seen.unseen += [number for number in pending if seen.when.get(number, since) < since]
    seen.unseen += [] if own in pending else [own]


def many_clients(urls: list[str], token: str, clients: int, tells: int, seen: History, look: int = 10) -> None:
    """All at once; whatever one of them raises is raised here."""
    failed = list[BaseException]()

    def run(number: int) -> None:
        try:
            work(gb.Client(urls[number % len(urls)], token, "study"), number, tells, seen, look)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def check_history(where: str, seen: History) -> None:
    """Every query was given to one client, every acknowledged answer is there once and as it was told, and reads show it."""
    with gb.Study.open(where) as study:
        rows = {row["query"]: (row["arm"], row["reward"]) for row in study.export() if row["status"] == "told"}
        told = [event["query"] for event in study.events() if event["kind"] == "told"]
        assert len(seen.asked) == len(set(seen.asked))
        assert rows == seen.told
        assert sorted(told) == sorted(seen.told)
        assert seen.unseen == []
        assert seen.looks > 0
        assert study.doctor() == []


def kill_servers(where: str, clients: int, tells: int, kills: int, servers: int = 1) -> int:
    """Servers are killed while clients ask and tell, evenly over all their answers; returns how many were acknowledged."""
    token, seen = new_store(where), History()
    over, rng, killed = threading.Event(), random.Random(7), 0

    def reaper(running: list[Server]) -> None:
        nonlocal killed
        while killed < kills and not over.is_set():
            until = clients * tells * (killed + rng.uniform(0.5, 1.0)) / (kills + 1)
            while len(seen.told) < until and not over.wait(0.002):
                pass
            one = rng.choice(running)
            one.kill()
            killed += 1
            one.start()

    with serving(*[where] * servers) as running:
        thread = threading.Thread(target=reaper, args=(running,))
        thread.start()
        try:
            many_clients([server.url for server in running], token, clients, tells, seen)
        finally:
            over.set()
            thread.join()
    assert killed == kills
    check_history(where, seen)
    return len(seen.told)
