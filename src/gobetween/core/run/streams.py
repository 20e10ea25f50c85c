"""Random numbers of simulated runs: in each run a stream for each arm, one for mediators, and one for the sampling rule.

The k-th reward of an arm is then the same whatever a rule asks: rules are compared by what they do with the same world, run by
run. One generator serves all streams, its state is exchanged.
"""

import ctypes
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gobetween.core.ground.jit import Floats, Ints, leaf, part
from gobetween.core.reward.family import Family, draw

Words = NDArray[np.uint64]
WORDS, WARM = 5, 12  # of the state of SFC64: three that mix, a counter, a half that is left over; and its usual first steps
AHEAD = 8  # so many numbers of a stream are drawn at once: exchanging states costs as much as a number


class World(NamedTuple):
    """Where chance comes from."""

    rng: np.random.Generator
    words: Words  # [5] its state, in place
    own: np.random.Generator  # of the sampling rule
    own_words: Words  # [5]
    streams: Words  # [K + 2, 5] where each stream stands: arms, mediators, the sampling rule
    seeds: Words  # [runs, K + 2, 5] where it began in each run; with no rows there is one stream for all
    ready: Floats  # [K + 1, AHEAD] rewards, and chances of mediators, that were drawn ahead
    used: Ints  # [K + 1] how many of these were used


def one_stream(rng: np.random.Generator, own: np.random.Generator | None = None) -> World:
    """A world in which everything comes from one generator, as it comes; but what a sampling rule draws, if it has its own."""
    word, none = np.zeros(0, np.uint64), np.zeros((0, WORDS), np.uint64)
    return World(rng, word, own or rng, word, none, np.zeros((0, 0, WORDS), np.uint64), np.zeros((0, 0)), np.zeros(0, np.int64))


def world_of_runs(K: int, draws: bool) -> World:
    """A world that has a stream for all that is random; `draws` says whether the sampling rule needs its own."""
    n = K + 2
    rng, words = _generator()
    own, own_words = _generator() if draws else (rng, words)
    streams, ready, used = np.zeros((n, WORDS), np.uint64), np.zeros((n - 1, AHEAD)), np.zeros(n - 1, np.int64)
    return World(rng, words, own, own_words, streams, np.zeros((0, n, WORDS), np.uint64), ready, used)


def seeded(world: World, seed: int, runs: range) -> World:
    """The world in these runs: where each stream begins follows from the seed and the number of the run alone."""
    key = np.random.SeedSequence(seed).generate_state(3, np.uint64)
    n, count = len(world.streams), np.array(runs, np.uint64)
    seeds = np.zeros((len(runs), n, WORDS), np.uint64)
    steps = np.arange(n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for word in range(2):
        seeds[:, :, word] = _mixed(_mixed(key[word] + count)[:, None] + steps)
    seeds[:, :, 2], seeds[:, :, 3] = key[2], 1
    return world._replace(seeds=seeds)


def _mixed(x: Words) -> Words:
    """SplitMix64's bijection, which leaves no pattern of counters."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _generator() -> tuple[np.random.Generator, Words]:
    """A generator, and its state in place."""
    source = np.random.SFC64(0)
    rng = np.random.Generator(source)
    words = np.ctypeslib.as_array((ctypes.c_uint64 * WORDS).from_address(source.ctypes.state_address))
    if not np.array_equal(words[:4], source.state["state"]["state"]):
        raise RuntimeError(f"NumPy {np.__version__} keeps the state of SFC64 where it was not looked for: use NumPy 2.4")
    return rng, words


@part
def begin_run(world: World, run: int) -> None:
    """All streams at the beginning of a run."""
    last = world.streams.shape[0] - 1
    for k in range(last + 1):
        for i in range(WORDS):
            world.words[i] = world.seeds[run, k, i]
        for _ in range(WARM):
            world.rng.random()
        leave(world, k)
    world.used[:] = AHEAD
    if last >= 0:
        for i in range(WORDS):
            world.own_words[i] = world.streams[last, i]


@part
def turn_to(world: World, k: int) -> None:
    """Let the generator go on with stream k."""
    for i in range(WORDS):
        world.words[i] = world.streams[k, i]


@part
def leave(world: World, k: int) -> None:
    """Note where stream k stands."""
    for i in range(WORDS):
        world.streams[k, i] = world.words[i]


@part
def chance(world: World, k: int) -> float:
    """The next number in [0, 1) of stream k."""
    if world.streams.shape[0] == 0:
        return world.rng.random()
    if world.used[k] == AHEAD:
        _more_chances(world, k)
    world.used[k] += 1
    return float(world.ready[k, world.used[k] - 1])


@part
def reward_of(world: World, family: Family, mean: float, a: int) -> float:
    """The next reward of arm a."""
    if world.streams.shape[0] == 0:
        return draw(family, mean, world.rng)
    if world.used[a] == AHEAD:
        _more_rewards(world, family, mean, a)
    world.used[a] += 1
    return float(world.ready[a, world.used[a] - 1])


@leaf
def _more_chances(world: World, k: int) -> None:
    turn_to(world, k)
    for i in range(AHEAD):
        world.ready[k, i] = world.rng.random()
    leave(world, k)
    world.used[k] = 0


@leaf
def _more_rewards(world: World, family: Family, mean: float, a: int) -> None:
    turn_to(world, a)
    for i in range(AHEAD):
        world.ready[a, i] = draw(family, mean, world.rng)
    leave(world, a)
    world.used[a] = 0
