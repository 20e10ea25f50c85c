"""The compiled loop by which late answers are studied at full size takes the steps of a learner."""

import numpy as np
import pytest
from late_answers import BATCH, late

import gobetween as gb
from gobetween.core.problem.cast import ladder
from gobetween.core.run.loops import pull

POLICIES = [[0.5, 0.2, 0.3], [0.1, 0.5, 0.4]]


def live(problem: gb.Problem, question: gb.Question, slow: bool, delta: float, runs: int, most: int) -> tuple[int, int]:
    """What `late` counts, by learners."""
    rng, cumulative, answered, wrong = np.random.Generator(np.random.PCG64(17)), ladder(problem.policies, False), 0, 0
    for _ in range(runs):
        learner = gb.Learner(problem.arms, dict(zip(problem.mediators, problem.policies, strict=True)), family=problem.family,
                             delta=delta, question=question)  # fmt: skip
        flying: list[tuple[int, gb.Query, int, float]] = []
        now = 0
        while not learner.done and learner.counted < most:
            for _ in range(BATCH if learner.issued < most else 0):
                query = learner.ask()
                a = int(pull(cumulative, learner.mediators.index(query.mediator), rng.random()))
                x = float(problem.family.draw(float(problem.means[a]), rng))
                bad = x < problem.means[a] if a == 0 else x > problem.means[a]
                wait = int(rng.standard_exponential() * (8.0 if bad else 1.0)) if slow else 0
                flying.append((now + wait, query, a, x))
            for item in [item for item in flying if item[0] == now]:
                flying.remove(item)
                learner.tell(item[1], arm=problem.arms[item[2]], reward=item[3])
            now += 1
        answered += learner.done
        named = np.isin(problem.arms, learner.answer)
        wrong += bool(learner.done and not question.right(problem.means, named))
    return answered, wrong


@pytest.mark.plain
@pytest.mark.parametrize("slow", [False, True], ids=["batches", "slow"])
@pytest.mark.parametrize("question", [gb.BestArm(), gb.TopM(2), gb.EpsilonBest(0.2), gb.Threshold(0.0)], ids=repr)
def test_late_runs_are_those_of_learners(question: gb.Question, slow: bool) -> None:
    problem = gb.Problem([0.2, -0.1, 1.6], POLICIES, family=gb.Gaussian(1.0))
    found = late(problem, question, slow, 0.8, 6, 60)
    assert found == live(problem, question, slow, 0.8, 6, 60)
    assert question == gb.Threshold(0.0) or found[0] > 0
