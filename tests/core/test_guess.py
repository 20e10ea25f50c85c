"""A guess of the means: each of its parts is a martingale at the truth, the bound is under the infimum, and a learner keeps it."""

import json
import math
from typing import Any

import naive
import numpy as np
import pytest
from guess_states import guessed, twin
from rank_states import FAMILIES, bound, largest_granted, rounding
from strategies import COMPILED, WILD, here
from tie_paths import false_claims

import gobetween as gb
from gobetween.core.evidence.contrast import add_to_contrast, give_up
from gobetween.core.evidence.guess import as_guess, chances, log_both, log_informed_contrast
from gobetween.core.ground.jit import ENABLED
from gobetween.core.ground.tally import fill, new_tally
from gobetween.errors import ProblemError
from gobetween.simulation.summary import exact_interval

MU = [1.5, 1.0, 0.7, 0.5]
GUESS = gb.Guess(MU, 0.1)
POLICIES = [[0.1, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.1, 0.1, 0.8], [0.2, 0.0, 0.4, 0.4]]
OWN = gb.Problem(MU, POLICIES, family=gb.Gaussian(1.0))


@pytest.mark.parametrize("family", here(FAMILIES), ids=lambda family: family.name)
def test_the_bound_is_under_the_infimum_over_the_whole_null(family: gb.Family) -> None:
    """All μ with the rival's the largest; the statistic is at most what Z allows by definition, and near the infimum otherwise."""
    short: list[float] = []
    once = not ENABLED and family.name in COMPILED  # at full size with the JIT
    for seed in range(21 if once else 250 if WILD else 90):
        found = guessed(family, seed)
        least = twin(found).least(2, 4)
        lost = 0.03 if found.scene.kind == "huge counts" else 1e-7  # ln B of the twin, of counts of 1e11
        over = least + rounding(found.scene, least) + lost
        assert bound(found.scene) <= over, seed
        for enough in (over + 1e-6, over + 0.01, over + 0.5):
            assert not bound(found.scene, enough) >= enough, seed
        if len(short) < 30 and 0.5 < least < 14.0:
            short.append(min(least, reachable(found)) - largest_granted(found.scene, least))
    if not once:
        assert np.median(short) < 0.03
        assert np.quantile(short, 0.8) < 0.3


def reachable(found: Any) -> float:
    """What Z allows by definition."""
    scene = found.scene
    t, a, b = scene.tally, scene.a, scene.b
    Z = float(naive.transport(scene.family, t.mu_hat[a], t.mu_hat[b], int(t.N_a[a]), int(t.N_a[b])))
    return Z + float(scene.ranks.whole[a, b])


def test_shares_sum_to_one_and_follow_the_chances() -> None:
    guess = gb.Guess([1.0, 0.7, 0.1, 0.95], [0.3, 0.1, 0.6, 0.01])
    assert guess.shares().sum(axis=0) == pytest.approx(1.0)
    assert (guess.shares() >= 0.0).all()
    assert chances(guess) == pytest.approx(naive.guessed_best(np.array(guess.means), np.array(guess.spread)), abs=2e-3)
    assert gb.Guess([0.0, 0.0], 1.0).shares() == pytest.approx(np.array([[0.0, 1.0], [1.0, 0.0]]))


def stopper(family: gb.Family, guess: gb.Guess) -> Any:
    return gb.EProcess(guess=guess).at_work(len(guess.means), family)


