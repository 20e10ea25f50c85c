"""Many arms: what lifting costs comes from a table, and what is found is that of the search, a little below it."""

import math

import numpy as np
import pytest
from strategies import here

import gobetween as gb
from gobetween.core.eprocess import PRODUCT
from gobetween.core.jit import ENABLED
from gobetween.core.lifts import MANY, PLACES, begin_table, kept_gain, slot_of, there_is
from gobetween.core.ranks import Ranks, largest_evidence, least_evidence, least_lift, new_ranks, searched_term, spoken
from gobetween.core.state import Tally, fill, new_tally

compiled = pytest.mark.skipif(not ENABLED, reason="so many arms are for compiled code")
FAMILIES = here([gb.Bernoulli(), gb.Gaussian(1.0), gb.Exponential()])


def scene(family: gb.Family, seed: int) -> tuple[Tally, Ranks]:
    """More than MANY arms, of which the first is good by so much that it may be certain."""
    rng, K = np.random.default_rng(seed), MANY + 10
    counts = rng.integers(20, 60, K)
    counts[0] = 120
    means = rng.uniform(0.3, 0.4, K)
    means[0] = {"bernoulli": 0.9, "gaussian": 1.4, "exponential": 1.6}[family.name]
    return fill(new_tally(K), counts, np.round(counts * means)), new_ranks(K, PRODUCT)


def searched(family: gb.Family, tally: Tally, ranks: Ranks, limit: float) -> bool:
    """Do all terms of the first arm reach a limit, without a table?"""
    return all(searched_term(family, tally, ranks, 0, b, limit) >= limit for b in range(1, len(tally.N_a)))


@compiled
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_table_finds_what_the_search_finds(family: gb.Family) -> None:
    for seed in range(3):
        tally, ranks = scene(family, seed)
        found = float(largest_evidence(family, tally, ranks, 0))
        assert found > 1.0, seed
        assert least_evidence(family, tally, ranks, 0, found - 1e-6) >= found - 1e-6
        assert not least_evidence(family, tally, ranks, 0, found + 0.01) >= found + 0.01
        assert searched(family, tally, ranks, found - 0.001)
        assert not searched(family, tally, ranks, found + 0.15)


@compiled
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_table_is_under_every_point_of_the_null(family: gb.Family) -> None:
    """What is found never lies above what some means say at which a rival is as good as the leader."""
    for seed in range(3):
        tally, ranks = scene(family, seed)
        found = float(largest_evidence(family, tally, ranks, 0))
        for b in (1, 7, 33):
            x_a, x_b = (float(family.coordinate(tally.mu_hat[i])) for i in (0, b))
            points = [float(spoken(family, tally, ranks, 0, b, x, math.inf)) for x in np.linspace(x_b, x_a, 40)]
            assert found <= min(points) + 1e-9


def test_what_was_kept_changes_nothing() -> None:
    """Of tallies in which single arms differ costs are kept, and are to the last bit what they would be anew."""
    family, rng, K = gb.Bernoulli(), np.random.default_rng(1), MANY + 10
    (tally, ranks), other = scene(family, 0), scene(family, 1)[0]
    for step in range(30):
        leader = 1 if step % 10 == 9 else 0
        source = other if step == 20 else tally
        a, counts, sums = int(rng.integers(K)), source.N_a.copy(), source.S_a.copy()
        counts[a], sums[a] = counts[a] + (step % 3 > 0), sums[a] + (step % 3 < 2)  # or an answer was only corrected
        tally, fresh = fill(new_tally(K), counts, sums), new_ranks(K, PRODUCT)
        for x in (0.45, 0.6):
            gains = []
            for lifts in (ranks.lifts, fresh.lifts):
                slot = slot_of(family, tally, PRODUCT, lifts, leader, x, 1.0)
                gains.append([kept_gain(lifts.kept, slot, b) for b in range(2, K)])
            assert gains[0] == gains[1], step
            assert min(gains[0]) < 0.0
        if ENABLED:
            assert float(largest_evidence(family, tally, ranks, 0)) == float(largest_evidence(family, tally, fresh, 0))


def test_a_place_of_the_table_leaves_the_rival_out() -> None:
    family = gb.Bernoulli()
    tally, ranks = scene(family, 3)
    lifts, x = ranks.lifts, float(tally.mu_hat[0])
    begin_table(lifts, 0.05)
    g, gains = 0, set()
    while there_is(family, tally, PRODUCT, lifts, g, 0, x, 1.0):
        for b in (1, 20, 50):
            gain = kept_gain(lifts.kept, lifts.slot[g], b)
            assert gain == pytest.approx(float(least_lift(family, tally, ranks, 0, b, lifts.x[g], 1.0)) - ranks.base, abs=1e-12)
            gains.add(gain)
        g += 1
    assert x <= lifts.x[0] < x + 0.05
    assert (np.diff(lifts.x[:g]) < 0.0).all()
    assert len(gains) > g + 10, "rivals differ"
    assert g < PLACES
