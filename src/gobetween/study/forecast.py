"""How many more queries a learner will need: the study played on in worlds that its answers leave possible.

A world: means drawn from what the counts leave open (an even prior), policies likewise where they are not declared. In it the
study goes on as its rule would, by pursuit or by the shares that the rule follows, until the evidence reaches the threshold.
Queries are played in blocks that grow with the time played, and a block's rewards are drawn as a sum; what the stopping rule
takes off Z grows as the cost of a mixture does. So no kernel is needed, and a forecast takes some hundredths of a second, with
the JIT and without, however far the end is.

An even prior makes more of near-ties than is seen in practice: worlds take longer than the study. Which of 99 worlds bound the
range was therefore measured, once for all problems (docs/validity-forecast.md).
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gobetween.core.families import Bernoulli, Bounded, Exponential, Gaussian, Poisson
from gobetween.core.family import Family
from gobetween.core.jit import index
from gobetween.core.pursuit import CALM, ETA
from gobetween.core.sampler import C_TRACKING, D_TRACKING, FIXED, PURSUIT, Sampler
from gobetween.core.stopper import PAIRS, RANKS, OwnStopper, Stopper, glr, growth
from gobetween.core.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from gobetween.study.learner import Learner

#: Worlds, and which of them, by how long they take, are the ends of the range and its middle.
WORLDS, LOW, MIDDLE, HIGH = 99, 8, 38, 78
#: A block of queries: this part of those played so far, and of all.
PART, OF_ALL = 0.1, 0.04
BLOCKS = 250
#: How fast what two mixtures cost grows, in ln t. What a contrast costs hardly does: its prior fits the gap it finds.
COST = 1.0


class Forecast(NamedTuple):
    """Queries to go, open ones included: as often more than the median as fewer, 8 times of 10 between low and high."""

    median: float
    low: float
    high: float
    """∞ where that is too far to be played."""


class Worlds(NamedTuple):
    """What may be true."""

    means: Floats  # [B, K]
    pulls: Floats  # [B, E, K+1] policies, silence last


def forecast(learner: "Learner") -> Forecast | None:
    """What is to be expected of a learner; None where that cannot be said. One state, one forecast."""
    if learner.done:
        return Forecast(0.0, 0.0, 0.0)
    if isinstance(learner._stopper, OwnStopper) or not glr(learner.family, learner._counted)[1] > 0.0:
        return None  # nobody knows how a statistic of one's own grows, what an arm pays that was never seen, or who wins a tie
    entropy = np.random.SeedSequence(learner.setup.seed, spawn_key=(learner.counted, int(learner._state.N_ea.sum())))
    rng = np.random.Generator(np.random.PCG64(entropy))
    waits = _played(learner, _worlds(learner, rng), rng)
    low, median, high = (float(waits[place - 1]) for place in (LOW, MIDDLE, HIGH))
    return Forecast(median, low, high) if math.isfinite(median) else None


def _worlds(learner: "Learner", rng: np.random.Generator) -> Worlds:
    setup, tally = learner.setup, learner._state.tally
    means = np.column_stack([_means(setup.family, float(n), float(S), rng) for n, S in zip(tally.N_a, tally.S_a, strict=True)])
    E, K = setup.policies.shape
    pulls = np.zeros((WORLDS, E, K + 1))
    for e in range(E):
        if setup.declared[e]:
            row = np.append(setup.policies[e], max(0.0, 1.0 - float(setup.policies[e].sum())) if setup.silent else 0.0)
            pulls[:, e] = row / row.sum()
        else:
            some = K + 1 if setup.silent else K
            pulls[:, e, :some] = rng.dirichlet(learner._state.N_ea[e, :some] + 0.5, WORLDS)
    return Worlds(means, pulls)


def _means(family: Family, n: float, S: float, rng: np.random.Generator) -> Floats:
    """[B] means that n rewards with sum S leave possible."""
    if isinstance(family, Bernoulli):
        return rng.beta(S + 0.5, n - S + 0.5, WORLDS)
    if isinstance(family, Bounded):
        width = family.high - family.low
        high = min(n, max(0.0, (S - n * family.low) / width))
        return family.low + width * rng.beta(high + 0.5, n - high + 0.5, WORLDS)
    if isinstance(family, Poisson):
        return rng.gamma(S + 0.5, 1.0 / n, WORLDS)
    if isinstance(family, Exponential):
        return S / rng.gamma(n, 1.0, WORLDS)
    spread = math.sqrt(max(0.0, family.variance(S / n)) / n)
    drawn = rng.normal(S / n, spread, WORLDS)
    return np.where((drawn > family.low) & (drawn < family.high), drawn, S / n)


def _sums(family: Family, n: Ints, means: Floats, rng: np.random.Generator) -> Floats:
    """Sums of n rewards each."""
    if isinstance(family, Bernoulli):
        return rng.binomial(n, means).astype(np.float64)
    if isinstance(family, Bounded):
        width = family.high - family.low
        return n * family.low + width * rng.binomial(n, np.clip((means - family.low) / width, 0.0, 1.0))
    if isinstance(family, Poisson):
        return rng.poisson(n * means).astype(np.float64)
    if isinstance(family, Exponential):
        return means * rng.gamma(n)
    variances = means * 0.0 + family.variance(0.0) if isinstance(family, Gaussian) else _variances(family, means)
    return n * means + np.sqrt(n * variances) * rng.standard_normal(means.shape)


def _variances(family: Family, means: Floats) -> Floats:
    return np.array([max(0.0, family.variance(float(mean))) for mean in means.ravel()]).reshape(means.shape)


def _divergences(family: Family, mu: Floats, x: Floats) -> Floats:
    """d(μ, x)."""
    if isinstance(family, Bounded):
        width = family.high - family.low
        return _divergences(Bernoulli(), (mu - family.low) / width, (x - family.low) / width)
    if isinstance(family, Bernoulli):
        return _gap(mu, x) + _gap(1.0 - mu, 1.0 - x)
    if isinstance(family, Poisson):
        return _gap(mu, x) + x - mu
    if isinstance(family, Exponential):
        return mu / x - 1.0 - np.log(mu / x)
    variances = family.variance(0.0) if isinstance(family, Gaussian) else np.maximum(_variances(family, x), 1e-300)
    return np.asarray((mu - x) ** 2 / (2.0 * variances))


def _gap(mu: Floats, x: Floats) -> Floats:
    """μ ln(μ/x), 0 at μ = 0."""
    return np.where(mu > 0.0, mu * np.log(np.maximum(mu, 1e-300) / np.maximum(x, 1e-300)), 0.0)


class Course(NamedTuple):
    """Worlds that are still played, row by row."""

    number: Ints  # [B]
    means: Floats  # [B, K]
    pulls: Floats  # [B, E, K+1]
    reach: Floats  # [B, K] how often the mediator who brings most of an arm for its cost pulls it
    N: Floats  # [B, K]
    S: Floats  # [B, K]
    most: Floats  # [B] the most evidence so far

    def kept(self, rows: Bools) -> "Course":
        """Only these."""
        parts: list[Any] = [part[rows] for part in self]
        return Course(*parts)


def _played(learner: "Learner", worlds: Worlds, rng: np.random.Generator) -> Floats:
    """[B] how long each world goes on, in increasing order; ∞ where that is not known."""
    free = _asked(learner)
    course, shares, needed = _begun(learner, worlds, free), _shares(learner, free), evidence_needed(learner)
    waits, s, t = np.full(WORLDS, np.inf), 0, max(1, learner.counted)
    with np.errstate(all="ignore"):
        for _ in range(BLOCKS):
            block = int(max(1.0, min(PART * s, OF_ALL * (t + s))))
            n = rng.multinomial(block, _pulls(learner, course, free, shares, t + s))[:, :-1]
            course.N[:] += n
            course.S[:] += _sums(learner.family, n, course.means, rng)
            s += block
            Z = _against(learner.family, course)[0].min(axis=1)
            np.maximum(course.most, Z, out=course.most)
            over = np.greater_equal(Z, needed(s))
            waits[course.number[over]] = s - 0.5 * (block - 1)
            course = course.kept(~over)
            if len(course.number) <= WORLDS - HIGH:
                break
    waits.sort()
    return waits


def _asked(learner: "Learner") -> Bools:
    """[E] who may be asked: those present among the rule's members."""
    free = np.zeros(len(learner.mediators), np.bool_)
    free[learner._plan.members] = True
    return free & learner._present if (free & learner._present).any() else free


