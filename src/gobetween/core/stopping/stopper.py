"""A stopping rule at work, as compiled code sees it. Ours share one kind of stopper; a rule of one's own brings its type."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.evidence.contrast import (
    add_to_contrast,
    clear_contrast,
    contrasts,
    give_up,
    new_contrast,
    restore_contrasts,
)
from gobetween.core.evidence.empirical_bernstein import BernsteinSums, add_to_bernstein, give_up_bernstein, new_bernstein
from gobetween.core.evidence.eprocess import PRODUCT, Pairing, evidence, log_evalue
from gobetween.core.evidence.guess import Guess
from gobetween.core.evidence.informed_ranks import InformedRanks, new_informed_ranks
from gobetween.core.evidence.lift_table import forget_costs
from gobetween.core.evidence.rank_evidence import Ranks, largest_evidence, least_evidence, new_ranks, reach
from gobetween.core.ground.jit import Bools, Floats, by_type, index, inlined, leaf, part
from gobetween.core.ground.tally import Tally, best_seen, seen_all
from gobetween.core.ground.value import compiled_form, first_memory, observe, remember
from gobetween.core.reward.family import Family, surplus
from gobetween.core.stopping.question_stopper import QuestionStopper
from gobetween.core.stopping.stopping_rule import StoppingRule, StoppingView, statistic

POLYNOMIAL, ITERATED_LOG, PAIRS, KK_GAUSSIAN, KK_EXPONENTIAL, RANKS = 0, 1, 2, 3, 4, 5


class Stopper(NamedTuple):
    """One of our rules at work: stop when the statistic reaches c(δ) + h(t)."""

    shape: int  # POLYNOMIAL: Z, h = power · ln t; ITERATED_LOG: Z, h = ln(1 + ln t); PAIRS, RANKS: an e-process, h = 0
    power: float  # of POLYNOMIAL; of PAIRS ln of the pairs that share the risk, where these are not the leader's
    ranks: Ranks | InformedRanks

    def judge(self, family: Family, tally: Tally, t: int, constants: Floats, passed: int) -> tuple[int, int]:
        """The leader, and how many of the constants have been passed."""
        best, Z = glr(family, tally)
        margin = Z - growth(self, t) + surplus(family) if t > 0 else -math.inf
        if self.shape == RANKS:
            margin = reach(self.ranks, best, margin)
            if self.ranks.pairing.bernstein.share > 0.0 and Z > 0.0:  # of rewards that vary little Z knows nothing
                margin = math.inf
        while passed < constants.shape[0] and margin >= constants[passed]:
            # nothing more need be looked at while Z does not suffice: ln E_{a>b} ≤ Z, and not to stop is always safe
            if (
                self.shape == PAIRS
                and not least_evalue(family, tally, self.ranks.pairing, best, constants[passed]) >= constants[passed]
            ):
                break
            if (
                self.shape == RANKS
                and not least_evidence(family, tally, self.ranks, best, constants[passed]) >= constants[passed]
            ):
                break
            passed += 1
        return best, passed

    def note(self, family: Family, tally: Tally, t: int, a: int, reward: float) -> None:
        """Contrasts and how little rewards vary follow the order of answers; all else is in counts and sums."""
        if self.ranks.pairing.contrast.share > 0.0:
            add_to_contrast(self.ranks.pairing.contrast, tally.N_a, a, reward)
        if self.ranks.pairing.bernstein.share > 0.0:
            add_to_bernstein(self.ranks.pairing.bernstein, a, reward)

    def restart(self) -> None:
        """Forget everything, for a new run."""
        if self.ranks.pairing.contrast.share > 0.0:
            clear_contrast(self.ranks.pairing.contrast)
        if self.ranks.pairing.bernstein.share > 0.0:
            self.ranks.pairing.bernstein.sums[:] = 0.0
        forget_costs(self.ranks.lifts)

    def answer(self, best: int, mask: Bools) -> None:
        """The leader alone."""
        mark(best, mask)

    def reading(self, family: Family, tally: Tally, t: int, Z: float) -> tuple[float, float]:
        """The statistic, and h(t)."""
        best = int(best_seen(tally.mu_hat))
        if self.shape == RANKS:
            return float(largest_evidence(family, tally, self.ranks, best)) if Z > 0.0 else -math.inf, 0.0
        if self.shape == PAIRS:
            return float(least_evalue(family, tally, self.ranks.pairing, best, -math.inf)) if Z > 0.0 else -math.inf, 0.0
        return Z, float(growth(self, t)) if t else 0.0

    def bernstein(self) -> BernsteinSums:
        """How little rewards vary, where the rule weighs it."""
        return self.ranks.pairing.bernstein

    def gathered(self, family: Family, tally: Tally, statistic: float) -> float:
        """The evidence that has grown with each answer so far: Z."""
        return float(glr(family, tally)[1])

    def needed(self, family: Family, tally: Tally, constant: float, t: int) -> Callable[[int], float] | None:
        """The Z at which the rule stops, after s more answers: what mixtures cost grows like ln t, what a contrast costs
        hardly. None in a tie, where that is not known.
        """
        Z = float(glr(family, tally)[1])
        if not Z > 0.0:
            return None
        if self.shape not in (PAIRS, RANKS):
            return lambda s: constant + float(growth(self, index(t + s)))
        spent = Z - self.reading(family, tally, t, Z)[0]
        cost = 0.0 if self.ranks.pairing.contrast.share > 0.0 else 1.0
        return lambda s: constant + spent + cost * math.log((t + s) / t)

    def log_p(self, family: Family, tally: Tally, Z: float, statistic: float) -> float:
        """The logarithm of a p-value of the leader that is valid at any time; a rule without one borrows that of the ranks."""
        if not Z > 0.0:
            return 0.0
        if self.shape in (RANKS, PAIRS):
            if self.shape == PAIRS and self.power == 0.0:
                return math.log(len(tally.N_a) - 1) - statistic
            return self.power - statistic
        return -by_ranks(family, tally)

    def corrected(self, a: int) -> None:
        """An answer of arm a was changed or taken out: what depends on the order of answers is given up for a."""
        if self.ranks.pairing.contrast.share > 0.0:
            give_up(self.ranks.pairing.contrast, a)
        if self.ranks.pairing.bernstein.share > 0.0:
            give_up_bernstein(self.ranks.pairing.bernstein, a)
        forget_costs(self.ranks.lifts)

    def to_dict(self) -> dict[str, Any]:
        """What depends on the order of answers, JSON-safe; the rest is in counts and sums."""
        bernstein = self.ranks.pairing.bernstein
        return {"bernstein": bernstein.sums.tolist()} if bernstein.share > 0.0 else contrasts(self.ranks.pairing.contrast)

    def restore(self, data: dict[str, Any]) -> None:
        restore_contrasts(self.ranks.pairing.contrast, data)
        if self.ranks.pairing.bernstein.share > 0.0:
            self.ranks.pairing.bernstein.sums[:] = data["bernstein"]


class OwnStopper(NamedTuple):
    """Someone's own rule at work."""

    rule: Any  # its parameters and functions
    first: Floats  # the memory that a run begins with
    memory: Floats

    def judge(self, family: Family, tally: Tally, t: int, constants: Floats, passed: int) -> tuple[int, int]:
        best = best_seen(tally.mu_hat)
        if t > 0 and seen_all(tally.N_a):
            value = statistic(self.rule, looks(self, family, tally, t, best))
            while passed < constants.shape[0] and value >= constants[passed]:
                passed += 1
        return best, passed

    def note(self, family: Family, tally: Tally, t: int, a: int, reward: float) -> None:
        observe(self.rule, looks(self, family, tally, t, best_seen(tally.mu_hat)), a, reward)

    def restart(self) -> None:
        remember(self.memory, self.first)

    def bernstein(self) -> None:
        """Only the rule knows what it weighs."""

    def gathered(self, family: Family, tally: Tally, statistic: float) -> None:
        """Nobody knows how a statistic of one's own grows."""

    def needed(self, family: Family, tally: Tally, constant: float, t: int) -> None:
        """Nor what it needs."""

    def log_p(self, family: Family, tally: Tally, Z: float, statistic: float) -> float:
        return -by_ranks(family, tally) if Z > 0.0 else 0.0

    def corrected(self, a: int) -> None:
        """A rule is not told of corrections."""

    def answer(self, best: int, mask: Bools) -> None:
        mark(best, mask)

    def reading(self, family: Family, tally: Tally, t: int, Z: float) -> tuple[float, float]:
        if not (t and tally.N_a.all()):
            return 0.0, 0.0
        return float(statistic(self.rule, looks(self, family, tally, t, int(best_seen(tally.mu_hat))))), 0.0

    def to_dict(self) -> dict[str, Any]:
        return {"stopping_memory": [repr(float(x)) for x in self.memory.ravel()]}

    def restore(self, data: dict[str, Any]) -> None:
        self.memory[:] = np.array([float(x) for x in data["stopping_memory"]]).reshape(self.memory.shape)


