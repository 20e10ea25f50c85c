"""Sampling rules as values: which mediator to ask next. `sampler.py` has them at work."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.ground.jit import Bools, Floats
from gobetween.core.ground.registry import register
from gobetween.core.problem.cast import as_array
from gobetween.core.sampling.adahedge import next_shares
from gobetween.core.sampling.frank_wolfe import direction, least_served
from gobetween.core.sampling.pursuit import stranger
from gobetween.core.sampling.sampling_rule import SamplingRule, SamplingView
from gobetween.core.sampling.tracking import furthest_behind
from gobetween.errors import ProblemError

if TYPE_CHECKING:
    from gobetween.core.problem.problem import Problem
    from gobetween.core.sampling.sampler import Sampler


@register
@dataclass(frozen=True)
class Pursuit(SamplingRule):
    """Exponential weights on the rivals against the best mediator: no solver, and fewer queries than tracking.

    Unseen arms are looked for first, then every arm gets a share of pulls that goes to 0; otherwise the mediator is asked whose
    query is expected to bring most evidence against the rivals that are hardest to exclude. Costs count, silence counts, open
    queries count as what they are expected to bring, and mediators who are not needed are not asked.
    policies: "known" uses declared policies, "unknown" ignores them and uses π̂ = N_ea/N_e, with ½ more of each arm in N_ea once
    every arm has been seen.
    """

    name: ClassVar[str] = "pursuit"
    any_question: ClassVar[bool] = True
    words: ClassVar[Mapping[str, Mapping[str, object]]] = {"pursuit-unknown": {"policies": "unknown"}}
    draws: ClassVar[bool] = False
    policies: str = "known"

    def __post_init__(self) -> None:
        _choice("policies", self.policies, ("known", "unknown"))

    def at_work(self, policies: Floats, declared: Bools, costs: Floats) -> "Sampler":
        from gobetween.core.sampling.sampler import PURSUIT, new_sampler

        known = looked_at(self.policies, declared)
        return new_sampler(PURSUIT, policies, known, costs)


@register
@dataclass(frozen=True)
class Tracking(SamplingRule):
    """Track-and-Stop on mediators: follow ω*(μ̂, π) or ω*(μ̂, π̂).

    tracking: "C" follows Σ_s ω_s, each ω_s projected on {ω ≥ ε_s}; "D" follows t·ω_t and asks the least asked mediator while
    it has fewer than √t − E/2 queries. "D" loses its guarantee when ω* is a set.
    policies: "known" uses declared policies, "unknown" ignores them and uses π̂ = N_ea/N_e.
    prune: leave out mediators that are not needed (known policies only).
    Until every arm has been seen all mediators get equal shares.
    tol: ω_t is optimal up to a relative error of max(tol, 1/√n) after n rewards: more would chase noise. The old ω is kept
    while its certificate says so.
    """

    name: ClassVar[str] = "tracking"
    words: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "tracking-d": {"tracking": "D"},
        "unknown": {"policies": "unknown"},
        "pruned": {"prune": True},
    }
    draws: ClassVar[bool] = False
    tracking: str = "C"
    policies: str = "known"
    prune: bool = False
    tol: float = 1e-3

    def __post_init__(self) -> None:
        _choice("tracking", self.tracking, ("C", "D"))
        _choice("policies", self.policies, ("known", "unknown"))
        if not 0.0 < self.tol < 1.0:
            raise ProblemError(f"tol = {self.tol!r}: the relative error is a number between 0 and 1, such as 1e-3")
        if self.prune and self.policies == "unknown":
            raise ProblemError("prune=True needs known policies: with policies='unknown' no mediator can be left out")

    def at_work(self, policies: Floats, declared: Bools, costs: Floats) -> "Sampler":
        from gobetween.core.bound.geometry import needed_mediators
        from gobetween.core.sampling.sampler import C_TRACKING, D_TRACKING, new_sampler

        members = needed_mediators(policies, declared, costs) if self.prune else np.arange(len(policies))
        known = looked_at(self.policies, declared)
        return new_sampler(C_TRACKING if self.tracking == "C" else D_TRACKING, policies, known, costs, members, tol=self.tol)


@register
@dataclass(frozen=True)
class BoxTracking(SamplingRule):
    """Track averaged allocations, after Reddy, Karthik, Karamchandani and Nair ("Best Arm Identification in Bandits with
    Limited Precision Sampling", 2023), whose arms are in boxes: mediators of known policies. To compare with.

    Follow Σ_s ω_s with ω_s any ω*(μ̂, π), neither projected nor pruned: ask argmin over the support of Σω of N_e − Σ_s ω_s(e).
    While some arm has fewer than √(t/K) pulls, go round the mediators instead. ω is uniform until every arm has been seen.
    Every mediator needs a declared policy.
    The details are taken from a description of the paper, not from its code, and are the closest that can be justified.
    """

    name: ClassVar[str] = "box-tracking"
    draws: ClassVar[bool] = False

    def at_work(self, policies: Floats, declared: Bools, costs: Floats) -> "Sampler":
        from gobetween.core.sampling.sampler import BOXES, new_sampler

        if not declared.all():
            e = int(np.argmin(declared))
            raise ProblemError(f"BoxTracking needs declared policies, that of mediator {e} is not: choose Pursuit()")
        return new_sampler(BOXES, policies, declared, costs)


@register
@dataclass(frozen=True)
class UniformSampling(SamplingRule):
    """Ask mediators uniformly: order "random" draws one each time, "cyclic" goes round."""

    name: ClassVar[str] = "uniform"
    any_question: ClassVar[bool] = True
    words: ClassVar[Mapping[str, Mapping[str, object]]] = {"cyclic": {"order": "cyclic"}}
    order: str = "random"

    def __post_init__(self) -> None:
        _choice("order", self.order, ("random", "cyclic"))

    def at_work(self, policies: Floats, declared: Bools, costs: Floats) -> "Sampler":
        from gobetween.core.sampling.sampler import CYCLIC, RANDOM, new_sampler

        return new_sampler(RANDOM if self.order == "random" else CYCLIC, policies, declared, costs)


@register
@dataclass(frozen=True)
class Static(SamplingRule):
    """Follow fixed shares of queries."""

    name: ClassVar[str] = "static"
    any_question: ClassVar[bool] = True
    draws: ClassVar[bool] = False
    omega: tuple[float, ...]

    def __init__(self, omega: ArrayLike) -> None:
        shares = as_array(omega, "omega of Static", 1)
        if not np.isfinite(shares).all() or (shares < 0).any() or abs(shares.sum() - 1.0) > 1e-9:
            raise ProblemError("omega of Static must be non-negative shares of queries that sum to 1")
        object.__setattr__(self, "omega", tuple(float(x) for x in shares))

    def at_work(self, policies: Floats, declared: Bools, costs: Floats) -> "Sampler":
        from gobetween.core.sampling.sampler import FIXED, new_sampler

        if len(self.omega) != len(policies):
            raise ProblemError(f"omega of Static has {len(self.omega)} shares for {len(policies)} mediators")
        return new_sampler(FIXED, policies, declared, costs, target=np.array(self.omega))


@register
@dataclass(frozen=True)
class Oracle(SamplingRule):
    """Follow the true ω*, which only a simulation knows."""

    name: ClassVar[str] = "oracle"
    live: ClassVar[bool] = False
    draws: ClassVar[bool] = False

    def told(self, problem: "Problem") -> SamplingRule:
        from gobetween.core.bound.lower_bound import lower_bound

        return Static(lower_bound(problem).omega)


@register
@dataclass(frozen=True)
class FrankWolfe(SamplingRule):
    """Frank–Wolfe steps on the lower-bound problem, one for each query, by Wang, Tzeng and Proutiere ("Fast Pure Exploration
    via Frank-Wolfe", NeurIPS 2021), carried over to mediators: to compare with.

    A step goes where all rivals gain that are within t^(−9/10)/E of the closest one; when ⌊t/E⌋ is a square, and until every
    arm has been seen, it goes to equal shares. The mediator with the fewest queries in proportion is asked.
    """

    name: ClassVar[str] = "frank-wolfe"
    draws: ClassVar[bool] = False

    def memory(self, K: int, E: int) -> Floats:
        return np.zeros(E)

    def choose(self, view: SamplingView, available: Bools, rng: np.random.Generator) -> int:
        view.memory[:] += direction(view)
        return least_served(view.memory, view, available)


@register
@dataclass(frozen=True)
class Game(SamplingRule):
    """AdaHedge over mediators against the rival who is hardest to exclude, with optimistic gains and C-tracking, by Degenne,
    Koolen and Ménard ("Non-Asymptotic Pure Exploration by Solving Games", NeurIPS 2019), carried over to mediators: to compare
    with.

    Until every arm has been seen shares are equal. A mediator without a declared policy is asked √t − E/2 times at least.
    """

    name: ClassVar[str] = "game"
    draws: ClassVar[bool] = False

    def memory(self, K: int, E: int) -> Floats:
        return np.zeros((K + 1, E + 1))

    def choose(self, view: SamplingView, available: Bools, rng: np.random.Generator) -> int:
        E = len(available)
        everyone, tracked = np.arange(E), view.memory[-1, :E]
        e = stranger(~view.declared, everyone, available, view.N_e, view.t)
        if e >= 0:
            tracked[e] += 1.0
            return e
        tracked += next_shares(view)
        return furthest_behind(tracked, view.N_e, everyone, available)


def looked_at(policies: str, declared: Bools) -> Bools:
    """[E] the policies that a rule may look at: those declared, none if it takes all for unknown."""
    return declared if policies == "known" else np.zeros_like(declared)


def _choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ProblemError(f"{name} = {value!r}: choose {' or '.join(map(repr, allowed))}")
