"""The solver against its peers, in one run, as ratios: Clarabel called directly, CVXPY and SciPy's SLSQP.

All solve the same Gaussian games to a relative gap of at most 1e-6. The kernel is timed inside a compiled loop; the public
call, which validates, allocates and wraps, is reported beside it. Clarabel gets prebuilt matrices and its time is that of
building the solver from them and solving, at the loosest tolerance (a power of ten) whose answers were within 1e-6 here.
"""

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import clarabel
import cvxpy
import numpy as np
from scipy import sparse
from scipy.optimize import minimize

import gobetween as gb
from gobetween.core.bound.certificate import new_point
from gobetween.core.bound.game import COLD, WARM, new_workspace, solve
from gobetween.core.ground.jit import jit

TOL = 1e-6
CLARABEL_TOL = 1e-7
FAMILY = gb.Gaussian(1.0)


@jit
def many(family: Any, means: Any, R: Any, tol: float, way: int, point: Any, workspace: Any, n: int) -> int:
    """Solve n games in a compiled loop."""
    steps = 0
    for i in range(n):
        steps += solve(family, means[i % means.shape[0]], R, tol, way, point, workspace)[1]
    return steps


def seconds(call: Callable[[], object], least: float = 0.3) -> float:
    """Best of three of the time of one call."""
    call()
    best = np.inf
    for _ in range(3):
        n, start = 0, time.perf_counter()
        while time.perf_counter() - start < least / 3 or n == 0:
            call()
            n += 1
        best = min(best, (time.perf_counter() - start) / n)
    return float(best)


def cone_program(means: Any, policies: Any) -> tuple[Any, ...]:
    """max t s.t. w = πᵀω, and for each rival: w_1 w_a/(w_1+w_a) · Δ²/2 ≥ t, a second-order cone.

    With u = t·2/Δ²: w_1 w_a ≥ u (w_1 + w_a) ⇔ (w_1 − u)(w_a − u) ≥ u² ⇔ ‖(2u, w_1 − w_a)‖ ≤ w_1 + w_a − 2u.
    """
    E, K = policies.shape
    best = int(np.argmax(means))
    rivals = [a for a in range(K) if a != best]
    rows, b, cones = [], [], []
    rows.append(np.append(np.ones(E), 0.0)[None, :])
    b.append(np.ones(1))
    cones.append(clarabel.ZeroConeT(1))
    rows.append(np.hstack([-np.eye(E), np.zeros((E, 1))]))
    b.append(np.zeros(E))
    cones.append(clarabel.NonnegativeConeT(E))
    scale = np.min(means[best] - means[rivals]) ** 2 / 2
    for a in rivals:
        c = 2 * scale / (means[best] - means[a]) ** 2
        top = np.append(policies[:, best] + policies[:, a], -2 * c)
        mid = np.append(np.zeros(E), 2 * c)
        low = np.append(policies[:, best] - policies[:, a], 0.0)
        rows.append(-np.vstack([top, mid, low]))
        b.append(np.zeros(3))
        cones.append(clarabel.SecondOrderConeT(3))
    A = sparse.csc_matrix(np.vstack(rows))
    q = np.append(np.zeros(E), -1.0)
    return sparse.csc_matrix((E + 1, E + 1)), q, A, np.concatenate(b), cones, scale


def by_clarabel(program: tuple[Any, ...]) -> float:
    """T* from prebuilt matrices."""
    P, q, A, b, cones, scale = program
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = CLARABEL_TOL
    solution = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    return float(1 / (-solution.obj_val * scale))


def by_cvxpy(means: Any, policies: Any) -> float:
    """T* by a modelling language."""
    E, K = policies.shape
    best = int(np.argmax(means))
    omega = cvxpy.Variable(E, nonneg=True)
    w = policies.T @ omega
    values = [
        (means[best] - means[a]) ** 2 / 4 * cvxpy.harmonic_mean(cvxpy.hstack([w[best], w[a]])) for a in range(K) if a != best
    ]
    problem = cvxpy.Problem(
        cvxpy.Maximize(cvxpy.minimum(*values) if len(values) > 1 else values[0]),
        [cvxpy.sum(omega) == 1],
        family=gb.Gaussian(1.0),
    )
    problem.solve(solver=cvxpy.CLARABEL)
    return float(1 / problem.value)