def _shares(learner: "Learner", free: Bools) -> Floats | None:
    """[E] the shares of queries, where they do not follow from what is seen: a rule of one's own goes on as so far."""
    plan, shares = learner._plan, learner._state.N_e.astype(np.float64)
    if isinstance(plan, Sampler):
        if plan.kind in (PURSUIT, C_TRACKING, D_TRACKING):
            return None
        shares = np.zeros(len(free))
        shares[plan.members] = plan.target if plan.kind == FIXED else 1.0
    shares = np.where(free, shares, 0.0)
    return np.asarray(shares / shares.sum() if shares.any() else free / free.sum())


def _begun(learner: "Learner", worlds: Worlds, free: Bools) -> Course:
    tally = learner._state.tally
    N, S = np.tile(tally.N_a.astype(np.float64), (WORLDS, 1)), np.tile(tally.S_a, (WORLDS, 1))
    pulls = worlds.pulls[:, :, :-1]
    cheapest = np.where(free[:, None], pulls / learner.costs[:, None], -1.0).argmax(axis=1)  # [B, K]
    reach = np.take_along_axis(pulls, cheapest[:, None, :], axis=1)[:, 0, :]
    return Course(np.arange(WORLDS), *worlds, reach, N, S, np.zeros(WORLDS))


def evidence_needed(learner: "Learner") -> Callable[[int], float]:
    """The Z at which the rule stops, after s more queries."""
    stopper, constant, t = learner._stopper, float(learner._constant[0]), max(1, learner.counted)
    assert isinstance(stopper, Stopper)
    if stopper.shape not in (PAIRS, RANKS):
        return lambda s: constant + float(growth(stopper, index(t + s)))
    Z = float(glr(learner.family, learner._counted)[1])
    spent = Z - stopper.reading(learner.family, learner._counted, t, Z)[0]
    cost = 0.0 if stopper.ranks.pairing.contrast.share > 0.0 else COST
    return lambda s: constant + spent + cost * math.log((t + s) / t)


