"""What "no sign" is worth: at the difference that is said to show an alarm is raised more often than not, at a third of it rarely."""

import math
from typing import Any

import numpy as np
import pytest
from log_tables import of_kind

import gobetween as gb
from gobetween.core.alarm.alarm import Facts, alarms_of, least_detectable
from gobetween.core.alarm.confounding import confounding_alarms, log_difference, most_difference
from gobetween.core.alarm.policy import log_policy_evidence, policy_alarms, visible_share
from gobetween.core.ground.jit import ENABLED, Floats, Ints
from gobetween.words.alarms import no_signs
from gobetween.words.logs import sentences

STATISTICS = pytest.mark.compiled
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
        assert found.detectable is not None
        one = int(np.argmax(np.minimum(n, n.sum() - n)))
        side = 1.0 if family.high - mean >= mean - family.low else -1.0
        for share, least, most in ((1.0, 0.5, 1.0), (1 / 3, 0.0, 0.2)):
            means = np.full(len(n), mean)
            means[one] += side * share * found.detectable
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
        detectable = visible_share(n, p, limit)
        assert detectable is not None
        for share, least, most in ((1.0, 0.5, 1.0), (1 / 3, 0.0, 0.2)):
            q = p[arm] + share * detectable * (1.0 if p[arm] < 0.5 else -1.0)
            other = np.where(np.arange(len(p)) == arm, q, p * (1.0 - q) / (1.0 - p[arm]))
            raised = sum(log_policy_evidence(rng.multinomial(n, other), p) >= limit for _ in range(runs))
            assert least * runs <= raised <= most * runs, (n, share, raised)


def test_it_agrees_with_what_was_measured() -> None:
    """Level .01, rewards ½, two mediators: .32, .18, .10 and .034 after 100, 300, 1,000 and 10,000 rows of each."""
    for n, difference, share in ((100, 0.32, 0.21), (300, 0.18, 0.12), (1000, 0.10, 0.07), (10_000, 0.034, 0.02)):
        N_ea = np.full((2, 1), n)
        facts = Facts(gb.Bernoulli(), ["a"], ["m", "n"], N_ea, [None, None], 0.05, S_ea=0.5 * N_ea)
        assert alarms_of(facts)[0].detectable == pytest.approx(difference, abs=0.012)
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

        found = least_detectable(evidence, 0.5 / np.sqrt(n), 0.51, limit)
        assert found is not None
        assert len(looked) <= 15
        exact = found - 0.25 / np.sqrt(n)
        assert found > 0.509 or evidence(0.97 * exact) < limit < evidence(1.03 * exact)


def test_it_is_said_in_words_and_json() -> None:
    log = {"mediator": ["m", "n"] * 300, "arm": ["a", "a", "b", "b"] * 150, "reward": [0, 1, 1, 0, 1, 0, 0, 1] * 75}
    declared = {"m": [0.5, 0.5], "n": [0.5, 0.5]}
    found = gb.analyse_logs(log, arms=["a", "b"], declared=declared)
    kinds = {alarm.kind: alarm for alarm in found.alarms}
    assert kinds["confounding"].words.endswith("(detectable: a difference of 0.28 or more).")
    assert kinds["policy"].words.endswith("(detectable: a share that differs by 13 percentage points or more).")
    assert kinds["drift"].words.endswith("(detectable: a change of 0.33 or more at about row 256).")
    detectable = [alarm["detectable"] for alarm in found.to_dict()["alarms"] if alarm["kind"] != "policy-drift"]
    assert [round(value, 2) for value in detectable] == [0.33, 0.33, 0.28, 0.28, 0.13, 0.13]
    lines = sentences(found)
    start = "Same reward across mediators: no problem found (detectable: 0.28 or more)"
    assert f"{start}. A bias shared by all mediators cannot be detected." in lines
    declared_words = "Declared policies: no problem found"
    assert f"{declared_words} (detectable: 13 percentage points or more)." in lines
    three = {**log, "mediator": ["m", "n", "o"] * 200}
    assert "or more between 'm' and the others" in of_kind(gb.analyse_logs(three), "confounding")[0].words
    few = gb.analyse_logs({"mediator": ["m", "n"], "arm": ["a", "a"], "reward": [1, 0]})
    assert of_kind(few, "confounding")[0].detectable is None
    assert of_kind(few, "confounding")[0].words.endswith(" (too few rows to tell).")
    assert "(too few rows to tell). A bias shared" in " ".join(sentences(few))


def test_arms_and_mediators_of_which_less_is_known_are_named() -> None:
    N_ea = np.array([[400, 50, 1, 30], [400, 50, 1, 0]])
    declared = [[0.5, 0.2, 0.1, 0.2], None]
    facts = Facts(gb.Poisson(), ["a", "b", "c", "d"], ["m", "n"], N_ea[:, :4], declared, 0.05, S_ea=4.0 * N_ea)
    found = [alarm for alarm in alarms_of(facts) if alarm.kind == "confounding"]
    assert [alarm.subject for alarm in found] == ["a", "b", "c"]
    words = no_signs(found, "row")[0]
    sizes = [alarm.detectable or 0.0 for alarm in found]
    assert all(sizes)
    assert sizes == sorted(sizes)
    assert "('a') to " in words
    assert "('c') or more" in words
    plain = alarms_of(Facts(**{**facts.__dict__, "detectable": False}))
    assert all(alarm.detectable is None and "shown" not in alarm.words for alarm in plain)
    sure = policy_alarms(["m"], np.array([[5, 0]]), [[1.0, 0.0]])[0]
    assert not sure.raised
    only = Facts(gb.Bernoulli(), ["a", "b"], ["m"], np.array([[5, 0]]), [[1.0, 0.0]], 0.05)
    assert alarms_of(only)[0].words.endswith("(detectable: any other arm).")


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
