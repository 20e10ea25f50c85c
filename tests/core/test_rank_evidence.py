"""The evidence of the ranks: never above the infimum over the whole null, close to it where it decides, and at most δ at ties."""

import itertools
import math
from typing import Any, NamedTuple

import naive
import numpy as np
import pytest
from rank_states import FAMILIES, bound, brute, largest_granted, rounding, scene
from strategies import COMPILED, WILD, here
from tie_paths import false_claims

import gobetween as gb
from gobetween.core.evidence.eprocess import PRODUCT, log_evalue, pair_at, with_atom
from gobetween.core.evidence.lift_table import watchfulness
from gobetween.core.evidence.rank_evidence import Ranks, largest_evidence, least_evidence, least_term, new_ranks
from gobetween.core.ground.jit import ENABLED
from gobetween.core.ground.tally import Tally
from gobetween.core.stopping.stopper import new_stopper
from gobetween.errors import ProblemError
from gobetween.simulation.summary import exact_interval


def tally(N: list[int], S: list[float]) -> Tally:
    counts, sums = np.array(N), np.array(S, dtype=float)
    return Tally(counts, sums, sums / counts)


def plain(K: int) -> Ranks:
    return new_ranks(K, PRODUCT)


@pytest.mark.parametrize("family", here(FAMILIES), ids=lambda family: family.name)
def test_the_bound_is_under_the_infimum_over_the_whole_null(family: gb.Family) -> None:
    """All μ with the rival's the largest, every other arm where it hurts most; and near it where this rival decides."""
    short: list[float] = []
    once = not ENABLED and family.name in COMPILED  # at full size with the JIT
    for seed in range(21 if once else 210 if WILD else 84):
        found = scene(family, seed)
        least = brute(found, 2, 4)
        over = least + rounding(found, least)
        assert bound(found) <= over, seed
        for enough in (over + 1e-6, over + 0.01, over + 0.5):
            assert not bound(found, enough) >= enough, seed
        rivals = [b for b in range(len(found.tally.N_a)) if b != found.a]
        if len(short) < 30 and 0.5 < least < 14.0 and found.b == max(rivals, key=lambda b: float(found.tally.mu_hat[b])):
            short.append(least - largest_granted(found, least))
    if once:
        return
    assert np.median(short) < 0.03
    assert np.quantile(short, 0.8) < 0.2


@pytest.mark.parametrize("pulls", [3000, 400])
def test_the_least_over_all_rivals_whatever_the_order_of_arms(pulls: int) -> None:
    """One arm was hardly seen, so that the rival with the highest estimate is not the one that decides."""
    counts, means = [pulls, 2000, 1, 300], [1.0, 0.7, 0.3, -0.5]
    family, found = gb.Gaussian(1.0), set()
    for order in itertools.permutations(range(4)):
        t, leader = tally([counts[a] for a in order], [counts[a] * means[a] for a in order]), order.index(0)
        each = [least_term(family, t, plain(4), leader, b, -math.inf) for b in range(4) if b != leader]
        least = least_evidence(family, t, plain(4), leader, -math.inf)
        assert least == pytest.approx(min(each), abs=1e-9), order
        assert least < each[order.index(1) - (order.index(1) > leader)], "another decides"
        for limit in (least - 1e-6, least + 1e-6):
            assert (least_evidence(family, t, plain(4), leader, limit) >= limit) == (limit < least), order
        found.add(round(least, 6))
    assert len(found) == 1


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_twin_has_the_same_mixtures(family: gb.Family) -> None:
    for n, S in ((1.0, 0.6), (30.0, 11.0), (500.0, 490.0)):
        if family.name == "poisson":
            S = round(S)
        S += n if family.name == "geometric" else 0.0
        for mean in (1.01, 1.3, 90.0) if family.name == "geometric" else (0.01, 0.3, 0.9):
            for side in (1, -1):
                x = float(naive.place_of(family, mean))
                own = family.log_mixture(n, S, float(family.coordinate(mean)), float(side))[0]
                assert own == pytest.approx(float(naive.log_M(family, n, S, x, side)), rel=1e-9, abs=1e-9)


