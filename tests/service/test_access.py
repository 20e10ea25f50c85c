"""Who may do what: every route for everyone, and what else keeps strangers out."""

import hashlib
import hmac
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from service_parts import Running, running, spec
from starlette.routing import Route

import gobetween as gb
from gobetween.service import access
from gobetween.service.access import FAILURES, FRESH, Access
from gobetween.service.app import ROUTERS, make_app
from gobetween.service.run import address_of, origin_of
from gobetween.service.studies import Studies
from gobetween.study.tokens import listed, new_session, new_token, parts, revoke

EVERYONE = ("none", "wrong", "expired", "revoked", "mediator", "other", "admin", "elsewhere")
#: Who is let in: the status for each of EVERYONE, where 0 is whatever the route itself says.
OPEN = (0, 0, 0, 0, 0, 0, 0, 0)
ADMIN = (401, 401, 401, 401, 403, 403, 0, 0)  # of any store: what it sees is its own
STORE = (401, 401, 401, 401, 403, 403, 0, 403)  # of this store
OWN = (401, 401, 401, 401, 0, 0, 403, 403)  # whose token it is decides what it sees
PAGE, STORE_PAGE = (401,) * 6 + (0, 0), (401,) * 6 + (0, 403)  # no token is a session
BOX = (401, 401, 401, 401, 0, 403, 403, 403)  # the address names whose it is
PAGES = ("parts", "live", "events", "report", "report.html", "links", "budget", "export.csv", "export.jsonl")
ACTS = ("ask", "pause", "resume", "declare", "cancel", "succeed", "budget", "links/make", "links/revoke")
ROUTES = {
    "GET /api/v1/health": OPEN,
    "GET /enter": OPEN,
    "POST /enter": OPEN,
    "GET /static/{name}": OPEN,
    "POST /leave": PAGE,
    "GET /api/v1/openapi.json": ADMIN,
    "GET /api/v1/metrics": ADMIN,
    "GET /api/v1/studies": ADMIN,
    "POST /api/v1/studies": STORE,
    "GET /new": PAGE,
    "POST /new": STORE_PAGE,
    "GET /api/v1/studies/{study}": STORE,
    **{
        f"GET /api/v1/studies/{{study}}/{view}": STORE
        for view in ("spec", "pending", "overdue", "events", "export.csv", "export.jsonl", "report.zip")
    },
    **{
        f"POST /api/v1/studies/{{study}}/{verb}": STORE
        for verb in (
            "ask", "tell", "correct", "void", "cancel", "away", "back", "add-mediator", "declare", "retire", "rename", "pause", "resume", "note", "archive", "rename-study", "delete"
        )
    },
    "GET /api/v1/inbox": OWN,
    "POST /api/v1/inbox/tell": OWN,
    "POST /api/v1/inbox/correct": OWN,
    "GET /": PAGE,
    "GET /studies/{study}": STORE_PAGE,
    **{f"GET /studies/{{study}}/{view}": STORE_PAGE for view in PAGES},
    **{f"POST /studies/{{study}}/{verb}": STORE_PAGE for verb in ACTS},
    "GET /inbox/{id}": BOX,
    "POST /inbox/{id}/tell": BOX,
    "POST /inbox/{id}/correct": BOX,
}  # fmt: skip

#: What makes sense to a verb, for those who must be refused for another reason.
SENSE: dict[str, dict[str, Any]] = {
    "ask": {},
    "tell": {"query": 0, "silent": True},
    "correct": {"query": 0, "silent": True, "reason": "r"},
    "void": {"query": 0, "reason": "r"},
    "cancel": {"query": 0},
    "away": {"mediator": "North"},
    "back": {"mediator": "North"},
    "add-mediator": {"mediator": "West"},
    "declare": {"mediator": "North"},
    "retire": {"name": "North"},
    "rename": {"old": "North", "new": "West"},
    "note": {"text": "t"},
    "archive": {},
    "rename-study": {"name": "n"},
    "delete": {"name": "study"},
}
NEW = {"name": "new", "study": {"family": "bernoulli", "arms": [{"name": "a"}, {"name": "b"}], "mediators": [{"name": "x"}]}}


