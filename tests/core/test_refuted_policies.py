"""A declared policy that answers refute is planned with no longer: the switch, and what it does not touch."""

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gobetween as gb
from gobetween.core.alarm.policy import log_policy_evidence
from gobetween.core.evidence.policy_evidence import LEVEL, is_looked_at, is_refuted, refuted_at, with_silence

DECLARED, ACTS = [0.6, 0.2, 0.1, 0.1], [0.02, 0.02, 0.94, 0.02]


@given(st.lists(st.integers(0, 400), min_size=2, max_size=7), st.integers(0, 2**32), st.booleans())
def test_the_switch_is_the_alarm(counts: list[int], seed: int, zero: bool) -> None:
    """The same e-process as `log_policy_evidence`, at every limit that is not met to rounding."""
    rng, c = np.random.default_rng(seed), np.array(counts)
    policy = rng.dirichlet(np.ones(len(c)))
    policy[0] = 0.0 if zero else policy[0]
    policy /= policy.sum()
    found = log_policy_evidence(c, policy) if c.sum() else 0.0
    for limit in (1.0, 4.6, 6.0, 12.0):
        if abs(found - limit) > 1e-6:
            assert is_refuted(c, policy, limit) == (found >= limit)


def test_looks_are_rare_and_never_far_apart() -> None:
    looks = [n for n in range(100_000) if is_looked_at(n)]
    assert looks[:8] == [8, 10, 12, 14, 16, 20, 24, 28]
    assert all(b <= 1.25 * a for a, b in pairwise(looks))
    assert len(looks) < 60


def test_right_policies_are_refuted_with_probability_below_the_level() -> None:
    """All looks of 2,000 answers, 2,000 times; four kinds of policies."""
    rng, looks = np.random.default_rng(5), [n for n in range(1, 2001) if is_looked_at(n)]
    for policy in ([0.5, 0.5], DECLARED, [0.98, 0.01, 0.005, 0.005], [0.1] * 10):
        whole = with_silence(np.array([policy]))[0]
        refuted = 0
        for _ in range(500):
            drawn = rng.choice(len(policy), 2000, p=policy)
            seen = [np.bincount(drawn[:n], minlength=len(whole)) for n in looks]
            refuted += any(is_refuted(counts, whole, -math.log(LEVEL)) for counts in seen)
        assert refuted <= 500 * LEVEL + 3 * math.sqrt(500 * LEVEL)
    assert refuted_at(np.array([DECLARED, [np.nan] * 4, DECLARED])) == pytest.approx(math.log(2 / LEVEL))


def played(declared: Any, acts: list[float], most: int = 400, **rules: Any) -> tuple[int, gb.Learner]:
    """A learner with one mediator that acts in its own way and two that keep their word; how many queries went to the first."""
    true = {"A": acts, "B": [0.1, 0.8, 0.1, 0.0], "C": [0.2, 0.0, 0.4, 0.4]}
    learner = gb.Learner(4, true | {"A": declared}, family=gb.Gaussian(1.0), delta=0.05, **rules)
    rng = np.random.default_rng(1)
    for _ in range(most):
        if learner.done:
            break
        query = learner.ask()
        a = int(rng.choice(4, p=true[query.mediator]))
        learner.tell(query, arm=learner.arms[a], reward=float(rng.normal((1.5, 1.0, 0.7, 0.5)[a])))
    return learner.queries[0], learner


def test_a_mediator_that_breaks_its_policy_does_not_take_over() -> None:
    asked, learner = played(DECLARED, ACTS)
    unknown, other = played(None, ACTS)
    assert sum(learner.queries) <= 1.3 * sum(other.queries)
    assert asked <= unknown + 30
    assert learner.state.planner.sampler.refuted(3).tolist() == [True, False, False]


@pytest.mark.parametrize("sampling", ["tracking", "frank-wolfe", "game", "pruned"])
def test_every_rule_plans_with_what_was_seen(sampling: str) -> None:
    learner = played(DECLARED, ACTS, 60, sampling=sampling)[1]
    sampler = learner.state.planner.sampler
    if learner.queries[0] >= 20:
        assert sampler.refuted(3).tolist() == [True, False, False]


def test_what_was_refuted_is_saved_and_resumed_exactly() -> None:
    _, learner = played(DECLARED, ACTS, 60)
    again = gb.Learner.from_dict(json.loads(json.dumps(learner.to_dict())))
    assert again.state.planner.sampler.refuted(3).any()
    for _ in range(40):
        one, other = learner.ask(go_on=True), again.ask(go_on=True)
        assert one == other
        for each in (learner, again):
            each.tell(one, arm=learner.arms[one.id % 4], reward=0.1 * one.id, accept_surprise=True)
    assert again.to_dict() == learner.to_dict()


def test_a_correction_that_clears_a_mediator_restores_its_policy() -> None:
    learner = gb.Learner(2, {"A": [0.9, 0.1], "B": [0.5, 0.5]}, family=gb.Gaussian(1.0), delta=1e-9)
    fresh = gb.Learner(2, {"A": [0.9, 0.1], "B": [0.5, 0.5]}, family=gb.Gaussian(1.0), delta=1e-9)
    for i in range(16):
        learner.tell(mediator="A", arm=learner.arms[1], reward=0.0)
        fresh.tell(mediator="A", arm=fresh.arms[int(i % 8 == 7)], reward=0.0)
    assert learner.state.planner.sampler.refuted(2).tolist() == [True, False]
    for i in range(16):
        if i % 8 != 7:
            learner.correct(i, "A", (learner.arms[1], 0.0), (learner.arms[0], 0.0))
    sampler = learner.state.planner.sampler
    assert not sampler.refuted(2).any()
    assert str(sampler.to_dict()) == str(fresh.state.planner.sampler.to_dict())
