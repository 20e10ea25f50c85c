"""Long lists of numbers are read by another parser: what is read, and what is refused, stays the same."""

import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gobetween as gb
from gobetween.files.toml import read_toml

NUMBERS = ["0", "-0", "1", "-12", "0.25", "1e-3", "-2.5E+7", "1e999", "123456789012345678901234567890"]
ODD = ["+1", "1_000", "0x1f", "inf", "nan", "true", "1979-05-27", "01", "1.", ".5", "", "# no\n1", "1,", "[1]", '"1"']


def text_of(parts: list[str], key: str = "policy") -> str:
    """A file with a list that is long enough, in the middle of others."""
    numbers = parts + ["0.5"] * 400
    return (
        f'a = [1, 2]\n[[mediators]]\nname = "x"\n{key} = [{", ".join(numbers)}]\n[[mediators]]\n{key} = [{", ".join(parts)}]\n'
    )


def both(path: Path, text: str) -> tuple[object, object]:
    path.write_text(text, encoding="utf-8")
    ours: object = None
    with suppress(gb.SpecError):
        ours = repr(read_toml(path))  # nan is not equal to itself
    with suppress(ValueError):
        return ours, repr(tomllib.loads(text))
    return ours, None


@settings(max_examples=200)
@given(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=5), st.lists(st.sampled_from(ODD), max_size=1), st.booleans())
def test_lists_are_read_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, plain: list[str], odd: list[str], lines: bool
) -> None:
    text = text_of(plain + odd)
    ours, theirs = both(tmp_path_factory.getbasetemp() / "one.toml", text.replace(", ", ",\n  ") if lines else text)
    assert ours == theirs


@pytest.mark.parametrize(
    "around",
    [
        'a = """\n{}\n"""\n',
        "a = '''\n{}\n'''\n",
        'a = "\ue0000"\n{}',
        "# {}\n",
        "{}\npolicy = 1\n",
        "b.{}\n",
        'a = "\\ue0000"\n{}',
    ],
)
def test_what_only_looks_like_a_list_stays_what_it_is(tmp_path: Path, around: str) -> None:
    ours, theirs = both(tmp_path / "one.toml", around.format("policy = [" + "0.5, " * 300 + "0.5]"))
    assert ours == theirs


def test_the_line_of_a_mistake_is_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text("policy = [" + "0.5,\n" * 300 + "0.5]\nb = \n", encoding="utf-8")
    with pytest.raises(gb.SpecError, match=r"one\.toml: not valid TOML: .*line 302"):
        read_toml(path)