def by_slsqp(means: Any, policies: Any) -> float:
    """T* by sequential quadratic programming on (ω, t)."""
    E, K = policies.shape
    best = int(np.argmax(means))
    rivals = np.array([a for a in range(K) if a != best])
    gaps = (means[best] - means[rivals]) ** 2 / 2

    def slack(x: Any) -> Any:
        w = policies.T @ x[:E]
        return gaps * w[best] * w[rivals] / (w[best] + w[rivals]) / gaps.min() - x[E]

    def slope(x: Any) -> Any:
        w = policies.T @ x[:E]
        total = (w[best] + w[rivals]) ** 2
        d_1, d_a = gaps * w[rivals] ** 2 / total, gaps * w[best] ** 2 / total
        jac = d_1[:, None] * policies[:, best][None, :] + d_a[:, None] * policies[:, rivals].T
        return np.hstack([jac / gaps.min(), -np.ones((len(rivals), 1))])

    start = np.append(np.full(E, 1 / E), 0.0)
    done = minimize(
        lambda x: -x[E],
        start,
        jac=lambda x: np.append(np.zeros(E), -1.0),
        bounds=[(1e-12, 1)] * E + [(None, None)],
        constraints=[
            {"type": "ineq", "fun": slack, "jac": slope},
            {"type": "eq", "fun": lambda x: x[:E].sum() - 1, "jac": lambda x: np.append(np.ones(E), 0.0)[None, :]},
        ],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-10},
    )
    return float(1 / (done.x[E] * gaps.min()))


def compare(name: str, means: Any, policies: Any, slow: bool) -> None:
    """One row: microseconds of each, and ratios to Clarabel."""
    K, E = len(means), len(policies)
    R = np.ascontiguousarray(policies.T)
    point, workspace = new_point(K, E), new_workspace(K, E)
    rng = np.random.default_rng(1)
    walk = means + 1e-3 * np.cumsum(rng.normal(size=(200, K)), axis=0) / np.sqrt(K)
    walk = np.vstack([walk, walk[::-1]])
    n = max(2, 20_000 // (K * E))
    T = gb.lower_bound(gb.Problem(means, policies, family=gb.Gaussian(1.0)), tol=TOL).T_star
    program = cone_program(means, policies)
    rows = {
        "kernel, cold": seconds(lambda: many(FAMILY, means[None, :], R, TOL, COLD, point, workspace, n)) / n,
        "kernel, warm": seconds(lambda: many(FAMILY, walk, R, TOL, WARM, point, workspace, 400)) / 400,
        "gb.lower_bound": seconds(lambda: gb.lower_bound(gb.Problem(means, policies, family=gb.Gaussian(1.0)), tol=TOL)),
        "Clarabel, direct": seconds(lambda: by_clarabel(program)),
    }
    checks = {"Clarabel, direct": by_clarabel(program)}
    if slow:
        rows["CVXPY + Clarabel"] = seconds(lambda: by_cvxpy(means, policies))
        rows["SciPy SLSQP"] = seconds(lambda: by_slsqp(means, policies))
        checks["CVXPY + Clarabel"], checks["SciPy SLSQP"] = by_cvxpy(means, policies), by_slsqp(means, policies)
    print(f"\n{name}: K = {K}, E = {E}, T* = {T:.6g}")
    for label, value in rows.items():
        ratio = rows["Clarabel, direct"] / value
        error = f"   T* differs by {abs(checks[label] / T - 1):.0e}" if label in checks else ""
        print(f"  {label:18s} {value * 1e6:14,.2f} µs   Clarabel/this {ratio:10.3g}{error}")


def large() -> None:
    """K = E = 1,000, dense, certified to 1e-6."""
    rng = np.random.default_rng(0)
    problem = gb.Problem(rng.normal(size=1000), rng.dirichlet(np.ones(1000), size=1000), family=gb.Gaussian(1.0))
    gb.lower_bound(gb.Problem([1.0, 0.0], family=gb.Gaussian(1.0)))  # load the compiled code
    start = time.perf_counter()
    bound = gb.lower_bound(problem, tol=TOL)
    taken = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(
        f"\nK = E = 1,000 dense: {taken:.2f} s, error {bound.relative_error:.1e}, {bound.status}; peak memory {memory:.0f} MB"
    )


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="leave out CVXPY and SLSQP")
    slow = not parser.parse_args().fast
    warnings.simplefilter("ignore")
    large()  # first, so that the peak of memory is its own
    rng = np.random.default_rng(7)
    four = np.array([1.5, 1.0, 0.7, 0.5])
    paper = np.array([[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]])
    compare("Experiment 1", four, paper, slow)
    compare("direct arms", four, np.eye(4), slow)
    compare("random policies", four, rng.dirichlet(np.ones(4), size=4), slow)
    compare("random, dense", rng.normal(size=50), rng.dirichlet(np.ones(50), size=50), slow)
    compare("random, dense", rng.normal(size=200), rng.dirichlet(np.ones(200), size=100), slow)


if __name__ == "__main__":
    main()
