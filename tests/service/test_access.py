"""Who may do what: every route for everyone, and what else keeps strangers out."""

import hashlib
import hmac
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from service_parts import Running, running, spec
from starlette.routing import Route

import gobetween as gb
from gobetween.service.access import FAILURES, FRESH, Access
from gobetween.service.app import ROUTERS, make_app
from gobetween.service.home import Home
from gobetween.service.run import address_of, origin_of
from gobetween.study.tokens import new_token, parts, revoke

EVERYONE = ("none", "wrong", "expired", "revoked", "mediator", "other", "admin")
#: Who is let in: the status for each of EVERYONE, where 0 is whatever the route itself says.
OPEN = (0, 0, 0, 0, 0, 0, 0)
ADMIN = (401, 401, 401, 401, 403, 403, 0)
OWN = (401, 401, 401, 401, 0, 0, 403)  # whose token it is decides what it sees
BOX = (401, 401, 401, 401, 0, 403, 403)  # the address names whose it is
ROUTES = {
    "GET /api/v1/health": OPEN,
    "GET /enter": OPEN,
    "POST /enter": OPEN,
    "GET /static/{name}": OPEN,
    "POST /leave": ADMIN,
    "GET /api/v1/openapi.json": ADMIN,
    "GET /api/v1/metrics": ADMIN,
    "GET /api/v1/studies": ADMIN,
    "POST /api/v1/studies": ADMIN,
    "GET /new": ADMIN,
    "POST /new": ADMIN,
    "GET /api/v1/studies/{study}": ADMIN,
    **{
        f"GET /api/v1/studies/{{study}}/{view}": ADMIN
        for view in ("spec", "pending", "overdue", "events", "export.csv", "export.jsonl", "report.zip")
    },
    **{
        f"POST /api/v1/studies/{{study}}/{verb}": ADMIN
        for verb in (
            "ask", "tell", "correct", "void", "cancel", "away", "back", "add-mediator", "retire", "rename", "pause", "resume", "note"
        )
    },
    "GET /api/v1/inbox": OWN,
    "POST /api/v1/inbox/tell": OWN,
    "POST /api/v1/inbox/correct": OWN,
    "GET /": ADMIN,
    "GET /studies/{study}": ADMIN,
    **{f"GET /studies/{{study}}/{view}": ADMIN for view in ("parts", "live", "events", "report", "export.csv", "export.jsonl")},
    **{f"POST /studies/{{study}}/{verb}": ADMIN for verb in ("ask", "pause", "resume", "link")},
    "GET /inbox/{id}": BOX,
    "POST /inbox/{id}/tell": BOX,
    "POST /inbox/{id}/correct": BOX,
}  # fmt: skip


@dataclass
class Cast:
    server: Running
    tokens: dict[str, str]


@pytest.fixture(scope="module")
def cast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cast]:
    path = str(tmp_path_factory.mktemp("access") / "s.sqlite")
    for name in ("study", "second"):
        gb.Study.create(path, spec(), name).close()
    with running(store=path) as server:
        study = server.home.find("study").study("test")
        tokens = {"none": "", "wrong": new_token(study, "North", None)[0][:-2] + "AA", "admin": server.access.first}
        tokens |= {"mediator": new_token(study, "North", 30)[0], "other": new_token(study, "South", None)[0]}
        for name in ("expired", "revoked"):
            tokens[name], row = new_token(study, None, 1.0)
            if name == "expired":
                study.store.keep_token(replace(row, expires=study.store.now() - 1.0))
            else:
                revoke(study.store, row.id)
        yield Cast(server, tokens)


def asked(cast: Cast, route: str, who: str) -> httpx.Response:
    method, path = route.split()
    own = (parts(cast.tokens["mediator"]) or ("",))[0]
    path = path.format(study="study", name="enter.js", id=own, number="0")
    origin = {"origin": cast.server.base}
    if path.startswith("/api/"):
        with cast.server.client(cast.tokens[who], **origin) as client:
            return client.request(method, path)
    name = "gobetween-inbox" if path.startswith("/inbox/") else "gobetween"
    form = {"proof": proof(cast.tokens[who]), "mediator": "North", "query": "0"} if method == "POST" else None
    client = cast.server.client("", **origin, cookie=f"{name}={cast.tokens[who]}")
    with client, client.stream(method, path, data=form) as answer:
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            return httpx.Response(answer.status_code)  # has no end
        answer.read()
        return answer


def proof(token: str) -> str:
    return hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()[:32]


def test_the_table_has_every_route(cast: Cast) -> None:
    app = make_app(cast.server.home, cast.server.access, address_of(1, None))[0]
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
        answer, expected = asked(cast, route, who), table[EVERYONE.index(who)]
        if expected:
            assert answer.status_code == expected, (route, answer.text)
        elif route != "POST /enter":  # its token is in the body, and missing here
            allowed = (404,) if "/inbox/{id}/" in route else ()  # a query that is not one's own
            assert answer.status_code not in {401, 403, 404, 500} - set(allowed), (route, answer.text)