def test_a_rival_far_better_known_than_the_leader_costs_no_rank_that_nobody_takes() -> None:
    """The walk goes on where M⁻ of the rival falls: others that are well known to be worse are not lifted."""
    family, t = gb.Gaussian(1.0), tally([6, 20_000, 20_000, 20_000], [12.0, 0.0, -20_000.0, -20_000.0])
    twin = naive.Terms(family, t.N_a, t.S_a, 0, 1).least()
    ranks = plain(4)
    limit = twin - 0.1
    assert least_evidence(family, t, ranks, 0, limit) >= limit
    assert largest_evidence(family, t, ranks, 0) == pytest.approx(twin, abs=0.1)


@pytest.mark.plain
@pytest.mark.parametrize("rule", ["ranks", "pairs"])
def test_a_tangent_at_the_end_of_the_domain_proves_nothing(rule: str) -> None:
    """Its slope there is 1e150: where it meets another cannot be told from the end, unless that is 0."""
    family, t = gb.Bounded(-1.0, 3.0), tally([189, 35], [302.07044336, -35.0])
    at = np.linspace(-1.0, 3.0, 4001)
    least = min(pair_at(family, t, PRODUCT, 0, 1, x)[0] for x in at)
    value = (
        least_evidence(family, t, plain(2), 0, -math.inf)
        if rule == "ranks"
        else log_evalue(family, t, PRODUCT, 0, 1, -math.inf)
    )
    assert value <= least + 1e-9


def test_weights_sum_to_one() -> None:
    """W(μ) is 1 before anything is seen: Σv = 1, and every factor is 1."""
    for K in (2, 3, 7, 50):
        v_1 = math.exp(plain(K).base) / (1.0 - watchfulness(K)) ** (K - 2) if K > 2 else math.exp(plain(2).base)
        assert sum(v_1 / r for r in range(1, K)) == pytest.approx(1.0)
    for family in FAMILIES:
        for side in (1.0, -1.0):
            assert family.log_mixture(0.0, 0.0, 0.5, side)[0] == pytest.approx(0.0, abs=1e-12)
    assert with_atom(0.0, 0.0, 0.3)[0] == pytest.approx(0.0, abs=1e-12)


def test_an_atom_is_a_mixture() -> None:
    for value in (-30.0, -1.0, 0.0, 2.0, 800.0):
        got, slope = with_atom(value, 3.0, 0.05)
        assert got == pytest.approx(float(np.logaddexp(math.log(0.95) + value, math.log(0.05))))
        assert slope == pytest.approx(3.0 * math.exp(math.log(0.95) + value - got))


class Skewed(NamedTuple("Skewed", [("sigma", float)]), gb.Family):
    """Counts with a parameter that is called sigma but is no standard deviation."""

    __slots__ = ()
    name = "skewed"
    low, high = 0.0, math.inf

    divergence = gb.Poisson.divergence
    variance = gb.Poisson.variance
    tilt = gb.Poisson.tilt


def test_contrasts_are_for_a_known_scale_alone() -> None:
    """A parameter of someone's family may be called sigma."""
    assert gb.EProcess().at_work(3, gb.Gaussian(2.0)).ranks.pairing.contrast.sigma == 2.0
    for family in (Skewed(0.1), *FAMILIES[1:]):
        stopper = gb.EProcess().at_work(3, family)
        assert stopper.ranks.pairing.contrast.share == 0.0
        assert stopper.ranks.pairing.still == 0.0


@pytest.mark.parametrize(
    "wrong", [{"weights": "rank"}, {"contrast": 1.0}, {"contrast": -0.1}, {"still": 2.0}, {"still": math.nan}]
)
def test_parameters_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(ProblemError, match=next(iter(wrong))):
        gb.EProcess(**wrong)


def test_what_is_not_a_number_never_stops_a_run() -> None:
    t = tally([5, 5, 5], [math.nan, 1.0, 0.0])
    assert not least_evidence(gb.Gaussian(1.0), t, new_stopper(5, 0.0, 3, 0.3, 1.0, 0.05).ranks, 0, 1.0) >= 1.0


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("family", "means"), [(gb.Gaussian(1.0), [0.0, 0.0]), (gb.Gaussian(1.0), [0.0] * 4), (gb.Bernoulli(), [0.3] * 3)]
)
@pytest.mark.parametrize("mode", [0, 6])
def test_false_claims_at_ties_are_as_rare_as_they_should_be(family: gb.Family, means: list[float], mode: int) -> None:
    """A small part of validity/ties.py."""
    runs, alphas = 400, (0.4, 0.1, 0.01)
    for alpha, wrong in zip(alphas, false_claims(family, means, mode, runs, 400, alphas), strict=True):
        assert exact_interval(wrong, runs, 0.999)[0] <= alpha
