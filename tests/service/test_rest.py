"""REST: the commands of a study, with the same answers and the same refusals as in Python."""

import asyncio
import io
import json
import re
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from memory_store import Memory
from reminder_parts import hook
from service_parts import Running, running, spec
from study_parts import Clock

import gobetween as gb
from gobetween.service.metrics import numbers_of
from gobetween.service.request import StudyRequest
from gobetween.service.run import delivering
from gobetween.service.studies import ServedStudy, Studies, slug_of
from gobetween.study.commands.command_queue import CommandQueue, QueuedCommand
from gobetween.study.commands.commands import command_of
from gobetween.study.commands.verbs import VERBS, Ask, Tell

STUDY = "/api/v1/studies/study"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = str(tmp_path_factory.mktemp("service") / "s.sqlite")
    for name in ("study", "a/b ü"):
        gb.Study.create(path, spec(), name).close()
    with running(store=path) as made:
        yield made


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as made:
        yield made


def new(server: Running, name: str, **changes: Any) -> str:
    """A study of one's own; its address."""
    assert server.studies.makes is not None
    server.studies.makes.create(name, spec(**changes).to_dict(), {})
    return f"/api/v1/studies/{slug_of(name)}"


def test_from_the_first_query_to_the_answer(server: Running, client: httpx.Client) -> None:
    at = new(server, "whole")
    for _ in range(40):
        (query,) = client.post(f"{at}/ask", json={}).json()["queries"]
        for i, arm in enumerate(("letter", "call")):
            body = {"query": query["id"], "arm": arm, "reward": 1 - i}
            if i == 0:
                receipt = client.post(f"{at}/tell", json=body, headers={"Idempotency-Key": f"k{query['id']}"})
                assert receipt.json()["recorded"] is True
            else:
                client.post(f"{at}/tell", json=body | {"query": None, "mediator": "North", "again": True}).raise_for_status()
        if client.get(at).json()["verdict"] is not None:
            break
    status = client.get(at).json()
    assert status["sentence"] == "The best arm is 'letter'; this is wrong with probability at most 5%."
    refused = client.post(f"{at}/ask", json={})
    assert refused.status_code == 422
    assert refused.json()["error"]["sentence"].endswith("POST resume to keep asking")
    seen, after = 0, 0
    while page := client.get(f"{at}/events", params={"after": after, "limit": 7}).json():
        if not page["events"]:
            break
        seen, after = seen + len(page["events"]), page["next"]
    assert seen == status["events"]
    assert page["next"] == after  # whoever asks again gets what comes, not what was
    assert len(client.get(f"{at}/export.csv").text.splitlines()) == status["queries"] + 1
    assert [json.loads(line)["seq"] for line in client.get(f"{at}/export.jsonl").text.splitlines()] == list(range(1, seen + 1))
    with zipfile.ZipFile(io.BytesIO(client.get(f"{at}/report.zip").content)) as archive:
        assert "report.html" in archive.namelist()
    found = server.studies.find("whole")
    assert found.study("x").doctor() == []


def test_every_command_is_there_and_a_key_makes_it_safe_to_repeat(server: Running, client: httpx.Client) -> None:
    at = new(server, "commands")
    client.post(f"{at}/ask", json={"n": 3}).raise_for_status()
    told = [
        ("tell", {"query": 0, "arm": "letter", "reward": 1}),
        ("correct", {"query": 0, "arm": "letter", "reward": 0, "reason": "typo"}),
        ("void", {"query": 0, "reason": "twice"}),
        ("cancel", {"query": 1}),
        ("away", {"mediator": "North"}),
        ("back", {"mediator": "North"}),
        ("pause", None),
        ("resume", None),
        ("note", {"text": "hello"}),
        ("add-mediator", {"mediator": "West", "policy": {"letter": 0.2, "call": 0.8}}),
        ("declare", {"mediator": "West", "policy": ["call"]}),
        ("rename", {"old": "West", "new": "East"}),
        ("retire", {"name": "East"}),
    ]
    for verb, body in told:
        first, again = (client.post(f"{at}/{verb}", json=body, headers={"Idempotency-Key": f"key-{verb}"}) for _ in range(2))
        assert (first.status_code, first.json()["recorded"]) == (200, True), (verb, first.text)
        assert (again.status_code, again.json()["recorded"]) == (200, False), verb
        other = client.post(f"{at}/note", json={"text": "other"}, headers={"Idempotency-Key": f"key-{verb}"})
        assert other.status_code == 409, verb
    kinds = [event["kind"] for event in client.get(f"{at}/events").json()["events"]]
    assert kinds == ["asked"] * 3 + [
        "told", "corrected", "voided", "cancelled", "away", "available", "paused", "resumed", "note", "added", "declared", "edited", "retired"
    ]  # fmt: skip
    assert client.get(f"{at}/spec").json()["spec"]["mediators"] == ["North", "South", "East"]
    assert [query["id"] for query in client.get(f"{at}/pending").json()["queries"]] == [2]
    assert client.get(f"{at}/overdue").json()["queries"] == []


