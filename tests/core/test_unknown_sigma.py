"""Normal rewards whose spread nobody knows: the evidence against its definition and brute force, and every door."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from unknown_paths import false_claims

import gobetween as gb
from gobetween.core.ground.jit import ENABLED
from gobetween.core.reward.second_moments import variance_of
from gobetween.core.reward.unknown_sigma import UnknownSigmaState, least_common, log_student
from gobetween.simulation.summary import exact_interval
from gobetween.testing import same_steps

POLICIES = [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]]
UNKNOWN: Any = gb.Gaussian(sigma=None)


def at_work(*rewards: list[float]) -> UnknownSigmaState:
    made: UnknownSigmaState = UNKNOWN.at_work(len(rewards))
    for a, values in enumerate(rewards):
        for x in values:
            made.count_reward(a, x, 1.0)
    return made


def test_the_martingale_is_a_product_of_predictions() -> None:
    """By its definition: what a mixture of normal laws predicts of each reward, over what the null says of it."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        n, mean, sigma = int(rng.integers(1, 30)), rng.normal(), math.exp(rng.normal())
        x = mean + sigma * rng.standard_normal(n) * math.exp(rng.normal())
        formula = naive.log_unknown(n, float(x.var()), float(x.mean() - mean), np.array([sigma]))[0]
        assert formula == pytest.approx(naive.log_predictions(x, mean, sigma), abs=1e-8)


