"""A throw-away PostgreSQL on loopback, run by an unprivileged user."""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from children import MARK, MEMORY
from parts import missing

PASSWORD = "between"


class Cluster:
    """A running server; every database is made on demand."""

    def __init__(self, folder: Path, programs: Path, prefix: list[str]) -> None:
        self.folder, self.programs, self.prefix = folder, programs, prefix
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._count = 0

    def run(self, program: str, *arguments: str) -> None:
        command = [*self.prefix, str(self.programs / program), *arguments]
        environment = os.environ | {"PGPASSWORD": PASSWORD, "LC_ALL": "C.UTF-8"}
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, env=environment)

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=200"
        options += " -c fsync=off"  # processes are killed here, machines are not
        self.run("pg_ctl", "start", "-w", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-o", options)

    def stop(self, mode: str = "immediate") -> None:
        self.run("pg_ctl", "stop", "-w", "-D", str(self.folder / "data"), "-m", mode)

    def database(self) -> str:
        """The URL of a new, empty database; the password is in the environment."""
        self._count += 1
        name = f"between{self._count}"
        self.wait()
        self.run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "gobetween", name)
        return f"postgresql://gobetween@127.0.0.1:{self.port}/{name}"

    def wait(self, seconds: float = 60.0) -> None:
        """Until the server takes connections: after a crash it recovers first."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self.run("pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port))
            except subprocess.CalledProcessError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def backends(self) -> list[int]:
        """Processes of this server that serve connections."""
        server = (self.folder / "data" / "postmaster.pid").read_text().split()[0]
        command = ["pgrep", "-P", server, "-f", "postgres: gobetween .*127.0.0.1"]
        found = subprocess.run(command, capture_output=True, text=True)
        return [int(pid) for pid in found.stdout.split()]


def roomy_memory() -> Path | None:
    """Where files are in memory, if there is room: hundreds of databases are made and removed, which takes a disk a minute."""
    place = MEMORY
    return place if place.is_dir() and os.access(place, os.W_OK) and shutil.disk_usage(place).free > 4 << 30 else None


@contextmanager
def cluster() -> Iterator[Cluster]:
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not programs:
        missing("PostgreSQL is not installed: apt-get install postgresql")
    root = os.geteuid() == 0
    folder = Path(tempfile.mkdtemp(prefix=f"gobetween-pg-{os.environ.get(MARK)}-", dir=roomy_memory()))
    if root:
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
    prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if root else []
    made = Cluster(folder, Path(programs[-1]), prefix)
    secret = folder / "secret"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    try:
        made.run("initdb", "-D", str(folder / "data"), "-U", "gobetween", "-A", "scram-sha-256", f"--pwfile={secret}")
        made.start()
        os.environ["PGPASSWORD"] = PASSWORD
        yield made
    finally:
        with suppress(subprocess.CalledProcessError):
            made.stop()
        deadline = time.monotonic() + 5
        while folder.exists() and time.monotonic() < deadline:
            shutil.rmtree(folder, ignore_errors=True)