def test_a_study_is_made(client: httpx.Client) -> None:
    study = {"arms": [{"name": "a"}, {"name": "b"}], "mediators": [{"name": "x"}]}
    made = client.post("/api/v1/studies", json={"name": "made", "study": study})
    assert (made.status_code, made.json()["study"]) == (201, "made")
    assert client.post("/api/v1/studies/made/ask", json={}).status_code == 200
    for body, status, words in (
        ({"name": "made", "study": study}, 422, "already has a study 'made'"),
        ({"name": " ", "study": study}, 422, "a study needs a short name"),
        ({"name": "x", "study": study | {"delta": 3}}, 422, "delta = 3"),
        ({"name": "x", "study": {}}, 422, "arms is missing"),
    ):
        refused = client.post("/api/v1/studies", json=body)
        assert refused.status_code == status
        assert words in refused.json()["error"]["sentence"]


def test_metrics_and_the_openapi_document_are_there(client: httpx.Client) -> None:
    text = client.get("/api/v1/metrics").text
    assert 'gobetween_events_total{study="study"} ' in text
    assert 'gobetween_requests_total{status="200"} ' in text
    assert all(re.fullmatch(r"# (HELP|TYPE) .+|[a-z_]+(\{\w+=\".*\"\})? [0-9.e+-]+(inf)?", line) for line in text.splitlines())
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    assert "/api/v1/studies/{study}/tell" in paths
    assert not any(path.startswith(("/inbox", "/studies", "/enter")) for path in paths)


def test_metrics_are_the_numbers_of_the_study() -> None:
    """Each is another one, so that none stands under the name of its neighbour."""
    clock = Clock()
    store = Memory(clock)
    store.create("s", spec(lease="1h", wait_for="lease").to_dict(), {})
    study = gb.Study(store, "s", "test")
    first = study.ask(7)
    for query in first[:2]:
        study.tell(query, arm="letter", reward=1)
    clock.now += 4000.0  # the leases of five end
    study.ask(4)
    found, evidence = numbers_of(study), study.look()[0].learner.evidence()
    assert found["overdue_queries"] == len(study.overdue())
    assert found["open_queries"] == len(study.pending())
    assert len({found[name] for name in ("overdue_queries", "open_queries", "counted_answers", "queries_total")}) == 4
    assert found["counted_answers"] == study.status().counted
    assert found["queries_total"] == study.look()[0].learner.issued
    assert found["events_total"] == len(list(study.events()))
    assert (found["evidence_nats"], found["threshold_nats"]) == (evidence.statistic, evidence.threshold)


def test_names_stand_in_addresses(client: httpx.Client) -> None:
    slugs = {one["name"]: one["study"] for one in client.get("/api/v1/studies").json()["studies"]}
    assert slugs["study"] == "study"
    assert client.get(f"/api/v1/studies/{slugs['a/b ü']}").json()["name"] == "a/b ü"


