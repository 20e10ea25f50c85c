"""Sentences stay sentences, however many arms and mediators there are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gobetween as gb
from gobetween.export import shortened, some
from gobetween.pages.blocks import Text
from gobetween.pages.study.page import study_page
from gobetween.pages.study.status import sections
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study

MANY = 60
LONGEST = 500  # characters


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    arms, mediators = ([{"name": f"{what} {i}"} for i in range(MANY)] for what in ("arm", "clinic"))
    for i, mediator in enumerate(mediators):
        mediator |= {"support": [f"arm {i}", f"arm {(i + 1) % MANY}"]}  # type: ignore[dict-item]
    spec = parse_study({"family": "bernoulli", "arms": arms, "mediators": mediators}, "test")
    made = gb.Study.create(str(tmp_path_factory.mktemp("many") / "s.sqlite"), spec)
    made.tell(mediator="clinic 0", arm="arm 0", reward=1)
    return made


def test_of_many_names_the_first_are_said_and_the_rest_counted() -> None:
    names = [f"arm {i}" for i in range(1000)]
    assert some(names, 2) == "'arm 0', 'arm 1' and 998 more"
    assert some(names[:2], 2) == "'arm 0' and 'arm 1'"
    assert (some(names[:1]), some([])) == ("'arm 0'", "")
    assert shortened(["a", "b", "c"], 2) == "a, b and 1 more"


REFUSED: dict[str, Callable[[Study], Any]] = {
    "tell of an arm": lambda study: study.tell(mediator="clinic 0", arm="arm", reward=1),
    "tell of a mediator": lambda study: study.tell(mediator="clinic", arm="arm 0", reward=1),
    "away": lambda study: study.away("clinic"),
    "retire": lambda study: study.retire("arm", what="arm"),
    "rename": lambda study: study.rename("arm", "b"),
    "support": lambda study: study.add_mediator("new", policy={"arm"}),
    "policy": lambda study: study.add_mediator("new", policy={"arm": 1.0}),
    "all away": lambda study: [study.away(f"clinic {i}") for i in range(MANY)] and study.ask(),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals_are_short(study: Study, what: str) -> None:
    with pytest.raises(gb.GoBetweenError) as told:
        REFUSED[what](study)
    assert len(str(told.value)) < LONGEST, str(told.value)
    assert " more" in str(told.value)


def test_a_status_is_short(study: Study) -> None:
    """Also when all are away: who reaches what is said of each group, and of some groups."""
    view = study.view(0)
    said = [block.words for section in sections(study_page(view), view) for block in section.blocks if isinstance(block, Text)]
    assert max(map(len, said)) < LONGEST, max(said, key=len)
    assert len(said) < 20, said
    assert any(f"The same holds for {MANY - 5} more arms" in words for words in said)


def test_a_file_with_other_names_is_refused_in_a_short_sentence(tmp_path: Path) -> None:
    def text(names: range) -> str:
        return (
            'family = "bernoulli"\n' + "".join(f'[[arms]]\nname = "arm {i}"\n' for i in names) + '[[mediators]]\nname = "x"\n'
        )

    path = tmp_path / "study.toml"
    path.write_text(text(range(MANY)), encoding="utf-8")
    gb.Study.create(path).tell(mediator="x", arm="arm 0", reward=1)
    for names in (range(1000, 1000 + MANY), range(2), range(2 * MANY)):
        path.write_text(text(names), encoding="utf-8")
        with pytest.raises(gb.StudyError, match=r"and \d+ more") as told:
            gb.Study.open(path)
        assert len(str(told.value)) < 2 * LONGEST, str(told.value)
