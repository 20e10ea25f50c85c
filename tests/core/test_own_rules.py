"""Families and rules of one's own: they get what ours get, pass the same contract, and never touch the kernels' cache."""

import ast
import json
import math
import os
import pickle
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import own_rules
import pytest

import gobetween as gb
from gobetween.core.ground.jit import ENABLED
from gobetween.core.ground.registry import classes, words
from gobetween.testing import check_family, check_sampling, check_stopping, engine_run, same_steps

SOURCE = Path(__file__).parent.parent.parent / "src" / "gobetween"
GOLDEN = Path(__file__).parent / "golden_paths.json"
PROBLEM = gb.Problem([1.5, 0.5, 0.0], [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]], family=gb.Gaussian(1.0))


def shown(value: object) -> str:
    """A name for a test that is the same in every process."""
    return re.sub(r" at 0x\w+", "", str(value))


def binomial(x: float, p: float) -> float:
    return math.log(p) if x == 1.0 else math.log1p(-p)


CONTRACT: dict[str, tuple[gb.Family, tuple[float, ...], Any, Any]] = {
    "gaussian": (
        gb.Gaussian(0.7),
        (-0.5, 0.2, 1.0),
        lambda x, m: -0.5 * ((x - m) / 0.7) ** 2 - math.log(0.7 * math.sqrt(2 * math.pi)),
        None,
    ),
    "bernoulli": (gb.Bernoulli(), (0.1, 0.35, 0.8), binomial, (0.0, 1.0)),
    "poisson": (gb.Poisson(), (0.3, 2.0, 5.0), lambda x, m: x * math.log(m) - m - math.lgamma(x + 1), range(80)),
    "exponential": (gb.Exponential(), (0.5, 1.0, 2.0), lambda x, m: -x / m - math.log(m), None),
    "bounded": (gb.Bounded(-1.0, 3.0), (-0.5, 0.5, 2.0), None, None),
    "gamma": (
        gb.Gamma(2.5),
        (0.5, 1.0, 2.0),
        lambda x, m: 1.5 * math.log(x) - 2.5 * x / m + 2.5 * math.log(2.5 / m) - math.lgamma(2.5) if x > 0.0 else -math.inf,
        None,
    ),
    "binomial": (
        gb.Binomial(6),
        (0.6, 2.0, 5.0),
        lambda x, m: math.log(math.comb(6, int(x))) + x * math.log(m / 6) + (6 - x) * math.log(1 - m / 6),
        range(7),
    ),
    "geometric": (
        gb.Geometric(),
        (1.2, 2.0, 4.0),
        lambda x, m: (x - 1) * math.log1p(-1 / m) - math.log(m),
        range(1, 500),
    ),
    "negative-binomial": (
        gb.NegativeBinomial(1.5),
        (0.4, 1.0, 3.0),
        lambda x, m: (
            math.lgamma(x + 1.5)
            - math.lgamma(1.5)
            - math.lgamma(x + 1)
            + x * math.log(m / (m + 1.5))
            - 1.5 * math.log1p(m / 1.5)
        ),
        range(500),
    ),
}


@pytest.mark.parametrize("name", ["gaussian", "bernoulli"] if ENABLED else list(CONTRACT))
def test_our_families_keep_the_contract(name: str) -> None:
    """Compiled for two of them: each further one costs half a minute of compilation; without the JIT all are run."""
    family, means, log_density, support = CONTRACT[name]
    check_family(family, means, log_density, support, draws=20_000 if ENABLED else 5_000)


@pytest.mark.parametrize("word", [w for w, rule in words("sampling").items() if type(rule).__module__.startswith("gobetween.")])
def test_our_sampling_rules_keep_the_contract(word: str) -> None:
    check_sampling(word, runs=200 if ENABLED else 5)


@pytest.mark.parametrize("word", [w for w, rule in words("stopping").items() if type(rule).__module__.startswith("gobetween.")])
def test_our_stopping_rules_keep_the_contract(word: str) -> None:
    check_stopping(word, runs=200 if ENABLED else 5)