@pytest.mark.parametrize(
    ("verb", "body", "status", "words"),
    [
        ("tell", {"query": 0, "arm": "letter", "reward": "x"}, 422, "reward = 'x': should be a valid number"),
        ("tell", {"query": "0", "arm": "letter"}, 422, "query = '0': should be a valid integer"),
        ("tell", {"querry": 0}, 422, "querry = 0: extra inputs are not permitted"),
        ("tell", {}, 422, "name the query that is answered, or the mediator who answered without being asked"),
        ("tell", {"query": 99, "arm": "letter", "reward": 1}, 422, "query 99 was never asked in this study"),
        ("tell", {"query": 10**40, "silent": True}, 422, "query 1"),
        ("correct", {"query": 0, "arm": "letter", "reward": 1}, 422, "reason is missing: send it"),
        ("tell", [1], 422, "the body must be a JSON object"),
        ("tell", None, 422, "the body is missing: send it"),
        ("away", {"mediator": "Nobody"}, 422, "mediator 'Nobody' is not known: choose one of 'North', 'South'"),
        ("ask", {"n": 0}, 422, "n = 0: ask for 1 to 10,000 queries"),
        ("note", {"text": "x" * 300_000}, 413, "the request is larger than 262,144 bytes: send less at a time"),
        ("note", {"text": "nul \x00"}, 422, "without NUL"),
    ],
)
def test_what_is_refused_is_one_sentence_and_changes_nothing(
    client: httpx.Client, verb: str, body: Any, status: int, words: str
) -> None:
    before = client.get(STUDY).json()["events"]
    refused = client.post(f"{STUDY}/{verb}", json=body)
    assert (refused.status_code, refused.headers["content-type"]) == (status, "application/json")
    assert words in refused.json()["error"]["sentence"]
    assert client.get(STUDY).json()["events"] == before


def test_broken_json_and_strange_addresses_are_sentences(client: httpx.Client) -> None:
    for method, path, status in (
        ("GET", "/api/v1/studies/none", 404),
        ("GET", "/api/v1/nowhere", 404),
        ("DELETE", STUDY, 405),
        ("GET", f"{STUDY}/events?after=-1", 422),
        ("GET", f"{STUDY}/events?limit=x", 422),
    ):
        answer = client.request(method, path)
        assert answer.status_code == status, path
        assert "\n" not in answer.json()["error"]["sentence"]
    broken = client.post(f"{STUDY}/tell", content=b'{"query": NaN', headers={"content-type": "application/json"})
    assert (broken.status_code, broken.json()["error"]["kind"]) == (422, "ProblemError")
    chunked = client.post(f"{STUDY}/note", content=(b"x" * 1000 for _ in range(300)))
    assert chunked.status_code == 413
    text = "long " * 1_900  # what comes in many pieces is one body
    body, sent = json.dumps({"text": text}).encode(), {"content-type": "application/json"}
    whole = client.post(f"{STUDY}/note", content=(body[i : i + 999] for i in range(0, len(body), 999)), headers=sent)
    assert whole.status_code == 200, whole.text
    assert whole.json()["recorded"] is True


def test_many_clients_share_transactions_and_nothing_is_lost_or_doubled(server: Running) -> None:
    at = new(server, "many", delta=1e-9)
    told: list[int] = []

    def work(number: int) -> None:
        with server.client() as own:
            for i in range(6):
                (query,) = own.post(f"{at}/ask", json={}).json()["queries"]
                body = {"query": query["id"], "arm": "letter", "reward": i % 2}
                for again in range(2):
                    receipt = own.post(f"{at}/tell", json=body, headers={"Idempotency-Key": f"{number}-{i}"}).json()
                    assert receipt["recorded"] is (again == 0)
                refused = own.post(f"{at}/tell", json=body | {"arm": "call"})  # one that is refused spoils no others
                assert refused.status_code == 409
                told.append(query["id"])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == list(range(48))
    study = server.studies.find("many").study("x")
    assert [row["status"] for row in study.export()] == ["told"] * 48
    assert study.doctor() == []


