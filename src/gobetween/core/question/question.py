"""What is asked about the arms, as a value beside the family and the rules.

A question is answered by a set of arms. What stands between an answer and every other one are *pairs*: ordered pairs (i, b) of
arms for which "i is better than b" must be shown, or single arms (i, i) that must be shown to lie on one side of a level. Each
has a payoff f_ib(w), the evidence that pulls w gather, and an e-process. So

    1/T* = max over ω of the min over pairs of f_ib(πᵀω),    stop when every pair's e-process reaches ways/δ,

where `ways` counts the pairs that can be wrong at once. A question is a small named tuple with the methods below, those of
`compiled` as code that Numba compiles; questions.py lists them, docs/questions.md has the proofs.

What a pull of each arm gains against the rivals: exponential weights q_b ∝ e^(−η (Z_b − min Z)) on the slopes of Z_b.

Pursuit (`sampling/pursuit.py`) asks the mediator that gains most; a question says which pairs of arms are rivals.
"""

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from gobetween.core.evidence.empirical_bernstein import BernsteinSums, bernstein_evidence
from gobetween.core.evidence.eprocess import Pairing, evidence, log_evalue
from gobetween.core.ground.jit import Bools, Floats, by_type, leaf, part
from gobetween.core.ground.registry import contract, resolve
from gobetween.core.ground.tally import Tally
from gobetween.core.ground.value import NotDefinedError, Value
from gobetween.core.reward.family import Family


@contract("question")
class Question(Value):
    """What every question offers."""

    __slots__ = ()
    words: ClassVar[dict[str, dict[str, object]]] = {}
    needs: ClassVar[tuple[str, ...]] = ("claim", "ways", "right")
    functions: ClassVar[tuple[str, ...]] = (*needs, "sentence", "faces", "payoff", "log_e")
    names_leader: ClassVar[bool] = False
    """Is the answer always the leader alone? Every rule serves such a question, others need rules that know of pairs."""
    proven: ClassVar[bool] = False
    """Does docs/questions.md prove what speaks against an answer, and what missing answers could do to it at their worst?"""

    # compiled
    def claim(self, mu: Floats, k: int, mask: Bools) -> bool:
        """Write to mask [K] the k-th answer that is right at these means, the likeliest first; False when there are fewer."""
        raise NotDefinedError

    def faces(self, mask: Bools, i: int, b: int) -> bool:
        """Must the pair (i, b) be shown for this answer? By default i in the answer and b outside."""
        return bool(mask[i] and not mask[b])

    def payoff(self, family: Family, mu: Floats, i: int, b: int, w_i: float, w_b: float) -> tuple[float, float, float]:
        """f_ib and its slopes in w_i, w_b (0 where b = i), where the answer is right; usually against "b is as good as i"."""
        return evidence(family, mu[i], mu[b], w_i, w_b)

    def log_e(self, family: Family, tally: Tally, pairing: Pairing, i: int, b: int, enough: float) -> float:
        """The logarithm of the e-process of a pair, from below; any number under `enough` once it is known to lie under it."""
        return log_evalue(family, tally, pairing, i, b, enough)

    def gather(
        self,
        family: Family,
        tally: Tally,
        pulls: Floats,
        bernstein: BernsteinSums,
        Z: Floats,
        mask: Bools,
        most: Floats,
        gains: Floats,
    ) -> None:
        """Write to gains [K] what a pull of each arm is worth to pursuit."""
        pair_gains(self, family, tally, pulls, mask, most, gains)

    # plain
    def ways(self, K: int) -> int:
        """How many pairs can be wrong at once, whatever the truth."""
        raise NotDefinedError

    def right(self, means: Floats, answer: Bools) -> Bools:
        """Are these answers [..., K] right where the means are these?"""
        raise NotDefinedError

    def sentence(self, names: Sequence[str]) -> str:
        """An answer in words, without its guarantee."""
        from gobetween.words.verdict import answer_words

        return answer_words(self, names)

    def shift(self) -> float:
        """By how much a rival must be better to make an answer wrong."""
        return 0.0

    def level(self) -> float | None:
        """The level that each arm is compared with; None where arms are compared with each other."""
        return None

    def opposite_ways(self, K: int) -> int:
        """How many pairs share the risk of a wrong claim against an answer."""
        return self.ways(K)

    def check(self, K: int, family: Family) -> None:
        """Refuse what does not fit K arms of a family."""


def as_question(value: Question | str) -> Question:
    """A question, or the one that a word such as "best-arm" stands for."""
    question: Question = resolve("question", value)
    return question


@by_type("int64")
def claim(question: Question, mu: Floats, k: int, mask: Bools) -> bool:
    """The k-th answer at these means."""
    return question.claim(mu, k, mask)


@by_type("int64")
def faces(question: Question, mask: Bools, i: int, b: int) -> bool:
    """Must this pair be shown?"""
    return question.faces(mask, i, b)


@by_type("triple")
def payoff(
    question: Question, family: Family, mu: Floats, i: int, b: int, w_i: float, w_b: float
) -> tuple[float, float, float]:
    """f_ib and its slopes."""
    return question.payoff(family, mu, i, b, w_i, w_b)