def test_every_family_of_ours_is_in_the_contract() -> None:
    assert {name for name, kind in classes("family").items() if kind.__module__.startswith("gobetween.")} == set(CONTRACT)


def test_own_rules_keep_the_contract() -> None:
    runs = 100 if ENABLED else 3
    check_sampling(own_rules.Chase(), runs=runs)
    check_sampling(own_rules.Chase(epsilon=0.5), runs=runs)
    check_stopping(own_rules.Stubborn(), runs=runs)


@pytest.mark.plain
def test_an_own_family_keeps_the_contract() -> None:
    gamma = own_rules.Amount(2.0)

    def log_density(x: float, mean: float) -> float:
        return math.log(x) - 2.0 * x / mean + 2.0 * math.log(2.0 / mean) if x > 0.0 else -math.inf

    check_family(gamma, (0.5, 1.0, 2.5), log_density, draws=20_000 if ENABLED else 5_000)
    assert gb.lower_bound(gb.Problem([2.5, 1.0], family=gamma)).status == "optimal"


def test_what_does_not_compile_runs_as_plain_python_and_says_so_once(capfd: pytest.CaptureFixture[str]) -> None:
    plain = gb.simulate(PROBLEM, own_rules.Wordy(), gb.GLR(), 0.1, runs=4, workers=1)
    ours = gb.simulate(PROBLEM, gb.UniformSampling(order="cyclic"), gb.GLR(), 0.1, runs=4, workers=1)
    assert (plain.tau == ours.tau).all()
    gb.simulate(PROBLEM, own_rules.Wordy(), gb.GLR(), 0.1, runs=4, workers=2)
    told = capfd.readouterr().err
    if ENABLED:
        assert told.count("Wordy.choose does not compile and runs as plain Python") <= 1
    same_steps(PROBLEM, own_rules.Wordy(), gb.EProcess())


def test_what_compiles_to_another_type_works_too() -> None:
    class Floating(own_rules.Wordy):
        def choose(self, view: gb.SamplingView, available: Any, rng: Any) -> int:
            return view.t % 3 + 0.0  # type: ignore[return-value]  # a float, as careless code returns it

    runs = gb.simulate(PROBLEM, Floating(), gb.GLR(), 0.1, runs=4, workers=1)
    assert (runs.tau == gb.simulate(PROBLEM, gb.UniformSampling(order="cyclic"), gb.GLR(), 0.1, runs=4, workers=1).tau).all()


def test_an_own_rule_sees_everything() -> None:
    seen: list[Any] = []

    class Spy(own_rules.Wordy):
        def choose(self, view: gb.SamplingView, available: Any, rng: Any) -> int:
            seen.append([view.t, view.N_e.copy(), view.N_ea.copy(), view.N_a.copy(), view.S_a.copy(), view.policies.copy()])
            seen.append([view.declared.copy(), view.costs.copy(), rng.random(), view.family])
            return super().choose(view, available, rng)

    learner = gb.Learner(
        ["a", "b"], {"x": [0.5, 0.5], "y": None}, sampling=Spy(), costs=[1.0, 2.0], delta=0.1, family=gb.Gaussian(1.0)
    )
    for t in range(3):
        learner.tell(learner.ask(), arm="a", reward=float(t))
    (t, N_e, N_ea, N_a, S_a, policies), (declared, costs, chance, family) = seen[-2], seen[-1]
    assert (t, N_e.sum(), N_ea.sum(), N_a.tolist(), S_a.tolist()) == (2, 2, 2, [2, 0], [1.0, 0.0])
    assert policies.tolist() == [[0.5, 0.5], [1.0, 0.0]]  # declared, and estimated from one answer
    assert (declared.tolist(), costs.tolist()) == ([True, False], [1.0, 2.0])
    assert 0.0 <= chance < 1.0
    assert family == gb.Gaussian(1.0)