def test_the_informed_contrast_keeps_its_mean() -> None:
    """E[Q^g after one more answer | past] = Q^g, at the true means, for an answer of either arm, by quadrature; first it is 1."""
    rng, means = np.random.default_rng(3), np.array([0.4, -0.2])
    x = np.linspace(-14.0, 14.0, 2001)
    density = np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi) * (x[1] - x[0])
    guess = gb.Guess([0.9, -0.1], [0.2, 0.4])
    order: list[int] = [0, 1, 1, 1, 0, 1, 1, 0]
    rewards: list[float] = []

    def at_truth(arms: list[int], values: list[float]) -> float:
        ranks, N_a = stopper(gb.Gaussian(1.0), guess).ranks, np.zeros(2, np.int64)
        for i, value in zip(arms, values, strict=True):
            N_a[i] += 1
            add_to_contrast(ranks.pairing.contrast, N_a, i, value)
        c, g, s = ranks.pairing.contrast, np.array(guess.means), np.array(guess.spread)
        Q = float(naive.log_Q_informed(1.0, c.H, c.S, c.V, 0, 1, g, s, means[0], means[1]))
        common = naive.log_Q_informed(1.0, c.H, c.S, c.V, 0, 1, g, s, 0.3, 0.3)
        assert log_informed_contrast(ranks, 0, 1, 0.3)[0] == pytest.approx(float(common), abs=1e-9)
        return Q

    for count in range(len(order) + 1):
        Q = at_truth(order[:count], rewards)
        assert count > 0 or pytest.approx(0.0, abs=1e-12) == Q
        for i in (0, 1):
            then = [at_truth([*order[:count], i], [*rewards, means[i] + v]) for v in x[::10]]
            assert float(np.sum(density[::10] * 10.0 * np.exp(then))) == pytest.approx(math.exp(Q), rel=1e-6)
        if count < len(order):
            rewards.append(float(means[order[count]] + rng.standard_normal()))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_informed_product_keeps_its_mean(family: gb.Family) -> None:
    """E[I after one more reward | past] = I at the true mean (≤ for Bounded, whatever the law), and at first it is 1."""
    mean, g, s = ((1.0, 1.4, 0.3), (1.6, 2.0, 0.4))[family.name == "geometric"]
    if family.name == "bernoulli":
        mean, g, s = 0.3, 0.5, 0.1
    place = naive.place_of(family, mean)
    for n, S in ((1.0, 2.0), (7.0, 13.0), (40.0, 55.0)):
        S = min(S, n * family.high)
        before = float(naive.log_I(family, n, S, place, g, s))
        alpha, beta = family.prior(g, s)  # type: ignore[misc]  # every family here has one
        own = family.log_informed(n, S, float(family.coordinate(mean)), alpha, beta)[0]
        assert own == pytest.approx(before, abs=1e-8)
        rewards, chances_of = law(family, mean)
        after = np.exp([float(naive.log_I(family, n + 1, S + x, place, g, s)) for x in rewards])
        expected = float((after * chances_of).sum())
        if family.name == "bounded":
            assert expected <= math.exp(before) * (1 + 1e-9)
        else:
            assert expected == pytest.approx(math.exp(before), rel=1e-4)


def law(family: gb.Family, mean: float) -> tuple[Any, Any]:
    """Rewards and their probabilities; of a density on a fine grid."""
    from scipy import stats

    if family.name == "gaussian":
        around = np.linspace(mean - 9, mean + 9, 4001)
        return around, stats.norm.pdf(around, mean) * (around[1] - around[0])
    if family.name in ("exponential", "gamma"):
        shape = getattr(family, "shape", 1.0)
        x = (np.arange(8000) + 0.5) * 0.01
        return x, stats.gamma.pdf(x, shape, scale=mean / shape) * 0.01
    if family.name == "bounded":
        return np.array([-1.0, 0.0, 2.5, 3.0]), np.array([0.3, 0.2, 0.4, 0.1])
    k = np.arange(0, 400)
    table: dict[str, Any] = {
        "bernoulli": lambda: stats.bernoulli(mean).pmf(k),
        "poisson": lambda: stats.poisson(mean).pmf(k),
        "binomial": lambda: stats.binom(7, mean / 7).pmf(k),
        "geometric": lambda: stats.geom(1 / mean).pmf(k),
        "negative-binomial": lambda: stats.nbinom(0.6, 0.6 / (0.6 + mean)).pmf(k),
    }
    chances_of = table[family.name]()
    return k[chances_of > 0], chances_of[chances_of > 0]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_informed_product_is_convex_and_least_at_the_estimate(family: gb.Family) -> None:
    mean, g, s = (1.9, 1.7, 0.3) if family.name != "bernoulli" else (0.4, 0.5, 0.1)
    alpha, beta = family.prior(g, s)  # type: ignore[misc]  # every family here has one
    at = [family.coordinate(m) for m in np.linspace(0.55 * mean, min(1.6 * mean, family.high), 41).tolist()]
    values = [family.log_informed(50.0, 50.0 * mean, x, alpha, beta) for x in at]
    least = family.log_informed(50.0, 50.0 * mean, family.coordinate(mean), alpha, beta)
    assert least[1] == pytest.approx(0.0, abs=1e-6)
    for (x, (value, slope)), (y, (other, _)) in zip(
        zip(at, values, strict=True), zip(at[1:], values[1:], strict=False), strict=False
    ):
        assert value >= least[0] - 1e-9
        assert other >= value + slope * (y - x) - 1e-9


