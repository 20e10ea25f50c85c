"""Hypothesis strategies for problems of every family, from tame to extreme."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from hypothesis import strategies as st

import gobetween as gb
from gobetween.core.ground.jit import ENABLED

#: Families that most tests compile anyway (warm.py).
COMPILED = ("gaussian", "bernoulli")
#: Is this `make stress`?
WILD = os.environ.get("HYPOTHESIS_PROFILE") == "wild"


def here(families: Iterable[gb.Family], plain: bool = True) -> list[gb.Family]:
    """With the JIT only COMPILED: for every other one all would be compiled anew. Without it, and in `make stress`, all.

    plain=False: for tests that run nowhere without it.
    """
    every = (plain and not ENABLED) or WILD
    return [family for family in families if every or family.name in COMPILED]


FAMILIES = here(
    [
        *(gb.Gaussian(1.0), gb.Gaussian(0.02), gb.Bernoulli(), gb.Poisson(), gb.Exponential(), gb.Bounded(-1.0, 3.0)),
        *(gb.Gamma(3.0), gb.Binomial(20), gb.Geometric(), gb.NegativeBinomial(0.5)),
    ]
)


def means_of(family: Any, gaps: Any, top: float) -> Any:
    """Distinct-best means of a family: the first is best, `top` in (0, 1] says how near to the upper end it is."""
    gaps = np.asarray(gaps)
    if family.name == "gaussian":
        return np.append(0.0, -gaps)
    if family.name == "bounded":
        return np.append(3.0 - (1 - top), np.maximum(-1.0, 3.0 - (1 - top) - gaps / max(1.0, gaps.max())))
    if family.name == "bernoulli":
        return np.append(top, np.maximum(0.0, top - gaps / max(1.0, gaps.max())))
    if family.name in ("poisson", "binomial", "negative-binomial"):
        return np.append(20.0 * top, np.maximum(0.0, 20.0 * top - gaps))
    if family.name == "geometric":
        return np.append(1.0 + 20.0 * top, np.maximum(1.0, 1.0 + 20.0 * top - gaps))
    return 10.0 * top / np.append(1.0, 1.0 + gaps)


@st.composite
def problems(draw: Any, families: Any = None, tame: bool = False, most_arms: int = 6, most_mediators: int = 7) -> gb.Problem:
    """A problem whose best arm is unique and comes first; gaps 1e-6…1e3 and entries down to 1e-12 unless tame."""
    family = draw(st.sampled_from(families or FAMILIES))
    K = draw(st.integers(2, most_arms))
    E = draw(st.integers(1, most_mediators))
    low, high = (-1.5, 0.5) if tame else (-6.0, 3.0)
    gaps = [10.0 ** draw(st.floats(low, high)) for _ in range(K - 1)]
    top = draw(st.sampled_from([0.5, 0.3]) if tame else st.sampled_from([1.0, 0.999, 0.5, 0.01]))
    means = means_of(family, gaps, top)
    entry = (
        st.one_of(st.just(0.0), st.floats(0.05, 1.0))
        if tame
        else st.one_of(st.just(0.0), st.floats(-12.0, 0.0).map(lambda x: 10.0**x))
    )
    policies = np.array([[draw(entry) for _ in range(K)] for _ in range(E)])
    for a in np.flatnonzero(policies.max(axis=0) == 0.0):
        policies[draw(st.integers(0, E - 1)), a] = draw(st.sampled_from([1.0, 0.1] if tame else [1.0, 1e-6, 1e-12]))
    policies[policies.sum(axis=1) == 0.0, 0] = 1.0
    policies /= policies.sum(axis=1, keepdims=True)
    if not tame and draw(st.booleans()):
        policies = np.vstack([policies, policies[draw(st.integers(0, E - 1))], policies.mean(axis=0)])
    from hypothesis import assume

    assume(np.count_nonzero(means == means.max()) == 1)
    return gb.Problem(means, policies, family=family)