def test_memory_begins_anew_with_each_run() -> None:
    one = gb.simulate(PROBLEM, own_rules.Chase(), own_rules.Stubborn(), 0.1, runs=16, seed=1, workers=1)
    assert not one.censored.any()
    first = engine_run(PROBLEM, own_rules.Chase(), own_rules.Stubborn(), 1e-3, 500)
    again = engine_run(PROBLEM, own_rules.Chase(), own_rules.Stubborn(), 1e-3, 500)
    assert first[1:] == again[1:]


def test_a_choice_that_cannot_be_asked_is_refused_by_name() -> None:
    class Lost(own_rules.Wordy):
        def choose(self, view: gb.SamplingView, available: Any, rng: Any) -> int:
            return 99

    with pytest.raises(gb.ProblemError, match=r"Lost\.choose named a mediator who cannot be asked"):
        gb.simulate(PROBLEM, Lost(), runs=1, workers=1)
    learner = gb.Learner(3, 3, sampling=Lost(), family=gb.Gaussian(1.0))
    before = json.dumps(learner.queries)
    with pytest.raises(gb.ProblemError, match=r"Lost\.choose named a mediator who cannot be asked"):
        learner.ask()
    assert json.dumps(learner.queries) == before


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (gb.Tracking, "Tracking is a class: pass a sampling rule, Tracking(…)"),
        (lambda view: 0, "is not a sampling rule: pass one such as gb.Pursuit()"),
        (None, "None is not a sampling rule"),
        (3, "3 is not a sampling rule"),
        (gb.EProcess(), "is not a sampling rule"),
        (gb.SamplingRule(), "is not a sampling rule: pass one such as gb.Pursuit()"),
        (
            "trakcing",
            "'trakcing' is not a known sampling rule: did you mean tracking? Choose one of pursuit, pursuit-unknown, tracking, tracking-d",
        ),
    ],
    ids=shown,
)
def test_what_is_no_rule_is_refused_before_the_first_step(value: Any, message: str) -> None:
    for use in (
        lambda: gb.simulate(PROBLEM, value, runs=1),
        lambda: gb.Learner(2, 2, sampling=value, family=gb.Gaussian(1.0)),
        lambda: gb.replay_logs({"arm": ["a", "b"], "reward": [0, 1]}, sampling=value),
    ):
        with pytest.raises(gb.ProblemError) as caught:
            use()
        assert message in str(caught.value)


@pytest.mark.parametrize("value", [gb.EProcess, lambda: 0, None, gb.Tracking(), object(), "eprocess"], ids=shown)
def test_what_is_no_stopping_rule_is_refused_before_the_first_step(value: Any) -> None:
    for use in (
        lambda: gb.simulate(PROBLEM, "tracking", value, runs=1),
        lambda: gb.Learner(2, 2, stopping=value, family=gb.Gaussian(1.0)),
    ):
        with pytest.raises(gb.ProblemError, match="stopping rule"):
            use()


@pytest.mark.parametrize("value", [gb.Bernoulli, "bernouli", None, 3, gb.Family()], ids=shown)
def test_what_is_no_family_is_refused(value: Any) -> None:
    with pytest.raises(gb.ProblemError, match="family"):
        gb.Problem([0.5, 0.4], family=value)
    with pytest.raises(gb.ProblemError, match="family"):
        gb.Learner(2, 2, family=value)
    with pytest.raises(gb.ProblemError, match="family"):
        gb.analyse_logs({"arm": ["a", "b"], "reward": [0, 1]}, family=value)


def test_words_stand_for_rules() -> None:
    runs = gb.simulate(gb.Problem([0.9, 0.1], family="bernoulli"), "uniform", "e-process", runs=2, workers=1)
    assert (runs.sampling, runs.stopping) == ("uniform", "e-process")
    learner = gb.Learner(2, 2, family="bernoulli", sampling="cyclic", stopping="kaufmann-koolen")
    assert learner.design.sampling == gb.UniformSampling(order="cyclic")
    assert learner.design.stopping == gb.GLR(rate="kaufmann-koolen")


