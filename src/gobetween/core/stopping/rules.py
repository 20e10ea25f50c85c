"""Stopping rules as values: when the leader may be named. `stopper.py` has them at work.

Every rule stops when a statistic reaches c(δ), so that one path serves every δ; what grows with t is taken off the statistic.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from gobetween.core.evidence.guess import Guess, as_guess, fitting
from gobetween.core.ground.registry import register
from gobetween.core.ground.value import is_number
from gobetween.core.reward.family import Family
from gobetween.core.stopping.stopping_rule import StoppingRule
from gobetween.errors import ProblemError

if TYPE_CHECKING:
    from gobetween.core.question.question import Question
    from gobetween.core.stopping.question_stopper import QuestionStopper
    from gobetween.core.stopping.stopper import Stopper

MOST_ARMS = 300  # with a contrast of each with each
WEIGHTS = ("ranks", "pairs")
RATES = ("paper", "garivier-kaufmann", "kaufmann-koolen", "heuristic")


@register
@dataclass(frozen=True)
class EProcess(StoppingRule):
    """Stop when an e-process says that no rival can be the best arm.

    **Proven** δ-correct for every family, under any adaptive sampling and whatever the policies are (docs/stopping.md; it also
    says what must hold when several queries are open), and the tightest rule here.
    weights: "ranks" shares the risk among wrong answers by the rank of their means, "pairs" evenly (K − 1 of them).
    contrast: for Gaussian rewards of up to 300 arms, the weight of contrasts of two arms beside the products of their mixtures.
    still: for Gaussian rewards, the weight on "as the rival has it" in these mixtures, which pays where an arm is rare.
    bernstein: for Bounded rewards, the weight of evidence that sees how little they vary.
    guess: what somebody guessed of the means before the first answer, and how much of the risk is staked on it.
    The word "pairs" stands for weights="pairs" and none of these.
    """

    name: ClassVar[str] = "e-process"
    words: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "pairs": {"weights": "pairs", "contrast": 0.0, "still": 0.0, "bernstein": 0.0}
    }
    guesses: ClassVar[bool] = True
    weights: str = "ranks"
    contrast: float = 0.3
    still: float = 0.05
    bernstein: float = 0.1
    guess: Guess | None = field(default=None, metadata={"if_said": True})

    def __post_init__(self) -> None:
        object.__setattr__(self, "guess", as_guess(self.guess))  # a file says it as a table
        if self.weights not in WEIGHTS:
            raise ProblemError(f"weights = {self.weights!r}: choose {', '.join(map(repr, WEIGHTS))}")
        for name, value in (("contrast", self.contrast), ("still", self.still), ("bernstein", self.bernstein)):
            if not (is_number(value) and 0.0 <= value < 1.0):
                raise ProblemError(f"{name} = {value!r}: must be a number from 0 to less than 1")
        if self.guess is not None and self.weights == "pairs":
            raise ProblemError('a guess needs weights="ranks": it is not proven for pairs')

    def guessing(self, guess: Guess | None) -> "EProcess":
        return self if guess is None else replace(self, guess=guess)

    def threshold(self, K: int, delta: float, family: Family) -> float:
        return -math.log(delta) + (math.log(K - 1) if self._by_pairs(family) else 0.0)

    def _by_pairs(self, family: Family) -> bool:
        """Is the risk shared evenly? Ranks need counts and sums to suffice."""
        return self.weights == "pairs" or not family.sums_suffice

    def at_work(self, K: int, family: Family) -> "Stopper":
        from gobetween.core.evidence.empirical_bernstein import new_bernstein
        from gobetween.core.stopping.stopper import PAIRS, RANKS, new_stopper

        guess = None if self.guess is None else fitting(self.guess, K, family)
        if self._by_pairs(family):
            return new_stopper(PAIRS)
        little = new_bernstein(K, self.bernstein, family.low, family.high) if family.varies_less else None
        return new_stopper(RANKS, 0.0, K, *self._of_normal(K, family), little, guess, family)

    def question_stopper(self, question: "Question", K: int, family: Family) -> "QuestionStopper":
        """The rule at work on another question than the best arm: products and contrasts of pairs, shared evenly."""
        from gobetween.core.stopping.question_stopper import new_question_stopper

        if self.guess is not None:
            raise ProblemError(f"a guess is proven for the best arm alone: for the question {question.name} leave it out")
        return new_question_stopper(question, K, *self._of_normal(K, family))

    def _of_normal(self, K: int, family: Family) -> tuple[float, float, float]:
        """Weights of contrasts and of "as the rival has it", σ between them: only for tails known to be a normal law's."""
        sigma = family.declared_sigma()
        return (0.0, 1.0, 0.0) if sigma is None else (self.contrast if K <= MOST_ARMS else 0.0, sigma, self.still)


@register
@dataclass(frozen=True)
class AllPairs(StoppingRule):
    """Stop when the leader is proven better than each arm that is left, at a risk shared among all pairs there ever were.

    **Proven**, also if arms are left out at any time and for any reason, their rewards included: the rule of a study once an
    arm was retired (docs/stopping.md, Arms that are retired). arms: how many there were; 0 for as many as there are.
    """

    name: ClassVar[str] = "all-pairs"
    arms: int = 0

    def __post_init__(self) -> None:
        if not (is_number(self.arms) and self.arms == int(self.arms) and self.arms >= 0):
            raise ProblemError(f"arms = {self.arms!r}: must be a whole number, 0 or more")

    def shared_pairs(self, K: int) -> float:
        n = max(K, self.arms)
        return math.log(n) + math.log(n - 1) - math.log(2.0)

    def threshold(self, K: int, delta: float, family: Family) -> float:
        return self.shared_pairs(K) - math.log(delta)

    def at_work(self, K: int, family: Family) -> "Stopper":
        from gobetween.core.stopping.stopper import PAIRS, new_stopper

        return new_stopper(PAIRS, self.shared_pairs(K))

    def without_arm(self, K: int) -> "AllPairs":
        return AllPairs(max(K, self.arms))


