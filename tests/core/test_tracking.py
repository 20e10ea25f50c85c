import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from gobetween.core.sampling.tracking import box_to_ask, exploration_floor, forced, furthest_behind, least_asked, project

shares = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=7).filter(lambda x: sum(x) > 1e-3)


@given(weights=shares, t=st.integers(0, 10_000))
def test_projection_is_the_nearest_point_in_the_largest_norm(weights: list[float], t: int) -> None:
    omega = np.array(weights) / sum(weights)
    E, floor = len(omega), exploration_floor(len(omega), t)
    projected = omega.copy()
    project(projected, floor)
    assert projected.sum() == pytest.approx(1.0, abs=1e-12)
    assert (projected >= floor - 1e-15).all()
    # min d s.t. |x − ω| ≤ d, Σx = 1, x ≥ floor
    eye, ones = np.eye(E), np.ones((E, 1))
    best = linprog(
        np.append(np.zeros(E), 1.0),
        A_ub=np.vstack([np.hstack([eye, -ones]), np.hstack([-eye, -ones])]),
        b_ub=np.append(omega, -omega),
        A_eq=np.append(np.ones(E), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(floor, None)] * E + [(0, None)],
    )
    assert np.abs(projected - omega).max() == pytest.approx(best.fun, abs=1e-9)


def test_the_floor_of_the_paper() -> None:
    assert exploration_floor(4, 0) == 1 / 8
    assert exploration_floor(3, 16) == 1 / 10


@given(seed=st.integers(0, 1000), E=st.integers(1, 6))
def test_lemma_of_c_tracking_along_arbitrary_targets(seed: int, E: int) -> None:
    """N_e(t) ≥ √(t + E²) − 2E and |N_e − Σω| ≤ E(1 + √t) (Garivier and Kaufmann's Lemma 7), even for hostile targets."""
    rng = np.random.default_rng(seed)
    N, target, raw = np.zeros(E, np.int64), np.zeros(E), np.zeros(E)
    members, free = np.arange(E), np.ones(E, np.bool_)
    for t in range(300):
        omega = np.zeros(E)
        omega[rng.integers(E) if rng.random() < 0.5 else 0] = 1.0
        raw += omega
        project(omega, exploration_floor(E, t))
        target += omega
        N[furthest_behind(target, N, members, free)] += 1
        assert (math.sqrt(t + 1 + E * E) - 2 * E <= N).all()
        assert np.abs(N - raw).max() <= E * (1 + math.sqrt(t + 1))


def test_only_available_members_are_asked() -> None:
    N, target, members = np.array([5, 0, 0]), np.array([9.0, 5.0]), np.array([0, 2])
    everyone = np.ones(3, np.bool_)
    assert furthest_behind(target, N, members, everyone) == 2
    assert furthest_behind(target, N, members, np.array([True, True, False])) == 0
    assert furthest_behind(target, N, members, np.array([False, True, False])) == -1
    assert least_asked(N, members, everyone) == 2
    assert least_asked(N, members, np.array([False, True, False])) == -1


def test_boxes_take_turns_while_an_arm_is_scarce() -> None:
    turns, members, N, target = np.zeros(1), np.arange(3), np.ones(3, np.int64), np.array([1.0, 3.0, 2.0])
    everyone, two = np.ones(3, np.bool_), np.array([True, False, True])
    asked = [box_to_ask(np.array([5, 1]), 3, turns, target, N, members, there) for there in (everyone, two, two, everyone)]
    assert asked == [0, 2, 0, 1]
    assert box_to_ask(np.array([5, 2]), 8, turns, target, N, members, everyone) == 1  # 2 ≥ √(8/2): who is furthest behind
    assert turns[0] == 5
    assert box_to_ask(np.array([5, 1]), 3, turns, target, N, members, np.zeros(3, np.bool_)) == -1


def test_forced_exploration_of_d_tracking() -> None:
    members, everyone = np.arange(3), np.ones(3, np.bool_)
    N = np.array([90, 9, 1])
    assert forced(N, members, everyone, 100) == 2  # 1 < √100 − 1.5
    assert forced(np.array([80, 11, 9]), members, everyone, 100) == -1
    assert forced(N, members, np.array([True, True, False]), 100) == -1  # 9 > 8.5
