"""Evidence in a few numbers: the leader, the p-value, confidence sequences."""

import math
from typing import Any

import numpy as np
import pytest

import gobetween as gb
from gobetween.core.evidence import arm_report, weigh
from gobetween.core.state import Tally, fill, new_tally
from gobetween.core.stopper import glr

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
    report = arm_report(family, "a", tally((n, S), *[(9, 4.0)] * (arms - 1)), 0, delta)
    for end in (report.low, report.high):
        both = np.logaddexp(one_side(family, n, S, end, 1.0), one_side(family, n, S, end, -1.0)) - math.log(2.0)
        assert both == pytest.approx(math.log(arms / delta), abs=1e-6)
    assert report.low < S / n < report.high
