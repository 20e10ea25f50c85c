"""Compile what most tests need, once: otherwise every process of theirs would do it at the same time as the others."""

from concurrent.futures import ProcessPoolExecutor

import gobetween as gb

FAMILIES = (gb.Gaussian(1.0), gb.Bernoulli())


def warm(family: gb.Family) -> None:
    """A live step, a forecast, simulations and a lower bound."""
    problem = gb.Problem([0.9, 0.1], [[0.5, 0.5], [0.2, 0.8]], family=family)
    learner = gb.Learner(2, problem.policies, family=family)
    for reward in (1.0, 0.0, 1.0):
        learner.tell(learner.ask(), arm=learner.arms[int(reward == 0.0)], reward=reward)
    assert learner.progress.told == 3
    learner.forecast()
    gb.Learner(2, problem.policies, family=family, sampling=gb.Tracking()).ask()
    gb.simulate(problem, gb.Pursuit(), gb.EProcess(), 0.1, 1, seed=0, workers=1)
    gb.simulate(problem, gb.Tracking(), gb.GLR(), 0.1, 1, seed=0, workers=1)
    gb.lower_bound(problem)


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(warm, FAMILIES))
