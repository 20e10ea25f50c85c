"""Commands as processes that need not import libraries first: hundreds of them run in tests, and half of their time is that.

A server imports the libraries, but nothing of gobetween, which chooses as it is imported whether to compile; one for calls with
GOBETWEEN_JIT=off, where nothing is left to choose, imports that too. For every call it forks a child with arguments, folder,
environment, streams and exit status of its own, as a shell would start one.
"""

import atexit
import io
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

LIBRARIES = (
    "alembic.command",
    "click",
    "numpy.typing",
    "rich.console",
    "rich.table",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
)
OURS = (
    "gobetween.study.find_study",
    "gobetween.study.store.database",
    "gobetween.pages.study.status",
    "gobetween.logs.analysis.analysis",
)
MOST = 1 << 17  # bytes of a call


def gobetween(folder: Path, *arguments: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    """`gobetween ARGUMENTS` in a folder."""
    words, variables = [str(x) for x in arguments], dict(os.environ) | environment
    call = {"arguments": words, "folder": str(folder), "environment": variables}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        link = _server(variables.get("GOBETWEEN_JIT") == "off")
        socket.send_fds(link, [json.dumps(call).encode()], [out.fileno(), err.fileno()])
        status = link.recv(MOST)
        assert status, "the server of commands is gone"
        said = []
        for stream in (out, err):
            stream.seek(0)
            said.append(stream.read().decode())
    return subprocess.CompletedProcess(words, int(status), *said)


@cache
def _server(plain: bool) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = {name: value for name, value in os.environ.items() if name != "GOBETWEEN_JIT"}
    environment |= {"GOBETWEEN_JIT": "off"} if plain else {}
    command = [sys.executable, __file__, str(theirs.fileno()), *LIBRARIES, *(OURS if plain else ())]
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment)
    theirs.close()
    ours.settimeout(120.0)

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def serve(link: socket.socket, modules: list[str]) -> None:
    """Start a child for every call, until nobody can call any more."""
    for name in modules:
        __import__(name)
    while True:
        data, streams, _, _ = socket.recv_fds(link, MOST, 2)
        if not data:
            return
        child = os.fork()
        if child == 0:
            link.close()
            _become(json.loads(data), streams)
        for stream in streams:
            os.close(stream)
        link.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _become(call: dict[str, Any], streams: list[int]) -> NoReturn:
    """Run a command to its end."""
    for number, stream in enumerate((os.open(os.devnull, os.O_RDONLY), *streams)):
        os.dup2(stream, number)
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["environment"])
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.FileIO(0)), _writer(1), _writer(2)
    sys.argv = ["gobetween", *call["arguments"]]
    sys.orig_argv[:] = [sys.executable, "-m", "gobetween", *call["arguments"]]
    status = 0
    try:
        runpy.run_module("gobetween", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _writer(number: int) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(io.FileIO(number, "w")), encoding="utf-8")


if __name__ == "__main__":
    sys.path.pop(0)  # this folder
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
