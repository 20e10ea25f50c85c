"""What "no sign" is worth: at the difference that is said to show an alarm is raised more often than not, at a third of it rarely."""

import math
from typing import Any

import numpy as np
import pytest

import gobetween as gb
from gobetween.core.acting import log_policy_evidence, policy_alarms, visible_share
from gobetween.core.alarm import Facts
from gobetween.core.alarms import alarms_of
from gobetween.core.confounding import confounding_alarms, log_difference, most_difference
from gobetween.core.jit import ENABLED
from gobetween.core.types import Floats, Ints
from gobetween.core.visible import least_visible
from gobetween.pages.log import sentences
from gobetween.pages.status import no_signs

STATISTICS = pytest.mark.skipif(not ENABLED, reason="how often an alarm is raised does not depend on how kernels run")
SIZES = ([300, 300], [40, 1000], [200, 100, 400, 300, 50])


def drawn(family: Any, means: Floats, n: Ints, rng: np.random.Generator) -> Floats:
    """Sums of n rewards of each mean."""
    if family.name == "gaussian":
        return rng.normal(n * means, family.sigma * np.sqrt(n))
    if family.name == "poisson":
        return rng.poisson(n * means).astype(float)
    if family.name in ("exponential", "gamma"):
        shape = float(getattr(family, "shape", 1.0))
        return means * rng.gamma(n * shape) / shape
    if family.name == "binomial":
        return rng.binomial(n * int(family.n), means / family.n).astype(float)
    if family.name in ("geometric", "negative-binomial"):
        least = float(family.low)
        r = getattr(family, "r", 1.0)
        return np.asarray(n * least + rng.poisson(rng.gamma(n * r) * (means - least) / r), np.float64)
    width: float = family.high - family.low
    ones: Floats = rng.binomial(n, (means - family.low) / width).astype(float)
    return n * float(family.low) + width * ones


@STATISTICS
@pytest.mark.parametrize(
    ("family", "mean"),
    [
        (gb.Bernoulli(), 0.5),
        (gb.Bernoulli(), 0.05),
        (gb.Bernoulli(), 0.97),
        (gb.Gaussian(2.0), 5.0),
        (gb.Poisson(), 3.0),
        (gb.Poisson(), 1e4),
        (gb.Exponential(), 7.0),
        (gb.Gamma(4.0), 7.0),
        (gb.Binomial(5), 2.0),
        (gb.Geometric(), 3.0),
        (gb.NegativeBinomial(1.5), 3.0),
        (gb.Bounded(-1.0, 3.0), 0.0),
    ],
    ids=str,
)
def test_a_difference_that_is_said_to_show_does(family: Any, mean: float) -> None:
    rng = np.random.default_rng(int(100 * mean))
    for sizes in SIZES:
        n = np.array(sizes)
        names = [f"m{e}" for e in range(len(n))]
        N_ea, runs = np.column_stack([n, n]), 100
        facts = Facts(family, ["a", "b"], names, N_ea, [None] * len(n), 0.05, S_ea=N_ea * mean)
        found = alarms_of(facts)[0]
        assert found.kind == "confounding"
        assert found.visible is not None
        one = int(np.argmax(np.minimum(n, n.sum() - n)))
        side = 1.0 if family.high - mean >= mean - family.low else -1.0
        for share, least, most in ((1.0, 0.5, 1.0), (1 / 3, 0.0, 0.2)):
            means = np.full(len(n), mean)
            means[one] += side * share * found.visible
            sums = (drawn(family, means, n, rng) for _ in range(runs))
            raised = sum(confounding_alarms(["a", "b"], family, N_ea, np.column_stack([S, S]))[0].raised for S in sums)
            assert least * runs <= raised <= most * runs, (sizes, share, raised)


@STATISTICS
@pytest.mark.parametrize(
    "policy",
    [(0.5, 0.5), (0.9, 0.1), (0.5, 0.3, 0.2), (0.05,) * 20, (0.7, *[0.01] * 30)],
    ids=lambda policy: f"{policy[0]}, {len(policy)} arms",
)
def test_a_share_that_is_said_to_show_does(policy: tuple[float, ...]) -> None:
    p, rng, runs = np.array(policy), np.random.default_rng(len(policy)), 200
    limit = np.log(100.0)
    arm = int(np.argmax(p * (1.0 - p)))
    for n in (300, 3000):
        visible = visible_share(n, p, limit)
        assert visible is not None
        for share, least, most in ((1.0, 0.5, 1.0), (1 / 3, 0.0, 0.2)):
            q = p[arm] + share * visible * (1.0 if p[arm] < 0.5 else -1.0)
            other = np.where(np.arange(len(p)) == arm, q, p * (1.0 - q) / (1.0 - p[arm]))
            raised = sum(log_policy_evidence(rng.multinomial(n, other), p) >= limit for _ in range(runs))
            assert least * runs <= raised <= most * runs, (n, share, raised)


