"""What was committed before the connection broke is found again by its key: whatever the verb, it is done once and says the same."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import gobetween as gb
from gobetween.study.commands.command_queue import CommandQueue
from gobetween.study.commands.study_verbs import Archive, Delete, Note, Pause, RenameStudy, Resume
from gobetween.study.commands.verb import Verb
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

#: One after the other, so that each has something to do.
COURSE: list[Verb[Any]] = [
    Ask(4), Tell(0, arm="a", reward=1, accept_surprise=True), Tell(mediator="z", arm="b", reward=0), Correct(0, arm="b", reward=0, reason="misread", accept_surprise=True),
    Void(4, reason="not ours"), Cancel(1), Away("x"), Back("x"), AddMediator("w", policy=[0.2, 0.3, 0.5], cost=2.0), Declare("w"), Retire("y"),
    Rename("a", "A"), Note("all quiet"), Pause(), Resume(), Archive(), Archive(undo=True),
]  # fmt: skip
OWN = ("key", "request")


@contextmanager
def losing(study: gb.Study, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """After each first commit the connection is lost; how often that was."""
    real, commits, lost = study.store.writing, list[int](), list[int]()

    @contextmanager
    def writing(name: str) -> Iterator[Any]:
        with real(name) as record:
            yield record
        commits.append(1)
        if len(commits) % 2:
            lost.append(1)
            error = gb.StoreError("the connection was lost")
            error.passing = True
            raise error

    with monkeypatch.context() as patched:
        patched.setattr(study.store, "writing", writing)
        yield lost


def history(study: gb.Study) -> list[dict[str, Any]]:
    return [{key: value for key, value in event.items() if key not in OWN} for event in study.events()]


@pytest.mark.parametrize("queued", [False, True])
def test_every_verb(new: Callable[..., gb.Study], monkeypatch: pytest.MonkeyPatch, queued: bool) -> None:
    assert {type(verb) for verb in COURSE} == set(VERBS.values()) - {RenameStudy, Delete}  # see test_whole_study.py
    sound, broken = new(delta=1e-9), new(delta=1e-9)
    for study in (sound, broken):
        study.queue = CommandQueue(study.store, study.name) if queued else None
    for verb in COURSE:
        expected = sound.do(verb)
        with losing(broken, monkeypatch) as lost:
            assert broken.do(verb) == expected, verb.word
        assert lost, verb.word
        assert history(broken) == history(sound), verb.word
    assert broken.status().to_dict() | {"name": ""} == sound.status().to_dict() | {"name": ""}
    assert broken.doctor() == []


def test_what_is_no_verb_of_its_own(new: Callable[..., gb.Study], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Answers of a file, an edited spec."""
    (tmp_path / "answers.csv").write_text("query,arm,reward\n0,a,1\n1,b,0\n", encoding="utf-8")
    sound, broken = new(delta=1e-9), new(delta=1e-9)
    steps: list[Callable[[gb.Study], Any]] = [
        lambda study: study.ask(2),
        lambda study: (study.edit(gb.StudySpec.from_dict(study.spec.to_dict() | {"title": "another"})), study.taken_over),
        # of a row it is only known that it is there, not who wrote it: "already recorded"
        lambda study: [(receipt.query, receipt.stopped) for receipt in study.tell_csv(tmp_path / "answers.csv")],
    ]
    for step in steps:
        expected = step(sound)
        with losing(broken, monkeypatch):
            assert step(broken) == expected
        assert history(broken) == history(sound)
    assert broken.spec.title == "another"
    assert broken.doctor() == []