def states(seed: int, count: int) -> list[tuple[float, float, float, float, float]]:
    """Hostile ones: very unequal counts and spreads, estimates that nearly tie or are far apart, rewards that do not vary."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        n_a, n_b = (float(max(1, int(10 ** rng.uniform(0, 4)))) for _ in range(2))
        v_a, v_b = (0.0 if n == 1.0 or rng.random() < 0.05 else 10 ** rng.uniform(-3, 2) for n in (n_a, n_b))
        found.append((n_a, v_a, n_b, v_b, 10 ** rng.uniform(-2, 1.5)))
    return found


def brute(n_a: float, v_a: float, n_b: float, v_b: float, gap: float) -> float:
    """The least value found on grids over common means and both spreads: the infimum over the null is no larger."""
    m = np.concatenate([[0.0, 1.0], np.geomspace(1e-3, 0.5, 10), 1.0 - np.geomspace(1e-3, 0.4, 9)]) * gap
    return float(np.min(naive.least_unknown(n_b, v_b, m) + naive.least_unknown(n_a, v_a, gap - m)))


def test_never_above_the_infimum_over_the_whole_null() -> None:
    short = []
    for state in states(1, 2000 if ENABLED else 60):
        least, found = brute(*state), least_common(*state, -math.inf)
        assert found <= least + 1e-7, state
        if 1.0 < least < 20.0:
            short.append(least - found)
        for enough in (least + 1e-6, least + 0.5):
            assert not least_common(*state, enough) >= enough, state
        if found > 0.0:
            assert least_common(*state, found - 0.01) >= found - 0.01, state
    assert float(np.median(short)) < 0.5  # because each part of the mixture has its own worst spread granted


def test_it_rises_away_from_the_estimate_and_stays_finite_where_nothing_varies() -> None:
    for n, v in ((1.0, 0.0), (2.0, 0.0), (7.0, 0.0), (7.0, 1.0), (5000.0, 0.3), (1e12, 2.0)):
        values = [log_student(n, v, d) for d in (0.0, 1e-9, 1e-3, 0.1, 1.0, 10.0, 1e6)]
        assert all(one <= other + 1e-9 for one, other in pairwise(values))
        assert values[0] <= 0.0
        assert values[-1] < min(602.0, (32.0 + n / 2) * math.log1p(4.0 * n)) + 1.0  # also of rewards that are all the same
    same = at_work([3.0] * 3, [1.0] * 3)
    assert same.closed_pair(0, 1, 0.0, -math.inf)[1] < 3.0  # three equal rewards of each settle nothing
    assert same.interval(0, math.log(2 / 0.05)) == (-math.inf, math.inf)


def test_spreads_come_from_above() -> None:
    rng = np.random.default_rng(2)
    for centre, scale in ((0.0, 1.0), (1e9, 1.0), (-1e6, 1e-3), (0.0, 1e6)):
        x = centre + scale * rng.standard_normal(1000)
        family = at_work(x.tolist())
        assert variance_of(family.sums, 0) == pytest.approx(float(np.var(x - x[0])), rel=1e-9)
        assert variance_of(family.sums, 0) >= float(np.var(x - x[0])) * (1.0 - 1e-14)


def test_false_claims_at_ties() -> None:
    """Spreads may differ: nobody says that they are the same."""
    runs, most = (300, 300) if ENABLED else (2, 40)
    for spreads, mode in (([1.0, 1.0], 0), ([3.0, 0.5], 4), ([1.0, 10.0], 5)):
        counts = false_claims([0.0, 0.0], spreads, mode, runs, most, (0.4, 0.1))
        for alpha, wrong in zip((0.4, 0.1), counts, strict=True):
            assert exact_interval(wrong, runs, 0.999)[0] <= alpha


@pytest.mark.plain
def test_engine_and_learner_take_the_same_steps() -> None:
    problem = gb.Problem([1.5, 0.5, 0.0], POLICIES, family=gb.Gaussian(sigma=None, expected=1.0))
    same_steps(problem, gb.Pursuit(), gb.EProcess(), 0.05, most=600 if ENABLED else 60)


def test_scale_and_origin_do_not_matter() -> None:
    means = np.array([1.5, 0.5, 0.0])

    def queries(shift: float, scale: float) -> Any:
        problem = gb.Problem(shift + scale * means, POLICIES, family=gb.Gaussian(sigma=None, expected=scale))
        found = gb.simulate(problem, deltas=[0.1], runs=8 if ENABLED else 1, seed=3, max_steps=10_000 if ENABLED else 60)
        return np.concatenate([found.tau, found.N_e.reshape(len(found.tau), -1)], axis=1)

    plain = queries(0.0, 1.0)
    for shift, scale in ((0.0, 1e-6), (0.0, 1e6), (1e9, 1.0)):
        assert (queries(shift, scale) == plain).all()


def told(one: gb.Learner, answers: list[tuple[str, float]]) -> gb.Learner:
    for arm, reward in answers:
        one.tell(mediator="N", arm=arm, reward=reward)
    return one


@pytest.mark.plain
def test_corrections_casts_and_saved_learners() -> None:
    rng = np.random.default_rng(4)
    answers = [("abc"[i % 3], float(rng.normal() + (2.0, 0.5, 0.0)[i % 3])) for i in range(60)]
    right = told(gb.Learner(["a", "b", "c"], {"N": None}, family=UNKNOWN), answers)
    wrong = told(
        gb.Learner(["a", "b", "c"], {"N": None}, family=UNKNOWN), [*answers[:9], ("a", 1e3), *answers[10:], ("b", 7.0)]
    )
    assert wrong.evidence().statistic < right.evidence().statistic
    wrong.correct(9, "N", ("a", 1e3), answers[9])
    wrong.void(60, "N", ("b", 7.0))
    assert wrong.evidence().statistic == pytest.approx(right.evidence().statistic, abs=1e-8)
    again = gb.Learner.from_dict(json.loads(json.dumps(right.to_dict())))
    assert again.to_dict() == right.to_dict()
    assert right.with_mediator("S").evidence() == right.evidence()
    without = right.without_arm("c")
    assert without.evidence().statistic >= right.evidence().statistic
    assert without.progress.arms[0].low > right.progress.arms[0].low  # the risk is shared by two
    assert {alarm.kind for alarm in right.progress.alarms} == {"contradiction", "policy-drift"}
    assert right.done
    assert right.recommendation == "a"
    low, high = right.progress.arms[0].low, right.progress.arms[0].high
    assert low < 2.0 < high


@pytest.mark.plain
def test_logs_in_one_piece_in_parallel_and_in_a_study(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    arms = rng.choice(["a", "b", "c"], 120).tolist()
    log: dict[str, Any] = {"arm": arms, "reward": [1e6 + {"a": 2.0, "b": 0.0, "c": 1.0}[arm] + rng.normal() for arm in arms]}
    parts = [{key: values[i:j] for key, values in log.items()} for i, j in ((0, 30), (30, 80), (80, 120))]
    whole = gb.analyse_logs(log, family=UNKNOWN)
    assert (whole.leader, whole.identified) == ("a", True)
    assert whole.parameters == {"name": "gaussian", "sigma": "unknown"}
    with ThreadPoolExecutor(2) as pool:
        split = gb.analyse_logs(*parts, family=UNKNOWN, executor=pool)
    assert split.statistic == pytest.approx(whole.statistic, abs=1e-7)
    assert whole.claim is not None
    assert split.claim is not None
    assert split.claim.row == whole.claim.row
    learner = told(gb.Learner(["a", "b", "c"], {"N": None}, family=UNKNOWN), list(zip(arms, log["reward"], strict=True)))
    assert learner.verdict is not None
    assert learner.verdict["counted"] == whole.claim.row
    assert learner.evidence().statistic == pytest.approx(whole.statistic, abs=1e-7)
    assert gb.replay_logs(log, family=UNKNOWN, runs=2).tau.max() < 120


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: gb.Problem([1.0, 0.0], family=UNKNOWN), "a plan needs the sigma that is expected; a study will learn it"),
        (lambda: gb.Gaussian(1.0, expected=2.0), "expected = 2.0 belongs to a sigma that is not known, not to sigma = 1.0"),
        (lambda: gb.Gaussian(None, expected=-1.0), "expected of a Gaussian family must be a positive number"),
        (lambda: gb.Gaussian("about 2"), "sigma of a Gaussian family must be a positive number .* not 'about 2'"),
        (lambda: gb.Learner(2, 1, family=UNKNOWN, stopping="paper"), "GLR needs a sigma that is known"),
        (lambda: gb.Learner(2, 1, family=UNKNOWN).absorb([[1, 1]], [0.0, 1.0]), "has no second moments: pass spread"),
    ],
)
def test_what_is_refused(made: Any, message: str) -> None:
    with pytest.raises(gb.ProblemError, match=message):
        made()


def test_a_value_like_others() -> None:
    expecting = gb.Gaussian(sigma=None, expected=2.0)
    assert repr(UNKNOWN) == "Gaussian(sigma=None)"
    assert repr(expecting) == "Gaussian(sigma=None, expected=2)"
    assert expecting != UNKNOWN == gb.Gaussian(sigma="unknown")
    assert expecting.to_dict() == {"name": "gaussian", "sigma": "unknown", "expected": 2.0}
    known, unknown = (gb.lower_bound(gb.Problem([1.0, 0.0], family=family)) for family in (gb.Gaussian(2.0), expecting))
    assert unknown.T_star == pytest.approx(known.T_star)
