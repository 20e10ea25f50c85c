"""Many studies on one server: none takes another down, by its name or by what is wrong with it."""

import sqlite3
import time
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from service_parts import running, spec

import gobetween as gb
from gobetween.service.run import delivering
from gobetween.study.journal.record import Store

TOML = 'family = "bernoulli"\narms = [{ name = "letter" }, { name = "call" }]\nmediators = [{ name = "North" }]\n'
NEW = {"study": {"family": "bernoulli", "arms": [{"name": "a"}, {"name": "b"}], "mediators": [{"name": "x"}]}}


def test_two_studies_of_one_name_are_both_served(tmp_path: Path) -> None:
    """They were made by others in two stores: each has an address, the same after a restart."""
    (tmp_path / "A.toml").write_text(TOML)
    gb.Study.create(tmp_path / "A.toml").close()
    store = str(tmp_path / "B.sqlite")
    for name in ("A", "C"):
        gb.Study.create(store, spec(title=f"{name} of B"), name).close()
    found = []
    for _ in range(2):
        with running(str(tmp_path / "A.toml"), store=store) as server, server.client() as client:
            listed = client.get("/api/v1/studies").json()["studies"]
            found.append([(one["study"], one["title"]) for one in listed])
            for one in listed:
                assert client.post(f"/api/v1/studies/{one['study']}/note", json={"text": "hello"}).json()["recorded"]
            text = client.get("/api/v1/metrics").text
            lines = [line for line in text.splitlines() if line.startswith("gobetween_events_total")]
            assert len(lines) == len(set(lines)) == 3
    assert found[0] == found[1]
    assert [title for _, title in found[0]] == ["", "A of B", "C of B"]
    assert found[0][0][0] == "A"
    assert found[0][1][0].startswith("A-")


@pytest.mark.parametrize("name", ["A", "a", "Ａ", " A", "A "])
def test_a_name_that_is_taken_is_refused_where_a_study_is_made(tmp_path: Path, name: str) -> None:
    (tmp_path / "A.toml").write_text(TOML)
    gb.Study.create(tmp_path / "A.toml").close()
    gb.Study.create(tmp_path / "B.sqlite", spec(), "other").close()
    with running(str(tmp_path / "A.toml"), store=str(tmp_path / "B.sqlite")) as server, server.client() as client:
        refused = client.post("/api/v1/studies", json={"name": name, **NEW})
        words = "a study 'A' is served here already, from another store: choose another name"
        assert (refused.status_code, refused.json()["error"]["sentence"]) == (422, words)
        assert [one["name"] for one in client.get("/api/v1/studies").json()["studies"]] == ["A", "other"]


def test_names_that_look_alike_are_refused_in_one_store(store: Store, new: Any) -> None:
    made = new().spec.to_dict()
    store.create("Café", made, {})
    for name in ("café", unicodedata.normalize("NFD", "Café"), "Café ", "CAFÉ"):
        with pytest.raises(gb.StudyError, match=r"already has a study 'Café', and .* looks like it: choose another name"):
            store.create(name, made, {})
    assert store.names().count("Café") == len(store.names()) - 1 == 1


def harm(path: Path, name: str, change: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute(f"UPDATE studies SET {change} WHERE name = ?", (name,))


HARM = {
    "a damaged snapshot": "snapshot = substr(snapshot, 1, 40)",
    "a damaged spec": "spec = '{'",
    "a lost seal": "seal = ''",
}


@pytest.mark.parametrize("what", HARM)
def test_a_study_that_cannot_be_read_takes_no_other_down(tmp_path: Path, what: str) -> None:
    store, toml = tmp_path / "s.sqlite", tmp_path / "broken.toml"
    for name in ("broken", "sound"):
        gb.Study.create(store, spec(), name).note("hello")
    toml.write_text(f'store = "s.sqlite"\n{TOML}')
    harm(store, "broken", HARM[what])
    for places in ((), (str(toml),)):  # it can also be named when the server starts
        with running(*places, store=str(store)) as server, server.client() as client:
            first, second = client.get("/api/v1/studies").json()["studies"]
            assert (first["name"], first["state"]) == ("broken", "unreadable")
            assert "is damaged" in first["error"]
            assert (second["name"], second["state"], second["events"]) == ("sound", "running", 1 + bool(places))
            with server.client("", cookie=server.cookie()) as browser:
                page = browser.get("/").text
                assert "is damaged" in page
                assert 'href="/studies/sound"' in page
            metrics = client.get("/api/v1/metrics").text
            assert 'gobetween_unreadable{study="broken"} 1' in metrics
            assert f'gobetween_events_total{{study="sound"}} {1 + bool(places)}' in metrics
            assert client.get("/api/v1/studies/broken").status_code == 503
            assert client.post("/api/v1/studies/sound/note", json={"text": "x"}).is_success


def test_a_store_that_is_gone_takes_no_other_down(tmp_path: Path) -> None:
    for name in ("one", "two"):
        gb.Study.create(tmp_path / f"{name}.sqlite", spec(), name).close()
    with running(str(tmp_path / "one.sqlite"), store=str(tmp_path / "two.sqlite")) as server, server.client() as client:
        own = server.token(None, study="one")
        assert client.post("/api/v1/studies/two/note", json={"text": "x"}).is_success
        (tmp_path / "two.sqlite").unlink()
        one, two = client.get("/api/v1/studies").json()["studies"]
        assert (one["name"], one["state"]) == ("one", "running")
        assert (two["name"], two["state"]) == ("two", "unreadable")
        assert "was removed or replaced" in two["error"]
        with server.client(own) as other:  # whose token it is can be told without that store
            assert other.post("/api/v1/studies/one/note", json={"text": "y"}).json()["recorded"]


def test_reminders_of_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr("gobetween.service.run.POLL", 0.05)
    monkeypatch.setattr("gobetween.service.run.Deliverer.round", _rounds(seen))
    store = tmp_path / "s.sqlite"
    for name in ("broken", "sound"):
        gb.Study.create(store, spec(), name).note("hello")
    harm(store, "broken", HARM["a lost seal"])
    with running(store=str(store)) as server, delivering(server.studies):
        deadline = time.monotonic() + 20
        while seen.count("sound") < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
    assert seen.count("sound") >= 2


def _rounds(seen: list[str]) -> Any:
    from gobetween.study.delivery import Deliverer

    real = Deliverer.round

    def one_round(self: Deliverer, study: gb.Study) -> Any:
        found = real(self, study)
        seen.append(study.name)
        return found

    return one_round
