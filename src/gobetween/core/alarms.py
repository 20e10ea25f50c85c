"""Alarms about the world, as e-values: whenever one looks, a false alarm at level α has probability at most α.

*Declared policy*: Krichevsky–Trofimov mixtures of what a mediator did, against its declared policy: of all arms together, and
of each arm against the rest. A wrong policy costs queries, not correctness. *Confounding*: does an arm pay the same whoever
pulls it? inf over a common mean m of ∏_e M_e(m), with M_e a two-sided mixture of likelihood ratios of mediator e's rewards. It
breaks the guarantee; confounding that all mediators share cannot be seen. *Scale*: do rewards spread more than the declared σ
(`spread.py`), or more than the mean says, where a family's does (`excess.py`)? *Contradiction*: an arm that was certain to be
the best, and another that was certain to be better than it at another time. One of them reached e^threshold falsely, which has
probability at most δ: that is the level of this alarm. *Drift* (`drift.py`): does an arm pay, and does a mediator choose, the
same all the time? The first breaks the guarantee, the second does not.

CHECKS lists them; learner, study and log raise whatever stands there.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gobetween.core.difference import alike, least_total, total_at
from gobetween.core.drift import Course, log_policy_drift, log_reward_drift, split_at, split_weight
from gobetween.core.excess import POISSON, log_excess_evidence, watches
from gobetween.core.family import Family, coordinate
from gobetween.core.mixtures import log_gamma
from gobetween.core.opposed import opposite_ways, opposite_words, opposition
from gobetween.core.question import Question
from gobetween.core.questions import PROVEN, BestArm
from gobetween.core.sizes import most_different, most_off
from gobetween.core.spread import is_kept, log_spread_evidence, scale_of, squares
from gobetween.core.state import Tally
from gobetween.core.types import Floats, Ints
from gobetween.core.visible import about, least_visible
from gobetween.export import numbered

LEVEL = 0.01
BEST = BestArm()


@dataclass(frozen=True)
class Alarm:
    """One check, raised or not."""

    kind: str
    """policy, confounding, scale, contradiction, drift or policy-drift."""
    subject: str
    """The mediator (policy, policy-drift), the arm (confounding, contradiction, drift) or what was declared (scale)."""
    log_e: float
    """Evidence in nats; under the limit an upper bound of it; ∞ after what was declared impossible."""
    limit: float
    raised: bool
    breaks: bool
    """Does it break the guarantee, once raised? A wrong policy only costs queries."""
    words: str
    """One sentence."""
    visible: float | None = None
    """The smallest difference that would have shown by now: between means (confounding, drift), of a share (policy). None: none
    would, or nobody asked."""
    size: float | None = None
    """Once raised, by how much and in which direction: how much more an arm pays with the mediator that stands out than with
    others (confounding), or later than before (drift); how much larger a share is than declared (policy), or than before
    (policy-drift)."""
    at: int | None = None
    """Of drift that was found: after about how many answers or rows."""


@dataclass(frozen=True)
class Claimed:
    """An answer that could be named, and the strongest evidence since that it is wrong."""

    arm: int
    """The one that was named or, of several, the one that the evidence is about."""
    since: int
    """Answers counted when it could be named."""
    rival: int = -1
    """The arm that is better; the arm itself where a level decides. −1: there was no evidence against it."""
    at: int = 0
    log_e: float = 0.0
    answer: tuple[int, ...] | None = None
    """The arms that could be named, where the question is not which is the best."""

    @classmethod
    def of(cls, question: Question, answer: tuple[int, ...], since: int) -> "Claimed":
        """An answer that can be named now."""
        return cls(answer[0] if answer else 0, since, answer=None if question == BEST else answer)

    @property
    def named(self) -> tuple[int, ...]:
        """The arms that could be named."""
        return (self.arm,) if self.answer is None else self.answer

    def placed(self, places: Sequence[int]) -> "Claimed":
        """The same where arm i stands at places[i]."""
        answer = None if self.answer is None else tuple(sorted(places[a] for a in self.answer))
        return replace(self, arm=places[self.arm], rival=places[self.rival] if self.rival >= 0 else -1, answer=answer)

    def seen(self, question: Question, family: Family, tally: Tally, t: int) -> "Claimed":
        """The same after a look at what t answers say: do they speak against it?"""
        found = opposition(question, family, tally, self.named) if t > self.since else None
        if found is None or not found[0] > self.log_e:
            return self
        return replace(self, arm=found[1], rival=found[2], at=t, log_e=found[0])

    def saved(self) -> list[Any]:
        """JSON-safe."""
        kept = [self.arm, self.since, self.rival, self.at, self.log_e]
        return kept if self.answer is None else [*kept, list(self.answer)]

    @classmethod
    def restored(cls, values: Sequence[Any]) -> "Claimed":
        """What `saved` wrote."""
        *kept, answer = values if len(values) > 5 else (*values, None)
        return replace(cls(*kept), answer=None if answer is None else tuple(answer))


@dataclass(frozen=True)
class Facts:
    """What alarms look at; what was not kept is None, and not looked at."""

    family: Family
    arms: Sequence[str]
    mediators: Sequence[str]
    N_ea: Ints
    """[E, K], or [E, K+1] with a last column for silence."""
    declared: Sequence[Sequence[float] | None]
    """Of each mediator its policy; one that sums to less than 1 leaves the rest to silence. NaN and 0 are a support."""
    delta: float
    S_ea: Floats | None = None
    """[E, K] sums of rewards."""
    spread: Floats | None = None
    """[3 or more, K] second moments."""
    claimed: Claimed | None = None
    question: Question = BEST
    course: Course | None = None
    """What was counted on the way, in order."""
    unit: str = "answer"
    """What is counted: answers, or rows."""
    visible: bool = True
    """Shall what was not found say how large it would have had to be? That takes longer than to look for it."""
    hasty: bool = False
    """Is what was not found of no interest? Then nothing is looked at closely that cannot be raised."""


def alarms_of(facts: Facts) -> tuple[Alarm, ...]:
    """All alarms, raised or not."""
    return tuple(alarm for check in CHECKS for alarm in check(facts))


def broken_by(facts: Facts) -> Alarm | None:
    """The first alarm that is raised and breaks the guarantee; others are not even looked at."""
    facts = replace(facts, visible=False, hasty=True)
    for check in CHECKS:
        for alarm in check(facts) if check not in (policy, policy_drift) else ():
            if alarm.raised and alarm.breaks:
                return alarm
    return None


def _alarm(kind: str, subject: str, log_e: float, limit: float, clause: str, meaning: str, breaks: bool = True) -> Alarm:
    """An alarm, in words: what is the case, and what that means for the answer."""
    raised, numbers = bool(log_e >= limit), f"(evidence {log_e:.1f} nats, limit {limit:.1f})"
    words = f"{clause[:1].upper()}{clause[1:]} {numbers}: {meaning}." if raised else f"No sign that {clause} {numbers}."
    return Alarm(kind, subject, float(log_e), limit, raised, breaks, words)


def contradiction(facts: Facts) -> list[Alarm]:
    """Was an answer certain, and the opposite at another time?"""
    claimed, question = facts.claimed, facts.question
    if claimed is None or not isinstance(question, PROVEN):
        return []
    arm, since = facts.arms[claimed.arm], numbered(claimed.since, facts.unit)
    rival = "another arm" if claimed.rival < 0 else repr(facts.arms[claimed.rival])
    if question == BEST:
        clause = f"{rival} is certain to be better after {claimed.at:,}, while {arm!r} was certain to be the best after {since}"
        fine = f"Nothing contradicts that {arm!r} was certain to be the best after {since}."
    else:
        said = question.sentence([facts.arms[a] for a in claimed.named])
        said = f"it was certain after {since} that {said[:1].lower()}{said[1:]}"
        opposite = opposite_words(question, claimed.named, claimed.arm, repr(arm), rival)
        clause, fine = f"{opposite} after {claimed.at:,}, while {said}", f"Nothing contradicts that {said}."
    meaning = (
        "something changed on the way, rewards spread more than was declared, or the order is not that in which they were "
        "collected; the guarantee does not hold"
    )
    limit = math.log(opposite_ways(question, len(facts.arms))) - math.log(facts.delta)
    found = _alarm("contradiction", arm, claimed.log_e, limit, clause, meaning)
    return [found if found.raised else replace(found, words=fine)]


def scale(facts: Facts) -> list[Alarm]:
    """Do rewards spread more than is declared?"""
    sigma = scale_of(facts.family)
    if sigma is None or facts.spread is None or not is_kept(facts.spread, facts.family):
        return []
    N_a = facts.N_ea[:, : len(facts.arms)].sum(axis=0)
    return excess_alarms(facts.family, N_a, facts.spread) if watches(facts.family) else scale_alarms(sigma, N_a, facts.spread)


def scale_alarms(sigma: float, N_a: Ints, spread: Floats, level: float = LEVEL) -> list[Alarm]:
    """Is a declared σ contradicted by the second moments [3, K] of N_a rewards?"""
    if not N_a.sum():
        return []
    SS = squares(spread, N_a)
    found = sigma * math.sqrt(SS.sum() / max(1, N_a.sum() - (N_a > 0).sum()))
    clause = f"rewards spread more than sigma = {sigma:g} says"
    meaning = f"they spread by about {found:.3g}, all evidence is overstated, and the guarantee does not hold"
    return [_alarm("scale", f"sigma = {sigma:g}", log_spread_evidence(N_a, SS), math.log(1.0 / level), clause, meaning)]


def excess_alarms(family: Family, N_a: Ints, spread: Floats, level: float = LEVEL) -> list[Alarm]:
    """Is what a family says of rewards with a mean contradicted by second moments and sums [3 or more, K] of N_a rewards?"""
    if not N_a.sum():
        return []
    means = spread[4] / np.maximum(1, N_a)
    expected = math.fsum((n - 1) * family.variance(mean) for n, mean in zip(N_a.tolist(), means.tolist(), strict=True) if n > 1)
    found = squares(spread, N_a).sum() / expected if expected > 0.0 else 1.0
    said = ", ".join(f"{name} = {value:g}" for name, value in family.parameters().items())
    clause = f"rewards vary more than {_called(family)}{f' with {said}' if said else ''} do"
    times = "their mean" if family == POISSON else "what their mean says"
    meaning = f"their variance is about {found:,.2f} times {times}, all evidence is overstated, and the guarantee does not hold"
    log_e = log_excess_evidence(N_a, spread[3:], family)
    return [_alarm("scale", said or family.name, log_e, math.log(1.0 / level), clause, meaning)]


def _called(family: Family) -> str:
    """What rewards of a family are called, where their mean says how much they vary."""
    return {"poisson": "Poisson counts", "exponential": "exponential times", "gamma": "gamma rewards"}.get(
        family.name, f"{family.name.replace('-', ' ')} counts"
    )


def count_alarms(N_a: Ints, spread: Floats, level: float = LEVEL) -> list[Alarm]:
    """Is "the variance of a count is its mean" contradicted by the second moments and sums [3 or more, K] of N_a counts?"""
    return excess_alarms(POISSON, N_a, spread, level)


def policy(facts: Facts) -> list[Alarm]:
    """Does every mediator act as declared?"""
    found = policy_alarms(facts.mediators, facts.N_ea, facts.declared)
    rows = dict(zip(facts.mediators, zip(facts.N_ea, facts.declared, strict=True), strict=True))
    return [_with_share(alarm, *rows[alarm.subject], facts) for alarm in found]


def confounding(facts: Facts) -> list[Alarm]:
    """Does every arm pay the same whoever pulls it?"""
    if facts.S_ea is None or not facts.family.sums_suffice:
        return []
    N_ea, S_ea, places = facts.N_ea[:, : len(facts.arms)], facts.S_ea, {name: a for a, name in enumerate(facts.arms)}
    found = confounding_alarms(facts.arms, facts.family, N_ea, S_ea, hasty=facts.hasty)
    columns = [(N_ea[:, places[alarm.subject]], S_ea[:, places[alarm.subject]]) for alarm in found]
    return [_with_difference(alarm, facts, *column) for alarm, column in zip(found, columns, strict=True)]


def drift(facts: Facts) -> list[Alarm]:
    """Does every arm pay the same all the time?"""
    course = facts.course
    if course is None or not course.moments or not facts.family.sums_suffice:
        return []
    limit, found = math.log(len(facts.arms) / LEVEL), []
    log_e, best = log_reward_drift(facts.family, course, limit, facts.hasty)
    N = np.array([moment.N_a for moment in course.moments])
    middle = np.argmax(np.minimum(N, course.end.N_a - N), axis=0)  # [K] the split with most answers on both sides
    for a in np.flatnonzero(log_e >= (limit if facts.hasty else -1e300)).tolist():
        alarm = _drift_alarm(facts, course, a, int(best[a]), float(log_e[a]), limit)
        found.append(_with_change(alarm, facts, course, a, int(middle[a])) if facts.visible and not alarm.raised else alarm)
    return found


def _drift_alarm(facts: Facts, course: Course, a: int, best: int, log_e: float, limit: float) -> Alarm:
    clause, size, at = f"{facts.arms[a]!r} pays differently at different times", None, None
    if log_e >= limit:
        (n, S), j = _sides(course, best, a), course.moments[best].j
        clause = f"{clause}, {S[0] / n[0]:.4g} up to about {facts.unit} {split_at(j):,} and {S[1] / n[1]:.4g} since"
        size, at = float(S[1] / n[1] - S[0] / n[0]), split_at(j)
    meaning = f"something changed on the way, or {facts.unit}s are not in the order in which they were collected"
    found = _alarm("drift", facts.arms[a], log_e, limit, clause, f"{meaning}; the guarantee does not hold")
    return replace(found, size=size, at=at)


def _sides(course: Course, i: int, a: int) -> tuple[Ints, Floats]:
    """Counts and sums of an arm before and after a moment."""
    (_, _, N, S, _), end = course.moments[i], course.end
    return np.array([N[a], end.N_a[a] - N[a]]), np.array([S[a], end.S_a[a] - S[a]])


def _with_change(alarm: Alarm, facts: Facts, course: Course, a: int, i: int) -> Alarm:
    """An alarm that was not raised, and how large a change would have had to be, at the split that shows it best."""
    j = course.moments[i].j
    visible = visible_difference(facts.family, *_sides(course, i, a), alarm.limit - split_weight(j))[1]
    when = f"about {facts.unit} {split_at(j):,}"
    return _less(alarm, visible, f"a change by about {about(visible or 0.0)} at {when} would have shown", facts.unit)


def policy_drift(facts: Facts) -> list[Alarm]:
    """Does every mediator choose the same way all the time, declared or not?"""
    course = facts.course
    if course is None or course.end.N_ea is None:
        return []
    kept = [(moment.j, moment.N_ea) for moment in course.moments if moment.N_ea is not None]
    found = [_chooser_alarm(facts, e, kept, course.end.N_ea[e]) for e in range(len(facts.mediators))] if kept else []
    return [alarm for alarm in found if alarm.log_e > -math.inf]


def _chooser_alarm(facts: Facts, e: int, kept: Sequence[tuple[int, Ints]], counts: Ints) -> Alarm:
    """From the counts of all mediators at splits, and of this one in the end."""
    before, limit = np.array([N_ea[e] for _, N_ea in kept]), math.log(len(facts.mediators) / LEVEL)
    log_e, best, outcome = log_policy_drift(before, counts, np.array([split_weight(j) for j, _ in kept]))
    clause, size, at = f"{facts.mediators[e]!r} chooses differently at different times", None, None
    if log_e >= limit:
        what = repr(facts.arms[outcome]) if outcome < len(facts.arms) else "silence"
        share, since = (float(c[outcome] / c.sum()) for c in (before[best], counts - before[best]))
        at = split_at(kept[best][0])
        when = f"about {facts.unit} {at:,}"
        clause, size = f"{clause}, {what} {share:.0%} of the time up to {when} and {since:.0%} since", since - share
    meaning = (
        "the answer stays valid, plans that rest on its policy are off, for that is an average; mediators who learn on "
        "the way look like this"
    )
    return replace(_alarm("policy-drift", facts.mediators[e], log_e, limit, clause, meaning, breaks=False), size=size, at=at)


#: What is watched; of several alarms the first one that breaks the guarantee is the headline.
CHECKS: tuple[Callable[[Facts], list[Alarm]], ...] = (scale, contradiction, drift, confounding, policy, policy_drift)


def policy_alarms(
    names: Sequence[str], N_ea: Ints, declared: Sequence[Sequence[float] | None], level: float = LEVEL
) -> list[Alarm]:
    """Is a declared policy contradicted? N_ea may have one more column, for silence, with what probability is left."""
    found = []
    limit = math.log(max(1, sum(row is not None and not math.isnan(math.fsum(row)) for row in declared)) / level)
    for name, counts, row in zip(names, N_ea, declared, strict=True):
        if row is None or not counts.sum():
            continue
        policy = _filled(row, len(counts))
        if np.isnan(policy).any():
            found.append(_support_alarm(name, counts, policy, limit))
            continue
        clause = f"{name!r} acts otherwise than by its declared policy"
        meaning = "the answer stays valid, plans that rest on that policy are off"
        found.append(_alarm("policy", name, log_policy_evidence(counts, policy), limit, clause, meaning, breaks=False))
    return found


def _support_alarm(name: str, counts: Ints, policy: Floats, limit: float) -> Alarm:
    """Was an arm pulled outside a declared support? That is certain or not: there is no other evidence."""
    log_e = math.inf if counts[policy == 0.0].any() else 0.0
    clause = f"{name!r} pulls arms that it was declared never to"
    meaning = "the answer stays valid, for it does not rest on who may pull what; what was seen is planned with"
    return _alarm("policy", name, log_e, limit, clause, meaning, breaks=False)


def _with_share(alarm: Alarm, counts: Ints, row: Sequence[float] | None, facts: Facts) -> Alarm:
    """How far off a share is or, of an alarm that was not raised, would have had to be."""
    policy, unit = _filled(row or (), len(counts)), facts.unit
    if np.isnan(policy).any():
        outside = [facts.arms[a] for a in np.flatnonzero((policy == 0.0) & (counts > 0)).tolist()]
        if not outside:
            return _less(alarm, 0.0, "any arm outside its support would have shown", unit) if facts.visible else alarm
        return _sized(alarm, ", ".join(map(repr, outside)), float(counts[policy == 0.0].sum() / counts.sum()))
    if alarm.raised:
        one, share, said = most_off(counts, policy)
        what = repr(facts.arms[one]) if one < len(facts.arms) else "silence"
        return _sized(alarm, f"{what} {share:.1%} of the time instead of {said:.1%}", share - said)
    if not facts.visible:
        return alarm
    if (policy > 0.0).sum() < 2:
        return _less(alarm, 0.0, "any other arm would have shown", unit)
    visible = visible_share(int(counts.sum()), policy, alarm.limit)
    return _less(alarm, visible, f"an arm's share off by about {about(100.0 * (visible or 0.0))} points would have shown", unit)


def _with_difference(alarm: Alarm, facts: Facts, n: Ints, S: Floats) -> Alarm:
    """How much a mediator differs from the others or, of an alarm that was not raised, would have had to."""
    pulled = np.flatnonzero(n)
    if alarm.raised:
        one, mean, rest = most_different(facts.family, n[pulled], S[pulled])
        others = "the others" if len(pulled) > 2 else repr(facts.mediators[pulled[1 - one]])
        return _sized(alarm, f"{mean:.4g} with {facts.mediators[pulled[one]]!r} and {rest:.4g} with {others}", mean - rest)
    if not facts.visible:
        return alarm
    one, visible = visible_difference(facts.family, n[pulled], S[pulled], alarm.limit)
    between = f" between {facts.mediators[pulled[one]]!r} and the others" if len(pulled) > 2 else ""
    return _less(alarm, visible, f"a difference of about {about(visible or 0.0)}{between} would have shown", facts.unit)


def _sized(alarm: Alarm, what: str, size: float) -> Alarm:
    """An alarm that was raised, with what stands out in numbers."""
    return replace(alarm, size=size, words=alarm.words.replace(" (evidence", f", {what} (evidence", 1))


def _less(alarm: Alarm, visible: float | None, shown: str, unit: str) -> Alarm:
    words = f"there are too few {unit}s for any difference to show" if visible is None else shown
    return replace(alarm, visible=visible, words=f"{alarm.words.removesuffix('.')}; {words}.")


def visible_share(n: int, policy: Floats, limit: float) -> float | None:
    """How far off the share of an arm must be to show after n pulls: of the arm whose share varies most, hence of any."""
    K = int((policy > 0.0).sum())
    p = float(policy[np.argmax(policy * (1.0 - policy))])
    side, share = (1.0, 1.0 - p) if p < 0.5 else (-1.0, p)
    declared, loss = np.array([p, 1.0 - p]), math.log(4.0 * K) if K > 2 else 0.0

    def evidence(d: float) -> float:
        return log_kt(n * np.array([p + side * d, 1.0 - p - side * d]), declared) - loss

    return least_visible(evidence, math.sqrt(p * (1.0 - p) / n), share, limit)


def visible_difference(family: Family, n: Ints, S: Floats, limit: float) -> tuple[int, float | None]:
    """The mediator with most to compare, and how far its mean must be from the others' to show: to the side with more room."""
    total, mean = float(n.sum()), float(S.sum() / n.sum())
    one = int(np.argmax(np.minimum(n, total - n)))
    up, down = family.high - mean, mean - family.low
    side, room = (1.0, up) if up >= down else (-1.0, down)
    others, many = np.unique(np.delete(n, one), return_counts=True)  # as data are expected, those with one count are alike
    counts, times = np.append(n[one], others).astype(np.float64), np.append(1.0, many.astype(np.float64))
    first = np.arange(len(counts)) == 0

    def evidence(d: float) -> float:
        sums = counts * (mean + side * d * first)
        return float(total_at(family, counts, sums, times, coordinate(family, (times * sums).sum() / total))[0])

    error = math.sqrt(family.variance(mean) * (1.0 / n[one] + 1.0 / (total - n[one]))) or min(1.0, room) / total
    return one, least_visible(evidence, error, room, limit)


