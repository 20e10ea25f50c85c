"""Evidence with missing answers at their worst, against all completions written out."""

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

import gobetween as gb
from gobetween.core.evidence.eprocess import PRODUCT
from gobetween.core.ground.tally import Tally
from gobetween.core.reward.mixtures import LOG_WEIGHTS, TILTS
from gobetween.core.stopping.stopper import least_evalue
from gobetween.core.verdict.missing_answers import worst_answer


def worst_evidence(family: gb.Family, counted: Tally, a: int, missing: Any, reach: Any) -> float:
    found = worst_answer(gb.BestArm(), family, counted, (a,), missing, reach)
    assert found is not None
    return found


GRID = np.linspace(0.0, 1.0, 501)


def tally(N: Any, S: Any) -> Tally:
    counts, sums = np.array(N, dtype=np.int64), np.array(S, dtype=np.float64)
    return Tally(counts, sums, np.where(counts > 0, sums / np.maximum(counts, 1), 0.0))


def mixture(n: float, S: float, side: int) -> Any:
    """The whole M⁺ (side 1) or M⁻ (side −1) over the grid of means, from its definition: tilts, and Beta(½, ½)."""
    inner = np.clip(GRID, 1e-3, 1.0 - 1e-3)  # finite, and far from where the infimum is
    tilts = sum(
        math.exp(weight) * np.exp(side * theta * S - n * np.log1p(GRID * math.expm1(side * theta)))
        for theta, weight in zip(TILTS, LOG_WEIGHTS, strict=True)
    )
    log_beta = math.lgamma(S + 0.5) + math.lgamma(n - S + 0.5) - math.lgamma(n + 1.0) - math.log(math.pi)
    return 0.99 * tilts + 0.01 * np.exp(log_beta - S * np.log(inner) - (n - S) * np.log1p(-inner))


def naive_log_e(N: list[int], S: list[float], a: int, b: int) -> float:
    """The infimum over the half-plane λ_b ≥ λ_a, on the grid."""
    first, second = mixture(N[a], S[a], 1), mixture(N[b], S[b], -1)
    return math.log(float(np.min(first * np.minimum.accumulate(second[::-1])[::-1])))


def completions(owed: list[int], reach: Any, rewards: tuple[float, ...]) -> Any:
    """What each missing answer may have been: an arm with a reward, or none; as sets, for their order is nothing."""
    every = []
    for e, times in enumerate(owed):
        options = [None, *((arm, x) for arm in np.flatnonzero(reach[e]) for x in rewards)]
        every.append(list(itertools.combinations_with_replacement(options, times)))
    for parts in itertools.product(*every):
        yield [answer for part in parts for answer in part if answer is not None]