@dataclass
class Cast:
    server: Running
    tokens: dict[str, str]
    sessions: dict[str, str]
    """What browsers hold for pages of administrators; where nobody has logged in, the token."""

    def cookie(self, who: str, inbox: bool = False) -> str:
        port = self.server.base.rpartition(":")[2]
        return f"gobetween-inbox-{port}={self.tokens[who]}" if inbox else f"gobetween-{port}={self.sessions[who]}"


@pytest.fixture(scope="module")
def cast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cast]:
    path = str(tmp_path_factory.mktemp("access") / "s.sqlite")
    for name in ("study", "second"):
        gb.Study.create(path, spec(), name).close()
    elsewhere = str(tmp_path_factory.mktemp("elsewhere") / "s.sqlite")
    gb.Study.create(elsewhere, spec(), "elsewhere").close()
    with running(elsewhere, store=path) as server:
        study = server.studies.find("study").study("test")
        tokens = {"none": "", "wrong": new_token(study, "North", None)[0][:-2] + "AA", "admin": server.access.first}
        tokens |= {"mediator": new_token(study, "North", 30)[0], "other": new_token(study, "South", None)[0]}
        tokens["elsewhere"] = server.token(None, study="elsewhere")
        sessions = {name: server.cookie(tokens[name]).partition("=")[2] for name in ("admin", "elsewhere")}
        for name in ("expired", "revoked"):
            tokens[name], row = new_token(study, None, 1.0)
            sessions[name] = new_session(study.store, row.id, "admin")
            if name == "expired":
                study.store.keep_token(replace(row, expires=study.store.now() - 1.0))
            else:
                revoke(study.store, row.id)
        yield Cast(server, tokens, tokens | sessions)


def asked(cast: Cast, route: str, who: str) -> httpx.Response:
    method, path = route.split()
    own = (parts(cast.tokens["mediator"]) or ("",))[0]
    path = path.format(study="study", name="enter.js", id=own, number="0")
    origin = {"origin": cast.server.base}
    if path.startswith("/api/"):
        with cast.server.client(cast.tokens[who], **origin) as client:
            body = (
                NEW if route == "POST /api/v1/studies" else SENSE.get(path.rpartition("/")[2]) if who == "elsewhere" else None
            )
            return client.request(method, path, json=body)
    inbox = path.startswith("/inbox/")
    held = (cast.tokens if inbox else cast.sessions)[who]
    said = {
        "mediator": "North",
        "query": "0",
        "name": f"by {who}",
        "arm-0-name": "a",
        "arm-1-name": "b",
        "mediator-0-name": "x",
        "value": "Nobody",
    }
    form = {"proof": proof(held), **said} if method == "POST" else None
    client = cast.server.client("", **origin, cookie=cast.cookie(who, inbox))
    with client, client.stream(method, path, data=form) as answer:
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            return httpx.Response(answer.status_code)  # has no end
        answer.read()
        return answer


def proof(token: str) -> str:
    return hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()[:32]


def test_the_table_has_every_route(cast: Cast) -> None:
    app = make_app(cast.server.studies, cast.server.access, address_of(1, None))[0]
    found = {
        f"{method} {route.path}"
        for route in (*app.routes, *(route for router in ROUTERS for route in router.routes))
        if isinstance(route, Route)
        for method in (route.methods or ())
        if method != "HEAD"
    }
    assert found == set(ROUTES), "every route must stand in ROUTES, with who may use it"


