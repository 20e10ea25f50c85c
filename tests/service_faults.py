"""A server as a process of its own, many clients, and what happens when it is killed; used small in tests and large in stress."""

import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

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

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Until it listens."""
        command = [sys.executable, "-m", "gobetween", "serve", "--store", self.where, "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("serving at"), line

    def kill(self, how: int = signal.SIGKILL) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def serving(where: str) -> Iterator[Server]:
    made = Server(where, free_port())
    made.start()
    yield made
    made.kill(signal.SIGTERM)


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


def many_clients(urls: list[str], token: str, clients: int, tells: int, look: int = 10) -> History:
    """All at once; whatever one of them raises is raised here."""
    seen, failed = History(), list[BaseException]()

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
    return seen


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


def kill_servers(where: str, clients: int, tells: int, kills: int, servers: int = 1, every: float = 1.0) -> int:
    """Servers are killed while clients ask and tell; returns how many answers were acknowledged."""
    token = new_store(where)
    running, over = [Server(where, free_port()) for _ in range(servers)], threading.Event()
    for server in running:
        server.start()
    rng, killed = random.Random(7), 0

    def reaper() -> None:
        nonlocal killed
        while killed < kills and not over.wait(every * rng.uniform(0.5, 1.5)):
            one = rng.choice(running)
            one.kill()
            killed += 1
            one.start()

    thread = threading.Thread(target=reaper)
    thread.start()
    try:
        seen = many_clients([server.url for server in running], token, clients, tells)
    finally:
        over.set()
        thread.join()
        for server in running:
            server.kill(signal.SIGTERM)
    assert killed >= min(kills, 1)
    check_history(where, seen)
    return len(seen.told) if killed == kills else -killed
