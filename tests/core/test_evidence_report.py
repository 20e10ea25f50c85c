"""Evidence in a few numbers: the leader, the p-value, confidence sequences."""

import math
from collections.abc import Callable
from typing import Any

import naive
import numpy as np
import pytest
from scipy.stats import binom

import gobetween as gb
from gobetween.core.ground.tally import Tally, fill, new_tally
from gobetween.core.stopping.stopper import glr
from gobetween.core.verdict.evidence_report import arm_reports, in_play, resolvable, weigh

FAMILY = gb.Bernoulli()


def tally(*arms: tuple[int, float]) -> Tally:
    """From counts and sums."""
    return fill(new_tally(len(arms)), np.array([n for n, _ in arms]), np.array([S for _, S in arms]))


@pytest.mark.parametrize("rivals", [[(30, 10.0)], [(30, 10.0), (40, 12.0)], [(30, 10.0)] * 5])
@pytest.mark.parametrize("rule", [gb.EProcess(), gb.EProcess("pairs", 0.0, 0.0)], ids=["ranks", "pairs"])
def test_a_p_value_is_the_smallest_risk_at_which_one_may_stop(rule: gb.EProcess, rivals: list[tuple[int, float]]) -> None:
    counted = tally((30, 27.0), *rivals)
    t = int(counted.N_a.sum())
    p = weigh(FAMILY, rule, 0.1, counted, t).p_value
    assert 0.0 < p < 0.2
    assert weigh(FAMILY, rule, p * (1 + 1e-6), counted, t).reached
    assert not weigh(FAMILY, rule, p * (1 - 1e-6), counted, t).reached


def test_of_tied_arms_the_first_leads_wherever_one_looks() -> None:
    """A learner, its evidence and the statistic agree, so that no verdict depends on who looks."""
    tied = tally((4, 1.0), (10, 7.0), (20, 14.0), (10, 7.0))
    assert glr(FAMILY, tied) == (1, 0.0)
    found = weigh(FAMILY, gb.EProcess(), 0.1, tied, 44)
    assert (found.leader, found.statistic, found.p_value) == (1, 0.0, 1.0)
    learner = gb.Learner(3, 1, family=FAMILY)
    for arm, reward in (("arm 1", 0), ("arm 2", 1), ("arm 3", 1)):
        learner.tell(mediator=learner.mediators[0], arm=arm, reward=reward)
    assert learner.recommendation == learner.progress.leader == "arm 2"
    assert gb.analyse_logs({"arm": ["a", "b", "c"], "reward": [0, 1, 1]}, family=FAMILY).leader == "b"


def one_side(family: Any, n: int, S: float, mean: float, side: float) -> float:
    return float(family.log_mixture(float(n), S, float(family.coordinate(mean)), side)[0])


@pytest.mark.parametrize("arms", [2, 7])
@pytest.mark.parametrize(
    "family",
    [
        *(gb.Gaussian(2.0), gb.Bernoulli(), gb.Poisson(), gb.Exponential()),
        *(gb.Gamma(2.0), gb.Binomial(3), gb.Geometric(), gb.NegativeBinomial(1.5)),
    ],
    ids=repr,
)
def test_a_confidence_sequence_spends_its_share_of_delta_on_both_sides(family: Any, arms: int) -> None:
    """Ville: P(M ever ≥ K/δ) ≤ δ/K for M = (M⁺ + M⁻)/2, a martingale at the true mean; K arms make δ together."""
    n, S, delta = 50, 85.0 if family.name == "geometric" else 35.0, 0.05
    (report,) = arm_reports(family, ["a"], tally((n, S), *[(9, 4.0)] * (arms - 1)), delta, [0])
    for end in (report.low, report.high):
        both = np.logaddexp(one_side(family, n, S, end, 1.0), one_side(family, n, S, end, -1.0)) - math.log(2.0)
        assert both == pytest.approx(math.log(arms / delta), abs=1e-6)
    assert report.low < S / n < report.high


def pair(family: gb.Family, counts: list[int], sums: list[float], a: int, b: int) -> float:
    """ln E_{a>b} as docs/stopping.md has it, on a fine grid: from above."""
    low, high = naive.places(family)
    means = naive.place_of(family, np.array(sums) / counts)
    low, high = max(low, means.min() - 3.0), min(high, means.max() + 3.0)
    x = np.linspace(low, high, 2001)[1:-1]
    up, down = naive.log_M(family, counts[a], sums[a], x, 1), naive.log_M(family, counts[b], sums[b], x, -1)
    below = np.minimum.accumulate(up)  # the least of a up to each place of b
    return float((below + down).min())


