"""Stopping rules: when the leader may be named. Rules are small values; `Stopper` is what compiled code sees of them.

Every rule here stops when a statistic reaches c(δ) + h(t): c is computed once, h along the way, so one path serves every δ.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from gobetween.core.eprocess import log_evalue
from gobetween.core.families import Family
from gobetween.core.jit import leaf
from gobetween.core.state import Tally, seen_all
from gobetween.core.transport import evidence
from gobetween.core.types import Floats
from gobetween.errors import ProblemError

POLYNOMIAL, ITERATED_LOG, MIXTURE, KK_GAUSSIAN, KK_EXPONENTIAL = 0, 1, 2, 3, 4
RATES = ("paper", "garivier-kaufmann", "kaufmann-koolen", "heuristic")


@dataclass(frozen=True)
class GLR:
    """Stop when the generalised likelihood ratio Z(t) ≥ β(t, δ).

    rate="paper": ln(C t^α/δ), with C = 2(K−1) and α = e/2 unless given: what reproduces the paper's tables. **Not proven** with
    this C (the proof needs ln C ≈ 41 at K = 4); no wrong answer beyond δ has been seen.
    rate="garivier-kaufmann": ln(2t(K−1)/δ). Proven for Bernoulli rewards.
    rate="kaufmann-koolen": their 2021 thresholds for Gaussian (also Bounded) and for other exponential families. Proven.
    rate="heuristic": ln((1 + ln t)/δ). **Not δ-correct**: at a tie it is crossed almost surely. Common in other software.
    """

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


@dataclass(frozen=True)
class EProcess:
    """Stop when the product e-process E_{â>b} ≥ (K−1)/δ for every rival b.

    **Proven** δ-correct for every family, under any adaptive sampling and whatever the policies are (docs/stopping.md; it also
    says what must hold when several queries are open), and the tightest rule here: on the paper's Experiment 1 it needs less
    than half the queries of GLR(rate="paper").
    """


Stopping = GLR | EProcess


class Stopper(NamedTuple):
    """A rule at work: stop when the statistic reaches c(δ) + h(t)."""

    shape: int  # POLYNOMIAL: Z, h = power · ln t; ITERATED_LOG: Z, h = ln(1 + ln t); MIXTURE: the smallest ln E, h = 0
    power: float


def new_stopper(rule: Stopping, family: Family) -> Stopper:
    """Set a rule to work."""
    if isinstance(rule, EProcess):
        return Stopper(MIXTURE, 0.0)
    if rule.rate == "paper":
        return Stopper(POLYNOMIAL, math.e / 2 if rule.alpha is None else rule.alpha)
    if rule.rate == "kaufmann-koolen":
        return Stopper(KK_GAUSSIAN if is_gaussian(family) else KK_EXPONENTIAL, 0.0)
    return Stopper(POLYNOMIAL, 1.0) if rule.rate == "garivier-kaufmann" else Stopper(ITERATED_LOG, 0.0)


def is_gaussian(family: Family) -> bool:
    """Normal, or treated as such."""
    return family.name in ("gaussian", "bounded")


def constant(rule: Stopping, K: int, delta: float, family: Family) -> float:
    """c(δ)."""
    if isinstance(rule, EProcess):
        return math.log(K - 1) - math.log(delta)
    if rule.rate == "heuristic":
        return -math.log(delta)
    if rule.rate == "kaufmann-koolen":
        half = 0.5 * (math.log(K - 1) - math.log(delta))
        return 2.0 * (kk_gaussian(half) if is_gaussian(family) else kk_exponential(half))
    C = rule.C if rule.C is not None else 2.0 * (K - 1)
    return math.log(C) - math.log(delta)


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


@leaf
def growth(stopper: Stopper, t: int) -> float:
    """h(t), t ≥ 1."""
    if stopper.shape == POLYNOMIAL:
        return stopper.power * math.log(t)
    if stopper.shape == ITERATED_LOG:
        return math.log(1.0 + math.log(t))
    if stopper.shape == KK_GAUSSIAN:
        return 4.0 * math.log(4.0 + math.log(0.5 * t))
    return 6.0 * math.log(1.0 + math.log(0.5 * max(t, 2))) if stopper.shape == KK_EXPONENTIAL else 0.0


@leaf
def best_seen(mu_hat: Floats) -> int:
    """The leader: the first arm with the highest estimate."""
    best = 0
    for a in range(1, mu_hat.shape[0]):
        if mu_hat[a] > mu_hat[best]:
            best = a
    return best


@leaf
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
def least_evalue(family: Family, tally: Tally, best: int, enough: float) -> float:
    """The smallest ln E_{best>b} over rivals, or any number under `enough` once one is under it."""
    least = math.inf
    for b in range(tally.mu_hat.shape[0]):
        if b != best:
            least = min(least, log_evalue(family, tally, best, b, enough))
            if not least >= enough:
                return least
    return least