@pytest.mark.parametrize("who", EVERYONE)
def test_every_route_for_everyone(cast: Cast, who: str) -> None:
    cast.server.access._failed.clear()
    for route, table in ROUTES.items():
        cast.server.access._failed.clear()
        if route == "POST /leave" and who in ("admin", "elsewhere"):  # ends the session
            kept = cast.sessions[who]
            cast.sessions[who] = cast.server.cookie(cast.tokens[who]).partition("=")[2]
        answer, expected = asked(cast, route, who), table[EVERYONE.index(who)]
        if route == "POST /leave" and who in ("admin", "elsewhere"):
            assert asked(cast, "GET /", who).status_code == 401
            cast.sessions[who] = kept
        if expected:
            assert answer.status_code == expected, (route, answer.text)
        elif route != "POST /enter":  # its token is in the body, and missing here
            allowed = (404,) if "/inbox/{id}/" in route else ()  # a query that is not one's own
            assert answer.status_code not in {401, 403, 404, 500} - set(allowed), (route, answer.text)


def test_whoever_may_make_studies_makes_them_in_its_own_store(cast: Cast) -> None:
    made = {served.name for served in cast.server.studies.all() if served.store is cast.server.studies.makes}
    assert made - {"study", "second"} <= {"new", "by admin"}


def test_headers_and_cookies_are_not_exchanged(cast: Cast) -> None:
    """A page of another place can make a browser send cookies: routes for programs do not look at them."""
    with cast.server.client("", cookie=cast.cookie("admin")) as client:
        assert client.get("/").status_code == 200
        assert client.get("/api/v1/studies").status_code == 401
    with cast.server.client(origin=cast.server.base) as client:
        assert client.post("/leave").status_code == 401


def test_a_form_must_carry_its_proof(cast: Cast) -> None:
    with cast.server.client("", origin=cast.server.base, cookie=cast.cookie("admin")) as client:
        before = cast.server.studies.find("study").study("x").look()[2]
        for form in (
            {},
            {"proof": "x"},
            {"proof": proof(cast.tokens["mediator"])},
            {"proof": "ü\ud800".encode("utf-8", "replace").decode()},
        ):
            refused = client.post("/studies/study/ask", data=form)
            assert refused.status_code == 403
            assert "reload the page" in refused.text
        assert cast.server.studies.find("study").study("x").look()[2] == before


def test_a_mediator_sees_its_own_and_nothing_else(cast: Cast) -> None:
    study = cast.server.studies.find("study").study("test")
    study.ask(6)
    asked = study.pending()
    own, others = ([query.id for query in asked if query.mediator == name] for name in ("North", "South"))
    with cast.server.client(cast.tokens["mediator"]) as client:
        box = client.get("/api/v1/inbox").json()
        assert [one["query"] for one in box["open"]] == own
        assert set(box) == {
            "format", "title", "mediator", "arms", "rewards", "choices", "silent", "open", "given", "over", "now",
            "question", "option", "outcome", "yes", "no",
        }  # fmt: skip
        for number in (*others, 99):  # what is another's is as if it were not there
            refused = client.post("/api/v1/inbox/tell", json={"query": number, "arm": "letter", "reward": 1})
            assert (refused.status_code, refused.json()["error"]["sentence"]) == (404, f"query {number} is not one of yours")
        for again in range(2):
            told = client.post("/api/v1/inbox/tell", json={"query": own[0], "arm": "letter", "reward": 1})
            assert told.json() == {"format": 1, "recorded": again == 0, "query": own[0], "late": False}
        body = {"query": own[0], "arm": "letter", "reward": 0, "reason": "misread"}
        assert client.post("/api/v1/inbox/correct", json=body).json()["recorded"]
        assert client.get("/api/v1/inbox").json()["given"] == [{"query": own[0], "arm": "letter", "reward": 0.0}]
    study.rename("North", "Nord")  # the token is for the mediator, whatever it is called
    with cast.server.client(cast.tokens["mediator"]) as client:
        assert client.get("/api/v1/inbox").json()["mediator"] == "Nord"
    study.rename("Nord", "North")
    assert [event["actor"] for event in study.events() if event["kind"] == "corrected"] == ["North"]


