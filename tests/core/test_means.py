"""Confidence sequences of many arms at once: where the mixture of both sides meets its limit, looked for by halving."""

import math

import numpy as np
import pytest

import gobetween as gb
from gobetween.core.evidence.means import interval_ends
from gobetween.core.ground.jit import Floats
from gobetween.core.ground.tally import fill, new_tally
from gobetween.core.reward.family import Family, two_sided
from gobetween.core.verdict.evidence_report import arm_reports

FAMILIES = (gb.Bernoulli(), gb.Gaussian(2.0), gb.Poisson(), gb.Exponential(), gb.Geometric(), gb.Bounded(-1.0, 3.0))
N = np.array([1, 3, 40, 2000, 100_000, 7, 0])


def sums(family: Family) -> Floats:
    """Of few and many rewards, at an end of the domain too."""
    shares = np.array([1.0, 1 / 3, 0.2, 0.001, 0.73, 0.0, 0.0])
    if family.name in ("geometric", "exponential"):
        shares = 1.0 + shares
    return np.asarray(np.round(N * shares, 6))


def halved(family: Family, n: float, S: float, edge: float, limit: float) -> float:
    """The same without tangents."""
    near = float(family.coordinate(S / n))
    far = edge
    if math.isinf(edge):
        far = near + math.copysign(1.0, edge)
        while two_sided(family, n, S, far)[0] < limit:
            far = near + 2.0 * (far - near)
    if two_sided(family, n, S, far)[0] < limit:
        return edge
    for _ in range(120):
        middle = 0.5 * (near + far)
        near, far = (near, middle) if two_sided(family, n, S, middle)[0] >= limit else (middle, far)
    return far


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_ends_are_where_halving_finds_them(family: Family) -> None:
    S, limit = sums(family), math.log(7 / 0.05)
    found = interval_ends(family, N.astype(float), S, limit)
    for i in range(len(N) - 1):
        for end, edge in zip(found[i].tolist(), family.span(), strict=True):
            twin = halved(family, float(N[i]), float(S[i]), edge, limit)
            assert end == pytest.approx(twin, rel=1e-8, abs=1e-10)
            assert end == edge or two_sided(family, float(N[i]), float(S[i]), end)[0] >= limit
    assert tuple(found[-1]) == family.span()


def test_many_arms_have_the_intervals_of_each() -> None:
    places = [3, 0, 1, 2, 2, 3, 4, 5, 6]  # some are alike
    family, tally = gb.Bernoulli(), fill(new_tally(9), N[places], sums(gb.Bernoulli())[places])
    names = list("abcdefghi")
    whole = arm_reports(family, names, tally, 0.05)
    assert whole == tuple(arm_reports(family, [name], tally, 0.05, [a])[0] for a, name in enumerate(names))
    assert (whole[-1].estimate, whole[-1].low, whole[-1].high) == (None, 0.0, 1.0)