def test_without_order_only_the_contrast_is_lost() -> None:
    """After a correction Q^g goes to 0 with Q: the evidence falls, and never rises."""
    fell = 0
    for seed in range(40):
        found = guessed(gb.Gaussian(1.0), seed).scene
        if found.ranks.pairing.contrast.share > 0.0:
            before = bound(found)
            give_up(found.ranks.pairing.contrast, found.b)
            assert log_informed_contrast(found.ranks, found.a, found.b, 0.0)[0] == -math.inf  # type: ignore[arg-type]  # informed here
            after = bound(found)
            assert after <= before + 2e-4
            fell += after < before - 1e-3
    assert fell > 5


def test_arms_seen_as_they_were_guessed_need_less_evidence() -> None:
    """The same answers: more evidence with a good guess, at most −ln(1 − w) less with an absurd one."""
    tally = fill(new_tally(4), np.array([60, 60, 40, 40]), np.array([60, 60, 40, 40]) * np.array(MU))
    found = {}
    for name, guess in {"none": None, "good": GUESS, "bad": gb.Guess([-9.0, 30.0, 2.0, 1.0], 0.1)}.items():
        made: Any = gb.EProcess(guess=guess).at_work(4, gb.Gaussian(1.0))
        found[name] = made.reading(gb.Gaussian(1.0), tally, 200, 1.0)[0]
    assert found["good"] > found["none"] + 0.3
    assert found["none"] + math.log(0.7) - 1e-6 <= found["bad"] <= found["none"] + 0.1


@pytest.mark.compiled
def test_a_good_guess_saves_queries_and_a_bad_one_costs_few() -> None:
    """Experiment 1; docs/stopping.md has more runs."""
    mean = {}
    for name, guess in {"none": None, "exact": GUESS, "reversed": gb.Guess(MU[::-1], 0.1)}.items():
        runs = gb.simulate(OWN, deltas=[0.4, 0.1], runs=1000, seed=2, guess=guess)
        assert runs.correct.mean() > 0.99
        mean[name] = runs.tau.mean(axis=0)
    assert (mean["exact"] < 0.88 * mean["none"]).all()
    assert mean["reversed"][1] < 1.12 * mean["none"][1]


@pytest.mark.compiled
@pytest.mark.parametrize("mode", [0, 6])
def test_false_claims_at_ties_are_as_rare_as_they_should_be(mode: int) -> None:
    """A small part of validity/guesses.py: an adversary who knows that all arms are equal has guessed that arm 1 is the worst."""
    runs, alphas = 400, (0.4, 0.1, 0.01)
    guess = gb.Guess([-0.3, 0.0, 0.1], 0.1, stake=0.9)
    for alpha, wrong in zip(
        alphas, false_claims(gb.Gaussian(1.0), [0.0] * 3, mode, runs, 400, alphas, guess=guess), strict=True
    ):
        assert exact_interval(wrong, runs, 0.999)[0] <= alpha


