"""The contract of a reward family, and how compiled code calls it.

A family is a one-parameter exponential family, parameterised by its mean: a small named tuple with methods. Four of them say
all: `divergence`, `variance`, `draw` and `tilt`; the rest has defaults. docs/extending.md shows how to bring one's own.

The divergence is asked for points on a segment: d(μ, x) at x = rest·μ + step·toward, step + rest = 1. Knowing both shares to
full precision, it loses no digits when means are close, when x is close to either end, or when an end is a boundary.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gobetween.core.ground.jit import Floats, Ints, by_type, leaf
from gobetween.core.ground.registry import contract, resolve
from gobetween.core.ground.value import NotDefinedError, Value, is_number
from gobetween.core.reward.mixtures import LOG_WEIGHTS, TILTS, even_mixture
from gobetween.core.reward.overdispersion import Overdispersion
from gobetween.errors import Fix, ProblemError

#: Means, scales and costs must not be larger or smaller: their squares and ratios have to fit into double precision.
SMALLEST, LARGEST = 1e-50, 1e50


@contract("family")
class Family(Value):
    """What every family offers; a family of one's own is a NamedTuple of its parameters that inherits from this.

    >>> family = gb.Bernoulli()
    >>> round(family.kl(0.5, 0.25), 4), family.variance(0.5), family.domain(), family.check_reward(1)
    (0.1438, 0.25, '[0, 1]', 1.0)
    """

    __slots__ = ()
    rewards: ClassVar[str] = "a number"
    plural: ClassVar[str] = "rewards"  # what many of them are called
    """The rewards in words."""
    low: float
    high: float
    """Bounds of the means, facts of the class or parameters."""
    open_ends: ClassVar[tuple[float, ...]] = ()
    """Which of them are not means themselves."""
    unless_said: ClassVar[bool] = False
    """Is it the family by default?"""
    proxy: ClassVar[bool] = False
    """Is it only an envelope of what may be paid? Then T* guides planning but bounds nothing."""
    sub_gaussian: ClassVar[bool] = False
    """Is d(μ, x) = (μ − x)²/2σ², whatever the means?"""
    needs: ClassVar[tuple[str, ...]] = ("divergence", "variance", "tilt")
    """What a family of one's own must define; `draw` as well, if it is to be simulated."""
    functions: ClassVar[tuple[str, ...]] = ("divergence", "variance", "draw", "coordinate", "tilt", "log_mixture", "accepts")
    sums_suffice: ClassVar[bool] = True
    """Do counts and sums say all about a mean? Otherwise the family at work counts what does."""
    totals_suffice: ClassVar[bool] = True
    """Are totals of many rewards enough, though they hide how far these spread?"""
    varies_less: ClassVar[bool] = False
    """May rewards between low and high vary less than the family says?"""
    choices: ClassVar[tuple[float, ...]] = ()
    """All rewards, where these are few enough to choose one from a list."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        ends = getattr(cls, "low", None), getattr(cls, "high", None)
        if "span" not in cls.__dict__ and all(isinstance(end, (int, float)) for end in ends):
            low, high = map(float, ends)  # type: ignore[arg-type]  # they are numbers
            cls.span = lambda self: (low, high)  # type: ignore[method-assign]  # as constants, which compiled code can see

    def divergence(self, mu: float, toward: float, step: float, rest: float) -> float:
        """d(μ, x), the KL divergence between the members with means μ and x = rest·μ + step·toward."""
        raise NotDefinedError

    def variance(self, mu: float, toward: float = 0.0, step: float = 0.0, rest: float = 1.0) -> float:
        """V(x), the variance function, at x = rest·μ + step·toward; by default at μ."""
        raise NotDefinedError

    def draw(self, mean: float, rng: np.random.Generator) -> float:
        """One reward of an arm with this mean."""
        raise NotDefinedError

    def coordinate(self, mean: float) -> float:
        """The coordinate of a mean in which likelihood ratios are log-convex, by default itself. `mean_at` leads back."""
        return mean

    def mean_at(self, x: float) -> float:
        """The mean at a coordinate: the same map, where that is its own inverse."""
        return self.coordinate(x)

    def span(self) -> tuple[float, float]:
        """The closed interval of coordinates: (low, high) of the class, unless said otherwise."""
        return self.low, self.high

    def tilt(self, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
        """Logarithm of the likelihood ratio after n rewards with sum S of the member tilted by θ (θ > 0: a higher mean)
        against the member at coordinate x, and its slope in x.
        """
        raise NotDefinedError

    def log_mixture(self, n: float, S: float, x: float, side: float) -> tuple[float, float]:
        """The pair ln M(x), slope: a mixture of likelihood ratios against the member at coordinate x, USEFUL of its weight on
        higher means (side = 1) or lower means (side = −1). Here over a fixed grid of tilts.
        """
        return tilt_mixture(self, n, S, x, side)

    def prior(self, mean: float, spread: float) -> tuple[float, float] | None:
        """Two numbers that say a guess of a mean, as `log_informed` takes them; None where a guess has no closed form."""
        return None

    def log_informed(self, n: float, S: float, x: float, alpha: float, beta: float) -> tuple[float, float]:
        """The pair ln I(x), slope: what a prior predicted over the likelihood of the member at coordinate x."""
        raise NotDefinedError

    def at_work(self, K: int) -> "Family":
        """The family of a run with K arms: itself, unless it learns from rewards."""
        return self

    def planned(self) -> "Family":
        """The family that plans and lower bounds are for: itself, or that of the spread which is expected or was seen."""
        return self

    def playable(self) -> "Family":
        """A family at work whose rewards can be drawn: with the spread that was seen where none is known."""
        return self

    def with_arms(self, K: int) -> "Family":
        """A family at work, with room for K arms; a further one has paid nothing yet."""
        return self

    def absorb_moments(self, N_a: Ints, spread: Floats | None) -> None:
        """Count N_a rewards with these second moments [3 or more, K] all at once."""

    def reward_sums(self) -> Floats | None:
        """[rows, K] what a family at work has learnt from each arm's rewards; None of one that learns nothing."""
        return None

    def restore_sums(self, sums: Floats) -> None:
        """Go on from what `reward_sums` told."""

    def count_reward(self, a: int, reward: float, step: float) -> None:
        """One more reward of arm a or, with step −1, one less."""

    def forget_rewards(self) -> None:
        """Nothing seen, for a new run."""

    def surplus(self) -> float:
        """By how much the evidence may be above the likelihood ratio of counts and sums."""
        return 0.0

    def closed_pair(self, a: int, b: int, shift: float, enough: float) -> tuple[float, float]:
        """1 and ln E_{a>b} where the family itself knows it, which says more than counts and sums; otherwise 0."""
        return 0.0, 0.0

    def closed_level(self, a: int, theta: float) -> tuple[float, float]:
        """The same against "the mean of a is on the other side of θ than its estimate"."""
        return 0.0, 0.0

    def interval(self, a: int, limit: float) -> tuple[float, float]:
        """The means of arm a that are not excluded at a limit, where counts and sums do not suffice."""
        raise NotDefinedError

    def declared_sigma(self) -> float | None:
        """The standard deviation of normal rewards, where it is known."""
        return None

    def excess(self) -> Overdispersion | None:
        """What rewards that vary more than their mean says could be, where that is watched."""
        return None

    def trials_of_reward(self) -> float | None:
        """For how many trials that succeed or fail a reward counts at most; None where rewards have no bounds."""
        return None

    @classmethod
    def spelled(cls, parameters: Mapping[str, Any]) -> "type[Family]":
        """The class that parameters in a file stand for, where one of them is declared unknown."""
        return cls

    def accepts(self, rewards: Any) -> Any:
        """Can an arm of this family pay these rewards? For one, or for an array of them."""
        return (rewards >= self.low) & (rewards <= self.high)

    def pays(self, rewards: Any) -> Any:
        """What it accepts and double precision can work with; NaN and infinities it never pays."""
        return np.logical_and(self.accepts(rewards), np.abs(rewards) <= LARGEST)

    def kl(self, mu: float, lam: float) -> float:
        """d(μ, λ), the KL divergence between the members with means μ and λ."""
        return self.divergence(float(mu), float(lam), 1.0, 0.0)

    def has_mean(self, mean: float) -> bool:
        """Is there a member with this mean?"""
        return abs(mean) <= LARGEST and self.low <= mean <= self.high and mean not in self.open_ends

    def check_reward(self, reward: float) -> float:
        """The reward as a float, or an error that says what this family pays."""
        number = is_number(reward) or isinstance(reward, (bool, np.bool_))
        value = float(reward) if number and abs(reward) <= LARGEST else math.nan
        if not self.pays(value):
            shown = "a very large number" if isinstance(reward, int) and abs(reward) > 10**30 else repr(reward)[:60]
            raise ProblemError(self.not_paid(shown), fix=self.another())
        return value

    def not_paid(self, reward: str) -> str:
        """Why a reward is refused."""
        default = " (the default family: name another)" if self.unless_said else ""
        return f"reward {reward} is not possible: a {self.name} reward is {self.rewards}{default}"

    def another(self) -> Fix | None:
        """What can be done about rewards or means that the default family does not have."""
        return Fix("family") if self.unless_said else None

    def domain(self) -> str:
        """The means as an interval, for messages."""
        left = "(" if self.low in self.open_ends or math.isinf(self.low) else "["
        right = ")" if self.high in self.open_ends or math.isinf(self.high) else "]"
        return f"{left}{self.low:g}, {self.high:g}{right}"


