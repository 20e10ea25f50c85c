from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gobetween as gb
from gobetween.files.problem import parse_spec, read_spec

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

GOOD = """
title = "two arms"
family = { name = "gaussian", sigma = 2.0 }
delta = 0.05
[[arms]]
name = "a"
mean = 1.0
[[arms]]
name = "b"
mean = 0.0
[[mediators]]
name = "x"
policy = [0.25, 0.75]
cost = 3
[[mediators]]
policy = { b = 1 }
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file(tmp_path: Path) -> None:
    spec = read_spec(write(tmp_path, GOOD))
    problem = spec.problem
    assert (spec.title, spec.settings.delta) == ("two arms", (0.05,))
    assert problem.family == gb.Gaussian(2.0)
    assert problem.arms == ("a", "b")
    assert problem.mediators == ("x", "mediator 2")
    assert problem.policies.tolist() == [[0.25, 0.75], [0.0, 1.0]]
    assert problem.costs is not None
    assert problem.costs.tolist() == [3.0, 1.0]
    assert gb.Problem.from_toml(tmp_path / "study.toml").arms == ("a", "b")


def test_without_mediators_arms_are_pulled_directly(tmp_path: Path) -> None:
    assert gb.Problem.from_toml(write(tmp_path, GOOD.split("[[mediators]]")[0])).direct


@pytest.mark.parametrize("name", ["experiment1", "experiment2", "clinics"])
def test_the_examples_are_read(name: str) -> None:
    spec = read_spec(EXAMPLES / f"{name}.toml")
    assert spec.settings.delta
    assert gb.lower_bound(spec.problem).relative_error <= 1e-9


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "title",
            "titel",
            "titel is not a known key: did you mean title? Choose one of title, family, silent, arms, mediators, stake, delta, question",
        ),
        ('"two arms"', "3", "title = 3: must be a string"),
        ("delta = 0.05", "delta = 1.5", "delta = 1.5: the risk of a wrong answer is a number between 0 and 1"),
        ("delta = 0.05", "delta = [0.1, true]", "delta = true: must be a number"),
        ("delta = 0.05", 'silent = "no"', "silent = 'no': must be true or false"),
        ("sigma = 2.0", "sigma = 0", "family: sigma of a Gaussian family must be a positive number (1e-50 to 1e50), not 0.0"),
        ("sigma = 2.0", "sd = 2", "family.sd is not a known key: choose one of name, sigma"),
        (
            '"gaussian"',
            '"normal"',
            "family.name = 'normal': choose one of gaussian, bernoulli, poisson, exponential, gamma, bounded",
        ),
        ('{ name = "gaussian", sigma = 2.0 }', "7", "family = 7: must be a name or a table with a name"),
        ("mean = 1.0", 'mean = "high"', "arms[0].mean = 'high': must be a number"),
        ("mean = 1.0", "mean = nan", "arms[0].mean = nan: must be a finite number"),
        ("mean = 1.0", "men = 1.0", "arms[0].men is not a known key: did you mean mean? Choose one of name, mean"),
        ("mean = 1.0", "", "arms[0].mean is missing"),
        ('name = "b"', 'name = "a"', "arms[1].name = 'a' is also the name of arms[0]: names must differ"),
        ("[0.25, 0.75]", "[0.25, 0.5, 0.25]", "mediators[0].policy must be a list of 2 probabilities"),
        ("[0.25, 0.75]", '[0.25, "x"]', "mediators[0].policy[1] = 'x': must be a number"),
        (
            "[0.25, 0.75]",
            "[0.25, 0.7]",
            "mediators[0].policy (mediator 'x') sums to 0.95: it must sum to 1 (to 1e-9: give enough digits); if this mediator sometimes does not answer, set silent = true",
        ),
        ("{ b = 1 }", "{ c = 1 }", "mediators[1].policy.c is not a known key: choose one of a, b"),
        ("policy = { b = 1 }", "", "mediators[1].policy is missing"),
        ("cost = 3", "cost = -3", "mediators[0].cost = -3 (mediator 'x'): a cost is a positive number"),
        ("cost = 3", f"cost = {10**400}", "mediators[0].cost = a very large number: must be a finite number"),
        ("[[mediators]]", "[mediators]", "mediators must be a list of tables: write one [[mediators]] for each"),
        ("[0.25, 0.75]", "[0.25, 0.75", "not valid TOML: "),
        ('name = "gaussian", ', "", "family.name is missing: choose one of gaussian"),
        ('"gaussian", sigma', '"poisson", sigma', "family.sigma is not a known key: choose one of name"),
        ("mean = 1.0", f"mean = {'9' * 5000}", "holds a number that is too long"),
        ("mean = 1.0", f"mean = 0x{'f' * 5000}", "arms[0].mean = a very large number: must be a finite number"),
        ("mean = 1.0", f"mean = {'[' * 20000}", "holds a number that is too long or tables that are nested too deeply"),
        ("mean = 1.0", "mean = 1e60", "arms[0].mean = 1e+60 ('a') is not a mean of the gaussian family"),
    ],
)
def test_every_mistake_names_its_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    count = 2 if old == "[[mediators]]" else 1
    text = GOOD.replace(old, new, count) if count == 1 else GOOD.split(old)[0] + '[mediators]\nname = "x"\n'
    path = write(tmp_path, text)
    with pytest.raises(gb.SpecError) as caught:
        read_spec(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "bom.toml").write_text(GOOD, encoding="utf-8-sig")
    assert read_spec(tmp_path / "bom.toml").problem.K == 2


def test_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(gb.SpecError, match=r"arms is missing: write one \[\[arms\]\] for each"):
        read_spec(write(tmp_path, ""))


def test_a_syntax_error_names_its_line(tmp_path: Path) -> None:
    with pytest.raises(gb.SpecError, match=r"not valid TOML: .*line 3"):
        read_spec(write(tmp_path, "a = 1\nb = 2\nc = = 3\n"))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(gb.SpecError, match=r"nowhere.toml: no such file"):
        read_spec(tmp_path / "nowhere.toml")
    with pytest.raises(gb.SpecError, match="is a folder: name a file in it"):
        read_spec(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(gb.SpecError, match=r"is not UTF-8 \(line 1\): save it as text in UTF-8"):
        read_spec(tmp_path / "binary.toml")


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["name", "mean", "policy", "cost", "sigma", "low", "high", "a", "arm 1"]), inner, max_size=4
        ),
    ),
    max_leaves=12,
)


@given(
    data=st.dictionaries(st.sampled_from(["title", "family", "silent", "delta", "arms", "mediators", "x"]), values, max_size=6)
)
@settings(max_examples=400)
def test_fuzzed_specs_are_refused_in_one_sentence(data: dict[str, object]) -> None:
    try:
        parse_spec(data, "fuzz")
    except gb.SpecError as error:
        assert str(error).startswith("fuzz: ")
