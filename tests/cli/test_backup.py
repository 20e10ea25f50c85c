"""Backup and restore at the command line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gobetween.cli import gobetween, main
from gobetween.study.study import Study

TOML = 'family = "bernoulli"\narms = [{ name = "a" }, { name = "b" }]\nmediators = [{ name = "x" }]\n'


def run(*arguments: str) -> Result:
    return CliRunner().invoke(gobetween, arguments, catch_exceptions=False)


def test_backup_and_restore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(TOML)
    assert run("init").exit_code == 0
    assert run("note", "kept").exit_code == 0
    assert run("backup", "b.sqlite").output == "b.sqlite is a backup of study (1 event); verified by reading it back\n"
    assert "gobetween backup" in run("doctor").output
    for arguments, words in ((["backup", "b.sqlite"], "b.sqlite: is there already; name another file"),
                             (["restore", "b.sqlite"], "already has a study 'study', and nothing is overwritten")):  # fmt: skip
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
        assert words in capsys.readouterr().err
    Path("study.sqlite").unlink()
    assert json.loads(run("restore", "b.sqlite", "--json").output) == {
        "format": 1,
        "restored": "b.sqlite",
        "events": {"study": 1},
    }
    assert "kept" in run("events").output
    assert "all is well" in run("doctor").output


def test_what_holds_contacts_is_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(TOML)
    assert run("init").exit_code == 0
    with Study.open("study.toml") as study, study.store.writing("study"):  # -wal and -shm are there as long as it is open
        modes = {path.name: oct(path.stat().st_mode & 0o777) for path in tmp_path.glob("study.sqlite*")}
    assert modes == {f"study.sqlite{end}": "0o600" for end in ("", "-wal", "-shm")}
    assert run("backup", "b.sqlite").exit_code == 0
    Path("study.sqlite").unlink()
    assert run("restore", "b.sqlite").exit_code == 0
    assert run("export", "--csv", "e.csv", "--jsonl", "e.jsonl").exit_code == 0
    for name in ("study.sqlite", "b.sqlite", "e.csv", "e.jsonl"):
        assert oct(Path(name).stat().st_mode & 0o777) == "0o600", name