@pytest.mark.parametrize("seed", range(12))
def test_no_completion_has_less_evidence_and_one_has_hardly_more(seed: int) -> None:
    rng = random.Random(seed)
    K, rewards = rng.choice([2, 3]), rng.choice([(0.0, 1.0), (0.0, 0.4, 1.0)])
    family = gb.Bernoulli() if len(rewards) == 2 else gb.Bounded(0.0, 1.0)
    N = [rng.randint(5, 60) for _ in range(K)]
    S = [float(rng.randint(0, n // 3)) for n in N]
    S[0] = float(rng.randint(2 * N[0] // 3, N[0]))
    owed = [rng.randint(0, 2), rng.randint(0, 1)]
    reach = np.array([[rng.random() < 0.7 for _ in range(K)] for _ in owed])
    found = worst_evidence(family, tally(N, S), 0, np.array(owed), reach)
    least = math.inf
    for answers in completions(owed, reach, rewards):
        n, s = list(N), list(S)
        for arm, x in answers:
            n[arm] += 1
            s[arm] += x
        least = min(least, *(naive_log_e(n, s, 0, b) for b in range(1, K)))
    assert found <= least + 1e-9
    assert found >= least - 0.1 - 0.03 * max(least, 0.0)  # what the grid of tilts loses to the whole mixture


@pytest.mark.parametrize("scale", [(0.0, 1.0), (-3.0, 5.0)])
def test_the_least_split_is_found_among_all(scale: tuple[float, float]) -> None:
    (low, high), m = scale, 40
    family, N, S = gb.Bounded(low, high), np.array([200, 90]), np.array([150.0, 20.0])
    everyone = np.ones((1, 2), dtype=np.bool_)
    sums = N * low + S * (high - low)
    found = worst_evidence(family, tally(N, sums), 0, np.array([m]), everyone)
    alone = np.zeros((1, 2), dtype=np.bool_)
    each = []
    for i in range(m + 1):
        n = N + np.array([i, m - i])
        s = n * low + (S + np.array([0, m - i])) * (high - low)
        each.append(worst_evidence(family, tally(n, s), 0, np.array([0]), alone))
    assert found == pytest.approx(min(each), abs=1e-7)
    assert min(each) < min(each[0], each[-1])  # neither all to one nor all to the other


def test_who_cannot_pull_an_arm_cannot_hurt_it() -> None:
    counts = tally([100, 100, 100], [80.0, 30.0, 20.0])
    family, owed = gb.Bernoulli(), np.array([20])

    def worst(*arms: int) -> float:
        reach = np.zeros((1, 3), dtype=np.bool_)
        reach[0, list(arms)] = True
        return worst_evidence(family, counts, 0, owed, reach)

    nothing = worst()
    assert nothing == pytest.approx(least_evalue(family, counts, PRODUCT, 0, -math.inf), abs=0.4)
    assert worst(0, 1, 2) <= min(worst(0), worst(1)) <= worst(2) <= nothing
    assert worst(1) < nothing - 5.0
    more = worst_evidence(family, counts, 0, np.array([21]), np.ones((1, 3), dtype=np.bool_))
    assert more <= worst(0, 1, 2)


def test_many_missing_answers_take_no_time() -> None:
    counts = tally([10**6, 10**6], [6e5, 3e5])
    found = worst_evidence(gb.Bernoulli(), counts, 0, np.array([10**5]), np.ones((1, 2), dtype=np.bool_))
    assert 1e4 < found < least_evalue(gb.Bernoulli(), counts, PRODUCT, 0, -math.inf)


def test_only_rewards_with_ends_have_a_worst() -> None:
    families = (gb.Gaussian(1.0), gb.Poisson(), gb.Exponential(), gb.Gamma(2.0), gb.Geometric(), gb.NegativeBinomial(2.0))
    assert [f.trials_of_reward() for f in (gb.Bernoulli(), gb.Bounded(0, 5), gb.Binomial(3))] == [1, 1, 3]
    for family in families:
        assert (
            worst_answer(gb.BestArm(), family, tally([3, 3], [6, 3]), (0,), np.zeros(1, np.int64), np.ones((1, 2), np.bool_))
            is None
        )


@pytest.mark.parametrize("n", [1, 4])
def test_a_missing_answer_of_n_trials_is_n_missing_ones(n: int) -> None:
    counts, sums, everyone = np.array([50, 40]), np.array([36.0, 12.0]), np.ones((1, 2), dtype=np.bool_)
    whole = worst_evidence(gb.Binomial(n), tally(counts, n * sums), 0, np.array([0]), everyone)
    assert whole == pytest.approx(worst_evidence(gb.Bernoulli(), tally(n * counts, n * sums), 0, np.array([0]), everyone))
    found = worst_evidence(gb.Binomial(n), tally(counts, n * sums), 0, np.array([3]), everyone)
    each = []
    for i in range(4):
        at_worst = tally(n * (counts + np.array([i, 3 - i])), n * (sums + np.array([0.0, 3.0 - i])))
        each.append(worst_evidence(gb.Bernoulli(), at_worst, 0, np.array([0]), everyone))
    assert found == pytest.approx(min(each), abs=1e-7)


@pytest.mark.parametrize("theta", [0.2, 0.45, 0.7])
def test_zeros_for_ones_below_a_level_is_above_what_is_left_of_it(theta: float) -> None:
    counts, sums, missing = np.array([50, 45, 40]), np.array([45.0, 5.0, 3.0]), np.array([3, 1])
    reach = np.array([[True, True, False], [False, True, True]])
    for answer in ((), (0,), (0, 1), (0, 1, 2)):
        others = tuple(a for a in range(3) if a not in answer)
        found = worst_answer(gb.Threshold(theta), gb.Bernoulli(), tally(counts, sums), answer, missing, reach)
        mirrored = worst_answer(gb.Threshold(1 - theta), gb.Bernoulli(), tally(counts, counts - sums), others, missing, reach)
        assert found == pytest.approx(mirrored)


@pytest.mark.parametrize(
    ("question", "answer"), [(gb.Threshold(0.45), (0,)), (gb.TopM(2), (0, 1)), (gb.EpsilonBest(0.05), (0,)), (gb.BestArm(), (0,))],
    ids=lambda value: getattr(value, "name", None),
)  # fmt: skip
@pytest.mark.parametrize("n", [1, 4])
def test_whatever_is_asked_a_missing_answer_of_n_trials_is_n_missing_ones(
    question: gb.Question, answer: tuple[int, ...], n: int
) -> None:
    """Of n trials each, against answers of one trial of which each mediator owes n times as many, that all go one way."""
    counts, sums = np.array([50, 45, 40]), np.array([36.0, 18.0, 8.0])
    scaled = question._replace(theta=n * question.theta) if isinstance(question, gb.Threshold) else question
    scaled = scaled._replace(eps=n * scaled.eps) if isinstance(scaled, gb.EpsilonBest) else scaled
    for reach in np.eye(3, dtype=np.bool_)[:, None, :]:
        found = worst_answer(scaled, gb.Binomial(n), tally(counts, n * sums), answer, np.array([3]), reach)
        ones = worst_answer(question, gb.Bernoulli(), tally(n * counts, n * sums), answer, np.array([3 * n]), reach)
        none = worst_answer(scaled, gb.Binomial(n), tally(counts, n * sums), answer, np.array([0]), reach)
        assert found is not None
        assert found == pytest.approx(ones)
        assert none is not None
        assert found <= none