AnyStopper = Stopper | OwnStopper | QuestionStopper


def new_stopper(
    shape: int,
    power: float = 0.0,
    K: int = 0,
    contrast: float = 0.0,
    sigma: float = 1.0,
    still: float = 0.0,
    bernstein: BernsteinSums | None = None,
    guess: Guess | None = None,
    family: Family | None = None,
) -> Stopper:
    """Set one of our rules to work; the rest belongs to RANKS, a family to a guess."""
    little = new_bernstein(0, 0.0, 0.0, 1.0) if bernstein is None else bernstein
    pairing = Pairing(new_contrast(K, contrast, sigma), still, little)
    if guess is None or family is None:
        return Stopper(shape, power, new_ranks(K, pairing))
    return Stopper(shape, power, new_informed_ranks(K, pairing, family, guess))


def by_ranks(family: Family, tally: Tally) -> float:
    """The evidence for the leader by counts and sums alone."""
    ranks = new_ranks(len(tally.N_a), PRODUCT)
    return float(largest_evidence(family, tally, ranks, int(best_seen(tally.mu_hat))))


@by_type("pair", inline=True)
def judge(stopper: AnyStopper, family: Family, tally: Tally, t: int, constants: Floats, passed: int) -> tuple[int, int]:
    """The leader, and how many of the constants c(δ), in increasing order, have been passed after t answers."""
    return stopper.judge(family, tally, t, constants, passed)


