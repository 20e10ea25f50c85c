"""Names: one form of each text, and no two in one cast that people cannot tell apart."""

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gobetween as gb
from gobetween.names import alike, hidden_in, normal, skeleton

DECOMPOSED, COMPOSED = "cafe\u0301", "caf\u00e9"
ALIKE = [("a", "\u0430"), ("A", "\uff21"), ("North", "North "), ("e\u0308", "\u0451"), ("A-B", "A\u2013B"), ("a b", "a\u00a0b")]
APART = ["a", "b", "A", "cafe", COMPOSED, "arm 1", "arm 10", "O", "0", "l", "1", "I", "\U0001f600", "\u30a2", "\u540d"]
HIDDEN = ["a\u200b", "\u202ea", "a\u00ad", "a\x07", "a\nb", "\ufeffa", "a\u200db"]
SHOWN = ["\U0001f469\u200d\u2695\ufe0f", "\u0645\u06cc\u200c\u062e\u0648", "caf\u00e9", "a b"]


def doors(arms: list[str]) -> list[Callable[[], Any]]:
    """All ways to name arms."""
    return [
        lambda: gb.Problem([0.6, 0.2], arms=arms, family="bernoulli"),
        lambda: gb.Problem(dict(zip(arms, [0.6, 0.2], strict=True)), family="bernoulli"),
        lambda: gb.Learner(arms, 2),
        lambda: gb.StudySpec(arms, ["m"]),
        lambda: gb.Learner(2, dict.fromkeys(arms)),
        lambda: gb.StudySpec(["a", "b"], arms),
    ]


@pytest.mark.parametrize("names", ALIKE, ids=ascii)
def test_names_that_look_alike_are_refused_by_their_code_points(names: tuple[str, str]) -> None:
    for door in doors(list(names)):
        with pytest.raises(gb.GoBetweenError, match=r"look alike: .*U\+[0-9A-F]{4} .*: change one of them"):
            door()
    assert alike(APART) == []


@pytest.mark.parametrize("name", HIDDEN, ids=ascii)
def test_what_cannot_be_seen_is_refused(name: str) -> None:
    for door in doors(["x", name]):
        with pytest.raises(gb.GoBetweenError, match=r"holds U\+[0-9A-F]{4}.*, which cannot be seen: leave it out"):
            door()


def test_what_belongs_to_a_script_or_a_picture_is_no_fault() -> None:
    assert [hidden_in(name) for name in SHOWN] == [""] * len(SHOWN)
    assert gb.Problem([0.6, 0.2], arms=SHOWN[:2], family="bernoulli").arms == tuple(SHOWN[:2])


@given(st.text(max_size=20))
def test_forms_of_one_text_are_one_name(name: str) -> None:
    forms = {normal(unicodedata.normalize(form, name)) for form in ("NFC", "NFD")}
    assert len(forms) == 1
    assert len({skeleton(unicodedata.normalize(form, name)) for form in ("NFC", "NFD", "NFKC", "NFKD")}) == 1


def test_a_learner_knows_its_arms_in_any_form() -> None:
    learner = gb.Learner(arms=[DECOMPOSED, "b"], mediators={"No\u0308rd": {COMPOSED: 0.5, "b": 0.5}})
    assert learner.arms == (COMPOSED, "b")
    learner.tell(learner.ask(), arm=DECOMPOSED, reward=1)
    assert learner.counted == 1
    with pytest.raises(gb.GoBetweenError, match="is also the name of"):
        gb.Learner(arms=[DECOMPOSED, COMPOSED], mediators=2)


def test_a_study_knows_its_names_in_any_form(tmp_path: Path) -> None:
    study = gb.Study.create(str(tmp_path / "s.sqlite"), gb.StudySpec([DECOMPOSED, "b"], ["No\u0308rd", "S"]))
    study.tell(mediator="N\u00f6rd", arm=DECOMPOSED, reward=1)
    study.tell(mediator="No\u0308rd", arm=COMPOSED, reward=0)
    assert {(event["mediator"], event["arm"]) for event in study.events()} == {("N\u00f6rd", COMPOSED)}
    study.away("No\u0308rd")
    study.back("N\u00f6rd")
    study.rename(DECOMPOSED, "the\u0301")
    assert study.spec.arms == ("th\u00e9", "b")
    for new in ("th\u0435\u0301", "x\u200b"):
        with pytest.raises(gb.StudyError, match=r"look alike|cannot be seen"):
            study.rename("b", new)
    for new in ("\u0405", "x\u200b"):
        with pytest.raises(gb.StudyError, match=r"look alike|cannot be seen"):
            study.add_mediator(new)
    assert study.doctor() == []
