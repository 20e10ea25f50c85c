"""A store that is gone while it is served: nothing is acknowledged that would be lost, and health says so."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from postgres import Cluster
from service_parts import running, spec

import gobetween as gb
from gobetween.study.find_study import open_store


def replaced(path: Path) -> None:
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    copy.replace(path)


LOSSES: dict[str, Callable[[Path], object]] = {
    "removed": Path.unlink,
    "moved": lambda path: path.rename(path.with_name("elsewhere")),
    "replaced": replaced,
    "without its -wal": lambda path: path.with_name(f"{path.name}-wal").unlink(),
}
TABLE = {"family": "bernoulli", "arms": [{"name": "a"}, {"name": "b"}], "mediators": [{"name": "x"}]}
WORDS = "was removed or replaced while it was in use, or its -wal was: bring it back, then start again"


@pytest.mark.parametrize("loss", LOSSES)
def test_nothing_is_written_into_a_store_that_is_gone(tmp_path: Path, loss: str) -> None:
    path = tmp_path / "s.sqlite"
    gb.Study.create(path, spec()).close()
    with running(store=str(path)) as server, server.client() as client:
        for _ in range(3):
            assert client.post("/api/v1/studies/study/note", json={"text": "kept"}).status_code == 200
            assert client.get("/api/v1/health").status_code == 200
        LOSSES[loss](path)
        before = {file.name for file in tmp_path.iterdir()}
        for method, place, body in (
            ("POST", "studies/study/note", {"text": "lost"}),
            ("POST", "studies", {"name": "new", "study": TABLE}),
            ("GET", "studies/study", None),
        ):
            refused = client.request(method, f"/api/v1/{place}", json=body)
            assert refused.status_code == 503, refused.text
            assert refused.json()["error"]["sentence"] == f"{path}: {WORDS}"
        assert client.get("/api/v1/health").status_code == 503
        assert {file.name for file in tmp_path.iterdir()} == before  # nor is an empty one made in its place


def test_a_log_that_comes_and_goes_with_its_users_is_no_loss(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    gb.Study.create(path, spec()).close()
    with gb.Study.open(path) as one, gb.Study.open(path) as other:
        for _ in range(3):  # the last of them takes the -wal away
            one.note("a")
            assert not path.with_name("s.sqlite-wal").exists()
            other.note("b")
        held = open_store(path, pooled=True)
        held.names()
        one.note("c")
        held.close()
        other.note("d")
        assert one.doctor() == []


def test_a_database_that_is_gone_acknowledges_nothing(postgres: Cluster) -> None:
    """Dropped, and made again without tables: PostgreSQL itself tells."""
    where = postgres.database()
    name, about = where.rpartition("/")[2], ("-h", "127.0.0.1", "-p", str(postgres.port), "-U", "gobetween")
    gb.Study.create(where, spec()).close()
    with running(store=where) as server, server.client() as client:
        assert client.post("/api/v1/studies/study/note", json={"text": "kept"}).status_code == 200
        for again in (False, True):
            postgres.run(*(("createdb", *about, name) if again else ("dropdb", "--force", *about, name)))
            if not again:
                assert client.get("/api/v1/health").status_code == 503
            refused = client.post("/api/v1/studies/study/note", json={"text": "lost"})
            assert refused.status_code == 503, refused.text
            assert "does not exist" in refused.json()["error"]["sentence"]