@by_type("none", inline=True)
def note(stopper: AnyStopper, family: Family, tally: Tally, t: int, a: int, reward: float) -> None:
    """Arm a paid a reward, the last of t counted answers."""
    stopper.note(family, tally, t, a, reward)


@by_type("none", inline=True)
def answer(stopper: AnyStopper, best: int, mask: Bools) -> None:
    """Write to mask [K] the answer that was just judged; `best` is the leader."""
    stopper.answer(best, mask)


@leaf
def mark(best: int, mask: Bools) -> None:
    """One arm alone."""
    mask[:] = False
    mask[best] = True


@by_type("none", inline=True)
def restart(worker: Any) -> None:
    """Forget everything learnt, for a new run: a sampler or a stopper."""
    worker.restart()


def new_own_stopper(rule: StoppingRule, K: int) -> OwnStopper:
    """Set someone's own rule to work."""
    first = first_memory(rule, rule.memory(K))
    return OwnStopper(compiled_form(rule), first, first.copy())


@inlined  # not a leaf: arrays that a leaf returns are not counted as references
def looks(own: OwnStopper, family: Family, tally: Tally, t: int, best: int) -> StoppingView:
    """What someone's own rule sees."""
    return StoppingView(family, t, best, tally.N_a, tally.S_a, tally.mu_hat, own.memory)


@part
def growth(stopper: Stopper, t: int) -> float:
    """h(t), t ≥ 1."""
    if stopper.shape == POLYNOMIAL:
        return stopper.power * math.log(t)
    if stopper.shape == ITERATED_LOG:
        return math.log(1.0 + math.log(t))
    if stopper.shape == KK_GAUSSIAN:
        return 4.0 * math.log(4.0 + math.log(0.5 * t))
    return 6.0 * math.log(1.0 + math.log(0.5 * max(t, 2))) if stopper.shape == KK_EXPONENTIAL else 0.0


@part
def glr(family: Family, tally: Tally) -> tuple[int, float]:
    """The leader and Z(t) = min over rivals of N_1 d(μ̂_1, x) + N_a d(μ̂_a, x); Z = 0 until every arm has been seen."""
    best = best_seen(tally.mu_hat)
    if not seen_all(tally.N_a):
        return best, 0.0
    Z = math.inf
    for a in range(tally.mu_hat.shape[0]):
        if a != best:
            f = evidence(family, tally.mu_hat[best], tally.mu_hat[a], float(tally.N_a[best]), float(tally.N_a[a]))[0]
            Z = min(Z, f)
    return best, Z


@leaf
def least_evalue(family: Family, tally: Tally, pairing: Pairing, best: int, enough: float) -> float:
    """The smallest ln E_{best>b} over rivals, or any number under `enough` once one is under it."""
    least = math.inf
    for b in range(tally.mu_hat.shape[0]):
        if b != best:
            least = min(least, log_evalue(family, tally, pairing, best, b, enough))
            if not least >= enough:
                return least
    return least
