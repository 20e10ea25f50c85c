"""The step: choose → observe → verdict. A simulation runs it in a loop, a live study spreads it over days."""

import math

from gobetween.core.families import Family
from gobetween.core.jit import leaf
from gobetween.core.sampling import Sampler, estimate
from gobetween.core.state import State, Tally, count
from gobetween.core.stopping import MIXTURE, Stopper, glr, growth, least_evalue
from gobetween.core.types import Floats


@leaf
def observe(sampler: Sampler, state: State, e: int, a: int, reward: float) -> None:
    """Mediator e answered: arm a paid a reward, or nothing (a = K)."""
    state.N_ea[e, a] += 1
    if a < state.tally.N_a.shape[0]:
        count(state.tally, a, reward)
    estimate(sampler, state, e)


@leaf
def verdict(family: Family, stopper: Stopper, tally: Tally, t: int, constants: Floats, passed: int) -> tuple[int, int]:
    """The leader, and how many of the constants c(δ), in increasing order, have been passed after t answers."""
    best, Z = glr(family, tally)
    margin = Z - growth(stopper, t) if t > 0 else -math.inf
    while passed < constants.shape[0] and margin >= constants[passed]:
        # ln E ≤ Z: only where Z suffices need the e-process be looked at
        if stopper.shape == MIXTURE and not least_evalue(family, tally, best, constants[passed]) >= constants[passed]:
            break
        passed += 1
    return best, passed