def _filled(row: Sequence[float], columns: int) -> Floats:
    """A declared policy, with what probability is left for silence where that has a column."""
    policy = np.asarray(row, dtype=np.float64)
    left = 1.0 - policy.sum()
    return np.append(policy, left if np.isnan(left) else max(0.0, left)) if columns > len(policy) else policy


def log_policy_evidence(counts: Ints, policy: Floats) -> float:
    """Ln of ½ · KT of all K arms + 1/(2K) · Σ (each arm against the rest): a martingale if the policy is right.

    The first finds what is wrong in many arms, but learns K − 1 numbers, which costs ½(K − 1) ln n. An arm against the rest is
    half KT, which learns one number, and half the likelihood ratio of "never shown", which learns none.
    """
    support = policy > 0.0
    together = log_kt(counts, policy)
    K, n = int(support.sum()), int(counts.sum())
    if K < 3 or math.isinf(together):  # two arms: one against the rest is the same again
        return together
    c, p = counts[support].astype(np.float64), policy[support]
    rest = np.log1p(-np.minimum(p, 1.0 - 1e-16))
    mixture = log_gamma(c + 0.5) + log_gamma(n - c + 0.5) - math.lgamma(n + 1.0) - math.log(math.pi)
    alone = mixture - c * np.log(p) - (n - c) * rest
    never = -n * rest[c == 0]
    parts = np.concatenate([[together - math.log(2.0)], alone - math.log(4.0 * K), never - math.log(4.0 * K)])
    top = float(parts.max())
    return top + math.log(float(np.exp(parts - top).sum()))


