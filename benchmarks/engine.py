"""The engine's speed in microseconds of CPU time per step, in one run: rules on Experiment 1, a bare loop, threads, large
problems, the live learner, and the peer `best-arm` (in an environment of its own: it pins an old NumPy) on direct arms.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import gobetween as gb
from gobetween.core.ground.jit import leaf
from gobetween.core.ground.tally import new_state
from gobetween.core.reward.family import draw
from gobetween.core.run.loops import observe, pull

MEANS = [1.5, 1.0, 0.7, 0.5]
POLICIES = [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]]
DELTAS = [0.4, 0.1, 0.01, 0.001]


@leaf
def bare(family: Any, means: Any, cumulative: Any, sampler: Any, state: Any, world: Any, steps: int) -> None:
    """Only draw arm and reward and update counts, mediator after mediator."""
    for t in range(steps):
        e = t % cumulative.shape[0]
        a = pull(cumulative, e, world.random())
        state.N_e[e] += 1
        observe(family, sampler, state, t, e, a, draw(family, means[a], world))


def bare_loop(steps: int = 2_000_000) -> float:
    """Microseconds per step of the bare loop."""
    sampler = gb.Tracking().at_work(np.array(POLICIES), np.ones(4, np.bool_), np.ones(4))
    arguments = (
        gb.Gaussian(1.0),
        np.array(MEANS),
        np.cumsum(POLICIES, axis=1),
        sampler,
        new_state(4, 4),
        np.random.default_rng(0),
    )
    bare(*arguments, 10)
    start = time.process_time()
    bare(*arguments, steps)
    return (time.process_time() - start) / steps * 1e6


def per_step(problem: gb.Problem, sampling: Any, stopping: Any, runs: int, workers: int = 1) -> tuple[float, float]:
    """Microseconds of CPU time per step, and seconds in all."""
    gb.simulate(problem, sampling, stopping, DELTAS, 2, workers=1)
    start, busy = time.perf_counter(), time.process_time()
    result = gb.simulate(problem, sampling, stopping, DELTAS, runs, seed=1, workers=workers)
    taken, used = time.perf_counter() - start, time.process_time() - busy
    return used / result.tau.max(axis=1).sum() * 1e6, taken


def large(steps: int = 20_000) -> float:
    """Microseconds per step at K = E = 100, on a path that does not come to an end."""
    rng = np.random.default_rng(0)
    problem = gb.Problem(np.linspace(1.0, 0.0, 100), rng.dirichlet(np.ones(100), size=100), family=gb.Gaussian(1.0))
    start = time.process_time()
    gb.simulate(problem, gb.Tracking(), gb.GLR(), 1e-9, 1, seed=1, workers=1, max_steps=steps)
    return (time.process_time() - start) / steps * 1e6


def square(size: int) -> gb.Problem:
    """K = E = size, random policies, and one arm that is found out."""
    rng = np.random.default_rng(0)
    return gb.Problem([1.5, *np.linspace(0.6, 0.0, size - 1)], rng.dirichlet(np.ones(size), size=size), family=gb.Gaussian(1.0))


def learner(steps: int = 2000, **rules: Any) -> float:
    """Microseconds of one ask and one tell, by the default rules or these."""
    one = gb.Learner(4, POLICIES, delta=1e-12, family=gb.Gaussian(1.0), **rules)
    rng = np.random.default_rng(0)
    taken = 0.0
    for t in range(steps):
        start = time.process_time()
        query = one.ask(go_on=True)
        taken += (time.process_time() - start) if t > 100 else 0.0
        a = int(rng.choice(4, p=POLICIES[int(query.mediator.split()[1]) - 1]))
        reward = MEANS[a] + rng.normal()
        start = time.process_time()
        one.tell(query, arm=one.arms[a], reward=reward)
        taken += (time.process_time() - start) if t > 100 else 0.0
    return taken / (steps - 101) * 1e6


PEER = """
import contextlib, io, time
import numpy as np
with contextlib.redirect_stdout(io.StringIO()):
    from best_arm.environment import NormalEnvironment
    from best_arm.algorithms.track_and_stop import CTracking, DTracking, TrackAndStop
    from best_arm.stopping_conditions import ChernoffStoppingCondition
    env = NormalEnvironment(4, "linear", 1.0)