def _pulls(learner: "Learner", course: Course, free: Bools, shares: Floats | None, t: int) -> Floats:
    """[B, K+1] how likely each arm is to be pulled next."""
    if shares is not None:
        chosen = np.einsum("e,bek->bk", shares, course.pulls)
    else:
        scores = np.einsum("bk,bek->be", _gains(learner.family, course, t), course.pulls[:, :, :-1]) / learner.costs
        best = np.where(free, scores, -1.0).argmax(axis=1)
        chosen = course.pulls[np.arange(len(best)), best]
    return np.asarray(chosen / chosen.sum(axis=1, keepdims=True))


def _gains(family: Family, course: Course, t: int) -> Floats:
    """[B, K] what a pull of each arm is worth to pursuit: against rivals, or for its own sake where it was seldom seen."""
    Z, d_leader, d_rival, leader = _against(family, course)
    least = Z.min(axis=1, keepdims=True)
    eta = ETA / np.sqrt(1.0 + np.maximum(course.most[:, None], least) / CALM)
    q = np.exp(-eta * (Z - least))
    gains = np.where(q > 0.0, q * d_rival, 0.0)
    rows = np.arange(len(leader))
    gains[rows, leader] = np.where(q > 0.0, q * d_leader, 0.0).sum(axis=1)
    want = course.N / (course.reach * math.sqrt(t / course.N.shape[1]))
    scarce = want.argmin(axis=1)
    forced = want[rows, scarce] < 1.0
    gains[forced] = 0.0
    gains[rows[forced], scarce[forced]] = 1.0
    return gains


def _against(family: Family, course: Course) -> tuple[Floats, Floats, Floats, Ints]:
    """[B, K] the evidence against each rival (∞ at the leader) with its slopes in both counts, and the leader [B]."""
    N, S = course.N, course.S
    mu, rows = S / N, np.arange(len(N))
    leader = mu.argmax(axis=1)
    mu_1, N_1, S_1 = (part[rows, leader][:, None] for part in (mu, N, S))
    x = (S_1 + S) / (N_1 + N)
    d_leader, d_rival = _divergences(family, mu_1, x), _divergences(family, mu, x)
    Z = N_1 * d_leader + N * d_rival
    Z[rows, leader] = np.inf
    return Z, d_leader, d_rival, leader
