"""What someone meant who mistyped a name or wrote a number in other words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gobetween as gb
from gobetween.export import choose, meant_number, nearest

MANY = [f"arm {i}" for i in range(1000)]


@pytest.mark.parametrize(
    ("given_name", "names", "said"),
    [
        ("pursiut", ["pursuit", "tracking"], "did you mean 'pursuit'? Choose one of 'pursuit', 'tracking'"),
        ("“text message”", ["letter", "text message"], "did you mean 'text message'? Choose one of 'letter', 'text message'"),
        ("Text_Message", ["letter", "text message"], "did you mean 'text message'? Choose one of 'letter', 'text message'"),
        ("fax", ["letter", "text message"], "choose one of 'letter', 'text message'"),
        ("fax", [], "there is none"),
        ("arn 77", MANY[:3], "choose one of 'arm 0', 'arm 1', 'arm 2'"),
        (None, ["a"], "choose one of 'a'"),
    ],
)
def test_a_name_that_is_not_known(given_name: object, names: list[str], said: str) -> None:
    assert choose(given_name, names) == said


def test_of_many_names_the_nearest_come_first() -> None:
    assert choose("arn 77", MANY).startswith("did you mean 'arm 77'? Choose one of 'arm 77', ")
    for wrong in ("arn 77", "", "x" * 10**7):  # the last at once
        assert choose(wrong, MANY).endswith(" and 990 more")


@given(st.text(max_size=30), st.lists(st.text(min_size=1, max_size=10), max_size=12))
def test_what_is_near_is_one_of_them(wrong: str, names: list[str]) -> None:
    assert set(nearest(wrong, names)) <= set(names)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("5%", "0.05"), ("50 %", "0.5"), ("5percent", "0.05"), ("5‰", "0.005"), ("0,05", "0.05"), ("“0.05”", "0.05"),
        ("'.5'", "0.5"), ("1/20", "0.05"), ("4 EUR", "4"), ("€4", "4"), ("1 000", "1000"), ("1_000", "1000"), ("1e3", "1000"),
        ("−3", "-3"), ("1,5", "1.5"),
    ],
)  # fmt: skip
def test_a_number_in_other_words(text: str, meant: str) -> None:
    assert meant_number(text) == f"; write {meant}"


@pytest.mark.parametrize("text", ["", "%", "-", "five", "1,000", "5/0", "1e999", "0.1 0.2", "4 apples", "1k", 5, None, [5]])
def test_where_it_is_not_plain_nothing_is_said(text: object) -> None:
    assert not meant_number(text)


@given(st.text(max_size=200))
def test_any_text_may_be_asked_about(text: str) -> None:
    assert meant_number(text) == "" or float(meant_number(text).removeprefix("; write ")) is not None


def test_a_list_of_numbers_with_a_text_names_it() -> None:
    with pytest.raises(gb.ProblemError, match=r"costs must be a list of numbers; costs\[0\] is '4 EUR'; write 4"):
        gb.Problem([0.5, 0.4], costs=["4 EUR", 1.0])  # type: ignore[arg-type]
    with pytest.raises(gb.ProblemError, match="choose one of best-arm, top-m, epsilon-best, threshold"):
        gb.simulate(gb.Problem([0.5, 0.4]), question="x")