def test_registering_is_refused_where_it_would_mislead() -> None:
    class Half(gb.SamplingRule):
        name = "half"

    with pytest.raises(gb.ProblemError, match="Half must be a frozen dataclass, or a NamedTuple"):
        gb.register(Half)

    class Incomplete(gb.Gaussian):
        name = "gaussian"

    with pytest.raises(gb.ProblemError, match=r"'gaussian' is the family gobetween\.core\.reward\.families\.Gaussian"):
        gb.register(Incomplete)
    with pytest.raises(gb.ProblemError, match=r"cannot be registered: write a class that inherits from gb.Family"):
        gb.register(int)

    class Nameless(own_rules.Wordy):
        name = ""

    with pytest.raises(gb.ProblemError, match="Nameless has no name"):
        gb.register(Nameless)
    with pytest.raises(gb.SpecError, match=r"Nameless cannot be saved: put @gb.register above its class"):
        gb.Learner(2, 2, sampling=Nameless(), family=gb.Gaussian(1.0)).to_dict()


def test_functions_that_cannot_be_called_are_refused_by_name() -> None:
    class Deaf(own_rules.Wordy):
        def choose(self, view: Any) -> int:  # type: ignore[override]  # that is the mistake
            return 0

    class Forgetful(own_rules.Wordy):
        def memory(self, K: int, E: int) -> Any:
            return "nothing"

    with pytest.raises(
        gb.ProblemError, match=r"Deaf\.choose takes \(self, view\): it must take \(self, view, available, rng\)"
    ):
        gb.simulate(PROBLEM, Deaf(), runs=1)
    with pytest.raises(gb.ProblemError, match=r"Forgetful\.memory must return an array of numbers, not 'nothing'"):
        gb.Learner(2, 2, sampling=Forgetful(), family=gb.Gaussian(1.0))


@gb.register
@dataclass(frozen=True)
class Moody(gb.SamplingRule):
    """Words and tuples as parameters, a memory of two axes."""

    name: ClassVar[str] = "own-moody"
    mood: str = "fair"
    weights: tuple[float, ...] = (0.5, 0.5)

    def memory(self, K: int, E: int) -> Any:
        return np.zeros((E, K))

    def choose(self, view: gb.SamplingView, available: Any, rng: np.random.Generator) -> int:
        lead = self.weights[0] if self.mood == "fair" else 1e9
        return int(np.argmin(np.where(available, view.N_e + lead * view.memory[:, 0], np.inf)))

    def observe(self, view: gb.SamplingView, e: int, a: int, reward: float) -> None:
        if a < view.memory.shape[1]:
            view.memory[e, a] += 1.0


def test_parameters_may_be_words_and_tuples() -> None:
    same_steps(PROBLEM, Moody(weights=(0.25, 0.75)), gb.EProcess())
    same_steps(PROBLEM, Moody(mood="foul", weights=[0.25, 0.75]), gb.EProcess())  # type: ignore[arg-type]  # it becomes a tuple
    with pytest.raises(
        gb.ProblemError, match=r"weights of Moody = \{'a': 1\}: parameters are numbers, words and tuples of them"
    ):
        gb.simulate(PROBLEM, Moody(weights={"a": 1}), runs=1)  # type: ignore[arg-type]


def test_every_kernel_is_in_the_digest() -> None:
    """Numba's decorators are used under core/ only, and the digest reads every file there."""
    for path in sorted(SOURCE.rglob("*.py")):
        inside = SOURCE / "core" in path.parents
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for decorator in getattr(node, "decorator_list", ()):
                name = getattr(decorator, "id", getattr(getattr(decorator, "func", None), "id", ""))
                assert inside or name not in ("jit", "leaf", "inlined", "by_type", "njit"), f"{path}: {name} belongs to core/"
        assert path.parent.name != "core" or inside