def as_family(value: Family | str) -> Family:
    """A family, or the one that a word such as "bernoulli" stands for."""
    family: Family = resolve("family", value)
    return family


@by_type("float64")
def divergence(family: Family, mu: float, toward: float, step: float, rest: float) -> float:
    """d(μ, rest·μ + step·toward) in compiled code."""
    return family.divergence(mu, toward, step, rest)


@by_type("float64")
def variance(family: Family, mu: float, toward: float, step: float, rest: float) -> float:
    """V(rest·μ + step·toward) in compiled code."""
    return family.variance(mu, toward, step, rest)


@by_type("float64")
def draw(family: Family, mean: float, rng: np.random.Generator) -> float:
    """One reward in compiled code."""
    return family.draw(mean, rng)


@by_type("float64")
def coordinate(family: Family, mean: float) -> float:
    """The coordinate of a mean, in compiled code."""
    return family.coordinate(mean)


@by_type("pair")
def span(family: Family) -> tuple[float, float]:
    """The interval of coordinates, in compiled code."""
    return family.span()


@by_type("pair")
def tilt(family: Family, n: float, S: float, x: float, theta: float) -> tuple[float, float]:
    """A likelihood ratio, in compiled code."""
    return family.tilt(n, S, x, theta)


@by_type("none")
def count_reward(family: Family, a: int, reward: float, step: float) -> None:
    """A reward comes or goes, in compiled code."""
    family.count_reward(a, reward, step)


