"""What is written is there whole or not at all, and never in the place of what was read, of a store or of a study."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from launcher import gobetween

import gobetween as gb
from gobetween.cli.terminal import target

LOG = "mediator,arm,reward\n" + "N,a,1\nS,b,0\n" * 20
SPEC = gb.StudySpec(["a", "b"], {"N": [0.5, 0.5]}, family="bernoulli")


@contextmanager
def untouched(folder: Path) -> Iterator[None]:
    def content() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in folder.iterdir() if path.is_file() and not path.name.endswith("-shm")}

    before = content()
    yield
    assert content() == before


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert gobetween(tmp_path, "init", GOBETWEEN_JIT="off").returncode == 0
    assert gobetween(tmp_path, "ask", GOBETWEEN_JIT="off").returncode == 0
    (tmp_path / "l.csv").write_text(LOG)
    (tmp_path / "names.csv").write_text("a,c\n")
    (tmp_path / "link").symlink_to("study.sqlite")
    (tmp_path / "hard").hardlink_to(tmp_path / "l.csv")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        *(f"export --{kind} {name}" for kind in ("csv", "jsonl") for name in ("study.sqlite", "study.sqlite-wal", "study.toml", "link")),
        *("export --csv good --jsonl study.sqlite", "export --csv study.sqlite-shm", "export --jsonl study.sqlite.serving"),
        *("export --study study.sqlite --csv study.toml", "export --study study.sqlite --csv sub/../study.sqlite"),
        *("logs analyse l.csv --csv l.csv", "logs analyse l.csv --csv hard", "logs analyse l*.csv --csv ./l.csv"),
        *("logs analyse l.csv --csv study.sqlite", "logs analyse l.csv --map names.csv --csv names.csv"),
        *("simulate study.toml --csv study.toml", "simulate study.toml --csv study.sqlite"),
    ],
)  # fmt: skip
def test_what_is_read_or_kept_is_not_written_over(command: str, folder: Path) -> None:
    (folder / "sub").mkdir()
    with untouched(folder):
        done = gobetween(folder, *command.split(), GOBETWEEN_JIT="off")
    assert done.returncode == 2, done.stdout
    assert done.stderr.endswith("name another file\n")
    assert done.stderr.count("\n") == 1


def test_a_file_is_replaced_once_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    file.write_text("before")

    def interrupted() -> None:
        with target(str(file)) as stream:
            stream.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert file.read_text() == "before"
    with target(str(file)) as stream:
        stream.write("whole")
    assert file.read_text() == "whole"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_modes_of_what_is_written(tmp_path: Path) -> None:
    file, mask = tmp_path / "out.csv", os.umask(0o022)
    try:
        for mode, wanted in ((None, 0o644), (0o600, 0o600), (None, 0o600)):  # the last keeps that of the file before
            with target(str(file), mode=mode) as stream:
                stream.write("x")
            assert file.stat().st_mode & 0o777 == wanted
        file.chmod(0o644)
        with target(str(file), mode=0o600) as stream:
            stream.write("x")
        assert file.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(mask)


def test_a_link_leads_to_the_file_and_a_device_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("there.csv")
    with target(str(tmp_path / "link")) as stream:
        stream.write("x")
    assert (tmp_path / "there.csv").read_text() == "x"
    assert (tmp_path / "link").is_symlink()
    with target("/dev/null") as stream:
        stream.write("x")
    assert Path("/dev/null").is_char_device()


def test_a_report_does_not_replace_a_store(tmp_path: Path) -> None:
    gb.Study.create(tmp_path / "report.html", SPEC, "one").close()
    study = gb.Study.open(tmp_path / "report.html")
    with pytest.raises(gb.ResultsError, match="is a store or a part of one"):
        study.report(tmp_path)
    assert study.status().state == "running"


def test_who_may_read_a_report_and_a_store(folder: Path) -> None:
    assert gobetween(folder, "report", "--out", "r", GOBETWEEN_JIT="off").returncode == 0
    assert (folder / "r" / "report.html").stat().st_mode & 0o777 == 0o600
    assert "others on this computer" not in gobetween(folder, "doctor", GOBETWEEN_JIT="off").stdout
    (folder / "study.sqlite").chmod(0o644)
    said = gobetween(folder, "doctor", GOBETWEEN_JIT="off")
    assert "others on this computer can read study.sqlite, which holds contacts: chmod 600 study.sqlite" in said.stdout
    assert said.returncode == 0