@by_type("float64")
def log_e(question: Question, family: Family, tally: Tally, pairing: Pairing, i: int, b: int, enough: float) -> float:
    """The e-process of a pair."""
    return question.log_e(family, tally, pairing, i, b, enough)


@by_type("none", inline=True)
def gather(
    question: Question,
    family: Family,
    tally: Tally,
    pulls: Floats,
    bernstein: BernsteinSums,
    Z: Floats,
    mask: Bools,
    most: Floats,
    gains: Floats,
) -> None:
    """What a pull of each arm is worth to pursuit."""
    question.gather(family, tally, pulls, bernstein, Z, mask, most, gains)


@leaf
def pair_gains(
    question: Question, family: Family, tally: Tally, pulls: Floats, mask: Bools, most: Floats, gains: Floats
) -> None:
    """What a pull of each arm is worth for another question than the best arm: exponential weights on its pairs."""
    K, mu, least = pulls.shape[0], tally.mu_hat, math.inf
    gains[:] = 0.0
    aim(question, family, tally, mask)
    for i in range(K):
        for b in range(K):
            if faces(question, mask, i, b):
                least = min(least, payoff(question, family, mu, i, b, pulls[i], pulls[b])[0])
    if math.isinf(least):
        return
    most[0] = max(most[0], least)
    eta = ETA / math.sqrt(1.0 + most[0] / CALM)
    for i in range(K):
        for b in range(K):
            if faces(question, mask, i, b):
                Z, d_i, d_b = payoff(question, family, mu, i, b, pulls[i], pulls[b])
                if eta * (Z - least) < 40.0:
                    q = math.exp(-eta * (Z - least))
                    gains[i] += q * d_i
                    gains[b] += q * d_b


@leaf
def aim(question: Question, family: Family, tally: Tally, mask: Bools) -> None:
    """The answer that queries are asked for: the likeliest, but the one before while their arms cannot be told apart."""
    K, t = mask.shape[0], 0
    before, now = -1, -1
    for a in range(K):
        t += tally.N_a[a]
        before = a if mask[a] else before
    claim(question, tally.mu_hat, 0, mask)
    for a in range(K):
        now = a if mask[a] else now
    if claim(question, tally.mu_hat, 1, mask) and before >= 0 and tally.N_a[before] > 0:  # several answers are right
        mu, N_a = tally.mu_hat, tally.N_a
        apart = evidence(family, mu[now], mu[before], float(N_a[now]), float(N_a[before]))[0]
        mask[:] = False
        mask[before if apart < math.log(1.0 + t) else now] = True
    else:
        claim(question, tally.mu_hat, 0, mask)


def answers_at(question: Question, means: Floats) -> list[Bools]:
    """All answers that are right at these means, the likeliest first."""
    found: list[Bools] = []
    while True:
        mask = np.zeros(len(means), np.bool_)
        if not question.claim(means, len(found), mask):
            return found
        found.append(mask)


def pairs_of(question: Question, answer: Bools) -> list[tuple[int, int]]:
    """The pairs that must be shown for an answer."""
    K = len(answer)
    if type(question).faces is Question.faces:  # those inside against those outside, of which there may be very many
        return [(i, b) for i in np.flatnonzero(answer).tolist() for b in np.flatnonzero(~answer).tolist()]
    return [(i, b) for i in range(K) for b in range(K) if question.faces(answer, i, b)]


#: How sharply rivals are told apart: η = ETA/√(1 + M/CALM), M the most evidence so far. It must fall to 0, but slower than 1/M.
ETA, CALM = 4.0, 30.0


@part
def worth(family: Family, tally: Tally, pulls: Floats, bernstein: BernsteinSums, i: int, b: int) -> tuple[float, float, float]:
    """The evidence of the pulls for i against b, with its slopes: by means, or by how little rewards vary if that is more."""
    by_means = evidence(family, tally.mu_hat[i], tally.mu_hat[b], pulls[i], pulls[b])
    if bernstein.share > 0.0:
        by_spread = bernstein_evidence(bernstein, i, b, tally.mu_hat[i] - tally.mu_hat[b], pulls[i], pulls[b])
        if by_spread[0] > by_means[0]:
            return by_spread
    return by_means


@part
def rival_gains(
    family: Family, tally: Tally, pulls: Floats, bernstein: BernsteinSums, Z: Floats, most: Floats, gains: Floats
) -> None:
    """What a pull of each arm is worth against the rivals as they stand; most [1] is the most evidence so far."""
    K, mu, leader, least = pulls.shape[0], tally.mu_hat, -1, math.inf
    for a in range(K):
        gains[a] = 0.0
        if tally.N_a[a] > 0 and (leader < 0 or mu[a] > mu[leader]):
            leader = a
    for b in range(K):
        if b != leader and tally.N_a[b] > 0:
            Z[b] = worth(family, tally, pulls, bernstein, leader, b)[0]
            least = min(least, Z[b])
    if math.isinf(least):
        return
    most[0] = max(most[0], least)
    eta = ETA / math.sqrt(1.0 + most[0] / CALM)
    for b in range(K):
        if b != leader and tally.N_a[b] > 0 and eta * (Z[b] - least) < 40.0:
            q = math.exp(-eta * (Z[b] - least))
            _, d_leader, d_b = worth(family, tally, pulls, bernstein, leader, b)
            gains[leader] += q * d_leader
            gains[b] = q * d_b
