"""The contrast of two arms: a martingale at the truth that falls in one mean and rises in the other, and numbers that hold."""

import math
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_states import bound, scene

import gobetween as gb
from gobetween.core.evidence.contrast import Contrast, add_to_contrast, give_up, log_contrast, new_contrast

NUMBER = st.floats(-50.0, 50.0)
WEIGHT = st.floats(0.0, 40.0)


def contrast_of(H_ab: float, H_ba: float, S: float, V: float, sigma: float = 1.0) -> Contrast:
    made = new_contrast(2, 0.3, sigma)
    made.H[0, 1], made.H[1, 0], made.S[0, 1], made.S[1, 0] = H_ab, H_ba, S, -S
    made.V[0, 1] = made.V[1, 0] = V
    return made


def told(order: list[int], rewards: list[float]) -> Contrast:
    made, N_a = new_contrast(2, 0.3, 1.0), np.zeros(2, np.int64)
    for i, reward in zip(order, rewards, strict=True):
        N_a[i] += 1
        add_to_contrast(made, N_a, i, reward)
    return made


@given(WEIGHT, WEIGHT, NUMBER, WEIGHT, st.floats(0.1, 10.0), NUMBER, st.sampled_from([0.0, 0.3, 4.0]))
def test_the_code_has_the_formula(H_ab: float, H_ba: float, S: float, V: float, sigma: float, m: float, shift: float) -> None:
    value, slope = log_contrast(contrast_of(H_ab, H_ba, S, V, sigma), 0, 1, m, shift)
    assert value == pytest.approx(float(naive.log_Q(sigma, H_ab, H_ba, S, V, m, m + shift)), rel=1e-9, abs=1e-9)
    near = [float(naive.log_Q(sigma, H_ab, H_ba, S, V, x, x + shift)) for x in (m - 1e-5, m + 1e-5)]
    assert slope == pytest.approx((near[1] - near[0]) / 2e-5, rel=1e-4, abs=1e-4 * (1.0 + abs(value)))


@given(WEIGHT, WEIGHT, NUMBER, WEIGHT, NUMBER, NUMBER, st.floats(0.0, 5.0))
def test_it_falls_in_the_leader_and_rises_in_the_rival(
    H_ab: float, H_ba: float, S: float, V: float, x_a: float, x_b: float, step: float
) -> None:
    Q = float(naive.log_Q(1.0, H_ab, H_ba, S, V, x_a, x_b))
    assert float(naive.log_Q(1.0, H_ab, H_ba, S, V, x_a + step, x_b)) <= Q + 1e-9 * (1.0 + abs(Q))
    assert float(naive.log_Q(1.0, H_ab, H_ba, S, V, x_a, x_b + step)) >= Q - 1e-9 * (1.0 + abs(Q))


@given(WEIGHT, WEIGHT, NUMBER, WEIGHT, NUMBER, st.floats(0.01, 5.0))
def test_it_is_log_convex(H_ab: float, H_ba: float, S: float, V: float, m: float, h: float) -> None:
    made = contrast_of(H_ab, H_ba, S, V)
    left, here, right = (log_contrast(made, 0, 1, x, 0.0)[0] for x in (m - h, m, m + h))
    assert left + right >= 2.0 * here - 1e-9 * (1.0 + abs(here))
    assert log_contrast(made, 0, 1, m - h, 0.0)[1] <= log_contrast(made, 0, 1, m + h, 0.0)[1] + 1e-9


@pytest.mark.parametrize("c", [0.0625, 1.0, 256.0])
def test_the_two_ways_to_compute_it_meet(c: float) -> None:
    """At z = −26 of each prior."""
    V = 10.0
    at = -26.0 * math.sqrt(2.0 * (V + c))
    before, after = (log_contrast(contrast_of(5.0, 4.0, at * (1.0 + shift), V), 0, 1, 0.0, 0.0) for shift in (-1e-13, 1e-13))
    assert before[0] == pytest.approx(after[0], abs=1e-9)
    assert before[1] == pytest.approx(after[1], rel=1e-7, abs=1e-9)
    assert before[0] == pytest.approx(float(naive.log_Q(1.0, 5.0, 4.0, at, V, 0.0, 0.0)), abs=1e-9)


@pytest.mark.parametrize("S", [1e6, 1e12, 1e30, 1e60, -1e6, -1e12, -1e30, -1e60])
def test_arms_that_are_far_apart(S: float) -> None:
    """No overflow; the slope keeps its sign where it is tiny."""
    value, slope = log_contrast(contrast_of(3.0, 2.0, S, 4.0), 0, 1, 0.0, 0.0)
    assert value == pytest.approx(float(naive.log_Q(1.0, 3.0, 2.0, S, 4.0, 0.0, 0.0)), rel=1e-9)
    assert math.isfinite(slope)
    assert slope < 0.0


