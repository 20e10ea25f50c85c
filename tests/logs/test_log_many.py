"""Many arms: the set that holds the best, tables that stay short, everything in JSON and CSV, claims that do not depend on chunks."""

import csv
import io
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from log_claims import lost_best

import gobetween as gb
from gobetween.core.evidence.lift_table import MANY
from gobetween.core.ground.tally import fill, new_tally
from gobetween.core.run.log_scan import due
from gobetween.core.verdict.evidence_report import arm_reports
from gobetween.pages.blocks import Grid, Text
from gobetween.pages.log import sections
from gobetween.pages.log_tables import TOP, arm_blocks, policy_blocks
from gobetween.words.log_page import ELSEWHERE
from gobetween.words.logs import sentences

pytestmark = pytest.mark.compiled
K = MANY + 20


def log(rows: int, seed: int = 0, best: float = 0.5) -> dict[str, list[Any]]:
    """Eighty arms of which three are good, and two mediators; later rows are drawn among the good ones more often."""
    rng = np.random.default_rng(seed)
    means = np.full(K, 0.1)
    means[:3] = best, 0.45, 0.4
    good = rng.random(rows) < np.where(np.arange(rows) < rows // 2, 0.3, 0.6)
    arms = np.where(good, rng.integers(0, 3, rows), rng.integers(0, K, rows))
    paid = (rng.random(rows) < means[arms]).astype(int)
    return {
        "mediator": [("m", "n")[e] for e in rng.integers(0, 2, rows)],
        "arm": [f"arm {a:02}" for a in arms],
        "reward": paid.tolist(),
    }


@pytest.fixture(scope="module")
def found() -> gb.LogReport:
    return gb.analyse_logs(log(6000))


def test_the_set_of_arms_that_holds_the_best_is_the_headline(found: gb.LogReport) -> None:
    assert not found.identified
    assert {"arm 00", "arm 01"} <= set(found.in_play)
    assert len(found.in_play) < TOP
    start = f"The best arm is one of these {len(found.in_play)} of {K}, with probability at least 95%: "
    assert found.headline.startswith(start + repr(found.leader))
    assert sentences(found)[1].startswith(f"{found.leader!r} leads after 6,000 rows")


def test_traffic_that_is_certainly_not_the_best_use(found: gb.LogReport) -> None:
    traffic, arms, still = found.traffic, log(6000)["arm"], set(found.in_play)
    assert traffic is not None
    assert 0.66 * 6000 < traffic.since <= 0.9 * 6000
    last = arms[traffic.since :]
    assert traffic.rows == len(last)
    assert traffic.share == pytest.approx(sum(arm not in still for arm in last) / len(last))
    assert any(
        f"{traffic.share:.0%} of traffic went to {K - len(still)} arms already ruled out" in line for line in sentences(found)
    )


def test_tables_stay_short_and_files_have_everything(found: gb.LogReport) -> None:
    arms, note = arm_blocks(found)
    assert isinstance(arms, Grid)
    assert isinstance(note, Text)
    assert len(arms.rows) == TOP
    assert [row[0] for row in arms.rows[: len(found.in_play)]] != sorted(found.in_play)  # the highest estimates first
    assert {row[0] for row in arms.rows[: len(found.in_play)]} == set(found.in_play)
    assert note.words == f"and {K - TOP} more arms, 0 of them in play, {ELSEWHERE}"
    cells, rest = policy_blocks(found)
    assert isinstance(cells, Grid)
    assert len(cells.rows) == 16
    data = found.to_dict()
    shown = sum(len(block.rows) for section in sections(found, ()) for block in section.blocks if isinstance(block, Grid))
    assert shown < 60
    assert len(data["arms"]) == K
    assert len(data["policies"]) == 2 * K
    assert isinstance(rest, Text)
    assert rest.words.startswith(f"and {len(data['means']) - 16:,} more pairs")
    stream = io.StringIO()
    found.to_csv(stream)
    lines = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert len(lines) == 3 * K
    assert {line["arm"] for line in lines if line["in_play"] == "yes"} == set(found.in_play)
    assert sum(int(line["rows"]) for line in lines if line["mediator"]) == 6000


def test_means_by_mediator_and_arm_share_their_risk(found: gb.LogReport) -> None:
    rows = log(6000)
    paid = [x for e, a, x in zip(*rows.values(), strict=True) if (e, a) == ("n", "arm 01")]
    cell = next(cell for cell in found.means() if (cell["mediator"], cell["arm"]) == ("n", "arm 01"))
    tally = fill(new_tally(2 * K), np.full(2 * K, len(paid)), np.full(2 * K, float(sum(paid))))
    twin = arm_reports(gb.Bernoulli(), ["x"], tally, 0.05, [0])
    assert (cell["rows"], cell["mean"]) == (len(paid), sum(paid) / len(paid))
    assert (cell["low"], cell["high"]) == pytest.approx((twin[0].low, twin[0].high), rel=1e-9)


def test_a_claim_among_many_arms_does_not_depend_on_chunks() -> None:
    rows = log(9000, seed=2, best=0.8)
    whole = gb.analyse_logs(rows).claim
    parts = [{key: values[i : i + 1234] for key, values in rows.items()} for i in range(0, 9000, 1234)]
    again = gb.analyse_logs(*parts).claim
    assert whole is not None
    assert again is not None
    assert (whole.arm, whole.row) == ("arm 00", again.row)
    assert due(whole.row)
    looked = [t for t in range(1, 9001) if due(t)]
    assert max(t / before for before, t in pairwise(looked[255:])) < 1.01
    earlier = looked[looked.index(whole.row) - 1]
    before = gb.analyse_logs({key: values[:earlier] for key, values in rows.items()})
    assert not before.identified
    assert gb.analyse_logs({key: values[: whole.row] for key, values in rows.items()}).identified


def test_the_best_arm_is_seldom_left_out_of_the_set() -> None:
    """10,000 logs of each kind in `make validity`."""
    lost, left = lost_best(20, 0.3, 20, 0.1)
    assert lost <= 6
    assert left < 20


def test_few_arms_are_all_shown() -> None:
    few = gb.analyse_logs({"arm": ["a", "b"] * 20, "reward": [1, 0] * 20})
    (arms,) = arm_blocks(few)
    assert isinstance(arms, Grid)
    assert [row[0] for row in arms.rows] == ["a", "b"]
    assert math.isclose(few.means()[0]["mean"], 1.0)