@by_type("none")
def forget_rewards(family: Family) -> None:
    """Nothing seen, in compiled code."""
    family.forget_rewards()


@by_type("float64")
def surplus(family: Family) -> float:
    """What is beyond the likelihood ratio, in compiled code."""
    return family.surplus()


@by_type("pair")
def closed_pair(family: Family, a: int, b: int, shift: float, enough: float) -> tuple[float, float]:
    """What the family itself knows of two arms, in compiled code."""
    return family.closed_pair(a, b, shift, enough)


@by_type("pair")
def closed_level(family: Family, a: int, theta: float) -> tuple[float, float]:
    """What the family itself knows of an arm and a level, in compiled code."""
    return family.closed_level(a, theta)


@leaf
def tilt_mixture(family: Family, n: float, S: float, x: float, side: float) -> tuple[float, float]:
    """The pair ln M(x), slope of the mixture over the fixed grid of tilts."""
    top, total, slope = -math.inf, 0.0, 0.0
    for j in range(TILTS.shape[0]):
        value, rise = tilt(family, n, S, x, side * TILTS[j])
        value += LOG_WEIGHTS[j]
        if value > top:
            shrink = math.exp(top - value)
            total, slope, top = total * shrink + 1.0, slope * shrink + rise, value
        elif value > top - 40.0:
            share = math.exp(value - top)
            total, slope = total + share, slope + share * rise
    return top + math.log(total), slope / total


@by_type("pair")
def log_mixture(family: Family, n: float, S: float, x: float, side: float) -> tuple[float, float]:
    """A mixture of likelihood ratios, in compiled code."""
    return family.log_mixture(n, S, x, side)


@leaf
def two_sided(family: Family, n: float, S: float, x: float) -> tuple[float, float]:
    """The pair ln M(x), slope of the even mixture of both sides."""
    up, up_slope = log_mixture(family, n, S, x, 1.0)
    down, down_slope = log_mixture(family, n, S, x, -1.0)
    return even_mixture(up, up_slope, down, down_slope)