def test_it_starts_at_one_and_every_answer_keeps_its_mean() -> None:
    """E[Q after one more answer | past] = Q, at the true means, for an answer of either arm, by quadrature."""
    rng = np.random.default_rng(3)
    means, x = np.array([0.4, -0.2]), np.linspace(-14.0, 14.0, 4001)
    density = np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi) * (x[1] - x[0])
    order: list[int] = [0, 1, 1, 1, 0, 1, 1, 0]
    rewards: list[float] = []
    for count in range(len(order) + 1):
        now = told(order[:count], rewards)
        Q = at_truth(now, means)
        assert count > 0 or pytest.approx(0.0, abs=1e-12) == Q
        for i in (0, 1):
            then = [at_truth(told([*order[:count], i], [*rewards, means[i] + v]), means) for v in x[::4]]
            assert float(np.sum(density[::4] * 4.0 * np.exp(then))) == pytest.approx(math.exp(Q), rel=1e-6)
        if count < len(order):
            rewards.append(float(means[order[count]] + rng.standard_normal()))


def at_truth(made: Contrast, means: Any) -> float:
    return float(naive.log_Q(1.0, made.H[0, 1], made.H[1, 0], made.S[0, 1], made.V[0, 1], means[0], means[1]))


def test_its_mean_is_one_under_adaptive_sampling() -> None:
    """Stopped once it reaches 5, so that a mean of samples says something: at a tie, the arm behind is pulled."""
    runs, rng = 20_000, np.random.default_rng(5)
    N, H, total, sums, V = np.zeros((runs, 2)), np.zeros((runs, 2)), np.zeros(runs), np.zeros((runs, 2)), np.zeros(runs)
    value, going = np.ones(runs), np.ones(runs, bool)
    rows = np.arange(runs)
    for t in range(150):
        ahead = (sums[:, 0] / np.maximum(N[:, 0], 1) > sums[:, 1] / np.maximum(N[:, 1], 1)).astype(int)
        i = np.full(runs, t % 2) if t % 3 == 0 else 1 - ahead
        j, reward = 1 - i, rng.standard_normal(runs)
        h = (N[rows, j] + 0.5) / (N[rows, i] + N[rows, j] + 1.0) - 0.1 * (H[rows, i] - H[rows, j])
        h = np.clip(h, 0.0, 1.0)
        N[rows, i] += 1
        sums[rows, i] += reward
        H[rows, i] += h
        total += np.where(i == 0, h, -h) * reward
        V += h * h
        value = np.where(going, np.exp(naive.log_Q(1.0, 0.0, 0.0, total, V, 0.0, 0.0)), value)
        going &= value < 5.0
    error = value.std() / math.sqrt(runs)
    assert abs(value.mean() - 1.0) < 4.0 * error
    assert error < 0.02


@given(st.lists(st.integers(0, 1), min_size=20, max_size=200))
def test_weights_are_shares_and_balance(order: list[int]) -> None:
    made = told(order, [1.0] * len(order))
    H, V = made.H, made.V
    assert (H >= 0.0).all()
    assert V[0, 1] == V[1, 0] <= H[0, 1] + H[1, 0] + 1e-9
    assert made.S[0, 1] == pytest.approx(H[0, 1] - H[1, 0], abs=1e-9)
    counts = [order.count(i) for i in (0, 1)]
    assert H[0, 1] <= counts[0]
    assert H[1, 0] <= counts[1]
    both = told(order + [0, 1] * 100, [1.0] * (len(order) + 200))
    assert abs(both.H[0, 1] - both.H[1, 0]) < 1.0


def test_it_depends_on_order() -> None:
    """Which is why logs that were merged do not use it."""
    rewards = [1.0, 0.5, -0.3, 0.2, 0.7, -1.0]
    one, other = told([0, 1, 0, 1, 0, 1], rewards), told([1, 1, 1, 0, 0, 0], [*rewards[1::2], *rewards[0::2]])
    assert log_contrast(one, 0, 1, 0.0, 0.0)[0] != pytest.approx(log_contrast(other, 0, 1, 0.0, 0.0)[0], abs=1e-3)


def test_a_correction_never_raises_the_evidence() -> None:
    """A contrast that began at 1 again after each correction would spend its risk each time."""
    fell = 0
    for seed in range(60):
        found = scene(gb.Gaussian(1.0), seed)
        if found.ranks.pairing.contrast.share > 0.0:
            before = bound(found)
            give_up(found.ranks.pairing.contrast, found.b)
            after = bound(found)
            assert after <= before + 2e-4
            fell += after < before - 1e-3
            N_a = found.tally.N_a + 1
            add_to_contrast(found.ranks.pairing.contrast, N_a, found.a, 100.0)
            assert log_contrast(found.ranks.pairing.contrast, found.a, found.b, 0.0, 0.0)[0] < -300.0
    assert fell > 5