def test_headers_and_cookies_are_not_exchanged(cast: Cast) -> None:
    """A page of another place can make a browser send cookies: routes for programs do not look at them."""
    with cast.server.client("", cookie=f"gobetween={cast.tokens['admin']}") as client:
        assert client.get("/api/v1/studies").status_code == 401
    with cast.server.client(origin=cast.server.base) as client:
        assert client.post("/leave").status_code == 401


def test_a_form_must_carry_its_proof(cast: Cast) -> None:
    with cast.server.client("", origin=cast.server.base, cookie=f"gobetween={cast.tokens['admin']}") as client:
        before = cast.server.home.find("study").study("x").look()[2]
        for form in (
            {},
            {"proof": "x"},
            {"proof": proof(cast.tokens["mediator"])},
            {"proof": "ü\ud800".encode("utf-8", "replace").decode()},
        ):
            refused = client.post("/studies/study/ask", data=form)
            assert refused.status_code == 403
            assert "open the page anew" in refused.text
        assert cast.server.home.find("study").study("x").look()[2] == before


def test_a_mediator_sees_its_own_and_nothing_else(cast: Cast) -> None:
    study = cast.server.home.find("study").study("test")
    study.ask(6)
    asked = study.pending()
    own, others = ([query.id for query in asked if query.mediator == name] for name in ("North", "South"))
    with cast.server.client(cast.tokens["mediator"]) as client:
        box = client.get("/api/v1/inbox").json()
        assert [one["query"] for one in box["open"]] == own
        assert set(box) == {
            "format", "title", "mediator", "arms", "rewards", "choices", "silent", "open", "given", "over", "now"
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
    study = cast.server.home.find("study").study("test")
    study.note("secret", key="k")
    study.away("South")
    number = next(query.id for query in study.ask(1))
    study.back("South")
    with cast.server.client(cast.tokens["mediator"], **{"Idempotency-Key": "k"}) as client:
        assert client.post("/api/v1/inbox/tell", json={"query": number, "silent": True}).json()["recorded"]


def test_a_link_becomes_a_cookie(cast: Cast) -> None:
    with cast.server.client("", origin=cast.server.base) as client:
        for who, to, name in (("admin", "/", "gobetween"), ("mediator", "/inbox/", "gobetween-inbox")):
            done = client.post("/enter", json={"token": cast.tokens[who]})
            cookie = done.headers["set-cookie"]
            assert done.json()["to"].startswith(to)
            assert cookie.startswith(f"{name}={cast.tokens[who]};")
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


def test_wrong_tokens_are_slowed_down_and_right_ones_never(cast: Cast) -> None:
    cast.server.access._failed.clear()
    with cast.server.client(cast.tokens["wrong"]) as client:
        found = [client.get("/api/v1/studies").status_code for _ in range(FAILURES + 2)]
        assert found == [401] * FAILURES + [429] * 2
        assert "wait a minute" in client.get("/api/v1/studies").json()["error"]["sentence"]
    with cast.server.client() as client:
        assert client.get("/api/v1/studies").status_code == 200
    cast.server.access._failed.clear()


def test_a_revoked_token_is_worthless_within_a_second(cast: Cast) -> None:
    study = cast.server.home.find("second").study("test")
    token, row = new_token(study, None, None)
    with cast.server.client(token) as client:
        assert client.get("/api/v1/studies/second").status_code == 200
        revoke(study.store, row.id)
        time.sleep(FRESH)
        assert client.get("/api/v1/studies/second").status_code == 401


def test_an_administrator_of_one_store_knows_nothing_of_another(tmp_path: Path) -> None:
    for name in ("one", "two"):
        gb.Study.create(tmp_path / f"{name}.sqlite", spec(), name).close()
    home = Home([str(tmp_path / "one.sqlite"), str(tmp_path / "two.sqlite")])
    token, _ = new_token(home.find("one").study("test"), None, None)
    who = Access(home).who(token)
    assert who is not None
    who.check(home.find("one"))
    with pytest.raises(gb.GoBetweenError, match="this token is not for study 'two'"):
        who.check(home.find("two"))
    home.close()


def test_tokens_are_in_no_export_event_or_backup(cast: Cast, tmp_path: Path) -> None:
    from gobetween.study.opening import backup_study

    study = cast.server.home.find("study").study("test")
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
    study = cast.server.home.find("study").study("test")
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
        form = {"proof": proof(server.access.first), "mediator": "North"}
        with server.client("", **public, cookie=f"gobetween={server.access.first}") as client:
            assert "https://studies.example.org/enter#gb_" in client.post("/studies/study/link", data=form).text
