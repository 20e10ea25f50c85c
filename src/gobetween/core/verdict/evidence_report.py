"""Evidence in a few numbers: what counted answers say about their leader and each arm, and the account of it with all alarms,
one for learner, study and log alike (in words: `words/verdict.py`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gobetween.core.alarm.alarm import Alarm, Facts, alarms_of, broken
from gobetween.core.evidence.eprocess import PRODUCT, evidence, rule_out
from gobetween.core.evidence.means import interval_ends, merged_samples
from gobetween.core.ground.jit import Bools, Floats, Ints, index
from gobetween.core.ground.tally import Tally
from gobetween.core.question.question import Question
from gobetween.core.question.questions import BEST, EpsilonBest
from gobetween.core.reward.family import Family
from gobetween.core.stopping.stopper import AnyStopper, glr
from gobetween.core.stopping.stopping_rule import StoppingRule
from gobetween.errors import ProblemError

FAR = 20  # times as many answers as there are: to wait for more is no plan
ERRORS = 2.0  # standard errors by which a gap may be larger than it seems, where a budget says what is left
OTHERS = 8  # arms, besides the leader, that may put another out of play: those that are certain to be good


@dataclass(frozen=True)
class ArmReport:
    """What is known of one arm from the counted answers."""

    arm: str
    pulls: int
    estimate: float | None
    low: float
    high: float
    """Ends of a confidence sequence: with probability ≥ 1 − δ they hold all means at all times. Not the stopping rule."""


@dataclass(frozen=True)
class Evidence:
    """What counted answers say about their leader, by a stopping rule at risk δ."""

    leader: int
    """The arm with the highest estimate among those seen."""
    answer: tuple[int, ...]
    """The arms that answer the question: the leader, unless another question is asked."""
    statistic: float
    threshold: float
    """The rule stops when the statistic reaches the threshold."""
    p_value: float
    """Against "some other arm is strictly better than the leader", valid at any time."""

    @property
    def reached(self) -> bool:
        """May the leader be named?"""
        return self.statistic >= self.threshold


def weigh(
    family: Family,
    stopping: StoppingRule,
    delta: float,
    tally: Tally,
    t: int,
    stopper: AnyStopper | None = None,
    question: Question = BEST,
) -> Evidence:
    """The evidence after t answers, by a stopping rule at risk δ; `stopper` is the rule at work, where it remembers things."""
    K = len(tally.N_a)
    best, Z = glr(family, tally)
    if not tally.N_a.all():
        best = int(np.argmax(np.where(tally.N_a > 0, tally.mu_hat, -np.inf)))
    at_work = stopping.stopper_for(question, K, family) if stopper is None else stopper
    constant = stopping.threshold_for(question, K, delta, family)
    statistic, growth = at_work.reading(family, tally, t, float(Z))
    mask = np.zeros(K, np.bool_)
    at_work.answer(int(best), mask)
    if statistic < constant + growth and at_work.judge(family, tally, t, np.array([constant]), 0)[1]:
        statistic = constant + growth  # bounds that are looked at closely where it matters
        at_work.answer(int(best), mask)
    p_value = math.exp(min(0.0, at_work.log_p(family, tally, float(Z), statistic)))
    if not (question.names_leader or tally.N_a.all()):
        mask = likeliest(question, tally)
    return Evidence(int(best), tuple(np.flatnonzero(mask).tolist()), max(statistic, 0.0), constant + growth, p_value)


def likeliest(question: Question, tally: Tally) -> Bools:
    """[K] the answer that is right if the means are as estimated, among the arms that were seen."""
    mask, seen = np.zeros(len(tally.N_a), np.bool_), tally.N_a > 0
    question.claim(np.where(seen, tally.mu_hat, -np.inf), 0, mask)
    return np.asarray(mask & seen)


def in_play(
    family: Family, tally: Tally, delta: float, pairs: float | None = None, arms: Sequence[ArmReport] | None = None
) -> Bools:
    """[K] the arms that can still be best: with probability ≥ 1 − δ the best arm is among them at all times.

    Arm b is out while, for some arm a, ln E_{a>b} ≥ ln((K−1)/δ). Of the best arm each of the K−1 others ever reaches that with
    probability at most δ/(K−1). Others are those whose intervals have the highest lower ends, and the leader: there may be very
    many.
    `pairs`: ln of the pairs that share the risk, where these are not K−1. `arms`: their reports, where they are known already.
    """
    still = np.ones(len(tally.N_a), np.bool_)
    limit = (math.log(len(tally.N_a) - 1) if pairs is None else pairs) - math.log(delta)
    seen = np.flatnonzero(tally.N_a)
    if not len(seen):
        return still
    leader = int(seen[np.argmax(tally.mu_hat[seen])])
    known = arm_reports(family, [""] * len(tally.N_a), tally, delta) if arms is None else arms
    low = np.array([arm.low for arm in known])[seen]
    sure = seen[np.argsort(-low, kind="stable")][:OTHERS]
    for a in (*sure.tolist(), leader):
        rule_out(family, tally, PRODUCT, index(a), limit, still)
    return still


def resolvable(family: Family, mean: float, n: float, m: float, needed: float) -> float | None:
    """The least gap g for which n rewards of this mean and m of the mean less g hold so much evidence; None: none does."""
    room = mean - family.low
    most = room * (1.0 - 1e-9) if math.isfinite(room) else 1e50

    def suffices(gap: float) -> bool:
        return float(evidence(family, mean, mean - gap, n, m)[0]) >= needed

    if not (n > 0 and m > 0 and most > 0.0):
        return None
    low, high = 0.0, min(most, 1e-6 * max(1.0, abs(mean)))
    while not suffices(high):
        if high >= most:
            return None
        low, high = high, min(most, 2.0 * high)
    while high - low > 1e-6 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def leader_and_rival(tally: Tally, still: Bools) -> tuple[int, int]:
    """The leader and the closest arm that can still be best; of arms that have all been seen."""
    a, still = int(np.argmax(tally.mu_hat)), still.copy()
    still[a] = False
    if not still.any():
        still[np.arange(len(still)) != a] = True
    return a, int(np.argmax(np.where(still, tally.mu_hat, -np.inf)))


@dataclass(frozen=True)
class NearTie:
    """Two arms that more answers will not tell apart, as data are expected: no guarantee."""

    leader: str
    rival: str
    gap: float  # by how much the rival's estimate is lower
    more: int  # so many more answers, even if all of them are about these two
    resolvable: float  # the smallest gap that these could tell
    eps: float | None  # up to which the best can be asked for instead; None where rewards do not allow that


def near_tie(
    family: Family, arms: Sequence[str], tally: Tally, pair: tuple[int, int], more: int, needed: float, errors: float
) -> NearTie | None:
    """Two arms that so many more answers cannot tell apart; None if they can, at a gap larger by so many standard errors.

    The answers are shared so that both arms are seen as often, if that can be reached: with estimates this close nothing tells
    more, so that the gap that can be told is the smallest for every sampling rule and whatever mediators do.
    """
    (a, b), mu = pair, tally.mu_hat
    n, m = float(tally.N_a[a]), float(tally.N_a[b])
    most = min(n + more, max(n, 0.5 * (n + m + more)))
    told = resolvable(family, float(mu[a]), most, n + m + more - most, needed)
    gap, common = float(mu[a] - mu[b]), (n * mu[a] + m * mu[b]) / (n + m)
    error = math.sqrt(family.variance(float(common)) * (1.0 / n + 1.0 / m))
    if told is None or not gap + errors * error < told:
        return None
    return NearTie(arms[a], arms[b], gap, more, told, _eps(family, len(mu), told))


def _eps(family: Family, K: int, gap: float) -> float | None:
    """Two digits of a gap, if the best up to it can be asked for."""
    eps = float(f"{gap:.2g}")
    try:
        EpsilonBest(eps).check(K, family)
    except ProblemError:
        return None
    return eps


def next_look(t: int) -> int:
    """When a trail of evidence is looked at again after t answers: 4% later each time, so that it stays short."""
    return max(t + 1, math.ceil(1.04 * t))


def arm_reports(
    family: Family, names: Sequence[str], tally: Tally, delta: float, only: Sequence[int] | None = None
) -> tuple[ArmReport, ...]:
    """Arms with their confidence sequences at level δ, shared among all arms; names of those that are looked at."""
    a = list(range(len(names)) if only is None else only)
    limit = math.log(len(tally.N_a) / delta)
    if family.sums_suffice:
        ends = mean_intervals(family, tally.N_a[a], tally.S_a[a], limit)
    else:
        ends = np.array([family.interval(i, limit) for i in a])
    rows = zip(names, tally.N_a[a].tolist(), tally.S_a[a].tolist(), ends.tolist(), strict=True)
    return tuple(ArmReport(name, n, S / n if n else None, low, high) for name, n, S, (low, high) in rows)


def mean_intervals(family: Family, n: Ints, S: Floats, limit: float) -> Floats:
    """[..., 2] the means that samples with counts n and sums S leave possible: those at which ln M stays under the limit."""
    counts, sums, _, places = merged_samples(n, S)
    ends = interval_ends(family, counts, sums, limit)
    means = [sorted((_mean(family, x), _mean(family, y))) for x, y in ends.tolist()]
    return np.array(means).reshape(-1, 2)[places]


def _mean(family: Family, x: float) -> float:
    """The mean at a coordinate."""
    try:
        return float(family.mean_at(x))
    except ZeroDivisionError:
        return math.inf


@dataclass(frozen=True)
class Account:
    """What counted answers come to, with the alarms about them."""

    leader: str | None  # the arm that leads, or that a verdict has named; None while nothing is known
    certain: bool  # by the stopping rule; an alarm may still break it
    delta: float
    counted: int
    alarms: tuple[Alarm, ...]  # all checks, raised or not, the worst first
    answer: tuple[str, ...] = ()  # the arms that are named, or would be now: the leader, unless another question is asked
    question: Question = BEST
    doubted: bool = False  # was it named before answers were corrected or taken out, so that it is not certain now?

    @property
    def broken(self) -> Alarm | None:
        """The first alarm that breaks the guarantee: then no arm is named."""
        return broken(self.alarms)


def account(
    facts: Facts,
    evidence: Evidence,
    counted: int,
    named: tuple[int, ...] | None = None,
    question: Question = BEST,
    doubted: bool = False,
) -> Account:
    """What evidence after so many answers and the facts come to; `named` are the arms of a verdict that stays or is doubted."""
    arms = evidence.answer if named is None else named
    best = arms[0] if question.names_leader else evidence.leader
    leader = facts.arms[best] if counted or named is not None else None
    certain, answer = not doubted and (named is not None or evidence.reached), tuple(facts.arms[a] for a in arms)
    return Account(leader, certain, facts.delta, counted, alarms_of(facts), answer, question, doubted)
