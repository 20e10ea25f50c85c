"""Bounded rewards that vary little: a supermartingale whatever their law, far fewer answers, and hardly more where they vary."""

import json
import math
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tie_paths import false_claims

import gobetween as gb
from gobetween.core.evidence.empirical_bernstein import (
    ATOM,
    BET_WEIGHTS,
    BETS,
    PRICES,
    add_to_bernstein,
    bernstein_evidence,
    bernstein_reach,
    log_bernstein,
    new_bernstein,
    rate,
)
from gobetween.core.evidence.eprocess import Pairing, evidence, least_beside, log_beside, log_evalue, pair_at
from gobetween.core.evidence.rank_evidence import least_evidence
from gobetween.core.ground.jit import ENABLED
from gobetween.core.ground.tally import Tally
from gobetween.core.question.question import rival_gains
from gobetween.core.stopping.rules import BY_COUNTS
from gobetween.core.stopping.stopper import Stopper
from gobetween.simulation.summary import exact_interval
from gobetween.testing import same_steps


def told(rewards: list[float], low: float = 0.0, high: float = 1.0, K: int = 1) -> Any:
    made = new_bernstein(K, 0.1, low, high)
    for reward in rewards:
        add_to_bernstein(made, 0, reward)
    return made


def test_bets_are_bets() -> None:
    assert math.exp(math.log(ATOM)) + np.exp(BET_WEIGHTS).sum() == pytest.approx(1.0)
    assert (BETS > 0.0).all()
    assert (BETS < 1.0).all()
    assert pytest.approx(-np.log1p(-BETS) - BETS, rel=1e-6) == PRICES
    xi = np.linspace(-1.0, 1.0, 20_001)[:, None]
    assert (np.exp(BETS * xi - PRICES * xi**2) <= 1.0 + BETS * xi + 1e-12).all()  # the lemma of the proof


@given(
    past=st.lists(st.floats(0.0, 1.0), max_size=12),
    law=st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 1.0)), min_size=1, max_size=5),
    side=st.sampled_from([1.0, -1.0]),
)
@settings(max_examples=300, deadline=None)
def test_it_does_not_grow_on_average_whatever_the_law(past: list[float], law: list[tuple[float, float]], side: float) -> None:
    low, width = -3.0, 8.0
    total = sum(weight for _, weight in law)
    mean = low + width * sum(y * weight for y, weight in law) / total
    rewards = [low + width * y for y in past]
    now = math.exp(log_bernstein(told(rewards, low, low + width), 0, mean, side)[0])
    then = sum(
        weight / total * math.exp(log_bernstein(told([*rewards, low + width * y], low, low + width), 0, mean, side)[0])
        for y, weight in law
    )
    assert then <= now * (1.0 + 1e-9)
    assert past or now == pytest.approx(1.0)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_it_is_convex_has_its_slope_and_goes_one_way(side: float) -> None:
    made = told([0.2, 0.9, 0.85, 0.8, 0.7, 0.75], -1.0, 3.0)
    x = np.linspace(-1.0, 3.0, 401)
    values, slopes = np.array([log_bernstein(made, 0, float(at), side) for at in x]).T
    assert (np.diff(values, 2) >= -1e-12).all()
    assert (side * np.diff(values) <= 1e-15).all()
    assert (values[2:] - values[:-2]) / (x[2:] - x[:-2]) == pytest.approx(slopes[1:-1], rel=1e-3, abs=1e-6)
    twin = naive.log_N((0.1, made.low, made.width, made.sums), 0, x, int(side))
    assert values == pytest.approx(twin, rel=1e-9, abs=1e-9)


def test_deviations_are_from_what_was_known_before() -> None:
    made = told([0.9, 0.5, 0.1])
    before = [0.5, (0.5 + 0.9) / 2, (0.5 + 1.4) / 3]
    assert made.sums[:, 0] == pytest.approx([3.0, 1.5, sum((y - m) ** 2 for y, m in zip((0.9, 0.5, 0.1), before, strict=True))])


