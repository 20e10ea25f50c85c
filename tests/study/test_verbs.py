"""Each verb once: what it is called, takes and refuses is the same in Python, far away, by HTTP and in the shell."""

import inspect
import subprocess
import sys
from typing import Any, cast

import numpy as np
import pytest
from click.testing import CliRunner

import gobetween as gb
from gobetween.cli import commands, gobetween
from gobetween.study.commands.commands import command_of
from gobetween.study.commands.study_verbs import Archive, Delete, Note, Pause, RenameStudy, Resume
from gobetween.study.commands.verb import Verb, arguments_of
from gobetween.study.commands.verbs import (
    VERBS,
    AddMediator,
    Ask,
    Away,
    Back,
    Cancel,
    Correct,
    Declare,
    Rename,
    Retire,
    Tell,
    Void,
)

#: One of each.
MADE: dict[str, Verb[Any]] = {
    "ask": Ask(3),
    "tell": Tell(0, arm="a", reward=1),
    "correct": Correct(0, silent=True, reason="why"),
    "void": Void(0, reason="why"),
    "cancel": Cancel(0),
    "add-mediator": AddMediator("x", policy={"a", "b"}),
    "declare": Declare("x", policy={"a": 1.0}),
    "retire": Retire("x"),
    "rename": Rename("x", "y"),
    "note": Note("hello"),
    "away": Away("x"),
    "back": Back("x"),
    "pause": Pause(),
    "resume": Resume(),
    "archive": Archive(undo=True),
    "rename-study": RenameStudy("new"),
    "delete": Delete("old"),
}


@pytest.mark.parametrize("word", VERBS)
def test_a_verb_is_there_for_everyone(word: str) -> None:
    verb, made, name = VERBS[word], MADE[word], word.replace("-", "_")
    assert command_of(made).verb is made
    assert type(made)(**made.arguments()) == made
    for kind in (gb.Study, gb.Client):
        method = getattr(kind, name)
        assert method.__doc__.startswith(verb.summary())
        assert list(inspect.signature(method).parameters) == ["self", *(one.name for one in arguments_of(verb))]
    assert commands()[word] == verb.summary()
    shown = " ".join(CliRunner().invoke(gobetween, [word, "--help"], terminal_width=10_000).output.split())
    assert verb.summary() in shown
    assert "--key TEXT Makes the command safe to repeat." in shown


def test_verbs_are_equal_where_they_ask_for_the_same() -> None:
    query, one = gb.StudyQuery(3, "x", "", 0.0, None, None, None), cast(Any, np.float32(1.0))
    assert Tell(query, arm="a", reward=1, key="k") == Tell(3, arm="a", again=True, reward=one)
    assert Tell(3, arm="a", reward=True).digest == Tell(3, arm="a", reward=1.0).digest
    assert Tell(3, arm="a", reward=1.0).digest != Tell(3, arm="a", reward=0.0).digest
    assert AddMediator("x", policy={"b", "a"}) == AddMediator("x", policy=["a", "b"])
    assert AddMediator("x", policy=np.array([0.5, 0.5])).arguments()["policy"] == [0.5, 0.5]
    assert Pause().digest != Resume().digest


@pytest.mark.parametrize(
    ("kind", "arguments", "words"),
    [
        (Ask, {"n": 0}, "n = 0: ask for 1 to 10,000 queries"),
        (Ask, {"n": True}, "n = True: ask for 1 to 10,000 queries"),
        (Ask, {"n": 2, "worker": "w"}, "a worker holds one query at a time: leave out n"),
        (Tell, {"arm": "a", "reward": 1}, "name the query that is answered, or the mediator who answered without being asked"),
        (Correct, {"query": 0, "reason": " "}, "a correction needs a reason"),
        (Void, {"query": 0, "reason": ""}, "taking an answer out needs a reason"),
        (Cancel, {"query": 0, "reason": "x" * 10_001}, "reason: must be a text of at most 10000 characters"),
        (AddMediator, {"mediator": ""}, "a mediator needs a name"),
        (Retire, {"name": "x", "what": "leg"}, "what = 'leg': choose one of mediator, arm"),
        (Rename, {"old": "x", "new": ""}, "a name needs some text"),
        (Note, {"text": " "}, "a note needs some text"),
        (Note, {"text": "x", "key": ""}, "key: must not be empty"),
        (Note, {"text": "x", "key": "\x00"}, "key: must be a text of at most 500 characters"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_happens(kind: Any, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(gb.StudyError, match=words):
        kind(**arguments)


def test_a_client_needs_no_mathematics() -> None:
    code = """
import sys
import gobetween as gb
client = gb.Client("http://127.0.0.1:1", "token", "study")
for act in (lambda: client.tell(0, arm="a", reward=float("nan")), lambda: client.ask(key="ü")):
    try:
        act()
    except gb.StudyError:
        pass
print([name for name in sys.modules if name.split(".")[0] in ("numpy", "numba", "scipy") or name.startswith("gobetween.core")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")
