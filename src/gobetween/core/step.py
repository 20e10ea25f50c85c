"""The step: choose → observe → verdict. A simulation runs it in a loop, a live study spreads it over days."""

from gobetween.core.family import Family, count_reward
from gobetween.core.jit import inlined, part
from gobetween.core.sampler import AnySampler, Source, learn, next_mediator
from gobetween.core.state import State, Tally, count
from gobetween.core.stopper import AnyStopper, judge, note
from gobetween.core.types import Bools, Floats


@inlined
def choose(family: Family, sampler: AnySampler, state: State, t: int, available: Bools, rng: Source) -> int:
    """The mediator that is asked at time t (queries issued before), counted in N_e; −1 when the rule can ask nobody."""
    e = next_mediator(sampler, family, state, t, available, rng)
    if not 0 <= e < available.shape[0] or not available[e]:
        return -1
    state.N_e[e] += 1
    return e


@part
def observe(family: Family, sampler: AnySampler, state: State, t: int, e: int, a: int, reward: float) -> None:
    """Mediator e answered, after t queries: arm a paid a reward, or nothing (a = K)."""
    state.N_ea[e, a] += 1
    if a < state.tally.N_a.shape[0]:
        count(state.tally, a, reward)
        count_reward(family, a, reward, 1.0)
    learn(sampler, family, state, t, e, a, reward)


@part
def verdict(
    family: Family, stopper: AnyStopper, tally: Tally, t: int, a: int, reward: float, constants: Floats, passed: int
) -> tuple[int, int]:
    """The last of t counted answers was arm a, which paid a reward (a = K: silence): the leader, and how many of the constants
    c(δ), in increasing order, have been passed.
    """
    if a < tally.N_a.shape[0]:
        note(stopper, family, tally, t, a, reward)
    return judge(stopper, family, tally, t, constants, passed)