def test_the_key_of_a_mediator_is_its_own(cast: Cast) -> None:
    """A key that somebody else has used tells a mediator nothing."""
    study = cast.server.studies.find("study").study("test")
    study.note("secret", key="k")
    study.away("South")
    number = next(query.id for query in study.ask(1))
    study.back("South")
    with cast.server.client(cast.tokens["mediator"], **{"Idempotency-Key": "k"}) as client:
        assert client.post("/api/v1/inbox/tell", json={"query": number, "silent": True}).json()["recorded"]


def test_two_mediators_may_use_the_same_key(cast: Cast) -> None:
    """Such as "1", for the first answer of each."""
    study = cast.server.studies.find("study").study("test")
    for who, name, away in (("mediator", "North", "South"), ("other", "South", "North")):
        study.away(away)
        (query,) = study.ask()
        study.back(away)
        assert query.mediator == name
        with cast.server.client(cast.tokens[who], **{"Idempotency-Key": "1"}) as client:
            said = [client.post("/api/v1/inbox/tell", json={"query": query.id, "silent": True}) for _ in range(2)]
        assert [(answer.status_code, answer.json().get("recorded")) for answer in said] == [(200, True), (200, False)]


def test_a_link_becomes_a_cookie(cast: Cast) -> None:
    with cast.server.client("", origin=cast.server.base) as client:
        for who, to in (("admin", "/"), ("mediator", "/inbox/")):
            done = client.post("/enter", json={"token": cast.tokens[who]})
            cookie = done.headers["set-cookie"]
            assert done.json()["to"].startswith(to)
            port = cast.server.base.rpartition(":")[2]
            if who == "mediator":
                assert cookie.startswith(f"gobetween-inbox-{port}={cast.tokens[who]};")
            else:
                assert re.match(rf"gobetween-{port}=gs_[0-9a-f]{{12}}\.[0-9a-f]{{12}}_[\w-]{{43}};", cookie)
                assert cast.tokens[who].split("_", 2)[2] not in cookie
            assert "HttpOnly" in cookie
            assert "SameSite=strict" in cookie
            assert f"Path={done.json()['to']};" in cookie
        for who in ("wrong", "expired", "revoked"):
            refused = client.post("/enter", json={"token": cast.tokens[who]})
            assert refused.status_code == 401
            assert "set-cookie" not in refused.headers
            assert cast.tokens[who] not in refused.text


def test_names_and_pages_of_others_are_refused(cast: Cast) -> None:
    admin = cast.tokens["admin"]
    with cast.server.client(admin) as client:
        for host in ("evil.example", "evil.example:8177", "127.0.0.1", ""):
            assert client.get("/api/v1/studies", headers={"host": host}).status_code == 403, host
        for origin in ("http://evil.example", "null", cast.server.base.replace("http", "https"), f"{cast.server.base}.evil"):
            note = client.post("/api/v1/studies/study/note", json={"text": "x"}, headers={"origin": origin})
            assert note.status_code == 403, origin
    with cast.server.client("") as client:  # no browser posts without an origin
        assert client.post("/enter", json={"token": admin}).status_code == 403


def test_every_answer_carries_the_headers(cast: Cast) -> None:
    with cast.server.client() as client:
        for path in ("/enter", "/api/v1/studies", "/nowhere", "/static/style.css"):
            headers = client.get(path).headers
            assert "script-src 'self';" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "same-origin"
            assert "server" not in headers