def test_a_saved_learner_goes_on_with_its_guess() -> None:
    rng = np.random.default_rng(1)
    first = gb.Learner(4, OWN.policies, family=gb.Gaussian(1.0), guess=GUESS, delta=0.1)
    other, asked = None, 0
    while not first.done:
        query = first.ask()
        asked += 1
        e = first.mediators.index(query.mediator)
        a = int(rng.choice(4, p=OWN.policies[e]))
        x = float(rng.normal(MU[a], 1.0))
        first.tell(query, arm=first.arms[a], reward=x)
        if other is not None:
            again = other.ask()
            assert again.mediator == query.mediator
            other.tell(again, arm=first.arms[a], reward=x)
            assert other.done == first.done
        if asked == 60:
            other = gb.Learner.from_dict(json.loads(json.dumps(first.to_dict())))
    assert first.recommendation == "arm 1"
    assert other is not None
    assert other.progress.statistic == first.progress.statistic
    assert first.state.design.stopping == gb.EProcess(guess=GUESS)


def test_without_a_guess_nothing_is_said_of_one() -> None:
    """A learner or a study that was saved before there were guesses is the same as one saved now."""
    saved = gb.Learner(2, 2).to_dict()
    assert "guess" not in json.dumps(saved)


def test_late_answers_and_corrections() -> None:
    """Answers that come in another order are counted in that of their queries; a correction is counted anew."""
    learners = [gb.Learner(2, 2, family=gb.Gaussian(1.0), guess=gb.Guess([1.0, 0.0], 0.2)) for _ in range(2)]
    rewards = np.random.default_rng(5).normal(0.0, 1.0, 30) + np.arange(30) % 2
    for k, one in enumerate(learners):
        queries = one.ask(30)
        for i in range(30) if k == 0 else reversed(range(30)):
            one.tell(queries[i], arm=one.arms[i % 2], reward=float(rewards[i]))
    assert learners[0].progress.statistic == learners[1].progress.statistic
    one, query = learners[0], queries[0]
    before = one.progress.statistic
    one.correct(0, query.mediator, (one.arms[0], float(rewards[0])), (one.arms[0], float(rewards[0])))
    assert one.progress.statistic <= before


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: gb.Guess([1.0], 0.0), "positive"),
        (lambda: gb.Guess([1.0, math.nan], 0.1), r"means\[1\]"),
        (lambda: gb.Guess([1.0, 2.0], [0.1]), "one for each"),
        (lambda: gb.Guess([1.0, 2.0], 0.1, stake=1.0), "stake"),
        (lambda: gb.Guess([], 0.1), "one number for each arm"),
        (lambda: as_guess({"means": [1.0]}), "means and spread"),
        (lambda: gb.EProcess(weights="pairs", guess=GUESS), "ranks"),
        (lambda: gb.Learner(3, 2, family=gb.Gaussian(1.0), guess=GUESS), "4 means for 3 arms"),
        (lambda: gb.Learner(4, 2, family=gb.Gaussian(sigma=None), guess=GUESS), "bernoulli"),
        (lambda: gb.Learner(4, 2, guess=GUESS), "between 0 and 1"),
        (lambda: gb.Learner(4, 2, family=gb.Gaussian(1.0), guess=GUESS, stopping=gb.GLR()), "EProcess"),
        (lambda: gb.Learner(4, 2, family=gb.Gaussian(1.0), guess=GUESS, question=gb.TopM(2)), "best arm alone"),
    ],
)
def test_what_does_not_fit_is_refused(made: Any, said: str) -> None:
    with pytest.raises(ProblemError, match=said):
        made()


def test_products_of_a_pair_are_those_of_the_twin_between_the_estimates() -> None:
    for family in FAMILIES:
        for seed in range(12):
            found = guessed(family, seed)
            t, scene = twin(found), found.scene
            if scene.kind == "huge counts" or scene.kind == "at an end":
                continue
            ends = [float(family.coordinate(float(scene.tally.mu_hat[i]))) for i in (scene.a, scene.b)]
            x = 0.3 * ends[0] + 0.7 * ends[1]
            place = np.array([float(naive.place_of(family, float(family.mean_at(x))))])
            own = log_both(family, scene.tally, scene.ranks, scene.a, scene.b, x, x)[0]  # type: ignore[arg-type]  # informed
            assert own == pytest.approx(float(t.log_products(place, place)[0, 0]), rel=1e-7, abs=1e-6), (family.name, seed)
