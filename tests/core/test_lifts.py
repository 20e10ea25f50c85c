"""Many arms: what lifting costs comes from a table, and what is found is that of the search, a little below it."""

import math

import numpy as np
import pytest

import gobetween as gb
from gobetween.core.eprocess import PRODUCT
from gobetween.core.jit import ENABLED
from gobetween.core.lifts import MANY, begin_table, kept_gain, there_is
from gobetween.core.ranks import Ranks, largest_evidence, least_evidence, least_lift, new_ranks, searched_term, spoken
from gobetween.core.state import Tally, fill, new_tally

pytestmark = pytest.mark.skipif(not ENABLED, reason="so many arms are for compiled code")
FAMILIES = (gb.Bernoulli(), gb.Gaussian(1.0), gb.Exponential())


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
    """A table that has seen other tallies, of which single arms differ, finds to the last bit what a new one finds."""
    family = gb.Bernoulli()
    (tally, ranks), rng = scene(family, 0), np.random.default_rng(1)
    other = scene(family, 1)[0]
    for step in range(40):
        a = int(rng.integers(1, len(tally.N_a))) if step % 5 else 0
        source = other if step == 20 else tally
        counts, sums = source.N_a.copy(), source.S_a.copy()
        counts[a], sums[a] = counts[a] + 1, sums[a] + (a == 0)
        tally = fill(new_tally(len(counts)), counts, sums)
        found = float(largest_evidence(family, tally, ranks, 0))
        assert found == float(largest_evidence(family, tally, new_ranks(len(counts), PRODUCT), 0)), step


def test_a_place_of_the_table_leaves_the_rival_out() -> None:
    family = gb.Bernoulli()
    tally, ranks = scene(family, 3)
    lifts, x = ranks.lifts, float(tally.mu_hat[0])
    begin_table(lifts, 0.05)
    for g in range(4):
        assert there_is(family, tally, PRODUCT, lifts, g, 0, x, 1.0)
        for b in (1, 20, 50):
            gain = kept_gain(lifts.kept, lifts.slot[g], b)
            assert gain == pytest.approx(float(least_lift(family, tally, ranks, 0, b, lifts.x[g], 1.0)) - ranks.base, abs=1e-12)
    assert x <= lifts.x[0] < x + 0.05
    assert (np.diff(lifts.x[:4]) < 0.0).all()