#: What does not depend on the order of answers: the rule of logs, whose parts may be counted apart.
BY_COUNTS = EProcess(contrast=0.0, bernstein=0.0)


@register
@dataclass(frozen=True)
class GLR(StoppingRule):
    """Stop when the generalised likelihood ratio Z(t) ≥ β(t, δ).

    rate="paper": ln(C t^α/δ), with C = 2(K−1) and α = e/2 unless given: what reproduces the paper's tables. **Not proven** with
    this C (the proof needs ln C ≈ 41 at K = 4); no wrong answer beyond δ has been seen.
    rate="garivier-kaufmann": ln(2t(K−1)/δ). Proven for Bernoulli rewards.
    rate="kaufmann-koolen": their 2021 thresholds for Gaussian and for other exponential families. Proven for these; Bounded
    rewards take the threshold of Bernoulli ones, for which no proof is written.
    rate="heuristic": ln((1 + ln t)/δ). **Not δ-correct**: at a tie it is crossed almost surely. Common in other software.
    """

    name: ClassVar[str] = "glr"
    words: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "paper": {},
        "garivier-kaufmann": {"rate": "garivier-kaufmann"},
        "kaufmann-koolen": {"rate": "kaufmann-koolen"},
        "heuristic": {"rate": "heuristic"},
    }
    rate: str = "paper"
    C: float | None = None
    alpha: float | None = None

    def __post_init__(self) -> None:
        if self.rate not in RATES:
            raise ProblemError(f"rate = {self.rate!r}: choose {', '.join(map(repr, RATES))}")
        for name, value in (("C", self.C), ("alpha", self.alpha)):
            if value is not None and self.rate != "paper":
                raise ProblemError(f"{name} belongs to rate='paper', not to rate={self.rate!r}")
            if value is not None and not 0.0 < value < math.inf:
                raise ProblemError(f"{name} = {value!r}: must be a positive number")

    def threshold(self, K: int, delta: float, family: Family) -> float:
        """c(δ), without what grows with t."""
        if not family.sums_suffice:
            raise ProblemError("GLR needs a sigma that is known: with sigma=None choose EProcess()")
        if self.rate == "heuristic":
            return -math.log(delta)
        if self.rate == "kaufmann-koolen":
            half = 0.5 * (math.log(K - 1) - math.log(delta))
            return 2.0 * (kk_gaussian(half) if family.sub_gaussian else kk_exponential(half))
        C = self.C if self.C is not None else 2.0 * (K - 1)
        return math.log(C) - math.log(delta)

    def at_work(self, K: int, family: Family) -> "Stopper":
        from gobetween.core.stopping.stopper import ITERATED_LOG, KK_EXPONENTIAL, KK_GAUSSIAN, POLYNOMIAL, new_stopper

        self.threshold(K, 0.5, family)  # refuses what has none
        if self.rate == "paper":
            return new_stopper(POLYNOMIAL, math.e / 2 if self.alpha is None else self.alpha)
        if self.rate == "kaufmann-koolen":
            return new_stopper(KK_GAUSSIAN if family.sub_gaussian else KK_EXPONENTIAL, 0.0)
        return new_stopper(POLYNOMIAL, 1.0) if self.rate == "garivier-kaufmann" else new_stopper(ITERATED_LOG, 0.0)


def kk_gaussian(x: float) -> float:
    """C^{g_G}(x) = min over λ ∈ (½, 1] of (g(λ) + x)/λ, g(λ) = 2λ − 2λ ln(4λ) + ln ζ(2λ) − ½ ln(1 − λ)."""
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    def ratio(lam: float) -> float:
        g = 2.0 * lam - 2.0 * lam * math.log(4.0 * lam) + math.log(zeta(2.0 * lam)) - 0.5 * math.log1p(-lam)
        return float(g + x) / lam

    return float(minimize_scalar(ratio, bounds=(0.5 + 1e-9, 1.0 - 1e-12), method="bounded", options={"xatol": 1e-12}).fun)


def kk_exponential(x: float) -> float:
    """T(x) = 2 h̃((h⁻¹(1 + x) + ln(2ζ(2)))/2), h(u) = u − ln u on u ≥ 1, h̃ = h̃_{3/2}."""
    from scipy.special import lambertw

    def inverse(y: float) -> float:
        """h⁻¹(y) for y ≥ 1; by its asymptote where e^−y underflows."""
        return float(-lambertw(-math.exp(-y), -1).real) if y < 700.0 else y + math.log(y)

    y = 0.5 * (inverse(1.0 + x) + math.log(math.pi**2 / 3.0))
    z = 1.5
    if y >= 1.0 / math.log(z) + math.log(math.log(z)):
        u = inverse(y)
        return 2.0 * math.exp(1.0 / u) * u
    return 2.0 * z * (y - math.log(math.log(z)))