def log_kt(counts: Ints, policy: Floats) -> float:
    """Ln of the Krichevsky–Trofimov mixture over the policy's likelihood: a martingale if the policy is right."""
    support = policy > 0.0
    if counts[~support].any():
        return math.inf
    seen, probabilities = counts[support], policy[support]
    K, n = len(seen), float(seen.sum())  # counts that are expected need not be whole
    mixture = (
        math.lgamma(K / 2)
        - math.lgamma(n + K / 2)
        + float((log_gamma(np.asarray(seen + 0.5, np.float64)) - math.lgamma(0.5)).sum())
    )
    return mixture - float(seen @ np.log(probabilities))


def confounding_alarms(
    names: Sequence[str], family: Family, N_ea: Ints, S_ea: Floats, level: float = LEVEL, hasty: bool = False
) -> list[Alarm]:
    """Does an arm's mean differ between mediators? One check for each arm that several mediators pulled; hasty: only
    where the likelihood ratio would suffice for an alarm.
    """
    limit = math.log(len(names) / level)
    found = []
    for a in np.flatnonzero((N_ea > 0).sum(axis=0) >= 2).tolist():
        name, pulled = names[a], N_ea[:, a] > 0
        n, S = N_ea[pulled, a], S_ea[pulled, a]
        if not (hasty and most_difference(family, n, S) < limit):
            log_e = log_difference(family, n, S, limit)
            clause = f"{name!r} pays differently with different mediators"
            meaning = "something else decides both who acts and what is paid, and the guarantee does not hold"
            found.append(_alarm("confounding", name, log_e, limit, clause, meaning))
    return found


def log_difference(family: Family, n: Ints, S: Floats, enough: float = -math.inf) -> float:
    """Evidence that samples with counts n and sums S have no common mean: the least Σ ln M over it, from above by 1e-9.

    Any point evaluated bounds it from above: once it is known to be under `enough`, that bound is returned.
    """
    return float(least_total(family, *alike(n, S)[:3], enough))


def most_difference(family: Family, n: Ints, S: Floats) -> float:
    """What `log_difference` can be at most: Σ n d(S/n, the common mean), for no mixture of likelihood ratios is larger than all
    of them.
    """
    common = float(S.sum() / n.sum())
    return math.fsum(k * family.kl(total / k, common) for k, total in zip(n.tolist(), S.tolist(), strict=True))
