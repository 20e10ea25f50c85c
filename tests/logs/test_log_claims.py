"""First claims: exact, and wrong more rarely than δ."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from log_claims import wrong_claims
from log_tables import naive_claim, table

import gobetween as gb
from gobetween.core.ground.tally import count, new_tally
from gobetween.core.run.log_scan import scan, watch
from gobetween.core.stopping.rules import BY_COUNTS
from gobetween.core.stopping.stopper import judge
from gobetween.simulation.summary import exact_interval


def test_the_first_claim_is_exact_also_when_an_arm_comes_late(tmp_path: Path) -> None:
    for seed in range(4):
        columns = table(700, seed, means=(0.8, 0.45, 0.3))
        late = {
            key: [v for v, arm in zip(values, columns["arm"], strict=True) if arm != "c"] for key, values in columns.items()
        }
        tail = {
            key: [v for v, arm in zip(values, columns["arm"], strict=True) if arm == "c"] for key, values in columns.items()
        }
        joined = {key: late[key] + tail[key] for key in columns}
        for log in (columns, joined):
            found = gb.analyse_logs(iter([{k: v[i : i + 100] for k, v in log.items()} for i in range(0, 700, 100)]))
            claim = None if found.claim is None else (found.claim.arm, found.claim.row)
            assert claim == naive_claim(log, 0.05)


@pytest.mark.compiled
@pytest.mark.parametrize("mediators", [1, 3])
@pytest.mark.parametrize("family", [gb.Bernoulli(), gb.Gaussian(1.0)], ids=repr)
def test_wrong_claims_are_rarer_than_delta(family: Any, mediators: int) -> None:
    """Small here; 10,000 logs of each kind in `make validity`."""
    claims, wrong = wrong_claims(
        family, mediators, logs=1500, rows=500, delta=0.1, gap=0.12 if family.name == "bernoulli" else 0.25
    )
    assert claims > 20
    assert exact_interval(wrong, 1500, 0.998)[1] <= 0.1


def changing(*blocks: tuple[str, int, int]) -> dict[str, list[Any]]:
    """Blocks of rows of one arm that pay the same."""
    rows = [(arm, reward) for arm, reward, n in blocks for _ in range(n)]
    return {"arm": [arm for arm, _ in rows], "reward": [float(reward) for _, reward in rows]}


def scanned(columns: dict[str, list[Any]], delta: float) -> tuple[str, int] | None:
    """The first claim in one go; a reader looks at every row of a short log anyway."""
    names = sorted(set(columns["arm"]))
    K, arms, rewards = len(names), np.array([names.index(arm) for arm in columns["arm"]]), np.array(columns["reward"])
    family, rule = gb.Bernoulli(), gb.EProcess()
    counts, sums, constants = np.zeros((1, K), np.int64), np.zeros((1, K)), np.array([rule.threshold(K, delta, family)])
    everywhere = np.zeros(len(arms), np.int64)
    rewards.setflags(write=False)
    found, named = scan(
        family, rule.at_work(K, family), constants, new_tally(K), counts, sums, everywhere, arms, rewards, 0, True
    )
    row, best = watch(family, rule.at_work(K, family), constants, new_tally(K), arms, rewards, 0, 0.0, 1.0)  # as one block
    assert (row, best) == (found, named)
    return None if found < 0 else (names[named], int(found) + 1)


@pytest.mark.parametrize(
    "columns",
    [
        changing(("c", 0, 24), ("c", 1, 36), ("b", 0, 10), ("b", 1, 90), ("a", 1, 15), ("a", 0, 40)),  # the leader falls
        changing(("c", 0, 20), ("a", 1, 3), ("a", 0, 17), ("b", 0, 4), ("b", 1, 90)),  # a rival rises
        changing(("c", 0, 20), ("b", 0, 20), ("b", 1, 3), ("a", 0, 4), ("a", 1, 90)),  # so does the first
        changing(("a", 1, 6), ("a", 0, 14), ("b", 1, 5), ("b", 0, 15), ("c", 0, 20), ("c", 1, 90)),  # one that was not close
    ],
)
def test_the_first_claim_is_exact_when_the_leader_changes(columns: dict[str, list[Any]]) -> None:
    expected = naive_claim(columns, 0.05)
    assert expected is not None
    assert scanned(columns, 0.05) == expected
    found = gb.analyse_logs(columns, family=gb.Bernoulli())
    assert found.claim is not None
    assert (found.claim.arm, found.claim.row) == expected


@pytest.mark.compiled
@pytest.mark.parametrize("family", [gb.Bernoulli(), gb.Gaussian(1.0)], ids=repr)
def test_the_first_claim_is_that_of_looking_at_every_row(family: Any) -> None:
    """Also where blocks are long, leaders change, likelihood ratios are about what is needed, and most rewards are alike."""
    for seed, (K, gap) in enumerate([(2, 0.05), (2, 0.0), (3, 0.06), (5, 0.1), (40, 0.3), (3, 0.02)]):
        rng, n = np.random.default_rng([seed, 7]), 4000
        arms = np.concatenate([rng.integers(0, 2, 50), rng.choice(K, n, p=rng.dirichlet(np.ones(K) * 5))])
        means = 0.4 + gap * (np.arange(K) == K - 1)
        rewards = (rng.random(len(arms)) < means[arms]).astype(float)
        if family.name == "gaussian":
            rewards = rewards + 0.3 * rng.standard_normal(len(arms))
        constants, stopper, tally = np.array([BY_COUNTS.threshold(K, 0.2, family)]), BY_COUNTS.at_work(K, family), new_tally(K)
        expected = -1, -1
        for row, (a, x) in enumerate(zip(arms, rewards, strict=True)):
            count(tally, a, x)
            best, passed = judge(stopper, family, tally, row + 1, constants, 0)
            if passed:
                expected = row, best
                break
        rewards.setflags(write=False)
        N_ea, S_ea, counted = np.zeros((1, K), np.int64), np.zeros((1, K)), new_tally(K)
        everywhere, t = np.zeros(len(arms), np.int64), 0 if seed % 2 else 3_000_000  # as if far into a log: long blocks
        found = scan(family, BY_COUNTS.at_work(K, family), constants, counted, N_ea, S_ea, everywhere, arms, rewards, t, True)
        assert found == expected, (K, gap)
        assert N_ea[0].tolist() == counted.N_a.tolist() == np.bincount(arms, minlength=K).tolist()
        assert (counted.mu_hat == counted.S_a / np.maximum(1, counted.N_a)).all()
        assert (S_ea[0] == counted.S_a).all()
