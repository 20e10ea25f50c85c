"""A study as a whole: archived, renamed, deleted; over every store, from Python, the shell, REST and a client far away."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from service_parts import running, spec
from test_lost_after_commit import losing

import gobetween as gb
from gobetween.cli import gobetween
from gobetween.study.commands.command_queue import CommandQueue
from gobetween.study.find_study import restore_study
from gobetween.study.journal.snapshot import snapshot_of, state_in
from gobetween.study.tokens import new_token


def test_an_archived_study_takes_answers_and_asks_nothing(new: Callable[..., gb.Study]) -> None:
    study = new(in_flight=2)
    first, second = study.ask()
    assert study.archive().recorded
    assert not study.archive().recorded
    assert study.status().state == "archived"
    study.tell(first, silent=True)
    assert [query.id for query in study.pending()] == [second.id]  # none instead of it
    for how in ({}, {"n": 2}, {"worker": "w"}):
        with pytest.raises(gb.StudyError, match=r"the study is archived; archive\(undo=True\) brings it back"):
            study.ask(**how)
    state = study.look()[0]
    assert state_in(json.loads(json.dumps(snapshot_of(state)))).archived
    assert study.archive(undo=True).asked != ()
    assert not study.archive(undo=True).recorded
    assert study.status().state == "running"
    assert not state_in(json.loads(json.dumps(snapshot_of(study.look()[0])))).archived
    assert study.doctor() == []


def test_a_study_has_another_name_and_is_the_same(new: Callable[..., gb.Study]) -> None:
    study, other = new(), new()
    study.ask(2)
    old, token = study.name, new_token(study, "x", None)[1]
    assert study.rename_study("trial").recorded
    assert not study.rename_study("trial").recorded
    assert study.name == "trial"
    assert sorted(study.store.names()) == sorted(["trial", other.name])
    assert list(study.events())[-1]["text"] == f"the study was called {old} before"
    assert study.pending()
    for name, words in (
        (other.name, "already"),
        (other.name.upper(), "looks like it: choose another name"),
        (" ", "a short name"),
    ):
        with pytest.raises(gb.StudyError, match=words):
            study.rename_study(name)
    assert study.rename_study("TRIAL").recorded  # its own name in capitals
    if study.store.place != "memory":
        assert study.store.tokens(token.id)[0].study == "TRIAL"
    assert study.doctor() == []


@pytest.mark.parametrize("queued", [False, True])
def test_a_deleted_study_is_in_a_backup(where: str, queued: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one/../two", "kept"):
        gb.Study.create(where, spec(), name).ask(3)
    study = gb.Study.open(where, "one/../two")
    study.queue = CommandQueue(study.store, study.name) if queued else None
    new_token(study, "North", None)
    new_token(study, None, None)
    events = list(study.events())
    with pytest.raises(gb.StudyError, match=r"name = 'kept': to confirm, write the name of the study, 'one/../two'"):
        study.delete("kept")
    with losing(study, monkeypatch) as lost:  # the answer is the same if the connection breaks after the commit
        backup = study.delete("one/../two").backup
    assert lost
    assert backup is not None
    file = Path(backup)
    assert file.absolute().parent == tmp_path
    assert file.stat().st_mode & 0o777 == 0o600
    assert study.store.names() == ["kept"]
    assert [row.study for row in study.store.tokens()] == [None]
    with pytest.raises(gb.StudyError, match=r"has no study 'one/../two'"):
        study.status()
    with gb.Study.open(where, "kept") as kept:
        assert (kept.status().events, kept.doctor()) == (3, [])
    restore_study(file, where)
    with gb.Study.open(where, "one/../two") as back:
        assert (list(back.events()), back.doctor()) == (events, [])


@pytest.mark.parametrize("queued", [False, True])
def test_another_name_is_given_once(new: Callable[..., gb.Study], queued: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    study = new()
    study.note("hello")
    study.queue = CommandQueue(study.store, study.name) if queued else None
    with losing(study, monkeypatch) as lost:
        assert study.rename_study("trial").recorded
    assert lost
    assert study.note("it goes on").recorded
    assert [event["kind"] for event in study.events()] == ["note", "note", "note"]


def test_on_a_server(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        gb.Study.create(where, spec(title=name), name).close()
    with running(store=where) as server, gb.Client(server.base, server.access.first, "one") as one:
        one.archive()
        assert [study["name"] for study in one.studies()] == ["two"]
        assert {study["name"]: study["state"] for study in one.studies(archived=True)} == {"one": "archived", "two": "running"}
        with server.client("", cookie=server.cookie()) as browser:
            assert "/studies/one" not in browser.get("/").text
            assert "/studies/one" in browser.get("/?archived=true").text
        with pytest.raises(gb.StudyError, match="the study is archived"):
            one.ask()
        one.archive(undo=True)
        assert one.rename_study("a better name").recorded
        assert one.study.startswith("a-better-name-")
        assert one.note("here").recorded
        with (
            gb.Client(server.base, server.access.first, "one") as stale,
            pytest.raises(gb.StudyError, match="there is no study 'one'"),
        ):
            stale.note("there")
        with pytest.raises(gb.StudyError, match="to confirm, write the name of the study, 'a better name'"):
            one.delete("one")
        backup = one.delete("a better name").backup
        assert backup is not None
        assert Path(backup).is_file()
        assert [study["name"] for study in one.studies(archived=True)] == ["two"]
        with server.client() as client:
            assert client.get("/api/v1/metrics").text.count("gobetween_events_total{") == 1
        with gb.Study.open(where, "two") as elsewhere:  # another process may do it, too
            elsewhere.rename_study("three")
        with server.client() as client:
            assert client.post("/api/v1/studies/two/note", json={"text": "x"}).status_code == 404
            assert [study["study"] for study in client.get("/api/v1/studies").json()["studies"]] == ["three"]


def test_what_a_server_was_started_with_stays(tmp_path: Path) -> None:
    """Or it would not start again."""
    path = tmp_path / "s.sqlite"
    gb.Study.create(path, spec()).close()
    with running(str(path)) as server, server.client() as client:
        for verb in ("rename-study", "delete"):
            refused = client.post(f"/api/v1/studies/study/{verb}", json={"name": "study"})
            assert (refused.status_code, "this server was started with this study" in refused.text) == (403, True)


def test_in_the_shell(tmp_path: Path) -> None:
    file = tmp_path / "trial.toml"
    file.write_text('family = "bernoulli"\narms = [{ name = "a" }, { name = "b" }]\nmediators = [{ name = "x" }]\n')
    gb.Study.create(file).close()

    def said(*arguments: str, path: Path = file) -> Any:
        done = CliRunner().invoke(gobetween, [*arguments, "--study", str(path)])
        return done.output if done.exit_code == 0 else str(done.exception)

    assert "archived: no queries are issued" in said("archive")
    assert "the study is archived" in said("ask")
    assert "in lists again" in said("archive", "--undo")
    assert "a study file is for the study of its own name: rename it, too" in said("rename-study", "better")
    assert "has no study 'trial'" in said("status")
    file = file.rename(tmp_path / "better.toml")
    file.write_text(f'store = "trial.sqlite"\n{file.read_text()}')
    assert "to confirm, write the name of the study, 'better'" in said("delete", "trial", path=file)
    deleted = said("delete", "better", path=file)
    assert "study better is deleted" in deleted
    assert "which gobetween restore brings back" in deleted.replace("\n", " ")
    (backup,) = tmp_path.glob("trial-better-*.sqlite")
    assert backup.name in deleted
    assert "restored: better (3 events)" in said("restore", str(backup), path=file)
