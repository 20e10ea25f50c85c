"""Many arms: what lifting costs comes from a table, and what is found is that of the search, a little below it."""

import math

import numpy as np
import pytest
from strategies import here

import gobetween as gb
from gobetween.core.evidence.eprocess import PRODUCT
from gobetween.core.evidence.informed_ranks import InformedRanks
from gobetween.core.evidence.lift_table import KEPT, MANY, PLACES, begin_table, kept_gain, least_lift, slot_of, there_is
from gobetween.core.evidence.rank_evidence import (
    Ranks,
    largest_evidence,
    least_evidence,
    new_ranks,
    searched_term,
    spoken,
)
from gobetween.core.ground.jit import ENABLED
from gobetween.core.ground.tally import Tally, fill, new_tally

compiled = pytest.mark.compiled
FAMILIES = here([gb.Bernoulli(), gb.Gaussian(1.0), gb.Exponential()], plain=False)


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


def test_places_that_are_forgotten_leave_nothing_behind() -> None:
    """More places than are kept: a slot that is used again holds the costs of its new place."""
    family, K = gb.Bernoulli(), MANY + 10
    (tally, ranks), places = scene(family, 0), np.linspace(0.45, 0.9, KEPT + 20)
    for x in (*places, *places[:20]):
        fresh = new_ranks(K, PRODUCT)
        gains = []
        for lifts in (ranks.lifts, fresh.lifts):
            slot = slot_of(family, tally, PRODUCT, lifts, 0, float(x), 1.0)
            assert lifts.kept.x[slot] == x
            gains.append([kept_gain(lifts.kept, slot, b) for b in range(1, K)])
        assert gains[0] == gains[1], x


@pytest.mark.plain
def test_what_was_kept_is_forgotten_after_a_correction() -> None:
    """How little rewards vary is a part of what lifting costs, and is given up for a corrected arm: counts and sums stay."""
    family, rng, K = gb.Bounded(0.0, 1.0), np.random.default_rng(2), MANY + 10
    stopper, tally = gb.EProcess().at_work(K, family), new_tally(K)
    for n in range(40):
        for a in range(K):
            reward = float(rng.normal(0.8 if a == 0 else 0.4, 0.01))
            tally = fill(tally, tally.N_a + (np.arange(K) == a), tally.S_a + reward * (np.arange(K) == a))
            stopper.note(family, tally, n * K + a + 1, a, reward)
    ranks = stopper.ranks
    fresh = ranks._replace(lifts=new_ranks(K, PRODUCT).lifts)

    def gains(of: Ranks | InformedRanks) -> list[float]:
        slot = slot_of(family, tally, of.pairing, of.lifts, 0, 0.6, 1.0)
        return [kept_gain(of.lifts.kept, slot, b) for b in range(1, K)]

    before = gains(ranks)
    stopper.corrected(5)
    assert gains(ranks) == gains(fresh) != before