def test_bounds_of_a_pair() -> None:
    """Between two common means Q is nowhere lower than is said; at some common mean it is no more than can be reached."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        made = new_bernstein(2, 0.1, 0.0, 1.0)
        for a, centre in ((0, 0.6), (1, 0.4)):
            for reward in rng.uniform(centre - 0.2, centre + 0.2, int(rng.integers(1, 60))):
                add_to_bernstein(made, a, float(reward))
        pairing = Pairing(gb.EProcess().at_work(2, gb.Bernoulli()).ranks.pairing.contrast, 0.0, made)
        z, y = sorted(rng.random(2))
        least = least_beside(pairing, 0, 1, y, z)
        for x_a in np.linspace(z, y, 9):
            for x_b in np.linspace(x_a, 1.0, 9):
                assert least <= log_bernstein(made, 0, x_a, 1.0)[0] + log_bernstein(made, 1, x_b, -1.0)[0] + 1e-12
        common = min(log_beside(pairing, 0, 1, x)[0] for x in np.linspace(0.0, 1.0, 201))
        if made.sums[1, 0] / made.sums[0, 0] > made.sums[1, 1] / made.sums[0, 1]:
            assert common <= bernstein_reach(made, 0, 1) + 1e-9


@pytest.mark.parametrize(("n_a", "n_b", "v_a", "v_b"), [(2e6, 2e6, 0.04, 0.04), (1e6, 4e6, 0.01, 0.09), (4e6, 1e6, 0.2, 0.001)])
def test_what_a_pair_can_reach_is_hardly_more_than_it_does_reach(n_a: float, n_b: float, v_a: float, v_b: float) -> None:
    """Were less said, rules would stop later for no reason; 200 nats, less what the mixture costs."""
    made, gap = new_bernstein(2, 0.1, 0.0, 1.0), math.sqrt(400.0 * (v_a / n_a + v_b / n_b))
    made.sums[:] = [n_a, n_b], [n_a * (0.5 + gap), n_b * 0.5], [n_a * v_a, n_b * v_b]
    at = np.linspace(0.5, 0.5 + gap, 400)
    found = min(log_bernstein(made, 0, x, 1.0)[0] + log_bernstein(made, 1, x, -1.0)[0] for x in at)
    assert bernstein_reach(made, 0, 1) == pytest.approx(200.0)
    assert 180.0 < found <= 200.0 + 1e-6


def answers(means: list[float], spread: float, rule: gb.EProcess, seeds: int, delta: float = 0.1) -> float:
    """Answers until the rule stops, arms in turn; rewards are uniform within `spread` of the mean, or 0 and 1 (spread 0)."""
    family, K, needed = gb.Bounded(0.0, 1.0), len(means), []
    limit = np.array([rule.threshold(K, delta, family)])
    for seed in range(seeds):
        rng, stopper, t, look = np.random.default_rng(seed), rule.at_work(K, family), 0, 2 * K
        counts, sums = np.zeros(K, np.int64), np.zeros(K)
        while True:
            for a, mean in enumerate(means):
                x = float(rng.random() < mean) if spread == 0.0 else mean + spread * float(rng.uniform(-1.0, 1.0))
                counts[a], sums[a], t = counts[a] + 1, sums[a] + x, t + 1
                if stopper.ranks.pairing.bernstein.share > 0.0:
                    add_to_bernstein(stopper.ranks.pairing.bernstein, a, x)
            if t >= look:
                look = math.ceil(1.02 * t)
                if stopper.judge(family, Tally(counts, sums, sums / counts), t, limit, 0)[1]:
                    break
        needed.append(t)
    return float(np.mean(needed))


def test_rewards_that_vary_little_need_far_fewer_answers() -> None:
    """Standard deviation 0.1: a third at most is asked for, an eighth is measured (docs/stopping.md)."""
    seeds = 10 if ENABLED else 2
    ours, before = (
        answers([0.5, 0.4], 0.1 * math.sqrt(3), rule, seeds) for rule in (gb.EProcess(), gb.EProcess(bernstein=0.0))
    )
    assert ours < before / 4


@pytest.mark.compiled
@pytest.mark.parametrize("means", [[0.65, 0.4], [0.3, 0.08], [0.95, 0.75]])
def test_rewards_at_the_ends_cost_hardly_more(means: list[float]) -> None:
    ours, before = (answers(means, 0.0, rule, 200) for rule in (gb.EProcess(), gb.EProcess(bernstein=0.0)))
    assert ours <= 1.05 * before


@pytest.mark.plain
def test_engine_and_learner_take_the_same_steps() -> None:
    """Also when the learner is saved and resumed on the way."""
    policies = [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]]
    same_steps(gb.Problem([0.9, 0.3, 0.2], policies, family=gb.Bounded(0.0, 1.0)), gb.Pursuit(), gb.EProcess())


def learner(rewards: dict[str, list[float]]) -> gb.Learner:
    made = gb.Learner(["a", "b"], {"m": [0.5, 0.5]}, family=gb.Bounded(0.0, 5.0), delta=0.001)
    for i in range(len(rewards["a"])):
        for arm in ("a", "b"):
            made.tell(made.ask(go_on=True), arm=arm, reward=rewards[arm][i])
    return made


def narrow_of(made: gb.Learner) -> Any:
    stopper: Any = made.state.decision.stopper
    return stopper.ranks.pairing.bernstein


@pytest.mark.plain
def test_a_learner_keeps_it_and_a_correction_gives_it_up() -> None:
    made = learner({"a": [2.0, 2.2, 2.1, 2.3], "b": [1.0, 1.1, 1.3, 1.0]})
    again = gb.Learner.from_dict(json.loads(json.dumps(made.to_dict())))
    assert (narrow_of(again).sums == narrow_of(made).sums).all()
    assert narrow_of(made).sums[0].tolist() == [4.0, 4.0]
    before = made.progress.p_value
    stopper: Any = made.state.decision.stopper
    stopper.corrected(0)
    for x in (0.0, 2.0, 5.0):
        assert log_bernstein(narrow_of(made), 0, x, 1.0)[0] == pytest.approx(math.log(ATOM))
    assert made.progress.p_value >= before


def test_logs_and_pairs_and_other_families_do_without() -> None:
    for rule, family in (
        (BY_COUNTS, gb.Bounded(0.0, 1.0)),
        (gb.EProcess(weights="pairs"), gb.Bounded(0.0, 1.0)),
        *((gb.EProcess(), other) for other in (gb.Gaussian(1.0), gb.Bernoulli(), gb.Binomial(3))),
    ):
        stopper: Any = rule.at_work(3, family)
        assert stopper.ranks.pairing.bernstein.share == 0.0
        assert "bernstein" not in stopper.to_dict()


def test_one_reward_each_is_no_evidence_and_no_number_never_stops() -> None:
    stopper: Stopper = gb.EProcess().at_work(2, gb.Bounded(0.0, 1.0))
    family, bernstein = gb.Bounded(0.0, 1.0), stopper.ranks.pairing.bernstein
    add_to_bernstein(bernstein, 0, 1.0)
    add_to_bernstein(bernstein, 1, 0.0)
    tally = Tally(np.array([1, 1]), np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    assert least_evidence(family, tally, stopper.ranks, 0, -math.inf) < 1.0
    bernstein.sums[2] = math.nan
    assert not least_evidence(family, tally, stopper.ranks, 0, 1.0) >= 1.0


def test_the_least_of_a_pair_is_over_the_whole_null() -> None:
    family, rng = gb.Bounded(0.0, 1.0), np.random.default_rng(1)
    stopper: Stopper = gb.EProcess().at_work(2, family)
    counts, sums = np.array([120, 160]), np.zeros(2)
    for a, centre in ((0, 0.6), (1, 0.5)):
        for reward in rng.uniform(centre - 0.1, centre + 0.1, counts[a]):
            sums[a] += reward
            add_to_bernstein(stopper.ranks.pairing.bernstein, a, float(reward))
    tally, pairing = Tally(counts, sums, sums / counts), stopper.ranks.pairing
    x = np.linspace(0.0, 1.0, 2001)
    least = min(pair_at(family, tally, pairing, 0, 1, float(at))[0] for at in x)
    found = log_evalue(family, tally, pairing, 0, 1, -math.inf)
    assert least - 0.01 <= found <= least + 1e-9
    assert found > log_evalue(family, tally, gb.EProcess(bernstein=0.0).at_work(2, family).ranks.pairing, 0, 1, -math.inf) + 3.0


@pytest.mark.compiled
@pytest.mark.parametrize("mode", [0, 6])
def test_false_claims_at_ties_are_as_rare_as_they_should_be(mode: int) -> None:
    runs, alphas = 400, (0.4, 0.1, 0.01)
    counts = false_claims(gb.Bounded(0.0, 1.0), [0.3] * 3, mode, runs, 400, alphas)
    for alpha, wrong in zip(alphas, counts, strict=True):
        assert exact_interval(wrong, runs, 0.999)[0] <= alpha


@given(
    gap=st.floats(1e-6, 1.0),
    v=st.tuples(*[st.floats(1e-9, 0.25)] * 2),
    w=st.tuples(*[st.floats(1e-3, 1e6)] * 2),
)
def test_what_pursuit_reckons_with_is_the_least_over_common_means(
    gap: float, v: tuple[float, float], w: tuple[float, float]
) -> None:
    """In closed form: against a grid, and d = max over λ of λg − ψ(λ)v against another one."""
    bernstein = new_bernstein(2, 1.0, -1.0, 3.0)
    bernstein.sums[:] = [[10.0, 40.0], [5.0, 5.0], [10.0 * v[0], 40.0 * v[1]]]
    Z, d_a, d_b = bernstein_evidence(bernstein, 0, 1, 4.0 * gap, w[0], w[1])
    shares = np.concatenate([[0.0, 1.0], np.linspace(0.0, 1.0, 4001), np.geomspace(1e-12, 0.5, 2000)])
    shares = np.concatenate([shares, 1.0 - shares])

    def rates(g: np.ndarray, variance: float) -> np.ndarray:
        return g - variance * np.log1p(g / variance)

    least = (w[0] * rates(gap * shares, v[0]) + w[1] * rates(gap * (1.0 - shares), v[1])).min()
    assert pytest.approx(w[0] * d_a + w[1] * d_b) == Z
    assert least * (1.0 + 1e-9) + 1e-9 * max(w) >= Z
    assert least * (1.0 - 1e-3) - 1e-9 * max(w) <= Z
    lam = np.concatenate([1.0 - np.geomspace(1e-12, 1.0, 20_001), np.geomspace(1e-12, 0.99, 20_001)])
    best = (lam * gap - (-np.log1p(-lam) - lam) * v[0]).max()
    assert rate(gap, v[0]) == pytest.approx(best, rel=1e-3, abs=1e-9)


def test_pursuit_follows_the_larger_of_two_kinds_of_evidence() -> None:
    """Rewards that vary little need as many of either arm; of those that vary much the leader's say more here."""
    family, tally = gb.Bounded(0.0, 1.0), Tally(np.array([30, 60]), np.array([15.0, 6.0]), np.array([0.5, 0.1]))
    pulls, slopes = tally.N_a.astype(np.float64), []
    for v in (1e-4, 0.24):
        little = new_bernstein(2, 1.0, 0.0, 1.0)
        little.sums[:] = [tally.N_a, tally.S_a, v * tally.N_a]
        Z, most, gains = np.zeros(2), np.zeros(1), np.zeros(2)
        rival_gains(family, tally, pulls, little, Z, most, gains)
        by_means, by_spread = evidence(family, 0.5, 0.1, 30.0, 60.0), bernstein_evidence(little, 0, 1, 0.4, 30.0, 60.0)
        assert most[0] == max(by_means[0], by_spread[0])
        assert tuple(gains) == (by_spread if by_spread[0] > by_means[0] else by_means)[1:]
        slopes.append(by_spread[0] > by_means[0])
    assert slopes == [True, False]