env.mu = [1.5, 1.0, 0.7, 0.5]
np.random.seed(0)
for name, tracker in (("C", CTracking), ("D", DTracking)):
    steps, start = 0, time.process_time()
    while time.process_time() - start < 5:
        run = TrackAndStop(env=env, confidence=0.1, tracker=tracker(4), stopping_condition=ChernoffStoppingCondition())
        steps += int(run.run()[1].sum())
    print(name, (time.process_time() - start) / steps * 1e6)
"""


def peer(folder: Path) -> dict[str, float]:
    """Microseconds per step of best-arm, installed in a folder of its own."""
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", "--quiet", "best-arm==0.1.1"], check=True)
        (folder / "ready").touch()
    done = subprocess.run([folder / "bin" / "python", "-c", PEER], check=True, capture_output=True, text=True)
    return {name: float(value) for name, value in (line.split() for line in done.stdout.strip().splitlines()[-2:])}


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-peer", action="store_true", help="leave out best-arm")
    arguments = parser.parse_args()
    paper, direct = gb.Problem(MEANS, POLICIES, family=gb.Gaussian(1.0)), gb.Problem(MEANS, family=gb.Gaussian(1.0))
    base = bare_loop()
    print(f"bare loop: draw arm and reward, update counts    {base:7.3f} µs per step")
    rows = [
        ("TaS-MF-k, GLR", paper, gb.Tracking(), gb.GLR()),
        ("TaS-MF-u, GLR", paper, gb.Tracking(policies="unknown"), gb.GLR()),
        ("TaS-MF-k, e-process", paper, gb.Tracking(), gb.EProcess()),
        ("Pursuit, GLR", paper, gb.Pursuit(), gb.GLR()),
        ("Pursuit, e-process", paper, gb.Pursuit(), gb.EProcess()),
        ("Pursuit, e-process without contrasts", paper, gb.Pursuit(), gb.EProcess(contrast=0.0)),
        ("Frank–Wolfe, GLR", paper, gb.FrankWolfe(), gb.GLR()),
        ("Game, GLR", paper, gb.Game(), gb.GLR()),
        ("Uniform, GLR", paper, gb.UniformSampling(), gb.GLR()),
        ("TaS (direct arms, D-tracking), GLR", direct, gb.Tracking(tracking="D"), gb.GLR()),
        ("TaS (direct arms, C-tracking), GLR", direct, gb.Tracking(), gb.GLR()),
    ]
    speeds = {}
    for name, problem, sampling, stopping in rows:
        speeds[name], _ = per_step(problem, sampling, stopping, 2000)
        print(f"{name:48s} {speeds[name]:7.3f} µs per step, {speeds[name] / base:5.1f} × the bare loop")
    pairs = [[per_step(paper, gb.Tracking(), gb.GLR(), 4000, workers)[1] for workers in (1, 2)] for _ in range(7)]
    one, two = (sorted(column)[3] for column in zip(*pairs, strict=True))
    print(f"two threads against one (medians of 7)           {one / two:7.2f} ×")
    print(f"K = E = 100, 20,000 steps                        {large():7.1f} µs per step")
    for size, runs in ((20, 64), (100, 8)):
        for name, sampling, stopping in (
            ("TaS-MF-k, GLR", gb.Tracking(), gb.GLR()),
            ("Pursuit, GLR", gb.Pursuit(), gb.GLR()),
            ("Pursuit, e-process", gb.Pursuit(), gb.EProcess()),
        ):
            value, _ = per_step(square(size), sampling, stopping, runs)
            print(f"{f'K = E = {size}: {name}':48s} {value:7.1f} µs per step, {value / base:5.0f} × the bare loop")
    learner(steps=10)  # compiled before it is measured
    print(f"Learner.ask + tell from Python, 4×4, Pursuit     {learner():7.1f} µs")
    if not arguments.no_peer:
        for kind, value in peer(Path(".venv/peer").resolve()).items():
            ours = speeds[f"TaS (direct arms, {kind}-tracking), GLR"]
            print(f"best-arm 0.1.1, {kind}-tracking, direct arms          {value:9.1f} µs per step, {value / ours:5.0f} × ours")


if __name__ == "__main__":
    main()