def test_what_waits_together_is_done_together(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction for all; one that is refused changes nothing, and a key is used once, however close two are."""
    study = gb.Study.create(where, spec(delta=1e-9))
    study.queue = queue = CommandQueue(study.store, "study")
    study.ask(6)
    done, opened, writing = list[list[QueuedCommand[Any]]](), list[str](), study.store.writing

    def counted(name: str) -> Any:
        opened.append(name)
        return writing(name)

    monkeypatch.setattr(study.store, "writing", counted)

    def together(*told: tuple[int, str, float, str]) -> list[Any]:
        made: list[QueuedCommand[Any]] = [
            QueuedCommand(command_of(Tell(number, arm=arm, reward=reward, key=key)), "me", done.append)
            for number, arm, reward, key in told
        ]
        opened.clear()
        with queue._turn:
            for job in made:
                queue.submit(job)
        queue._worker.submit(lambda: None).result(20)
        return made

    found = together((0, "letter", 1.0, "a"), (1, "call", 0.0, "b"), (2, "letter", 0.0, "c"))
    assert ([one.value.recorded for one in found], len(opened)) == ([True] * 3, 1)
    found = together((3, "letter", 1.0, "d"), (3, "letter", 1.0, "d"), (4, "call", 1.0, "e"))
    assert ([one.value.recorded for one in found], len(opened)) == ([True, False, True], 2)
    found = together((5, "letter", 1.0, "f"), (0, "call", 1.0, "g"), (99, "call", 1.0, "h"))
    assert found[0].value.recorded
    assert [type(one.error) for one in found] == [type(None), gb.ConflictError, gb.StudyError]
    assert sum(len(batch) for batch in done) == 9
    assert [row["status"] for row in study.export()] == ["told"] * 6
    assert [event["key"] for event in study.events() if event["kind"] == "told"] == ["a", "b", "c", "d", "e", "f"]
    study.ask()
    assert study.doctor() == []
    study.close()


def test_whoever_has_gone_leaves_nobody_waiting_who_shared_the_transaction(where: str) -> None:
    study = gb.Study.create(where, spec(delta=1e-9))
    study.ask(3)
    queue = CommandQueue(study.store, "study")
    on = StudyRequest(ServedStudy("study", "study", study.store, queue), study)

    async def together() -> list[Any]:
        with queue._turn:
            waiting = [asyncio.ensure_future(on.run(command_of(Tell(n, arm="letter", reward=1.0)))) for n in range(3)]
            while queue.waiting < 3:
                await asyncio.sleep(0)
            waiting[0].cancel()
            with suppress(asyncio.CancelledError):
                await waiting[0]
        return await asyncio.wait_for(asyncio.gather(*waiting[1:]), 20)

    assert [receipt.recorded for receipt in asyncio.run(together())] == [True, True]
    assert [row["status"] for row in study.export()] == ["told"] * 3
    study.close()


def test_an_inbox_has_the_last_answers_and_the_arms_that_are_left(tmp_path: Path) -> None:
    path, three = str(tmp_path / "s.sqlite"), gb.StudySpec(["letter", "call", "visit"], {"North": None}, family="bernoulli")
    with gb.Study.create(path, three, "study") as study:
        for n in range(13):
            study.tell(mediator="North", arm=("letter", "call", "visit")[n % 3], reward=1, again=True)
        study.retire("visit", what="arm")
    with running(store=path) as made, made.client(made.token("North")) as client:
        box = client.get("/api/v1/inbox").json()
    assert box["arms"] == ["letter", "call"]
    given = [(n, ("letter", "call", "visit")[n % 3]) for n in range(12, 2, -1)]
    assert [(one["query"], one["arm"]) for one in box["given"]] == given


def test_what_got_lost_on_its_way_to_the_store_is_done_anew_from_the_log(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = gb.Study.create(where, spec(delta=1e-9))
    study.queue = CommandQueue(study.store, "study")
    study.ask(3)
    writing, attempts = study.store.writing, list[str]()

    @contextmanager
    def flaky(name: str) -> Iterator[Any]:
        with writing(name) as record:
            yield record
            attempts.append(name)
            if len(attempts) % 2:
                lost = gb.StoreError("the server went away")
                lost.passing = True
                raise lost

    monkeypatch.setattr(study.store, "writing", flaky)
    for number in range(3):
        receipt = study.tell(number, arm="letter", reward=1)
        assert (receipt.recorded, receipt.late) == (True, False)
    monkeypatch.undo()
    assert len(attempts) == 6
    assert [event["kind"] for event in study.events()] == ["asked"] * 3 + ["told"] * 3
    assert study.doctor() == []
    study.close()


def test_a_queue_follows_what_others_write(where: str) -> None:
    """Two processes over one store: each finds in the log what the other has done."""
    plain = gb.Study.create(where, spec(delta=1e-9))
    one, two = (gb.Study.open(where, actor=actor) for actor in ("one", "two"))
    one.queue, two.queue = CommandQueue(one.store, "study"), CommandQueue(two.store, "study")
    for i in range(12):
        asker, teller = ((one, two), (two, plain), (plain, one))[i % 3]
        (query,) = asker.ask()
        assert query.id == i
        teller.tell(query, arm="letter", reward=i % 2)
    with pytest.raises(gb.ConflictError, match="was answered before"):
        one.tell(0, arm="call", reward=1)
    one.tell(mediator="South", arm="call", reward=1)
    assert plain.doctor() == []
    assert plain.status().told == 13
    for study in (plain, one, two):
        study.close()


def test_a_cached_state_is_dropped_when_the_log_is_another(tmp_path: Path) -> None:
    """A store that was replaced by another of the same length."""
    study = gb.Study.create(tmp_path / "s.sqlite", spec())
    study.queue = queue = CommandQueue(study.store, "study")
    study.ask(3)
    other = gb.Study.create(tmp_path / "other.sqlite", spec(seed=5))
    other.ask(2)
    other.away("North")
    queue.store = other.store
    study.tell(0, arm="letter", reward=1)
    assert other.doctor() == []
    study.close()
    other.close()


def test_a_command_is_not_taken_from_afar(server: Running, client: httpx.Client) -> None:
    arms, mediators = [{"name": "a"}, {"name": "b"}], [{"name": "x"}]
    body = {"name": "afar", "study": {"arms": arms, "mediators": mediators, "notify": {"command": ["true"]}}}
    refused = client.post("/api/v1/studies", json=body)
    assert (refused.status_code, refused.json()["error"]["what"].split(":")[0]) == (403, "notify.command")
    assert "afar" not in [one["name"] for one in client.get("/api/v1/studies").json()["studies"]]


def test_a_server_delivers_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gobetween.service.run.POLL", 0.05)
    path = str(tmp_path / "s.sqlite")
    gb.Study.create(path, spec(notify={"webhook": "GOBETWEEN_HOOK"}), "study").close()
    with hook() as receiver:
        monkeypatch.setenv("GOBETWEEN_HOOK", receiver.url)
        monkeypatch.setenv("GOBETWEEN_HOOK_SECRET", "whisper")
        home = Studies(store=path)
        with closing(home), delivering(home):
            home.find("study").study("me").ask()
            deadline = time.monotonic() + 20
            while not receiver.got and time.monotonic() < deadline:
                time.sleep(0.02)
    assert [(body["event"], body["study"]) for body in receiver.bodies] == [("waiting", "study")]


#: Verb, body, headers → status and words, in this order on one study.
SENT: list[tuple[str, bytes, dict[str, str], int, str]] = [
    ("ask", b"{}", {}, 200, '"queries": [{"id": 0'),
    ("ask", b'{"n": 2}', {"idempotency-key": "k", "x-actor": "me"}, 200, '"new": true'),
    ("ask", b'{"n": 2}', {"idempotency-key": "k"}, 200, '"new": false'),
    ("ask", b'{"n": 3}', {"idempotency-key": "k"}, 409, "key 'k' was used before for something else"),
    ("ask", b'{"n": "3"}', {}, 422, "n = '3': should be a valid integer"),
    ("ask", b'{"m": 3}', {}, 422, "m = 3: extra inputs are not permitted"),
    ("ask", b"", {}, 422, "the body is missing: send it"),
    ("ask", b"[]", {}, 422, "the body must be a JSON object: send one, with Content-Type: application/json"),
    ("ask", b"{", {}, 422, "the body must be a JSON object"),
    ("ask", b"\xff", {}, 422, "the body must be a JSON object"),
    ("ask", b"{}", {"content-type": "text/plain"}, 422, "with Content-Type: application/json"),
    ("ask", b"{}", {"content-type": "Application/JSON; charset=utf-8"}, 200, "queries"),
    ("ask", b"{}", {"idempotency-key": "x" * 401}, 422, "Idempotency-Key: must be a text of at most 400 characters"),
    ("ask", b"{}", {"x-actor": "x" * 201}, 422, "X-Actor: must be a text of at most 200 characters"),
    ("tell", b'{"query": 0, "arm": "letter", "reward": 1}', {}, 200, '"recorded": true'),
    ("tell", b'{"query": 0, "arm": "letter", "reward": 1.0}', {}, 200, '"recorded": false'),
    ("tell", b'{"query": 0, "arm": "letter", "reward": 0}', {}, 409, "query 0 was answered before"),
    ("tell", b'{"query": 1, "arm": "lettre", "reward": 0}', {}, 422, "arm 'lettre' is not known"),
    ("tell", b'{"query": 1, "arm": "letter", "reward": NaN}', {}, 422, "reward = nan: should be a finite number"),
    ("tell", b'{"query": 1, "arm": "letter", "reward": true}', {}, 422, "reward = true: should be a valid number"),
    ("tell", b'{"query": 1, "silent": true}', {}, 200, '"recorded": true'),
    ("tell", b'{"mediator": "South", "arm": "call", "reward": 1}', {"idempotency-key": "auto-1"}, 200, '"recorded": true'),
    ("tell", b'{"mediator": "South", "arm": "call", "reward": 1}', {"idempotency-key": "auto-1"}, 200, '"recorded": true'),
    ("tell", b'{"mediator": "South", "arm": "call", "reward": 1}', {"idempotency-key": "auto-2"}, 409, "said the same"),
    ("tell", b"[" * 3000, {}, 422, "the body must be a JSON object"),
    ("tell", b"x" * 300_000, {}, 413, "larger than"),
    ("note", b'{"text": "%s"}' % (b"x" * 10_001), {}, 422, "string should have at most 10000 characters"),
    ("retire", b'{"name": "North", "what": "leg"}', {}, 422, "what = 'leg': should be 'mediator' or 'arm'"),
    ("add-mediator", b'{"mediator": "East", "policy": [0.5, "x"]}', {}, 422, "policy"),
    ("declare", b'{"mediator": "North", "policy": [0.5, 0.9]}', {}, 422, "sums to 1.4"),
    ("pause", b"", {"content-type": "text/plain"}, 200, '"recorded": true'),
    ("resume", b"{}", {}, 200, '"recorded": true'),
]  # fmt: skip


def test_what_is_sent_is_taken_or_refused(server: Running, client: httpx.Client) -> None:
    at = new(server, "sent")
    for verb, body, headers, status, words in SENT:
        answer = client.post(f"{at}/{verb}", content=body, headers={"content-type": "application/json"} | headers)
        assert answer.status_code == status, (verb, body[:99], answer.text)
        assert words in (answer.text if status == 200 else answer.json()["error"]["sentence"]), (verb, body[:99], answer.text)


def test_the_document_describes_what_verbs_take(client: httpx.Client) -> None:
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    for word, verb in VERBS.items():
        route = paths[f"/api/v1/studies/{{study}}/{word}"]["post"]
        assert route["description"].startswith(verb.summary())
        assert [one["name"] for one in route["parameters"]] == ["study", "X-Actor", "Idempotency-Key"]
    told = paths["/api/v1/studies/{study}/tell"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert told["properties"]["reward"]["anyOf"] == [{"type": "number"}, {"type": "null"}]
    assert told["properties"]["arm"]["description"] == "The arm that was pulled."
    corrected = paths["/api/v1/studies/{study}/correct"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert sorted(corrected["required"]) == ["query", "reason"]
    own = paths["/api/v1/inbox/tell"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert (own["required"], "mediator" in own["properties"]) == (["query"], False)


def test_what_breaks_is_one_sentence(server: Running, client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("gone wrong")

    monkeypatch.setattr("gobetween.service.request.StudyRequest.run", broken)
    answer = client.post(f"{STUDY}/ask", json={})
    assert (answer.status_code, "this is a bug" in answer.text, "gone wrong" in answer.text) == (500, True, False)


def test_an_answer_that_is_sent_twice_at_once_is_taken_once() -> None:
    store = Memory(lambda: 1000.0)
    store.create("study", spec().to_dict(), {})
    verbs = [Tell(mediator="North", arm="letter", reward=1, key=key) for key in ("k", "k", "l")]
    done: list[QueuedCommand[Any]] = []
    queue = CommandQueue(store, "study")
    jobs = [QueuedCommand(command_of(verb), "me", done.extend) for verb in verbs]
    queue._waiting.extend(jobs)
    queue._drain()
    assert [job.result().recorded for job in jobs] == [True, False, True]
    assert len(done) == 3
    with store.reading("study") as record:
        assert [(event["kind"], event["key"]) for event in record.events()] == [("told", "k"), ("told", "l")]


def test_what_time_has_brought_is_recorded_before_the_first_new_command_of_a_transaction() -> None:
    now = [1000.0]
    store = Memory(lambda: now[0])
    store.create("study", spec(lease="1h").to_dict(), {})
    gb.Study(store, "study", "me").ask(key="k")
    now[0] += 3601
    batch = [QueuedCommand(command_of(Ask(key=key)), "me") for key in ("k", "l", "m")]
    CommandQueue(store, "study")._serve(batch)
    with store.reading("study") as record:
        kinds = [(event["kind"], event["key"]) for event in record.events()]
    assert [kind for kind, _ in kinds] == ["asked", "expired", "asked", "asked"]
    assert [key for _, key in kinds[2:]] == ["l", "m"]
    assert [one.error for one in batch] == [None] * 3
