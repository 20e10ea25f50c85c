"""Many arms: what lifting costs comes from a table, and what is found is that of the search, a little below it."""

import math

import numpy as np
import pytest

import gobetween as gb
from gobetween.core.eprocess import PRODUCT
from gobetween.core.jit import ENABLED
from gobetween.core.lifts import MANY, lift_cost, tabled_gain, there_is
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


def test_a_table_is_made_for_one_tally() -> None:
    family = gb.Bernoulli()
    (tally, ranks), (other, fresh) = scene(family, 0), scene(family, 1)
    largest_evidence(family, other, ranks, 0)
    ranks.place[0] = math.nan
    limit = float(largest_evidence(family, tally, fresh, 0))
    assert float(largest_evidence(family, tally, ranks, 0)) == pytest.approx(limit, abs=1e-9)


def test_a_place_of_the_table_leaves_the_rival_out() -> None:
    family = gb.Bernoulli()
    tally, ranks = scene(family, 3)
    lifts, x = ranks.lifts, float(tally.mu_hat[0])
    lifts.step[0], lifts.made[0] = 0.05, 0
    for g in range(4):
        assert there_is(family, tally, PRODUCT, lifts, g, 0, x, 1.0)
        for b in (1, 20, 50):
            gain = tabled_gain(lifts, g, lift_cost(family, tally, PRODUCT, lifts.eta, b, lifts.x[g], 1.0))
            assert gain == pytest.approx(float(least_lift(family, tally, ranks, 0, b, lifts.x[g], 1.0)) - ranks.base, abs=1e-12)
    assert lifts.x[0] == x
    assert (np.diff(lifts.x[:4]) < 0.0).all()