@pytest.mark.parametrize("seed", range(12))
def test_an_arm_is_out_of_play_when_another_is_proven_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    family, K = (gb.Bernoulli(), gb.Gaussian(1.0))[seed % 2], 4
    counts = rng.integers(5, 120, K)
    means = rng.uniform(0.1, 0.9, K) * (1.0 if seed % 2 == 0 else 2.0)
    sums = rng.binomial(counts, means).astype(float) if seed % 2 == 0 else counts * means
    seen = tally(*zip(counts.tolist(), sums.tolist(), strict=True))
    looked = 0
    for b in range(K):
        others = [a for a in range(K) if sums[a] / counts[a] > sums[b] / counts[b]]
        most = max((pair(family, counts.tolist(), sums.tolist(), a, b) for a in others), default=-np.inf)
        for side in (-0.03, 0.03):  # around the risk at which it is out
            delta = (K - 1) * float(np.exp(-max(most, -9.0) - side))
            if delta < 1.0:
                assert in_play(family, seen, delta)[b] == (side > 0.0)
                looked += 1
    assert looked > 0


@pytest.mark.parametrize(
    ("rate", "family", "growth"),
    [
        ("paper", gb.Gaussian(1.0), lambda t: 0.5 * math.e * math.log(t)),
        ("garivier-kaufmann", gb.Gaussian(1.0), math.log),
        ("heuristic", gb.Gaussian(1.0), lambda t: math.log(1.0 + math.log(t))),
        ("kaufmann-koolen", gb.Gaussian(1.0), lambda t: 4.0 * math.log(4.0 + math.log(t / 2))),
        ("kaufmann-koolen", gb.Poisson(), lambda t: 6.0 * math.log(1.0 + math.log(t / 2))),
    ],
)
def test_a_threshold_grows_as_its_paper_says(rate: str, family: gb.Family, growth: Callable[[float], float]) -> None:
    rule = gb.GLR(rate=rate)
    for n in (1, 10, 1000):
        found = weigh(family, rule, 0.1, tally((n, 2.0 * n), (n, 1.0 * n)), 2 * n)
        assert found.threshold - rule.threshold(2, 0.1, family) == pytest.approx(growth(2.0 * n))


def test_arms_that_were_not_seen_are_in_play() -> None:
    assert in_play(FAMILY, tally((0, 0.0), (0, 0.0)), 0.1).tolist() == [True, True]
    assert in_play(FAMILY, tally((100, 95.0), (100, 5.0), (0, 0.0)), 0.1).tolist() == [True, False, True]


@pytest.mark.compiled
def test_the_best_arm_is_seldom_out_of_play() -> None:
    """At any of the looks, with a rule that pulls what seems best: at most once in 1/δ runs."""
    rng, delta, runs, lost = np.random.default_rng(7), 0.3, 400, 0
    for _ in range(runs):
        counts, sums = np.ones(3, np.int64), (rng.random(3) < 0.5).astype(float)
        for look in (4, 8, 16, 32, 64, 128):
            while counts.sum() < look:
                a = int(rng.integers(3)) if rng.random() < 0.3 else int(np.argmax(sums / counts))
                counts[a] += 1
                sums[a] += rng.random() < 0.5
            if not in_play(FAMILY, tally(*zip(counts.tolist(), sums.tolist(), strict=True)), delta)[0]:
                lost += 1
                break
    assert lost <= binom.ppf(0.999, runs, delta)


@pytest.mark.parametrize("family", [gb.Gaussian(2.0), gb.Bernoulli(), gb.Poisson(), gb.Exponential()], ids=lambda f: f.name)
def test_a_gap_that_can_be_told_holds_the_evidence_needed(family: gb.Family) -> None:
    gap = resolvable(family, 0.8, 200.0, 300.0, 5.0)
    assert gap is not None
    assert float(naive.transport(family, 0.8, 0.8 - gap, 200.0, 300.0)) == pytest.approx(5.0, rel=1e-4)
    twice = resolvable(family, 0.8, 400.0, 600.0, 5.0)
    assert twice is not None
    assert twice < gap


def test_a_gap_wider_than_the_family_cannot_be_told() -> None:
    assert resolvable(gb.Bernoulli(), 0.5, 3.0, 3.0, 50.0) is None
    assert resolvable(gb.Bernoulli(), 0.5, 3.0, 0.0, 1.0) is None