OWN = """
import math
from typing import NamedTuple
import gobetween as gb
from gobetween.core.evidence.eprocess import evidence

class Halves(NamedTuple("Halves", []), gb.Family):
    name = "halves"
    low, high = -math.inf, math.inf
    def divergence(self, mu, toward, step, rest):
        return 2.0 * (step * (toward - mu)) ** 2

print(evidence(Halves(), 1.0, 0.0, 1.0, 1.0)[0])
"""
OURS = """
import gobetween as gb
from gobetween.core.evidence.eprocess import evidence
print(evidence(gb.Gaussian(1.0), 1.0, 0.0, 1.0, 1.0)[0])
"""


@pytest.mark.compiled
def test_code_from_elsewhere_never_touches_the_cache(tmp_path: Path) -> None:
    env = os.environ | {"GOBETWEEN_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "halves.py").write_text(textwrap.dedent(OWN), encoding="utf-8")
    ours = [sys.executable, "-c", OURS]

    def run(command: list[str]) -> str:
        done = subprocess.run(command, cwd=tmp_path / "home", env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    assert float(run(ours)) == 0.25
    kept = {path.name for path in (tmp_path / "cache").rglob("*.nb?")}
    assert len(kept) >= 2
    assert float(run([sys.executable, "-c", "import halves"])) == 1.0
    assert {path.name for path in (tmp_path / "cache").rglob("*.nb?")} == kept
    for path in (tmp_path / "cache").rglob("*.nb?"):
        assert b"halves" not in path.read_bytes().lower()
    (tmp_path / "home" / "halves.py").unlink()
    assert float(run(ours)) == 0.25
    for i, path in enumerate(sorted((tmp_path / "cache").rglob("*.nb?"))):  # damage of any kind: it is made anew
        foreign = pickle.dumps("0") + b"cnowhere\nNothing\n."
        path.write_bytes([b"", b"\x80\x04garbage", foreign, path.read_bytes()[:40]][i % 4])
    assert float(run(ours)) == 0.25
    assert float(run(ours)) == 0.25


def test_golden_paths() -> None:
    """Engine and learner cannot drift together: each rule's first 200 queries are as they were."""
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert walked() == golden


def walked() -> dict[str, list[int]]:
    """Word → the mediators that the rule asks first, on a fixed seed."""
    problem = gb.Problem([0.6, 0.5, 0.3], 0.9 * PROBLEM.policies, family="bernoulli", costs=[1.0, 2.0, 1.5], silent=True)
    cumulative = np.cumsum(problem.policies, axis=1)
    found = {}
    for word, rule in words("sampling").items():
        if not rule.live or not type(rule).__module__.startswith("gobetween."):
            continue
        learner = gb.Learner(
            problem.arms, problem.policies.tolist(), family=problem.family, delta=1e-12, costs=problem.costs, sampling=rule,
            seed=7, silent=True,
        )  # fmt: skip
        world, asked = np.random.default_rng(7), []
        for _ in range(200):
            query = learner.ask()
            e = learner.mediators.index(query.mediator)
            asked.append(e)
            a = int(np.searchsorted(cumulative[e], world.random(), side="right"))
            if a == problem.K:
                learner.tell(query, silent=True)
            else:
                learner.tell(query, arm=problem.arms[a], reward=float(world.random() < problem.means[a]))
        found[word] = asked
    return found


if __name__ == "__main__":  # python tests/core/test_own_rules.py: only when a rule is meant to take another path
    GOLDEN.write_text(json.dumps(walked()).replace("], ", "],\n") + "\n", encoding="utf-8")


def test_a_class_with_the_name_of_ours_is_refused() -> None:
    """Kernels of ours that come from the cache could be taken for those of a class that only has the same name and fields."""
    kind = type("Gamma", (own_rules.Amount,), {"__slots__": (), "__module__": "somewhere", "name": "another-gamma"})
    with pytest.raises(
        gb.ProblemError, match=r"somewhere.Gamma has the name of a class of gobetween.*call the class something"
    ):
        gb.Problem([2.0, 1.0], family=kind(2.0))
    with pytest.raises(gb.ProblemError, match="has the name of a class of gobetween"):
        gb.register(kind)
