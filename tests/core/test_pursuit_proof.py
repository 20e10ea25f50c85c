"""Each inequality of the proof that Pursuit is asymptotically optimal (docs/sampling.md), in numbers."""

import math
from typing import Any

import numpy as np
import pytest

import gobetween as gb
from gobetween.core.evidence.eprocess import PRODUCT, evidence
from gobetween.core.ground.tally import Tally
from gobetween.core.stopping.stopper import least_evalue

FAMILIES: list[tuple[gb.Family, float, float]] = [
    (gb.Gaussian(1.3), -1.0, 1.0), (gb.Bernoulli(), 0.05, 0.95), (gb.Poisson(), 0.5, 6.0), (gb.Exponential(), 0.5, 4.0),
]  # fmt: skip


def slopes(family: gb.Family, mu: Any, N: Any) -> tuple[float, Any]:
    """f_b and its slopes at pulls of the leader and the rival."""
    f, d_1, d_b = evidence(family, mu[0], mu[1], N[0], N[1])
    return f, np.array([d_1, d_b])


@pytest.mark.parametrize(("family", "low", "high"), FAMILIES, ids=str)
def test_first_order(family: gb.Family, low: float, high: float) -> None:
    """f(v) ≤ ∇f(N)·v, f(N) ≤ N_1 d(μ_1, μ_b), f(N) ≤ N_b d(μ_b, μ_1), and slopes change by O(1/min N)."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        mu = np.sort(rng.uniform(low, high, 2))[::-1]
        N, v = rng.uniform(0.01, 50.0, 2), rng.uniform(0.01, 50.0, 2)
        (f, slope), (value, _) = slopes(family, mu, N), slopes(family, mu, v)
        assert value <= slope @ v * (1 + 1e-12) + 1e-12
        assert slope @ N == pytest.approx(f)
        assert f <= N[0] * family.kl(mu[0], mu[1]) * (1 + 1e-12)
        assert f <= N[1] * family.kl(mu[1], mu[0]) * (1 + 1e-12)
        moved = slopes(family, mu, 100.0 + N + 3.0)[1] - slopes(family, mu, 100.0 + N)[1]
        assert np.abs(moved).max() <= 3.0 * 4.0 * max(family.kl(mu[0], mu[1]), family.kl(mu[1], mu[0])) / 100.0


@pytest.mark.parametrize(
    ("family", "low", "high", "chance"),
    [
        (gb.Bernoulli(), 0.1, 0.9, lambda x, m: m if x else 1 - m),
        (gb.Poisson(), 0.5, 6.0, lambda x, m: math.exp(x * math.log(m) - m - math.lgamma(x + 1))),
    ],
    ids=["bernoulli", "poisson"],
)
def test_what_a_reward_does(family: gb.Family, low: float, high: float, chance: Any) -> None:
    """Its mean is d(μ, x) − d(μ, μ̂); what is beyond ln(p_μ̂/p_x) is O((1 + X²)/min N)."""
    rng, rewards = np.random.default_rng(2), range(2 if family.name == "bernoulli" else 80)
    for _ in range(60):
        true, estimate, x = rng.uniform(low, high, 3)
        mean = sum(chance(X, true) * math.log(chance(X, estimate) / chance(X, x)) for X in rewards)
        assert mean == pytest.approx(family.kl(true, x) - family.kl(true, estimate), abs=1e-9)
    for n in (1e2, 1e4, 1e6):
        mu, N = np.array([0.7 * high, 0.4 * high]), np.array([n, 2.0 * n])
        before = slopes(family, mu, N)[0]
        x = mu @ N / N.sum()
        for X in (0, 1, 5)[: len(rewards)]:
            moved = slopes(family, np.array([(mu[0] * n + X) / (n + 1), mu[1]]), N + np.array([1.0, 0.0]))[0]
            left = moved - before - math.log(chance(X, mu[0]) / chance(X, x))
            assert abs(left) * n <= 3.0 * (1 + X * X)


def potential(Z: Any, eta: float) -> float:
    return -math.log(np.exp(-eta * (Z - Z.min())).sum()) / eta + float(Z.min())


def test_the_potential_and_its_curvature() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        rivals, eta = int(rng.integers(1, 12)), float(10.0 ** rng.uniform(-3, 1))
        Z, moves = rng.exponential(5.0, rivals), rng.normal(0.0, 3.0, rivals)
        q = np.exp(-eta * (Z - Z.min()))
        q /= q.sum()
        assert Z.min() - math.log(rivals) / eta - 1e-9 <= potential(Z, eta) <= Z.min() + 1e-9
        rise = potential(Z + moves, eta) - potential(Z, eta)
        assert rise >= q @ moves - eta / 8.0 * np.ptp(moves) ** 2 - 1e-9
        assert moves.min() - 1e-9 <= rise <= moves.max() + 1e-9
        smaller = eta * rng.uniform(0.05, 1.0)
        assert potential(Z, smaller) >= potential(Z, eta) - math.log(rivals) * (1 / smaller - 1 / eta) - 1e-9


def test_smoothing_vanishes() -> None:
    for m in (2, 3, 10):
        for n in (1, 2, 7, 50, 1000):
            for N in range(0, n + 1, max(1, n // 7)):
                assert abs((N + 0.5) / (n + m / 2) - N / n) <= (m / 2) / (n + m / 2)


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
def test_forced_pulls_along_a_path(unknown: bool) -> None:
    """N_a ≥ about p_a √(t/K); min Z ≥ c√t; who is unknown has ½√t − E/2 queries."""
    policies = [[0.9, 0.1, 0.0], [0.0, 0.96, 0.04]]
    cast = {"x": None, "y": None} if unknown else dict(zip("xy", policies, strict=True))
    learner = gb.Learner(3, cast, family=gb.Gaussian(1.0), delta=1e-300)
    rng, reach, mu = np.random.default_rng(5), np.max(policies, axis=0), [1.0, 0.3, -2.0]
    for t in range(1, 601):
        query = learner.ask(go_on=True)
        a = int(rng.choice(3, p=policies["xy".index(query.mediator)]))
        learner.tell(query, arm=f"arm {a + 1}", reward=mu[a] + rng.normal())
        tally = learner.state.seen.tally
        if t >= 300:
            assert (tally.N_a >= 0.6 * reach * math.sqrt(t / 3)).all()
            Z = [evidence(gb.Gaussian(1.0), *tally.mu_hat[[0, b]], *tally.N_a[[0, b]].astype(float))[0] for b in (1, 2)]
            assert min(Z) >= 0.1 * math.sqrt(t)
            assert learner.state.seen.N_e.min() >= 0.5 * math.sqrt(t) - 2.0


@pytest.mark.parametrize(("family", "low", "high"), FAMILIES, ids=str)
def test_the_e_process_is_behind_by_a_logarithm(family: gb.Family, low: float, high: float) -> None:
    """Z − ln E ≤ A ln t with pulls of order t: what the limit of E[τ] needs."""
    mu = np.array([0.3 * low + 0.7 * high, 0.6 * low + 0.4 * high])
    for n in (100, 1_000, 10_000, 100_000):
        pulls = np.array([n, 2 * n])
        Z = evidence(family, mu[0], mu[1], float(n), 2.0 * n)[0]
        behind = Z - least_evalue(family, Tally(pulls, mu * pulls, mu), PRODUCT, 0, -math.inf)
        assert 0.0 <= behind <= 2.0 * math.log(n) + 8.0, (n, behind)


def test_a_tracker_that_is_optimal_up_to_tol_is_worth_so_much_on_average() -> None:
    """min f is concave: shares each worth (1 − tol)/T* average to shares that are."""
    problem = gb.Problem([1.0, 0.6, 0.5], [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.1, 0.2, 0.7]], family=gb.Gaussian(1.0))
    best, rng, good = gb.lower_bound(problem), np.random.default_rng(7), []

    def value(omega: Any) -> float:
        w = omega @ problem.policies
        return min(slopes(problem.family, problem.means[[0, b]], w[[0, b]])[0] for b in (1, 2))

    for _ in range(400):
        omega = 0.9 * best.omega + 0.1 * rng.dirichlet(np.ones(3))
        if value(omega) * best.T_star >= 0.99:
            good.append(omega)
    assert len(good) >= 20
    assert value(np.mean(good, axis=0)) * best.T_star >= 0.99