def test_wrong_tokens_are_slowed_down_and_right_ones_never(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    cast.server.access._failed.clear()
    with cast.server.client(cast.tokens["wrong"]) as client:
        found = [client.get("/api/v1/studies").status_code for _ in range(FAILURES + 2)]
        assert found == [401] * FAILURES + [429] * 2
        assert "wait a minute" in client.get("/api/v1/studies").json()["error"]["sentence"]
        monkeypatch.setattr(access, "WINDOW", 0.0)  # as if it had waited
        assert client.get("/api/v1/studies").status_code == 401
    with cast.server.client() as client:
        assert client.get("/api/v1/studies").status_code == 200
    cast.server.access._failed.clear()


def test_a_revoked_token_is_worthless_within_a_second(cast: Cast) -> None:
    study = cast.server.studies.find("second").study("test")
    token, row = new_token(study, None, None)
    with cast.server.client(token) as client:
        assert client.get("/api/v1/studies/second").status_code == 200
        revoke(study.store, row.id)
        time.sleep(FRESH)
        assert client.get("/api/v1/studies/second").status_code == 401


def test_an_administrator_of_one_store_knows_nothing_of_another(tmp_path: Path) -> None:
    for name in ("one", "two"):
        gb.Study.create(tmp_path / f"{name}.sqlite", spec(), name).close()
    home = Studies([str(tmp_path / "one.sqlite"), str(tmp_path / "two.sqlite")])
    token, _ = new_token(home.find("one").study("test"), None, None)
    who = Access(home).who(token)
    assert who is not None
    who.check(home.find("one"))
    with pytest.raises(gb.GoBetweenError, match="this token is not for study 'two'"):
        who.check(home.find("two"))
    home.close()


def test_lists_and_metrics_are_of_the_store_that_a_token_is_for(tmp_path: Path) -> None:
    places = [str(tmp_path / f"{name}.sqlite") for name in ("one", "two")]
    for place, name in zip(places, ("one", "two"), strict=True):
        gb.Study.create(place, spec(), name).close()
    with running(*places) as server:
        token, _ = new_token(server.studies.find("one").study("test"), None, None)
        for who, seen in ((token, {"one"}), (None, {"one", "two"})):
            with server.client(who) as client:
                assert {one["study"] for one in client.get("/api/v1/studies").json()["studies"]} == seen
                assert set(re.findall(r'study="(\w+)"', client.get("/api/v1/metrics").text)) == seen


def test_tokens_are_in_no_export_event_or_backup(cast: Cast, tmp_path: Path) -> None:
    from gobetween.study.find_study import backup_study

    study = cast.server.studies.find("study").study("test")
    secret = cast.tokens["mediator"].split("_", 2)[2]
    assert secret not in "".join(study.lines())
    assert secret.encode() not in Path(study.store.place).read_bytes()
    assert study.store.tokens()
    backup_study(study.store.place, tmp_path / "b.sqlite")
    assert gb.Study.open(tmp_path / "b.sqlite", "study").store.tokens() == []


@pytest.mark.parametrize("url", ["studies.example.org", "ftp://x", "https://x/path", "https://me@x", "https://"])
def test_a_public_address_is_scheme_and_name(url: str) -> None:
    with pytest.raises(gb.StudyError, match="write scheme and name only"):
        origin_of(url)
    assert origin_of("https://Studies.example.org/") == "https://studies.example.org"


def test_days_are_checked(cast: Cast) -> None:
    study = cast.server.studies.find("study").study("test")
    for days in (-1.0, 1e9, float("nan")):
        with pytest.raises(gb.StudyError, match="a token is valid for more than 0 and at most 3,650 days"):
            new_token(study, "North", days)
    with pytest.raises(gb.StudyError, match="mediator 'Nobody' is not known: choose one of 'North', 'South'"):
        new_token(study, "Nobody", None)
    with pytest.raises(gb.StudyError, match="there is no token 'x'"):
        revoke(study.store, "x")


def test_behind_a_proxy_the_public_name_counts_and_cookies_are_for_tls(tmp_path: Path) -> None:
    path = str(tmp_path / "s.sqlite")
    gb.Study.create(path, spec()).close()
    with running(path, origin="https://studies.example.org") as server:
        public = {"host": "studies.example.org", "origin": "https://studies.example.org"}
        with server.client("", **public) as client:
            cookie = client.post("/enter", json={"token": server.access.first}).headers["set-cookie"]
            assert "Secure" in cookie
            assert client.post("/enter", json={}, headers={"origin": "http://studies.example.org"}).status_code == 403
        held = server.cookie(host="studies.example.org")
        assert held.startswith("gobetween=gs_")
        form = {"proof": proof(held.partition("=")[2]), "value": "North"}
        with server.client("", **public, cookie=held) as client:
            assert client.post("/studies/study/links/make", data=form).status_code == 303
            assert "https://studies.example.org/enter#gb_" in client.get("/studies/study/links").text


def test_a_link_that_was_renewed_or_has_ended_opens_nothing_and_another_is_made(tmp_path: Path) -> None:
    gb.Study.create(tmp_path / "s.sqlite", spec(), "study").close()
    with running(str(tmp_path / "s.sqlite")) as server:
        study = server.studies.find("study").study("test")
        lost, (ended, _) = new_token(study, "North", 90.0)[0], new_token(study, "South", 1e-7)
        held = server.cookie()
        form = {"proof": proof(held.partition("=")[2])}
        with server.client("", cookie=held, origin=server.base) as client:
            assert client.get("/studies/study/links").text.count("no link yet") == 1
            for wanted in ("", "North"):  # those that are missing: that of South; and another one
                assert client.post("/studies/study/links/make", data=form | {"value": wanted}).status_code == 303
            shown = re.findall("/enter#(gb_[0-9A-Za-z_-]+)", client.get("/studies/study/links").text)
        assert len(set(shown)) == 2
        for token, status in (*((token, 200) for token in shown), (lost, 401), (ended, 401)):
            with server.client(token) as client:
                assert client.get("/api/v1/inbox").status_code == status


def test_a_session_is_no_token_and_ends_with_its_token_within_a_second(cast: Cast) -> None:
    """Leaving, its own end, and the revocation of the token that it was made for, live streams included."""
    study = cast.server.studies.find("study").study("test")
    token, row = new_token(study, None, None, "lead")
    kept, left, old = (cast.server.cookie(token) for _ in range(3))
    secret = kept.partition("=")[2]
    assert secret.encode() not in Path(study.store.place).read_bytes()
    for bearer in (secret, secret.replace("gs_", "gb_"), f"gb_{row.id}_{secret.rpartition('_')[2]}"):
        with cast.server.client(bearer) as client:
            assert client.get("/api/v1/studies").status_code == 401
    assert row.id in [one.id for one in listed(study.store)]
    assert {one.id for one in study.store.tokens()} > {one.id for one in listed(study.store)}

    origin = {"origin": cast.server.base}
    with cast.server.client("", cookie=left, **origin) as client:
        assert client.post("/leave", data={"proof": proof(left.partition("=")[2])}).status_code == 303
        assert client.get("/").status_code == 401
    number = old.partition("_")[2].partition("_")[0]
    (session,) = study.store.tokens(number)
    gone = replace(new_token(study, "North", 1.0)[1], expires=study.store.now() - 1.0)
    for over in (gone, replace(session, expires=study.store.now() - 1.0)):
        study.store.keep_token(over)
    with cast.server.client("", cookie=old, **origin) as client:
        assert client.get("/").status_code == 401
    cast.server.cookie(token)  # whoever logs in sweeps out what has ended
    assert study.store.tokens(number) == []
    assert gone.id in [
        one.id for one in listed(study.store)
    ]  # tokens of people stay, for their list says what has become of them

    with cast.server.client("", cookie=kept, **origin) as client:
        asked = client.post("/studies/study/pause", data={"proof": proof(secret)})
        assert asked.status_code == 303
        client.post("/studies/study/resume", data={"proof": proof(secret)})
        assert list(study.events())[-1]["actor"] == "lead"
        with client.stream("GET", "/studies/study/live") as live:
            lines = live.iter_lines()
            assert next(lines) == "retry: 2000"
            revoke(study.store, row.id)
            since = time.monotonic()
            for _ in lines:
                assert time.monotonic() - since < 10  # signs of life come every 15 s
            assert time.monotonic() - since < 2 * FRESH + 1.0  # a busy machine has its share
        assert client.get("/").status_code == 401
