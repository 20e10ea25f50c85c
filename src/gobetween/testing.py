"""A contract suite for families and rules, ours and yours: each check raises AssertionError with what is wrong.

    from gobetween.testing import check_family, check_sampling, check_stopping

    def test_my_family():
        check_family(Amount(shape=2.0), means=(1.0, 2.5))

The statistical checks have fixed seeds: they fail always or never.
"""

import json
import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from gobetween.core.ground.jit import Floats
from gobetween.core.ground.registry import check_class
from gobetween.core.ground.tally import State, new_state
from gobetween.core.problem.cast import Policy, are_known, ladder
from gobetween.core.problem.problem import Problem
from gobetween.core.question.question import Question
from gobetween.core.question.questions import BEST
from gobetween.core.reward.families import Gaussian
from gobetween.core.reward.family import Family, as_family, draw, log_mixture, span, tilt
from gobetween.core.reward.family import coordinate as to_coordinate
from gobetween.core.run.loops import DONE, NONE, pull, runs
from gobetween.core.run.streams import one_stream
from gobetween.core.sampling.rules import Tracking
from gobetween.core.sampling.sampling_rule import SamplingRule, as_sampling
from gobetween.core.stopping.rules import EProcess
from gobetween.core.stopping.stopping_rule import StoppingRule, as_stopping
from gobetween.simulation.engine import believed_policies, simulate
from gobetween.simulation.summary import exact_interval
from gobetween.study.learner.learner import Learner

POLICIES = [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]]
THETAS = (-0.5, -0.1, 0.1, 0.5)
SEED = 11


# families ---------------------------------------------------------------------------------------------------------------


def check_family(
    family: Family | str,
    means: Sequence[float],
    log_density: Callable[[float, float], float] | None = None,
    support: Sequence[float] | None = None,
    draws: int = 40_000,
) -> None:
    """All checks of a family at these means (two or more, inside its domain).

    log_density(reward, mean) makes divergence and martingale exact, by quadrature; `support` lists the rewards of a discrete
    family. Without it they are checked by draws and by the identity d(μ, x) = ∫_μ^x (y − μ)/V(y) dy.
    """
    known = as_family(family)
    check_class("family", type(known))
    for mean in means:
        assert known.has_mean(mean), f"{mean} is not in {known.domain()}"
        back = known.mean_at(known.coordinate(mean))
        assert math.isclose(back, mean, rel_tol=1e-9), f"the coordinate of {mean} leads back to {back}: define mean_at"
    check_divergence(known, means)
    check_draws(known, means, draws)
    check_mixture(known, means)
    if log_density is not None:
        check_density(known, means, log_density, support)
    low, high = min(means), max(means)
    problem = Problem([high, low, low], POLICIES, family=known)
    same_steps(problem, Tracking(), EProcess())


