"""Servers as processes: the command line, and what is left when one is killed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from service_faults import kill_servers, new_store, serving
from service_parts import spec

import gobetween as gb
from gobetween.cli import main
from gobetween.service import run
from gobetween.study.server_address import address_of, announced


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOBETWEEN_JIT", "off")  # servers start sooner


def test_killed_servers_lose_and_double_nothing_that_was_acknowledged(where: str) -> None:
    kill_servers(where, clients=4, tells=40, kills=2)


def test_two_servers_over_one_database(postgres: Any) -> None:
    kill_servers(postgres.database(), clients=4, tells=25, kills=1, servers=2)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    printed = capsys.readouterr()
    return printed.out + printed.err if caught.value.code in (0, None) else f"{caught.value.code}: {printed.err}"


def test_tokens_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said(capsys, "init")
    made = json.loads(said(capsys, "token", "new", "North", "--json", "--url", "https://example.org/"))
    assert made["link"] == f"https://example.org/enter#{made['token']}"
    assert "for the administrator; pass on this link" in said(capsys, "token", "new", "--admin", "--days", "0")
    listed = said(capsys, "token", "list")
    assert f"{made['id']}  North (North): valid, until" in listed
    assert made["token"] not in listed
    assert "is revoked" in said(capsys, "token", "revoke", made["id"])
    assert f"{made['id']}  North (North): revoked" in said(capsys, "token", "list")
    for arguments, words in (
        (("new",), "2: gobetween: name the mediator whose inbox it opens, or add --admin"),
        (("new", "Nobody"), "2: gobetween: mediator 'Nobody' is not known: choose one of 'North', 'South'"),
        (("new", "North", "--days", "-1"), "2: gobetween: days = -1: a token is valid for more than 0"),
        (("revoke", "x"), "2: gobetween: there is no token 'x'; gobetween token list shows those there are"),
    ):
        assert said(capsys, "token", *arguments).startswith(words), arguments


def test_the_tokens_of_a_study_are_listed_without_those_of_its_neighbours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOBETWEEN_STUDY", str(tmp_path / "both.sqlite"))
    for name in ("one", "two"):
        gb.Study.create(tmp_path / "both.sqlite", spec(), name).close()
    made = {
        name: json.loads(said(capsys, "token", "new", "North", "--name", name, "--days", days, "--json"))
        for name, days in (("one", "7"), ("two", "0"))
    }
    admin = json.loads(said(capsys, "token", "new", "--admin", "--name", "one", "--json"))["id"]
    for name, own in made.items():
        listed = json.loads(said(capsys, "token", "list", "--name", name, "--json"))["tokens"]
        assert {row["id"]: row["for"] for row in listed} == {own["id"]: "North", admin: "admin"}
        ends = [
            row["expires"] and round((row["expires"] - row["made"]) / 86400.0, 3) for row in listed if row["for"] == "North"
        ]
        assert ends == [{"one": 7.0, "two": None}[name]]


def test_a_link_has_the_address_under_which_the_server_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said(capsys, "init")
    with gb.Study.open("study.toml") as study:
        assert address_of(study.store) is None
        with announced([study.store], "http://192.168.1.5:8177"):
            made = json.loads(said(capsys, "token", "new", "North", "--json"))
            assert made["link"] == f"http://192.168.1.5:8177/enter#{made['token']}"
        assert address_of(study.store) is None
        Path(f"{study.store.place}.serving").write_text("999999999 http://gone:1\n")
        assert address_of(study.store) is None


def test_a_network_is_told_its_address_a_code_and_the_risk(tmp_path: Path) -> None:
    try:
        found = run.lan_address()
    except gb.StudyError as error:
        assert "in no network" in str(error)
        return
    store = str(tmp_path / "s.sqlite")
    gb.Study.create(store, spec(), "study").close()
    command = [sys.executable, "-m", "gobetween", "serve", "--lan", "--port", "0", "--store", store]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server:
        try:
            assert server.stdout is not None
            lines: list[str] = []
            while not lines or "no encryption" not in lines[-1]:
                lines.append(server.stdout.readline())
                assert lines[-1], lines
            assert lines[0].startswith(f"serving at http://{found}:")
            assert lines[1].startswith(f"open this link as administrator: http://{found}:")
            assert len(lines) > 15  # the code
        finally:
            server.kill()


def test_what_cannot_be_served_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = str(tmp_path / "s.sqlite")
    new_store(where)
    for arguments, words in (
        ((str(tmp_path / "none.sqlite"),), "there is no such store"),
        (
            (where, "--host", "0.0.0.0"),
            "0.0.0.0: others can reach this address; add --public-url https://…",
        ),
        ((where, "--public-url", "example.org"), "public address 'example.org': write scheme and name only"),
        ((where, "--host", "203.0.113.7", "--public-url", "https://x"), "cannot listen there"),
    ):
        refused = said(capsys, "serve", *arguments)
        assert refused.startswith("2: gobetween: "), refused
        assert words in refused


def test_a_server_needs_nothing_but_its_extra(tmp_path: Path) -> None:
    """Other commands do not load it, and it tells what is missing."""
    code = "import sys; import gobetween.cli.serve, gobetween.study.client; print({'fastapi', 'uvicorn', 'starlette'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
    hidden = "import sys; sys.modules['uvicorn'] = None; from gobetween.cli import main; main(['serve', 'x.sqlite'])"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "gobetween: serving needs FastAPI and uvicorn: pip install 'gobetween[service]'\n",
    )


def test_a_server_ends_quietly_and_its_log_holds_no_token(tmp_path: Path) -> None:
    where = str(tmp_path / "s.sqlite")
    token = new_store(where)
    with serving(where) as (server,):
        assert gb.Client(server.url, token).status().events == 0
        with pytest.raises(gb.StudyError, match="not valid"):
            gb.Client(server.url, token[:-1] + "x", "study").ask()
        assert server.process is not None
        pid = server.process.pid
    assert not Path(f"/proc/{pid}").exists() or os.name != "posix"
