"""A log's claim is that of the rule without contrasts, row by row, also when its arms turn up one after the other."""

import numpy as np

import gobetween as gb
from gobetween.core.ground.tally import count, new_tally
from gobetween.core.stopping.stopper import judge


def test_a_claim_knows_how_many_arms_there_are() -> None:
    """The rule is set to work anew when an arm is seen first: its weights depend on how many there are."""
    rng = np.random.default_rng(1)
    arms = np.concatenate([[0] * 20, rng.integers(0, 2, 40), rng.integers(0, 5, 400)])
    rewards = np.array([1.0, 0.4, 0.3, 0.2, 0.1])[arms] + rng.standard_normal(len(arms))
    family, rule = gb.Gaussian(1.0), gb.EProcess(contrast=0.0)
    expected, tally, stopper = -1, new_tally(5), rule.at_work(5, family)
    for row, (a, x) in enumerate(zip(arms, rewards, strict=True), 1):
        count(tally, a, x)
        if judge(stopper, family, tally, row, np.array([rule.threshold(5, 0.2, family)]), 0)[1]:
            expected = row
            break
    found = gb.analyse_logs({"arm": [f"arm {a}" for a in arms], "reward": rewards.tolist()}, family=family, delta=0.2)
    assert expected > 60
    assert found.claim is not None
    assert found.claim.row == expected