def test_it_agrees_with_what_was_measured() -> None:
    """Level .01, rewards ½, two mediators: .32, .18, .10 and .034 after 100, 300, 1,000 and 10,000 rows of each."""
    for n, difference, share in ((100, 0.32, 0.21), (300, 0.18, 0.12), (1000, 0.10, 0.07), (10_000, 0.034, 0.02)):
        N_ea = np.full((2, 1), n)
        facts = Facts(gb.Bernoulli(), ["a"], ["m", "n"], N_ea, [None, None], 0.05, S_ea=0.5 * N_ea)
        assert alarms_of(facts)[0].visible == pytest.approx(difference, abs=0.012)
        assert visible_share(n, np.array([0.5, 0.5]), np.log(100.0)) == pytest.approx(share, abs=0.012)


def test_few_steps_find_it() -> None:
    """Also where evidence is steep, near the end of the means: a hundred mediators, of which one must differ very much."""
    for n, limit in ((100, 9.2), (30, 3.0), (10_000, 6.0)):
        looked: list[float] = []

        def evidence(d: float, n: int = n, looked: list[float] = looked) -> float:
            looked.append(d)
            q = 0.49 + d
            gained = q * math.log(q / 0.49) + (1.0 - q) * math.log((1.0 - q) / 0.51)
            return n * gained - (60.0 if n == 100 else 2.0)

        found = least_visible(evidence, 0.5 / np.sqrt(n), 0.51, limit)
        assert found is not None
        assert len(looked) <= 15
        exact = found - 0.25 / np.sqrt(n)
        assert found > 0.509 or evidence(0.97 * exact) < limit < evidence(1.03 * exact)


def test_it_is_said_in_words_and_json() -> None:
    log = {"mediator": ["m", "n"] * 300, "arm": ["a", "a", "b", "b"] * 150, "reward": [0, 1, 1, 0, 1, 0, 0, 1] * 75}
    declared = {"m": [0.5, 0.5], "n": [0.5, 0.5]}
    found = gb.analyse_logs(log, arms=["a", "b"], declared=declared)
    kinds = {alarm.kind: alarm for alarm in found.alarms}
    assert kinds["confounding"].words.endswith("limit 5.3); a difference of about 0.28 would have shown.")
    assert kinds["policy"].words.endswith("limit 5.3); an arm's share off by about 13 points would have shown.")
    assert kinds["drift"].words.endswith("a change by about 0.33 at about row 256 would have shown.")
    visible = [alarm["visible"] for alarm in found.to_dict()["alarms"] if alarm["kind"] != "policy-drift"]
    assert [round(value, 2) for value in visible] == [0.33, 0.33, 0.28, 0.28, 0.13, 0.13]
    lines = sentences(found)
    start = "No sign that an arm pays differently with different mediators (a difference of about 0.28 would have shown)"
    assert f"{start}; confounding common to all cannot be seen." in lines
    declared_words = "No sign that a mediator acts otherwise than by its declared policy"
    assert f"{declared_words} (an arm's share off by about 13 points would have shown)." in lines
    three = {**log, "mediator": ["m", "n", "o"] * 200}
    assert "between 'm' and the others would have shown" in gb.analyse_logs(three).confounding[0].words
    few = gb.analyse_logs({"mediator": ["m", "n"], "arm": ["a", "a"], "reward": [1, 0]})
    assert few.confounding[0].visible is None
    assert few.confounding[0].words.endswith("; there are too few rows for any difference to show.")
    assert "(there are too few rows for any difference to show); confounding common" in " ".join(sentences(few))


def test_arms_and_mediators_of_which_less_is_known_are_named() -> None:
    N_ea = np.array([[400, 50, 1, 30], [400, 50, 1, 0]])
    declared = [[0.5, 0.2, 0.1, 0.2], None]
    facts = Facts(gb.Poisson(), ["a", "b", "c", "d"], ["m", "n"], N_ea[:, :4], declared, 0.05, S_ea=4.0 * N_ea)
    found = [alarm for alarm in alarms_of(facts) if alarm.kind == "confounding"]
    assert [alarm.subject for alarm in found] == ["a", "b", "c"]
    words = no_signs(found, "row")[0]
    sizes = [alarm.visible or 0.0 for alarm in found]
    assert all(sizes)
    assert sizes == sorted(sizes)
    assert "('a') to " in words
    assert "('c') would have shown" in words
    plain = alarms_of(Facts(**{**facts.__dict__, "visible": False}))
    assert all(alarm.visible is None and "shown" not in alarm.words for alarm in plain)
    sure = policy_alarms(["m"], np.array([[5, 0]]), [[1.0, 0.0]])[0]
    assert not sure.raised
    only = Facts(gb.Bernoulli(), ["a", "b"], ["m"], np.array([[5, 0]]), [[1.0, 0.0]], 0.05)
    assert alarms_of(only)[0].words.endswith("; any other arm would have shown.")


@pytest.mark.parametrize(
    "family", [gb.Bernoulli(), *([] if ENABLED else [gb.Gaussian(2.0), gb.Poisson(), gb.Exponential()])], ids=str
)
def test_no_evidence_of_a_difference_is_above_the_likelihood_ratio(family: Any) -> None:
    """What is looked at in haste leaves out only what cannot be raised."""
    rng, close = np.random.default_rng(3), 0
    for _ in range(60):
        n = rng.integers(1, 40, rng.integers(2, 7))
        S = drawn(family, rng.choice([0.02, 0.5, 0.9], len(n)), n, rng)
        found, most = log_difference(family, n, S), most_difference(family, n, S)
        assert found <= most + 1e-9
        close += most < found + 6.0
    assert close > 10