def check_divergence(family: Family, means: Sequence[float]) -> None:
    """D ≥ 0, zero at equal means, and d(μ, x) = ∫_μ^x (y − μ)/V(y) dy; asked along a segment it is the same."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for mu in means:
        assert family.kl(mu, mu) == 0.0, f"d({mu}, {mu}) = {family.kl(mu, mu)}, not 0"
        for x in means:
            y = 0.5 * (x - mu) * nodes + 0.5 * (x + mu)
            integral = 0.5 * (x - mu) * float(weights @ [(at - mu) / family.variance(float(at)) for at in y])
            assert math.isclose(family.kl(mu, x), integral, rel_tol=1e-6, abs_tol=1e-12), (
                f"divergence and variance do not fit: d({mu}, {x}) = {family.kl(mu, x)}, but ∫(y − μ)/V(y) dy = {integral}"
            )
            half = family.divergence(mu, x, 0.5, 0.5)
            assert math.isclose(half, family.kl(mu, 0.5 * (mu + x)), rel_tol=1e-9, abs_tol=1e-300), (
                f"half of the way from {mu} to {x} the divergence is {half}, not {family.kl(mu, 0.5 * (mu + x))}"
            )


def check_draws(family: Family, means: Sequence[float], draws: int) -> None:
    """Rewards that are drawn can be paid, have the mean and the variance asked for, and likelihood ratios of mean 1."""
    rng = np.random.default_rng(SEED)
    for mean in means:
        rewards = np.array([family.draw(mean, rng) for _ in range(draws)])
        assert family.pays(rewards).all(), f"draws of mean {mean} hold rewards that the family says it does not pay"
        _near(rewards, mean, f"the mean of draws at {mean}")
        if not family.proxy:
            _near((rewards - mean) ** 2, family.variance(mean), f"the variance of draws at {mean}")
        if type(family).tilt is not Family.tilt:
            x = float(family.coordinate(mean))
            for theta in THETAS:
                ratios = np.array([math.exp(tilt(family, 1.0, float(reward), x, theta)[0]) for reward in rewards[:5000]])
                _near(ratios, 1.0, f"the likelihood ratio at mean {mean} tilted by {theta}", at_most=family.proxy)


def _near(sample: Floats, expected: float, what: str, at_most: bool = False) -> None:
    error = float(sample.std()) / math.sqrt(len(sample)) + 1e-9 * abs(expected) + 1e-300
    z = (float(sample.mean()) - expected) / error
    assert (z if at_most else abs(z)) < 5.0, (
        f"{what} is {sample.mean():.6g}, expected {expected:.6g} ({z:.1f} standard errors off)"
    )


def check_mixture(family: Family, means: Sequence[float]) -> None:
    """Mixtures begin at 1 (ln M ≤ 0 before any reward), are convex in the coordinate, have the slope they say."""
    low, high = span(family)
    points = sorted(float(to_coordinate(family, mean)) for mean in means)
    for side in (1.0, -1.0):
        for x in points:
            start = log_mixture(family, 0.0, 0.0, x, side)[0]
            assert start <= 1e-9, f"a mixture begins at e^{start}: it must begin at 1 or below"
        for mean in means:
            n, S = 50.0, 50.0 * mean
            for left, right in pairwise(points):
                middle = 0.5 * (left + right)
                f = [log_mixture(family, n, S, x, side) for x in (left, middle, right)]
                assert f[1][0] <= 0.5 * (f[0][0] + f[2][0]) + 1e-9, f"ln M is not convex between {left} and {right}"
                h = 1e-5 * (right - left)
                if low < middle - h and middle + h < high:
                    rise = (log_mixture(family, n, S, middle + h, side)[0] - log_mixture(family, n, S, middle - h, side)[0]) / (
                        2 * h
                    )
                    assert math.isclose(f[1][1], rise, rel_tol=1e-4, abs_tol=1e-6 * n), (
                        f"the slope of ln M at {middle} is said to be {f[1][1]}, but it is {rise}"
                    )


def check_density(
    family: Family, means: Sequence[float], log_density: Callable[[float, float], float], support: Sequence[float] | None
) -> None:
    """The divergence is that of the density, and tilts are likelihood ratios of it, by quadrature."""
    from scipy.integrate import quad

    def expectation(f: Callable[[float], float], mean: float) -> float:
        if support is not None:
            return math.fsum(math.exp(log_density(x, mean)) * f(x) for x in support)
        spread = math.sqrt(family.variance(mean))
        low, high = max(family.low, mean - 40.0 * spread), min(family.high, mean + 40.0 * spread)
        value = quad(lambda x: math.exp(log_density(x, mean)) * f(x), low, high, limit=400, epsabs=1e-11, points=[mean])[0]
        return float(value)

    for mu in means:
        for x in means:
            exact = expectation(lambda reward, mu=mu, x=x: log_density(reward, mu) - log_density(reward, x), mu)  # type: ignore[misc]
            assert math.isclose(family.kl(mu, x), exact, rel_tol=1e-6, abs_tol=1e-8), (
                f"d({mu}, {x}) = {family.kl(mu, x)}, but the density's is {exact}"
            )
        at = float(family.coordinate(mu))
        for theta in THETAS if type(family).tilt is not Family.tilt else ():
            total = expectation(lambda reward, at=at, theta=theta: math.exp(tilt(family, 1.0, reward, at, theta)[0]), mu)  # type: ignore[misc]
            assert abs(total - 1.0) < 1e-6, f"the likelihood ratio at mean {mu} tilted by {theta} has mean {total}, not 1"


# rules ------------------------------------------------------------------------------------------------------------------


def check_sampling(rule: SamplingRule | str, problem: Problem | None = None, runs: int = 100) -> None:
    """All checks of a sampling rule: engine ≡ learner, resume ≡ uninterrupted, workers, availability, an easy instance."""
    known, game = as_sampling(rule), problem or easy()
    if known.live:
        same_steps(game, known, EProcess())
        check_availability(known, game)
    check_workers(known, EProcess(), game)
    check_delta(known, EProcess(), game, runs)


def check_stopping(rule: StoppingRule | str, problem: Problem | None = None, runs: int = 100) -> None:
    """All checks of a stopping rule: engine ≡ learner, resume ≡ uninterrupted, thresholds that rise, an easy instance."""
    known, game = as_stopping(rule), problem or easy()
    limits = [known.threshold(game.K, delta, game.family) for delta in (0.4, 0.1, 0.01, 1e-6)]
    assert limits == sorted(limits), f"the threshold must not fall when δ does, but it is {limits} at δ = .4, .1, .01, 1e-6"
    same_steps(game, Tracking(), known)
    check_workers(Tracking(), known, game)
    check_delta(Tracking(), known, game, runs)


def easy() -> Problem:
    """A problem that any rule solves soon."""
    return Problem([1.5, 0.5, 0.0], POLICIES, family=Gaussian(1.0))


def same_steps(
    problem: Problem,
    sampling: SamplingRule,
    stopping: StoppingRule,
    delta: float = 1e-3,
    most: int = 600,
    question: Question = BEST,
    declared: Sequence[Policy] | None = None,
) -> None:
    """The compiled loop and a learner that is saved and resumed along the way take the same steps, to the last bit.

    declared: what is known of each mediator's policy, by default all.
    """
    state, tau, named = engine_run(problem, sampling, stopping, delta, most, question, declared)
    learner, t = learner_run(problem, sampling, stopping, delta, most, (7, 50), question, declared)
    assert t == tau, f"the engine stopped after {tau} queries, a learner that was saved and resumed after {t}"
    assert learner.done == (named is not None), "engine and learner do not agree whether the rule has stopped"
    assert not learner.done or learner.answer == named, "engine and learner name different arms"
    assert (learner.state.seen.N_e == state.N_e).all(), "engine and learner asked different mediators"
    assert (learner.state.seen.N_ea == state.N_ea).all(), "engine and learner saw different arms"
    assert (learner.state.told.tally.S_a == state.tally.S_a).all(), "sums of engine and learner differ"


def engine_run(
    problem: Problem,
    sampling: SamplingRule,
    stopping: StoppingRule,
    delta: float,
    most: int,
    question: Question = BEST,
    declared: Sequence[Policy] | None = None,
) -> tuple[State, int, tuple[str, ...] | None]:
    """One run of the compiled loop: the counts, the queries and the arms named; None while it has not stopped."""
    K, E, family = problem.K, problem.E, problem.family
    state, everyone = new_state(K, E), np.ones(E, np.bool_)
    policies = problem.policies.copy() if declared is None else believed_policies(problem, declared)
    costs = problem.query_costs.copy()
    stopper = stopping.stopper_for(question, K, family)
    sampler = sampling.told(problem).sampler_for(question, policies, are_known(policies), costs, stopper.bernstein())
    limit = stopping.threshold_for(question, K, delta, family)
    tau, stopped, named = np.zeros((1, 1), np.int64), np.zeros((1, 1), np.bool_), np.zeros((1, 1, K), np.bool_)
    done = runs(
        family.at_work(K), problem.means.copy(), ladder(problem.policies, problem.silent), sampler,
        stopper, np.array([limit]), state, everyone, np.zeros(1, np.bool_), True,
        NONE, NONE, most, one_stream(_world(), _own()), tau, stopped, named,
        np.zeros((1, 1, E), np.int64), np.zeros((1, 1, K), np.int64),
    )  # fmt: skip
    assert done == DONE, f"{type(sampling).__name__}.choose named a mediator who cannot be asked"
    answer = tuple(problem.arms[a] for a in np.flatnonzero(named[0, 0])) if stopped[0, 0] else None
    return state, int(tau[0, 0]), answer


def learner_run(
    problem: Problem,
    sampling: SamplingRule,
    stopping: StoppingRule,
    delta: float,
    most: int,
    resume_at: Sequence[int] = (),
    question: Question = BEST,
    declared: Sequence[Policy] | None = None,
) -> tuple[Learner, int]:
    """The same run by a learner, which is saved and resumed after so many queries."""
    rows: Sequence[Policy] = list(problem.policies) if declared is None else declared
    learner = Learner(
        problem.arms, dict(zip(problem.mediators, rows, strict=True)), family=problem.family, delta=delta,
        costs=problem.query_costs, sampling=sampling, stopping=stopping, seed=SEED, silent=problem.silent, question=question,
    )  # fmt: skip
    world, cumulative, t = _world(), ladder(problem.policies, problem.silent), 0
    while not learner.done and t < most:
        query = learner.ask()
        a = int(pull(cumulative, problem.mediators.index(query.mediator), world.random()))
        if a == problem.K:
            learner.tell(query, silent=True)
        else:
            reward = float(draw(problem.family, float(problem.means[a]), world))
            learner.tell(query, arm=problem.arms[a], reward=reward)
        t += 1
        if t in resume_at:
            learner = Learner.from_dict(json.loads(json.dumps(learner.to_dict())))
    return learner, t


def _world() -> np.random.Generator:
    return np.random.default_rng(99)


def _own() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(SEED)))


def check_availability(rule: SamplingRule, problem: Problem) -> None:
    """Whoever is there, the rule asks one of these."""
    learner = Learner(problem.arms, problem.policies.tolist(), family=problem.family, sampling=rule, costs=problem.query_costs)
    present: list[list[str]] = [[name] for name in problem.mediators] + [list(problem.mediators)]
    for round_ in range(3):
        for names in present:
            query = learner.ask(available=names, go_on=True)
            assert query.mediator in names, f"round {round_}: {query.mediator!r} was asked, available were {names}"


def check_workers(sampling: SamplingRule, stopping: StoppingRule, problem: Problem) -> None:
    """One seed gives one result, whatever the number of workers."""
    one, two = (
        simulate(problem, sampling, stopping, 0.1, runs=24, seed=3, workers=workers, max_steps=2000) for workers in (1, 2)
    )
    assert (one.tau == two.tau).all(), "the same seed gave different runs with one worker and with two"
    assert (one.N_e == two.N_e).all(), "the same seed gave different queries with one worker and with two"


def check_delta(sampling: SamplingRule, stopping: StoppingRule, problem: Problem, runs: int, delta: float = 0.1) -> None:
    """Wrong answers are not more frequent than δ (exact interval, 99.9%)."""
    found = simulate(problem, sampling, stopping, delta, runs=runs, seed=5, max_steps=200_000)
    assert not found.censored.any(), f"{int(found.censored.sum())} of {runs} runs had not stopped after 200,000 queries"
    wrong = int((~found.correct).sum())
    low, _ = exact_interval(wrong, runs, 0.999)
    assert low <= delta, f"{wrong} of {runs} answers are wrong: more than δ = {delta} allows"
