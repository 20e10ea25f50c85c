"""First claims: exact, and wrong more rarely than δ."""

from pathlib import Path
from typing import Any

import pytest
from log_claims import wrong_claims
from log_tables import naive_claim, table

import gobetween as gb
from gobetween.core.jit import ENABLED
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


@pytest.mark.skipif(not ENABLED, reason="thousands of runs are for compiled code")
@pytest.mark.parametrize("mediators", [1, 3])
@pytest.mark.parametrize("family", [gb.Bernoulli(), gb.Gaussian(1.0)], ids=repr)
def test_wrong_claims_are_rarer_than_delta(family: Any, mediators: int) -> None:
    """Small here; 10,000 logs of each kind in `make validity`."""
    claims, wrong = wrong_claims(
        family, mediators, logs=1500, rows=500, delta=0.1, gap=0.12 if family.name == "bernoulli" else 0.25
    )
    assert claims > 20
    assert exact_interval(wrong, 1500, 0.998)[1] <= 0.1
